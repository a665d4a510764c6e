//! One round of the published loop. Comments give the lines of the printed algorithm.

use std::collections::{BTreeMap, VecDeque};

use super::{DELTA, LIMIT, MARGIN, ROUND_TIME};

/// The shared registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registers {
    max_id: u64,
    round_time: u64,
    evicted: bool,
    /// Counters by id.
    descriptors: Descriptors,
}

type Descriptors = BTreeMap<u64, u64>;

impl Default for Registers {
    fn default() -> Self {
        Registers {
            max_id: 0,
            round_time: ROUND_TIME,
            evicted: false,
            descriptors: Descriptors::new(),
        }
    }
}

/// How a process comes to suspect another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// As printed: the counter did not change over so many entries of the history.
    Printed,
    /// As printed, but a round that must be repeated leaves no history.
    RetriesLeaveNoHistory,
    /// The counter did not change for so long a time; nothing is counted.
    Elapsed,
}

/// What a process keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    rule: Rule,
    id: Option<u64>,
    leads: bool,
    force_exclusive: bool,
    history: VecDeque<Descriptors>,
    /// For the rule of elapsed time: each counter, and when it was first heard at its present
    /// value.
    heard: BTreeMap<u64, (u64, u64)>,
    round_time: u64,
    lease_start: u64,
}

/// What came of a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Whether it held the exclusive lock.
    pub exclusive: bool,
    /// The id that it was given in this round.
    pub joined_as: Option<u64>,
    /// It found its own row gone.
    pub was_evicted: bool,
    /// Whether it must be repeated at once.
    pub retry: bool,
    /// Whom it removed.
    pub removed: Vec<u64>,
    /// Until when it leads, if it does.
    pub leads_until: Option<u64>,
}

impl Process {
    /// A process that has not joined yet.
    pub fn new(rule: Rule) -> Self {
        Process {
            rule,
            id: None,
            leads: false,
            force_exclusive: false,
            history: VecDeque::new(),
            heard: BTreeMap::new(),
            round_time: ROUND_TIME,
            lease_start: 0,
        }
    }

    /// How long it sleeps after a round (line 22).
    pub fn sleep(&self) -> u64 {
        if self.force_exclusive { 0 } else { self.round_time }
    }

    /// One transaction, which takes effect at `now` (lines 4 to 21).
    pub fn round(&mut self, now: u64, registers: &mut Registers) -> Told {
        let exclusive = self.leads || self.id.is_none() || self.force_exclusive; // 5 to 9
        self.force_exclusive = false;
        let mut told = Told {
            exclusive,
            joined_as: None,
            was_evicted: false,
            retry: false,
            removed: Vec::new(),
            leads_until: None,
        };
        self.update_counter(registers, &mut told); // 12
        self.hear(now, &registers.descriptors);
        self.leader_check(now, registers, &mut told); // 13
        if self.rule == Rule::Printed || !self.force_exclusive {
            self.history.push_back(registers.descriptors.clone()); // 14
        }
        while self.history.len() as u64 > LIMIT {
            self.history.pop_front();
        }
        if self.leads && registers.evicted {
            registers.round_time += DELTA; // 17 to 19
            registers.evicted = false;
        }
        self.round_time = registers.round_time; // 16
        self.lease_start = now; // 20
        told.retry = self.force_exclusive;
        told.leads_until = self.leads.then(|| self.lease_start + self.round_time * LIMIT - MARGIN);
        told
    }

    fn update_counter(&mut self, registers: &mut Registers, told: &mut Told) {
        let row = self.id.and_then(|id| registers.descriptors.get_mut(&id));
        if let Some(counter) = row {
            *counter += 1; // 24, 25
            return;
        }
        if self.id.is_some() {
            told.was_evicted = true; // 27
            if !told.exclusive {
                self.force_exclusive = true; // 29 to 31
                registers.evicted = true;
                return;
            }
        }
        registers.max_id += 1; // 32, 33
        registers.descriptors.insert(registers.max_id, 0);
        self.id = Some(registers.max_id);
        told.joined_as = self.id;
    }

    fn leader_check(&mut self, now: u64, registers: &mut Registers, told: &mut Told) {
        let alive = |id: &u64| self.is_alive(*id, now, registers);
        let smallest = registers.descriptors.keys().copied().find(alive); // 35
        if smallest != self.id {
            self.leads = false; // 43
            return;
        }
        if !told.exclusive {
            self.force_exclusive = true; // 38, 39
            return;
        }
        self.leads = true; // 40, 41
        let ids = registers.descriptors.keys().copied();
        told.removed = ids.filter(|id| !self.is_alive(*id, now, registers)).collect();
        for id in &told.removed {
            registers.descriptors.remove(id);
        }
    }

    fn is_alive(&self, id: u64, now: u64, registers: &Registers) -> bool {
        if self.id == Some(id) {
            return true;
        }
        if self.rule == Rule::Elapsed {
            let heard = self.heard.get(&id);
            return heard.is_none_or(|(_, since)| now - since < registers.round_time * LIMIT);
        }
        let counter = registers.descriptors.get(&id);
        let oldest = self.history.front().filter(|_| self.history.len() as u64 == LIMIT);
        oldest.and_then(|oldest| oldest.get(&id)).is_none_or(|before| counter > Some(before))
    }

    /// Notes since when each counter has stood.
    fn hear(&mut self, now: u64, descriptors: &Descriptors) {
        self.heard.retain(|id, _| descriptors.contains_key(id));
        for (&id, &counter) in descriptors {
            let heard = self.heard.entry(id).or_insert((counter, now));
            if heard.0 != counter {
                *heard = (counter, now);
            }
        }
    }
}
