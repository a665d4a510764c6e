//! Elections by rounds on servers: who is in line, and what becomes of the line.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::store::{Kind, PROGRAM, output};
use crate::troupe::{Troupe, is_alive};

/// Ann leads, bob is second, cat waits.
async fn scene(kind: Kind, lease: &'static str) -> Troupe {
    let mut troupe = Troupe::new(PROGRAM, lease).at(&kind.fresh().await).in_rounds();
    let made = output(troupe.call("schema").arg("--apply"));
    assert!(made.status.success(), "{made:?}");
    for name in ["ann", "bob", "cat"] {
        troupe.join(name);
        troupe.until("a place in line", || {
            members(&troupe).iter().any(|(member, _)| member == name).then_some(())
        });
    }
    troupe.nth_start(1);
    troupe
}

/// Names and roles, first in line first.
fn members(troupe: &Troupe) -> Vec<(String, String)> {
    let seen = output(troupe.call("members").arg("--json"));
    let seen: Value = serde_json::from_slice(&seen.stdout).expect("JSON");
    let word = |value: &Value| value.as_str().expect("a word").to_owned();
    let members = seen["members"].as_array().expect("members");
    members.iter().map(|member| (word(&member["name"]), word(&member["position"]))).collect()
}

fn line(line: &[(&str, &str)]) -> Vec<(String, String)> {
    line.iter().map(|(name, position)| ((*name).to_owned(), (*position).to_owned())).collect()
}

fn audit(troupe: &Troupe) {
    let report = incumbent_audit::audit(&troupe.histories()).expect("readable histories");
    assert!(report.is_clean(), "{report}");
}

async fn killed(kind: Kind) {
    let troupe = scene(kind, "3s").await;
    let first = troupe.nth_start(1);
    troupe.signal("ann", Signal::KILL);
    let second = troupe.nth_start(2);
    assert_eq!(second.name, "bob", "the second in line follows");
    assert!(!is_alive(first.pid), "two commands ran at once");
    troupe.until("ann to be off the roster", || {
        (members(&troupe) == line(&[("bob", "leader"), ("cat", "second")])).then_some(())
    });
    audit(&troupe);
}

/// A lease so long that whoever waits for it to run out is found out even on a slow day.
async fn terminated(kind: Kind) {
    let mut troupe = scene(kind, "40s").await;
    assert_eq!(members(&troupe), line(&[("ann", "leader"), ("bob", "second"), ("cat", "waiting")]));
    let asked = Instant::now();
    troupe.signal("ann", Signal::TERM);
    assert_eq!(troupe.nth_start(2).name, "bob");
    assert!(asked.elapsed() < Duration::from_secs(20), "waited for a lease: {:?}", asked.elapsed());
    assert_eq!(troupe.code_of("ann"), 143);
    assert_eq!(members(&troupe), line(&[("bob", "leader"), ("cat", "second")]));
    audit(&troupe);
}

/// The third in line leads, because an operator says so.
async fn ordered(kind: Kind) {
    let troupe = scene(kind, "3s").await;
    let order = output(troupe.call("takeover").args(["cat", "--yes", "--wait-for", "1m"]));
    assert!(order.status.success(), "{order:?}");
    assert_eq!(troupe.nth_start(2).name, "cat");
    let status = output(troupe.call("status").arg("--json"));
    let status: Value = serde_json::from_slice(&status.stdout).expect("JSON");
    assert_eq!((&status["leader"], &status["protocol"]), (&"cat".into(), &"rounds".into()));
    audit(&troupe);
}

#[tokio::test]
async fn on_postgres_a_killed_leader_goes_off_the_roster_and_the_second_leads() {
    killed(Kind::Postgres).await;
}

#[tokio::test]
async fn on_mariadb_a_killed_leader_goes_off_the_roster_and_the_second_leads() {
    killed(Kind::Mariadb).await;
}

#[tokio::test]
async fn on_postgres_a_leader_that_stops_hands_over_without_waiting_for_its_lease() {
    terminated(Kind::Postgres).await;
}

#[tokio::test]
async fn on_mariadb_a_leader_that_stops_hands_over_without_waiting_for_its_lease() {
    terminated(Kind::Mariadb).await;
}

#[tokio::test]
async fn on_postgres_an_operator_may_name_one_further_back_in_line() {
    ordered(Kind::Postgres).await;
}

#[tokio::test]
async fn on_mariadb_an_operator_may_name_one_further_back_in_line() {
    ordered(Kind::Mariadb).await;
}
