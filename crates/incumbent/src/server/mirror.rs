//! Holds the one message of a round against the pure decision that it mirrors, on real servers.
//!
//! Assumes: PostgreSQL and MariaDB, which `cargo xtask services` installs.
//! Promises: for a few hundred random registers, written by the store's own statements, a round of a
//! follower or a leader leaves behind what `Registers` and `Round::decide` say, and answers the same.

use std::time::Duration;

use fastrand::Rng;
use incumbent_protocol::controls::Controls;
use incumbent_protocol::identity::{CandidateId, CandidateName, ElectionName, Incarnation};
use incumbent_protocol::lease::order::{Order, Papers};
use incumbent_protocol::lease::request::{Claim, Done, Holding, Opening};
use incumbent_protocol::lease::row::Snapshot;
use incumbent_protocol::observation::Observation;
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::rounds::pace::{Pace, Pacing};
use incumbent_protocol::rounds::register::{
    Descriptor, MemberId, Place, Profile, Pulse, Vars, Window,
};
use incumbent_protocol::rounds::registers::Registers;
use incumbent_protocol::rounds::round::{Act, End, Evidence, Lead, Round, Shift, Write};
use incumbent_protocol::rules::Timing;
use incumbent_protocol::term::{Recorded, Term};
use incumbent_protocol::time::{HeardAt, StoreTime, Time};
use incumbent_testbed::{shared_mariadb, shared_postgres};

use super::Store;
use super::dialect::{Dialect, Options};
use super::hosts::Hosts;
use crate::schema::Schema;
use crate::store::Manner;
use crate::store::arbiter::{Arbiter, Plan, Roster};
use crate::store::office::Warrant;
use crate::store::round::Answer;

/// How many registers are tried on each server.
const CASES: u64 = 400;

/// How many rounds go into one message at most.
const TOGETHER: u64 = 5;

const fn micros(span: u64) -> Duration {
    Duration::from_micros(span)
}

fn pacing() -> Pacing {
    Pacing::new(micros(200_000), 3, micros(60_000), micros(5_000), micros(900_000)).expect("pacing")
}

fn somebody(number: u64) -> CandidateId {
    let name = CandidateName::new(format!("candidate-{number}")).expect("a name");
    CandidateId::new(name, Incarnation::from_random(u128::from(number) + 1))
}

fn me() -> CandidateId {
    somebody(0)
}

fn term(number: u64) -> Term {
    Term::recorded(number).expect("a term")
}

/// Registers as they are found, and what is asked of them.
struct Case {
    election: ElectionName,
    plans: Vec<Plan>,
    round: Round,
}

/// Draws cases in which most things fit and some do not.
struct Dice(Rng);

impl Dice {
    fn percent(&mut self, percent: u8) -> bool {
        self.0.u8(..100) < percent
    }

    fn rarely(&mut self) -> bool {
        self.percent(15)
    }

    fn case(&mut self, number: u64) -> Case {
        let election = ElectionName::new(format!("case-{number}")).expect("a name");
        let epoch = StoreTime::from_micros(1_000 + self.0.u64(..2));
        let mine = MemberId::new(1 + self.0.u64(..6));
        let rows = self.rows(mine);
        let mut plans = self.term(&election);
        let pace = self.pace();
        let register = |write| {
            let (election, by, write) = (election.clone(), me(), Box::new(write));
            Plan::Register { election, by, write, had: None }
        };
        if !self.rarely() {
            let evicted = self.percent(50);
            let max_id = MemberId::new(9);
            let vars = Vars { epoch, max_id, pacing: pacing(), pace, evicted };
            plans.push(register(Write::Vars(vars)));
        }
        plans.extend(rows.iter().cloned().map(|row| register(Write::Enter(row))));
        let round = self.round(epoch, mine, &rows, pace);
        Case { election, plans, round }
    }

    /// A small roster, in which this candidate is where it believes to be, or elsewhere, or not.
    fn rows(&mut self, mine: MemberId) -> Vec<Descriptor> {
        let at = match self.0.u64(..100) {
            0..10 => None,
            10..20 => Some(MemberId::new(8)),
            _ => Some(mine),
        };
        let mut rows = Vec::new();
        for id in 1..9 {
            let id = MemberId::new(id);
            let candidate = if at == Some(id) {
                me()
            } else if self.percent(60) {
                somebody(id.get())
            } else {
                continue;
            };
            let labels = vec![("zone".to_owned(), "it's; -- \\' ü".to_owned())];
            let profile = Profile { address: self.percent(50).then(|| "a:1".to_owned()), labels };
            let [joined, beaten_at] = [3, 7].map(StoreTime::from_micros);
            let pulse = Pulse { id, candidate, counter: self.0.u64(..3) };
            rows.push(Descriptor { pulse, profile, joined, beaten_at, died: false });
        }
        rows
    }

