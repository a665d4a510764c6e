//! The pipe from the supervisor to the guard: until when the command may run, or that it must stop.
//!
//! Assumes: both ends are of this version of the program.
//! Promises: the end of the pipe means that the supervisor is dead, however it died.

use std::io::{PipeReader, PipeWriter};
use std::os::fd::{AsRawFd, OwnedFd};

use anyhow::Context;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::net::unix::pipe;

/// One word of the supervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// The lease ends then: nanoseconds of the host's lease clock.
    Until(u64),
    /// Stop the command: ask first, then make it.
    Stop,
    /// Stop the command, but let it take until then if the lease goes on.
    Drain(u64),
    /// Make it stop at once.
    Kill,
}

/// The supervisor's end.
#[derive(Debug)]
pub(crate) struct Speaker {
    pipe: PipeWriter,
    /// Kept, so that what is said before the guard listens is not lost.
    _reader: PipeReader,
}

/// Makes both ends. The guard's is to be handed to it.
pub(crate) fn pipe() -> anyhow::Result<(Speaker, OwnedFd)> {
    let (reader, writer) = std::io::pipe().context("cannot make a pipe")?;
    let passage = passage(&reader).context("cannot copy the end of a pipe")?;
    let flags = rustix::fs::fcntl_getfl(&writer).context("cannot set up a pipe")?;
    rustix::fs::fcntl_setfl(&writer, flags | rustix::fs::OFlags::NONBLOCK)
        .context("cannot set up a pipe")?;
    Ok((Speaker { pipe: writer, _reader: reader }, passage))
}

/// What the guard is handed. The command inherits it too, and must not be able to read from it what is
/// meant for the guard: so it is only a handle, by which the guard opens the pipe anew.
#[cfg(target_os = "linux")]
fn passage(reader: &PipeReader) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::{Mode, OFlags, open};
    open(
        format!("/proc/self/fd/{}", reader.as_raw_fd()),
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
    )
}

/// Other kernels have no such handles.
#[cfg(not(target_os = "linux"))]
fn passage(reader: &PipeReader) -> rustix::io::Result<OwnedFd> {
    rustix::io::fcntl_dupfd_cloexec(reader, 0)
}

impl Speaker {
    /// Says a word. A guard that is gone does not listen; its end is noticed elsewhere.
    pub(crate) fn say(&mut self, word: Word) {
        let line = match word {
            Word::Until(until) => format!("until {until}\n"),
            Word::Stop => "stop\n".to_owned(),
            Word::Drain(until) => format!("drain {until}\n"),
            Word::Kill => "kill\n".to_owned(),
        };
        // A guard that does not read must not hold up its supervisor: what does not fit is not said.
        let _ = rustix::io::write(&self.pipe, line.as_bytes());
    }
}

/// The guard's end, in the guard.
#[derive(Debug)]
pub(crate) struct Listener {
    lines: Lines<BufReader<pipe::Receiver>>,
}

impl Listener {
    /// Opens the end that the supervisor passed under this number.
    pub(crate) fn open(number: u32) -> anyhow::Result<Self> {
        let receiver = pipe::OpenOptions::new()
            .open_receiver(format!("/dev/fd/{number}"))
            .context("the guard is started by `incumbent run` only")?;
        Ok(Listener { lines: BufReader::new(receiver).lines() })
    }

    /// The next word; `None` when the supervisor is dead. Can be given up and asked again.
    pub(crate) async fn hear(&mut self) -> Option<Word> {
        loop {
            let line = self.lines.next_line().await.ok()??;
            match line.split_once(' ') {
                Some(("until", nanos)) => {
                    if let Ok(nanos) = nanos.parse() {
                        return Some(Word::Until(nanos));
                    }
                }
                Some(("drain", nanos)) => {
                    if let Ok(nanos) = nanos.parse() {
                        return Some(Word::Drain(nanos));
                    }
                }
                None if line == "stop" => return Some(Word::Stop),
                None if line == "kill" => return Some(Word::Kill),
                _ => {}
            }
        }
    }
}
