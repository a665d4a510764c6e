//! In the place of [`nominated`](super::nominated) in a library that was built without peers: nobody
//! nominates anybody.
//!
//! Assumes: nothing.
//! Promises: none of it is ever called, and the compiler knows.

use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::lease::request::Refusal;
use incumbent_protocol::lease::row::Snapshot;
use incumbent_protocol::time::Time;

use super::seat::Seat;
use crate::store::Store;

/// There is none.
#[derive(Debug)]
pub(super) enum Nominations {}

/// There is none.
#[derive(Debug, Default)]
pub(super) struct Nominated;

/// There is none.
pub(super) struct Nomination {
    pub(super) election: ElectionName,
    pub(super) mine: bool,
}

pub(super) const fn of(_store: &mut Store) -> Option<Nominations> {
    None
}

pub(super) const fn waits(_store: &Store) -> bool {
    false
}

pub(super) async fn next(_nominations: &mut Option<Nominations>) -> Nomination {
    std::future::pending().await
}

#[expect(clippy::unused_self, reason = "the same face as where peers nominate")]
impl Seat {
    pub(super) const fn awaits_nomination(&mut self, _now: Time, nominations: &Nominations) {
        match *nominations {}
    }

    pub(super) const fn refusal(&self, _snapshot: &Snapshot) -> Option<Refusal> {
        None
    }

    pub(super) const fn nominated(&mut self, _now: Time, _mine: bool) {}

    pub(super) const fn caucus(&mut self, _now: Time, nominations: &Nominations) {
        match *nominations {}
    }
}
