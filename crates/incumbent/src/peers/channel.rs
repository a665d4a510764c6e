//! An encrypted conversation over one connection.
//!
//! Noise in the pattern `NNpsk0`: both ends prove that they know the secret, and the keys of every
//! conversation are new, so that bytes recorded from an earlier one open nothing.
//!
//! Assumes: whoever knows the secret is a node of the cluster.
//! Promises: what is received was sent by such a node in this very conversation, unchanged, in
//! order, and once. Before that is proven a stranger costs one small frame of memory, and one who
//! repeats the first bytes of a node a buffer of a fixed size.

use std::io;
use std::sync::Arc;

use snow::{HandshakeState, StatelessTransportState};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};

use super::frame::{self, Assembly, FRAME_MAX, FrameError, SEAL};
use super::secret::Secret;

const PATTERN: &str = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s";
const PROLOGUE: &[u8] = b"incumbent peers";

/// Longest frame of a handshake; both have 48 bytes.
const HANDSHAKE_MAX: usize = 256;

/// The frame that answers first bytes which cannot be opened. It is not sealed: there is no key in
/// common. Whoever makes it up achieves what ending the connection does, and a line in a log.
const REFUSAL: &[u8] = &[0];

/// How much is read from a connection at once.
const BUFFER: usize = 8 * 1024;

/// A buffer that grew beyond this for one large message is given back.
const SPARE: usize = 64 * 1024;

/// Which end of a conversation this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The one that dialled.
    Caller,
    /// The one that was dialled.
    Callee,
}

/// A conversation that did not begin, or ended. *Standing:* unchanged; a peer is out of reach.
#[derive(Debug, Error)]
pub(crate) enum ChannelError {
    /// The first sealed bytes cannot be opened.
    #[error("it does not know the secret of this cluster")]
    Secret,
    /// The other side cannot open the first sealed bytes, and says so.
    #[error("it says that this node does not know the secret of its cluster")]
    Rejected,
    /// Bytes that were changed, repeated or made up.
    #[error("it sent bytes that were not sealed in this conversation")]
    Forged,
    /// As many messages as can be told apart.
    #[error("the conversation is used up")]
    Exhausted,
    /// No message, or no connection any more.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// What should always work did not.
    #[error("the conversation cannot begin: {0}")]
    Noise(snow::Error),
}

impl From<io::Error> for ChannelError {
    fn from(error: io::Error) -> Self {
        ChannelError::Frame(FrameError::Io(error))
    }
}

/// Begins a conversation. The caller of this function sets its time limit.
pub(crate) async fn begin<R, W>(
    mut from: R,
    mut to: W,
    side: Side,
    secret: &Secret,
) -> Result<(Receiver<R>, Sender<W>), ChannelError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut noise = noise(side, secret).map_err(ChannelError::Noise)?;
    match side {
        Side::Caller => {
            write(&mut to, &mut noise).await?;
            read(&mut from, &mut noise).await?;
        }
        Side::Callee => {
            let opened = read(&mut from, &mut noise).await;
            if let Err(ChannelError::Secret) = opened {
                // A connection that just ends says nothing: nodes also end, and give up the slow.
                let _ = to.write_all(&[&prefix(REFUSAL.len()), REFUSAL].concat()).await;
            }
            opened?;
            write(&mut to, &mut noise).await?;
        }
    }
    let keys = Arc::new(noise.into_stateless_transport_mode().map_err(ChannelError::Noise)?);
    Ok((Receiver::new(from, Arc::clone(&keys)), Sender::new(to, keys)))
}

fn noise(side: Side, secret: &Secret) -> Result<HandshakeState, snow::Error> {
    let builder = snow::Builder::new(PATTERN.parse()?).prologue(PROLOGUE)?.psk(0, secret.key())?;
    match side {
        Side::Caller => builder.build_initiator(),
        Side::Callee => builder.build_responder(),
    }
}

async fn write<W>(to: &mut W, noise: &mut HandshakeState) -> Result<(), ChannelError>
where
    W: AsyncWrite + Unpin,
{
    let mut bytes = [0; 2 + HANDSHAKE_MAX];
    let length = noise.write_message(&[], &mut bytes[2..]).map_err(ChannelError::Noise)?;
    bytes[..2].copy_from_slice(&prefix(length));
    Ok(to.write_all(&bytes[..2 + length]).await?)
}

