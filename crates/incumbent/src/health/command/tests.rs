//! Commands that pass, fail, hang, flood and leave others behind.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use super::*;

/// Longer than anything here takes on the slowest machine.
const LONG: Duration = Duration::from_mins(1);

fn shell(script: &str) -> CommandProbe {
    CommandProbe::new("sh".into(), vec!["-c".into(), script.into()])
}

async fn run(script: &str) -> Result<(), String> {
    timeout(LONG, shell(script).run()).await.expect("the probe ends")
}

/// A folder and a file in it, into which scripts write the numbers of processes.
fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    (folder, file)
}

/// The number in the file, as soon as it is complete.
async fn number(file: &Path) -> i32 {
    let wait = async {
        loop {
            match std::fs::read_to_string(file) {
                Ok(text) if text.ends_with('\n') => return text.trim().parse().unwrap(),
                _ => sleep(Duration::from_millis(5)).await,
            }
        }
    };
    timeout(LONG, wait).await.expect("the command starts")
}

/// Whether the process does anything any more: a dead one may wait for its parent to notice.
fn lives(process: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
    let state = stat.ok().and_then(|stat| Some(stat.rsplit_once(") ")?.1.to_owned()));
    state.is_some_and(|state| !state.starts_with(['Z', 'X']))
}

async fn dies(process: i32) {
    let wait = async {
        while lives(process) {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LONG, wait).await.expect("the process dies");
}

#[tokio::test]
async fn exit_code_zero_is_well_whatever_was_written() {
    assert_eq!(run("echo all is lost >&2").await, Ok(()));
}

#[tokio::test]
async fn the_last_line_of_standard_error_is_the_reason() {
    let said = run("echo one >&2; echo 'disk full' >&2; echo not this; exit 3").await;
    assert_eq!(said, Err("disk full".to_owned()));
}

#[tokio::test]
async fn who_says_nothing_is_known_by_the_exit_code_or_the_signal() {
    assert_eq!(run("exit 3").await, Err("ended with exit status: 3".to_owned()));
    assert_eq!(run("kill -9 $$").await, Err("ended with signal: 9 (SIGKILL)".to_owned()));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_a_failure() {
    let said = CommandProbe::new("/no/such/program".into(), vec![]).run().await.unwrap_err();
    assert!(said.starts_with("cannot run /no/such/program: No such file"), "{said}");
}

#[tokio::test]
async fn a_flood_of_words_does_not_stop_the_command() {
    let script = "i=0; while [ $i -lt 3000 ]; do echo 'line after line after line after line \
                  after line after line' >&2; i=$((i+1)); done; echo done >&2; exit 1";
    assert_eq!(run(script).await, Err("done".to_owned()));
}

#[tokio::test]
async fn a_command_that_hangs_dies_with_all_it_started_when_the_probe_is_dropped() {
    let (_folder, file) = place();
    let shown = file.display();
    let mut probe = shell(&format!("trap '' TERM; sleep 600 & echo $! > {shown}; wait; sleep 600"));
    let grandchild = tokio::select! {
        answer = probe.run() => panic!("the probe ended: {answer:?}"),
        number = number(&file) => number,
    };
    dies(grandchild).await;
    let status = timeout(LONG, probe.keeper.take().unwrap()).await.expect("buried").unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status.unwrap()), Some(9));
}

#[tokio::test]
async fn what_a_command_leaves_behind_is_killed_though_it_passed() {
    let (_folder, file) = place();
    assert_eq!(run(&format!("sleep 600 & echo $! > {}", file.display())).await, Ok(()));
    dies(number(&file).await).await;
}

#[tokio::test]
async fn one_that_left_the_group_and_keeps_standard_error_does_not_delay_the_answer() {
    let (_folder, file) = place();
    let script =
        format!("setsid sleep 600 & echo $! > {}; sleep 0.2; echo ill >&2; exit 1", file.display());
    assert_eq!(run(&script).await, Err("ill".to_owned()));
    let stray = number(&file).await;
    assert!(lives(stray), "it kept the pipe open all the time");
    rustix::process::kill_process(Pid::from_raw(stray).unwrap(), Signal::KILL).unwrap();
}

#[tokio::test]
async fn the_next_command_waits_until_the_last_one_is_dead() {
    let (_folder, file) = place();
    let script = format!("test -e {0} && exit 0; echo $$ > {0}; exec sleep 600", file.display());
    let mut probe = shell(&script);
    let first = tokio::select! {
        answer = probe.run() => panic!("the probe ended: {answer:?}"),
        number = number(&file) => number,
    };
    assert_eq!(timeout(LONG, probe.run()).await.expect("the probe ends"), Ok(()));
    assert!(!lives(first));
}
