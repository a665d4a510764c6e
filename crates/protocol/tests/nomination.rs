//! Properties of ring and bully, with a caucus and a detector around them, under arbitrary faults.
//!
//! Assumes: nothing is ratified; that is for other tests. Promises: a failing case is printed in its smallest form.
//! `PROPTEST_CASES` and `PROPTEST_RNG_SEED` choose other runs.

#[path = "nomination/world.rs"]
mod world;

use std::collections::BTreeSet;

use incumbent_protocol::caucus::{Manner, Rejoin};
use incumbent_protocol::node::NodeId;
use incumbent_protocol::{bully, ring};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};
use world::{UNIT, Weather, World};

/// Something that happens before the network heals.
#[derive(Clone, Debug)]
enum Fault {
    Crash(usize),
    Start(usize),
    /// What the first says does not reach the second any more.
    Cut(usize, usize),
    Mend,
    Weather {
        loses: u64,
        doubles: u64,
        units: u32,
    },
    Eligible(usize, bool),
}

#[derive(Clone, Debug)]
struct Chaos {
    /// Numbers in ring order.
    order: Vec<u64>,
    rejoin: bool,
    seed: u64,
    /// Each after so many message times.
    faults: Vec<(u32, Fault)>,
}

fn chaos() -> impl Strategy<Value = Chaos> {
    let order =
        (1..=8_u64).prop_flat_map(|count| Just((1..=count).collect::<Vec<_>>()).prop_shuffle());
    let fault = prop_oneof![
        3 => (0..8_usize).prop_map(Fault::Crash),
        3 => (0..8_usize).prop_map(Fault::Start),
        3 => (0..8_usize, 0..8_usize).prop_map(|(from, to)| Fault::Cut(from, to)),
        1 => Just(Fault::Mend),
        2 => (0..60_u64, 0..40_u64, 1..12_u32)
            .prop_map(|(loses, doubles, units)| Fault::Weather { loses, doubles, units }),
        1 => (0..8_usize, any::<bool>()).prop_map(|(who, may)| Fault::Eligible(who, may)),
    ];
    let faults = prop::collection::vec((0..40_u32, fault), 0..24);
    (order, any::<bool>(), any::<u64>(), faults).prop_map(|(order, rejoin, seed, faults)| Chaos {
        order,
        rejoin,
        seed,
        faults,
    })
}

fn runner() -> TestRunner {
    let mut config =
        Config { failure_persistence: None, max_shrink_iters: 300, ..Config::default() };
    config.cases = config.cases.max(512);
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(1);
    }
    TestRunner::new(config)
}

/// Lets it all happen, and then heals the network. Whoever is down stays down.
fn play(chaos: &Chaos, manner: Manner) -> World {
    let order: Vec<NodeId> = chaos.order.iter().map(|id| NodeId::given((*id).into())).collect();
    let rejoin = if chaos.rejoin { Rejoin::Preempting } else { Rejoin::Sticky };
    let who = |index: usize| order[index % order.len()];
    let mut world = World::new(order.clone(), manner, rejoin, chaos.seed);
    for (pause, fault) in &chaos.faults {
        world.run(*pause);
        match *fault {
            Fault::Crash(index) => world.crash(who(index)),
            Fault::Start(index) => world.start(who(index)),
            Fault::Cut(from, to) => {
                world.cut.insert((who(from), who(to)));
            }
            Fault::Mend => world.cut.clear(),
            Fault::Weather { loses, doubles, units } => {
                world.weather = Weather { loses, doubles, units };
            }
            Fault::Eligible(index, eligible) => world.set_eligible(who(index), eligible),
        }
    }
    world.cut.clear();
    world.weather = Weather::FINE;
    world
}

/// The one whom all that live would have lead, if there is one, lives and may be picked.
fn agreed(world: &World) -> Option<NodeId> {
    let nominees = world.nominees();
    let named: BTreeSet<_> = nominees.values().copied().collect();
    let nominee = (*named.first()?)?;
    let fit = nominees.contains_key(&nominee) && world.eligible[&nominee];
    (named.len() == 1 && fit).then_some(nominee)
}

/// Within so many message times after the network healed all agree.
const BOUND: u32 = 400;

fn assert_agreement(manner: Manner) {
    let result = runner().run(&chaos(), |chaos| {
        let mut world = play(&chaos, manner);
        let nominees = world.nominees();
        if !nominees.keys().any(|node| world.eligible[node]) {
            return Ok(());
        }
        let mut waited = 0;
        while agreed(&world).is_none() {
            if waited >= BOUND {
                let text = format!("no agreement: {:?}", world.nominees());
                return Err(TestCaseError::fail(text));
            }
            world.run(10);
            waited += 10;
        }
        // What is late by then may still stir things up once; after that nothing changes any more.
        world.run(BOUND);
        let (nominee, changes) = (agreed(&world), world.changes);
        prop_assert!(nominee.is_some(), "they fell apart again: {:?}", world.nominees());
        world.run(BOUND);
        prop_assert_eq!(agreed(&world), nominee);
        prop_assert_eq!(world.changes, changes, "no run begins in peace");
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn after_the_last_fault_all_nodes_of_a_ring_agree_on_one_that_lives() {
    assert_agreement(Manner::Ring(ring::Timeouts::of_message_time(UNIT).expect("good")));
}

#[test]
fn after_the_last_fault_all_bullies_agree_on_one_that_lives() {
    assert_agreement(Manner::Bully(bully::Timeouts::of_message_time(UNIT).expect("good")));
}
