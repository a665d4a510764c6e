//! The user's own table, in the database that also keeps the elections.
//!
//! Assumes: the world calls at the instant of a commit.
//! Promises: rows stay in the order of their commits; a rollback takes away the last of them
//! together with the elections' last writes, and never others.

use crate::clock::{At, Span};

/// What fenced transactions have written.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// When each row was committed, by place.
    rows: Vec<At>,
}

impl Table {
    /// Keeps a row; returns its place, counted from one.
    pub(crate) fn keep(&mut self, at: At) -> u64 {
        self.rows.push(at);
        self.position()
    }

    /// The last place.
    pub(crate) fn position(&self) -> u64 {
        self.rows.len() as u64
    }

    /// Loses the rows of the last while.
    pub(super) fn roll_back(&mut self, at: At, by: Span) {
        while self.rows.pop_if(|then| *then + by > at).is_some() {}
    }

    /// Loses everything.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rollback_takes_the_last_rows_and_their_places_with_them() {
        let mut table = Table::default();
        assert_eq!([10, 20, 30].map(|at| table.keep(at)), [1, 2, 3]);
        table.roll_back(35, 20);
        assert_eq!(table.position(), 1);
        assert_eq!(table.keep(40), 2);
        table.clear();
        assert_eq!(table.position(), 0);
    }
}
