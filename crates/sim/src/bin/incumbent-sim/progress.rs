//! How far a long run is: a bar on a terminal, a line now and then elsewhere.

use core::sync::atomic::{AtomicU64, Ordering};
use std::io::{IsTerminal as _, stderr};

use indicatif::{ProgressBar, ProgressStyle};

use crate::printer;

pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    what: &'static str,
    total: u64,
    done: AtomicU64,
}

impl Progress {
    pub(crate) fn new(what: &'static str, total: u64) -> Self {
        let style =
            "{msg} [{elapsed_precise}] {bar:40} {human_pos}/{human_len} {per_sec}, {eta} left";
        let bar = stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(total).with_message(what);
            // A template that cannot be read leaves the usual bar.
            ProgressStyle::with_template(style).map_or(bar.clone(), |style| bar.with_style(style))
        });
        Progress { bar, what, total, done: AtomicU64::new(0) }
    }

    /// One more is done; so many failed until now.
    pub(crate) fn step(&self, failed: u64) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(bar) = &self.bar {
            bar.inc(1);
            if failed > 0 {
                bar.set_message(format!("{}, {failed} broken", self.what));
            }
        } else if done.is_multiple_of((self.total / 10).max(1)) {
            let (what, total) = (self.what, self.total);
            printer::note(&format!("{what}: {done} of {total} worlds, {failed} broken"));
        }
    }

    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
