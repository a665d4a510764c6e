//! `incumbent run -- CMD`: the command runs while this candidate leads, and is dead before anybody
//! else does.
//!
//! Assumes: the work descends from the command; what another service does on its behalf is out of
//! reach (its token is not).
//! Promises: the command and everything below it end before the lease; on TERM or Ctrl-C they end
//! first, while the lease is still renewed, and only then is the leadership let go of. Standard
//! output is the command's alone.
//!
//! Three processes stand in a row, each ready for the death of the one before: the supervisor (this
//! file), the [`guard`] and the command, which begins as [`stage`].

mod control;
mod epitaph;
mod field;
mod files;
pub(crate) mod guard;
mod kin;
mod ladder;
pub(crate) mod lookout;
mod quorum;
mod restart;
mod shift;
mod signals;
pub(crate) mod stage;
pub(crate) mod terminal;
mod voice;
pub(crate) mod ward;

use std::path::Path;
use std::pin::pin;
use std::time::{Duration, Instant};

use anyhow::Context;
use incumbent::{CandidateId, Leadership};
use serde::Serialize;

use self::field::{Field, Won};
use self::lookout::{Lookout, News};
use self::quorum::{Count, Quorum};
use self::shift::{End, Shift};
use self::signals::Signals;
use self::voice::Voice;
use crate::board::Board;
use crate::exit::Exit;
use crate::flags::RunArgs;
use crate::printer::Printer;
use crate::settings::Settings;
use crate::span;

/// Contends, runs the command while leading, and contends again after a loss.
pub(crate) async fn run(
    settings: &Settings,
    printer: &Printer,
    args: RunArgs,
) -> anyhow::Result<Exit> {
    field::names(&settings.election, args.slots)?;
    let health = args.health.checked()?;
    stage::check(&args.command)?;
    files::raise();
    let grace = settings.grace();
    let config = settings.config.clone().grace(grace);
    let mut signals = Signals::listen()?;
    let board = board(settings, printer).await?;
    // What a killed guard leaves behind comes to this process.
    kin::adopt().context("cannot adopt what the command leaves behind")?;
    tokio::spawn(kin::bury_forgotten());
    let begun = Instant::now();
    let enter = async {
        let backend = settings.open(&config).await?;
        if let Some((probe, rules)) = health {
            backend.bind_health(probe, rules)?;
        }
        let field = Field::enter(&backend, &settings.election, args.slots).await?;
        anyhow::Ok((backend, field))
    };
    let (backend, field) = tokio::select! {
        entered = enter => entered?,
        code = signals.end() => return Ok(Exit::Child(code)),
        over = pause(args.wait) => {
            let election = settings.election.as_str();
            let text = format!("the store did not answer within {}", span::exact(over));
            Voice { printer, candidate: "", election, term: None }.say("gave up", &text);
            return Ok(Exit::WaitOver);
        }
    };
    let wait = args.wait.map(|wait| wait.saturating_sub(begun.elapsed()));
    let me = backend.candidate();
    let mut lookout = Lookout::new(me.clone(), field.observe()?);
    if let Some(board) = board {
        board.serve(field.pulses().await?, lookout.obstacle());
    }
    let history = settings.history.as_deref();
    if settings.unratified {
        let text = "whoever is picked leads without a vote: several may lead at once";
        let (candidate, election) = (me.name.as_str(), settings.election.as_str());
        Voice { printer, candidate, election, term: None }.say("unratified", text);
    }
    let mut quorum = Quorum::new(&backend, settings.unratified);
    let stop_timeout = settings.stop_timeout;
    let supervisor =
        Supervisor { printer, args: &args, field: &field, me, grace, stop_timeout, history };
    let result = supervisor.supervise(wait, &mut signals, &mut lookout, &mut quorum).await;
    drop((field, lookout));
    backend.close().await;
    result
}

/// Opens the board for metrics, if one is wanted, and says where it is.
async fn board(settings: &Settings, printer: &Printer) -> anyhow::Result<Option<Board>> {
    let Some(address) = settings.metrics else {
        return Ok(None);
    };
    let board = Board::open(address).await?;
    let url = format!("http://{}/metrics", board.address());
    printer.event(format!("serves metrics on {url}"), &Serving { event: "serving", url: &url });
    Ok(Some(board))
}

/// Where metrics are, as programs read it.
#[derive(Debug, Serialize)]
struct Serving<'a> {
    event: &'static str,
    url: &'a str,
}

struct Supervisor<'a> {
    printer: &'a Printer,
    args: &'a RunArgs,
    field: &'a Field,
    me: &'a CandidateId,
    grace: Duration,
    stop_timeout: Duration,
    history: Option<&'a Path>,
}

