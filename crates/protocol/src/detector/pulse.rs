//! What a detector keeps about one peer.
//!
//! Assumes: pings are numbered, and no number is used twice. Promises: an answer settles the ping that
//! it answers and those before it, never one that was sent later.

use core::time::Duration;
use std::collections::VecDeque;

use super::manner::Manner;
use crate::planted::{self, Bug};
use crate::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pulse {
    /// Pings that may still be answered in time: number, and when it was sent.
    pings: VecDeque<(u64, Time)>,
    ping_at: Time,
    suspected: bool,
    /// How long the last answers took.
    took: VecDeque<Duration>,
}

impl Pulse {
    pub(super) const fn new(now: Time) -> Self {
        Pulse { pings: VecDeque::new(), ping_at: now, suspected: false, took: VecDeque::new() }
    }

    pub(super) const fn is_suspected(&self) -> bool {
        self.suspected
    }

    /// Sends a ping, if one is due.
    pub(super) fn ping(&mut self, now: Time, number: u64, manner: &Manner) -> bool {
        if self.ping_at > now {
            return false;
        }
        self.pings.push_back((number, now));
        self.ping_at = now + manner.every();
        true
    }

    /// Takes an answer. Whether the peer is trusted again by it.
    pub(super) fn hear(&mut self, now: Time, number: u64, manner: &Manner) -> bool {
        let sent = self.pings.iter().find(|(ping, _)| *ping == number).map(|(_, sent)| *sent);
        let Some(sent) = sent.or_else(|| planted::is(Bug::LateReply).then_some(now)) else {
            return false;
        };
        self.pings.retain(|(ping, _)| *ping > number && !planted::is(Bug::LateReply));
        self.took.push_back(now.since(sent));
        while self.took.len() > manner.samples() {
            self.took.pop_front();
        }
        core::mem::take(&mut self.suspected)
    }

    /// Drops pings that were not answered in time. Whether the peer is suspected from now on.
    pub(super) fn expire(&mut self, now: Time, manner: &Manner) -> bool {
        let limit = manner.limit(&self.took);
        let before = self.pings.len();
        self.pings.retain(|(_, sent)| *sent + limit > now);
        self.pings.len() < before && self.suspect()
    }

    /// Suspects the peer. Whether that is new.
    pub(super) fn suspect(&mut self) -> bool {
        !core::mem::replace(&mut self.suspected, true)
    }

    /// This process stood still: nothing that is under way proves anything.
    pub(super) fn forget(&mut self, now: Time) {
        self.pings.clear();
        self.ping_at = now;
    }

    pub(super) fn wake_at(&self, manner: &Manner) -> Time {
        let first = self.pings.front().map(|(_, sent)| *sent + manner.limit(&self.took));
        first.map_or(self.ping_at, |first| first.min(self.ping_at))
    }
}
