//! What a command leaves behind ends with it, whichever group or session it went to.

use std::io::Write;
use std::path::PathBuf;

use rustix::process::Signal;

use crate::troupe::{Troupe, is_alive, parent_of, send};
use crate::{PROGRAM, audit, troupe};

/// A command with a daemon: in a session of its own, without its parent.
const WITH_DAEMON: &str = r#"(setsid sh -c 'echo "daemon 1 $$ 0" >> "$STARTS"; exec sleep 600' &)
while ! grep -q daemon "$STARTS"; do sleep 0.01; done
echo "$INCUMBENT_NAME $INCUMBENT_TOKEN $$ 0" >> "$STARTS""#;

/// Ann leads; the process of her daemon, and that of her command.
fn scene(then: &str) -> (Troupe, i32, i32) {
    let mut troupe = troupe();
    let work = format!("{WITH_DAEMON}; {then}");
    troupe.join_with("ann", &[], &["sh", "-c", &work]);
    let daemon = troupe.nth_start(1).pid;
    let command = troupe.nth_start(2).pid;
    (troupe, daemon, command)
}

#[test]
fn a_daemon_ends_when_the_command_ends() {
    let (mut troupe, daemon, _) = scene("exit 5");
    assert_eq!(troupe.code_of("ann"), 5);
    assert!(!is_alive(daemon));
}

#[test]
fn a_daemon_ends_with_the_leadership() {
    let (mut troupe, daemon, command) = scene("exec sleep 600");
    troupe.join("bob");
    let demote = troupe.call("demote").output().expect("demote");
    assert!(demote.status.success(), "{}", String::from_utf8_lossy(&demote.stderr));
    troupe.nth_start(3);
    assert!(!is_alive(daemon) && !is_alive(command));
    audit(&troupe);
}

#[test]
fn a_daemon_ends_when_the_supervisor_is_killed() {
    let (mut troupe, daemon, command) = scene("exec sleep 600");
    troupe.join("bob");
    troupe.signal("ann", Signal::KILL);
    assert_eq!(troupe.nth_start(3).name, "bob");
    assert!(!is_alive(daemon) && !is_alive(command));
    audit(&troupe);
}

#[test]
fn a_daemon_ends_when_the_supervisor_is_stopped() {
    let (mut troupe, daemon, command) = scene("exec sleep 600");
    troupe.join("bob");
    troupe.signal("ann", Signal::STOP);
    assert_eq!(troupe.nth_start(3).name, "bob");
    assert!(!is_alive(daemon) && !is_alive(command));
    troupe.signal("ann", Signal::CONT);
    audit(&troupe);
}

#[test]
fn a_daemon_ends_when_the_guard_is_killed() {
    let (mut troupe, daemon, command) = scene("exec sleep 600");
    send(parent_of(command).expect("the guard"), Signal::KILL);
    assert_eq!(troupe.code_of("ann"), 137);
    assert!(!is_alive(daemon) && !is_alive(command));
    audit(&troupe);
}

#[test]
fn a_daemon_is_asked_to_stop_like_everybody_else() {
    // A long grace: the command waits for its daemon to be asked.
    let mut troupe = Troupe::new(PROGRAM, "10s");
    let polite = r#"(setsid sh -c 'trap "echo asked > $STARTS.asked; exit" TERM
        echo "daemon 1 $$ 0" >> "$STARTS"; while :; do sleep 0.02; done' &)
        trap 'while [ ! -e "$STARTS.asked" ]; do sleep 0.01; done; exit 9' TERM
        while :; do sleep 0.02; done"#;
    troupe.join_with("ann", &[], &["sh", "-c", polite]);
    let daemon = troupe.nth_start(1).pid;
    troupe.signal("ann", Signal::TERM);
    assert_eq!(troupe.code_of("ann"), 9);
    assert!(!is_alive(daemon));
}

#[test]
fn what_was_adopted_is_buried_while_the_command_runs() {
    let mut troupe = troupe();
    let busy = r#"i=0; while [ $i -lt 20 ]; do (sh -c 'exit 0' &); i=$((i+1)); done
        sleep 0.2; echo "ann 1 $$ 0" >> "$STARTS"; exec sleep 600"#;
    troupe.join_with("ann", &[], &["sh", "-c", busy]);
    let command = troupe.nth_start(1).pid;
    let guard = parent_of(command).expect("the guard");
    troupe.until("the dead to be buried", || {
        let children = std::fs::read_to_string(format!("/proc/{guard}/task/{guard}/children"));
        (children.expect("the guard lives").split_whitespace().count() == 1).then_some(())
    });
}

