//! Arbitrary trouble for a world: a list of steps, each after a pause.
//!
//! Assumes: rates within the margin. Promises: every generated script shrinks to a readable one.

use core::time::Duration;

use incumbent_protocol::candidacy::{Input, Wish};
use incumbent_protocol::identity::CandidateName;
use incumbent_protocol::lease::forget::Forget;
use incumbent_protocol::lease::order::{Order, OrderError};
use incumbent_protocol::observation::Observation;
use incumbent_protocol::rounds::pace::Pacing;
use incumbent_protocol::rules::{Expiry, Rules, Timing};
use incumbent_protocol::time::HeardAt;
use proptest::prelude::*;

use crate::support::clock::Clock;
use crate::support::ms;
use crate::support::post::{Fate, Loss};
use crate::support::world::World;

const NAMES: [&str; 4] = ["alice", "bob", "carol", "dave"];

/// Slowest and fastest clock: their ratio, 1.105, is just below lease / (lease - margin), 1.111.
const RATES: core::ops::RangeInclusive<u64> = 950_000..=1_050_000;

/// A world to begin with, and what happens to it.
#[derive(Clone, Debug)]
pub(crate) struct Chaos {
    starts: Vec<Start>,
    expiry: Expiry,
    /// Whether the store can prove that a crashed process is dead.
    proofs: bool,
    terse: bool,
    steps: Vec<(u64, Step)>,
}

/// One process as it begins.
#[derive(Clone, Debug)]
struct Start {
    offset: u64,
    rate: u64,
    stopping: u64,
    fates: Vec<Fate>,
}

/// One thing that happens.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Crash(usize),
    Start(usize),
    Stop(usize, u64),
    Freeze(usize, u64),
    Leap(usize, u64),
    Bell(usize),
    Resign(usize),
    Want(usize, Wish),
    Cut(usize, bool),
    Trouble(usize, Vec<Fate>),
    Demote,
    Takeover(usize),
    SetStoreClock(i64),
    SaveStore,
    RestoreStore,
    LoseStore,
    LoseVars,
    LoseRow(usize),
    /// Everybody who hears of it lets go, and wants nothing more.
    Retire,
    /// An operator whose clock runs at this rate begins to watch the election.
    Watch(u64),
    /// That operator removes it, if it may be.
    Forget,
}

/// Trouble of every kind but a store that forgets.
pub(crate) fn strategy() -> impl Strategy<Value = Chaos> {
    chaos(step().boxed())
}

/// The same, with a store that forgets.
pub(crate) fn strategy_with_a_store_that_goes_back() -> impl Strategy<Value = Chaos> {
    let forgetting = prop_oneof![
        3 => step(),
        1 => Just(Step::SaveStore),
        1 => Just(Step::RestoreStore),
        1 => Just(Step::LoseStore),
    ];
    // Here the store's clock must not be stepped: it is what keeps terms growing when the row is
    // gone.
    chaos(forgetting.prop_filter("steady", |s| !matches!(s, Step::SetStoreClock(_))).boxed())
}

/// The same, with operators who remove the election whenever they may, whoever takes part.
pub(crate) fn strategy_with_removals() -> impl Strategy<Value = Chaos> {
    let removing = prop_oneof![
        6 => step(),
        2 => Just(Step::Retire),
        2 => RATES.prop_map(Step::Watch),
        3 => Just(Step::Forget),
        1 => (1_000_000..5_000_000_i64).prop_map(Step::SetStoreClock),
    ];
    // Set back, the store's clock would not keep terms growing; set forward, it makes live leases look
    // as if they had run out.
    let forward = |s: &Step| !matches!(s, Step::SetStoreClock(..0));
    chaos(removing.prop_filter("forward", forward).boxed())
}

/// The same trouble for candidates of an election with a roster, whose registers are meddled with.
pub(crate) fn strategy_in_rounds() -> impl Strategy<Value = Chaos> {
    let meddling = prop_oneof![
        12 => step(),
        1 => Just(Step::LoseVars),
        1 => (0..4_usize).prop_map(Step::LoseRow),
    ];
    in_rounds(chaos(meddling.boxed()))
}

/// The same, with a store that forgets.
pub(crate) fn strategy_in_rounds_with_a_store_that_goes_back() -> impl Strategy<Value = Chaos> {
    in_rounds(strategy_with_a_store_that_goes_back())
}

fn in_rounds(chaos: impl Strategy<Value = Chaos>) -> impl Strategy<Value = Chaos> {
    chaos.prop_map(|chaos| Chaos { expiry: Expiry::Rounds, ..chaos })
}

