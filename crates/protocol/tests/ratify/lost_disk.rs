//! What a voter that lost its disk does, with a lineage and without.

use incumbent_protocol::node::NodeId;
use incumbent_protocol::ratify::amend::Change;

use super::world::{Happening, World};

const LOST: NodeId = NodeId::given(1);

/// The first writer is heard by voters 0 and 1 only. Then voter 1 loses its disk, and the second
/// writer is heard by voters 1 and 2 only.
fn one_voter_forgets(mut world: World) -> World {
    world.play(Happening::Write(0, 1));
    world.play(Happening::Finish(0, 2));
    assert_eq!(world.judge.chosen(1).count(), 1, "two of three are a majority");
    world.forget(LOST);
    world.play(Happening::Write(1, 1));
    world.play(Happening::Finish(1, 0));
    world
}

fn founded() -> World {
    let mut world = World::new(3, 3, 2);
    world.found();
    world
}

#[test]
fn a_voter_without_a_lineage_that_forgot_its_promises_breaks_the_chain() {
    let world = one_voter_forgets(World::new(3, 3, 2));
    assert!(world.judge.wrong.is_some(), "so its disk must never be lost");
}

#[test]
fn a_voter_with_another_lineage_is_not_heard() {
    let world = one_voter_forgets(founded());
    assert_eq!(world.judge.wrong, None);
    assert_eq!(world.judge.chosen(1).count(), 1, "one of three chooses nothing");
}

#[test]
fn a_voter_that_lost_its_disk_votes_again_once_it_was_removed_and_added() {
    let mut world = one_voter_forgets(founded());
    let known = world.known_to(0);
    for (count, change) in [Change::Remove(LOST), Change::Add(LOST)].into_iter().enumerate() {
        world.amend(change, known.clone());
        world.calm();
        assert_eq!(world.seen[2], count + 1, "{change:?}");
    }
    assert_eq!(world.electorate().number(), known.number() + 2);
    assert!(world.electorate().lineages().contains_key(&LOST));
    // The node that never was away is away now.
    for _ in 0..3 {
        world.play(Happening::Write(1, 1));
        world.play(Happening::Finish(1, 0));
    }
    assert_eq!(world.judge.wrong, None);
    // One by the first writer, two rewritten as voters changed, and one by the second writer at
    // least.
    assert!(world.judge.chosen(1).count() > 3, "it votes");
}

#[test]
fn a_voter_that_was_down_when_it_was_added_votes_once_its_lineage_is_noted() {
    let mut world = World::new(4, 3, 2);
    world.found();
    let down = NodeId::given(3);
    world.amend(Change::Add(down), world.known_to(0));
    for _ in 0..3 {
        world.play(Happening::Finish(2, 3));
        world.play(Happening::Remind(0));
    }
    world.play(Happening::Finish(2, 3));
    assert_eq!(world.seen[2], 1, "a majority lives");
    let known = world.electorate();
    assert!(known.has(down) && !known.lineages().contains_key(&down));
    world.amend(Change::Note, known);
    world.calm();
    assert_eq!(world.seen[2], 2);
    assert!(world.electorate().lineages().contains_key(&down));
    assert_eq!(world.judge.wrong, None);
}

#[cfg(feature = "planted")]
#[test]
fn a_voter_that_ignores_lineages_is_caught() {
    use incumbent_protocol::planted::{Bug, while_planted};

    let world = while_planted(Bug::LineageIgnored, || one_voter_forgets(founded()));
    assert!(world.judge.wrong.is_some());
}
