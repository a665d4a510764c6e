//! Processor time that a server used, from `/proc`.
//!
//! Assumes Linux. Promises to count the living processes of a folder and the children that they
//! have waited for, so that a finished backend of PostgreSQL is not lost.

use std::fs;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use rustix::process::Pid;

/// User and system time of these processes and of the children that they have waited for.
pub(crate) fn cpu(processes: &[Pid]) -> anyhow::Result<Duration> {
    ensure!(!processes.is_empty(), "the server does not run, so its processor time is unknown");
    // One that ends between being found and being read is counted by its parent later.
    let ticks: u64 = processes.iter().filter_map(|process| ticks(*process).ok()).sum();
    let per_second = rustix::param::clock_ticks_per_second();
    Ok(Duration::from_nanos(ticks.saturating_mul(1_000_000_000 / per_second)))
}

/// `utime + stime + cutime + cstime` of a process.
fn ticks(process: Pid) -> anyhow::Result<u64> {
    let text = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()))?;
    // The name of the program, in brackets, may itself hold spaces and brackets.
    let (_, fields) = text.rsplit_once(')').context("no name in /proc/PID/stat")?;
    // Behind the name comes the third field; the times are fields 14 to 17.
    let times: Vec<&str> = fields.split_whitespace().skip(11).take(4).collect();
    ensure!(times.len() == 4, "too few fields in /proc/PID/stat");
    times.iter().map(|time| Ok(time.parse::<u64>()?)).sum()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn time_spent_by_this_process_is_counted() {
        let this = [rustix::process::getpid()];
        let before = cpu(&this).expect("can be read");
        let began = Instant::now();
        // Processor time can lag behind the clock on a busy machine, hence the generous bound.
        while cpu(&this).expect("can be read") == before {
            assert!(began.elapsed() < Duration::from_mins(1), "no time is counted");
        }
    }

    #[test]
    fn no_process_is_an_error_rather_than_no_time() {
        assert!(cpu(&[]).is_err());
    }
}
