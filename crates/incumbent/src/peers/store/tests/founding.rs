//! The founding of voters of which one loses its disk meanwhile.

use tokio::time::timeout;

use super::LONG;
use super::scene::{Scene, founded};

const LOST: [u128; 3] = [1, 2, 3];
const PRESENT: [u128; 3] = [1, 2, 9];

#[tokio::test(start_paused = true)]
async fn whoever_remembers_a_founding_that_came_to_nothing_takes_the_one_that_did() {
    let scene = Scene::unfounded(PRESENT);
    let (mut one, mut two) = (scene.process(7), scene.process(1_000_003));
    // It asked the third voter before that lost its disk, and has told nobody yet.
    assert!(one.quorum.client_mut().adopt(founded(LOST)));
    two.quorum.list().await.expect("all voters are there");
    let found = timeout(LONG, one.quorum.list()).await;
    found.expect("it waits for a disk that is lost").expect("all voters are there");
    let known = [one, two].map(|process| process.quorum.client().electorate().clone());
    let present = founded(PRESENT).confirmed();
    assert_eq!(known, [present.clone(), present]);
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_was_lost_in_the_founding_is_not_replaced() {
    let scene = Scene::unfounded(PRESENT);
    // Somebody may know by now that all three keep it, and use it.
    scene.keep(&[1, 2], &founded(LOST));
    for mut process in [scene.process(7), scene.process(1_000_003)] {
        let found = timeout(LONG, process.quorum.list()).await;
        assert!(found.is_err(), "founded anew: {:?}", process.quorum.client().electorate());
    }
}