    /// Held by this candidate, by another, in another term, ending, released, or never held.
    fn term(&mut self, election: &ElectionName) -> Vec<Plan> {
        let (holder, number) = match self.0.u64(..100) {
            0..8 => return Vec::new(),
            8..16 => (somebody(7), 5),
            16..24 => (me(), 6),
            24..30 => (CandidateId::new(me().name, somebody(7).incarnation), 5),
            _ => (me(), 5),
        };
        let since = StoreTime::from_micros(11);
        let claim = Claim {
            expected: None,
            candidate: holder,
            term: term(number),
            rules: pacing().rules_at(pacing().round_time()),
            since,
            opening: Opening::First,
        };
        let claimed = Snapshot {
            record: Some(claim.record()),
            now: since,
            holder_died: false,
            replaced: None,
            controls: Controls::default(),
        };
        let mut plans = vec![Plan::Claim { election: election.clone(), claim: Box::new(claim) }];
        match self.0.u64(..100) {
            0..10 => {
                let successor = self.percent(50).then(|| somebody(3).name);
                plans.push(Plan::Release { election: election.clone(), now: since, successor });
            }
            10..20 => plans.push(ordered(election, Order::DEMOTE, &claimed)),
            20..40 => {
                let order = match self.0.u64(..3) {
                    0 => Order::Pause,
                    1 => Order::Cordon { name: me().name },
                    _ => Order::Transfer { to: somebody(3).name, drain: micros(7) },
                };
                plans.push(ordered(election, order, &claimed));
            }
            _ => {}
        }
        plans
    }

    fn pace(&mut self) -> Pace {
        let round = micros(205_000 + 5_000 * self.0.u64(..4));
        let next = self.rarely().then_some(micros(200_000));
        Pace { round, next, number: self.0.u64(..3) }
    }

    fn round(
        &mut self,
        epoch: StoreTime,
        mine: MemberId,
        rows: &[Descriptor],
        pace: Pace,
    ) -> Round {
        let epoch = if self.rarely() { StoreTime::from_micros(999) } else { epoch };
        let place = Place { epoch, id: mine };
        let after = if self.percent(70) { MemberId::NONE } else { MemberId::new(3) };
        let window = Window { after, most: u32::try_from(self.0.u64(..7)).expect("few") };
        let act = if self.percent(25) {
            Act::Beat { place }
        } else {
            let holding = Holding { candidate: me(), term: term(5) };
            let (evict, shift) = (self.suspects(rows), self.shift(pace));
            let known = if self.rarely() { pace.number + 1 } else { pace.number };
            Act::Lead(Lead { place, holding, pace: known, evict, shift })
        };
        Round { candidate: me(), window, act }
    }

    /// Rows as they are, as they were, and as they never were; now and then its own.
    fn suspects(&mut self, rows: &[Descriptor]) -> Vec<Evidence> {
        let mut evict = Vec::new();
        for Descriptor { pulse, .. } in rows {
            if pulse.candidate == me() && !self.rarely() || self.percent(40) {
                continue;
            }
            let mut seen = pulse.clone();
            match self.0.u64(..100) {
                0..15 => seen.counter += 1,
                15..25 => seen.candidate = somebody(77),
                _ => {}
            }
            evict.push(still(seen));
        }
        if self.rarely() {
            let absent = Pulse { id: MemberId::new(99), candidate: somebody(99), counter: 0 };
            evict.push(still(absent));
        }
        evict
    }

    fn shift(&mut self, pace: Pace) -> Option<Shift> {
        let from = if self.rarely() { pace.number + 1 } else { pace.number };
        let number = pace.number + 1;
        let to = match self.0.u64(..4) {
            0 => return None,
            1 => Pace { round: pace.round, next: Some(micros(200_000)), number },
            _ => Pace { round: pace.round + micros(5_000), next: None, number },
        };
        let rules = pacing().rules_at(to.round);
        Some(Shift { from, to, rules, answers: self.percent(50) })
    }
}

/// An order that is carried out on what was found.
fn ordered(election: &ElectionName, order: Order, found: &Snapshot) -> Plan {
    let (actor, reason) = ("ann".to_owned(), Some("it's \\ \u{1f980}".to_owned()));
    let papers = Papers { actor, reason, ..Papers::default() };
    let now = found.now;
    let decree = Box::new(order.decide(found, &papers).expect("it makes sense"));
    let warrant = Box::new(Warrant { election: election.clone(), order, papers });
    Plan::Order { warrant, decree, now }
}

/// Evidence that a row stood still.
fn still(pulse: Pulse) -> Evidence {
    let seen = Observation::first(pulse, HeardAt::after_answer(Time::ZERO));
    seen.suspect(Time::ZERO + micros(1), micros(1)).expect("it stood")
}

/// What a round must leave behind and answer, given what was there.
fn expected(round: &Round, before: &Roster) -> (Registers, Snapshot, Answer) {
    let roster = before.rows.iter().map(|row| (row.pulse.id, row.clone())).collect();
    let mut registers = Registers { vars: before.vars.clone(), roster };
    let mut snapshot = before.snapshot.clone();
    let scene = registers.scene(round, snapshot.clone(), |_| false);
    let (writes, answer) = round.decide(scene);
    for write in &writes {
        registers.write(&round.candidate, write, snapshot.now);
        match (write, &mut snapshot.record) {
            (Write::Beat, Some(record)) => record.beat += 1,
            (Write::Patience(rules), Some(record)) => record.rules = *rules,
            _ => {}
        }
    }
    (registers, snapshot, answer)
}