impl Supervisor<'_> {
    /// `wait` is how long it may take until it leads for the first time.
    async fn supervise(
        &self,
        mut wait: Option<Duration>,
        signals: &mut Signals,
        lookout: &mut Lookout,
        quorum: &mut Quorum<'_>,
    ) -> anyhow::Result<Exit> {
        loop {
            let won = match self.contend(wait, signals, lookout, quorum).await? {
                Ok(won) => won,
                Err(exit) => return Ok(exit),
            };
            wait = self.args.wait;
            if let Some(exit) = self.lead(won, signals, lookout).await? {
                return Ok(exit);
            }
        }
    }

    /// Waits to win, and tells what keeps it from contending; or how the program ends instead.
    async fn contend(
        &self,
        wait: Option<Duration>,
        signals: &mut Signals,
        lookout: &mut Lookout,
        quorum: &mut Quorum<'_>,
    ) -> anyhow::Result<Result<Won, Exit>> {
        let voice = self.voice(self.field.base(), None);
        let (mut win, mut over) = (pin!(self.field.win()), pin!(pause(wait)));
        loop {
            tokio::select! {
                // What was heard before it won is told before.
                biased;
                code = signals.end() => return Ok(Err(Exit::Child(code))),
                news = lookout.next() => match news {
                    News::Hindered(why) => voice.say("not contending", &why),
                    News::Begins => {
                        voice.say("contending", &format!("contends for {}", self.field.describe()));
                    }
                    News::Contends => {
                        let text = format!("contends for {} now", self.field.describe());
                        voice.say("contending", &text);
                    }
                    News::Leads(index, leader) => {
                        let election = self.field.name(index);
                        let text = leader.map_or_else(
                            || format!("nobody leads {election}"),
                            |leader| format!("{leader} leads {election}"),
                        );
                        voice.say("following", &text);
                    }
                    News::Twin(who) => {
                        let text = format!(
                            "another live process has the same name: {who}; give each its own with --name, so \
                             that orders mean one of them"
                        );
                        voice.say("twin", &text);
                    }
                },
                won = &mut win => return Ok(Ok(won?)),
                _ = &mut over => {
                    voice.say("gave up", &lookout.verdict());
                    return Ok(Err(Exit::WaitOver));
                }
                count = quorum.next() => match count {
                    Count::Short(words) => voice.say("waiting", &words),
                    Count::Enough if lookout.has_begun() => {
                        voice.say("contending", "enough voters are there now");
                    }
                    // It is told as soon as they know of this candidate.
                    Count::Enough => {}
                },
            }
        }
    }

    /// Works under this leadership and lets go of it; `None` if the candidate contends again.
    async fn lead(
        &self,
        won: Won,
        signals: &mut Signals,
        lookout: &mut Lookout,
    ) -> anyhow::Result<Option<Exit>> {
        let Won { leadership, slot } = won;
        let election = leadership.election().clone();
        let voice = self.voice(election.as_str(), Some(leadership.term().get()));
        voice.say("leading", &format!("leads {election}"));
        let Supervisor { args, me, grace, stop_timeout, history, .. } = *self;
        let shift =
            Shift { voice, args, leadership: &leadership, slot, me, grace, stop_timeout, history };
        let end = shift.work(signals, lookout).await;
        let next = next_term(&leadership);
        if let Err(error) = leadership.resign().await {
            voice.say("unsettled", &format!("the store was not told: {error}"));
        }
        match end? {
            End::Done(code) => {
                voice.say("resigned", &format!("the command ended with code {code}"));
                Ok(Some(Exit::Child(code)))
            }
            End::HandedOver => {
                voice.say("handed over", &format!("the command is dead, {next}"));
                Ok(self.args.ends_with_a_loss().then_some(Exit::Lost))
            }
            End::Lost(reason) => {
                let why = shift::because(reason, lookout).await;
                voice.say("lost", &format!("{why}; the command is dead"));
                Ok(self.args.ends_with_a_loss().then_some(Exit::Lost))
            }
        }
    }

    fn voice<'a>(&'a self, election: &'a str, term: Option<u64>) -> Voice<'a> {
        Voice { printer: self.printer, candidate: self.me.name.as_str(), election, term }
    }
}

/// What becomes of the term after one that is handed over.
fn next_term(leadership: &Leadership) -> String {
    let heir = leadership.handover().and_then(|handover| handover.to);
    heir.map_or_else(
        || "and the leadership was let go of".to_owned(),
        |heir| format!("and the next term is reserved for {heir}"),
    )
}

/// Completes after that time, and tells how long it was; never, if there is none.
async fn pause(span: Option<Duration>) -> Duration {
    match span {
        Some(span) => {
            tokio::time::sleep(span).await;
            span
        }
        None => std::future::pending().await,
    }
}
