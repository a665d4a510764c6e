//! The end of what a command writes to standard error.
//!
//! Assumes: the command writes lines; the last one says most.
//! Promises: memory is bounded, the command never waits for room in the pipe, and nobody waits for
//! the end of the pipe, which a process that was left behind may keep open.

use std::convert::Infallible;
use std::future::pending;
use std::io::{self, PipeReader};
use std::os::fd::OwnedFd;

use tokio::net::unix::pipe::Receiver;

/// How many bytes are kept.
const KEPT: usize = 4_096;
/// How often the rest is read from at most: more than a pipe can hold.
const READS_MAX: usize = 1_024;

/// Reads a pipe and keeps the end.
pub(super) struct Tail {
    receiver: Receiver,
    kept: Vec<u8>,
}

impl Tail {
    /// Takes the reading end of a pipe.
    pub(super) fn new(reader: PipeReader) -> io::Result<Tail> {
        Ok(Tail { receiver: Receiver::from_owned_fd(OwnedFd::from(reader))?, kept: Vec::new() })
    }

    /// Reads on for as long as it is polled.
    pub(super) async fn follow(&mut self) -> Infallible {
        let mut room = [0; KEPT];
        while self.receiver.readable().await.is_ok() {
            match self.receiver.try_read(&mut room) {
                Ok(0) => break,
                Ok(count) => self.keep(&room[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => break,
            }
        }
        pending().await
    }

    /// The last line that is not blank, of all that was written so far.
    pub(super) fn last_line(&mut self) -> Option<String> {
        let mut room = [0; KEPT];
        for _ in 0..READS_MAX {
            // Past the runtime, which may not have heard yet that there is something to read.
            match rustix::io::read(&self.receiver, &mut room) {
                Ok(count) if count > 0 => self.keep(&room[..count]),
                _ => break,
            }
        }
        let text = String::from_utf8_lossy(&self.kept);
        text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
    }

    fn keep(&mut self, more: &[u8]) {
        self.kept.extend_from_slice(more);
        let surplus = self.kept.len().saturating_sub(KEPT);
        self.kept.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[tokio::test]
    async fn the_last_line_is_found_though_the_pipe_stays_open() {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut tail = Tail::new(reader).unwrap();
        assert_eq!(tail.last_line(), None);
        writer.write_all(b"first\nsecond \n\n  \n").unwrap();
        assert_eq!(tail.last_line().as_deref(), Some("second"));
    }

    #[tokio::test]
    async fn of_a_flood_only_the_end_is_kept() {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut tail = Tail::new(reader).unwrap();
        for _ in 0..100 {
            writer.write_all(&[b'x'; 1_000]).unwrap();
            tail.last_line();
        }
        writer.write_all(b"\nthe end").unwrap();
        assert_eq!(tail.last_line().as_deref(), Some("the end"));
        assert_eq!(tail.kept.len(), KEPT);
    }
}