/// Without the times, which are the server's own.
fn timeless(row: &Descriptor) -> Descriptor {
    Descriptor { beaten_at: StoreTime::from_micros(0), ..row.clone() }
}

fn compare(case: &Case, before: &Roster, after: &Roster, answer: &Answer) {
    let (registers, snapshot, wanted) = expected(&case.round, before);
    let story = format!("{:?}\n{:?}\nfound {before:?}\nleft {after:?}", case.election, case.round);
    assert_eq!(after.vars, registers.vars, "{story}");
    let rows: Vec<_> = after.rows.iter().map(timeless).collect();
    let model: Vec<_> = registers.roster.values().map(timeless).collect();
    assert_eq!(rows, model, "{story}");
    let (found, model) = (&after.snapshot.record, &snapshot.record);
    let facts = |record: &incumbent_protocol::lease::row::Record| {
        (record.state, record.holder.clone(), record.mark(), record.rules, record.since)
    };
    assert_eq!(found.as_ref().map(facts), model.as_ref().map(facts), "{story}");
    assert_eq!(after.snapshot.controls, snapshot.controls, "{story}");
    // Whoever beat was stamped, and nobody else.
    for row in &after.rows {
        let was = before.rows.iter().find(|was| was.pulse.id == row.pulse.id);
        let was = was.expect("nobody came");
        let beat = row.pulse.counter != was.pulse.counter;
        assert_eq!(row.beaten_at > was.beaten_at, beat, "{story}");
    }
    match (answer, &wanted) {
        (Outcome::Committed(Done::Rounded(got)), Outcome::Committed(Done::Rounded(wanted))) => {
            assert_eq!(sorted(&got.end), sorted(&wanted.end), "{story}");
            assert_eq!(got.scene.vars, registers.vars, "{story}");
            assert_eq!(got.scene.election.record, after.snapshot.record, "{story}");
            assert_eq!(got.scene.election.controls, after.snapshot.controls, "{story}");
            let again = registers.scene(&case.round, snapshot, |_| false);
            assert_eq!(got.scene.shown, again.shown, "{story}");
        }
        (Outcome::Refused(got), Outcome::Refused(wanted)) => {
            assert_eq!(got.refusal, wanted.refusal, "{story}");
            let found = got.snapshot.as_ref().map(|found| (&found.record, &found.controls));
            let kept = (&after.snapshot.record, &after.snapshot.controls);
            assert_eq!(found, Some(kept), "{story}");
        }
        _ => panic!("{answer:?} instead of {wanted:?}\n{story}"),
    }
}

/// A server tells of those whom it evicted in any order.
fn sorted(end: &End) -> End {
    match end {
        End::Led(evicted) => {
            let mut evicted = evicted.clone();
            evicted.sort_by_key(|pulse| pulse.id);
            End::Led(evicted)
        }
        other => other.clone(),
    }
}

async fn mirrors<D: Dialect>(url: &str, options: Options<D>) {
    let hosts = Hosts::new(vec![options]);
    Schema::of(url).expect("a URL").apply().await.expect("the tables are made");
    let timing = Timing::of_lease(Duration::from_mins(1)).expect("timing");
    let manner = Manner { contends: true, single_writer: false };
    let store = Store::<D>::open(hosts, me(), &timing, manner).await;
    let mut store = store.expect("the store opens");
    let mut dice = Dice(Rng::with_seed(20));
    let mut number = 0;
    while number < CASES {
        let mut cases = Vec::new();
        let mut before = Vec::new();
        for _ in 0..=dice.0.u64(..TOGETHER) {
            let mut case = dice.case(number);
            let plans = std::mem::take(&mut case.plans);
            let written = store.write(&[&case.election], |_| Ok((plans, ()))).await;
            written.expect("the registers are made");
            before.push(store.roster(&case.election).await.expect("readable"));
            cases.push(case);
            number += 1;
        }
        let rounds: Vec<_> = cases.iter().map(|case| (&case.election, &case.round)).collect();
        let mut answers = Vec::new();
        store.beats(&rounds, &mut answers).await.expect("the rounds are done");
        assert_eq!(answers.len(), cases.len());
        for ((case, before), answer) in cases.iter().zip(&before).zip(&answers) {
            let after = store.roster(&case.election).await.expect("readable");
            compare(case, before, &after, answer);
        }
    }
    store.close().await;
}

#[tokio::test]
async fn the_message_of_a_round_does_on_postgres_what_the_decision_says() {
    let server = shared_postgres().await.expect("PostgreSQL starts");
    let url = server.fresh_database().await.expect("a database").url;
    mirrors::<crate::postgres::Pg>(&url, url.parse().expect("a URL")).await;
}

#[tokio::test]
async fn the_message_of_a_round_does_on_mariadb_what_the_decision_says() {
    let server = shared_mariadb().await.expect("MariaDB starts");
    let url = server.fresh_database().await.expect("a database").url;
    mirrors::<crate::mysql::My>(&url, url.parse().expect("a URL")).await;
}
