//! `--restart`: the command is run again under the same leadership.

use rustix::process::Signal;

use crate::troupe::is_alive;
use crate::{audit, troupe};

/// Says that it began, and ends with a code.
fn ending_with(code: u8) -> String {
    format!(r#"echo "$INCUMBENT_NAME $INCUMBENT_TOKEN $$ 0" >> "$STARTS"; exit {code}"#)
}

#[test]
fn a_command_that_fails_is_run_again_under_the_same_token_until_the_limit() {
    let mut troupe = troupe();
    let flags = ["--restart", "on-failure", "--restart-delay", "10ms", "--restart-limit", "3"];
    troupe.join_with("ann", &flags, &["sh", "-c", &ending_with(7)]);
    assert_eq!(troupe.code_of("ann"), 7);
    let starts = troupe.starts();
    assert_eq!(starts.len(), 4, "one run and three restarts");
    assert!(starts.iter().all(|start| start.token == starts[0].token), "{starts:?}");
    assert!(troupe.read("ann.err").contains("gave up"), "{}", troupe.read("ann.err"));
    audit(&troupe);
}

#[test]
fn a_candidate_that_gives_up_lets_another_one_lead() {
    let mut troupe = troupe();
    let flags = ["--restart", "always", "--restart-delay", "10ms", "--restart-limit", "1"];
    troupe.join_with("ann", &flags, &["sh", "-c", &ending_with(7)]);
    troupe.nth_start(1);
    troupe.join("bob");
    assert_eq!(troupe.code_of("ann"), 7);
    assert_eq!(troupe.nth_start(3).name, "bob");
    audit(&troupe);
}

#[test]
fn a_good_end_is_an_end_unless_it_is_to_be_run_always() {
    let mut troupe = troupe();
    troupe.join_with("ann", &["--restart", "on-failure"], &["sh", "-c", &ending_with(0)]);
    assert_eq!(troupe.code_of("ann"), 0);
    assert_eq!(troupe.starts().len(), 1);
    let flags = ["--restart", "always", "--restart-delay", "10ms", "--restart-limit", "1"];
    troupe.join_with("bob", &flags, &["sh", "-c", &ending_with(0)]);
    troupe.nth_start(6);
    troupe.signal("bob", Signal::TERM);
    let code = troupe.code_of("bob");
    assert!(code == 143 || code == 0, "{code}");
    audit(&troupe);
}

#[test]
fn what_a_command_left_behind_is_dead_before_it_is_run_again() {
    let mut troupe = troupe();
    let work = r#"echo "$INCUMBENT_NAME $INCUMBENT_TOKEN $$ 0" >> "$STARTS"
        (setsid sh -c 'echo "left 1 $$ 0" >> "$STARTS"; exec sleep 600' &)
        while [ $(($(grep -c . "$STARTS") % 2)) = 1 ]; do sleep 0.01; done; exit 1"#;
    let flags = ["--restart", "on-failure", "--restart-delay", "10ms"];
    troupe.join_with("ann", &flags, &["sh", "-c", work]);
    let left = troupe.nth_start(2);
    troupe.nth_start(3);
    assert_eq!(left.name, "left");
    assert!(!is_alive(left.pid));
}

#[test]
fn a_request_to_end_during_the_delay_is_obeyed_at_once() {
    let mut troupe = troupe();
    let flags = ["--restart", "always", "--restart-delay", "1h"];
    troupe.join_with("ann", &flags, &["sh", "-c", &ending_with(3)]);
    troupe.until("the delay", || troupe.read("ann.err").contains("restarting").then_some(()));
    troupe.signal("ann", Signal::TERM);
    assert_eq!(troupe.code_of("ann"), 143);
    assert_eq!(troupe.starts().len(), 1);
    audit(&troupe);
}

#[test]
fn a_loss_during_the_delay_ends_the_wait_and_a_later_token_begins_anew() {
    let mut troupe = troupe();
    let flags = ["--restart", "always", "--restart-delay", "1h"];
    troupe.join_with("ann", &flags, &["sh", "-c", &ending_with(3)]);
    let first = troupe.nth_start(1);
    troupe.until("the delay", || troupe.read("ann.err").contains("restarting").then_some(()));
    let demote = troupe.call("demote").output().expect("demote");
    assert!(demote.status.success(), "{}", String::from_utf8_lossy(&demote.stderr));
    assert!(troupe.nth_start(2).token > first.token);
    audit(&troupe);
}
