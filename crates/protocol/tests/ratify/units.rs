//! Single promises of voters, proposals, proposers and electorates.

use std::collections::BTreeSet;
use std::convert::Infallible;

use incumbent_protocol::identity::Incarnation;
use incumbent_protocol::node::NodeId;
use incumbent_protocol::ratify::electorate::{Unchanged, VOTERS_MAX};
use incumbent_protocol::ratify::proposal::{Proposer, Reading, Sight};
use incumbent_protocol::ratify::voter::Entry;
use incumbent_protocol::ratify::{
    Ask, Ballot, Electorate, Inventory, Promise, Proposal, Reply, Step, Voter,
};

const A: NodeId = NodeId::given(1);
const B: NodeId = NodeId::given(2);
const C: NodeId = NodeId::given(3);
const D: NodeId = NodeId::given(4);

fn abc() -> Electorate {
    Electorate::first([A, B, C])
}

fn by(number: u128) -> Incarnation {
    Incarnation::from_random(number)
}

fn ballots() -> (Ballot, Ballot) {
    let low = Ballot::first(by(1));
    (low, Ballot::after(low, by(2)))
}

/// The replies, with everything kept.
fn kept<K, V, R>(promise: Promise<K, V, R>) -> R {
    match promise.keep(|_| Ok::<(), Infallible>(())) {
        Ok(replies) => replies,
        Err(never) => match never {},
    }
}

fn ask(voter: &mut Voter<u8, u8>, ask: Ask<u8>) -> Reply<u8> {
    kept(voter.handle(&abc(), vec![(1, ask)])).pop().expect("one reply for one ask")
}

#[test]
fn a_voter_refuses_ballots_below_the_one_it_heeds_and_says_the_same_thing_twice() {
    let (low, high) = ballots();
    let mut voter = Voter::new(A, abc());
    assert_eq!(ask(&mut voter, Ask::Heed(low)), Reply::Shown(None));
    assert_eq!(ask(&mut voter, Ask::Accept(low, 7)), Reply::Accepted);
    assert_eq!(ask(&mut voter, Ask::Heed(low)), Reply::Overruled(low.next()));
    for _ in 0..2 {
        assert_eq!(ask(&mut voter, Ask::Heed(high)), Reply::Shown(Some((low, 7))));
        assert_eq!(ask(&mut voter, Ask::Accept(low, 7)), Reply::Accepted);
        assert_eq!(ask(&mut voter, Ask::Accept(low.next(), 8)), Reply::Overruled(high));
    }
    assert_eq!(ask(&mut voter, Ask::Show), Reply::Shown(Some((low, 7))));
}

#[test]
fn a_voter_answers_nobody_whose_electorate_is_older_or_another_one() {
    let next = abc().with(D).expect("settled");
    let mut voter: Voter<u8, u8> = Voter::new(A, abc());
    let inventory = kept(voter.list(&next));
    assert_eq!(inventory, Inventory::Keys { keys: Vec::new(), lineage: None });
    assert_eq!(ask(&mut voter, Ask::Show), Reply::Outdated(next.clone()));
    let other = abc().without(B).expect("settled");
    assert_eq!(kept(voter.list(&other)), Inventory::Outdated(next.clone()));
    let last = next.settle().without(A).expect("settled");
    assert_eq!(kept(voter.list(&last)), Inventory::NoVoter { lineage: None });
    let entries = [Entry::Electorate(next.clone()), Entry::Electorate(last.clone())];
    assert_eq!(voter, Voter::from_entries(A, abc(), entries));
}

#[test]
fn a_promise_gives_its_replies_out_only_after_its_entries_were_kept() {
    let (low, _) = ballots();
    let mut voter: Voter<u8, u8> = Voter::new(A, abc());
    let promise = voter.handle(&abc(), vec![(1, Ask::Accept(low, 7)), (2, Ask::Heed(low))]);
    assert_eq!(promise.entries().len(), 2);
    assert_eq!(promise.keep(|_| Err("the disk is full")), Err("the disk is full"));
}

