//! Writing a history: one JSON object a line, appended.
//!
//! Assumes: several processes may append to one file, each whole lines at a time.
//! Promises: a history that cannot be written never changes who leads; the trouble is logged once.
//! It must lie on a disk that answers: a write that hangs holds up renewals, and so ends leaderships.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use incumbent_protocol::history::{Event, Line, VERSION};
use incumbent_protocol::identity::CandidateId;
use incumbent_protocol::time::Time;

use crate::clock;
use crate::error::Error;

/// Appends lines to a file; a buffer of whole lines leaves in one write.
#[derive(Debug)]
pub(crate) struct Writer {
    file: File,
    candidate: CandidateId,
    buffer: Vec<u8>,
    broken: bool,
}

impl Writer {
    pub(crate) fn open(path: &Path, candidate: CandidateId) -> Result<Self, Error> {
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(|error| {
            Error::History { path: path.to_owned(), problem: error.to_string() }
        })?;
        let mut writer = Writer { file, candidate, buffer: Vec::new(), broken: false };
        writer.write(Event::Opened {
            version: VERSION,
            clock: clock::name(),
            wall: clock::wall().as_micros(),
        });
        writer.flush();
        Ok(writer)
    }

    pub(crate) fn write(&mut self, event: Event) {
        self.write_at(clock::now(), event);
    }

    pub(crate) fn write_at(&mut self, at: Time, event: Event) {
        let line = Line { at, candidate: self.candidate.clone(), event };
        if serde_json::to_writer(&mut self.buffer, &line).is_ok() {
            self.buffer.push(b'\n');
        }
    }

    pub(crate) fn flush(&mut self) {
        if self.buffer.is_empty() {
            return;
        }
        let written = self.file.write_all(&self.buffer);
        self.buffer.clear();
        if let Err(error) = written
            && !std::mem::replace(&mut self.broken, true)
        {
            tracing::warn!(%error, "the history cannot be written; leadership is not affected");
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.write(Event::Closed);
        self.flush();
    }
}
