//! Notes when peers suspect and nominate somebody, from what they log.
//!
//! Assumes: all peers are in this process, and nobody else logs.
//! Promises: the time of a note is that of the event.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// What was logged.
#[derive(Clone, Debug, Default)]
struct Note {
    message: String,
    /// Who logged it, where that is said; else whom it is about.
    node: String,
    nominee: String,
}

/// All notes so far.
#[derive(Clone, Default)]
pub(crate) struct Witness {
    notes: Arc<Mutex<Vec<(Instant, Note)>>>,
}

impl Witness {
    /// Begins to listen, for all of this process.
    pub(crate) fn install() -> anyhow::Result<Witness> {
        let witness = Witness::default();
        tracing::subscriber::set_global_default(witness.clone())?;
        Ok(witness)
    }

    pub(crate) fn forget(&self) {
        self.notes().clear();
    }

    /// When the last of these came to know that this one was picked.
    pub(crate) fn all_nominated(&self, who: &[usize], whom: usize) -> anyhow::Result<Instant> {
        let whom = format!("Some(\"{whom}\")");
        let begun = Instant::now();
        loop {
            let notes = self.notes().clone();
            let first = |node: &usize| {
                let node = node.to_string();
                let fits = |(_, note): &&(Instant, Note)| {
                    note.message == "nominated" && note.node == node && note.nominee == whom
                };
                notes.iter().find(fits).map(|(at, _)| *at)
            };
            if let Some(all) = who.iter().map(first).collect::<Option<Vec<_>>>() {
                return all.into_iter().max().context("nobody to nominate");
            }
            anyhow::ensure!(begun.elapsed() < Duration::from_secs(20), "{whom}: {notes:#?}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// When somebody first took this one for dead.
    pub(crate) fn suspected(&self, whom: usize) -> anyhow::Result<Instant> {
        let whom = whom.to_string();
        let notes = self.notes();
        let fits = |(_, note): &&(Instant, Note)| {
            (note.message == "suspected" || note.message == "link lost") && note.node == whom
        };
        notes.iter().find(fits).map(|(at, _)| *at).context("nobody suspected it")
    }

    fn notes(&self) -> std::sync::MutexGuard<'_, Vec<(Instant, Note)>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Visit for Note {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let text = format!("{value:?}");
        match field.name() {
            "message" => self.message = text,
            "node" => self.node = text,
            "nominee" => self.nominee = text,
            _ => {}
        }
    }
}

impl Subscriber for Witness {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && metadata.target().starts_with("incumbent::peers")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let at = Instant::now();
        let mut note = Note::default();
        event.record(&mut note);
        self.notes().push((at, note));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
