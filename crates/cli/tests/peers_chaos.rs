//! Peers under chaos: real processes that elect one of them are killed, stopped and cut off from each
//! other in random order; never do two lead at once, and when all is well again somebody leads.
//!
//! Assumes: nothing else runs on their ports. `INCUMBENT_CHAOS_NODES`, `_VOTERS`, `_KILLS`, `_STOPS`,
//! `_PARTITIONS`, `_LEASE` (milliseconds), `_SEED` and `_SCHEME` say how much, and in which order.
//! Promises: every connection between two processes goes through a proxy of its own. The histories of
//! all of them are judged together. Nothing is asked to be fast.

#[path = "peers_chaos/blow.rs"]
mod blow;
#[path = "peers_chaos/stage.rs"]
mod stage;
#[expect(dead_code, reason = "other tests use the rest")]
mod troupe;

use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

use blow::{Blow, Plan};
use fastrand::Rng;
use incumbent_audit::Violation;
use stage::{Setting, Stage};

const PROGRAM: &str = env!("CARGO_BIN_EXE_incumbent");

/// What the environment says, or what is enough for a test of every day.
fn setting(name: &str, usual: u64) -> u64 {
    let name = format!("INCUMBENT_CHAOS_{name}");
    std::env::var(name).map_or(usual, |text| text.parse().expect("a number"))
}

#[test]
fn never_do_two_lead_by_ring_and_after_every_blow_somebody_does() {
    shake("ring");
}

#[test]
fn never_do_two_lead_by_bully_and_after_every_blow_somebody_does() {
    shake("bully");
}

#[test]
fn two_who_lead_because_their_lists_differ_are_found_by_the_judges() {
    let lease = Duration::from_secs(1);
    let mut stage = Stage::new(Setting { scheme: "ring", nodes: 2, voters: 2, lease, more: "" });
    stage.divide();
    let report = stage.judged();
    assert!(report.violations.iter().any(|it| it.property == "at_most_one_lease"), "{report}");
}

/// What the textbook does under a partition, and why a majority has to ratify.
#[test]
fn two_who_lead_because_nobody_ratifies_are_found_by_the_judges() {
    let lease = Duration::from_secs(1);
    let more = "&unratified=true";
    let mut stage = Stage::new(Setting { scheme: "bully", nodes: 3, voters: 3, lease, more });
    let parted = stage.behead();
    let report = stage.judged();
    let two = |it: &Violation| it.property == "at_most_one_lease" && it.at.as_nanos() > parted;
    assert!(report.violations.iter().any(two), "{report}");
}

fn shake(scheme: &'static str) {
    if std::env::var("INCUMBENT_CHAOS_SCHEME").is_ok_and(|only| only != scheme) {
        return;
    }
    let nodes = usize::try_from(setting("NODES", 3)).expect("small");
    let plan = Plan {
        kills: setting("KILLS", 3),
        stops: setting("STOPS", 2),
        partitions: setting("PARTITIONS", 3),
    };
    let seed = setting("SEED", 1);
    let lease = Duration::from_millis(setting("LEASE", 1_500));
    // All of them, unless it says how many.
    let voters = usize::try_from(setting("VOTERS", 0)).expect("small");
    let voters = if voters == 0 { nodes } else { voters.min(nodes) };
    let mut stage = Stage::new(Setting { scheme, nodes, voters, lease, more: "" });
    let mut random = Rng::with_seed(seed);
    let mut tally = BTreeMap::<Blow, u64>::new();
    stage.settle();
    let blows = plan.draw(&mut random, voters);
    let all = blows.len();
    for (round, blow) in blows.into_iter().enumerate() {
        stage.strike(&mut random, blow);
        *tally.entry(blow).or_default() += 1;
        if round % 50 == 49 {
            let report = stage.judged();
            assert!(report.is_clean(), "seed {seed}, round {round}: {report}");
            say(&format!("{scheme}: {} of {all} blows, {} terms", round + 1, report.terms));
        }
    }
    let report = stage.judged();
    let mut times = std::mem::take(&mut stage.recoveries);
    times.sort_unstable();
    let at = |share: usize| times.get((times.len().max(1) - 1) * share / 100);
    say(&format!(
        "{scheme}, {nodes} nodes of which {voters} vote, lease {lease:?}, seed {seed}: {tally:?}\n\
         from a blow until everybody is back and somebody works: median {:?}, worst {:?}\n{report}",
        at(50),
        at(100)
    ));
    let unseated = tally.iter().filter(|(blow, _)| blow.unseats()).map(|(_, count)| count);
    assert!(report.terms as u64 > unseated.sum(), "nothing ever changed: {report}");
    assert!(report.is_clean(), "seed {seed}: {report}\nkept in {}", stage.keep().display());
}

fn say(text: &str) {
    writeln!(std::io::stdout(), "{text}").expect("somebody who reads");
}
