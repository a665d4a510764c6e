//! How nodes, times and messages of a lab are written.
//!
//! Assumes: nothing.
//! Promises: the same thing is written the same way in every drawing.

use incumbent_protocol::node::NodeId;
use incumbent_sim::lab::{Letter, MESSAGE_TIME};

/// So much of a digest is shown.
const DIGITS: usize = 6;

/// A node: its number, or the beginning of its digest.
pub(super) fn shown(node: NodeId) -> String {
    let text = node.to_string();
    match text.len() {
        32 => text[..DIGITS].to_owned(),
        _ => text,
    }
}

/// A message: its kind, and whom it speaks of.
pub(super) fn label(letter: &Letter) -> String {
    match letter.about {
        Some(node) => format!("{} {}", letter.kind, shown(node)),
        None => letter.kind.to_string(),
    }
}

/// A time in message times, without digits that say nothing. The unit is said elsewhere.
pub(super) fn units(time: u64) -> String {
    let thousandths = time / (MESSAGE_TIME / 1_000);
    let text = format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A time with its unit.
pub(super) fn message_times(time: u64) -> String {
    let unit = if time == MESSAGE_TIME { "message time" } else { "message times" };
    format!("{} {unit}", units(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_no_digits_that_say_nothing() {
        assert_eq!(message_times(0), "0 message times");
        assert_eq!(message_times(1_000_000), "1 message time");
        assert_eq!(message_times(2_500_000), "2.5 message times");
    }

    #[test]
    fn digests_are_cut_and_numbers_are_not() {
        assert_eq!(shown(NodeId::given(123_456_789)), "123456789");
        assert_eq!(shown(NodeId::of_address("127.0.0.1:7600")), "4e9efc");
    }
}
