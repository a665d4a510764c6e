//! Leaders on SQLite that are stopped while others load the disk: each has a successor.
//!
//! Assumes: `INCUMBENT_CHAOS_STOPS` and `INCUMBENT_CHAOS_SEED` say how many and when.
//! Promises: it is run only when asked for (`cargo xtask chaos stops`): a leader that is stopped in the
//! middle of a write keeps SQLite's write lock, which must be rare and cannot be excluded.

#[expect(dead_code, reason = "other tests use the rest")]
mod troupe;

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;
use rustix::process::Signal;
use troupe::Troupe;

const PROGRAM: &str = env!("CARGO_BIN_EXE_incumbent");
const LEASE: &str = "1s";

/// Elections that are held side by side, each on a database of its own.
const LANES: u64 = 6;
/// Who loads the disk.
const WRITERS: usize = 2;
/// A leader without a successor after so long is held against us.
const LATEST: Duration = Duration::from_secs(20);

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().expect("a number"))
}

#[test]
#[ignore = "takes minutes: cargo xtask chaos stops"]
fn every_leader_that_is_stopped_under_disk_load_has_a_successor() {
    let stops = setting("INCUMBENT_CHAOS_STOPS", 60);
    let seed = setting("INCUMBENT_CHAOS_SEED", 1);
    let folder = tempfile::tempdir().expect("a folder");
    let over = AtomicBool::new(false);
    let mut waits = std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (file, over) = (folder.path().join(writer.to_string()), &over);
            scope.spawn(move || load(&file, over));
        }
        let lanes: Vec<_> = (0..LANES)
            .map(|lane| {
                let share = stops / LANES + u64::from(lane < stops % LANES);
                scope.spawn(move || stop(share, seed * LANES + lane))
            })
            .collect();
        let waits: Vec<_> = lanes.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        over.store(true, Ordering::Relaxed);
        waits.into_iter().flat_map(|waits| waits.expect("no panic")).collect::<Vec<_>>()
    });
    waits.sort();
    let failed = waits.iter().filter(|wait| wait.is_none()).count();
    let median = waits[waits.len() / 2];
    let worst = waits.last().copied().flatten();
    let said = format!(
        "{} stops, seed {seed}: {failed} without a successor within {LATEST:?}; median {median:?}, worst {worst:?}\n",
        waits.len()
    );
    std::io::stdout().write_all(said.as_bytes()).expect("somebody who reads");
    assert_eq!(failed, 0, "{said}");
}

/// Writes and syncs until told to end.
fn load(path: &Path, over: &AtomicBool) {
    let mut file = File::create(path).expect("a file");
    let block = vec![7; 64 * 1024];
    while !over.load(Ordering::Relaxed) {
        file.write_all(&block).and_then(|()| file.sync_data()).expect("written");
        if file.stream_position().expect("a position") > 16 * 1024 * 1024 {
            file.seek(SeekFrom::Start(0)).expect("rewound");
        }
    }
}

/// Stops one leader after the other, and tells how long each successor took.
fn stop(rounds: u64, seed: u64) -> Vec<Option<Duration>> {
    let mut random = Rng::with_seed(seed);
    let mut troupe = Troupe::new(PROGRAM, LEASE);
    troupe.join("ann");
    troupe.join("bob");
    let mut waits = Vec::new();
    let mut leader = troupe.nth_start(1);
    for _ in 0..rounds {
        // Somewhere within a beat.
        std::thread::sleep(Duration::from_millis(random.u64(..500)));
        let (known, stopped) = (troupe.starts().len(), Instant::now());
        troupe.signal(&leader.name, Signal::STOP);
        let successor = loop {
            let found = troupe.starts().into_iter().skip(known).find(|it| it.name != leader.name);
            if found.is_some() || stopped.elapsed() > LATEST {
                break found;
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        waits.push(successor.as_ref().map(|_| stopped.elapsed()));
        troupe.signal(&leader.name, Signal::CONT);
        leader = match successor {
            Some(successor) => successor,
            None => troupe.nth_start(troupe.starts().len()),
        };
    }
    waits
}