#[test]
fn an_electorate_changes_by_one_and_only_once_the_last_change_is_settled() {
    let four = abc().with(D).expect("settled");
    assert_eq!((four.number(), four.majority(), four.is_settled()), (1, 3, false));
    assert_eq!(four.without(A), Err(Unchanged::Unsettled));
    assert_eq!(abc().with(A), Err(Unchanged::Votes(A)));
    assert_eq!(abc().without(D), Err(Unchanged::DoesNotVote(D)));
    assert_eq!(Electorate::first([A]).without(A), Err(Unchanged::Last(A)));
    let most = Electorate::first((0..VOTERS_MAX).map(|number| NodeId::given(number as u128)));
    assert_eq!(most.with(NodeId::given(1_000)), Err(Unchanged::TooMany));
}

/// All ways to choose some of these nodes.
fn subsets(nodes: &BTreeSet<NodeId>) -> Vec<BTreeSet<NodeId>> {
    let ways = 0..1_u32 << nodes.len();
    let some = |way: u32| nodes.iter().enumerate().filter(move |(at, _)| way >> at & 1 == 1);
    ways.map(|way| some(way).map(|(_, node)| *node).collect()).collect()
}

#[test]
fn majorities_of_an_electorate_and_of_the_next_always_share_a_voter() {
    for size in 1..=6_u128 {
        let present = Electorate::first((0..size).map(NodeId::given));
        let more = present.with(NodeId::given(9)).expect("settled");
        for next in [&present, &more] {
            for some in subsets(present.voters()) {
                for others in subsets(next.voters()) {
                    let both = present.is_majority(&some) && next.is_majority(&others);
                    assert!(!both || !some.is_disjoint(&others), "{some:?} and {others:?}");
                }
            }
        }
    }
}

#[test]
fn a_refusal_does_not_undo_an_acceptance() {
    let (low, high) = ballots();
    let mut proposal = Proposal::new(abc(), low);
    assert_eq!(proposal.hear(A, Reply::Shown(None)), Step::Wait);
    assert_eq!(proposal.hear(B, Reply::Shown(Some((low, 1)))), Step::Decide(Some(1)));
    assert!(!proposal.was_proposed());
    proposal.propose(2);
    assert_eq!(proposal.hear(A, Reply::Accepted), Step::Wait);
    // The voter heard the question twice, and heeded somebody else in between.
    assert_eq!(proposal.hear(A, Reply::Overruled(high)), Step::Wait);
    assert_eq!(proposal.hear(B, Reply::Overruled(high)), Step::Wait);
    assert_eq!(proposal.hear(D, Reply::Accepted), Step::Wait, "who does not vote is not heard");
    assert_eq!(proposal.hear(C, Reply::Accepted), Step::Chosen);
    assert!(proposal.was_proposed());
}

#[test]
fn a_majority_of_refusals_ends_an_attempt_with_the_highest_ballot() {
    let (low, high) = ballots();
    let mut proposal: Proposal<u8> = Proposal::new(abc(), low);
    assert_eq!(proposal.hear(A, Reply::Overruled(high)), Step::Wait);
    assert_eq!(proposal.hear(A, Reply::Overruled(high)), Step::Wait, "the same one twice");
    assert_eq!(proposal.hear(B, Reply::NoVoter), Step::Overruled(high));
}

#[test]
fn a_shortcut_is_taken_once_and_has_a_ballot_of_its_own() {
    let mut proposer: Proposer<u8, u8> = Proposer::new(by(1));
    let first = proposer.attempt(&abc());
    let second = proposer.attempt(&abc());
    proposer.chosen(1, &first, 5);
    let (shortcut, value) = proposer.shortcut(&1, &abc()).expect("it was the last");
    assert_eq!(value, 5);
    assert_eq!(shortcut.ballot(), first.ballot().next());
    assert_ne!(shortcut.ballot(), second.ballot());
    assert!(proposer.shortcut(&1, &abc()).is_none());
    proposer.chosen(1, &second, 6);
    proposer.chosen(1, &first, 5);
    let (shortcut, value) = proposer.shortcut(&1, &abc()).expect("it was the last");
    assert_eq!((shortcut.ballot(), value), (second.ballot().next(), 6), "late news change nothing");
    proposer.chosen(1, &shortcut, 7);
    let next = abc().with(D).expect("settled");
    assert!(proposer.shortcut(&1, &next).is_none(), "other voters heed nothing in advance");
}

