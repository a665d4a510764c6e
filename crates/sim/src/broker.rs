//! A simulated broker: a log per topic partition, and consumer groups that share the partitions
//! out.
//!
//! Assumes: the world passes the broker's own time, which never goes back.
//! Promises: offsets grow by one and append times never fall within a partition; a member that was
//! not heard of for its session is put out of its group; every change of members begins a new
//! generation with every partition given to exactly one member; whoever speaks for an old
//! generation is refused.

use std::collections::BTreeMap;

use crate::clock::{At, Span};

/// The number of a partition.
pub type Partition = usize;

/// The number of a member in its group, never used twice.
pub type Member = u64;

/// The number of a sharing-out of partitions.
pub type Generation = u64;

/// One message in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its place in the log.
    pub offset: u64,
    /// When the broker took it.
    pub appended_at: At,
    /// What it says.
    pub value: Vec<u8>,
}

/// Why a member was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is not in the group, or not any more.
    Unknown,
    /// Partitions were shared out anew since.
    OldGeneration(Generation),
}

/// One topic and its groups.
#[derive(Clone, Debug)]
pub struct Broker {
    logs: Vec<Vec<Entry>>,
    groups: BTreeMap<String, Group>,
    joined: Member,
}

#[derive(Clone, Debug, Default)]
struct Group {
    generation: Generation,
    members: BTreeMap<Member, Seat>,
}

#[derive(Clone, Debug)]
struct Seat {
    session: Span,
    heard_at: At,
}

impl Broker {
    /// A topic of so many partitions.
    pub fn new(partitions: usize) -> Self {
        Broker { logs: vec![Vec::new(); partitions], groups: BTreeMap::new(), joined: 0 }
    }

    /// Appends a message and says where it is. `None` if there is no such partition.
    pub fn append(&mut self, now: At, partition: Partition, value: Vec<u8>) -> Option<u64> {
        let log = self.logs.get_mut(partition)?;
        let offset = log.len() as u64;
        let appended_at = log.last().map_or(now, |last| last.appended_at.max(now));
        log.push(Entry { offset, appended_at, value });
        Some(offset)
    }

    /// The messages from an offset on.
    pub fn read(&self, partition: Partition, from: u64) -> &[Entry] {
        let log = self.logs.get(partition).map_or(&[][..], Vec::as_slice);
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        log.get(from..).unwrap_or(&[])
    }

    /// Joins a group, with the time after which silence means departure.
    pub fn join(&mut self, now: At, group: &str, session: Span) -> Member {
        self.joined += 1;
        let member = self.joined;
        let group = self.groups.entry(group.to_owned()).or_default();
        group.expire(now);
        group.members.insert(member, Seat { session, heard_at: now });
        group.generation += 1;
        member
    }

    /// Leaves a group.
    pub fn leave(&mut self, now: At, group: &str, member: Member) {
        if let Some(group) = self.groups.get_mut(group) {
            group.expire(now);
            group.generation += u64::from(group.members.remove(&member).is_some());
        }
    }

    /// Says that a member is there. It learns its generation and its partitions.
    pub fn heartbeat(
        &mut self,
        now: At,
        group: &str,
        member: Member,
    ) -> Result<(Generation, Vec<Partition>), Refused> {
        let partitions = self.logs.len();
        let group = self.groups.get_mut(group).ok_or(Refused::Unknown)?;
        group.expire(now);
        let seat = group.members.get_mut(&member).ok_or(Refused::Unknown)?;
        seat.heard_at = seat.heard_at.max(now);
        Ok((group.generation, group.assigned(member, partitions)))
    }

    /// Whether a member may still speak for a generation.
    pub fn check(
        &mut self,
        now: At,
        group: &str,
        member: Member,
        generation: Generation,
    ) -> Result<(), Refused> {
        let group = self.groups.get_mut(group).ok_or(Refused::Unknown)?;
        group.expire(now);
        if !group.members.contains_key(&member) {
            return Err(Refused::Unknown);
        }
        if group.generation != generation {
            return Err(Refused::OldGeneration(group.generation));
        }
        Ok(())
    }

    /// The broker is killed and comes back: logs stay, members must be heard of anew within their
    /// sessions.
    pub fn restart(&mut self, now: At) {
        for group in self.groups.values_mut() {
            group.members.values_mut().for_each(|seat| seat.heard_at = now);
        }
    }
}

impl Group {
    fn expire(&mut self, now: At) {
        let before = self.members.len();
        self.members.retain(|_, seat| now < seat.heard_at + seat.session);
        self.generation += u64::from(self.members.len() < before);
    }

    /// Partitions in turn to members in the order in which they joined.
    fn assigned(&self, member: Member, partitions: usize) -> Vec<Partition> {
        let place = self.members.keys().position(|&it| it == member);
        let count = self.members.len().max(1);
        let mine = |partition: &Partition| Some(partition % count) == place;
        (0..partitions).filter(mine).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: Span = 100;

    #[test]
    fn a_log_keeps_its_order_and_its_append_times_never_fall() {
        let mut broker = Broker::new(2);
        assert_eq!(broker.append(50, 0, b"a".to_vec()), Some(0));
        assert_eq!(broker.append(40, 0, b"b".to_vec()), Some(1));
        assert_eq!(broker.append(60, 7, b"c".to_vec()), None);
        let times: Vec<At> = broker.read(0, 0).iter().map(|entry| entry.appended_at).collect();
        assert_eq!(times, [50, 50]);
        assert_eq!(broker.read(0, 1).len(), 1);
        assert!(broker.read(0, 9).is_empty() && broker.read(1, 0).is_empty());
    }

    #[test]
    fn every_partition_belongs_to_exactly_one_member() {
        let mut broker = Broker::new(5);
        let members: Vec<Member> = (0..3).map(|_| broker.join(0, "group", SESSION)).collect();
        let shares = members.iter().flat_map(|&m| broker.heartbeat(1, "group", m).expect("in").1);
        let mut all: Vec<Partition> = shares.collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_silent_member_is_put_out_and_its_partitions_go_to_the_others() {
        let mut broker = Broker::new(2);
        let (one, two) = (broker.join(0, "group", SESSION), broker.join(0, "group", SESSION));
        let (before, _) = broker.heartbeat(90, "group", one).expect("in");
        let (after, share) = broker.heartbeat(110, "group", one).expect("in");
        assert!(after > before);
        assert_eq!(share, [0, 1]);
        assert_eq!(broker.heartbeat(111, "group", two), Err(Refused::Unknown));
    }

    #[test]
    fn whoever_speaks_for_an_old_generation_is_refused() {
        let mut broker = Broker::new(1);
        let one = broker.join(0, "group", SESSION);
        let (generation, _) = broker.heartbeat(1, "group", one).expect("in");
        assert_eq!(broker.check(2, "group", one, generation), Ok(()));
        let two = broker.join(3, "group", SESSION);
        let refused = broker.check(4, "group", one, generation);
        assert_eq!(refused, Err(Refused::OldGeneration(generation + 1)));
        broker.leave(5, "group", two);
        assert_eq!(broker.check(6, "group", two, generation), Err(Refused::Unknown));
    }

    #[test]
    fn groups_do_not_share_members_and_a_restart_keeps_the_log() {
        let mut broker = Broker::new(1);
        let one = broker.join(0, "one", SESSION);
        assert_eq!(broker.heartbeat(1, "two", one), Err(Refused::Unknown));
        broker.append(1, 0, b"kept".to_vec());
        broker.restart(500);
        assert_eq!(broker.read(0, 0).len(), 1);
        assert!(broker.heartbeat(599, "one", one).is_ok());
    }
}
