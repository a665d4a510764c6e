//! What operators put in force and lift again, as seen by one who looks on.
//!
//! Assumes: a look a second; what was put in force and lifted between two looks is not told.
//! Promises: every difference between two looks is told once; a look that fails tells nothing, and the
//! next one makes up for it.

use std::time::Duration;

use incumbent::{Bar, Controls, Election};
use tokio::time::{Instant, sleep_until};

use super::line::Event;
use crate::status::controls::in_force;

/// How often to look.
const EVERY: Duration = Duration::from_secs(1);

/// Hears of orders that stay in force.
#[derive(Debug)]
pub(super) struct Ear<'a> {
    election: &'a Election,
    next: Instant,
    last: Option<Controls>,
}

impl<'a> Ear<'a> {
    pub(super) fn new(election: &'a Election) -> Self {
        Ear { election, next: Instant::now(), last: None }
    }

    /// What changed since the last look, once it is time to look again. Can be given up at any time.
    pub(super) async fn listen(&mut self) -> Option<Event> {
        sleep_until(self.next).await;
        let found = self.election.status().await;
        self.next = Instant::now() + EVERY;
        let controls = in_force(&found.ok()?);
        let last = self.last.replace(controls.clone()).unwrap_or_default();
        let words = changes(&last, &controls);
        (!words.is_empty()).then(|| Event::Controls { controls, words: words.join("; ") })
    }
}

/// Every difference, in words.
fn changes(last: &Controls, now: &Controls) -> Vec<String> {
    let mut words = Vec::new();
    match (&last.paused, &now.paused) {
        (None, Some(by)) => words.push(format!("paused {by}")),
        (Some(_), None) => words.push("not paused any more".to_owned()),
        _ => {}
    }
    let is_in = |bar: &Bar, controls: &Controls| {
        controls.bars.iter().any(|known| known.name == bar.name && known.until == bar.until)
    };
    for bar in now.bars.iter().filter(|bar| !is_in(bar, last)) {
        let what = if bar.until.is_some() { "held off" } else { "cordoned" };
        words.push(format!("{} is {what} {}", bar.name, bar.by));
    }
    let named = |bar: &Bar| now.bars.iter().any(|known| known.name == bar.name);
    for bar in last.bars.iter().filter(|bar| !named(bar)) {
        words.push(format!("{} may win again", bar.name));
    }
    if let Some(transfer) = now.transfer.as_ref().filter(|_| now.transfer != last.transfer) {
        words.push(format!("the leader is asked to hand over to {} {}", transfer.to, transfer.by));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use incumbent::{CandidateName, Mandate, StoreTime};

    #[test]
    fn each_difference_is_told_once() {
        let by = Mandate { at: StoreTime::default(), actor: "ann".into(), reason: None };
        let name = CandidateName::new("bob").expect("name");
        let calm = Controls::default();
        let bar = Bar { name, until: None, by: by.clone() };
        let busy = Controls { paused: Some(Box::new(by)), bars: vec![bar], transfer: None };
        let told = ["paused by order of ann", "bob is cordoned by order of ann"];
        assert_eq!(changes(&calm, &busy), told);
        assert_eq!(changes(&busy, &busy), Vec::<String>::new());
        assert_eq!(changes(&busy, &calm), ["not paused any more", "bob may win again"]);
    }
}
