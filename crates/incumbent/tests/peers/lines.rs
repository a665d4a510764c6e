//! What is said in the log, by everybody in this process.
//!
//! Assumes: whoever looks for a line knows something that is in no other test's: a port, a folder or
//! a name.
//! Promises: every line from INFO on, of whichever thread.

use std::io;
use std::sync::{Mutex, Once, PoisonError};

static PAGE: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct Page;

impl io::Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        PAGE.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Listens from now on.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let info = tracing_subscriber::fmt().with_max_level(tracing::Level::INFO);
        info.with_ansi(false).with_writer(|| Page).init();
    });
}

/// Every line with all of these words in it.
pub(crate) fn with(words: &[&str]) -> Vec<String> {
    let page = PAGE.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let text = String::from_utf8_lossy(&page);
    let fits = |line: &&str| words.iter().all(|word| line.contains(word));
    text.lines().filter(fits).map(ToOwned::to_owned).collect()
}
