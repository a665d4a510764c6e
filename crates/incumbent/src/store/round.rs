//! One round: what all elections of this process ask, done together.
//!
//! Assumes: one round at a time. The caller stamps before and after, and gives up on a round that
//! takes too long.
//! Promises: all renewals are one statement; reads take no lock; whatever is written is decided
//! inside a transaction; an answer is `Unknown` unless the store said yes or no. A transaction that
//! the store itself undid is tried again. A transaction writes to a bounded number of elections;
//! bids beyond that are not carried out, and have no answer yet.

use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::lease::request::{Denied, Done, Refusal, Request};
use incumbent_protocol::lease::row::Snapshot;
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::rounds::round::{Act, End};

use super::arbiter::{Arbiter, Plan, Snapshots};
use crate::error::Error;

/// What became of one request.
pub(crate) type Answer = Outcome<Done, Denied>;

/// How many elections one transaction writes to at most.
pub(crate) const WRITES: usize = 100;

/// How many elections one statement renews or reads at most.
pub(crate) const RENEWALS: usize = 2_000;

/// One request of one election.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) election: ElectionName,
    pub(crate) request: Request,
    /// Whether a read showed already that this bid may win.
    pub(crate) promising: bool,
}

impl Ask {
    /// Whether a lease depends on it, or somebody waits for its end.
    pub(crate) fn presses(&self) -> bool {
        match &self.request {
            Request::Renew(_) | Request::Resign(_) => true,
            Request::Round(round) => matches!(round.act, Act::Lead(_) | Act::Resign(_)),
            Request::Look | Request::Bid(_) => false,
        }
    }
}

/// How often something is tried while the store undoes it.
pub(super) const TRIES: u32 = 3;

/// Does what these elections ask. The answers come in the order of the asks; an error, if any, says
/// why some are unknown. Of the bids that a read finds promising at most `writes` are carried out;
/// the others have no answer, and are to be asked again.
pub(crate) async fn round<A: Arbiter>(
    store: &mut A,
    asks: &[Ask],
    writes: usize,
) -> (Vec<Option<Answer>>, Option<Error>) {
    let mut answers = vec![Some(Outcome::Unknown); asks.len()];
    let mut result = Ok(());
    for _ in 0..TRIES {
        result = steps(store, asks, writes, &mut answers).await;
        // Undone is as good as never sent: whatever has no answer yet may be asked anew.
        if !matches!(result, Err(Error::Conflict(_))) {
            break;
        }
    }
    if let Err(Error::StoreGone { .. } | Error::Corrupt { .. }) = &result {
        // There is no store that could still say yes to what is held on it.
        for (ask, answer) in asks.iter().zip(&mut answers) {
            if ask.presses() {
                *answer = Some(over());
            }
        }
    }
    (answers, result.err())
}

async fn steps<A: Arbiter>(
    store: &mut A,
    asks: &[Ask],
    most: usize,
    answers: &mut [Option<Answer>],
) -> Result<(), Error> {
    if asks.iter().any(|ask| matches!(ask.request, Request::Bid(_) | Request::Round(_))) {
        store.before_bidding()?;
    }
    renew(store, asks, answers).await?;
    let writes = read(store, asks, most, answers).await?;
    if !writes.is_empty() {
        write(store, asks, &writes, answers).await?;
        store.ring();
    }
    beat(store, asks, answers).await?;
    stand(store, asks, answers).await
}

/// Does the rounds of followers and leaders.
async fn beat<A: Arbiter>(
    store: &mut A,
    asks: &[Ask],
    answers: &mut [Option<Answer>],
) -> Result<(), Error> {
    let mut rounds = Vec::new();
    let mut places = Vec::new();
    let mut open = open(asks, answers);
    // Leases first.
    open.sort_by_key(|(_, ask)| !ask.presses());
    for (at, ask) in open {
        if let Request::Round(round) = &ask.request
            && matches!(round.act, Act::Beat { .. } | Act::Lead(_))
        {
            rounds.push((&ask.election, &**round));
            places.push(at);
        }
    }
    if rounds.is_empty() {
        return Ok(());
    }
    let mut done = Vec::with_capacity(rounds.len());
    let result = store.beats(&rounds, &mut done).await;
    for (at, answer) in places.into_iter().zip(done) {
        answers[at] = Some(answer);
    }
    result
}

/// Does the rounds of all others, one after the other.
async fn stand<A: Arbiter>(
    store: &mut A,
    asks: &[Ask],
    answers: &mut [Option<Answer>],
) -> Result<(), Error> {
    for (at, ask) in open(asks, answers) {
        if let Request::Round(round) = &ask.request {
            let answer = store.round(&ask.election, round).await?;
            let changed = matches!(&answer, Outcome::Committed(Done::Rounded(report))
                if matches!(report.end, End::Claimed(..) | End::Resigned));
            answers[at] = Some(answer);
            if changed {
                store.ring();
            }
        }
    }
    Ok(())
}

