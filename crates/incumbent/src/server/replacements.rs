//! What to say when another server took the place of the one before.
//!
//! Assumes: a promotion or a restore is rare; servers that take each other's place again and again are written to at
//! the same time.
//! Promises: each is said once, and not again before a quiet minute.

use std::time::Duration;

use incumbent_protocol::time::Time;

/// Replacements that are closer together than this belong to one story.
const QUIET: Duration = Duration::from_mins(1);

/// So many of them are no promotion any more.
const MANY: u32 = 3;

/// What to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Telling {
    /// That a server was replaced.
    Replaced,
    /// That several are written to.
    InTurns,
    /// It was said already.
    Nothing,
}

/// Replacements so far.
#[derive(Debug, Default)]
pub(super) struct Replacements {
    last: Option<Time>,
    /// In a row, without a quiet minute.
    row: u32,
}

impl Replacements {
    pub(super) fn count(&mut self, now: Time) -> Telling {
        let goes_on = self.last.is_some_and(|last| now.since(last) < QUIET);
        self.row = if goes_on { self.row.saturating_add(1) } else { 1 };
        self.last = Some(now);
        match self.row {
            1 => Telling::Replaced,
            MANY => Telling::InTurns,
            _ => Telling::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_that_take_turns_are_told_of_once_until_a_quiet_minute() {
        let (mut replacements, mut now) = (Replacements::default(), Time::from_nanos(0));
        let mut told = Vec::new();
        for _ in 0..1_000 {
            told.push(replacements.count(now));
            now = now + Duration::from_millis(50);
        }
        let warnings = told.iter().filter(|telling| **telling != Telling::Nothing);
        assert_eq!(warnings.collect::<Vec<_>>(), [&Telling::Replaced, &Telling::InTurns]);
        assert_eq!(replacements.count(now + QUIET), Telling::Replaced);
    }
}
