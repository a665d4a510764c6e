//! `incumbent run` on servers: killed, stopped, asked to end, cut off.

use incumbent_testbed::{MariaDb, Postgres};
use rustix::process::Signal;

use crate::store::{Kind, output, text, troupe_at};
use crate::troupe::{Start, Troupe, is_alive};

fn audit(troupe: &Troupe) {
    let report = incumbent_audit::audit(&troupe.histories()).expect("readable histories");
    assert!(report.is_clean(), "{report}");
}

/// Ann leads, and bob waits.
async fn scene(kind: Kind) -> (Troupe, Start) {
    let mut troupe = kind.troupe().await;
    troupe.join("ann");
    let first = troupe.nth_start(1);
    troupe.join("bob");
    troupe.until("bob to contend", || troupe.read("bob.err").contains("contending").then_some(()));
    (troupe, first)
}

/// Bob began to work, when the command of his predecessor was dead.
#[track_caller]
fn bob_follows(troupe: &Troupe, first: &Start) {
    let second = troupe.nth_start(2);
    assert_eq!(second.name, "bob");
    assert!(!is_alive(first.pid), "two commands ran at once");
    assert!(second.token > first.token);
}

async fn killed(kind: Kind) {
    let (troupe, first) = scene(kind).await;
    troupe.signal("ann", Signal::KILL);
    bob_follows(&troupe, &first);
    audit(&troupe);
}

async fn terminated(kind: Kind) {
    let (mut troupe, first) = scene(kind).await;
    troupe.signal("ann", Signal::TERM);
    bob_follows(&troupe, &first);
    assert_eq!(troupe.code_of("ann"), 143);
    let history = output(troupe.call("history").arg("--json"));
    let terms: serde_json::Value = serde_json::from_slice(&history.stdout).expect("JSON");
    assert_eq!(terms[0]["opening"], "released", "{terms}");
    audit(&troupe);
}

async fn stopped(kind: Kind) {
    let (troupe, first) = scene(kind).await;
    troupe.signal("ann", Signal::STOP);
    bob_follows(&troupe, &first);
    troupe.signal("ann", Signal::CONT);
    troupe.until("ann to hear of it", || troupe.read("ann.err").contains("lost").then_some(()));
    assert_eq!(troupe.starts().len(), 2, "ann worked again without leading");
    audit(&troupe);
}

async fn ordered(kind: Kind) {
    let (troupe, first) = scene(kind).await;
    let order = output(troupe.call("takeover").args(["bob", "--yes", "--wait-for", "1m"]));
    assert!(order.status.success(), "{order:?}");
    bob_follows(&troupe, &first);
    let status = output(troupe.call("status").arg("--json"));
    assert!(text(&status.stdout).contains("\"leader\":\"bob\""), "{status:?}");
    audit(&troupe);
}

macro_rules! on_servers {
    ($($scene:ident: $name:ident;)*) => {
        mod postgres { $(#[tokio::test] async fn $name() { super::$scene(super::Kind::Postgres).await; })* }
        mod mariadb { $(#[tokio::test] async fn $name() { super::$scene(super::Kind::Mariadb).await; })* }
    };
}

on_servers! {
    killed: a_killed_supervisor_takes_its_command_along_and_the_other_takes_over;
    terminated: on_term_the_command_ends_first_and_the_other_takes_over;
    stopped: a_stopped_supervisor_is_waited_out_and_its_command_is_dead_before_the_successor_starts;
    ordered: a_named_candidate_takes_over_by_order;
}

/// Nobody can lead without the server: the command ends, and is begun again under a later token.
fn cut_off(url: &str, freeze: impl FnOnce(), thaw: impl FnOnce()) {
    let mut troupe = troupe_at(url);
    troupe.join("ann");
    let first = troupe.nth_start(1);
    freeze();
    troupe.until("the command to end", || (!is_alive(first.pid)).then_some(()));
    thaw();
    let second = troupe.nth_start(2);
    assert!(second.token > first.token);
    audit(&troupe);
}

#[tokio::test]
async fn a_frozen_postgres_ends_the_command_and_a_later_token_begins_it_again() {
    let server = Postgres::start().await.expect("a server");
    cut_off(&server.url(), || server.freeze(), || server.thaw());
}

#[tokio::test]
async fn a_frozen_mariadb_ends_the_command_and_a_later_token_begins_it_again() {
    let server = MariaDb::start().await.expect("a server");
    cut_off(&server.url(), || server.freeze(), || server.thaw());
}
