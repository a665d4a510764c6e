//! What asking a leadership costs: nanoseconds, and no allocation.
//!
//! Assumes: `cargo bench -p incumbent --bench is_valid`. Promises: the leadership is real and is
//! renewed meanwhile.

use std::time::Duration;

use divan::{AllocProfiler, Bencher};
use incumbent::Config;
use incumbent::blocking::{Backend, Leadership};

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

fn lead() -> (tempfile::TempDir, Leadership) {
    let folder = tempfile::tempdir().expect("a folder");
    let url = folder.path().join("elections.db").display().to_string();
    let config = Config::new().name("bench").lease(Duration::from_secs(10));
    let backend = Backend::open(&url, &config).expect("opens");
    let leadership = backend.election("bench").expect("opens").campaign();
    (folder, leadership.expect("leads"))
}

#[divan::bench]
fn is_valid(bencher: Bencher<'_, '_>) {
    let (_folder, leadership) = lead();
    bencher.bench_local(|| leadership.is_valid());
}

#[divan::bench]
fn token(bencher: Bencher<'_, '_>) {
    let (_folder, leadership) = lead();
    bencher.bench_local(|| leadership.token());
}

#[divan::bench]
fn remaining(bencher: Bencher<'_, '_>) {
    let (_folder, leadership) = lead();
    bencher.bench_local(|| leadership.remaining());
}

/// The floor: one look at the clock that stops while the machine sleeps.
#[divan::bench]
fn instant_now(bencher: Bencher<'_, '_>) {
    bencher.bench_local(std::time::Instant::now);
}

/// A control: the profiler shows an allocation where there is one, and is silent where there is
/// none.
#[divan::bench]
fn control_one_allocation(bencher: Bencher<'_, '_>) {
    bencher.bench_local(|| Box::new(7_u64));
}
