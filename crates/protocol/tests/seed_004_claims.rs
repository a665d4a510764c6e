//! What the lecture "Leader election: bully algorithm" (Cloud Computing Concepts, lecture D; the fourth seed) claims, claim by
//! claim.
//!
//! How its numbers are to be read:
//! - N counts the leader that failed. N - 1 live, and in the worst case all of them send election messages to *all* higher ids, the
//!   failed leader's among them: (N - 1) + (N - 2) + ... + 1. So nobody in that case knows yet that it is gone; in the best case
//!   the second highest does, "it knows its id is the highest".
//! - Only election messages are counted. Answers, (N - 1)(N - 2) / 2 of them, and coordinator messages come on top.
//! - "Five message times" lists an answer and the election of the second highest as two steps, though both leave at one instant, and
//!   the timeout as one. Here the timeout is three message times: there, back, and one to see to it. It is
//!   1 (election) + 3 (timeout at the second highest) + 1 (coordinator): five again.
//! - The coordinator speaks to all lower ids, N - 2 of them. Here it speaks to a higher one, too, that did not answer and is not
//!   known to be gone, so in the worst case there is one message more, to the failed leader.
//!
//! Assumes: a network in which each message takes one unit. Promises: nothing here looks inside the protocol.

#[path = "support/lockstep.rs"]
mod lockstep;

#[path = "seed_004_claims/left_out.rs"]
mod left_out;

use incumbent_protocol::bully::{Bully, Message, Rejoin, Timeouts};
use incumbent_protocol::node::NodeId;
use incumbent_protocol::nomination::{Input, Run};
use lockstep::{Lockstep, Sent, UNIT, node};

pub(crate) type Net = Lockstep<Bully, Message>;

/// Nodes 1 to `count`, of which the highest led and has just failed.
pub(crate) fn group(count: u64) -> Net {
    let mut net = healthy(count, Rejoin::Sticky);
    net.tell_all(&Input::Led(node(count)));
    net.dead.insert(node(count));
    net
}

/// Nodes 1 to `count`, all new.
pub(crate) fn healthy(count: u64, rejoin: Rejoin) -> Net {
    let timeouts = Timeouts::of_message_time(UNIT).expect("good").without_repeats();
    group_with(count, timeouts, rejoin)
}

pub(crate) fn group_with(count: u64, timeouts: Timeouts, rejoin: Rejoin) -> Net {
    let order: Vec<NodeId> = (1..=count).map(node).collect();
    Lockstep::new(&order, |id| Bully::new(id, timeouts, rejoin))
}

/// Time enough for every run that loses nothing.
pub(crate) const LONG: u32 = 100;

pub(crate) fn is_election(sent: &Sent<Message>) -> bool {
    matches!(sent.message, Message::Election { .. })
}

pub(crate) fn is_answer(sent: &Sent<Message>) -> bool {
    matches!(sent.message, Message::Ok { .. })
}

pub(crate) fn is_coordinator(sent: &Sent<Message>) -> bool {
    matches!(sent.message, Message::Coordinator { .. })
}

pub(crate) fn assert_all_picked(net: &Net, nominee: u64, what: &str) {
    let nominees = net.nominees();
    assert!(nominees.iter().all(|picked| *picked == Some(node(nominee))), "{what}: {nominees:?}");
}

/// *Analysis, worst case*: the lowest detects the failure. N(N - 1) / 2 election messages, the i-th highest sending i - 1.
#[test]
fn the_worst_case_takes_n_times_n_minus_1_by_2_election_messages() {
    for count in 2..=64_u64 {
        let mut net = group(count);
        net.tell(node(1), Input::Vacant);
        net.run(LONG);
        assert_all_picked(&net, count - 1, "the second highest");
        assert_eq!(net.count(is_election), count * (count - 1) / 2, "{count}");
        for ith_highest in 2..=count {
            let from = node(count + 1 - ith_highest);
            let sent = net.count(|sent| is_election(sent) && sent.from == from);
            assert_eq!(sent, ith_highest - 1, "{count}: {ith_highest}-th highest");
        }
        assert_eq!(net.count(is_answer), (count - 1) * (count - 2) / 2, "{count}");
        let lower = |sent: &Sent<Message>| is_coordinator(sent) && sent.to < sent.from;
        assert_eq!(net.count(lower), count - 2, "{count}");
        assert_eq!(net.count(is_coordinator), count - 1, "one more, to the failed leader");
        assert!(net.live().iter().all(|id| net.nodes[id].run() == Run(1)), "one run");
    }
}

