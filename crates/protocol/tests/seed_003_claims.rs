//! What the report of a peer-to-peer cloud database (the third seed) claims for its ring election, claim by claim.
//!
//! How its numbers are to be read:
//! - The messages that are counted are election and elected messages. The broadcast that removes the block, and the
//!   acknowledgements that this implementation adds, come on top: N - 1 of the former, one of the latter for each message.
//! - 3N - 1 is the worst case of *one* initiator: N - 1 to reach the highest, N for its number to go round, N for the elected
//!   message. With all N initiators it is N(N + 1) / 2 + N at worst and 2N - 1 + N at best.
//! - "N log N on average" is the average of all N initiators over random orders: exactly N times the N-th harmonic number, without
//!   the elected messages. One initiator needs 2N + (N - 1) / 2 on average.
//! - "A smaller number at a participant is discarded": the original forwards an error text instead; here it is discarded.
//!
//! Assumes: a network in which each message takes one unit. Promises: nothing here looks inside the protocol but for the two
//! states that the seed names, participant and blocked.

#[path = "support/lockstep.rs"]
mod lockstep;

#[path = "seed_003_claims/assumed_away.rs"]
mod assumed_away;
#[path = "seed_003_claims/detection.rs"]
mod detection;
#[path = "seed_003_claims/steps.rs"]
mod steps;

use incumbent_protocol::node::NodeId;
use incumbent_protocol::nomination::Input;
use incumbent_protocol::ring::{Message, Rejoin, Ring, Timeouts, Word};
use lockstep::{Lockstep, Sent, UNIT, node};

pub(crate) type Net = Lockstep<Ring, Message>;

/// Nodes in ring order whose leader, no part of the ring any more, led until now.
pub(crate) fn ring(order: &[u64]) -> Net {
    let timeouts = Timeouts::of_message_time(UNIT).expect("good").without_repeats();
    let order: Vec<NodeId> = order.iter().map(|id| node(*id)).collect();
    let mut net = Lockstep::new(&order, |id| Ring::new(id, timeouts, Rejoin::Sticky));
    net.tell_all(&Input::Led(node(1_000)));
    net
}

/// Time enough for every run among up to 64 that loses nothing.
pub(crate) const LONG: u32 = 64 * 7;

pub(crate) fn is_election(sent: &Sent<Message>) -> bool {
    matches!(sent.message, Message::Hop(Word::Election { .. }))
}

pub(crate) fn is_elected(sent: &Sent<Message>) -> bool {
    matches!(sent.message, Message::Hop(Word::Elected { .. }))
}

/// How many election and elected messages it takes, if these begin. The highest must be picked, by all, in one run.
fn elect(order: &[u64], initiators: &[u64]) -> (u64, u64) {
    let mut net = ring(order);
    for initiator in initiators {
        net.tell(node(*initiator), Input::Vacant);
    }
    net.run(LONG);
    let highest = node(*order.iter().max().expect("somebody"));
    assert!(net.nominees().iter().all(|nominee| *nominee == Some(highest)), "{order:?}");
    assert_eq!(net.ever_picked().into_iter().collect::<Vec<_>>(), [highest], "{order:?}");
    let unblocks = net.count(|sent| matches!(sent.message, Message::Unblock { .. }));
    assert_eq!(unblocks, order.len() as u64 - 1, "the broadcast at the end");
    let acks = net.count(|sent| matches!(sent.message, Message::Ack(_)));
    assert_eq!(acks, net.count(is_election) + net.count(is_elected), "one for each");
    (net.count(is_election), net.count(is_elected))
}

/// Numbers 1 to `count` in an order that a small generator of numbers makes of a seed.
fn shuffled(count: u64, seed: &mut u64) -> Vec<u64> {
    let mut order: Vec<u64> = (1..=count).collect();
    for at in (1..order.len()).rev() {
        *seed =
            seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let other = usize::try_from(*seed >> 33).expect("31 bits") % (at + 1);
        order.swap(at, other);
    }
    order
}

/// *Comparison*: one initiator needs 3N - 1 messages at worst, 2N at best, and in between one more for each step that it stands
/// before the highest.
#[test]
fn one_initiator_needs_two_rounds_and_its_distance_to_the_highest() {
    let mut seed = 7;
    for count in 2..=64 {
        let order = shuffled(count, &mut seed);
        let highest = order.iter().position(|id| *id == count).expect("it takes part") as u64;
        let mut totals = Vec::new();
        for (place, initiator) in (0..).zip(&order) {
            let distance = (highest + count - place) % count;
            let (election, elected) = elect(&order, &[*initiator]);
            assert_eq!(
                (election, elected),
                (count + distance, count),
                "{order:?} from {initiator}"
            );
            totals.push(election + elected);
        }
        assert_eq!(totals.iter().max(), Some(&(3 * count - 1)), "the worst case");
        assert_eq!(totals.iter().min(), Some(&(2 * count)), "the best case");
    }
}

/// The same for all at once: every number stops at the first higher one.
#[test]
fn all_initiators_need_a_square_at_worst_and_three_rounds_less_one_at_best() {
    for count in 2..=64 {
        let all: Vec<u64> = (1..=count).collect();
        let falling: Vec<u64> = all.iter().rev().copied().collect();
        assert_eq!(elect(&falling, &all), (count * (count + 1) / 2, count), "worst of {count}");
        assert_eq!(elect(&all, &all), (2 * count - 1, count), "best of {count}");
    }
}

/// *Comparison*: on average the number of messages is of the order of N log N. Over random orders it is N times the N-th harmonic
/// number; 400 orders each come within five in a hundred of it.
#[test]
fn all_initiators_need_n_log_n_on_average() {
    let mut seed = 42;
    for count in [2_u64, 3, 5, 8, 16, 32, 64] {
        let all: Vec<u64> = (1..=count).collect();
        let orders = 400;
        let sum: u64 = (0..orders).map(|_| elect(&shuffled(count, &mut seed), &all).0).sum();
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let (average, expected) = {
            let harmonic: f64 = (1..=count).map(|n| 1.0 / n as f64).sum();
            (sum as f64 / f64::from(orders), count as f64 * harmonic)
        };
        let off = (average / expected - 1.0).abs();
        assert!(off < 0.05, "{count}: {average} messages, {expected} expected");
    }
}

/// *Evaluation*: an election takes as long as its messages, one after the other: 2N message times and the distance to the highest
/// until the elected message is back, and one more until nobody is blocked.
#[test]
fn an_election_takes_as_long_as_its_messages() {
    for count in 2..=64_u32 {
        let order: Vec<u64> = (1..=count.into()).collect();
        for initiator in [1, count] {
            let mut net = ring(&order);
            let start = net.now;
            net.tell(node(initiator.into()), Input::Vacant);
            let messages = 2 * count + (count - initiator);
            net.run(messages);
            let blocked = net.nodes.values().filter(|node| node.is_blocked()).count();
            assert_eq!(blocked, order.len() - 1, "all but the leader");
            net.run(1);
            assert!(!net.nodes.values().any(Ring::is_blocked));
            let last = net.last_picked_at().expect("somebody");
            assert_eq!(
                last.since(start),
                UNIT * (messages - 1),
                "the last hears it before the leader"
            );
        }
    }
}
