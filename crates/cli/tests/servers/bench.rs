//! `incumbent bench failover` on servers.

use std::process::Command;

use serde_json::{Value, json};

use crate::store::{Kind, PROGRAM, output, text, troupe_at};

fn bench(url: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(["bench", "failover"]).env("INCUMBENT_URL", url);
    command
}

async fn measured(kind: Kind, store: &str) {
    let url = kind.fresh().await;
    let troupe = troupe_at(&url);
    let mut command = bench(&url);
    command.args(["--protocol", "rounds", "--round-time", "1s", "--round-limit", "2"]);
    command.args(["--candidates", "3", "--kills", "2", "--json"]);
    let ended = output(&mut command);
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    let figures: Value = serde_json::from_slice(&ended.stdout).expect("JSON");
    assert_eq!((&figures["ok"], &figures["store"]), (&json!(true), &json!(store)), "{figures}");
    let size = &figures["sizes"][0];
    let times = size["failover"]["each"].as_array().expect("times");
    assert_eq!((&size["candidates"], times.len()), (&json!(3), 2), "{figures}");
    // Nobody leads before the lease of the dead leader is over, but for what had passed of it since
    // its last beat: a round at most.
    assert!(times.iter().all(|time| time.as_f64() > Some(0.5)), "{figures}");
    let left = output(troupe.call("status").args(["--all", "--json"]));
    assert_eq!(text(&left.stdout), "[]\n", "{left:?}");
}

#[tokio::test]
async fn failovers_are_measured_on_postgres() {
    measured(Kind::Postgres, "postgres").await;
}

#[tokio::test]
async fn failovers_are_measured_on_mariadb() {
    measured(Kind::Mariadb, "mysql").await;
}

#[tokio::test]
async fn without_tables_a_benchmark_says_how_to_make_them() {
    let url = Kind::Postgres.fresh().await;
    let ended = output(&mut bench(&url));
    assert_eq!(ended.status.code(), Some(125), "{ended:?}");
    assert!(text(&ended.stderr).contains("incumbent schema --apply"), "{ended:?}");
}
