//! The one place that writes to standard output and standard error.
//!
//! Assumes: a reader may go away at any time.
//! Promises: answers go to standard output and are written whole; everything else goes to standard
//! error. A reader of standard output that went away is reported as
//! [`std::io::ErrorKind::BrokenPipe`], which ends the program with success; one of standard error
//! is nobody's trouble.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use rustix::event::{PollFd, PollFlags, Timespec};
use serde::Serialize;

const AFTER_CHANGE: &str = "after a change";

/// Where all words of this program go.
#[derive(Debug)]
pub(crate) struct Printer {
    json: bool,
}

impl Printer {
    /// A printer for people, or for programs.
    pub(crate) const fn new(json: bool) -> Self {
        Printer { json }
    }

    /// Whether programs read the answers.
    pub(crate) const fn json(&self) -> bool {
        self.json
    }

    /// Whether a person looks at standard output, on a terminal that can erase.
    pub(crate) fn on_terminal(&self) -> bool {
        let moves = std::env::var_os("TERM").is_some_and(|kind| kind != "dumb");
        !self.json && moves && io::stdout().is_terminal()
    }

    /// One line, or several, to standard output.
    pub(crate) fn line(&self, text: impl Display) -> io::Result<()> {
        self.write(&format!("{text}\n"))
    }

    /// One JSON value on a line of its own to standard output.
    pub(crate) fn value(&self, value: &impl Serialize) -> io::Result<()> {
        self.line(serde_json::to_string(value)?)
    }

    /// Text as it is to standard output.
    #[expect(clippy::unused_self, reason = "whoever prints must hold the printer")]
    pub(crate) fn write(&self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// Whether anybody still reads standard output.
    #[expect(clippy::unused_self, reason = "whoever prints must hold the printer")]
    pub(crate) fn is_read(&self) -> bool {
        let out = io::stdout();
        let mut wait = [PollFd::new(&out, PollFlags::empty())];
        // A pipe without a reader is in error; nothing else that one prints to ever is.
        let looked = rustix::event::poll(&mut wait, Some(&Timespec::default()));
        looked.is_err() || !wait[0].revents().contains(PollFlags::ERR)
    }

    /// A page that the parser of the command line made, or what it has to complain about.
    pub(crate) fn usage(&self, error: &clap::Error) -> io::Result<()> {
        let text = error.render().to_string();
        match text.strip_prefix("error: ") {
            None => error.print(),
            Some(text) if self.json => {
                let retry = AFTER_CHANGE;
                self.event("", &Trouble { error: text.trim_end().to_owned(), retry });
                Ok(())
            }
            Some(text) => io::stderr().write_all(format!("incumbent: {text}").as_bytes()),
        }
    }

    /// Something that happened, to standard error: in words, or as one JSON object a line.
    pub(crate) fn event(&self, words: impl Display, value: &impl Serialize) {
        let line = match serde_json::to_string(value) {
            Ok(value) if self.json => format!("{value}\n"),
            _ => format!("incumbent: {words}\n"),
        };
        let _ = io::stderr().lock().write_all(line.as_bytes());
    }

    /// Asks a person, on standard error, and hears yes or no on standard input. Anything but yes is no.
    #[expect(clippy::unused_self, reason = "whoever prints must hold the printer")]
    pub(crate) fn asks(&self, words: impl Display, question: &str) -> io::Result<bool> {
        io::stderr().lock().write_all(format!("{words}\n{question} ").as_bytes())?;
        let mut answer = String::new();
        io::stdin().read_line(&mut answer)?;
        Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
    }

    /// Why the program fails, to standard error.
    pub(crate) fn error(&self, error: &anyhow::Error) {
        let trouble = Trouble::of(error);
        self.event(&trouble.error, &trouble);
    }
}

/// An error as programs read it.
#[derive(Debug, Serialize)]
struct Trouble {
    error: String,
    retry: &'static str,
}

impl Trouble {
    fn of(error: &anyhow::Error) -> Self {
        let retry = error.downcast_ref::<incumbent::Error>().map(incumbent::Error::retry);
        Trouble {
            error: words(error),
            retry: match retry {
                Some(incumbent::Retry::Later) => "later",
                Some(incumbent::Retry::AfterChange) | None => AFTER_CHANGE,
            },
        }
    }
}

/// An error and its causes, each said once.
fn words(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |told, cause| {
        let cause = cause.to_string();
        match told.is_empty() {
            true => cause,
            false if told.contains(&cause) => told,
            false => format!("{told}: {cause}"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn a_cause_that_was_told_is_not_told_again() {
        let cause = || io::Error::other("no space");
        let told = Err::<(), _>(cause()).context("cannot write: no space");
        assert_eq!(words(&told.expect_err("error")), "cannot write: no space");
        let untold = Err::<(), _>(cause()).context("cannot write");
        assert_eq!(words(&untold.expect_err("error")), "cannot write: no space");
    }
}
