//! `incumbent bench failover`, from end to end on one host.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Desk, Ended, end, text, until};

const ROUNDS: [&str; 4] = ["--protocol", "rounds", "--round-time", "300ms"];

/// A folder for temporary files of its own, so that what is left behind can be seen.
fn bench(desk: &Desk, args: &[&str]) -> Ended {
    std::fs::create_dir_all(desk.path("tmp")).expect("folder");
    let mut command = desk.command(&[&["bench", "failover"], args].concat());
    command.env("TMPDIR", desk.path("tmp"));
    end(command)
}

#[track_caller]
fn left_nothing(desk: &Desk) {
    let left: Vec<_> = std::fs::read_dir(desk.path("tmp")).expect("folder").collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(!desk.path(".local").exists(), "the default database was used");
}

/// What holds of every size, however slow the machine.
#[track_caller]
pub(crate) fn is_sane(size: &Value, candidates: u64, kills: usize) {
    assert_eq!(size["candidates"], json!(candidates));
    let times = &size["failover"];
    let each = times["each"].as_array().expect("times");
    assert_eq!(each.len(), kills);
    assert!(each.iter().all(|time| time.as_f64() > Some(0.0)), "{size}");
    let order = ["min", "p50", "p90", "p99", "max"].map(|key| times[key].as_f64().expect(key));
    assert!(order.is_sorted(), "{size}");
    assert!((order[0]..=order[4]).contains(&times["mean"].as_f64().expect("mean")), "{size}");
}

