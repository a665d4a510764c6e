//! Reads what commands write, all the time, and tells if two of them were ever alive at once.
//!
//! Assumes: lines are in the file in the order in which they were written.
//! Promises: every fault that is told is one: an older command was alive after a newer one had
//! begun, whether it ran or was stopped; or a token went back.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::Signal;

use crate::troupe::send;
use crate::work::identity;

/// One run of a command, with everything that belongs to it.
#[derive(Clone, Debug)]
struct Life {
    who: String,
    name: String,
    token: u64,
    last: u64,
    living: Vec<String>,
}

/// Who works.
#[derive(Clone, Debug)]
pub(crate) struct Worker {
    pub(crate) name: String,
    pub(crate) pid: i32,
}

#[derive(Debug, Default)]
struct Notes {
    rest: String,
    lives: Vec<Life>,
    lines: usize,
    processes: BTreeSet<String>,
    fault: Option<String>,
}

/// What was seen in all.
#[derive(Debug)]
pub(crate) struct Summary {
    pub(crate) tokens: usize,
    lives: usize,
    processes: usize,
    lines: usize,
}

impl fmt::Display for Summary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { tokens, lives, processes, lines } = self;
        write!(out, "{tokens} tokens, {lives} commands, {processes} processes, {lines} lines")
    }
}

/// Someone who reads along.
pub(crate) struct Judge {
    notes: Arc<Mutex<Notes>>,
    is_over: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
}

impl Judge {
    pub(crate) fn watch(file: &Path) -> Judge {
        let (notes, is_over) = (Arc::<Mutex<Notes>>::default(), Arc::<AtomicBool>::default());
        let (its_notes, its_end, file) =
            (Arc::clone(&notes), Arc::clone(&is_over), file.to_owned());
        let reader = std::thread::spawn(move || read(&file, &its_notes, &its_end));
        Judge { notes, is_over, reader: Some(reader) }
    }

    /// What is wrong, if anything is.
    pub(crate) fn fault(&self) -> Option<String> {
        self.notes.lock().expect("notes").fault.clone()
    }

    /// The command that began last, if it is alive with all that belongs to it.
    pub(crate) fn worker(&self) -> Option<Worker> {
        let notes = self.notes.lock().expect("notes");
        let life = notes.lives.last().filter(|life| life.living.len() >= 3)?;
        let pid = pid_of(&life.who);
        (identity(pid).as_ref() == Some(&life.who)).then(|| Worker { name: life.name.clone(), pid })
    }

    /// Reads to the end.
    pub(crate) fn finish(&mut self) -> Summary {
        self.is_over.store(true, Ordering::Relaxed);
        self.reader.take().expect("asked once").join().expect("a reader");
        let notes = self.notes.lock().expect("notes");
        assert_eq!(notes.fault, None);
        let mut tokens: Vec<u64> = notes.lives.iter().map(|life| life.token).collect();
        tokens.dedup();
        let (tokens, lives) = (tokens.len(), notes.lives.len());
        Summary { tokens, lives, processes: notes.processes.len(), lines: notes.lines }
    }
}

impl Drop for Judge {
    /// Whoever should have been dead is killed, so that a run that failed leaves nobody behind.
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Ok(notes) = self.notes.lock() {
            let is_alive = |who: &&String| identity(pid_of(who)).as_ref() == Some(*who);
            for who in notes.processes.iter().filter(is_alive) {
                send(pid_of(who), Signal::KILL);
            }
        }
    }
}

fn read(path: &PathBuf, notes: &Mutex<Notes>, is_over: &AtomicBool) {
    let mut file = File::options().append(true).create(true).read(true).open(path).expect("a file");
    loop {
        let last = is_over.load(Ordering::Relaxed);
        let mut text = String::new();
        file.read_to_string(&mut text).expect("lines");
        notes.lock().expect("notes").take(&text);
        if last {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn pid_of(who: &str) -> i32 {
    who.split(':').next().and_then(|pid| pid.parse().ok()).expect("a process")
}

impl Notes {
    fn take(&mut self, text: &str) {
        let text = std::mem::take(&mut self.rest) + text;
        let end = text.rfind('\n').map_or(0, |at| at + 1);
        text[end..].clone_into(&mut self.rest);
        for line in text[..end].lines() {
            self.line(line);
        }
        self.look();
    }

    fn accuse(&mut self, fault: String) {
        self.fault.get_or_insert(fault);
    }

    fn line(&mut self, line: &str) {
        self.lines += 1;
        let words: Vec<&str> = line.split(' ').collect();
        let &[life, who, name, token, at] = words.as_slice() else {
            return self.accuse(format!("a line that nobody writes: {line:?}"));
        };
        let (token, at): (u64, u64) =
            (token.parse().expect("a token"), at.parse().expect("a time"));
        let place = self.lives.iter().rposition(|known| known.who == life);
        let place = place.unwrap_or_else(|| self.begin(life, name, token, at));
        let newest = self.lives.len() - 1;
        if place != newest {
            let fault = format!(
                "{who} of {:?} wrote at {at}, after {:?} had begun",
                self.lives[place], self.lives[newest]
            );
            return self.accuse(fault);
        }
        let life = &mut self.lives[place];
        life.last = life.last.max(at);
        if !life.living.iter().any(|known| known == who) {
            life.living.push(who.to_owned());
            self.processes.insert(who.to_owned());
        }
    }

    /// A command that was not heard of before.
    fn begin(&mut self, who: &str, name: &str, token: u64, at: u64) -> usize {
        let (who, name) = (who.to_owned(), name.to_owned());
        let life = Life { who, name, token, last: at, living: Vec::new() };
        if let Some(before) = self.lives.last().cloned() {
            let is_again = token == before.token && life.name == before.name;
            if token <= before.token && !is_again {
                self.accuse(format!("tokens went from {before:?} to {life:?}"));
            }
            if at <= before.last {
                self.accuse(format!("{life:?} began before {before:?} had ended"));
            }
        }
        self.lives.push(life);
        self.lives.len() - 1
    }

    /// Whoever belongs to an older command must be dead by now.
    fn look(&mut self) {
        let Some((newest, older)) = self.lives.split_last_mut() else {
            return;
        };
        let mut fault = None;
        for life in older {
            let alive = life.living.iter().find(|who| identity(pid_of(who)).as_ref() == Some(who));
            if let Some(who) = alive {
                fault = fault.or(Some(format!("{who} of {life:?} lives beside {newest:?}")));
            }
            life.living.clear();
        }
        newest.living.retain(|who| identity(pid_of(who)).as_ref() == Some(who));
        if let Some(fault) = fault {
            self.accuse(fault);
        }
    }
}