#[test]
fn a_read_is_known_only_if_a_majority_shows_one_ballot() {
    let (low, high) = ballots();
    let shown = |ballot, value| Reply::Shown(Some((ballot, value)));
    let mut reading = Reading::new(abc());
    assert_eq!(reading.hear(A, shown(low, 1)), Sight::Wait);
    assert_eq!(reading.hear(D, shown(low, 1)), Sight::Wait, "it does not vote");
    assert!(!reading.is_unclear());
    assert_eq!(reading.hear(B, shown(high, 2)), Sight::Wait);
    assert!(reading.is_unclear());
    assert_eq!(reading.clone().hear(C, Reply::Shown(None)), Sight::Unclear);
    assert_eq!(reading.hear(C, shown(high, 2)), Sight::Known(Some(2)));
}

#[test]
fn a_relay_is_the_proposers_own_message_and_raises_no_ballot() {
    let mut proposer: Proposer<u8, u8> = Proposer::new(by(1));
    let mut voters = [A, B, C].map(|node| (node, Voter::new(node, abc())));
    // The proposer writes twice and never reaches the third voter, which knows another value.
    ask(&mut voters[2].1, Ask::Accept(Ballot::first(by(0)), 3));
    proposer.heard_of(Ballot::first(by(0)));
    let mut proposal = proposer.attempt(&abc());
    for (node, voter) in &mut voters[..2] {
        proposal.hear(*node, ask(voter, Ask::Heed(proposal.ballot())));
    }
    proposal.propose(5);
    for (node, voter) in &mut voters[..2] {
        proposal.hear(*node, ask(voter, Ask::Accept(proposal.ballot(), 5)));
    }
    proposer.chosen(1, &proposal, 5);
    let mut reading = Reading::new(abc());
    reading.hear(C, ask(&mut voters[2].1, Ask::Show));
    assert_eq!(reading.relay(), None, "no majority showed anything yet");
    reading.hear(B, ask(&mut voters[1].1, Ask::Show));
    let relay = reading.relay();
    assert_eq!(relay, Some((proposal.ballot(), Ask::Accept(proposal.ballot(), 5))));
    let relay = relay.expect("it is unclear").1;
    for (_, voter) in &mut voters[1..] {
        assert_eq!(ask(voter, relay.clone()), Reply::Accepted);
    }
    reading.hear(C, ask(&mut voters[2].1, Ask::Show));
    let sight = reading.hear(B, ask(&mut voters[1].1, Ask::Show));
    assert_eq!(sight, Sight::Known(Some(5)));
    // The proposer's next ballot is heeded everywhere, as if all had been its own doing.
    let (shortcut, _) = proposer.shortcut(&1, &abc()).expect("it was the last");
    for (_, voter) in &mut voters {
        assert_eq!(ask(voter, Ask::Accept(shortcut.ballot(), 6)), Reply::Accepted);
    }
    // Once there is something newer, or somebody else is heeded, the relay comes too late.
    for (_, voter) in &mut voters {
        assert_eq!(ask(voter, relay.clone()), Reply::Overruled(shortcut.ballot().next()));
    }
}

#[test]
fn a_voter_that_heeds_a_higher_ballot_refuses_a_relay() {
    let (low, high) = ballots();
    let mut reading = Reading::new(abc());
    reading.hear(A, Reply::Shown(Some((low, 7))));
    reading.hear(B, Reply::Shown(None));
    let (_, relay) = reading.relay().expect("it is unclear");
    let mut voter = Voter::new(B, abc());
    assert_eq!(ask(&mut voter, Ask::Heed(high)), Reply::Shown(None));
    assert_eq!(ask(&mut voter, relay), Reply::Overruled(high));
    assert_eq!(ask(&mut voter, Ask::Show), Reply::Shown(None));
}
