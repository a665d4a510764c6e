//! `--on-loss`: what becomes of the command and of the program when the leadership is lost.

use rustix::process::Signal;

use crate::troupe::{Troupe, is_alive, parent_of, send};
use crate::{PROGRAM, audit, troupe};

/// Says when it was asked to stop, and goes on.
const STUBBORN: &str = r#"trap 'echo asked >> "$STARTS.asked"' TERM
echo "$INCUMBENT_NAME $INCUMBENT_TOKEN $$ 0" >> "$STARTS"; while :; do sleep 0.02; done"#;

/// With a grace that is long enough to hear a signal on a slow day.
fn patient() -> Troupe {
    Troupe::new(PROGRAM, "5s")
}

fn demote(troupe: &Troupe) {
    let demote = troupe.call("demote").output().expect("demote");
    assert!(demote.status.success(), "{}", String::from_utf8_lossy(&demote.stderr));
}

#[test]
fn by_default_the_command_is_asked_first_and_the_candidate_contends_again() {
    let mut troupe = patient();
    troupe.join_with("ann", &["--on-loss", "contend"], &["sh", "-c", STUBBORN]);
    let first = troupe.nth_start(1);
    demote(&troupe);
    let second = troupe.nth_start(2);
    assert!(!is_alive(first.pid));
    assert!(second.token > first.token);
    assert_eq!(troupe.read("starts.asked"), "asked\n");
    audit(&troupe);
}

#[test]
fn with_exit_a_loss_is_the_end() {
    let mut troupe = patient();
    troupe.join_with("ann", &["--on-loss", "exit"], &["sh", "-c", STUBBORN]);
    let first = troupe.nth_start(1);
    demote(&troupe);
    assert_eq!(troupe.code_of("ann"), 123);
    assert!(!is_alive(first.pid));
    assert_eq!(troupe.read("starts.asked"), "asked\n");
    audit(&troupe);
}

#[test]
fn with_kill_nobody_is_asked_and_the_candidate_contends_again() {
    let mut troupe = troupe();
    troupe.join_with("ann", &["--on-loss", "kill"], &["sh", "-c", STUBBORN]);
    let first = troupe.nth_start(1);
    demote(&troupe);
    let second = troupe.nth_start(2);
    assert!(!is_alive(first.pid));
    assert!(second.token > first.token);
    assert_eq!(troupe.read("starts.asked"), "");
    audit(&troupe);
}

#[test]
fn with_kill_and_once_a_loss_is_the_end_and_nobody_is_asked() {
    let mut troupe = troupe();
    troupe.join_with("ann", &["--once", "--on-loss", "kill"], &["sh", "-c", STUBBORN]);
    troupe.nth_start(1);
    demote(&troupe);
    assert_eq!(troupe.code_of("ann"), 123);
    assert_eq!(troupe.read("starts.asked"), "");
}

#[test]
fn with_kill_a_guard_that_was_left_alone_does_not_ask_either() {
    let mut troupe = troupe();
    troupe.join_with("ann", &["--on-loss", "kill"], &["sh", "-c", STUBBORN]);
    let first = troupe.nth_start(1);
    troupe.signal("ann", Signal::STOP);
    troupe.until("the command to die", || (!is_alive(first.pid)).then_some(()));
    assert_eq!(troupe.read("starts.asked"), "");
    troupe.signal("ann", Signal::CONT);
    assert!(troupe.nth_start(2).token > first.token);
    audit(&troupe);
}

#[test]
fn with_kill_a_request_to_end_still_asks_the_command() {
    let mut troupe = patient();
    let flags = ["--on-loss", "kill", "--stop-timeout", "2s"];
    troupe.join_with("ann", &flags, &["sh", "-c", STUBBORN]);
    troupe.nth_start(1);
    troupe.signal("ann", Signal::TERM);
    assert_eq!(troupe.code_of("ann"), 137);
    assert_eq!(troupe.read("starts.asked"), "asked\n");
}

#[test]
fn a_stopped_guard_does_not_outlive_its_supervisor() {
    let mut troupe = troupe();
    troupe.join("ann");
    let first = troupe.nth_start(1);
    troupe.join("bob");
    send(parent_of(first.pid).expect("the guard"), Signal::STOP);
    troupe.signal("ann", Signal::KILL);
    let second = troupe.nth_start(2);
    assert_eq!(second.name, "bob");
    assert!(!is_alive(first.pid), "two commands ran");
    audit(&troupe);
}

#[test]
fn a_stopped_guard_does_not_hold_up_a_request_to_end() {
    let mut troupe = troupe();
    let work = r#"echo "$INCUMBENT_NAME $INCUMBENT_TOKEN $$ 0" >> "$STARTS"; exec sleep 600"#;
    troupe.join_with("ann", &["--stop-timeout", "500ms"], &["sh", "-c", work]);
    let first = troupe.nth_start(1);
    send(parent_of(first.pid).expect("the guard"), Signal::STOP);
    troupe.signal("ann", Signal::TERM);
    assert_eq!(troupe.code_of("ann"), 137);
    assert!(!is_alive(first.pid));
    audit(&troupe);
}

#[test]
fn a_command_that_is_stopped_is_killed_in_time() {
    let mut troupe = troupe();
    troupe.join("ann");
    let first = troupe.nth_start(1);
    troupe.join("bob");
    send(first.pid, Signal::STOP);
    troupe.signal("ann", Signal::STOP);
    let second = troupe.nth_start(2);
    assert_eq!(second.name, "bob");
    assert!(!is_alive(first.pid), "two commands could run");
    troupe.signal("ann", Signal::CONT);
    audit(&troupe);
}
