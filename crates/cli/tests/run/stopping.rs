//! Being asked to stop, once and twice.

use rustix::process::Signal;

use crate::troupe::{Troupe, is_alive};
use crate::{PROGRAM, audit};

/// Says that it was asked to stop, and goes on.
const STUBBORN: &str = r#"trap 'echo asked >> "$STARTS.asked"' TERM
echo "$INCUMBENT_NAME $INCUMBENT_TOKEN $$ 0" >> "$STARTS"; while :; do sleep 0.02; done"#;

fn asked(troupe: &Troupe) {
    troupe.until("the command to be asked", || {
        (!troupe.read("starts.asked").is_empty()).then_some(())
    });
}

/// Where in the history of ann these events are, by line.
fn places(troupe: &Troupe, event: &str) -> Vec<usize> {
    let word = format!("\"{event}\"");
    let history = troupe.read("ann.history");
    let lines = history.lines().enumerate().filter(|(_, line)| line.contains(&word));
    lines.map(|(place, _)| place).collect()
}

fn asked_twice(first: Signal, second: Signal) {
    let mut troupe = Troupe::new(PROGRAM, "5s");
    troupe.join_with("ann", &["--stop-timeout", "10m"], &["sh", "-c", STUBBORN]);
    let command = troupe.nth_start(1);
    troupe.join("bob");
    troupe.until("bob to contend", || troupe.read("bob.err").contains("contending").then_some(()));
    troupe.signal("ann", first);
    asked(&troupe);
    // The lease goes on, twice over.
    let renewed = places(&troupe, "renewed").len() + 1;
    troupe.until("a renewal", || (places(&troupe, "renewed").len() > renewed).then_some(()));
    assert!(is_alive(command.pid), "it was only asked");
    assert_eq!(troupe.starts().len(), 1, "bob leads already");
    troupe.signal("ann", second);
    let next = troupe.nth_start(2);
    assert_eq!(next.name, "bob");
    assert!(!is_alive(command.pid), "it was not killed before the leadership was let go");
    assert_eq!(troupe.code_of("ann"), 137);
    let (ended, lost) = (places(&troupe, "work_ended"), places(&troupe, "lost"));
    assert!(ended[0] < lost[0], "{}", troupe.read("ann.history"));
    let terms = troupe.call("history").arg("--json").output().expect("history");
    let terms = String::from_utf8_lossy(&terms.stdout).into_owned();
    assert!(terms.contains("\"released\""), "{terms}");
    audit(&troupe);
}

#[test]
fn the_first_term_asks_while_the_lease_is_renewed_and_the_second_kills_and_then_lets_go() {
    asked_twice(Signal::TERM, Signal::TERM);
}

#[test]
fn an_interrupt_and_a_term_count_as_two() {
    asked_twice(Signal::INT, Signal::TERM);
}

/// Takes far longer to end than the grace, and says when it has.
const SLOW: &str = r#"trap 'sleep 2; echo done >> "$STARTS.ended"; exit 5' TERM
echo "$INCUMBENT_NAME $INCUMBENT_TOKEN $$ 0" >> "$STARTS"; while :; do sleep 0.1; done"#;

#[test]
fn a_command_that_needs_two_seconds_to_stop_has_them() {
    // A lease that no busy machine loses meanwhile, and a short grace.
    let mut troupe = Troupe::new(PROGRAM, "20s");
    troupe.join_with("ann", &["--grace", "200ms"], &["sh", "-c", SLOW]);
    let first = troupe.nth_start(1);
    troupe.join("bob");
    troupe.until("bob to contend", || troupe.read("bob.err").contains("contending").then_some(()));
    troupe.signal("ann", Signal::TERM);
    assert_eq!(troupe.code_of("ann"), 5);
    assert_eq!(troupe.read("starts.ended"), "done\n");
    assert!(!is_alive(first.pid));
    assert_eq!(troupe.nth_start(2).name, "bob");
    audit(&troupe);
}

#[test]
fn a_leadership_that_is_lost_while_the_command_stops_ends_it_in_time() {
    let mut troupe = Troupe::new(PROGRAM, "5s");
    troupe.join_with("ann", &["--stop-timeout", "10m"], &["sh", "-c", STUBBORN]);
    let first = troupe.nth_start(1);
    troupe.signal("ann", Signal::TERM);
    asked(&troupe);
    let demote = troupe.call("demote").output().expect("demote");
    assert!(demote.status.success(), "{}", String::from_utf8_lossy(&demote.stderr));
    assert_eq!(troupe.code_of("ann"), 137);
    assert!(!is_alive(first.pid));
    audit(&troupe);
}

#[test]
fn a_supervisor_that_is_stopped_while_the_command_stops_does_not_keep_it_past_the_lease() {
    let mut troupe = Troupe::new(PROGRAM, "2s");
    troupe.join_with("ann", &["--stop-timeout", "10m"], &["sh", "-c", STUBBORN]);
    let first = troupe.nth_start(1);
    troupe.join("bob");
    troupe.signal("ann", Signal::TERM);
    asked(&troupe);
    troupe.signal("ann", Signal::STOP);
    assert_eq!(troupe.nth_start(2).name, "bob");
    assert!(!is_alive(first.pid), "two commands could run");
    troupe.signal("ann", Signal::CONT);
    audit(&troupe);
}
