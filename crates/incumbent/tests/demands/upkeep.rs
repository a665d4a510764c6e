//! Demands 7 and 8: an elector that does not contend says so, and whoever is not well does not lead.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use incumbent::health::{HealthRules, Probe};
use incumbent::{Backend, Change, Election, Order};
use incumbent_testbed::{Way, shared_postgres};

use crate::support::{
    BILLING, LONG, Place, change, config, contend, for_a_while, lead, leader, resign, seen, soon,
    until, won,
};

// Standbys had silently stopped contending, which was found out when they were needed. Here whoever is
// asked to lead and does not contend says why, and again when it does.
#[tokio::test]
async fn p07_an_elector_that_is_kept_from_contending_says_so() {
    let place = Place::file();
    let (one, two) = (place.candidate("one", LONG).await, place.candidate("two", LONG).await);
    let first = lead(&one).await;
    let mut changes = two.observe().expect("observes");
    let (waits, pulse) = (contend(&two), two.pulse().await.expect("a pulse"));
    until("it contends", async || pulse.is_contending()).await;
    seen(&one, "two").await;
    let name = || "two".parse().expect("a name");
    let order = |order| one.backend().order(BILLING, order, None, "ann", Some("new disk"));
    order(Order::Cordon { name: name() }).await.expect("cordoned");
    let obstacle = |change: &Change| match change {
        Change::Obstacle { why } => Some(why.clone()),
        _ => None,
    };
    let why = change("an obstacle", &mut changes, obstacle).await.expect("a reason");
    assert!(why.contains("ann") && why.contains("new disk"), "{why}");
    until("it does not contend", async || !pulse.is_contending()).await;
    order(Order::Uncordon { name: name() }).await.expect("uncordoned");
    assert_eq!(change("no obstacle", &mut changes, obstacle).await, None);
    until("it contends", async || pulse.is_contending()).await;
    resign(first).await;
    assert!(won(waits).await.is_valid());
}

// The loop hung in a connection that nobody answered, and every health check said that all was well.
#[tokio::test]
async fn p07_an_elector_whose_store_is_silent_has_no_pulse_and_comes_back_by_itself() {
    let place = Place::postgres().await;
    let timeout = Duration::from_millis(300);
    let (proxy, one) = place.behind_a_proxy(&config("one", LONG).timeout(timeout)).await;
    let two = place.candidate("two", LONG).await;
    let first = lead(&two).await;
    let (waits, pulse) = (contend(&one), one.pulse().await.expect("a pulse"));
    until("it contends", async || pulse.is_contending()).await;
    proxy.silence(Way::Both);
    until("it does not contend", async || !pulse.is_contending()).await;
    assert!(pulse.wants_to_lead());
    proxy.silence(Way::None);
    until("it contends", async || pulse.is_contending()).await;
    resign(first).await;
    assert!(won(waits).await.is_valid());
}

// After one error the elector ended for good, and the process lived on without it. Here a campaign
// that fails can be begun again on the same election.
#[tokio::test]
async fn p07_a_campaign_that_failed_can_be_begun_again() {
    let place = Place::postgres().await;
    let one = place.candidate("one", LONG).await;
    let server = shared_postgres().await.expect("a server");
    let rename = |from: &str, to: &str| format!("ALTER TABLE {from} RENAME TO {to}");
    let away = rename("incumbent_election", "mislaid");
    server.sql_on(&place.database, &away).await.expect("renamed");
    let failed = soon("an error", one.campaign()).await;
    failed.expect_err("there is no table");
    let back = rename("mislaid", "incumbent_election");
    server.sql_on(&place.database, &back).await.expect("renamed");
    assert!(lead(&one).await.is_valid());
}

/// Binds a candidate to a health that the test decides on.
fn bind(election: &Election) -> Arc<AtomicBool> {
    let well = Arc::new(AtomicBool::new(true));
    let probe = Probe::function({
        let well = Arc::clone(&well);
        move || {
            let well = well.load(Ordering::SeqCst);
            async move { if well { Ok(()) } else { Err("queue is stuck".to_owned()) } }
        }
    });
    let every = Duration::from_millis(50);
    let rules = HealthRules::new(every, every, 2, every * 4).expect("rules");
    election.backend().bind_health(probe, rules).expect("bound");
    well
}

// A leader renewed on time and did nothing, because what it led for was stuck. Here leadership is bound
// to health: whoever is not well hands over in good order, and does not come back before it is.
#[tokio::test]
async fn p08_a_leader_that_is_not_well_hands_over_and_contends_when_it_is() {
    let place = Place::file();
    let (one, two) = (place.candidate("one", LONG).await, place.candidate("two", LONG).await);
    let well = bind(&one);
    let (first, waits) = (lead(&one).await, contend(&two));
    well.store(false, Ordering::SeqCst);
    let asked = soon("to be asked", first.draining()).await;
    assert!(asked.by.reason.is_some_and(|reason| reason.contains("queue is stuck")));
    assert!(first.is_valid(), "it ends its work under its lease");
    resign(first).await;
    let second = won(waits).await;
    let returns = contend(&one);
    resign(second).await;
    for_a_while().await;
    assert_eq!(leader(&two).await, "", "one is not well");
    well.store(true, Ordering::SeqCst);
    assert!(won(returns).await.is_valid());
}

// A process led before it had warmed up.
#[tokio::test]
async fn p08_nobody_leads_before_it_was_found_well() {
    let place = Place::file();
    let backend = Backend::open_with(&place.url, &config("one", LONG)).await.expect("opens");
    let ready = Arc::new(tokio::sync::Notify::new());
    let probe = Probe::function({
        let ready = Arc::clone(&ready);
        move || {
            let ready = Arc::clone(&ready);
            async move {
                ready.notified().await;
                Ok(())
            }
        }
    });
    let rules = HealthRules::of_every(Duration::from_mins(1)).expect("rules");
    backend.bind_health(probe, rules).expect("bound");
    let waits = contend(&backend.election(BILLING).await.expect("opens"));
    for_a_while().await;
    assert!(!waits.is_finished(), "it leads, and nobody knows whether it is well");
    ready.notify_one();
    assert!(won(waits).await.is_valid());
}
