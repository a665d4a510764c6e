//! Columns that line up.
//!
//! Assumes: one cell is one line of text.
//! Promises: each column is as wide as its widest cell, and no line ends in spaces.

use std::fmt::{self, Display};

/// A table with a head.
#[derive(Debug)]
pub(crate) struct Table<const COLUMNS: usize> {
    rows: Vec<[String; COLUMNS]>,
}

impl<const COLUMNS: usize> Table<COLUMNS> {
    /// A table that has a head only.
    pub(crate) fn new(head: [&str; COLUMNS]) -> Self {
        Table { rows: vec![head.map(str::to_owned)] }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: [String; COLUMNS]) {
        self.rows.push(cells);
    }
}

impl<const COLUMNS: usize> Display for Table<COLUMNS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wide = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max();
        let widths: [usize; COLUMNS] = std::array::from_fn(|column| wide(column).unwrap_or(0));
        for (at, row) in self.rows.iter().enumerate() {
            let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
            let line = cells.collect::<Vec<_>>().join("  ");
            let end = if at + 1 == self.rows.len() { "" } else { "\n" };
            write!(f, "{}{end}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_lines_end_where_their_text_does() {
        let mut table = Table::new(["NAME", "AGE"]);
        table.row(["alexandra".into(), "3".into()]);
        table.row(["bo".into(), String::new()]);
        assert_eq!(table.to_string(), "NAME       AGE\nalexandra  3\nbo");
    }
}
