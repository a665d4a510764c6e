//! The elections of this process, and which of them need attention.
//!
//! Assumes: a seat changes only by what reaches it through here, or because its alarm went off.
//! Promises: a turn of the driver costs by the number of elections that something happened to, not by
//! how many there are.

use std::collections::{BTreeMap, BTreeSet};

use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::time::Time;

use super::seat::Seat;

/// All of them, by name.
#[derive(Debug, Default)]
pub(super) struct Seats {
    all: BTreeMap<ElectionName, Entry>,
    /// Those that something happened to since they were last attended to.
    touched: BTreeSet<ElectionName>,
    /// When each wants to be woken, as of when it was last attended to.
    alarms: BTreeSet<(Time, ElectionName)>,
    /// How many lead, as of when each was last attended to.
    leading: usize,
}

#[derive(Debug)]
struct Entry {
    seat: Seat,
    alarm: Option<Time>,
    leads: bool,
}

impl Seats {
    /// The seat of an election, made if it is not there.
    pub(super) fn enter(
        &mut self,
        election: &ElectionName,
        make: impl FnOnce() -> Seat,
    ) -> &mut Seat {
        self.touched.insert(election.clone());
        let entry = self.all.entry(election.clone());
        &mut entry.or_insert_with(|| Entry { seat: make(), alarm: None, leads: false }).seat
    }

    pub(super) fn get(&self, election: &ElectionName) -> Option<&Seat> {
        self.all.get(election).map(|entry| &entry.seat)
    }

    /// A seat to which something happens.
    pub(super) fn get_mut(&mut self, election: &ElectionName) -> Option<&mut Seat> {
        let entry = self.all.get_mut(election)?;
        if !self.touched.contains(election) {
            self.touched.insert(election.clone());
        }
        Some(&mut entry.seat)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Seat> {
        self.all.values().map(|entry| &entry.seat)
    }

    /// Something happens to all of them.
    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Seat> {
        self.touched.extend(self.all.keys().cloned());
        self.all.values_mut().map(|entry| &mut entry.seat)
    }

    /// Attends to each that something happened to, or whose alarm went off.
    pub(super) fn attend(&mut self, now: Time, mut attend: impl FnMut(&mut Seat)) {
        while self.alarms.first().is_some_and(|(at, _)| *at <= now) {
            if let Some((_, election)) = self.alarms.pop_first() {
                if let Some(entry) = self.all.get_mut(&election) {
                    entry.alarm = None;
                }
                self.touched.insert(election);
            }
        }
        for election in std::mem::take(&mut self.touched) {
            let Some(entry) = self.all.get_mut(&election) else { continue };
            attend(&mut entry.seat);
            match (std::mem::replace(&mut entry.leads, entry.seat.leads()), entry.leads) {
                (false, true) => self.leading += 1,
                (true, false) => self.leading -= 1,
                _ => {}
            }
            let alarm = entry.seat.wake_at();
            if alarm == entry.alarm {
                continue;
            }
            if let Some(before) = std::mem::replace(&mut entry.alarm, alarm) {
                self.alarms.remove(&(before, election.clone()));
            }
            self.alarms.extend(alarm.map(|at| (at, election)));
        }
    }

    /// When the first of them wants to be woken.
    pub(super) fn wake_at(&self) -> Option<Time> {
        self.alarms.first().map(|(at, _)| *at)
    }

    /// Whether any of them leads.
    pub(super) const fn lead(&self) -> bool {
        self.leading > 0
    }
}
