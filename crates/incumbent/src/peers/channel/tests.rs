//! Conversations that are listened to, changed, cut and repeated.

use tokio::io::{duplex, sink, split};

use super::*;

const LIMIT: usize = 1 << 20;

fn secret() -> Secret {
    Secret::from_text("a secret for tests only").expect("long enough")
}

/// The keys of both ends of a new conversation.
fn keys() -> (Arc<StatelessTransportState>, Arc<StatelessTransportState>) {
    let mut caller = noise(Side::Caller, &secret()).expect("a caller");
    let mut callee = noise(Side::Callee, &secret()).expect("a callee");
    let (mut first, mut payload) = ([0; HANDSHAKE_MAX], [0; HANDSHAKE_MAX]);
    let length = caller.write_message(&[], &mut first).expect("written");
    callee.read_message(&first[..length], &mut payload).expect("read");
    let length = callee.write_message(&[], &mut first).expect("written");
    caller.read_message(&first[..length], &mut payload).expect("read");
    let keys = |noise: HandshakeState| noise.into_stateless_transport_mode().expect("finished");
    (Arc::new(keys(caller)), Arc::new(keys(callee)))
}

/// Messages as they stand on the wire.
fn sealed(keys: &Arc<StatelessTransportState>, messages: &[&[u8]]) -> Vec<u8> {
    let mut sender = Sender::new(sink(), Arc::clone(keys));
    for message in messages {
        sender.seal(message).expect("sealed");
    }
    sender.batch
}

fn receiver<'a>(keys: &Arc<StatelessTransportState>, bytes: &'a [u8]) -> Receiver<&'a [u8]> {
    Receiver::new(bytes, Arc::clone(keys))
}

/// What a caller says first.
async fn first() -> Vec<u8> {
    let mut bytes = Vec::new();
    let end = begin(&[][..], &mut bytes, Side::Caller, &secret()).await.map(drop);
    // That nobody answers is no proof of another secret.
    assert!(matches!(end, Err(ChannelError::Frame(FrameError::Closed))), "{end:?}");
    bytes
}

async fn answered(first: &[u8]) -> Result<(), ChannelError> {
    begin(first, sink(), Side::Callee, &secret()).await.map(drop)
}

#[tokio::test]
async fn messages_of_all_sizes_arrive_in_order_both_ways() {
    let (one, other) = duplex(1 << 16);
    let caller = tokio::spawn(async move {
        let (from, to) = split(one);
        let (mut from, mut to) = begin(from, to, Side::Caller, &secret()).await.expect("begun");
        for length in [1, 70_000, LIMIT, 2] {
            to.seal(&vec![7; length]).expect("sealed");
            to.flush().await.expect("written");
        }
        from.receive(LIMIT).await.expect("an answer")
    });
    let (from, to) = split(other);
    let (mut from, mut to) = begin(from, to, Side::Callee, &secret()).await.expect("begun");
    for length in [1, 70_000, LIMIT, 2] {
        assert_eq!(from.receive(LIMIT).await.expect("a message").len(), length);
    }
    to.seal(b"answer").expect("sealed");
    to.finish().await.expect("written");
    assert_eq!(caller.await.expect("a caller"), b"answer");
}

#[tokio::test]
async fn a_message_in_many_chunks_is_cut_at_every_frame_without_being_delivered() {
    let (caller, callee) = keys();
    let message = vec![7; 3 * frame::CHUNK + 1];
    let bytes = sealed(&caller, &[&message]);
    for end in [frame::FRAME_MAX + 2, 2 * (frame::FRAME_MAX + 2), bytes.len() - 1] {
        let end = receiver(&callee, &bytes[..end]).receive(LIMIT).await;
        assert!(matches!(end, Err(ChannelError::Frame(_))), "{end:?}");
    }
    assert_eq!(receiver(&callee, &bytes).receive(LIMIT).await.expect("whole"), message);
    let long = receiver(&callee, &bytes).receive(2 * frame::CHUNK).await;
    assert!(matches!(long, Err(ChannelError::Frame(FrameError::Long(_)))), "{long:?}");
}

#[tokio::test]
async fn a_conversation_cut_anywhere_delivers_only_what_was_whole() {
    let (caller, callee) = keys();
    let bytes = sealed(&caller, &[b"first", b"second"]);
    let whole = sealed(&caller, &[b"first"]).len();
    for end in 0..bytes.len() {
        let mut receiver = receiver(&callee, &bytes[..end]);
        let one = receiver.receive(LIMIT).await;
        assert_eq!(one.is_ok(), end >= whole, "{end}: {one:?}");
        assert!(receiver.receive(LIMIT).await.is_err(), "{end}");
    }
}

