//! Bytes on the wire: how messages are cut, limited and versioned.
//!
//! On the wire stand frames: a length of two bytes, big-endian, and that many bytes, one sealed
//! chunk. An opened chunk is a flag (1 on the last chunk of a message, else 0) and a part of the
//! message. A message is the version and a body in postcard's encoding.
//!
//! Assumes: nothing; bytes come from strangers.
//! Promises: whatever comes in is a message or an error; no more is kept than the limit says, and
//! memory grows only as bytes arrive, not as lengths announce. Every message has one encoding into
//! chunks: all but the last are full.

use std::io;

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Longest sealed chunk: what two bytes can count.
pub(crate) const FRAME_MAX: usize = 65_535;

/// How much longer sealing makes a chunk.
pub(crate) const SEAL: usize = 16;

/// How much of a message a full chunk holds.
pub(crate) const CHUNK: usize = FRAME_MAX - SEAL - 1;

const MORE: u8 = 0;
const LAST: u8 = 1;

/// Bytes that are no message. *Standing:* unchanged. *Retry:* on another connection only.
#[derive(Debug, Error)]
pub(crate) enum FrameError {
    /// Between two frames.
    #[error("the other side closed the connection")]
    Closed,
    /// Within a frame.
    #[error("the connection ended in the middle of a frame")]
    Truncated,
    /// The length in front of a frame.
    #[error("a frame of {length} bytes, where 1 to {limit} are allowed")]
    Length {
        /// What stood in front.
        length: usize,
        /// The most that is allowed there.
        limit: usize,
    },
    /// A chunk that says neither that it is the last nor that it is not, or is empty, or is not
    /// full and not the last.
    #[error("a chunk that no node writes")]
    Chunk,
    /// All chunks of a message together.
    #[error("a message of more than {0} bytes")]
    Long(usize),
    /// Another layout of messages.
    #[error("version {theirs} of the messages, while this node speaks version {ours}")]
    Version {
        /// What stood in front of the message.
        theirs: u8,
        /// What is spoken here.
        ours: u8,
    },
    /// The right version, and yet no message.
    #[error("a message that cannot be read: {0}")]
    Body(postcard::Error),
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Io(#[from] io::Error),
}

/// Reads one frame into `frame`, which grows to its length and no further.
pub(crate) async fn read<R>(
    from: &mut R,
    limit: usize,
    frame: &mut Vec<u8>,
) -> Result<(), FrameError>
where
    R: AsyncRead + Unpin,
{
    let mut length = [0; 2];
    if from.read(&mut length[..1]).await? == 0 {
        return Err(FrameError::Closed);
    }
    from.read_exact(&mut length[1..]).await.map_err(ended)?;
    let length = usize::from(u16::from_be_bytes(length));
    if length == 0 || length > limit {
        return Err(FrameError::Length { length, limit });
    }
    frame.clear();
    frame.resize(length, 0);
    from.read_exact(frame).await.map_err(ended)?;
    Ok(())
}

/// A message as bytes, the version in front.
pub(crate) fn encode<M>(version: u8, message: &M, limit: usize) -> Result<Vec<u8>, FrameError>
where
    M: Serialize,
{
    let bytes = postcard::to_extend(message, vec![version]).map_err(FrameError::Body)?;
    if bytes.len() > limit { Err(FrameError::Long(limit)) } else { Ok(bytes) }
}

/// What [`encode`] made, read back.
pub(crate) fn decode<M>(version: u8, bytes: &[u8]) -> Result<M, FrameError>
where
    M: DeserializeOwned,
{
    let (&theirs, body) = bytes.split_first().ok_or(FrameError::Chunk)?;
    if theirs != version {
        return Err(FrameError::Version { theirs, ours: version });
    }
    match postcard::take_from_bytes(body).map_err(FrameError::Body)? {
        (message, []) => Ok(message),
        _ => Err(FrameError::Body(postcard::Error::SerdeDeCustom)),
    }
}

/// Cuts a message into chunks, each with its flag.
pub(crate) fn cut(message: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let count = message.len().div_ceil(CHUNK);
    message
        .chunks(CHUNK)
        .enumerate()
        .map(move |(at, chunk)| (if at + 1 == count { LAST } else { MORE }, chunk))
}

/// Puts chunks together again.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    message: Vec<u8>,
}

impl Assembly {
    /// Takes the next opened chunk; returns the message that it completes.
    pub(crate) fn take(
        &mut self,
        chunk: &[u8],
        limit: usize,
    ) -> Result<Option<Vec<u8>>, FrameError> {
        let (&flag, part) = chunk.split_first().ok_or(FrameError::Chunk)?;
        let whole = match flag {
            LAST if !part.is_empty() => true,
            MORE if part.len() == CHUNK => false,
            _ => return Err(FrameError::Chunk),
        };
        if self.message.len() + part.len() > limit {
            return Err(FrameError::Long(limit));
        }
        self.message.extend_from_slice(part);
        Ok(whole.then(|| std::mem::take(&mut self.message)))
    }

    /// How many bytes wait for the rest of their message.
    #[cfg(any(test, fuzzing))]
    pub(crate) const fn waiting(&self) -> usize {
        self.message.len()
    }
}

fn ended(error: io::Error) -> FrameError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => FrameError::Truncated,
        _ => FrameError::Io(error),
    }
}

#[cfg(test)]
mod tests;
