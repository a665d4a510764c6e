//! Orders of operators on servers: transfer, pause, cordon, and what is refused.

use serde_json::{Value, json};

use crate::store::{Kind, output, text};
use crate::troupe::{Troupe, is_alive};

fn audit(troupe: &Troupe) {
    let report = incumbent_audit::audit(&troupe.histories()).expect("readable histories");
    assert!(report.is_clean(), "{report}");
}

/// The answer. A server that is busy with the tests beside this one may undo a statement that takes too
/// long, and says that it is worth another try.
fn ask(troupe: &Troupe, verb: &str, args: &[&str]) -> Value {
    troupe.until("an answer", || {
        let ended = output(troupe.call(verb).args(args).arg("--json"));
        let busy = ended.status.code() == Some(125)
            && serde_json::from_slice(&ended.stderr).is_ok_and(|it: Value| it["retry"] == "later");
        let answer = || serde_json::from_slice(&ended.stdout);
        (!busy).then(|| answer().unwrap_or_else(|error| panic!("{error}: {ended:?}")))
    })
}

/// The order is refused for this reason, and nothing is changed.
#[track_caller]
fn refused(troupe: &Troupe, verb: &str, args: &[&str], words: &str) {
    let standing = || {
        let status = ask(troupe, "status", &[]);
        (status["term"].clone(), status["controls"].clone(), status["successor"].clone())
    };
    let before = standing();
    let ended = output(troupe.call(verb).args(args));
    assert_eq!((ended.status.code(), text(&ended.stdout).as_str()), (Some(1), ""), "{ended:?}");
    assert_eq!(text(&ended.stderr), format!("incumbent: election default: {words}\n"));
    assert_eq!(standing(), before);
}

/// Ann leads, and the store knows that bob waits.
async fn scene(kind: Kind) -> Troupe {
    let mut troupe = kind.troupe().await;
    troupe.join("ann");
    troupe.nth_start(1);
    join(&mut troupe, "bob");
    troupe
}

fn join(troupe: &mut Troupe, name: &str) {
    troupe.join(name);
    troupe.until("a line of the roll", || {
        let seen = ask(troupe, "members", &[]);
        let ready = |member: &Value| member["name"] == name && member["presence"] == "ready";
        seen["members"].as_array()?.iter().any(ready).then_some(())
    });
}

async fn transferred(kind: Kind) {
    let mut troupe = scene(kind).await;
    join(&mut troupe, "cat");
    let first = troupe.nth_start(1);
    let unknown = "no candidate of the name nobody was ever seen in this election: `members` lists them; \
        if it has just started, wait until it says that it contends";
    refused(&troupe, "transfer", &["--to", "nobody"], unknown);
    let wait = ["--to", "cat", "--drain", "40s", "--wait-for", "1m", "--reason", "it's due"];
    let order = ask(&troupe, "transfer", &wait);
    assert_eq!((&order["candidate"], &order["next_leader"]), (&json!("cat"), &json!("cat")));
    assert_eq!((&order["ends"], &order["term"]), (&json!(false), &json!(first.token)));
    assert_eq!(troupe.nth_start(2).name, "cat");
    assert!(!is_alive(first.pid), "two commands ran at once");
    let terms = ask(&troupe, "history", &[]);
    assert_eq!(terms[1]["ending"], "resigned", "its work was cut off: {terms}");
    let orders = terms[1]["orders"].as_array().expect("orders");
    let order = orders.iter().find(|order| order["order"] == "transfer").expect("the transfer");
    assert_eq!((&order["candidate"], &order["reason"]), (&json!("cat"), &json!("it's due")));
    audit(&troupe);
}

async fn paused(kind: Kind) {
    let mut troupe = scene(kind).await;
    let order = ask(&troupe, "pause", &["--reason", "restore", "--actor", "ops"]);
    assert_eq!(order["controls"]["paused"]["actor"], json!("ops"));
    refused(&troupe, "transfer", &["--to", "bob"], "the election is paused: resume it first");
    refused(&troupe, "demote", &[], "the election is paused: resume it first");
    let status = ask(&troupe, "status", &[]);
    assert_eq!((&status["leader"], &status["state"]), (&json!("ann"), &json!("led")));
    troupe.signal("ann", rustix::process::Signal::TERM);
    troupe.code_of("ann");
    let causes = ask(&troupe, "explain", &["bob"]);
    assert_eq!(causes["causes"][0]["cause"], json!("paused"), "{causes}");
    assert_eq!(troupe.starts().len(), 1, "a term began in a pause");
    ask(&troupe, "resume", &[]);
    assert_eq!(troupe.nth_start(2).name, "bob");
    audit(&troupe);
}

async fn cordoned(kind: Kind) {
    let mut troupe = scene(kind).await;
    ask(&troupe, "cordon", &["bob"]);
    let barred = "bob is cordoned: uncordon it first, or name another";
    refused(&troupe, "transfer", &["--to", "bob"], barred);
    refused(&troupe, "takeover", &["bob", "--yes"], barred);
    refused(&troupe, "cordon", &["bob"], "bob is cordoned already");
    join(&mut troupe, "cat");
    let seen = ask(&troupe, "members", &[]);
    assert_eq!((&seen["leader"], &seen["second"]), (&json!("ann"), &json!("cat")));
    ask(&troupe, "demote", &["--hold-off", "10m"]);
    assert_eq!(troupe.nth_start(2).name, "cat", "neither bob nor ann may win");
    ask(&troupe, "uncordon", &["bob"]);
    ask(&troupe, "demote", &["--hold-off", "10m"]);
    assert_eq!(troupe.nth_start(3).name, "bob");
    audit(&troupe);
}

macro_rules! on_servers {
    ($($scene:ident: $name:ident;)*) => {
        mod postgres { $(#[tokio::test] async fn $name() { super::$scene(super::Kind::Postgres).await; })* }
        mod mariadb { $(#[tokio::test] async fn $name() { super::$scene(super::Kind::Mariadb).await; })* }
    };
}

on_servers! {
    transferred: a_transfer_lets_the_old_leader_end_its_work_first;
    paused: nobody_wins_in_a_pause_and_whoever_leads_goes_on;
    cordoned: one_that_is_cordoned_or_held_off_does_not_win;
}
