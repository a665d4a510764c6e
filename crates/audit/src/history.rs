//! Histories, read back: one JSON object a line, from one process or many.
//!
//! Assumes: each file was written by this project, and only its last line, or the last before a
//! restart, can be torn.
//! Promises: lines of one clock come out in the order of their stamps; whatever cannot be read is
//! an error that names the file and the line, except for torn lines, which are counted.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use incumbent_protocol::history::{Event, Line, VERSION};
use incumbent_protocol::identity::CandidateId;
use incumbent_protocol::time::Time;
use serde::Deserialize;
use thiserror::Error;

/// What one or several processes wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// All lines; those of one clock in the order of their stamps.
    pub lines: Vec<Line>,
    /// How many lines were cut short, as those of killed processes are.
    pub torn: usize,
    /// Where each line stands, if they were read from files.
    pub(crate) places: Vec<Place>,
    pub(crate) files: Vec<String>,
}

/// A line of a file: the number of the file, and of the line in it, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    file: usize,
    line: usize,
}

/// Why a history could not be read. *Retry:* with other files.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// The file could not be opened or read.
    #[error("{}: {cause}", file.display())]
    Unreadable {
        /// Which file.
        file: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// There is nothing to judge in the files.
    #[error("{files}: nothing to judge: no line tells of an election")]
    Empty {
        /// Which files.
        files: String,
    },
    /// A line is not one of ours.
    #[error("{file}:{line}: not a line of a history: {problem}")]
    Foreign {
        /// Which file.
        file: String,
        /// Which line, counted from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A later version of this project wrote it.
    #[error(
        "{file}:{line}: written in version {found} of the format, this program reads up to {VERSION}: use a newer one"
    )]
    Newer {
        /// Which file.
        file: String,
        /// Which line, counted from 1.
        line: usize,
        /// The version that it names.
        found: u32,
    },
    /// A candidate's lines do not begin with a header, so that nobody can tell what clock they
    /// mean.
    #[error("{file}:{line}: {candidate} wrote this before it wrote an opening line")]
    Unopened {
        /// Which file.
        file: String,
        /// Which line, counted from 1.
        line: usize,
        /// Whose line.
        candidate: CandidateId,
    },
    /// A candidate names two clocks, which no process has: its overlaps with others could not be found.
    #[error("{place}: {candidate} names the clock {clocks}: the file was changed")]
    TwoClocks {
        /// Which file and line.
        place: String,
        /// Whose line.
        candidate: CandidateId,
        /// Both, and where the other one is named.
        clocks: String,
    },
    /// The stamps of a candidate go back, which no clock of ours does: overlaps cannot be found.
    #[error(
        "{file}:{line}: {candidate} stamped this {at}, before {before} of an earlier line: the file was changed, or the \
         clock is broken"
    )]
    Backwards {
        /// Which file.
        file: String,
        /// Which line, counted from 1.
        line: usize,
        /// Whose line.
        candidate: CandidateId,
        /// Its stamp.
        at: Time,
        /// The stamp that it must not be before.
        before: Time,
    },
}

impl History {
    /// Reads files and merges them.
    pub fn read(paths: &[impl AsRef<Path>]) -> Result<History, HistoryError> {
        let mut history = History::default();
        let mut lines = Vec::new();
        for path in paths {
            let path = path.as_ref();
            let bytes = fs::read(path)
                .map_err(|cause| HistoryError::Unreadable { file: path.to_owned(), cause })?;
            let name = path.display().to_string();
            let mut reader = Reader::new(&name);
            reader.take(&String::from_utf8_lossy(&bytes))?;
            history.torn += reader.torn;
            history.gather(&name, reader.lines, &mut lines);
        }
        history.merged(lines)
    }

    /// Reads a text; `name` is what errors call it.
    pub fn parse(name: &str, text: &str) -> Result<History, HistoryError> {
        let mut reader = Reader::new(name);
        reader.take(text)?;
        let mut history = History { torn: reader.torn, ..History::default() };
        let mut lines = Vec::new();
        history.gather(name, reader.lines, &mut lines);
        history.merged(lines)
    }

    /// Takes lines that are at hand, in any order across candidates. Lines with equal stamps keep
    /// their order.
    pub fn from_lines(mut lines: Vec<Line>) -> History {
        lines.sort_by_key(|line| line.at);
        History { lines, ..History::default() }
    }

    /// Notes where the lines of one file stand.
    fn gather(&mut self, name: &str, read: Vec<(usize, Line)>, lines: &mut Vec<(Place, Line)>) {
        let file = self.files.len();
        self.files.push(name.to_owned());
        lines.extend(read.into_iter().map(|(line, read)| (Place { file, line }, read)));
    }

    /// Brings lines into the order of their stamps.
    fn merged(mut self, mut lines: Vec<(Place, Line)>) -> Result<History, HistoryError> {
        lines.sort_by_key(|(_, line)| line.at);
        (self.places, self.lines) = lines.into_iter().unzip();
        let mut clocks: BTreeMap<&CandidateId, (&String, u64)> = BTreeMap::new();
        for (number, Line { candidate, event, .. }) in (1..).zip(&self.lines) {
            let Event::Opened { clock, .. } = event else { continue };
            let &mut (before, first) = clocks.entry(candidate).or_insert((clock, number));
            if before != clock {
                let place = |line| self.place(line).unwrap_or_default();
                return Err(HistoryError::TwoClocks {
                    place: place(number),
                    candidate: candidate.clone(),
                    clocks: format!("{clock:?}, and {before:?} in {}", place(first)),
                });
            }
        }
        Ok(self)
    }

