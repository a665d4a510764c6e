//! Elections in the registers of a quorum: one register for each, and one for the voter set.

use serde::{Deserialize, Serialize};

use crate::identity::{ElectionName, Incarnation};
use crate::lease::page::Page;
use crate::lease::row::State;

/// A register that voters keep.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Key {
    /// Who votes.
    Electorate,
    /// An election.
    Election(ElectionName),
}

/// Whether this process leads, as an election shows. If it was also the last to write it, it decides
/// at once: if another process was faster, the proposal tells.
pub fn is_held_by(page: &Page, me: Incarnation) -> bool {
    let record = page.record.as_ref();
    record.is_some_and(|it| it.holder.incarnation == me && it.state == State::Held)
}
