//! Counts what happened over all cases: trouble that never came proves nothing.
//!
//! Assumes: the runner's usual number of cases. Promises: it names whatever never happened.

use std::collections::BTreeMap;

use incumbent_protocol::candidacy::Notice;

use crate::support::log::What;
use crate::support::world::World;

/// What must happen at least once in a run.
const EXPECTED: [&str; 16] = [
    "gained first",
    "gained released",
    "gained died",
    "gained expired",
    "gained own",
    "lost resigned",
    "lost ending",
    "lost expired",
    "lost deposed",
    "renewed",
    "unsure",
    "gave up",
    "came late",
    "crashed",
    "stopped",
    "clock doubted",
];

/// What must happen besides in a run of rounds.
const EXPECTED_IN_ROUNDS: [&str; 5] = ["joined", "evicted", "paced", "came", "buried"];

/// How often each thing happened.
#[derive(Debug, Default)]
pub(crate) struct Tally(BTreeMap<String, usize>);

impl Tally {
    pub(crate) fn count(&mut self, world: &World) {
        for entry in &world.log {
            if let Some(word) = word(&entry.what) {
                *self.0.entry(word).or_default() += 1;
            }
        }
    }

    pub(crate) fn assert_everything_happened(&self) {
        self.assert_happened(&EXPECTED);
    }

    pub(crate) fn assert_rounds_happened(&self) {
        self.assert_happened(&EXPECTED_IN_ROUNDS);
    }

    fn assert_happened(&self, words: &[&str]) {
        for word in words {
            assert!(self.0.contains_key(*word), "never happened: {word}; {self:?}");
        }
    }
}

/// Whether somebody began or ceased to lead.
pub(crate) fn is_change(what: &What) -> bool {
    let change = |word: String| word.starts_with("gained") || word.starts_with("lost");
    word(what).is_some_and(change)
}

fn word(what: &What) -> Option<String> {
    Some(match what {
        What::Told { notice, .. } => match notice {
            Notice::Gained { opening, .. } => format!("gained {opening}"),
            Notice::Lost { reason, .. } => format!("lost {reason}"),
            Notice::Renewed { .. } => "renewed".to_owned(),
            Notice::Unsure { .. } => "unsure".to_owned(),
            Notice::Joined { .. } => "joined".to_owned(),
            Notice::Evicted { .. } => "evicted".to_owned(),
            Notice::Paced { .. } => "paced".to_owned(),
            Notice::Member(news) if news.came => "came".to_owned(),
            Notice::Member(_) => "buried".to_owned(),
            Notice::Leader(_) | Notice::Rejected(_) | Notice::WentBack(_) => return None,
        },
        What::GaveUp(_) => "gave up".to_owned(),
        What::CameLate(_) => "came late".to_owned(),
        What::Crashed => "crashed".to_owned(),
        What::Stopped { .. } => "stopped".to_owned(),
        What::ClockDoubted => "clock doubted".to_owned(),
        What::Began | What::Asked(_) | What::WorkEnded(_) => return None,
    })
}