/// *Failures and timeouts, analysis*: five message times at worst, the timeout among them. From three nodes on: of two, the one that
/// lives has nobody to tell, and is done with its timeout.
#[test]
fn the_worst_case_takes_five_message_times() {
    for count in 2..=64 {
        let mut net = group(count);
        let start = net.now;
        net.tell(node(1), Input::Vacant);
        net.run(LONG);
        let took = net.last_picked_at().expect("somebody").since(start);
        assert_eq!(took, UNIT * if count == 2 { 3 } else { 5 }, "{count}");
    }
}

/// No other detector makes it worse: whoever notices, and however many do.
#[test]
fn nobody_who_detects_the_failure_makes_it_worse_than_the_worst_case() {
    for count in 2..=32 {
        for detects in 1..count {
            let mut net = group(count);
            let start = net.now;
            for id in detects..count {
                net.tell(node(id), Input::Vacant);
            }
            net.run(LONG);
            assert_all_picked(&net, count - 1, "the second highest");
            assert!(net.count(is_election) <= count * (count - 1) / 2);
            assert!(net.last_picked_at().expect("somebody").since(start) <= UNIT * 5);
        }
    }
}

/// *Analysis, best case*: the second highest detects the failure, and sends N - 2 coordinator messages: one message time.
#[test]
fn the_best_case_takes_n_minus_2_coordinator_messages_and_one_message_time() {
    for count in 2..=64 {
        let mut net = group(count);
        let start = net.now;
        let second = node(count - 1);
        net.tell(second, Input::Unreachable(node(count)));
        net.tell(second, Input::Vacant);
        net.run(LONG);
        assert_all_picked(&net, count - 1, "the second highest");
        assert_eq!(net.count(is_coordinator), count - 2, "{count}");
        assert_eq!(net.sent.len() as u64, count - 2, "and nothing else");
        let took = net.last_picked_at().expect("somebody").since(start);
        assert_eq!(took, UNIT * u32::from(count > 2), "{count}");
    }
}

/// *Algorithm*: election messages go to higher ids only.
#[test]
fn election_messages_go_to_higher_ids_only() {
    let mut net = group(6);
    net.tell(node(3), Input::Vacant);
    let to: Vec<NodeId> = net.sent.iter().map(|sent| sent.to).collect();
    assert_eq!(to, [4, 5, 6].map(node));
    net.run(LONG);
    let up = net.sent.iter().filter(|sent| is_election(sent)).all(|sent| sent.to > sent.from);
    assert!(up);
}

/// *Algorithm*: without an answer within the timeout it calls itself leader, and not sooner.
#[test]
fn without_an_answer_within_the_timeout_it_calls_itself_leader() {
    let mut net = group(4);
    net.tell(node(3), Input::Vacant);
    net.run(2);
    assert_eq!(net.count(is_coordinator), 0);
    net.run(1);
    assert_eq!(net.nodes[&node(3)].nominee(), Some(node(3)));
    net.run(1);
    assert_all_picked(&net, 3, "after a message time more");
}

/// *Algorithm*: with an answer it waits for the coordinator; if there is none after another timeout, a new run begins. *Failures
/// during the run*: the one that answered fails.
#[test]
fn without_a_coordinator_after_an_answer_it_starts_a_new_run() {
    let mut net = group(5);
    net.tell(node(1), Input::Vacant);
    net.run(2);
    for fails in [2, 3, 4] {
        net.dead.insert(node(fails));
    }
    net.run(LONG);
    assert_all_picked(&net, 1, "the only one left");
    assert!(net.nodes[&node(1)].run() > Run(1));
}

/// *Algorithm*: whoever receives an election message replies, and starts its own election once.
#[test]
fn an_election_message_is_answered_and_starts_one_election() {
    let mut net = group(4);
    for _ in 0..3 {
        let message = Message::Election { run: Run(1) };
        net.tell(node(2), Input::Message { from: node(1), message });
    }
    assert_eq!(net.count(is_answer), 3);
    assert_eq!(net.count(is_election), 2, "to 3 and to 4, once");
}

/// *Failures*: if failures stop, eventually a leader is elected. One node after the other fails, each time that somebody is picked,
/// or in the middle of the run.
#[test]
fn if_failures_stop_a_leader_is_elected() {
    for pause in 0..12 {
        let mut net = group(6);
        net.tell(node(1), Input::Vacant);
        for fails in [5, 4, 3] {
            net.run(pause);
            net.dead.insert(node(fails));
            net.tell(node(2), Input::Vacant);
        }
        net.run(LONG);
        if net.nominees() != [Some(node(2)); 2] {
            // Picked before it failed: who watches it finds it gone.
            net.tell_all(&Input::Vacant);
            net.run(LONG);
        }
        assert_all_picked(&net, 2, "the highest that lives");
    }
}
