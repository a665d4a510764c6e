//! Feeds bytes to everything that reads bytes of strangers. The fuzz targets use it, too.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::frame::{self, Assembly, FrameError};

/// Reads frames until the end or the first error; each is taken for an opened chunk, as if
/// strangers could seal. Panics when more is kept than the limits allow, or when a message does not
/// survive being written and read again. Returns the messages.
pub(crate) fn feed<M>(mut bytes: &[u8], frame_limit: usize, limit: usize) -> Vec<M>
where
    M: Serialize + DeserializeOwned + PartialEq,
{
    let (mut assembly, mut chunk, mut messages) = (Assembly::default(), Vec::new(), Vec::new());
    loop {
        if read(&mut bytes, frame_limit, &mut chunk).is_err() {
            return messages;
        }
        assert!((1..=frame_limit).contains(&chunk.len()), "a frame beyond its limit");
        let taken = assembly.take(&chunk, limit);
        assert!(assembly.waiting() <= limit, "more waits than may be kept");
        match taken {
            Ok(None) => {}
            Ok(Some(message)) => {
                assert!(message.len() <= limit, "a message beyond its limit");
                messages.extend(frame::decode::<M>(1, &message).ok().inspect(is_stable));
            }
            Err(_) => return messages,
        }
    }
}

fn is_stable<M>(message: &M)
where
    M: Serialize + DeserializeOwned + PartialEq,
{
    let again = frame::encode(1, message, usize::MAX);
    let again = again.and_then(|bytes| frame::decode::<M>(1, &bytes));
    assert!(again.is_ok_and(|again| again == *message), "a message that changes on the way");
}

/// Reads a frame from a slice, which never has to wait.
fn read(bytes: &mut &[u8], limit: usize, into: &mut Vec<u8>) -> Result<(), FrameError> {
    let frame = pin!(frame::read(bytes, limit, into));
    match frame.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(read) => read,
        Poll::Pending => panic!("a slice does not wait"),
    }
}
