//! Clients among voters in memory: what is asked is answered at once, unless a test says otherwise.

use core::convert::Infallible;
use core::time::Duration;

use super::*;
use crate::ratify::voter::Voter;

/// A register of a number. The first is the one of voter sets.
type Key = u8;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Voters(Electorate),
    Number(u32),
}

impl Charter for Value {
    fn of(electorate: Electorate) -> Self {
        Value::Voters(electorate)
    }

    fn electorate(&self) -> Option<&Electorate> {
        match self {
            Value::Voters(electorate) => Some(electorate),
            Value::Number(_) => None,
        }
    }
}

type Client = QuorumClient<Key, Value>;

struct World {
    voters: BTreeMap<NodeId, Voter<Key, Value>>,
    first: Electorate,
    now: Time,
    /// Which voters are reached.
    reached: BTreeSet<NodeId>,
    /// How many messages still pass.
    passes: usize,
}

fn node(number: u128) -> NodeId {
    NodeId::given(number)
}

impl World {
    /// Three voters that were never founded.
    fn new() -> World {
        let nodes = [1, 2, 3].map(node);
        let first = Electorate::first(nodes);
        let voter = |node: NodeId| {
            let voter = Voter::new(node, first.clone()).of(Lineage::drawn(node.number()));
            (node, voter)
        };
        let voters = nodes.into_iter().map(voter).collect();
        World { voters, first, now: Time::ZERO, reached: nodes.into(), passes: usize::MAX }
    }

    fn client(&self, me: u128) -> Client {
        let me = Incarnation::from_random(me);
        QuorumClient::new(me, 0, self.first.clone(), 1)
    }

    fn handle(&mut self, client: &mut Client, input: Input<Key, Value>) {
        client.handle(self.now, input);
    }

    /// Does what the client wants, for a minute at most, until it wants something known.
    fn next(&mut self, client: &mut Client) -> Option<Notice<Key, Value>> {
        let end = self.now + Duration::from_mins(1);
        loop {
            while let Some(notice) = client.poll_notice() {
                if !matches!(notice, Notice::Voters { .. } | Notice::Proposed(_)) {
                    return Some(notice);
                }
            }
            let heard = client.poll_effect().map(|effect| self.answers(effect));
            for input in heard.into_iter().flatten() {
                client.handle(self.now, input);
            }
            if client.effects.is_empty() && client.notices.is_empty() {
                self.now = client.wake_at().filter(|at| *at < end)?;
                client.handle(self.now, Input::Wake);
            }
        }
    }

    fn answers(&mut self, effect: Effect<Key, Value>) -> Vec<Input<Key, Value>> {
        let Effect { id, to, electorate, question } = effect;
        let mut heard = Vec::new();
        for from in to.into_iter().filter(|node| self.reached.contains(node)) {
            let Some(left) = self.passes.checked_sub(1) else { break };
            self.passes = left;
            let Some(voter) = self.voters.get_mut(&from) else { continue };
            let answer = match question.clone() {
                Question::Registers(asks) => {
                    let promise = voter.handle(&electorate, asks);
                    let Ok(replies) = promise.keep(|_| Ok::<(), Infallible>(()));
                    Answer::Replies { now: StoreTime::from_micros(1_000), replies }
                }
                Question::Inventory => {
                    let Ok(inventory) = voter.list(&electorate).keep(|_| Ok::<(), Infallible>(()));
                    Answer::Inventory(inventory)
                }
            };
            heard.push(Input::Heard { from, id, wall: StoreTime::from_micros(900), answer });
        }
        heard
    }

    fn begin(&mut self, client: &mut Client, operation: Operation<Key>) {
        self.handle(client, Input::Begin { wall: StoreTime::from_micros(900), operation });
    }

