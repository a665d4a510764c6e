//! A monitor with probes that go well, fail, hang, panic and block.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use tokio::time::timeout;

use super::*;

/// Longer than anything here takes on the slowest machine.
const LONG: Duration = Duration::from_mins(1);

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Rules with a timeout that no healthy probe of these tests ever reaches.
fn patient(every: u64, failures: u32) -> HealthRules {
    let every = ms(every);
    HealthRules::new(every, every, failures, every).expect("rules")
}

async fn next(monitor: &mut Monitor) -> Fitness {
    timeout(LONG, monitor.changed()).await.expect("something changes")
}

/// The reason of the first news that is not a success.
async fn reason(monitor: &mut Monitor) -> String {
    match next(monitor).await {
        Fitness::Unfit { reason, .. } => reason,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_process_is_fit_with_the_first_probe_that_passes() {
    let mut monitor = Monitor::start(Probe::function(async || Ok(())), patient(60_000, 1));
    assert_eq!(monitor.fitness().reason(), Some("no probe has passed yet"));
    assert_eq!(next(&mut monitor).await, Fitness::Fit);
    assert_eq!(monitor.fitness(), Fitness::Fit);
}

#[tokio::test]
async fn a_process_falls_ill_recovers_and_is_fit_again() {
    let well = Arc::new(AtomicBool::new(true));
    let shared = Arc::clone(&well);
    let probe = Probe::function(move || {
        let well = shared.load(Ordering::Relaxed);
        async move { if well { Ok(()) } else { Err("ill".to_owned()) } }
    });
    // A machine that stands still fails a probe: with so many allowed that does not matter.
    let mut monitor = Monitor::start(probe, patient(50, 20));
    while !next(&mut monitor).await.is_fit() {}
    well.store(false, Ordering::Relaxed);
    assert!(!next(&mut monitor).await.is_fit());
    well.store(true, Ordering::Relaxed);
    let mut recovered = false;
    loop {
        match next(&mut monitor).await {
            Fitness::Recovering { .. } => recovered = true,
            Fitness::Fit => break,
            Fitness::Unfit { .. } => {}
        }
    }
    assert!(recovered);
}

#[tokio::test]
async fn a_function_that_never_answers_is_given_up() {
    let mut monitor = Monitor::start(Probe::function(pending), patient(50, 1));
    assert_eq!(reason(&mut monitor).await, "no answer within 50ms");
}

#[tokio::test]
async fn a_probe_that_panics_has_failed_and_the_checkup_goes_on() {
    let times = Arc::new(AtomicU32::new(0));
    let shared = Arc::clone(&times);
    let probe = Probe::function(move || {
        let time = shared.fetch_add(1, Ordering::Relaxed);
        async move {
            if time == 0 {
                // Without a backtrace, which can take seconds to be written.
                std::panic::resume_unwind(Box::new("the first time is unlucky"));
            }
            Ok(())
        }
    });
    let mut monitor = Monitor::start(probe, patient(2_000, 10));
    assert_eq!(reason(&mut monitor).await, "the probe panicked: the first time is unlucky");
    while !next(&mut monitor).await.is_fit() {}
}

/// In a runtime with one thread, which goes on all the while.
#[tokio::test]
async fn a_probe_that_blocks_its_thread_has_failed_and_is_not_doubled() {
    let inside = Arc::new(AtomicU32::new(0));
    let shared = Arc::clone(&inside);
    let (open, gate) = std::sync::mpsc::channel::<()>();
    let gate = Arc::new(std::sync::Mutex::new(gate));
    let probe = Probe::function(move || {
        shared.fetch_add(1, Ordering::SeqCst);
        let gate = Arc::clone(&gate);
        async move {
            let _ = gate.lock().unwrap().recv_timeout(LONG);
            Ok(())
        }
    });
    let mut monitor = Monitor::start(probe, patient(50, 3));
    assert_eq!(reason(&mut monitor).await, "no answer within 50ms");
    tokio::time::sleep(ms(300)).await;
    assert_eq!(inside.load(Ordering::SeqCst), 1, "the first one has not returned yet");
    assert!(!monitor.fitness().is_fit());
    drop(open);
    while !next(&mut monitor).await.is_fit() {}
}

#[tokio::test]
async fn a_command_that_hangs_is_given_up() {
    let mut monitor = Monitor::start(Probe::command("sleep", ["600"]), patient(50, 1));
    assert_eq!(reason(&mut monitor).await, "no answer within 50ms");
}

#[cfg(feature = "health-url")]
#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let mut monitor = Monitor::start(Probe::url(&url).unwrap(), patient(50, 1));
    assert_eq!(reason(&mut monitor).await, "no answer within 50ms");
}

#[tokio::test]
async fn a_reason_is_one_line_of_bounded_length() {
    let long = format!("  one\ntwo\u{1b}[31m{}", "x".repeat(1_000));
    let probe = Probe::function(move || std::future::ready(Err(long.clone())));
    let mut monitor = Monitor::start(probe, patient(60_000, 1));
    let reason = reason(&mut monitor).await;
    assert!(reason.starts_with("one two [31mxxx"), "{reason}");
    assert_eq!(reason.chars().count(), REASON_MAX);
    assert_eq!(plain(" \n "), "the probe failed without a reason");
}

#[tokio::test]
async fn a_monitor_that_is_dropped_ends_its_probe_and_says_that_nobody_is_fit() {
    let held = Arc::new(());
    let shared = Arc::clone(&held);
    let mut first = true;
    let probe = Probe::function(move || {
        let (held, passes) = (Arc::clone(&shared), std::mem::take(&mut first));
        async move {
            if !passes {
                pending::<()>().await;
            }
            drop(held);
            Ok(())
        }
    });
    let mut monitor = Monitor::start(probe, patient(1_000, 1_000));
    assert_eq!(next(&mut monitor).await, Fitness::Fit);
    let mut listener = monitor.watch();
    assert_eq!(*listener.borrow_and_update(), Fitness::Fit);
    drop(monitor);
    timeout(LONG, listener.changed()).await.expect("told").expect("a last word");
    assert_eq!(listener.borrow().reason(), Some("the monitor has ended"));
    let ended = async {
        while Arc::strong_count(&held) > 1 {
            tokio::time::sleep(ms(5)).await;
        }
    };
    timeout(LONG, ended).await.expect("the probe and its function are gone");
}

#[test]
fn after_its_runtime_is_gone_nobody_is_fit_and_nothing_changes_any_more() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut monitor = runtime.block_on(async {
        let mut monitor = Monitor::start(Probe::function(async || Ok(())), patient(60_000, 1));
        assert_eq!(next(&mut monitor).await, Fitness::Fit);
        monitor
    });
    drop(runtime);
    assert!(!monitor.fitness().is_fit());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        assert_eq!(next(&mut monitor).await.reason(), Some("the monitor has ended"));
        assert!(timeout(ms(50), monitor.changed()).await.is_err());
    });
}
