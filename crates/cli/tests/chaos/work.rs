//! The command of the chaos: it writes a line every few milliseconds, and so do a child and a daemon
//! of it.
//!
//! Assumes: `setsid` is there; lines that are appended to a file at once stay whole.
//! Promises: each line says who writes it, under which token, as which process, and when.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Where to write; what makes this program a command.
const FILE: &str = "CHAOS_LINES";

/// Which command a child or a daemon belongs to.
const LIFE: &str = "CHAOS_LIFE";

const PAUSE: Duration = Duration::from_millis(4);

/// The words that start this program as a command.
pub(crate) fn words(program: &Path, lines: &Path) -> Vec<String> {
    let file = format!("{FILE}={}", lines.display());
    let program = program.display().to_string();
    let test = "work::a_worker_writes_until_it_is_killed";
    ["env", &file, &program, "--exact", "--nocapture", "--test-threads=1", test]
        .map(str::to_owned)
        .to_vec()
}

/// A process that no other process can be taken for: its number and when it began.
pub(crate) fn identity(pid: i32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut words = stat.rsplit_once(')')?.1.split_whitespace();
    let is_dead = matches!(words.next()?, "Z" | "X");
    let began = words.nth(18)?;
    (!is_dead).then(|| format!("{pid}:{began}"))
}

fn now() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    u64::try_from(now.tv_sec).expect("after the boot") * 1_000_000_000
        + u64::try_from(now.tv_nsec).expect("a part of a second")
}

/// Starts what belongs to this command: a child in its group, and a daemon in a session of its own.
fn start_kin(me: &str) {
    let program = std::env::current_exe().expect("this program");
    let args: Vec<String> = std::env::args().skip(1).collect();
    let child = Command::new(&program).args(&args).env(LIFE, me).spawn();
    drop(child.expect("a child"));
    let mut daemon = Command::new("setsid");
    let daemon = daemon.arg("--fork").arg(&program).args(&args).env(LIFE, me).status();
    assert!(daemon.expect("setsid").success());
}

fn write(file: &str) {
    let me = identity(i32::try_from(std::process::id()).expect("a number")).expect("alive");
    let life = std::env::var(LIFE).unwrap_or_else(|_| me.clone());
    let variable = |name: &str| std::env::var(name).unwrap_or_else(|_| "0".to_owned());
    let (name, token) = (variable("INCUMBENT_NAME"), variable("INCUMBENT_TOKEN"));
    let mut file = File::options().append(true).create(true).open(file).expect("the file");
    let mut is_first = life == me;
    loop {
        let line = format!("{life} {me} {name} {token} {}\n", now());
        file.write_all(line.as_bytes()).expect("a line");
        if std::mem::take(&mut is_first) {
            start_kin(&me);
        }
        std::thread::sleep(PAUSE);
    }
}

#[test]
fn a_worker_writes_until_it_is_killed() {
    if let Ok(file) = std::env::var(FILE) {
        write(&file);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let lines = folder.path().join("lines");
    let words = words(&std::env::current_exe().expect("this program"), &lines);
    let mut worker = Command::new(&words[0]).args(&words[1..]).spawn().expect("a worker");
    let writers = || {
        let text = std::fs::read_to_string(&lines).unwrap_or_default();
        let second = |line: &str| line.split(' ').nth(1).map(str::to_owned);
        text.lines().filter_map(second).collect::<std::collections::BTreeSet<_>>()
    };
    let begun = std::time::Instant::now();
    while writers().len() < 3 {
        assert!(begun.elapsed() < crate::troupe::PATIENCE, "{:?}", writers());
        std::thread::sleep(PAUSE);
    }
    worker.kill().expect("killed");
    worker.wait().expect("dead");
    for writer in writers() {
        let pid = writer.split(':').next().and_then(|pid| pid.parse().ok()).expect("a process");
        crate::troupe::send(pid, rustix::process::Signal::KILL);
    }
}
