//! `incumbent run` with real processes: killed, stopped, asked to end.

#[path = "run/handover.rs"]
mod handover;
#[path = "run/kin.rs"]
mod kin;
#[path = "run/loss.rs"]
mod loss;
#[path = "run/restart.rs"]
mod restart;
#[path = "run/slots.rs"]
mod slots;
#[path = "run/stopping.rs"]
mod stopping;
#[path = "run/terminal.rs"]
mod terminal;
#[expect(dead_code, reason = "the tests on servers use the rest")]
mod troupe;

use std::time::{Duration, Instant};

use rustix::process::Signal;
use sqlx::Connection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use troupe::{Troupe, is_alive, parent_of, send};

const PROGRAM: &str = env!("CARGO_BIN_EXE_incumbent");

fn troupe() -> Troupe {
    Troupe::new(PROGRAM, "1s")
}

fn audit(troupe: &Troupe) {
    let report = incumbent_audit::audit(&troupe.histories()).expect("readable histories");
    assert!(report.is_clean(), "{report}");
}

#[test]
fn exactly_one_of_two_runs_its_command_and_the_other_waits() {
    let mut troupe = troupe();
    troupe.join("ann");
    let first = troupe.nth_start(1);
    troupe.join("bob");
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(troupe.starts(), std::slice::from_ref(&first));
    assert!(is_alive(first.pid));
    audit(&troupe);
}

#[test]
fn a_killed_supervisor_takes_its_command_along_and_the_other_takes_over() {
    let mut troupe = troupe();
    troupe.join("ann");
    let first = troupe.nth_start(1);
    troupe.join("bob");
    troupe.until("bob to contend", || troupe.read("bob.err").contains("contending").then_some(()));
    troupe.signal("ann", Signal::KILL);
    let second = troupe.nth_start(2);
    assert_eq!(second.name, "bob");
    assert!(!is_alive(first.pid), "the old command outlived its supervisor");
    assert!(second.token > first.token);
    let terms = troupe.call("history").arg("--json").output().expect("history");
    let terms = String::from_utf8_lossy(&terms.stdout).into_owned();
    assert!(terms.contains("\"died\""), "{terms}");
    audit(&troupe);
}

#[test]
fn a_killed_guard_takes_the_command_along_and_the_leadership_is_let_go() {
    let mut troupe = troupe();
    troupe.join("ann");
    let first = troupe.nth_start(1);
    let guard = parent_of(first.pid).expect("the guard");
    send(guard, Signal::KILL);
    assert_eq!(troupe.code_of("ann"), 137);
    assert!(!is_alive(first.pid));
    audit(&troupe);
}

#[test]
fn supervisor_and_guard_killed_together_leave_no_command_behind() {
    let mut troupe = troupe();
    troupe.join("ann");
    let first = troupe.nth_start(1);
    let guard = parent_of(first.pid).expect("the guard");
    troupe.signal("ann", Signal::STOP);
    send(guard, Signal::STOP);
    send(guard, Signal::KILL);
    troupe.signal("ann", Signal::KILL);
    troupe.until("the command to die", || (!is_alive(first.pid)).then_some(()));
}

#[test]
fn a_stopped_supervisor_is_waited_out_and_its_command_is_dead_before_the_successor_starts() {
    let mut troupe = troupe();
    troupe.join("ann");
    let first = troupe.nth_start(1);
    troupe.join("bob");
    troupe.until("bob to contend", || troupe.read("bob.err").contains("contending").then_some(()));
    std::thread::sleep(Duration::from_millis(500));
    let stopped = Instant::now();
    troupe.signal("ann", Signal::STOP);
    let second = troupe.nth_start(2);
    // The last renewal was at most a beat and a round before the stop; a successor waits for a full
    // lease after it heard of it.
    assert!(stopped.elapsed() >= Duration::from_millis(600), "took over within the lease");
    assert_eq!(second.name, "bob");
    assert!(!is_alive(first.pid), "the guard did not end the command");
    troupe.signal("ann", Signal::CONT);
    troupe.until("ann to hear of it", || troupe.read("ann.err").contains("lost").then_some(()));
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(troupe.starts().len(), 2, "ann worked again without leading");
    audit(&troupe);
}