#[tokio::test]
async fn a_flipped_bit_anywhere_is_an_error() {
    let (caller, callee) = keys();
    let bytes = sealed(&caller, &[b"the message", b"the next"]);
    let whole = sealed(&caller, &[b"the message"]).len();
    for bit in 0..8 * whole {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let end = receiver(&callee, &flipped).receive(LIMIT).await;
        assert!(end.is_err(), "bit {bit}");
    }
    assert_eq!(receiver(&callee, &bytes).receive(LIMIT).await.expect("whole"), b"the message");
}

#[tokio::test]
async fn messages_that_are_repeated_left_out_or_swapped_are_forged() {
    let (caller, callee) = keys();
    let both = sealed(&caller, &[b"first", b"other"]);
    let (first, other) = both.split_at(both.len() / 2);
    for bytes in [[first, first].concat(), [other, first].concat(), other.to_vec()] {
        let mut receiver = receiver(&callee, &bytes);
        let mut end = receiver.receive(LIMIT).await;
        if end.is_ok() {
            end = receiver.receive(LIMIT).await;
        }
        assert!(matches!(end, Err(ChannelError::Forged)), "{end:?}");
    }
    // Nor does it open in another conversation, nor when it comes back to its sender.
    for keys in [keys().1, caller] {
        let end = receiver(&keys, first).receive(LIMIT).await;
        assert!(matches!(end, Err(ChannelError::Forged)), "{end:?}");
    }
}

#[tokio::test]
async fn the_first_bytes_of_a_caller_must_be_whole_and_unchanged() {
    let bytes = first().await;
    assert_eq!(bytes.len(), 50);
    answered(&bytes).await.expect("whole");
    for end in 0..bytes.len() {
        let end = answered(&bytes[..end]).await;
        assert!(matches!(end, Err(ChannelError::Frame(_))), "{end:?}");
    }
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(answered(&flipped).await.is_err(), "bit {bit}");
    }
}

#[tokio::test]
async fn another_secret_is_told_to_both_sides() {
    let another = Secret::from_text("another secret for tests").expect("long enough");
    let (one, other) = duplex(1 << 10);
    let caller = tokio::spawn(async move {
        let (from, to) = split(one);
        begin(from, to, Side::Caller, &secret()).await.map(drop)
    });
    let (from, to) = split(other);
    let end = begin(from, to, Side::Callee, &another).await.map(drop);
    assert!(matches!(end, Err(ChannelError::Secret)), "{end:?}");
    let end = caller.await.expect("a caller");
    assert!(matches!(end, Err(ChannelError::Rejected)), "{end:?}");
}

#[tokio::test]
async fn a_handshake_frame_has_at_most_256_bytes() {
    let long = [&[1, 1][..], &[0; 257]].concat();
    let end = answered(&long).await;
    let length = FrameError::Length { length: 257, limit: 256 };
    assert_eq!(end.expect_err("long").to_string(), length.to_string());
}

#[tokio::test]
async fn the_answer_of_a_callee_must_be_whole_and_unchanged() {
    // Each flip takes a handshake of its own, so one bit of each byte has to do.
    for at in 0..50 {
        for flip in [false, true] {
            let (one, mut other) = duplex(1 << 10);
            let caller = tokio::spawn(async move {
                let (from, to) = split(one);
                begin(from, to, Side::Caller, &secret()).await.map(drop)
            });
            let mut first = vec![0; 50];
            tokio::io::AsyncReadExt::read_exact(&mut other, &mut first).await.expect("read");
            let mut answer = Vec::new();
            begin(&first[..], &mut answer, Side::Callee, &secret()).await.map(drop).expect("begun");
            if flip {
                answer[at] ^= 1 << (at % 8);
            } else {
                answer.truncate(at);
            }
            other.write_all(&answer).await.expect("written");
            drop(other);
            assert!(caller.await.expect("a caller").is_err(), "byte {at}, flipped: {flip}");
        }
    }
}

#[test]
fn the_last_chunk_that_can_be_told_apart_ends_a_conversation() {
    let (caller, _) = keys();
    let mut sender = Sender::new(sink(), caller);
    sender.count = u64::MAX;
    assert!(matches!(sender.seal(b"one more"), Err(ChannelError::Exhausted)));
}
