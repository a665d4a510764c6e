//! Writing to the terminal: results to standard output, everything else to standard error.

use std::io::{self, Write as _};

/// A line of the result. Whoever stopped reading has seen enough.
pub(crate) fn line(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{text}");
}

/// Many lines of the result.
pub(crate) fn text(text: &str) {
    let _ = io::stdout().lock().write_all(text.as_bytes());
}

/// Something to know meanwhile.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Why a command could not be carried out.
pub(crate) fn error(error: &anyhow::Error) {
    note(&format!("error: {error:#}"));
}