#[test]
fn a_whole_tree_that_was_stopped_does_not_work_on_when_it_continues() {
    let mut troupe = troupe();
    troupe.join("ann");
    let first = troupe.nth_start(1);
    let guard = parent_of(first.pid).expect("the guard");
    troupe.join("bob");
    troupe.signal("ann", Signal::STOP);
    for pid in [guard, first.pid] {
        send(pid, Signal::STOP);
    }
    let second = troupe.nth_start(2);
    assert_eq!(second.name, "bob");
    for pid in [guard, first.pid] {
        send(pid, Signal::CONT);
    }
    troupe.signal("ann", Signal::CONT);
    troupe.until("the old command to die", || (!is_alive(first.pid)).then_some(()));
    assert!(is_alive(second.pid));
}

#[test]
fn on_term_the_command_ends_first_and_the_other_takes_over() {
    let mut troupe = troupe();
    troupe.join("ann");
    let first = troupe.nth_start(1);
    troupe.join("bob");
    troupe.until("bob to contend", || troupe.read("bob.err").contains("contending").then_some(()));
    troupe.signal("ann", Signal::TERM);
    let second = troupe.nth_start(2);
    assert_eq!(second.name, "bob");
    assert!(!is_alive(first.pid));
    assert_eq!(troupe.code_of("ann"), 143);
    audit(&troupe);
}

#[test]
fn a_command_that_ignores_term_is_killed() {
    let mut troupe = troupe();
    let stubborn = r#"trap "" TERM; echo "x 1 $$ 0" >> "$STARTS"; while :; do sleep 0.05; done"#;
    troupe.join_with("ann", &["--stop-timeout", "500ms"], &["sh", "-c", stubborn]);
    let first = troupe.nth_start(1);
    troupe.signal("ann", Signal::TERM);
    assert_eq!(troupe.code_of("ann"), 137);
    assert!(!is_alive(first.pid));
}

#[test]
fn what_the_command_leaves_behind_in_its_group_dies_with_it() {
    let mut troupe = troupe();
    let parent = r#"sh -c 'echo "x 1 $$ 0" >> "$STARTS"; exec sleep 600' & sleep 1; exit 5"#;
    troupe.join_with("ann", &[], &["sh", "-c", parent]);
    let left = troupe.nth_start(1);
    assert_eq!(troupe.code_of("ann"), 5);
    assert!(!is_alive(left.pid));
}

#[test]
fn the_code_of_the_command_and_only_its_output_pass_through() {
    let mut troupe = troupe();
    let work =
        r#"echo "$INCUMBENT_ELECTION $INCUMBENT_NAME"; test "$INCUMBENT_TOKEN" -gt 0 && exit 7"#;
    troupe.join_with("ann", &["--election", "billing"], &["sh", "-c", work]);
    assert_eq!(troupe.code_of("ann"), 7);
    assert_eq!(troupe.read("ann.out"), "billing ann\n");
    assert!(troupe.read("ann.err").contains("leading"));
    audit(&troupe);
}

#[test]
fn a_command_that_is_missing_or_cannot_be_run_says_so() {
    let mut troupe = troupe();
    troupe.join_with("ann", &[], &["no-such-command-anywhere"]);
    assert_eq!(troupe.code_of("ann"), 127);
    assert!(troupe.read("ann.err").contains("no-such-command-anywhere"));
    let folder = troupe.path(".").display().to_string();
    troupe.join_with("bob", &[], &[&folder]);
    assert_eq!(troupe.code_of("bob"), 126);
}

#[test]
fn a_command_that_is_missing_is_noticed_before_the_candidate_contends() {
    let mut troupe = troupe();
    troupe.join("ann");
    let first = troupe.nth_start(1);
    troupe.join_with("bob", &[], &["no-such-command-anywhere"]);
    assert_eq!(troupe.code_of("bob"), 127);
    assert!(!troupe.read("bob.err").contains("contending"), "{}", troupe.read("bob.err"));
    assert!(is_alive(first.pid));
}

