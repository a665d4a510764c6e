//! What people see who look on, and what an examination finds.

use incumbent::{Cause, Config, Doctor, Order, Verdict};

use crate::support::{BILLING, Cluster, LONG, SECRET, close_all, contend, lead, seen};

#[tokio::test]
async fn an_onlooker_sees_elections_terms_orders_and_candidates() {
    for scheme in ["ring", "bully"] {
        let cluster = Cluster::new(scheme, 3);
        let all = cluster.start_all(LONG).await;
        let look = cluster.look().await;
        assert_eq!(look.statuses().await.expect("a look"), []);
        let first = lead(&all[0]).await;
        let waiting = contend(&all[1]).await;
        seen(&look, "node-1").await;
        let status = look.status(BILLING).await.expect("a look");
        assert_eq!(
            status.leader().map(|it| (&it.id, it.term)),
            Some((all[0].candidate(), first.term()))
        );
        assert_eq!(look.statuses().await.expect("a look").len(), 1);
        let cordon = Order::Cordon { name: "node-1".parse().expect("a name") };
        look.order(BILLING, cordon, None, "ann", Some("new disk")).await.expect("ordered");
        let orders = all[2].orders(BILLING, 9).await.expect("orders");
        assert_eq!((orders[0].verb.as_str(), orders[0].actor.as_str()), ("cordon", "ann"));
        assert_eq!(orders[0].reason.as_deref(), Some("new disk"));
        let terms = all[2].terms(BILLING, 9).await.expect("terms");
        assert_eq!((terms.len(), terms[0].leader.as_str()), (1, "node-0"));
        let causes = look.explain(BILLING, "node-1").await.expect("explained");
        assert!(
            causes.iter().any(|it| matches!(it, Cause::Barred { left: None, .. })),
            "{causes:?}"
        );
        let causes = look.explain(BILLING, "node-0").await.expect("explained");
        assert!(causes.iter().any(|it| matches!(it, Cause::Leads { .. })), "{causes:?}");
        assert_eq!(look.members(BILLING).await.expect("nobody is in line").members, []);
        waiting.abort();
        drop(first);
        close_all(all).await;
    }
}

#[tokio::test]
async fn the_last_twenty_terms_and_orders_are_kept() {
    let cluster = Cluster::new("ring", 1);
    let one = cluster.start(0, LONG).await;
    let mut newest = 0;
    for round in 0..25 {
        let leadership = lead(&one).await;
        newest = leadership.term().get();
        for order in [Order::Pause, Order::Resume] {
            let reason = round.to_string();
            one.order(BILLING, order, None, "ann", Some(&reason)).await.expect("ordered");
        }
        leadership.resign().await.expect("resigns");
    }
    let terms = one.terms(BILLING, 99).await.expect("terms");
    assert_eq!((terms.len(), terms[0].term.get()), (20, newest));
    assert!(terms.is_sorted_by(|after, before| after.term > before.term));
    assert_eq!(one.orders(BILLING, 99).await.expect("orders").len(), 20);
    assert_eq!(one.orders(BILLING, 3).await.expect("orders").len(), 3);
    close_all(vec![one]).await;
}

pub(crate) async fn examined(cluster: &Cluster, config: Config) -> incumbent::Checkup {
    let config = config.secret(SECRET).expect("a secret");
    Doctor::examine(&cluster.url(), &config).await.expect("an examination")
}

pub(crate) fn verdict<'a>(checkup: &'a incumbent::Checkup, probe: &str) -> (Verdict, &'a str) {
    let found = checkup.findings.iter().find(|finding| finding.probe == probe);
    let found = found.unwrap_or_else(|| panic!("{probe} was not looked at: {checkup:#?}"));
    (found.verdict, &found.said)
}

#[tokio::test]
async fn an_examination_tells_how_many_vote_and_who_is_missing() {
    let cluster = Cluster::new("bully", 3);
    let mut all = cluster.start_all(LONG).await;
    let checkup = examined(&cluster, Config::new()).await;
    assert!(checkup.is_fit(), "{checkup:#?}");
    assert_eq!(verdict(&checkup, "voters").0, Verdict::Good);
    assert_eq!(verdict(&checkup, "majority"), (Verdict::Good, "3 of 3 voters can be reached"));
    all.remove(2).close().await;
    let checkup = examined(&cluster, Config::new()).await;
    let (seen, said) = verdict(&checkup, "majority");
    assert!(seen == Verdict::Warn && said.contains(&cluster.address(2)), "{said}");
    all.remove(1).close().await;
    let checkup = examined(&cluster, Config::new()).await;
    let (seen, said) = verdict(&checkup, "majority");
    assert!(seen == Verdict::Refuse && said.contains(&cluster.address(1)), "{said}");
    assert!(!checkup.is_fit());
    close_all(all).await;
}

#[tokio::test]
async fn an_examination_advises_against_an_even_number_and_against_one() {
    for (count, said) in [(2, "there are 2"), (4, "there are 4"), (1, "there is one")] {
        let cluster = Cluster::new("ring", count);
        let all = cluster.start_all(LONG).await;
        let checkup = examined(&cluster, Config::new()).await;
        let found = verdict(&checkup, "voters");
        assert!(found.0 == Verdict::Warn && found.1.contains(said), "{found:?}");
        assert!(checkup.is_fit(), "advice, and no more: {checkup:#?}");
        close_all(all).await;
    }
}
