//! What the lecture leaves out: late messages, lower coordinators, coming back, and large groups.

use incumbent_protocol::bully::{Bully, Message, Rejoin, Timeouts};
use incumbent_protocol::nomination::{Input, Notice, Run};

use crate::lockstep::{Sent, UNIT, node};
use crate::{LONG, assert_all_picked, group, group_with, healthy, is_coordinator, is_election};

/// An implementation warns of "several leaders from 20 nodes on". Here all of up to 64 begin at once, new or not, and pick one.
#[test]
fn many_nodes_that_begin_at_once_pick_one() {
    for count in [1, 2, 20, 25, 64] {
        let mut net = healthy(count, Rejoin::Sticky);
        net.tell_all(&Input::Vacant);
        net.run(LONG);
        assert_all_picked(&net, count, "first start");
        assert_eq!(net.ever_picked().len(), 1);
        let sent = net.sent.len() as u64;
        let pairs = count * (count - 1);
        // Each asks each other and is answered; then at most an election and an answer for each pair, and the coordinators.
        assert!(sent <= 2 * pairs + pairs + count, "{count}: {sent} messages");
    }
}

/// A coordinator of a run that is over, heard after the network healed, changes nothing and is told what is current.
#[test]
fn a_stale_coordinator_is_answered_with_what_is_current() {
    let mut net = group(4);
    for _ in 0..2 {
        net.tell(node(1), Input::Vacant);
        net.run(LONG);
    }
    let newest = net.nodes[&node(1)].run();
    assert_eq!(newest, Run(2));
    net.sent.clear();
    net.tell(
        node(1),
        Input::Message { from: node(4), message: Message::Coordinator { run: Run(1) } },
    );
    let answers: Vec<_> = net.sent.iter().map(|sent| (sent.to, sent.message)).collect();
    assert_eq!(answers, [(node(4), Message::Current { run: newest, nominee: Some(node(3)) })]);
    assert_all_picked(&net, 3, "as before");
}

/// A lower coordinator is overruled by an election, as the algorithm's name says.
#[test]
fn a_coordinator_lower_than_a_node_that_may_be_picked_is_overruled() {
    let mut net = group(4);
    net.tell_all(&Input::Vacant);
    net.run(LONG);
    let run = net.nodes[&node(2)].run().next();
    net.tell(node(3), Input::Message { from: node(2), message: Message::Coordinator { run } });
    net.run(LONG);
    assert_all_picked(&net, 3, "the higher");
    assert!(net.nodes[&node(2)].run() > run);
}

/// Unless somebody is known to lead, and leaders stay.
#[test]
fn a_lower_coordinator_begins_nothing_while_somebody_is_known_to_lead() {
    let mut net = healthy(3, Rejoin::Sticky);
    net.tell_all(&Input::Led(node(1)));
    net.tell(
        node(3),
        Input::Message { from: node(1), message: Message::Coordinator { run: Run(5) } },
    );
    net.run(LONG);
    assert_eq!(net.count(is_election), 0);
    assert_eq!(net.nodes[&node(3)].nominee(), Some(node(1)));
}

/// A former leader that comes back asks who leads, and leaves it at that.
#[test]
fn a_returning_leader_asks_who_leads() {
    let mut net = group(4);
    net.tell(node(1), Input::Vacant);
    net.run(LONG);
    let timeouts = Timeouts::of_message_time(UNIT).expect("good").without_repeats();
    come_back(&mut net, Bully::new(node(4), timeouts, Rejoin::Sticky));
    assert_all_picked(&net, 3, "who led meanwhile");
    assert_eq!(net.count(is_election) + net.count(is_coordinator), 0, "nobody was bullied");
    assert_eq!(net.nodes[&node(4)].run(), Run(1), "it learned of the run");
}

/// Or, where it is wanted so, takes its place at once.
#[test]
fn a_returning_leader_that_preempts_runs_an_election_at_once() {
    let mut net = group(4);
    for _ in 0..2 {
        net.tell(node(1), Input::Vacant);
        net.run(LONG);
    }
    let timeouts = Timeouts::of_message_time(UNIT).expect("good").without_repeats();
    come_back(&mut net, Bully::new(node(4), timeouts, Rejoin::Preempting));
    assert_all_picked(&net, 4, "the highest");
    let began = net.told.iter().filter(|(_, _, notice)| *notice == Notice::Began { run: Run(3) });
    assert_eq!(began.count(), 4, "all heard of the run after the newest");
}

/// The node lives again, knowing nothing, and finds that it knows of no leader.
fn come_back(net: &mut crate::Net, bully: Bully) {
    net.dead.clear();
    net.nodes.insert(node(4), bully);
    net.sent.clear();
    net.tell(node(4), Input::Nodes((1..=4).map(node).collect()));
    net.tell(node(4), Input::Vacant);
    net.run(LONG);
}

/// One that may not be picked answers no election and is not picked, but learns who is.
#[test]
fn one_that_may_not_be_picked_answers_nothing_and_learns_who_is() {
    let mut net = healthy(4, Rejoin::Sticky);
    net.tell_all(&Input::Led(node(1)));
    net.tell(node(4), Input::Eligible(false));
    net.tell(node(1), Input::Vacant);
    net.run(LONG);
    assert_all_picked(&net, 3, "the highest that may be");
    assert_eq!(net.count(|sent| sent.from == node(4)), 0, "it says nothing");
}

/// One that may not be picked and notices that nobody leads gets the others going.
#[test]
fn one_that_may_not_be_picked_can_begin_a_run() {
    let mut net = healthy(4, Rejoin::Sticky);
    net.tell_all(&Input::Led(node(1)));
    net.tell(node(4), Input::Eligible(false));
    net.tell(node(4), Input::Vacant);
    net.run(LONG);
    assert_all_picked(&net, 3, "the highest that may be");
}

/// Whoever is picked and may not be any more hands over to the next.
#[test]
fn a_nominee_that_may_not_be_picked_any_more_begins_a_run() {
    let mut net = group(4);
    net.tell(node(1), Input::Vacant);
    net.run(LONG);
    net.tell(node(3), Input::Eligible(false));
    net.run(LONG);
    assert_all_picked(&net, 2, "the next");
}

/// Any answer or coordinator may be lost: the waits end, the higher stands, and whoever was cut off hears of it when the
/// coordinator says so again.
#[test]
fn lost_answers_and_coordinators_end_with_one_nominee() {
    type Loses = fn(&Sent<Message>) -> bool;
    let cases: [(Loses, &str); 3] = [
        (|sent| matches!(sent.message, Message::Ok { .. }), "answers"),
        (|sent| matches!(sent.message, Message::Coordinator { .. }), "coordinators"),
        (|sent| sent.to == node(3) || sent.from == node(3), "all to and from 3"),
    ];
    for (loses, what) in cases {
        let timeouts = Timeouts::of_message_time(UNIT).expect("good");
        let mut net = group_with(5, timeouts, Rejoin::Sticky);
        net.tell_all(&Input::Led(node(5)));
        net.dead.insert(node(5));
        net.loses = loses;
        net.tell(node(1), Input::Vacant);
        net.run(4);
        net.loses = |_| false;
        net.run(LONG);
        let nominees = net.nominees();
        assert!(nominees[0].is_some(), "{what}");
        assert!(nominees.iter().all(|picked| *picked == nominees[0]), "{what}: {nominees:?}");
    }
}