#[test]
fn a_command_that_goes_missing_later_is_noticed_when_it_is_run() {
    let mut troupe = troupe();
    troupe.join("ann");
    troupe.nth_start(1);
    let work = troupe.path("work").display().to_string();
    std::fs::copy("/bin/true", &work).expect("a copy");
    troupe.join_with("bob", &[], &[&work]);
    troupe.until("bob to contend", || troupe.read("bob.err").contains("contending").then_some(()));
    std::fs::remove_file(&work).expect("removed");
    troupe.signal("ann", Signal::TERM);
    assert_eq!(troupe.code_of("bob"), 127);
    assert!(troupe.read("bob.err").contains("cannot run"), "{}", troupe.read("bob.err"));
}

#[test]
fn a_demoted_leader_stops_its_command_and_with_once_ends() {
    let mut troupe = troupe();
    let work = r#"echo "$INCUMBENT_NAME $INCUMBENT_TOKEN $$ 0" >> "$STARTS"; exec sleep 600"#;
    troupe.join_with("ann", &["--once"], &["sh", "-c", work]);
    let first = troupe.nth_start(1);
    let demote = troupe.call("demote").args(["--reason", "a test"]).output().expect("demote");
    assert!(demote.status.success(), "{}", String::from_utf8_lossy(&demote.stderr));
    assert_eq!(troupe.code_of("ann"), 123);
    assert!(!is_alive(first.pid));
    audit(&troupe);
}

#[test]
fn a_candidate_that_waits_no_longer_gives_up() {
    let mut troupe = troupe();
    troupe.join("ann");
    let first = troupe.nth_start(1);
    troupe.join_with("bob", &["--wait", "500ms"], &["sleep", "600"]);
    assert_eq!(troupe.code_of("bob"), 124);
    assert!(is_alive(first.pid));
}

#[test]
fn a_named_candidate_takes_over_by_order() {
    let mut troupe = troupe();
    troupe.join("ann");
    let first = troupe.nth_start(1);
    for name in ["bob", "cem"] {
        troupe.join(name);
        let said = format!("{name}.err");
        troupe.until("a candidate", || troupe.read(&said).contains("contending").then_some(()));
    }
    let order = troupe.call("takeover").args(["cem", "--yes"]).output().expect("takeover");
    assert!(order.status.success(), "{}", String::from_utf8_lossy(&order.stderr));
    let second = troupe.nth_start(2);
    assert_eq!(second.name, "cem");
    assert!(!is_alive(first.pid));
    audit(&troupe);
}

/// Keeps bob's presence out of the store.
const REFUSE_BOB: &str = "
    CREATE TRIGGER refuse_bob BEFORE INSERT ON incumbent_candidate WHEN NEW.holder = 'bob'
    BEGIN SELECT RAISE(ABORT, 'no room'); END";

/// Runs one statement on the troupe's database.
fn on_database(troupe: &Troupe, sql: &'static str) {
    let options = SqliteConnectOptions::new().filename(troupe.path("e.db"));
    let options = options.busy_timeout(Duration::from_secs(20));
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let mut database = SqliteConnection::connect_with(&options).await.expect("database");
        sqlx::query(sql).execute(&mut database).await.expect("a statement");
    });
}

#[test]
fn a_candidate_that_no_order_can_name_yet_does_not_say_that_it_contends() {
    let mut troupe = troupe();
    troupe.join("ann");
    troupe.nth_start(1);
    on_database(&troupe, REFUSE_BOB);
    troupe.join("bob");
    troupe.until("a warning", || troupe.read("bob.err").contains("not listed yet").then_some(()));
    assert!(!troupe.read("bob.err").contains("contending"), "{}", troupe.read("bob.err"));
    on_database(&troupe, "DROP TRIGGER refuse_bob");
    troupe.until("bob to contend", || troupe.read("bob.err").contains("contending").then_some(()));
    let order = troupe.call("takeover").args(["bob", "--yes"]).output().expect("takeover");
    assert!(order.status.success(), "{}", String::from_utf8_lossy(&order.stderr));
    assert_eq!(troupe.nth_start(2).name, "bob");
    audit(&troupe);
}

#[test]
fn a_candidate_that_no_order_can_name_takes_over_all_the_same() {
    let mut troupe = troupe();
    troupe.join("ann");
    troupe.nth_start(1);
    on_database(&troupe, REFUSE_BOB);
    troupe.join("bob");
    troupe.until("a warning", || troupe.read("bob.err").contains("not listed yet").then_some(()));
    troupe.signal("ann", Signal::KILL);
    assert_eq!(troupe.nth_start(2).name, "bob");
    audit(&troupe);
}

