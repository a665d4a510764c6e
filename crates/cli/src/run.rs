//! `incumbent run -- CMD`: the command runs while this candidate leads, and is dead before anybody
//! else does.
//!
//! Assumes: the command does not leave its process group; what does, is out of reach (its token is
//! not).
//! Promises: the command ends before the lease; on TERM or Ctrl-C it ends first, while the lease is
//! still renewed, and only then is the leadership let go of. Standard output is the command's
//! alone.
//!
//! Three processes stand in a row, each ready for the death of the one before: the supervisor (this
//! file), the [`guard`] and the command, which begins as [`stage`].

mod control;
mod epitaph;
pub(crate) mod guard;
mod ladder;
pub(crate) mod stage;
pub(crate) mod ward;

use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use incumbent::{Election, Leadership, Reason, lease_clock_nanos};
use serde::Serialize;
use tokio::signal::unix::{Signal, SignalKind, signal};

use self::epitaph::Epitaph;
use self::ward::Ward;
use crate::exit::Exit;
use crate::flags::RunArgs;
use crate::printer::Printer;
use crate::settings::Settings;

/// Contends, runs the command while leading, and contends again after a loss.
pub(crate) async fn run(
    settings: &Settings,
    printer: &Printer,
    args: RunArgs,
) -> anyhow::Result<Exit> {
    let grace = settings.grace();
    let config = settings.config.clone().grace(grace);
    let mut signals = Signals::listen()?;
    let backend = settings.open(&config).await?;
    let election = backend.election(&settings.election).await?;
    let history = settings.history.as_deref();
    let supervisor = Supervisor { printer, args: &args, election: &election, grace, history };
    let result = supervisor.supervise(&mut signals).await;
    backend.close().await;
    result
}

struct Supervisor<'a> {
    printer: &'a Printer,
    args: &'a RunArgs,
    election: &'a Election,
    grace: Duration,
    history: Option<&'a Path>,
}

/// How the command ended under one leadership.
enum End {
    /// By itself, or because this program was asked to stop.
    Done(ExitStatus),
    /// Because the leadership was lost.
    Lost(Reason),
}

impl Supervisor<'_> {
    async fn supervise(&self, signals: &mut Signals) -> anyhow::Result<Exit> {
        self.say("contending", None, &format!("contends for {}", self.election.name()));
        loop {
            let leadership = tokio::select! {
                won = self.election.campaign() => won?,
                code = signals.next() => return Ok(Exit::Child(code)),
                () = pause(self.args.wait) => {
                    self.say("gave up", None, "somebody else led all the while");
                    return Ok(Exit::WaitOver);
                }
            };
            let term = Some(leadership.term().get());
            self.say("leading", term, &format!("leads {}", self.election.name()));
            let end = self.work(&leadership, signals).await;
            leadership.work_ended();
            if let Err(error) = leadership.resign().await {
                self.say("unsettled", term, &format!("the store was not told: {error}"));
            }
            match end? {
                End::Done(status) => {
                    let code = if guard::is_overdue(status) { 143 } else { guard::code(status) };
                    self.say("resigned", term, &format!("the command ended with code {code}"));
                    return Ok(Exit::Child(code));
                }
                End::Lost(reason) => {
                    self.say("lost", term, &format!("{reason}; the command is dead"));
                }
            }
            if self.args.once {
                return Ok(Exit::Lost);
            }
        }
    }

    /// Runs the command under this leadership; returns when it is dead.
    async fn work(&self, leadership: &Leadership, signals: &mut Signals) -> anyhow::Result<End> {
        let term = Some(leadership.term().get());
        let me = self.election.backend().candidate();
        let epitaph = self.history.map(|file| Epitaph::of(leadership, me, file));
        leadership.work_began();
        let mut ward = Ward::start(leadership, me, self.grace, epitaph, &self.args.command)?;
        let mut until = leadership.valid_until_nanos();
        let mut lost = None;
        let (mut asked, mut killed) = (false, false);
        loop {
            tokio::select! {
                status = ward.ended() => {
                    let status = status?;
                    // The guard may have ended it before this process, stopped meanwhile, heard of
                    // its loss; or just before a renewal that came too late.
                    let unheard = (killed || guard::is_overdue(status)).then_some(Reason::Ending);
                    let lost = lost.or_else(|| leadership.reason()).or(unheard);
                    return Ok(lost.filter(|_| !asked).map_or(End::Done(status), End::Lost));
                }
                () = leadership.extended(), if lost.is_none() => {
                    until = leadership.valid_until_nanos();
                    ward.extend(leadership);
                }
                reason = leadership.lost(), if lost.is_none() => {
                    lost = Some(reason);
                    self.say("losing", term, &format!("{reason}; stopping the command"));
                    ward.stop();
                }
                // The guard should have done it by then. It may be stopped or starved.
                () = pause_until(self.last_moment(until)), if !killed => {
                    killed = true;
                    ward.kill();
                }
                _ = signals.next() => {
                    if std::mem::replace(&mut asked, true) {
                        ward.kill();
                    } else {
                        self.say("stopping", term, "stops the command, then lets go");
                        ward.stop();
                    }
                }
            }
        }
    }

    /// When the lease that was last heard of is all but over.
    fn last_moment(&self, until: u64) -> u64 {
        let spare = u64::try_from((self.grace / 16).as_nanos()).unwrap_or(0);
        until.saturating_sub(spare)
    }

    fn say(&self, event: &'static str, term: Option<u64>, text: &str) {
        let candidate = &self.election.backend().candidate().name;
        let words = match term {
            Some(term) => format!("{candidate}: {event} (term {term}): {text}"),
            None => format!("{candidate}: {event}: {text}"),
        };
        let election = self.election.name().as_str();
        let candidate = candidate.as_str();
        self.printer.event(words, &Transition { event, election, candidate, term, text });
    }
}

/// A transition as programs read it.
#[derive(Debug, Serialize)]
struct Transition<'a> {
    event: &'static str,
    election: &'a str,
    candidate: &'a str,
    term: Option<u64>,
    text: &'a str,
}

/// The signals that ask the program to end.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// Not if it was ignored from the start, as `nohup` asks.
    hangup: Option<Signal>,
}

impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: if is_hangup_ignored() { None } else { Some(signal(SignalKind::hangup())?) },
        })
    }

    /// The next one, as the exit code that a shell would show for it.
    async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.terminate.recv() => 143,
            _ = self.interrupt.recv() => 130,
            () = heard(self.hangup.as_mut()) => 129,
        }
    }
}

async fn heard(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// Whether this process was started with HUP ignored. The kernel's page about it is the only safe way
/// to ask.
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & 1 == 1)
}

/// Sleeps, by the lease clock, in naps short enough to notice that the machine slept meanwhile.
async fn pause_until(at: u64) {
    loop {
        let left = Duration::from_nanos(at.saturating_sub(lease_clock_nanos()));
        if left.is_zero() {
            return;
        }
        tokio::time::sleep(left.min(Duration::from_millis(250))).await;
    }
}

async fn pause(span: Option<Duration>) {
    match span {
        Some(span) => tokio::time::sleep(span).await,
        None => std::future::pending().await,
    }
}
