//! `schema` and `doctor` on servers, and what nobody may read there.

use crate::mask::mask;
use crate::store::{Kind, PROGRAM, output, password, text};
use crate::troupe::Troupe;

async fn tables(kind: Kind) {
    let url = kind.fresh().await;
    let troupe = Troupe::new(PROGRAM, "1s").at(&url);
    let run = output(troupe.call("run").args(["--", "true"]));
    assert_eq!(run.status.code(), Some(125), "{run:?}");
    assert!(text(&run.stderr).contains("incumbent schema --apply"), "{run:?}");
    let made = output(troupe.call("schema").arg("--apply"));
    let newest = if matches!(kind, Kind::Postgres) { 6 } else { 5 };
    let said = format!(": made, version {newest}\n");
    assert!(text(&made.stdout).ends_with(&said), "{made:?}");
    let again = output(troupe.call("schema").args(["--apply", "--json"]));
    let again: serde_json::Value = serde_json::from_slice(&again.stdout).expect("JSON");
    assert_eq!((&again["from"], &again["to"]), (&newest.into(), &newest.into()), "{again}");
    let shown = again["url"].as_str().expect("a URL");
    assert!(shown.contains(":***@") && !shown.contains(password(&url)), "{shown}");
    assert_eq!(output(troupe.call("run").args(["--", "true"])).status.code(), Some(0));
}

async fn examined(kind: Kind, name: &str) {
    let url = kind.fresh().await;
    // A lease that no slow answer can be too slow for.
    let troupe = Troupe::new(PROGRAM, "1m").at(&url);
    let made = output(troupe.call("schema").arg("--apply"));
    assert!(made.status.success(), "{made:?}");
    let ended = output(&mut troupe.call("doctor"));
    assert_eq!((ended.status.code(), text(&ended.stderr).as_str()), (Some(0), ""), "{ended:?}");
    let report = text(&ended.stdout);
    assert!(!report.contains(password(&url)), "{report}");
    insta::assert_snapshot!(name, mask(&report));
    let json = output(troupe.call("doctor").arg("--json"));
    assert!(!text(&json.stdout).contains(password(&url)), "{json:?}");
}

#[tokio::test]
async fn tables_of_postgres_are_made_once_and_asked_for_until_then() {
    tables(Kind::Postgres).await;
}

#[tokio::test]
async fn tables_of_mariadb_are_made_once_and_asked_for_until_then() {
    tables(Kind::Mariadb).await;
}

#[tokio::test]
async fn the_doctor_reports_on_postgres() {
    examined(Kind::Postgres, "doctor-postgres").await;
}

#[tokio::test]
async fn the_doctor_reports_on_mariadb() {
    examined(Kind::Mariadb, "doctor-mariadb").await;
}

/// Its user has no right to see the transactions of others.
#[tokio::test]
async fn a_status_says_that_it_cannot_see_who_holds_elections_up_on_mariadb() {
    let url = Kind::Mariadb.fresh().await;
    let troupe = Troupe::new(PROGRAM, "1s").at(&url);
    let made = output(troupe.call("schema").arg("--apply"));
    assert!(made.status.success(), "{made:?}");
    assert_eq!(output(troupe.call("run").args(["--", "true"])).status.code(), Some(0));
    let json = output(troupe.call("status").arg("--json"));
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(json.get("held_up_by"), Some(&serde_json::Value::Null), "{json}");
    for look in [&["status"][..], &["status", "--all"]] {
        let said = text(&output(troupe.call(look[0]).args(&look[1..])).stdout);
        assert!(said.contains("cannot be seen") && said.contains("PROCESS"), "{said}");
    }
}
