//! Frames, good and bad.

use proptest::prelude::*;
use serde::Deserialize;

use self::feed::feed;
use super::*;
use crate::peers::frame;
use crate::peers::hello::Hello;

mod feed;

const LIMIT: usize = 1 << 20;

/// Of every shape that messages have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Word {
    Nothing,
    Number(u128),
    Many(Vec<(u64, Option<String>)>),
    Map { entries: std::collections::BTreeMap<u8, Vec<u8>> },
}

fn wire(chunks: &[&[u8]]) -> Vec<u8> {
    let prefix = |chunk: &[u8]| u16::try_from(chunk.len()).expect("short").to_be_bytes();
    chunks.iter().flat_map(|chunk| [&prefix(chunk)[..], chunk].concat()).collect()
}

fn assembled(message: &[u8], limit: usize) -> Result<Option<Vec<u8>>, FrameError> {
    let mut assembly = Assembly::default();
    let mut taken = Ok(None);
    for (flag, part) in cut(message) {
        assert!(matches!(taken, Ok(None)), "a message before its last chunk");
        taken = assembly.take(&[&[flag], part].concat(), limit);
        if taken.is_err() {
            break;
        }
    }
    taken
}

#[test]
fn messages_around_the_size_of_a_chunk_come_back_whole() {
    for length in [1, 2, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 1, LIMIT] {
        let message: Vec<u8> = (0..=u8::MAX).cycle().take(length).collect();
        assert_eq!(assembled(&message, LIMIT).expect("within the limit"), Some(message));
    }
}

#[test]
fn a_message_beyond_the_limit_is_refused_before_it_is_kept() {
    let message = vec![7; LIMIT + 1];
    assert!(matches!(assembled(&message, LIMIT), Err(FrameError::Long(LIMIT))));
    assert!(matches!(encode(1, &message, LIMIT), Err(FrameError::Long(LIMIT))));
}

#[test]
fn chunks_that_no_node_writes_are_refused() {
    let short = [&[MORE][..], &vec![7; CHUNK - 1]].concat();
    for chunk in [&[][..], &[LAST], &[MORE], &[2, 7], &[MORE, 7], &short] {
        let taken = Assembly::default().take(chunk, LIMIT);
        assert!(matches!(taken, Err(FrameError::Chunk)), "{:?}", chunk.get(..2));
    }
}

#[tokio::test]
async fn a_length_beyond_the_limit_is_refused_before_anything_is_kept() {
    for length in [0_u16, 257, u16::MAX] {
        let mut frame = Vec::new();
        let read = read(&mut &length.to_be_bytes()[..], 256, &mut frame).await;
        assert!(matches!(read, Err(FrameError::Length { .. })));
        assert_eq!(frame.capacity(), 0);
    }
}

#[tokio::test]
async fn a_frame_that_ends_early_is_told_from_a_connection_that_ends() {
    let bytes = wire(&[&[1, 2, 3]]);
    for end in 0..bytes.len() {
        let read = read(&mut &bytes[..end], 256, &mut Vec::new()).await;
        let closed = matches!(read, Err(FrameError::Closed));
        assert_eq!(closed, end == 0, "{end}: {read:?}");
        assert!(closed || matches!(read, Err(FrameError::Truncated)), "{end}: {read:?}");
    }
}

#[test]
fn a_message_with_something_behind_it_is_refused() {
    let mut bytes = encode(1, &Word::Number(9), LIMIT).expect("short");
    assert_eq!(decode::<Word>(1, &bytes).expect("whole"), Word::Number(9));
    bytes.push(0);
    assert!(matches!(decode::<Word>(1, &bytes), Err(FrameError::Body(_))));
    assert!(matches!(decode::<Word>(2, &bytes), Err(FrameError::Version { theirs: 1, ours: 2 })));
}

#[test]
fn a_list_that_claims_to_be_endless_costs_no_memory() {
    // The variant, and the largest length that can be written.
    let claim = [1, 2, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1];
    assert!(matches!(decode::<Word>(1, &claim), Err(FrameError::Body(_))));
}

fn word() -> impl Strategy<Value = Word> {
    let text = proptest::option::of(".{0,20}");
    let entries = proptest::collection::btree_map(any::<u8>(), any::<Vec<u8>>(), 0..4);
    prop_oneof![
        Just(Word::Nothing),
        any::<u128>().prop_map(Word::Number),
        proptest::collection::vec((any::<u64>(), text), 0..8).prop_map(Word::Many),
        entries.prop_map(|entries| Word::Map { entries }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn whatever_strangers_send_is_a_message_or_an_error(bytes in any::<Vec<u8>>()) {
        let _: Vec<Word> = feed(&bytes, 256, 512);
        let _: Vec<Hello> = feed(&bytes, 256, 512);
        let _: Vec<Word> = feed(&wire(&[&[&[LAST, 1], &bytes[..]].concat()]), FRAME_MAX, LIMIT);
        let _: Vec<Hello> = feed(&wire(&[&[&[LAST, 1], &bytes[..]].concat()]), FRAME_MAX, LIMIT);
    }

    #[test]
    fn what_was_written_is_read_until_the_bytes_end(words in proptest::collection::vec(word(), 1..5), part in 0.0..1.0) {
        let encoded: Vec<_> = words.iter().map(|word| encode(1, word, LIMIT).expect("short")).collect();
        let chunks: Vec<_> = encoded.iter().map(|bytes| [&[LAST], &bytes[..]].concat()).collect();
        let bytes = wire(&chunks.iter().map(Vec::as_slice).collect::<Vec<_>>());
        prop_assert_eq!(&feed::<Word>(&bytes, FRAME_MAX, LIMIT), &words);
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]
        let end = (bytes.len() as f64 * part) as usize;
        let some = feed::<Word>(&bytes[..end], FRAME_MAX, LIMIT);
        prop_assert!(some.len() < words.len() && words.starts_with(&some));
    }
}
