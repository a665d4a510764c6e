//! What is shown of the story: a table that moves on a terminal, plain lines elsewhere, nothing to
//! programs.
//!
//! Assumes: a terminal understands the usual codes for moving up and erasing.
//! Promises: lines that were told stay; only the table below them is drawn again.

use std::io;
use std::time::Instant;

use incumbent::Status;

use super::cast::{Cast, NAMES};
use crate::printer::Printer;
use crate::span;
use crate::table::Table;

/// What is shown.
#[derive(Debug)]
pub(super) struct View<'a> {
    printer: &'a Printer,
    began: Instant,
    table: String,
}

impl<'a> View<'a> {
    pub(super) fn new(printer: &'a Printer) -> Self {
        View { printer, began: Instant::now(), table: String::new() }
    }

    /// Whether people see it move.
    pub(super) fn is_live(&self) -> bool {
        self.printer.on_terminal()
    }

    /// Tells what happened.
    pub(super) fn tell(&mut self, words: &str) -> io::Result<()> {
        if self.printer.json() {
            return Ok(());
        }
        let seconds = self.began.elapsed().as_secs_f64();
        let line = format!("{seconds:6.2} s  {words}\n");
        let text = format!("{}{line}{}", self.erase(), self.table);
        self.printer.write(&text)
    }

    /// Draws the table again.
    pub(super) fn draw(&mut self, cast: &Cast, status: Option<&Status>) -> io::Result<()> {
        let erase = self.erase();
        self.table = format!("\n{}\n", table(cast, status));
        self.printer.write(&format!("{erase}{}", self.table))
    }

    fn erase(&self) -> String {
        match self.table.lines().count() {
            0 => String::new(),
            lines => format!("\x1b[{lines}A\x1b[J"),
        }
    }
}

impl Drop for View<'_> {
    fn drop(&mut self) {
        // What follows is told below the lines, not below an old table.
        let _ = self.printer.write(&self.erase());
    }
}

fn table(cast: &Cast, status: Option<&Status>) -> Table<4> {
    let mut table = Table::new(["CANDIDATE", "STANDING", "TERM", "LEASE LEFT"]);
    let leader = status.and_then(Status::leader);
    for (who, name) in NAMES.into_iter().enumerate() {
        let leads = leader.filter(|leader| leader.id.name.as_str() == name);
        let standing = match (leads, cast.present(who)) {
            (Some(_), _) => "leading",
            (None, Some(life)) if !life.is_gone => "following",
            _ => "gone",
        };
        let left = leads.and(status).map(|status| span::show(status.remaining()));
        let term = leads.map(|leader| leader.term.to_string());
        table.row([
            name.to_owned(),
            standing.to_owned(),
            term.unwrap_or_default(),
            left.unwrap_or_default(),
        ]);
    }
    table
}