#[test]
fn a_guard_that_was_adopted_by_the_first_process_still_ends_everything() {
    let (troupe, daemon, command) = scene("exec sleep 600");
    let guard = parent_of(command).expect("the guard");
    // While the guard is stopped, its supervisor is dead and gone. It continues as an orphan.
    send(guard, Signal::STOP);
    troupe.signal("ann", Signal::KILL);
    troupe.until("the daemon to end", || (!is_alive(daemon)).then_some(()));
    troupe.until("the command to end", || (!is_alive(command)).then_some(()));
    let said = troupe.read("ann.err");
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn the_supervisor_buries_orphans_that_are_not_of_the_command() {
    let mut troupe = troupe();
    // Each probe leaves one behind, in a session of its own. The supervisor adopts it.
    let flags = ["--health", "setsid sleep 0.1 & exit 0", "--health-every", "500ms"];
    let work = r#"echo "$INCUMBENT_NAME $INCUMBENT_TOKEN $$ 0" >> "$STARTS"; exec sleep 600"#;
    troupe.join_with("ann", &flags, &["sh", "-c", work]);
    let guard = parent_of(troupe.nth_start(1).pid).expect("the guard");
    let supervisor = parent_of(guard).expect("the supervisor");
    let is_orphan = |pid: i32| {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm"));
        name.is_ok_and(|name| name == "sleep\n") && parent_of(pid) == Some(supervisor)
    };
    let is_dead = |pid: i32| !is_alive(pid) && is_orphan(pid);
    let orphan = troupe.until("a dead orphan", || {
        let threads = std::fs::read_dir(format!("/proc/{supervisor}/task")).ok()?.flatten();
        let lists = threads.flat_map(|it| std::fs::read_to_string(it.path().join("children")));
        let pids: Vec<i32> = lists
            .flat_map(|list| list.split(' ').flat_map(str::parse).collect::<Vec<_>>())
            .collect();
        pids.into_iter().find(|&pid| is_dead(pid))
    });
    troupe.until("its burial", || (!is_dead(orphan)).then_some(()));
    assert_eq!(parent_of(guard), Some(supervisor), "the candidate goes on");
}

#[test]
fn the_command_cannot_read_what_the_supervisor_tells_the_guard() {
    let mut troupe = troupe();
    troupe.join("ann");
    let command = troupe.nth_start(1).pid;
    // Its pipes, but for those that this test inherited itself.
    let pipes = |process: &str| -> Vec<(PathBuf, PathBuf)> {
        let files = std::fs::read_dir(format!("/proc/{process}/fd")).expect("its files").flatten();
        let links = files.filter_map(|it| Some((std::fs::read_link(it.path()).ok()?, it.path())));
        links.filter(|(to, _)| to.to_string_lossy().starts_with("pipe:")).collect()
    };
    let (mut pipes, ours) = (pipes(&command.to_string()), pipes("self"));
    pipes.retain(|(to, _)| !ours.iter().any(|(our, _)| our == to));
    assert_eq!(pipes.len(), 1, "{pipes:?}");
    let number = pipes[0].1.file_name().and_then(|name| name.to_str()).expect("a number");
    let info = std::fs::read_to_string(format!("/proc/{command}/fdinfo/{number}")).expect("info");
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).expect("flags");
    let flags = u64::from_str_radix(flags.trim(), 8).expect("octal");
    assert_ne!(flags & 0o10_000_000, 0, "more than a handle (O_PATH): {info}");
}

#[test]
fn the_exit_code_is_right_where_the_supervisors_group_is_outside_its_pid_namespace() {
    let Some(mut unshare) = unshare(&["--mount-proc"]) else { return };
    let troupe = troupe();
    let url = format!("sqlite://{}", troupe.path("e.db").display());
    // The daemon must be dead too, although no signal goes to the group. It holds standard output, so
    // that the call returns only after its end.
    let work = "(setsid sleep 600 &) ; sleep 600 & exit 3";
    let words = [PROGRAM, "run", "--url", &url, "--", "sh", "-c", work];
    let ended = unshare.args(words).output().expect("unshare");
    assert_eq!(ended.status.code(), Some(3), "{}", String::from_utf8_lossy(&ended.stderr));
}

#[test]
fn where_proc_shows_another_pid_namespace_nothing_is_started() {
    let Some(mut unshare) = unshare(&[]) else { return };
    let troupe = troupe();
    let url = format!("sqlite://{}", troupe.path("e.db").display());
    let words = [PROGRAM, "run", "--url", &url, "--", "echo", "started"];
    let ended = unshare.args(words).output().expect("unshare");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!((ended.status.code(), ended.stdout), (Some(125), Vec::new()), "{said}");
    assert!(said.contains("/proc shows another PID namespace"), "{said}");
}

/// `unshare` with a PID namespace, ready for a command; `None` if there are none here.
fn unshare(flags: &[&str]) -> Option<std::process::Command> {
    let unshare = || {
        let mut command = std::process::Command::new("unshare");
        command.args(["--user", "--map-root-user", "--pid", "--fork"]).args(flags);
        command
    };
    if unshare().arg("true").output().is_ok_and(|output| output.status.success()) {
        return Some(unshare());
    }
    let _ = writeln!(std::io::stderr(), "skipped: PID namespaces are not available here");
    None
}
