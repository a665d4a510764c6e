//! The step `tests`: every test program of the workspace, side by side.
//!
//! `cargo test` runs one program after another, and most of ours wait: for a lease to end, for a
//! server to start. So cargo builds them, and this file runs them in two lanes. Suites that wait for
//! real servers and processes run several at a time. Suites that compute (the simulator, models,
//! doctests, simulated worlds) run beside them at the lowest priority, so that they use what is idle
//! and disturb no clock. A suite's output goes to a file and is shown if the suite fails.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};

use crate::artifact::{self, Artifact};
use crate::step::show;
use crate::{printer, process, sim};

/// How many suites that wait run at a time. Their load is far below one core each.
const WAITING: usize = 3;
/// How many suites that compute run at a time.
const COMPUTING: usize = 2;
/// How often the suites that still run are named.
const STILL: Duration = Duration::from_mins(1);

/// Packages whose tests wait for servers, processes and leases.
const WAITS: &[&str] = &["incumbent", "incumbent-cli", "incumbent-testbed"];

/// The longest suites start first, so that none of them is left over at the end.
const LONGEST_FIRST: &[&str] = &[
    "incumbent::conformance",
    "incumbent::disasters",
    "incumbent-cli::run",
    "incumbent-cli::servers",
    "incumbent::peers",
    "incumbent-cli::cli",
    "incumbent-sim::planted",
    "incumbent-sim::peers_planted",
];

/// What a quick run leaves out.
const SLOW: &[&str] = &["incumbent::conformance", "incumbent::disasters"];

/// One program with tests.
struct Suite {
    /// `package::target`.
    name: String,
    /// What runs it.
    command: Command,
    waits: bool,
    /// Whether it counts its tests as the harness of Rust does; another one is a single test.
    counts: bool,
}

/// A suite that runs.
struct Running {
    name: String,
    waits: bool,
    counts: bool,
    child: Child,
    log: PathBuf,
    began: Instant,
}

/// What became of a suite.
struct Ended {
    name: String,
    log: PathBuf,
    passed: bool,
    counts: Counts,
}

/// What a suite said of its tests.
#[derive(Debug, Default, PartialEq, Eq, Clone, Copy)]
struct Counts {
    passed: u64,
    failed: u64,
    ignored: u64,
}

/// Builds every suite and runs them all.
pub(crate) fn all(root: &Path) -> anyhow::Result<()> {
    let mut suites = programs(root)?;
    suites.push(doctests(root));
    suites.extend(worlds(root)?);
    run(root, suites)
}

/// Builds every suite and runs those that take no minutes.
pub(crate) fn quick(root: &Path) -> anyhow::Result<()> {
    let mut suites = programs(root)?;
    suites.retain(|suite| !SLOW.contains(&suite.name.as_str()));
    run(root, suites)
}

fn run(root: &Path, mut suites: Vec<Suite>) -> anyhow::Result<()> {
    let logs = root.join("target").join("test-logs");
    fs::create_dir_all(&logs).with_context(|| format!("making {}", logs.display()))?;
    suites.sort_by_key(|suite| {
        LONGEST_FIRST.iter().position(|name| *name == suite.name).unwrap_or(usize::MAX)
    });
    let ended = side_by_side(suites, &logs)?;
    for suite in ended.iter().filter(|suite| !suite.passed) {
        let text = fs::read_to_string(&suite.log).unwrap_or_default();
        printer::progress(&format!("output of {}:\n{text}", suite.name));
    }
    let sum = sum(&ended);
    printer::total(sum.passed, sum.failed, sum.ignored);
    judge(&ended)
}

/// Builds the test programs of the workspace.
fn programs(root: &Path) -> anyhow::Result<Vec<Suite>> {
    let built = artifact::build(root, &["test", "--workspace", "--all-features", "--no-run"])?;
    Ok(built.into_iter().filter(|artifact| artifact.is_test).map(suite).collect())
}

/// The suite of a test program, started as `cargo test` would.
fn suite(artifact: Artifact) -> Suite {
    let Artifact { program, package, folder, kind, target, .. } = artifact;
    let target = if kind == "test" { target } else { kind };
    let mut command = Command::new(program);
    command.current_dir(&folder).env("CARGO_MANIFEST_DIR", folder);
    command.env("CARGO_PKG_NAME", &package);
    let waits = WAITS.contains(&package.as_str());
    Suite { name: format!("{package}::{target}"), command, waits, counts: true }
}

