//! Counts the rows that the database driver reports.
//!
//! Assumes: whoever is not measured runs on threads that are called [`ASIDE`], or reports nothing.
//! Promises: every row of every statement of the measured candidate is counted once.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

/// The name of threads whose statements do not count.
pub(crate) const ASIDE: &str = "aside";

/// What was reported so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counter {
    returned: Arc<AtomicU64>,
    changed: Arc<AtomicU64>,
}

impl Counter {
    /// Counts from now on.
    pub(crate) fn install() -> anyhow::Result<Counter> {
        let counter = Counter::default();
        let subscriber = tracing_subscriber::registry().with(counter.clone());
        tracing::subscriber::set_global_default(subscriber)?;
        Ok(counter)
    }

    /// Rows that were returned, and rows that were changed.
    pub(crate) fn rows(&self) -> (u64, u64) {
        (self.returned.load(Ordering::SeqCst), self.changed.load(Ordering::SeqCst))
    }
}

impl<S: Subscriber> Layer<S> for Counter {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let aside = std::thread::current().name() == Some(ASIDE);
        if event.metadata().target() == "sqlx::query" && !aside {
            let mut rows = Rows::default();
            event.record(&mut rows);
            self.returned.fetch_add(rows.returned, Ordering::SeqCst);
            self.changed.fetch_add(rows.changed(), Ordering::SeqCst);
        }
    }
}

/// What one event says.
#[derive(Debug, Default)]
struct Rows {
    returned: u64,
    affected: u64,
    /// The first words of the statement, or of the first of several.
    summary: String,
}

impl Rows {
    /// To PostgreSQL a row that is returned is affected too. SQLite says of whatever changes nothing
    /// what the statement before it changed.
    fn changed(&self) -> u64 {
        if self.summary.starts_with("BEGIN ISOLATION") {
            return self.affected.saturating_sub(self.returned);
        }
        let nothing = ["SELECT", "BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"];
        if nothing.iter().any(|word| self.summary.starts_with(word)) { 0 } else { self.affected }
    }
}

impl Visit for Rows {
    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            "rows_returned" => self.returned = value,
            "rows_affected" => self.affected = value,
            _ => {}
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "summary" {
            value.clone_into(&mut self.summary);
        }
    }

    fn record_debug(&mut self, _field: &Field, _value: &dyn fmt::Debug) {}
}