/// The asks that have no answer yet.
fn open<'a>(asks: &'a [Ask], answers: &[Option<Answer>]) -> Vec<(usize, &'a Ask)> {
    let open = asks.iter().enumerate().zip(answers);
    open.filter(|(_, answer)| matches!(answer, Some(Outcome::Unknown)))
        .map(|(ask, _)| ask)
        .collect()
}

/// Prolongs every held term.
async fn renew<A: Arbiter>(
    store: &mut A,
    asks: &[Ask],
    answers: &mut [Option<Answer>],
) -> Result<(), Error> {
    let mut held = Vec::new();
    let mut places = Vec::new();
    for (at, ask) in open(asks, answers) {
        if let Request::Renew(holding) = &ask.request {
            held.push((&ask.election, holding));
            places.push(at);
        }
    }
    if held.is_empty() {
        return Ok(());
    }
    let mut renewed = store.renew(&held).await?;
    renewed.sort_unstable();
    for (at, (election, _)) in places.into_iter().zip(held) {
        let stands = renewed.binary_search_by(|name| name.as_str().cmp(election.as_str()));
        let renewed = Outcome::Committed(Done::Renewed);
        answers[at] = Some(if stands.is_ok() { renewed } else { over() });
    }
    Ok(())
}

/// Answers looks and hopeless bids from a plain read; tells which asks are to be written. Bids beyond
/// `most` of them are left without an answer.
async fn read<A: Arbiter>(
    store: &mut A,
    asks: &[Ask],
    most: usize,
    answers: &mut [Option<Answer>],
) -> Result<Vec<usize>, Error> {
    let open = open(asks, answers);
    let unread = |ask: &Ask| match ask.request {
        Request::Resign(_) => true,
        Request::Bid(_) => ask.promising,
        _ => false,
    };
    let written = open.iter().filter(|(_, ask)| unread(ask));
    let mut writes: Vec<usize> = written.map(|(at, _)| *at).collect();
    let looks =
        |ask: &Ask| matches!(ask.request, Request::Look | Request::Bid(_)) && !ask.promising;
    let names: Vec<_> =
        open.iter().filter(|(_, ask)| looks(ask)).map(|(_, ask)| &ask.election).collect();
    if names.is_empty() {
        return Ok(writes);
    }
    let mut snapshots = store.read(Some(&names)).await?;
    for (at, ask) in open.into_iter().filter(|(_, ask)| looks(ask)) {
        let snapshot = snapshots.take(&ask.election);
        match &ask.request {
            Request::Bid(bid) => match bid.decide(&snapshot) {
                Ok(_) if writes.len() < most => writes.push(at),
                Ok(_) => answers[at] = None,
                Err(refusal) => answers[at] = Some(denied(refusal, snapshot)),
            },
            _ => answers[at] = Some(Outcome::Committed(Done::Looked(snapshot))),
        }
    }
    Ok(writes)
}

/// Decides again under locks, and writes. Answers count only once the commit has returned.
async fn write<A: Arbiter>(
    store: &mut A,
    asks: &[Ask],
    writes: &[usize],
    answers: &mut [Option<Answer>],
) -> Result<(), Error> {
    let asked: Vec<_> = writes.iter().map(|&at| &asks[at]).collect();
    let names: Vec<_> = asked.iter().map(|ask| &ask.election).collect();
    let decided = store.write(&names, |snapshots| Ok(decide(&asked, snapshots))).await?;
    for (&at, answer) in writes.iter().zip(decided) {
        answers[at] = Some(answer);
    }
    Ok(())
}

fn decide(asks: &[&Ask], mut snapshots: Snapshots) -> (Vec<Plan>, Vec<Answer>) {
    let mut plans = Vec::with_capacity(asks.len());
    let mut answers = Vec::with_capacity(asks.len());
    for ask in asks {
        let election = ask.election.clone();
        let snapshot = snapshots.take(&election);
        answers.push(match &ask.request {
            Request::Bid(bid) => match bid.decide(&snapshot) {
                Err(refusal) => denied(refusal, snapshot),
                Ok(claim) => {
                    plans.push(Plan::Claim { election, claim: Box::new(claim.clone()) });
                    Outcome::Committed(Done::Claimed(claim))
                }
            },
            Request::Resign(resignation) if resignation.holding.may_resign(&snapshot) => {
                let record = snapshot.record.as_ref();
                let successor = record.and_then(|record| resignation.successor(record));
                let now = snapshot.now;
                plans.push(Plan::Release { election, now, successor });
                Outcome::Committed(Done::Resigned)
            }
            Request::Resign(_) => over(),
            // Neither is ever written here.
            Request::Look | Request::Renew(_) | Request::Round(_) => Outcome::Unknown,
        });
    }
    (plans, answers)
}

fn over() -> Answer {
    Outcome::Refused(Denied { refusal: Refusal::Over, snapshot: None })
}

fn denied(refusal: Refusal, snapshot: Snapshot) -> Answer {
    Outcome::Refused(Denied { refusal, snapshot: Some(snapshot) })
}