    /// Writes these values, whatever was there, and tells how that ended.
    fn write(&mut self, client: &mut Client, values: &[(Key, u32)]) -> Option<Written<Key, Value>> {
        let keys = values.iter().map(|(key, _)| *key).collect();
        self.begin(client, Operation::Write { keys, at_once: true });
        let Notice::Decide { .. } = self.next(client)? else { return None };
        let values = values.iter().map(|(_, number)| Some(Value::Number(*number))).collect();
        self.handle(client, Input::Decided(values));
        match self.next(client)? {
            Notice::Written(written) => Some(written),
            _ => None,
        }
    }

    fn read(&mut self, client: &mut Client, keys: &[Key]) -> Option<Vec<Option<Value>>> {
        self.begin(client, Operation::Read(keys.to_vec()));
        match self.next(client)? {
            Notice::Read { values, .. } => Some(values),
            _ => None,
        }
    }
}

fn well() -> Written<Key, Value> {
    Written { others: Vec::new(), kept: true }
}

fn numbers(numbers: &[u32]) -> Vec<Option<Value>> {
    numbers.iter().map(|number| Some(Value::Number(*number))).collect()
}

#[test]
fn several_registers_are_changed_together_and_the_second_time_by_one_question() {
    let mut world = World::new();
    let mut client = world.client(7);
    assert_eq!(world.write(&mut client, &[(1, 10), (2, 20)]), Some(well()));
    assert_eq!(client.electorate().number(), FOUNDED);
    let before = client.asked();
    assert_eq!(world.write(&mut client, &[(1, 11), (2, 21)]), Some(well()));
    assert_eq!(client.asked() - before, 1);
    let mut other = world.client(8);
    assert_eq!(world.read(&mut other, &[2, 1]), Some(numbers(&[21, 11])));
    assert_eq!(other.now(StoreTime::from_micros(900)), StoreTime::from_micros(1_000));
}

#[test]
fn whatever_is_given_up_leaves_nothing_that_later_operations_trust() {
    for passes in 0..20 {
        let mut world = World::new();
        let (mut one, mut two) = (world.client(7), world.client(8));
        assert_eq!(world.write(&mut one, &[(1, 1), (2, 1)]), Some(well()));
        // This many messages still pass; then nothing does, and the operation is given up.
        world.passes = passes;
        let known = world.write(&mut one, &[(1, 2), (2, 2)]);
        world.passes = usize::MAX;
        assert_eq!(world.write(&mut two, &[(2, 5)]), Some(well()), "{passes}");
        let seen = world.read(&mut one, &[1, 2]).expect("a majority");
        assert_eq!(seen[1], Some(Value::Number(5)), "{passes}");
        if known.is_some() {
            assert_eq!(seen[0], Some(Value::Number(2)), "{passes}");
        }
        // What was given up is not taken for the last change of this process.
        if known.is_none() {
            assert_eq!(world.write(&mut one, &[(1, 3), (2, 3)]), Some(well()), "{passes}");
            assert_eq!(world.read(&mut two, &[1, 2]), Some(numbers(&[3, 3])), "{passes}");
        }
    }
}

#[test]
fn a_write_that_another_process_overruled_tells_what_is_chosen_now() {
    let mut world = World::new();
    let (mut one, mut two) = (world.client(7), world.client(8));
    assert_eq!(world.write(&mut one, &[(1, 1), (2, 1)]), Some(well()));
    world.begin(&mut one, Operation::Write { keys: vec![1, 2], at_once: true });
    assert!(matches!(world.next(&mut one), Some(Notice::Decide { .. })));
    assert_eq!(world.write(&mut two, &[(2, 5)]), Some(well()));
    world.handle(&mut one, Input::Decided(numbers(&[2, 2])));
    let others = vec![(2, Value::Number(5))];
    let Some(Notice::Written(written)) = world.next(&mut one) else { panic!("no end") };
    assert_eq!(written, Written { others, kept: true });
    assert_eq!(world.read(&mut two, &[1, 2]), Some(numbers(&[2, 5])));
}