impl Chaos {
    /// Four rounds are a lease at first; under pressure they become up to twice as long.
    fn pacing(&self) -> Option<Pacing> {
        let pacing = Pacing::new(ms(250), 4, ms(100), ms(50), ms(500)).expect("pacing");
        (self.expiry == Expiry::Rounds).then_some(pacing)
    }

    pub(crate) fn timing(&self) -> Timing {
        let lease = ms(1_000);
        let rules = Rules::new(lease, lease / 10, self.expiry).expect("rules");
        Timing::new(rules, lease / 4, lease / 6, lease / 10).expect("timing")
    }

    /// The world as it begins: everyone wants to lead.
    pub(crate) fn world(&self) -> World {
        let mut world = World::default();
        world.store.terse = self.terse;
        for (start, name) in self.starts.iter().zip(NAMES) {
            let clock = Clock::new(ms(start.offset), start.rate);
            let who = match self.pacing() {
                None => world.add(name, self.timing(), clock),
                Some(pacing) => world.add_in_rounds(name, self.timing(), pacing, clock),
            };
            world.processes[who].stopping = ms(start.stopping);
            for &fate in &start.fates {
                world.processes[who].post.plan(None, fate);
            }
            world.tell(who, Input::Wish(Wish::Lead));
        }
        world
    }

    /// Plays all steps.
    pub(crate) fn play(&self, world: &mut World) {
        for (gap, step) in &self.steps {
            world.run_until(world.now + ms(*gap));
            self.act(world, step);
        }
    }

    /// Ends all trouble: ways are mended, everyone runs and wants to lead, nothing old is under
    /// way.
    pub(crate) fn heal(world: &mut World) {
        for process in &mut world.processes {
            process.post.heal();
        }
        let awake = world.processes.iter().filter_map(|process| process.stopped_until);
        let calm = awake.chain([world.last_arrival()]).max();
        world.run_until(calm.map_or(world.now, |calm| calm.max(world.now)));
        for who in 0..world.processes.len() {
            if world.processes[who].life.is_none() {
                world.start(who);
            }
            world.tell(who, Input::Wish(Wish::Lead));
        }
    }

    /// How long a mended world may be without a leader: the stated bound and one beat, on the
    /// slowest clock. A reserved term, and work that is slow to stop, each add their own time.
    pub(crate) fn patience(&self, world: &World) -> Duration {
        let timing = self.timing();
        if self.pacing().is_some() {
            return Self::patience_in_rounds(world);
        }
        let reserved = world.store.record().is_some_and(|record| record.successor.is_some());
        let extra = if reserved { timing.rules().lease() } else { Duration::ZERO };
        let slow = (timing.failover_bound() + timing.beat() + extra) * 100 / 95;
        slow + world.processes.iter().map(|process| process.stopping).max().unwrap_or_default()
    }

    /// With a roster: the lease that stands in the store, and another for whatever stands in front of
    /// the line, each with a round and the time for being heard; a third if a term is reserved.
    fn patience_in_rounds(world: &World) -> Duration {
        let record = world.store.record();
        let lease = record.map_or(ms(1_000), |record| record.rules.lease()).max(ms(1_000));
        let reserved = record.is_some_and(|record| record.successor.is_some());
        let leases = if reserved { 3 } else { 2 };
        let slow = (lease + lease / 4 + ms(334)) * leases * 100 / 95;
        slow + world.processes.iter().map(|process| process.stopping).max().unwrap_or_default()
    }

    fn act(&self, world: &mut World, step: &Step) {
        let count = self.starts.len();
        match *step {
            Step::Crash(who) => self.crash(world, who % count),
            Step::Start(who) => {
                let who = who % count;
                if world.processes[who].life.is_none() {
                    world.start(who);
                    world.tell(who, Input::Wish(Wish::Lead));
                }
            }
            Step::Stop(who, span) => world.stop(who % count, ms(span)),
            Step::Freeze(who, span) => world.freeze(who % count, ms(span)),
            Step::Leap(who, span) => world.leap(who % count, ms(span)),
            Step::Bell(who) => world.tell(who % count, Input::Bell),
            Step::Resign(who) => world.resign(who % count),
            Step::Want(who, wish) => world.tell(who % count, Input::Wish(wish)),
            Step::Cut(who, cut) => world.processes[who % count].post.cut(cut),
            Step::Trouble(who, ref fates) => {
                for &fate in fates {
                    world.processes[who % count].post.plan(None, fate);
                }
            }
            Step::Demote => drop(world.store.order(world.now, &Order::DEMOTE, None)),
            Step::Takeover(who) => {
                let successor = CandidateName::new(NAMES[who % count]).expect("a good name");
                drop(world.store.order(world.now, &Order::Takeover { successor }, None));
            }
            Step::SetStoreClock(micros) => {
                if self.expiry != Expiry::Database {
                    world.store.step_clock(micros);
                }
            }
            Step::SaveStore => world.store.save(),
            Step::RestoreStore => world.store.restore(),
            Step::LoseStore => world.store.lose_all(),
            Step::LoseVars => world.store.registers.vars = None,
            Step::LoseRow(place) => {
                let rows = &mut world.store.registers.roster;
                if let Some(id) = rows.keys().nth(place).copied() {
                    rows.remove(&id);
                }
            }
            Step::Retire => (0..count).for_each(|who| {
                world.resign(who);
                world.tell(who, Input::Wish(Wish::Nothing));
            }),
            Step::Watch(rate) => {
                let heard_at = HeardAt::after_answer(Clock::new(ms(0), rate).read(world.now));
                let view = world.store.snapshot(world.now).view();
                world.watched = Some((rate, Observation::first(view, heard_at)));
            }
            Step::Forget => Self::forget(world),
        }
    }