#[test]
fn a_database_that_is_deleted_under_a_leader_ends_its_command_with_a_clear_error() {
    let mut troupe = troupe();
    troupe.join("ann");
    let first = troupe.nth_start(1);
    std::fs::remove_file(troupe.path("e.db")).expect("the database");
    assert_eq!(troupe.code_of("ann"), 125);
    assert!(!is_alive(first.pid));
    assert!(troupe.read("ann.err").contains("deleted or replaced"), "{}", troupe.read("ann.err"));
    audit(&troupe);
}

#[test]
fn a_term_during_a_loss_ends_the_program_and_not_only_the_term() {
    let mut troupe = troupe();
    let stubborn = r#"trap "" TERM; echo "x 1 $$ 0" >> "$STARTS"; while :; do sleep 0.02; done"#;
    troupe.join_with("ann", &[], &["sh", "-c", stubborn]);
    troupe.nth_start(1);
    let demote = troupe.call("demote").output().expect("demote");
    assert!(demote.status.success(), "{}", String::from_utf8_lossy(&demote.stderr));
    troupe.until("the loss", || troupe.read("ann.err").contains("losing").then_some(()));
    troupe.signal("ann", Signal::TERM);
    assert_eq!(troupe.code_of("ann"), 137);
    assert_eq!(troupe.starts().len(), 1, "the command was run again");
}

#[test]
fn a_stopped_guard_does_not_keep_its_command_alive() {
    let mut troupe = troupe();
    troupe.join("ann");
    let first = troupe.nth_start(1);
    troupe.join("bob");
    troupe.until("bob to contend", || troupe.read("bob.err").contains("contending").then_some(()));
    send(parent_of(first.pid).expect("the guard"), Signal::STOP);
    let demote = troupe.call("demote").output().expect("demote");
    assert!(demote.status.success(), "{}", String::from_utf8_lossy(&demote.stderr));
    let second = troupe.nth_start(2);
    assert!(!is_alive(first.pid), "two commands ran");
    assert!(is_alive(second.pid));
    audit(&troupe);
}

#[test]
fn what_a_terminal_sends_to_the_background_does_not_stop_the_guard() {
    let mut troupe = troupe();
    troupe.join("ann");
    let first = troupe.nth_start(1);
    let guard = parent_of(first.pid).expect("the guard");
    for signal in [Signal::TTIN, Signal::TTOU, Signal::TSTP] {
        send(guard, signal);
    }
    troupe.signal("ann", Signal::TERM);
    assert_eq!(troupe.code_of("ann"), 143);
    assert!(!is_alive(first.pid));
}

#[test]
fn a_program_whose_file_was_replaced_still_takes_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("incumbent");
    std::fs::copy(PROGRAM, &copy).expect("a copy");
    let mut troupe = Troupe::new(copy.to_str().expect("a path"), "1s");
    troupe.join("ann");
    troupe.nth_start(1);
    troupe.join("bob");
    troupe.until("bob to contend", || troupe.read("bob.err").contains("contending").then_some(()));
    std::fs::remove_file(&copy).expect("removed");
    troupe.signal("ann", Signal::TERM);
    assert_eq!(troupe.nth_start(2).name, "bob");
}

#[test]
fn a_waiting_candidate_says_who_leads_at_the_start_and_at_each_change() {
    let mut troupe = troupe();
    troupe.join("ann");
    troupe.nth_start(1);
    troupe.join("bob");
    troupe.until("bob to say who leads", || {
        troupe.read("bob.err").contains("bob: following: ann leads default").then_some(())
    });
    troupe.join("cem");
    troupe.until("cem to contend", || troupe.read("cem.err").contains("contending").then_some(()));
    let order = troupe.call("takeover").args(["cem", "--yes"]).output().expect("takeover");
    assert!(order.status.success(), "{}", String::from_utf8_lossy(&order.stderr));
    troupe.until("bob to hear", || {
        troupe.read("bob.err").contains("bob: following: cem leads default").then_some(())
    });
    troupe.until("ann to hear why", || {
        troupe.read("ann.err").contains("deposed: an operator or another candidate").then_some(())
    });
}