    /// Where a line stands, counted from 1 in the order of [`lines`](History::lines), as file and line.
    pub fn place(&self, line: u64) -> Option<String> {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        let place = self.places.get(index)?;
        Some(format!("{}:{}", self.files[place.file], place.line))
    }

    /// The files in which nothing happens: no candidate did more than to open and close them.
    pub fn idle(&self) -> Vec<&str> {
        let mut idle = vec![true; self.files.len()];
        for (place, line) in self.places.iter().zip(&self.lines) {
            idle[place.file] &= matches!(line.event, Event::Opened { .. } | Event::Closed);
        }
        let idle = self.files.iter().zip(idle).filter(|(_, idle)| *idle);
        idle.map(|(file, _)| file.as_str()).collect()
    }

    /// The history as text, one JSON object a line.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            // A line holds nothing but strings, numbers and names, all of which JSON can carry.
            text.push_str(&serde_json::to_string(line).unwrap_or_default());
            text.push('\n');
        }
        text
    }
}

/// Reads one text from top to bottom.
struct Reader<'a> {
    name: &'a str,
    /// With their numbers, counted from 1.
    lines: Vec<(usize, Line)>,
    torn: usize,
    opened: BTreeMap<CandidateId, Since>,
}

/// The stamps of a candidate that its later lines must not be before.
#[derive(Clone, Copy)]
struct Since {
    opened: Time,
    /// Of the last line that was stamped as it was written.
    last: Time,
}

/// As much of a line as every version will have.
#[derive(Deserialize)]
struct Header {
    event: String,
    version: Option<u32>,
}

impl<'a> Reader<'a> {
    fn new(name: &'a str) -> Self {
        Reader { name, lines: Vec::new(), torn: 0, opened: BTreeMap::new() }
    }

    fn take(&mut self, text: &str) -> Result<(), HistoryError> {
        let mut rest = text.split('\n').enumerate().peekable();
        while let Some((index, line)) = rest.next() {
            if line.trim().is_empty() {
                continue;
            }
            let next = rest.peek().map(|&(_, next)| next);
            self.take_line(index + 1, line, next)?;
        }
        Ok(())
    }

    fn take_line(
        &mut self,
        number: usize,
        text: &str,
        next: Option<&str>,
    ) -> Result<(), HistoryError> {
        self.refuse_newer(number, text)?;
        match serde_json::from_str::<Line>(text) {
            Ok(line) => self.keep(number, line),
            Err(problem) => {
                // A killed process leaves half a line. It is the last one, or what follows is a
                // restarted process's first, either on a line of its own or glued to the half.
                let ours = text.starts_with('{');
                let ends = next.is_none_or(is_opening);
                let glued = text.rfind("{\"at\"").filter(|&at| at > 0);
                let glued = glued.map(|at| &text[at..]).filter(|rest| is_opening(rest));
                if !ours || !(ends || glued.is_some()) {
                    return Err(self.foreign(number, &problem));
                }
                self.torn += 1;
                glued.map_or(Ok(()), |rest| self.take_line(number, rest, next))
            }
        }
    }

    fn keep(&mut self, number: usize, line: Line) -> Result<(), HistoryError> {
        if matches!(line.event, Event::Opened { .. }) {
            // One that opens anew in the same file goes on from where it was.
            let last = self.opened.get(&line.candidate).map(|since| since.last);
            if let Some(before) = last.filter(|last| line.at < *last) {
                let (file, Line { at, candidate, .. }) = (self.name.to_owned(), line);
                return Err(HistoryError::Backwards { file, line: number, candidate, at, before });
            }
            let since = Since { opened: line.at, last: line.at };
            self.opened.insert(line.candidate.clone(), since);
            self.lines.push((number, line));
            return Ok(());
        }
        let file = self.name.to_owned();
        let Some(since) = self.opened.get_mut(&line.candidate) else {
            return Err(HistoryError::Unopened { file, line: number, candidate: line.candidate });
        };
        let in_turn = is_in_turn(&line.event);
        let before = if in_turn { since.last } else { since.opened };
        if line.at < before {
            let Line { at, candidate, .. } = line;
            return Err(HistoryError::Backwards { file, line: number, candidate, at, before });
        }
        if in_turn {
            since.last = line.at;
        }
        self.lines.push((number, line));
        Ok(())
    }

    /// A newer format may hold lines that this program cannot read at all, so the version is looked
    /// for first.
    fn refuse_newer(&self, line: usize, text: &str) -> Result<(), HistoryError> {
        if !text.contains("\"opened\"") {
            return Ok(());
        }
        match serde_json::from_str::<Header>(text) {
            Ok(Header { event, version: Some(found) }) if event == "opened" && found > VERSION => {
                Err(HistoryError::Newer { file: self.name.to_owned(), line, found })
            }
            _ => Ok(()),
        }
    }

    fn foreign(&self, line: usize, problem: &serde_json::Error) -> HistoryError {
        HistoryError::Foreign { file: self.name.to_owned(), line, problem: problem.to_string() }
    }
}

/// Whether a candidate stamps it as it writes it. Work is stamped when it begins and ends, often by
/// another process, and marks are written by somebody else.
const fn is_in_turn(event: &Event) -> bool {
    !matches!(
        event,
        Event::WorkBegan { .. }
            | Event::WorkEnded { .. }
            | Event::Killed
            | Event::Paused
            | Event::Resumed
    )
}

fn is_opening(text: &str) -> bool {
    serde_json::from_str::<Header>(text).is_ok_and(|header| header.event == "opened")
}

#[cfg(test)]
#[path = "history_test.rs"]
mod tests;
