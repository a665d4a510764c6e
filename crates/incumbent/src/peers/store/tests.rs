//! What two processes do that write to one register at once, in time that passes only when everybody
//! waits.

mod founding;
mod scene;

use std::time::Duration;

use incumbent_protocol::identity::{CandidateId, Incarnation};
use incumbent_protocol::lease::order::{Order, Papers};
use incumbent_protocol::lease::request::{Bid, Claim};
use incumbent_protocol::node::NodeId;
use incumbent_protocol::rules::{Expiry, Rules};
use tokio::time::{sleep, timeout};

use self::scene::{ANSWER, QUESTION, Scene, VALUE};
use super::*;
use crate::store::office::Warrant;

/// Time for many hundred attempts.
const LONG: Duration = Duration::from_secs(10);

#[tokio::test(start_paused = true)]
async fn two_that_write_at_once_do_not_overrule_each_other_for_ever() {
    let scene = Scene::new();
    let (mut one, mut two) = (scene.process(7), scene.process(1_000_003));
    // Each asks to be heeded while what the other proposes is on its way. For want of a pause that
    // goes on and on.
    let later = (QUESTION + ANSWER + ANSWER + VALUE) / 2;
    let both = async {
        let second = async {
            sleep(later).await;
            claim(&mut two, 2).await
        };
        tokio::join!(claim(&mut one, 1), second)
    };
    let ended = timeout(LONG, both).await;
    let (first, second) = ended.expect("they overrule each other for ever");
    // That is no trouble of the store.
    let overtaken =
        matches!(&first, Err(Error::Overtaken)) || matches!(&second, Err(Error::Overtaken));
    assert!(
        overtaken,
        "both have the first term, or the loser is told otherwise: {first:?} {second:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_beat_that_an_order_overruled_lets_the_order_through() {
    let scene = Scene::new();
    // Its first pause is nearly the longest that there is.
    let (mut leader, mut operator) = (scene.process(999 << 1), scene.process(7));
    let Claim { candidate, term, .. } = claim(&mut leader, 1).await.expect("a term");
    let (election, holding) = (election(), Holding { candidate, term });
    operator.read(Some(&[&election])).await.expect("it knows of the leader's ballots");
    // The order is heeded after the beat has left, and before it arrives.
    let order = async {
        sleep(QUESTION).await;
        pause(&mut operator).await
    };
    let held = [(&election, &holding)];
    let both = async { tokio::join!(leader.renew(&held), order) };
    let ended = timeout(LONG, both).await;
    let (renewed, order) = ended.expect("they overrule each other for ever");
    order.expect("the order lost against the beat");
    assert_eq!(renewed.expect("answers"), [election.to_string()], "and the term goes on");
    let orders = leader.orders(&election, 9).await.expect("answers");
    assert_eq!(orders.len(), 1, "once: {orders:?}");
}

#[tokio::test(start_paused = true)]
async fn whoever_comes_second_lets_the_faster_one_through() {
    let scene = Scene::new();
    // The faster one has the higher ballot, and the other one nearly the longest first pause.
    let (mut fast, mut slow) = (scene.process(1 << 20), scene.process(999 << 1));
    // It asks while the value of the faster one is on its way. If it asked again at once, it would be
    // there before that value.
    let second = async {
        sleep(QUESTION + ANSWER + VALUE / 5).await;
        claim(&mut slow, 2).await
    };
    let (first, second) = tokio::join!(claim(&mut fast, 1), second);
    first.expect("it was overruled by one that came later");
    let second = second.expect_err("two have the first term");
    assert!(matches!(second, Error::Refused(_)), "{second}");
}

#[tokio::test(start_paused = true)]
async fn what_a_bid_was_refused_for_is_what_the_next_look_shows() {
    let scene = Scene::new();
    let (mut leader, mut other) = (scene.process(7), scene.process(8));
    let Claim { candidate, term, .. } = claim(&mut leader, 1).await.expect("a term");
    let (election, holding) = (election(), Holding { candidate, term });
    // It dies when one voter has its last beat.
    scene.cut(true);
    let beat = [(&election, &holding)];
    timeout(LONG, leader.renew(&beat)).await.expect_err("one voter is no majority");
    scene.cut(false);
    let refuse = |mut found: Snapshots| Ok((Vec::new(), found.take(&election).mark()));
    let refused = other.write(&[&election], refuse).await.expect("answers");
    let seen = other.read(Some(&[&election])).await.expect("answers").take(&election).mark();
    // Whoever sees now the one and now the other sees none of them stand still for a lease.
    assert_eq!(seen, refused);
}

#[tokio::test(start_paused = true)]
async fn a_follower_that_the_leader_cannot_reach_does_not_hold_up_renewals() {
    let scene = Scene::new();
    let mut leader = scene.process_reaching(7, &[1, 2]);
    let mut follower = scene.process_reaching(1_000_003, &[2, 3]);
    let Claim { candidate, term, .. } = claim(&mut leader, 1).await.expect("a term");
    let (election, holding) = (election(), Holding { candidate, term });
    let beat = [(&election, &holding)];
    let mut last = None;
    for _ in 0..20 {
        let before = leader.statements();
        let renewed = timeout(LONG, leader.renew(&beat)).await.expect("in time").expect("answers");
        assert_eq!(renewed, [election.to_string()]);
        assert_eq!(leader.statements() - before, 1, "the follower's look raised the ballot");
        let look = timeout(LONG, follower.read(Some(&[&election]))).await.expect("in time");
        let mark = look.expect("answers").take(&election).mark();
        assert!(mark != last, "the follower does not see that the leader lives");
        last = mark;
    }
}

#[tokio::test(start_paused = true)]
async fn a_beat_of_several_elections_goes_on_when_others_vote() {
    let scene = Scene::new();
    let mut leader = scene.process(7);
    let names = [election(), "shipping".parse().expect("a name")];
    let mut held = Vec::new();
    for name in &names {
        let Claim { candidate, term, .. } = claim_in(&mut leader, name, 1).await.expect("a term");
        held.push((name, Holding { candidate, term }));
    }
    let before = leader.quorum.client().electorate().clone();
    let next = before.without(NodeId::given(3)).expect("it votes").settle();
    scene.keep(&[1, 2, 3], &next);
    let beat: Vec<_> = held.iter().map(|(name, holding)| (*name, holding)).collect();
    let renewed = timeout(LONG, leader.renew(&beat)).await;
    let renewed = renewed.expect("it waits for those who voted before").expect("answers");
    assert_eq!(renewed, names.map(|name| name.to_string()));
    assert_eq!(leader.quorum.client().electorate(), &next);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_beside_a_claim_is_what_the_next_look_shows_too() {
    let scene = Scene::new();
    let (mut leader, mut other) = (scene.process(7), scene.process(8));
    let Claim { candidate, term, .. } = claim(&mut leader, 1).await.expect("a term");
    let (refused, free) = (election(), "shipping".parse().expect("a name"));
    let holding = Holding { candidate, term };
    scene.cut(true);
    let beat = [(&refused, &holding)];
    timeout(LONG, leader.renew(&beat)).await.expect_err("one voter is no majority");
    scene.cut(false);
    let both = |mut found: Snapshots| {
        let claim = bid(2).decide(&found.take(&free)).map_err(Error::Refused)?;
        let plan = Plan::Claim { election: free.clone(), claim: Box::new(claim) };
        Ok((vec![plan], found.take(&refused).mark()))
    };
    let told = other.write(&[&refused, &free], both).await.expect("answers");
    let mut seen = other.read(Some(&[&refused, &free])).await.expect("answers");
    assert_eq!(seen.take(&refused).mark(), told);
    assert!(seen.take(&free).record.is_some(), "the claim beside it is chosen");
}

fn election() -> ElectionName {
    "billing".parse().expect("a name")
}

fn bid(incarnation: u128) -> Bid {
    let rules = Rules::new(Duration::from_secs(8), Duration::from_secs(1), Expiry::Observed);
    let name = "one".parse().expect("a name");
    let candidate = CandidateId::new(name, Incarnation::from_random(incarnation));
    let rules = rules.expect("good rules");
    Bid { candidate, rules, suspicion: None, newest: None, longest: rules.lease() }
}

/// Begins the first term.
async fn claim(store: &mut Store, incarnation: u128) -> Result<Claim, Error> {
    claim_in(store, &election(), incarnation).await
}

async fn claim_in(
    store: &mut Store,
    election: &ElectionName,
    incarnation: u128,
) -> Result<Claim, Error> {
    let bid = bid(incarnation);
    let decide = |mut found: Snapshots| {
        let claim = bid.decide(&found.take(election)).map_err(Error::Refused)?;
        let plan = Plan::Claim { election: election.clone(), claim: Box::new(claim.clone()) };
        Ok((vec![plan], claim))
    };
    store.write(&[election], decide).await
}

/// Orders that nobody is to be elected.
async fn pause(store: &mut Store) -> Result<(), Error> {
    let papers = Papers { actor: "ann".to_owned(), ..Papers::meant(None) };
    let warrant = Warrant { election: election(), order: Order::Pause, papers };
    let decide = |mut found: Snapshots| {
        let snapshot = found.take(&warrant.election);
        let decree = Box::new(warrant.order.decide(&snapshot, &warrant.papers)?);
        let plan = Plan::Order { warrant: Box::new(warrant.clone()), decree, now: snapshot.now };
        Ok((vec![plan], ()))
    };
    store.write(&[&warrant.election], decide).await
}
