//! How a change of the voters rewrites many registers.

use std::collections::BTreeMap;
use std::convert::Infallible;

use incumbent_protocol::identity::Incarnation;
use incumbent_protocol::node::NodeId;
use incumbent_protocol::ratify::amend::{Amendment, Answer, Change, Move, Question, TOGETHER};
use incumbent_protocol::ratify::{Ask, Ballot, Electorate, Promise, Voter};

use super::judge::{Key, Value};

const A: NodeId = NodeId::given(1);
const B: NodeId = NodeId::given(2);
const C: NodeId = NodeId::given(3);
const D: NodeId = NodeId::given(4);

type Voters = BTreeMap<NodeId, Voter<Key, Value>>;

fn by(number: u128) -> Incarnation {
    Incarnation::from_random(number << 64)
}

fn first() -> Electorate {
    Electorate::first([A, B, C])
}

/// Four nodes of which three vote, and two of them accepted something in each of these registers.
fn voters(keys: impl Iterator<Item = Key>, ballot: Ballot) -> Voters {
    let mut voters: Voters =
        [A, B, C, D].map(|node| (node, Voter::new(node, first()))).into_iter().collect();
    let value = Value::Changes(vec![1]);
    let asks: Vec<_> = keys.map(|key| (key, Ask::Accept(ballot, value.clone()))).collect();
    for node in [A, B] {
        let voter = voters.get_mut(&node).expect("one of them");
        kept(voter.handle(&first(), asks.clone()));
    }
    voters
}

fn kept<K, V, R>(promise: Promise<K, V, R>) -> R {
    match promise.keep(|_| Ok::<(), Infallible>(())) {
        Ok(replies) => replies,
        Err(never) => match never {},
    }
}

/// Puts every question to those who are there until it is over; gives the number of questions about
/// registers. When they do not suffice, nobody else is expected to answer.
fn carry_out(amendment: &mut Amendment<Key, Value>, voters: &mut Voters) -> usize {
    let mut asked = 0;
    while let Some((serial, question)) = amendment.question() {
        let (under, whom) = (amendment.electorate().clone(), amendment.whom());
        asked += usize::from(matches!(question, Question::Asks(_)));
        assert!(asked < 10_000, "it came to no end: {question:?}");
        let mut step = Move::Wait;
        for (from, voter) in voters.iter_mut().filter(|(node, _)| whom.contains(node)) {
            let answer = match question.clone() {
                Question::List => Answer::Inventory(kept(voter.list(&under))),
                Question::Asks(asks) => {
                    assert!(asks.len() <= TOGETHER);
                    Answer::Replies(kept(voter.handle(&under, asks)))
                }
            };
            if step == Move::Wait {
                step = amendment.hear(*from, serial, answer);
            }
        }
        if step == Move::Wait {
            step = amendment.go_on();
        }
        assert!(!matches!(step, Move::Refused(_)), "{step:?}");
    }
    asked
}

#[test]
fn registers_are_rewritten_many_at_a_time() {
    let ballot = Ballot::first(by(1));
    let mut voters = voters(1..=Key::MAX, ballot);
    let mut amendment = Amendment::new(by(2), 0, first(), Change::Add(D));
    let asked = carry_out(&mut amendment, &mut voters);
    assert_eq!(amendment.electorate().number(), 1);
    assert!(amendment.electorate().is_settled());
    for key in 1..=Key::MAX {
        let rewritten = voters.values().filter(|voter| {
            let slot = voter.slots().find(|(kept, _)| **kept == key).map(|(_, slot)| slot);
            slot.and_then(|slot| slot.accepted.as_ref()).is_some_and(|(new, _)| *new > ballot)
        });
        assert!(amendment.electorate().majority() <= rewritten.count(), "{key} stayed behind");
    }
    // Two for each batch, one more for the first ballot, and those about the register of electorates.
    assert!(asked <= 2 * 3 + 1 + 6, "{asked} questions");
}

#[test]
fn registers_that_only_one_voter_heeds_for_another_hold_up_no_change_while_a_voter_is_away() {
    let mut voters = voters(1..=3, Ballot::first(by(1)));
    // A proposer had one of them heed it at one voter, and is gone. Its ballot is the highest of all.
    let high = (0..1_000).fold(Ballot::first(by(9)), |ballot, _| Ballot::after(ballot, by(9)));
    let one = voters.get_mut(&A).expect("one of them");
    kept(one.handle(&first(), vec![(2, Ask::Heed(high))]));
    voters.remove(&C);
    let mut amendment = Amendment::new(by(2), 0, first(), Change::Remove(C));
    let asked = carry_out(&mut amendment, &mut voters);
    assert_eq!(amendment.electorate().number(), 1);
    assert!(asked < 20, "{asked} questions");
    let slot = voters[&A].slots().find(|(key, _)| **key == 2).map(|(_, slot)| slot.clone());
    assert!(slot.and_then(|slot| slot.accepted).is_some_and(|(ballot, _)| ballot > high));
}
