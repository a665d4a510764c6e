//! The test of the tests: the same story gives the same history, byte for byte.
//!
//! Assumes: nothing.
//! Promises: if this fails, no other result of the simulator means anything.

use crate::genre::{Genre, Story};
use crate::plant::Plant;
use crate::scribe::Keep;

/// The whole history of a story.
pub fn history<S: Genre>(story: &Story<S>) -> Result<String, S::Error> {
    let keep = Keep { history: true, trace: false };
    Ok(S::run(story, Plant::Nothing, keep)?.history)
}

/// A number that stands for a history, to compare those of different processes: 64-bit FNV-1a.
pub fn digest(history: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    history.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Where two histories first differ, by line; `None` if they do not.
pub fn difference(one: &str, two: &str) -> Option<String> {
    if one == two {
        return None;
    }
    let (mut left, mut right) = (one.lines(), two.lines());
    for number in 1.. {
        match (left.next(), right.next()) {
            (None, None) => break,
            (one, two) if one == two => {}
            (one, two) => {
                return Some(format!("line {number}: {one:?} in one run, {two:?} in the other"));
            }
        }
    }
    Some("the same lines, ended differently".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_found_where_it_is() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        let found = difference("a\nb\n", "a\nc\n").unwrap_or_default();
        assert!(found.starts_with("line 2"), "{found}");
        assert!(difference("a\n", "a\nb\n").is_some());
        assert_ne!(digest("a"), digest("b"));
    }
}
