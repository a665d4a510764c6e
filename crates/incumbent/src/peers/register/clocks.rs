//! The clock of a quorum.
//!
//! Assumes: most voters' wall clocks are about right.
//! Promises: the one in the middle counts, so that one that is far off moves it little.

use std::collections::BTreeMap;

use incumbent_protocol::node::NodeId;
use incumbent_protocol::time::StoreTime;

use super::Registers;
use crate::clock;

impl Registers {
    /// The voters' clock, as far as this process can tell.
    pub(in crate::peers) fn now(&self) -> StoreTime {
        let micros = clock::wall().as_micros().saturating_add_signed(self.ahead);
        StoreTime::from_micros(micros)
    }

    /// Takes over the voters' clock.
    pub(super) fn set(&mut self, clocks: &Clocks) -> StoreTime {
        let (theirs, mine) = (clocks.median(), clock::wall());
        let signed = |time: StoreTime| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        self.ahead = signed(theirs).saturating_sub(signed(mine));
        theirs
    }
}

/// The wall clocks of voters.
#[derive(Debug, Default)]
pub(super) struct Clocks(BTreeMap<NodeId, StoreTime>);

impl Clocks {
    pub(super) fn hear(&mut self, from: NodeId, now: StoreTime) {
        self.0.insert(from, now);
    }

    /// Those who were heard.
    pub(super) fn of(&self) -> impl Iterator<Item = &NodeId> {
        self.0.keys()
    }

    fn median(&self) -> StoreTime {
        // The own clock counts too: of two that differ neither is in the middle.
        let own = [clock::wall()];
        let mut all: Vec<StoreTime> = self.0.values().copied().chain(own).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or_else(clock::wall)
    }
}
