//! What is logged while a test runs.

use std::io;
use std::sync::{Arc, Mutex};

use tracing::subscriber::{DefaultGuard, set_default};

/// Warnings of this thread. Tests that use it run on one thread.
pub(super) struct Log {
    text: Text,
    _guard: DefaultGuard,
}

#[derive(Clone, Default)]
struct Text(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub(super) fn start() -> Log {
        let text = Text::default();
        let writer = text.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_max_level(tracing::Level::WARN)
            .with_writer(move || writer.clone())
            .finish();
        Log { text, _guard: set_default(subscriber) }
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let text = self.text.0.lock().expect("unpoisoned");
        String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
    }

    /// The lines that hold this.
    pub(super) fn with(&self, part: &str) -> Vec<String> {
        self.lines().into_iter().filter(|line| line.contains(part)).collect()
    }
}

impl io::Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("unpoisoned").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