async fn read<R>(from: &mut R, noise: &mut HandshakeState) -> Result<(), ChannelError>
where
    R: AsyncRead + Unpin,
{
    let mut bytes = Vec::new();
    frame::read(from, HANDSHAKE_MAX, &mut bytes).await?;
    if bytes == REFUSAL {
        return Err(ChannelError::Rejected);
    }
    let mut payload = [0; HANDSHAKE_MAX];
    noise.read_message(&bytes, &mut payload).map_err(|_| ChannelError::Secret)?;
    Ok(())
}

/// What stands in front of a frame.
fn prefix(length: usize) -> [u8; 2] {
    u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes()
}

/// The half of a conversation that listens.
pub(crate) struct Receiver<R> {
    from: BufReader<R>,
    keys: Arc<StatelessTransportState>,
    /// How many chunks were opened: each is sealed with its number.
    count: u64,
    frame: Vec<u8>,
    chunk: Vec<u8>,
    assembly: Assembly,
}

impl<R: AsyncRead + Unpin> Receiver<R> {
    fn new(from: R, keys: Arc<StatelessTransportState>) -> Self {
        let from = BufReader::with_capacity(BUFFER, from);
        let (frame, chunk, assembly) = (Vec::new(), Vec::new(), Assembly::default());
        Receiver { from, keys, count: 0, frame, chunk, assembly }
    }

    /// The next message of at most that many bytes. Must not be dropped half-way if another is
    /// wanted.
    pub(crate) async fn receive(&mut self, limit: usize) -> Result<Vec<u8>, ChannelError> {
        let longest = FRAME_MAX.min(limit.saturating_add(SEAL + 1));
        loop {
            frame::read(&mut self.from, longest, &mut self.frame).await?;
            self.chunk.resize(self.frame.len(), 0);
            let length = self
                .keys
                .read_message(self.count, &self.frame, &mut self.chunk)
                .map_err(|_| ChannelError::Forged)?;
            self.count = self.count.checked_add(1).ok_or(ChannelError::Exhausted)?;
            if let Some(message) = self.assembly.take(&self.chunk[..length], limit)? {
                return Ok(message);
            }
        }
    }
}

/// The half of a conversation that speaks.
pub(crate) struct Sender<W> {
    to: W,
    keys: Arc<StatelessTransportState>,
    /// How many chunks were sealed.
    count: u64,
    chunk: Vec<u8>,
    /// Sealed frames that were not written yet.
    batch: Vec<u8>,
}

impl<W: AsyncWrite + Unpin> Sender<W> {
    fn new(to: W, keys: Arc<StatelessTransportState>) -> Self {
        Sender { to, keys, count: 0, chunk: Vec::new(), batch: Vec::new() }
    }

    /// Adds a message to what the next flush writes.
    pub(crate) fn seal(&mut self, message: &[u8]) -> Result<(), ChannelError> {
        for (flag, part) in frame::cut(message) {
            self.chunk.clear();
            self.chunk.push(flag);
            self.chunk.extend_from_slice(part);
            let begin = self.batch.len();
            let length = self.chunk.len() + SEAL;
            self.batch.extend_from_slice(&prefix(length));
            self.batch.resize(begin + 2 + length, 0);
            self.keys
                .write_message(self.count, &self.chunk, &mut self.batch[begin + 2..])
                .map_err(|_| ChannelError::Exhausted)?;
            self.count = self.count.checked_add(1).ok_or(ChannelError::Exhausted)?;
        }
        Ok(())
    }

    /// How many sealed bytes wait.
    pub(crate) const fn waiting(&self) -> usize {
        self.batch.len()
    }

    /// Writes all that was sealed, in one go.
    pub(crate) async fn flush(&mut self) -> Result<(), ChannelError> {
        self.to.write_all(&self.batch).await?;
        self.batch.clear();
        self.batch.shrink_to(SPARE);
        Ok(self.to.flush().await?)
    }

    /// Says that nothing more comes.
    pub(crate) async fn finish(&mut self) -> Result<(), ChannelError> {
        self.flush().await?;
        Ok(self.to.shutdown().await?)
    }
}

#[cfg(test)]
mod tests;