#[test]
fn failovers_by_rounds_are_measured_and_drawn() {
    let desk = Desk::new();
    let plot = desk.path("plot.svg");
    let flags = ["--candidates", "2,3", "--kills", "2", "--json", "--plot", text(&plot)];
    let ended = bench(&desk, &[&flags[..], &ROUNDS].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
    let figures = ended.json();
    let whole = (&figures["ok"], &figures["store"], &figures["protocol"], &figures["failed"]);
    assert_eq!(whole, (&json!(true), &json!("sqlite"), &json!("rounds"), &Value::Null));
    assert_eq!((&figures["lease"], &figures["round_limit"]), (&json!(0.6), &json!(2)));
    is_sane(&figures["sizes"][0], 2, 2);
    is_sane(&figures["sizes"][1], 3, 2);
    assert_eq!(figures["sizes"][1]["round_time"]["start"], json!(0.3));
    assert!(figures["sizes"][1]["round_time"]["stable"].as_f64() >= Some(0.3), "{figures}");
    let events = ended.err.lines().filter(|line| line.contains("\"event\":\"failover\""));
    assert_eq!(events.count(), 4, "{}", ended.err);
    let drawing = std::fs::read_to_string(&plot).expect("a drawing");
    assert!(drawing.starts_with("<svg ") && drawing.ends_with("</svg>\n"), "{drawing}");
    assert_eq!(drawing.matches("<circle ").count(), 4, "two sizes in two panels");
    left_nothing(&desk);
}

#[test]
fn failovers_by_lease_are_measured_with_candidates_that_share_a_process() {
    let desk = Desk::new();
    let flags = ["--candidates", "4", "--per-process", "2", "--kills", "2", "--lease", "1s"];
    let ended = bench(&desk, &flags);
    assert_eq!(ended.code, 0, "{ended:?}");
    let mut lines = ended.out.lines();
    let head = "failover by lease on sqlite, from the kill until another leads; lease 1.00 s";
    assert_eq!(lines.next(), Some(head));
    assert!(lines.next().is_some_and(|line| line.starts_with("CANDIDATES  KILLS  P50")));
    assert!(lines.next().is_some_and(|line| line.starts_with("4           2      ")), "{ended:?}");
    assert!(ended.err.contains("incumbent: 4 candidates: kill 2 of 2: another led after "));
    left_nothing(&desk);
}

#[test]
fn rows_in_a_store_of_the_users_are_deleted() {
    let desk = Desk::new();
    let ended = bench(&desk, &[&["--url", &desk.url(), "--kills", "1"], &ROUNDS[..]].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(!ended.err.contains("left"), "{}", ended.err);
    let all = desk.ask(&["status", "--all", "--json"]);
    assert_eq!(all.json(), json!([]), "{all:?}");
    left_nothing(&desk);
}

#[test]
fn numbers_that_make_no_sense_are_refused() {
    for (flags, words) in [
        (["--candidates", "1"], "a failover needs 2 candidates at least"),
        (["--candidates", "3,x"], "\"x\" is no number of candidates"),
        (["--kills", "0"], "it must be 1 at least"),
        (["--per-process", "0"], "it must be 1 at least"),
    ] {
        let ended = Desk::new().call(&[&["bench", "failover"], &flags[..]].concat());
        assert_eq!((ended.code, ended.out.as_str()), (2, ""));
        assert!(ended.err.contains(words), "{}", ended.err);
    }
    let ended = Desk::new().call(&["bench", "failover", "--url", "sqlite:/no/such/folder/e.db"]);
    assert_eq!(ended.code, 125, "{ended:?}");
    assert!(ended.err.contains("the folder /no/such/folder does not exist"), "{}", ended.err);
}

/// Starts one that would go on for long, and waits until it has killed somebody. Returns it with the
/// processes that it has.
fn under_way(desk: &Desk) -> (Child, Vec<i32>) {
    std::fs::create_dir_all(desk.path("tmp")).expect("folder");
    let flags = [&["bench", "failover", "--kills", "1000"], &ROUNDS[..]].concat();
    let mut command = desk.command(&flags);
    command.env("TMPDIR", desk.path("tmp")).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut bench = command.spawn().expect("the program starts");
    let mut told = BufReader::new(bench.stderr.take().expect("its words")).lines();
    let killed = told.find(|line| line.as_ref().is_ok_and(|line| line.contains("kill 1 of")));
    assert!(killed.is_some(), "it ended before it killed anybody");
    // Somebody has to read on.
    std::thread::spawn(move || told.for_each(drop));
    let own = i32::try_from(bench.id()).expect("a number");
    let children =
        until("three candidates", || Some(children_of(own)).filter(|children| children.len() >= 3));
    (bench, children)
}

fn children_of(parent: i32) -> Vec<i32> {
    let all = std::fs::read_dir("/proc").expect("processes").flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| stat(*pid).is_some_and(|(state, of)| of == parent && state != 'Z'))
        .collect()
}

/// The state of a process and who started it.
fn stat(pid: i32) -> Option<(char, i32)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut words = stat.rsplit_once(')')?.1.split_whitespace();
    Some((words.next()?.chars().next()?, words.next()?.parse().ok()?))
}

fn is_gone(pid: i32) -> bool {
    stat(pid).is_none_or(|(state, _)| matches!(state, 'Z' | 'X'))
}

fn send(process: &Child, signal: Signal) {
    let pid = i32::try_from(process.id()).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(pid, signal).expect("signal");
}

#[test]
fn an_interrupted_benchmark_leaves_no_process_and_no_file() {
    let desk = Desk::new();
    let (mut bench, children) = under_way(&desk);
    send(&bench, Signal::INT);
    let status = until("the program to end", || bench.try_wait().expect("wait"));
    assert_eq!(status.code(), Some(1));
    assert!(children.iter().all(|&pid| is_gone(pid)), "{children:?}");
    left_nothing(&desk);
}

#[test]
fn candidates_die_with_a_killed_benchmark() {
    let desk = Desk::new();
    let (mut bench, children) = under_way(&desk);
    send(&bench, Signal::KILL);
    bench.wait().expect("wait");
    until("everybody to be gone", || children.iter().all(|&pid| is_gone(pid)).then_some(()));
}
