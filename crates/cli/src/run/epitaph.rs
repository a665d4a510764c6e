//! What the history of a leadership says of its work: that it began, and that it is dead.
//!
//! Assumes: the supervisor, who keeps the history, may be stopped or dead when the work ends; so
//! the guard writes these lines, on the clock that all processes of the host share.
//! If the guard is the one that is dead, the supervisor writes the last one, on behalf of the moment in which
//! it saw the end and not of the one in which it got around to it.
//! Promises: the first is stamped before the command is started, by whoever starts it; the last after
//! it was reaped. A second last one changes nothing: an audit takes the first, and notes a second one that
//! is late.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use incumbent::{CandidateId, Leadership, lease_clock_nanos};
use incumbent_protocol::history::{Event, Line};
use incumbent_protocol::time::Time;

/// A line that waits for its time, and the file that it belongs to.
#[derive(Clone, Debug)]
pub(crate) struct Epitaph {
    line: Line,
    file: PathBuf,
}

impl Epitaph {
    /// For the work under this leadership.
    pub(crate) fn of(leadership: &Leadership, candidate: &CandidateId, file: &Path) -> Self {
        let election = leadership.election().clone();
        let event = Event::WorkEnded { election, term: leadership.term() };
        let line = Line { at: Time::ZERO, candidate: candidate.clone(), event };
        Epitaph { line, file: file.to_owned() }
    }

    /// As the guard is given it.
    pub(crate) fn words(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string(&(&self.file, &self.line))?)
    }

    /// As the guard was given it.
    pub(crate) fn parse(words: &str) -> anyhow::Result<Self> {
        let (file, line) = serde_json::from_str(words)?;
        Ok(Epitaph { line, file })
    }

    /// The work is about to begin.
    pub(crate) fn birth(&self) -> Self {
        let mut birth = self.clone();
        if let Event::WorkEnded { election, term } = &self.line.event {
            birth.line.event = Event::WorkBegan { election: election.clone(), term: *term };
        }
        birth.stamp();
        birth
    }

    /// The work is dead now.
    pub(crate) fn stamp(&mut self) {
        self.line.at = Time::from_nanos(lease_clock_nanos());
    }

    /// Writes it. A history that cannot be written never stands in the way.
    pub(crate) fn write(&self) {
        let Ok(mut words) = serde_json::to_string(&self.line) else {
            return;
        };
        words.push('\n');
        let file = OpenOptions::new().append(true).open(&self.file);
        if let Err(error) = file.and_then(|mut file| file.write_all(words.as_bytes())) {
            tracing::warn!(%error, "the history cannot be written");
        }
    }
}
