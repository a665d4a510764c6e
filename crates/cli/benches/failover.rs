//! How long a failover takes on one host, from the kill of the leader to the first act of its
//! successor's command.
//!
//! Assumes: a quiet machine; on a busy one compare only figures of the same run.
//! Promises: real processes, SIGKILL and SIGTERM; the clock of the kill and of the act is the same.

#[expect(dead_code, reason = "the tests use the rest")]
#[path = "../tests/troupe/mod.rs"]
mod troupe;

use std::io::Write;
use std::time::{Duration, SystemTime};

use rustix::process::Signal;
use troupe::Troupe;

const PROGRAM: &str = env!("CARGO_BIN_EXE_incumbent");
const KILLS: u32 = 50;

fn main() {
    let mut out = std::io::stdout().lock();
    let header =
        "| what | candidates | runs | median ms | p90 ms | worst ms |\n|---|---|---|---|---|---|";
    let _ = writeln!(out, "{header}");
    for (what, signal) in [("crash (KILL)", Signal::KILL), ("graceful (TERM)", Signal::TERM)] {
        for standbys in [1, 4] {
            let mut times = measure(signal, standbys);
            times.sort_unstable();
            let at = |percent: usize| millis(times[(times.len() - 1) * percent / 100]);
            let (candidates, runs) = (standbys + 1, times.len());
            let (median, p90, worst) = (at(50), at(90), at(100));
            let _ =
                writeln!(out, "| {what} | {candidates} | {runs} | {median} | {p90} | {worst} |");
        }
    }
}

/// The time from the signal to the successor's first act, again and again.
fn measure(signal: Signal, standbys: usize) -> Vec<Duration> {
    let mut troupe = Troupe::new(PROGRAM, "3s");
    for n in 0..=standbys {
        troupe.join(&format!("c{n}"));
    }
    let mut times = Vec::new();
    for kill in 1..=KILLS {
        let leader = troupe.nth_start(kill as usize).name;
        // So that the standbys are in their ordinary rhythm again, at no particular point of it.
        std::thread::sleep(
            Duration::from_millis(300) + Duration::from_micros(37_123) * (kill % 11),
        );
        let killed = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a date");
        troupe.signal(&leader, signal);
        let start = troupe.nth_start(kill as usize + 1);
        times.push(Duration::from_nanos_u128(start.at.saturating_sub(killed.as_nanos())));
        troupe.end_of(&leader);
        troupe.join(&format!("{}x", leader.chars().take(40).collect::<String>()));
    }
    times
}

fn millis(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1e3)
}
