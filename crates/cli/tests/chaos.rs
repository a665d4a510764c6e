//! `incumbent run` under chaos: supervisors, guards and commands are stopped, killed and asked to end
//! in random order, and never are two commands alive at once.
//!
//! Assumes: the test program can start itself again with the name of one test, which then plays the
//! command. `INCUMBENT_CHAOS_ROUNDS` and `INCUMBENT_CHAOS_SEED` say how long and in which order.
//! Promises: nothing is asked to be fast, only to be dead before anybody else begins.

#[path = "chaos/judge.rs"]
mod judge;
#[path = "chaos/strike.rs"]
mod strike;
#[expect(dead_code, reason = "other tests use the rest")]
mod troupe;
#[path = "chaos/work.rs"]
mod work;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fastrand::Rng;
use judge::Judge;
use rustix::process::Signal;
use strike::{Strike, Target};
use troupe::{PATIENCE, Troupe, parent_of, send};

const PROGRAM: &str = env!("CARGO_BIN_EXE_incumbent");

/// Everybody who contends: one for each way to deal with a loss or an end.
const CAST: [(&str, &[&str]); 4] = [
    ("ann", &[]),
    ("bob", &["--restart", "always", "--restart-delay", "20ms", "--restart-limit", "1000000"]),
    ("cem", &["--on-loss", "kill"]),
    ("dan", &["--once", "--restart", "on-failure", "--restart-delay", "100ms"]),
];

/// What the environment says, or what is enough for a test of every day.
fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().expect("a number"))
}

#[test]
fn no_command_is_ever_alive_beside_that_of_a_successor() {
    let rounds = setting("INCUMBENT_CHAOS_ROUNDS", 20);
    let seed = setting("INCUMBENT_CHAOS_SEED", 1);
    let mut stage = Stage::new();
    let mut random = Rng::with_seed(seed);
    let mut tally = BTreeMap::<Strike, u64>::new();
    for round in 1..=rounds {
        stage.settle();
        for strike in stage.round(&mut random) {
            *tally.entry(strike).or_default() += 1;
        }
        if let Some(fault) = stage.judge.fault() {
            panic!("seed {seed}, round {round}: {fault}\n{}", stage.story());
        }
    }
    stage.settle();
    let summary = stage.judge.finish();
    say(&format!("{rounds} rounds, seed {seed}: {summary}\n{tally:#?}"));
    assert!(summary.tokens as u64 > rounds / 4, "nothing ever changed: {summary}");
    let report = incumbent_audit::audit(&stage.troupe.histories()).expect("histories");
    assert!(report.is_clean(), "seed {seed}: {report}\nkept in {}", stage.keep().display());
    say(&report.to_string());
}

fn say(text: &str) {
    writeln!(std::io::stdout(), "{text}").expect("somebody who reads");
}

/// A troupe, and whoever watches it.
struct Stage {
    troupe: Troupe,
    judge: Judge,
    /// What was done, for those who look for a fault.
    log: Vec<String>,
}

impl Stage {
    fn new() -> Stage {
        let troupe = Troupe::new(PROGRAM, "1s");
        let judge = Judge::watch(&troupe.path("lines"));
        Stage { troupe, judge, log: Vec::new() }
    }

    /// Everybody is back, and somebody works.
    fn settle(&mut self) {
        let me = std::env::current_exe().expect("this program");
        // As long as the lease allows, for a machine that does other things too.
        let grace = ["--grace", "300ms"];
        let lines = self.troupe.path("lines");
        for (name, flags) in CAST {
            if self.troupe.pid_of(name).is_none() {
                let words = work::words(&me, &lines);
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                self.troupe.join_with(name, &[flags, &grace].concat(), &words);
            }
        }
        self.troupe.until("somebody to work", || self.judge.worker().map(drop));
    }

    /// Strikes one family, once or twice, and lets those continue that were stopped.
    fn round(&mut self, random: &mut Rng) -> Vec<Strike> {
        // Somewhere within a beat, and often long enough for a renewal to have passed.
        std::thread::sleep(Duration::from_millis(random.u64(..300)));
        let worker = self.troupe.until("somebody to work", || self.judge.worker());
        let bystander = random.u64(..10) == 0;
        let name = if bystander { CAST[random.usize(..4)].0.to_owned() } else { worker.name };
        let (strikes, pause, hold) = strike::plan(random, bystander);
        let Some(supervisor) = self.troupe.pid_of(&name) else {
            return Vec::new();
        };
        let family = |target| match target {
            Target::Supervisor => Some(supervisor),
            Target::Guard => parent_of(worker.pid).filter(|&pid| pid > 1),
            Target::Command => Some(worker.pid),
        };
        let struck: Vec<_> = strikes.iter().map(|strike| (strike, family(strike.target))).collect();
        let mut stopped = Vec::new();
        for (strike, pid) in struck {
            if let Some(pid) = pid {
                let at = incumbent::lease_clock_nanos();
                self.log
                    .push(format!("{at}: {:?} to the {:?} of {name}", strike.blow, strike.target));
                send(pid, strike.signal());
                stopped.extend((strike.signal() == Signal::STOP).then_some(pid));
            }
            std::thread::sleep(pause);
        }
        std::thread::sleep(hold.min(PATIENCE));
        for pid in stopped {
            send(pid, Signal::CONT);
        }
        strikes
    }

    /// Keeps the histories and the list of strikes for those who look for a fault.
    fn keep(&self) -> PathBuf {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("chaos");
        std::fs::create_dir_all(&folder).expect("a folder");
        for name in CAST
            .iter()
            .flat_map(|(name, _)| ["err", "history"].map(|kind| format!("{name}.{kind}")))
        {
            std::fs::copy(self.troupe.path(&name), folder.join(&name)).expect("a copy");
        }
        std::fs::write(folder.join("strikes"), self.log.join("\n")).expect("a list");
        folder
    }

    /// The last strikes, and what everybody told of late.
    fn story(&self) -> String {
        let last = |lines: Vec<&str>| lines[lines.len().saturating_sub(8)..].join("\n");
        let mut story = vec![last(self.log.iter().map(String::as_str).collect())];
        for (name, _) in CAST {
            for kind in ["err", "history"] {
                let text = self.troupe.read(&format!("{name}.{kind}"));
                story.push(format!("--- {name}.{kind}\n{}", last(text.lines().collect())));
            }
        }
        story.join("\n")
    }
}
