//! Leaders that hand over: the command ends first, while the lease is still renewed.

use std::time::Duration;

use rustix::process::Signal;

use crate::troupe::{Troupe, is_alive};
use crate::{PROGRAM, audit, troupe};

/// Takes far longer to end than the grace between TERM and KILL, and says when it has.
const SLOW: &str = r#"trap 'sleep 2; echo done >> "$STARTS.ended"; exit 0' TERM
echo "$INCUMBENT_NAME $INCUMBENT_TOKEN $$ 0" >> "$STARTS"
while :; do sleep 0.1; done"#;

/// Does not end when asked to.
const DEAF: &str = r#"trap '' TERM
echo "$INCUMBENT_NAME $INCUMBENT_TOKEN $$ 0" >> "$STARTS"
while :; do sleep 0.1; done"#;

/// Two candidates, of which `ann` leads.
fn pair(lease: &'static str, work: &str) -> Troupe {
    let mut troupe = Troupe::new(PROGRAM, lease);
    troupe.join_with("ann", &[], &["sh", "-c", work]);
    troupe.nth_start(1);
    troupe.join_with("bob", &[], &["sh", "-c", work]);
    troupe.until("bob on the roll", || {
        let members = troupe.call("members").arg("--json").output().expect("members");
        String::from_utf8_lossy(&members.stdout).contains("\"bob\"").then_some(())
    });
    troupe
}

fn transfer(troupe: &Troupe, drain: &str) {
    let order = troupe.call("transfer").args(["--to", "bob", "--drain", drain]).output();
    let order = order.expect("transfer");
    assert!(order.status.success(), "{}", String::from_utf8_lossy(&order.stderr));
}

#[test]
fn a_command_that_needs_long_to_end_has_that_long_when_asked_to_hand_over() {
    // A lease that no busy machine loses meanwhile.
    let troupe = pair("8s", SLOW);
    let first = troupe.nth_start(1);
    transfer(&troupe, "1m");
    let second = troupe.nth_start(2);
    assert_eq!((first.name.as_str(), second.name.as_str()), ("ann", "bob"));
    assert_eq!(troupe.read("starts.ended").trim(), "done", "it was not killed");
    assert!(!is_alive(first.pid) && second.token > first.token);
    let said = troupe.read("ann.err");
    assert!(said.contains("the command has 1m"), "{said}");
    troupe.until("ann to say so", || {
        let said = troupe.read("ann.err");
        said.contains("the command is dead, and the next term is reserved for bob").then_some(())
    });
    audit(&troupe);
}

#[test]
fn a_command_that_does_not_end_is_killed_when_the_time_for_it_is_up() {
    let troupe = pair("1s", DEAF);
    let first = troupe.nth_start(1);
    transfer(&troupe, "500ms");
    let second = troupe.nth_start(2);
    assert!(!is_alive(first.pid) && second.token > first.token);
    audit(&troupe);
}

#[test]
fn a_supervisor_that_is_killed_in_the_middle_of_it_takes_the_command_along() {
    let troupe = pair("1s", DEAF);
    let first = troupe.nth_start(1);
    transfer(&troupe, "1m");
    troupe.until("the drain", || troupe.read("ann.err").contains("draining").then_some(()));
    troupe.signal("ann", Signal::KILL);
    let second = troupe.nth_start(2);
    assert!(!is_alive(first.pid) && second.token > first.token);
    audit(&troupe);
}

#[test]
fn a_supervisor_that_is_stopped_in_the_middle_of_it_does_not_keep_the_command_past_its_lease() {
    let troupe = pair("3s", DEAF);
    let first = troupe.nth_start(1);
    transfer(&troupe, "1m");
    troupe.until("the drain", || troupe.read("ann.err").contains("draining").then_some(()));
    troupe.signal("ann", Signal::STOP);
    let second = troupe.nth_start(2);
    assert!(!is_alive(first.pid) && second.token > first.token);
    troupe.signal("ann", Signal::CONT);
    audit(&troupe);
}

#[test]
fn a_leader_that_is_not_well_hands_over_and_contends_again_when_it_is() {
    let mut troupe = troupe();
    let well = troupe.path("well");
    std::fs::write(&well, "").expect("written");
    let probe = format!("test -e {}", well.display());
    let health =
        ["--health", &probe, "--health-every", "200ms", "--health-failures", "2"].map(String::from);
    let health: Vec<&str> =
        health.iter().map(String::as_str).chain(["--health-cool-down", "400ms"]).collect();
    let work = r#"echo "$INCUMBENT_NAME $INCUMBENT_TOKEN $$ 0" >> "$STARTS"; exec sleep 600"#;
    troupe.join_with("ann", &health, &["sh", "-c", work]);
    let first = troupe.nth_start(1);
    troupe.join_with("bob", &[], &["sh", "-c", work]);
    std::fs::remove_file(&well).expect("removed");
    let second = troupe.nth_start(2);
    assert_eq!((first.name.as_str(), second.name.as_str()), ("ann", "bob"));
    assert!(!is_alive(first.pid));
    // It does not win while it is not well, and does when it is.
    troupe.signal("bob", Signal::TERM);
    troupe.code_of("bob");
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(troupe.starts().len(), 2, "it is not well");
    std::fs::write(&well, "").expect("written");
    assert_eq!(troupe.nth_start(3).name, "ann");
    audit(&troupe);
}

#[test]
fn a_candidate_that_does_not_contend_says_why_once_and_gives_up_with_that() {
    let mut troupe = troupe();
    let flags = ["--health", "false", "--health-every", "200ms", "--wait", "2s"];
    troupe.join_with("ann", &flags, &["true"]);
    assert_eq!(troupe.code_of("ann"), 124);
    let said = troupe.read("ann.err");
    assert!(said.contains("ann: not contending: not well: "), "{said}");
    assert!(said.contains("ann: gave up: did not contend: not well: "), "{said}");
    assert!(!said.contains("unfit"), "{said}");
}

#[test]
fn a_candidate_says_when_it_contends_again_and_who_leads_when_it_gives_up() {
    let mut troupe = troupe();
    troupe.join("ann");
    troupe.nth_start(1);
    troupe.join_with("bob", &["--wait", "2s"], &["true"]);
    assert_eq!(troupe.code_of("bob"), 124);
    let said = troupe.read("bob.err");
    assert!(said.contains("bob: gave up: ann leads"), "{said}");
    troupe.join("cat");
    troupe.until("cat on the roll", || {
        let order = troupe.call("cordon").arg("cat").output().expect("cordon");
        order.status.success().then_some(())
    });
    let says = |words: &str| troupe.read("cat.err").contains(words).then_some(());
    troupe.until("cat to say that it does not contend", || says("cat: not contending: "));
    assert!(troupe.call("uncordon").arg("cat").output().expect("uncordon").status.success());
    troupe.until("cat to say that it does", || says("cat: contending: contends for default now"));
}