/// Rustdoc builds and runs these by itself.
fn doctests(root: &Path) -> Suite {
    let mut command = process::cargo(root);
    command.args(["test", "--workspace", "--all-features", "--doc"]);
    Suite { name: "doctests".to_owned(), command, waits: false, counts: true }
}

/// The simulated worlds that a change must not break.
fn worlds(root: &Path) -> anyhow::Result<Vec<Suite>> {
    let program = sim::built(root)?;
    let suites = sim::WORLDS.iter().map(|world| {
        let mut command = Command::new(&program);
        command.args(world.arguments).current_dir(root);
        Suite { name: world.name.to_owned(), command, waits: false, counts: false }
    });
    Ok(suites.collect())
}

/// Runs all suites, each lane as many at a time as it may.
fn side_by_side(suites: Vec<Suite>, logs: &Path) -> anyhow::Result<Vec<Ended>> {
    let total = suites.len();
    let (mut waiting, mut computing): (VecDeque<_>, VecDeque<_>) =
        suites.into_iter().partition(|suite| suite.waits);
    let mut running: Vec<Running> = Vec::new();
    let mut ended: Vec<Ended> = Vec::new();
    let mut told = Instant::now();
    while ended.len() < total {
        start(&mut waiting, true, WAITING, &mut running, logs)?;
        start(&mut computing, false, COMPUTING, &mut running, logs)?;
        let mut index = 0;
        while index < running.len() {
            let Some(status) = running[index].child.try_wait().context("waiting for a suite")?
            else {
                index += 1;
                continue;
            };
            let Running { name, log, began, counts: many, .. } = running.swap_remove(index);
            let counts = if many {
                counts(&fs::read_to_string(&log).unwrap_or_default())
            } else {
                Counts::single(status.success())
            };
            let passed = status.success() && counts.failed == 0;
            let time = show(began.elapsed());
            let verdict = if passed { "passed" } else { "FAILED" };
            let place = format!("{}/{total}", ended.len() + 1);
            printer::progress(&format!(
                "  [{place}] {name}: {} {verdict} in {time}",
                counts.total()
            ));
            ended.push(Ended { name, log, passed, counts });
        }
        if told.elapsed() > STILL {
            told = Instant::now();
            let names: Vec<_> = running.iter().map(|suite| suite.name.as_str()).collect();
            printer::progress(&format!("  still running: {}", names.join(", ")));
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(ended)
}

/// Starts suites of one lane until it is full.
fn start(
    lane: &mut VecDeque<Suite>,
    waits: bool,
    most: usize,
    running: &mut Vec<Running>,
    logs: &Path,
) -> anyhow::Result<()> {
    while running.iter().filter(|suite| suite.waits == waits).count() < most {
        let Some(Suite { name, command, counts, .. }) = lane.pop_front() else { break };
        let log = logs.join(format!("{}.log", name.replace("::", "-")));
        let output = File::create(&log).with_context(|| format!("making {}", log.display()))?;
        let errors = output.try_clone().context("sharing a log")?;
        let mut command = if waits { command } else { lowest_priority(&command) };
        command.stdin(Stdio::null()).stdout(output).stderr(errors);
        let child = command.spawn().with_context(|| format!("starting the suite {name}"))?;
        running.push(Running { name, waits, counts, child, log, began: Instant::now() });
    }
    Ok(())
}

/// The same command, run by `nice` at the lowest priority.
fn lowest_priority(command: &Command) -> Command {
    let mut nice = Command::new("nice");
    nice.args(["-n", "19"]).arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        nice.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => nice.env(name, value),
            None => nice.env_remove(name),
        };
    }
    nice
}

/// The tests of all suites.
fn sum(ended: &[Ended]) -> Counts {
    let mut sum = Counts::default();
    for suite in ended {
        sum.add(suite.counts);
    }
    sum
}

/// An error that names every suite that failed, or says that nothing was tested.
fn judge(ended: &[Ended]) -> anyhow::Result<()> {
    let failed: Vec<&str> =
        ended.iter().filter(|suite| !suite.passed).map(|suite| suite.name.as_str()).collect();
    let Some(first) = failed.first() else {
        ensure!(sum(ended).passed > 0, "no test was executed");
        return Ok(());
    };
    let (count, total, alone) = (failed.len(), ended.len(), by_hand(first));
    bail!("{count} of {total} suites failed: {}; run one alone with `{alone}`", failed.join(", "))
}