    /// What an operator who has watched the election orders.
    fn forget(world: &mut World) {
        let mut forget = Forget::default();
        if let Some((rate, seen)) = &world.watched
            && let Err(OrderError::Unwatched { patience }) =
                forget.decide(&world.store.snapshot(world.now))
        {
            let now = Clock::new(Duration::ZERO, *rate).read(world.now);
            forget.suspicion = seen.suspect(now, patience);
        }
        drop(world.store.forget(world.now, &forget));
    }

    fn crash(&self, world: &mut World, who: usize) {
        let id = world.processes[who].life.as_ref().map(|life| life.id.clone());
        world.crash(who);
        if let Some(id) = id.filter(|_| self.proofs) {
            world.store.prove_dead(id);
        }
    }
}

fn chaos(step: BoxedStrategy<Step>) -> impl Strategy<Value = Chaos> {
    let starts = prop::collection::vec(start(), 2..=4);
    let expiry = prop_oneof![3 => Just(Expiry::Observed), 1 => Just(Expiry::Database)];
    let steps = prop::collection::vec((gap(), step), 0..24);
    (starts, expiry, any::<bool>(), any::<bool>(), steps).prop_map(
        |(starts, expiry, proofs, terse, steps)| Chaos { starts, expiry, proofs, terse, steps },
    )
}

fn start() -> impl Strategy<Value = Start> {
    let stopping = prop_oneof![3 => 0..100_u64, 1 => 0..1_500_u64];
    let fates = prop::collection::vec(fate(), 0..6);
    (0..100_000_u64, RATES, stopping, fates).prop_map(|(offset, rate, stopping, fates)| Start {
        offset,
        rate,
        stopping,
        fates,
    })
}

fn gap() -> impl Strategy<Value = u64> {
    prop_oneof![2 => 0..50_u64, 4 => 0..600_u64, 1 => 600..2_500_u64]
}

fn fate() -> impl Strategy<Value = Fate> {
    let leg = || prop_oneof![3 => 0..20_u64, 3 => 0..160_u64, 1 => 0..1_500_u64];
    let lost = prop_oneof![
        4 => Just(Loss::Nothing),
        1 => Just(Loss::Reply),
        1 => Just(Loss::Request),
    ];
    (leg(), leg(), lost).prop_map(|(there, back, lost)| Fate {
        there: ms(there),
        back: ms(back),
        lost,
    })
}

fn step() -> impl Strategy<Value = Step> {
    let who = 0..4_usize;
    let span = || prop_oneof![0..300_u64, 300..3_000_u64];
    let wish = prop_oneof![Just(Wish::Nothing), Just(Wish::Watch), Just(Wish::Lead)];
    prop_oneof![
        2 => who.clone().prop_map(Step::Crash),
        3 => who.clone().prop_map(Step::Start),
        2 => (who.clone(), span()).prop_map(|(who, span)| Step::Stop(who, span)),
        1 => (who.clone(), span()).prop_map(|(who, span)| Step::Freeze(who, span)),
        1 => (who.clone(), span()).prop_map(|(who, span)| Step::Leap(who, span)),
        1 => who.clone().prop_map(Step::Bell),
        1 => who.clone().prop_map(Step::Resign),
        1 => (who.clone(), wish).prop_map(|(who, wish)| Step::Want(who, wish)),
        2 => (who.clone(), any::<bool>()).prop_map(|(who, cut)| Step::Cut(who, cut)),
        4 => (who.clone(), prop::collection::vec(fate(), 1..8))
            .prop_map(|(who, fates)| Step::Trouble(who, fates)),
        1 => Just(Step::Demote),
        1 => who.prop_map(Step::Takeover),
        1 => (-5_000_000..5_000_000_i64).prop_map(Step::SetStoreClock),
    ]
}
