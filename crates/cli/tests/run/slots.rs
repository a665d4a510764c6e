//! `--slots N`: at most N candidates work at once, each under an election of its own.

use std::collections::BTreeSet;
use std::time::Duration;

use rustix::process::Signal;

use crate::troupe::{Start, Troupe, is_alive};
use crate::{audit, troupe};

/// Says in which slot it works, where the time of its beginning would be.
const WORK: &str = r#"echo "$INCUMBENT_NAME $INCUMBENT_TOKEN $$ $INCUMBENT_SLOT" >> "$STARTS"
echo "$INCUMBENT_SLOT $INCUMBENT_ELECTION" >> "$STARTS.names"; exec sleep 600"#;

fn living(troupe: &Troupe) -> Vec<Start> {
    troupe.starts().into_iter().filter(|start| is_alive(start.pid)).collect()
}

fn slots(starts: &[Start]) -> BTreeSet<u128> {
    starts.iter().map(|start| start.at).collect()
}

#[test]
fn three_of_five_candidates_work_and_a_fourth_follows_one_that_is_killed() {
    let mut troupe = troupe();
    for name in ["ann", "bob", "cem", "dan", "eve"] {
        troupe.join_with(name, &["--slots", "3"], &["sh", "-c", WORK]);
    }
    troupe.nth_start(3);
    std::thread::sleep(Duration::from_secs(2));
    let first = living(&troupe);
    assert_eq!(first.len(), 3, "{:?}", troupe.starts());
    assert_eq!(slots(&first), BTreeSet::from([1, 2, 3]));
    let names: BTreeSet<_> = first.iter().map(|start| start.name.clone()).collect();
    assert_eq!(names.len(), 3, "one candidate works twice: {first:?}");

    troupe.signal(&first[0].name, Signal::KILL);
    let fourth = troupe.nth_start(4);
    assert!(!is_alive(first[0].pid), "four commands ran");
    assert_eq!(fourth.at, first[0].at, "it follows in the slot that became free");
    assert!(!names.contains(&fourth.name));
    std::thread::sleep(Duration::from_secs(2));
    let second = living(&troupe);
    assert_eq!((second.len(), slots(&second)), (3, BTreeSet::from([1, 2, 3])));
    for line in troupe.read("starts.names").lines() {
        let (slot, election) = line.split_once(' ').expect("two words");
        assert_eq!(election, format!("default.{slot}"));
    }
    audit(&troupe);
}

#[test]
fn every_slot_has_a_status_of_its_own() {
    let mut troupe = troupe();
    troupe.join_with("ann", &["--slots", "2", "--election", "shard"], &["sh", "-c", WORK]);
    let slot = troupe.nth_start(1).at;
    let mut leaders = BTreeSet::new();
    for name in ["shard.1", "shard.2"] {
        let status = troupe.call("status").arg(name).output().expect("status");
        let said = String::from_utf8_lossy(&status.stdout).into_owned();
        if status.status.success() {
            assert!(said.contains("ann"), "{said}");
            leaders.insert(name);
        }
    }
    assert_eq!(leaders, BTreeSet::from([if slot == 1 { "shard.1" } else { "shard.2" }]));
    audit(&troupe);
}

#[test]
fn without_slots_there_is_no_number_even_if_there_is_one_around() {
    let mut troupe = troupe();
    let work = r#"echo "slot:$INCUMBENT_SLOT:""#;
    let mut command = troupe.call("run");
    let around = command.env("INCUMBENT_SLOT", "7").args(["--", "sh", "-c", work]).output();
    assert_eq!(String::from_utf8_lossy(&around.expect("run").stdout), "slot::\n");
    troupe.join_with("ann", &["--slots", "1"], &["sh", "-c", work]);
    assert_eq!(troupe.code_of("ann"), 0);
    assert_eq!(troupe.read("ann.out"), "slot:1:\n");
}

#[test]
fn numbers_and_names_that_make_no_sense_are_refused_before_anything_is_opened() {
    let troupe = troupe();
    let refused = |flags: &[&str]| {
        let ended = troupe.call("run").args(flags).args(["--", "true"]).output().expect("run");
        assert_eq!(ended.status.code(), Some(2), "{ended:?}");
        String::from_utf8_lossy(&ended.stderr).into_owned()
    };
    assert!(refused(&["--slots", "0"]).contains("1..=64"));
    assert!(refused(&["--slots", "65"]).contains("1..=64"));
    let long = "x".repeat(127);
    let said = refused(&["--slots", "3", "--election", &long]);
    assert!(said.contains("at most 128 characters"), "{said}");
    assert!(!troupe.path("e.db").exists());
}

#[test]
fn a_candidate_that_lost_its_slot_contends_for_all_again() {
    let mut troupe = troupe();
    troupe.join_with("ann", &["--slots", "2"], &["sh", "-c", WORK]);
    let first = troupe.nth_start(1);
    let slot = format!("default.{}", first.at);
    let demote = troupe.call("demote").args(["--election", &slot]).output().expect("demote");
    assert!(demote.status.success(), "{}", String::from_utf8_lossy(&demote.stderr));
    let second = troupe.nth_start(2);
    assert!(!is_alive(first.pid));
    assert_ne!(second.at, first.at, "whoever was demoted holds off, but the other slot is free");
    audit(&troupe);
}