/// How to run one suite by hand.
fn by_hand(name: &str) -> String {
    let Some((package, target)) = name.split_once("::") else {
        return match name {
            "doctests" => "cargo test --workspace --all-features --doc".to_owned(),
            world => format!("cargo xtask sim --only {world}"),
        };
    };
    let target = match target {
        "lib" | "proc-macro" => "--lib".to_owned(),
        "bin" => "--bins".to_owned(),
        target => format!("--test {target}"),
    };
    format!("cargo test --package {package} --all-features {target}")
}

impl Counts {
    fn single(passed: bool) -> Self {
        Self { passed: passed.into(), failed: (!passed).into(), ignored: 0 }
    }

    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
    }

    fn total(self) -> String {
        match self.passed + self.failed {
            1 => "1 test".to_owned(),
            count => format!("{count} tests"),
        }
    }
}

/// What the closing lines of the test harness say; doctests have one for each crate.
fn counts(text: &str) -> Counts {
    let mut sum = Counts::default();
    for line in text.lines().filter_map(|line| line.strip_prefix("test result: ")) {
        let number = |unit: &str| {
            line.split([';', '.'])
                .find_map(|part| part.trim().strip_suffix(unit)?.trim().parse().ok())
        };
        let (passed, failed) = (number("passed"), number("failed"));
        sum.add(Counts {
            passed: passed.unwrap_or(0),
            failed: failed.unwrap_or(0),
            ignored: number("ignored").unwrap_or(0),
        });
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(name: &str, script: &str, waits: bool) -> Suite {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        Suite { name: name.to_owned(), command, waits, counts: true }
    }

    const GOOD: &str = "echo 'test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured'";

    fn run(suites: Vec<Suite>) -> anyhow::Result<Vec<Ended>> {
        let folder = tempfile::tempdir().context("a temporary folder")?;
        side_by_side(suites, folder.path())
    }

    #[test]
    fn tests_are_counted_from_the_closing_lines() {
        let text = "running 3 tests\ntest result: ok. 3 passed; 0 failed; 1 ignored; 0 measured\n\
                    test result: FAILED. 2 passed; 5 failed; 0 ignored; 0 measured; 0 filtered out\n";
        assert_eq!(counts(text), Counts { passed: 5, failed: 5, ignored: 1 });
        assert_eq!(counts("nothing"), Counts::default());
    }

    #[test]
    fn suites_of_both_lanes_run_and_one_that_fails_fails_all() {
        let suites = vec![script("a::x", GOOD, true), script("b::lib", GOOD, false)];
        let ended = run(suites).expect("they run");
        assert_eq!(ended.len(), 2);
        assert!(judge(&ended).is_ok());
        let ended = run(vec![script("a::x", GOOD, true), script("b::y", "exit 7", false)]);
        let error = judge(&ended.expect("they run")).expect_err("one fails").to_string();
        assert!(error.contains("b::y"), "{error}");
        assert!(error.contains("cargo test --package b --all-features --test y"), "{error}");
    }

    #[test]
    fn a_suite_that_ends_well_with_a_failed_test_has_failed() {
        let lie = "echo 'test result: FAILED. 1 passed; 1 failed; 0 ignored'; exit 0";
        let ended = run(vec![script("a::x", lie, true)]).expect("it runs");
        assert!(judge(&ended).is_err());
    }

    #[test]
    fn a_run_without_a_test_has_not_passed() {
        let ended = run(vec![script("a::x", "true", true)]).expect("it runs");
        assert!(judge(&ended).is_err());
    }

    #[test]
    fn a_lane_is_never_fuller_than_it_may_be() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut lane: VecDeque<_> =
            (0..3).map(|index| script(&format!("a::{index}"), "sleep 0.1", true)).collect();
        let mut running = Vec::new();
        start(&mut lane, true, 2, &mut running, folder.path()).expect("they start");
        assert_eq!((running.len(), lane.len()), (2, 1));
        for mut suite in running {
            suite.child.wait().expect("it ends");
        }
    }

    #[test]
    fn low_priority_keeps_the_command_its_folder_and_its_variables() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "pwd; echo $MARK; nice"]).current_dir("/").env("MARK", "here");
        let output = lowest_priority(&command).output().expect("it runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "/\nhere\n19\n");
    }
}
