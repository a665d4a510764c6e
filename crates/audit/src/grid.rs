//! A table that grows as it is used: one row per election, one column per candidate or clock.

use super::fact::{Clock, Contest, Who};

#[derive(Debug)]
pub(super) struct Grid<T> {
    rows: Vec<Vec<T>>,
}

impl<T> Default for Grid<T> {
    fn default() -> Self {
        Grid { rows: Vec::new() }
    }
}

/// What columns a grid has.
pub(super) trait Column {
    fn column(self) -> usize;
}

impl Column for Who {
    fn column(self) -> usize {
        self.0
    }
}

impl Column for Clock {
    fn column(self) -> usize {
        self.0
    }
}

impl<T: Default> Grid<T> {
    /// The cell, made on first use.
    pub(super) fn at(&mut self, contest: Contest, column: impl Column) -> &mut T {
        let column = column.column();
        let row = self.row(contest);
        if row.len() <= column {
            row.resize_with(column + 1, T::default);
        }
        &mut row[column]
    }

    /// All cells of an election.
    pub(super) fn row(&mut self, contest: Contest) -> &mut Vec<T> {
        if self.rows.len() <= contest.0 {
            self.rows.resize_with(contest.0 + 1, Vec::new);
        }
        &mut self.rows[contest.0]
    }

    /// Row by row.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[T]> {
        self.rows.iter().map(Vec::as_slice)
    }

    /// All cells with their places.
    pub(super) fn cells(&mut self) -> impl Iterator<Item = (Contest, usize, &mut T)> {
        self.rows.iter_mut().enumerate().flat_map(|(row, cells)| {
            cells.iter_mut().enumerate().map(move |(column, cell)| (Contest(row), column, cell))
        })
    }

    /// The same column of every election.
    pub(super) fn column(
        &mut self,
        column: impl Column,
    ) -> impl Iterator<Item = (Contest, &mut T)> {
        let column = column.column();
        self.rows
            .iter_mut()
            .enumerate()
            .filter_map(move |(row, cells)| Some((Contest(row), cells.get_mut(column)?)))
    }
}