#[test]
fn a_renewal_of_several_registers_goes_on_when_others_vote() {
    let mut world = World::new();
    let mut client = world.client(7);
    assert_eq!(world.write(&mut client, &[(1, 1), (2, 1), (3, 1)]), Some(well()));
    let next = client.electorate().without(node(3)).expect("it votes").settle();
    for voter in world.voters.values_mut() {
        let Ok(_) = voter.list(&next).keep(|_| Ok::<(), Infallible>(()));
    }
    world.begin(&mut client, Operation::Renew(vec![1, 2, 3]));
    let renewed = loop {
        match world.next(&mut client) {
            Some(Notice::Decide { shown, .. }) => {
                // The second is not to be renewed.
                let next = |(key, _): &(Key, _)| (*key != 2).then_some(Value::Number(2));
                let next = shown.iter().map(next).collect();
                world.handle(&mut client, Input::Decided(next));
            }
            Some(Notice::Renewed(keys)) => break keys,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(renewed, [1, 3]);
    assert_eq!(client.electorate(), &next);
    assert_eq!(world.read(&mut client, &[1, 2, 3]), Some(numbers(&[2, 1, 2])));
}

#[test]
fn a_read_relays_what_it_found_half_done_and_overrules_nobody() {
    let mut world = World::new();
    let (mut one, mut two) = (world.client(7), world.client(8));
    assert_eq!(world.write(&mut one, &[(1, 1)]), Some(well()));
    // The next value reaches one voter; its proposer gives up.
    world.reached = [node(1)].into();
    assert_eq!(world.write(&mut one, &[(1, 2)]), None);
    world.reached = [node(1), node(2)].into();
    assert_eq!(world.read(&mut two, &[1]), Some(numbers(&[2])));
    let slots = world.voters.values().flat_map(Voter::slots);
    let mut slots = slots.filter(|(key, _)| **key == 1);
    assert!(slots.all(|(_, slot)| slot.heeds.is_some_and(|ballot| ballot.by() == one.me())));
}

#[test]
fn voters_are_changed_and_every_register_is_known_to_the_next_ones() {
    let mut world = World::new();
    let mut client = world.client(7);
    assert_eq!(world.write(&mut client, &[(1, 1), (2, 1)]), Some(well()));
    let (me, change) = (Incarnation::from_random(9), Change::Remove(node(3)));
    world.begin(&mut client, Operation::Amend { me, change });
    let Some(Notice::Amended(Ok(amended))) = world.next(&mut client) else { panic!("no end") };
    assert!(amended.is_settled() && !amended.has(node(3)));
    assert_eq!(client.electorate(), &amended);
    world.begin(&mut client, Operation::List);
    assert_eq!(world.next(&mut client), Some(Notice::Listed(vec![0, 1, 2])));
}

#[test]
fn voters_with_another_list_are_told_from_those_of_another_cluster() {
    let mut world = World::new();
    let mut client = world.client(7);
    let other = Electorate::first([1, 2].map(node));
    let lineages = [1, 2].map(|number| (node(number), Lineage::drawn(number))).into();
    let founded = Electorate::founded(lineages);
    let mut stranger = Client::new(client.me(), 0, other, 1);
    for voter in world.voters.values_mut() {
        let Ok(_) = voter.list(&founded).keep(|_| Ok::<(), Infallible>(()));
    }
    world.begin(&mut client, Operation::Read(vec![1]));
    assert_eq!(world.next(&mut client), Some(Notice::Differs(founded.clone())));
    assert!(!client.is_busy());
    assert!(stranger.adopt(founded.confirmed()));
    let elsewhere = Electorate::founded([(node(4), Lineage::drawn(4))].into());
    assert!(!stranger.adopt(elsewhere.confirmed()));
    let news: Vec<_> = core::iter::from_fn(|| stranger.poll_notice()).collect();
    assert!(matches!(news[..], [Notice::Voters { .. }, Notice::Stranger(_)]), "{news:?}");
}
