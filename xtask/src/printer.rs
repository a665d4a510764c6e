//! The one place that writes to the terminal.
//!
//! Assumes that nobody parses progress lines. Promises that lists go to standard output, where a
//! closed pipe is not an error, and all else to standard error, beside cargo's own messages.

#![expect(
    clippy::print_stderr,
    reason = "telling people what happens is its purpose; the macro lets a test capture it"
)]

use std::io::Write as _;

/// One line of a list: a name, then words about it.
pub(crate) fn row(name: &str, about: &str) {
    let _ = writeln!(std::io::stdout(), "{name:<10} {about}");
}

/// A line that says where the run is.
pub(crate) fn progress(line: &str) {
    eprintln!("==> {line}");
}

/// How many tests passed, alone on a line, for programs that read it.
pub(crate) fn total(passed: u64, failed: u64, ignored: u64) {
    let _ = writeln!(std::io::stdout(), "{passed} passed, {failed} failed, {ignored} skipped");
}

/// Something that the reader should know and that fails nothing.
pub(crate) fn warning(line: &str) {
    eprintln!("warning: {line}");
}

/// Why the run failed, the outermost reason first.
pub(crate) fn error(error: &anyhow::Error) {
    eprintln!("error: {error}");
    for cause in error.chain().skip(1) {
        eprintln!("  because: {cause}");
    }
}
