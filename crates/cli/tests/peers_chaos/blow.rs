//! What is done to peers, drawn from a seed.
//!
//! Assumes: nothing. Promises: the same seed draws the same blows, in the same order, so many of each
//! kind as were asked for.

use fastrand::Rng;

/// Something that happens to peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Blow {
    /// The leader's process is killed.
    KillLeader,
    /// The leader's process and that of another one.
    KillTwo,
    /// Somebody who does not lead is killed.
    KillOther,
    /// The leader's process stands still for a while.
    StopLeader,
    /// That of another one does.
    StopOther,
    /// The leader and as many others as are no majority, of those who vote either, are parted from the
    /// rest.
    SplitWithLeader,
    /// As many as are no majority are parted from the leader and the rest.
    SplitWithout,
    /// Nobody hears the leader, which hears everybody.
    MuteLeader,
    /// The leader hears nobody, and everybody hears it.
    DeafLeader,
    /// The leader and one other do not hear each other.
    PartPair,
    /// One does not hear the leader, which hears it.
    MutePair,
}

/// How many of each kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) kills: u64,
    pub(crate) stops: u64,
    pub(crate) partitions: u64,
}

impl Blow {
    /// Whether the leader cannot go on while it lasts, though the others can.
    pub(crate) fn unseats(self) -> bool {
        matches!(self, Blow::SplitWithLeader | Blow::MuteLeader | Blow::DeafLeader)
    }

    fn kill(random: &mut Rng, voters: usize) -> Blow {
        match random.u64(..8) {
            0 => Blow::KillOther,
            // Of three, one would be left: no majority.
            1 | 2 if voters > 4 => Blow::KillTwo,
            _ => Blow::KillLeader,
        }
    }

    fn stop(random: &mut Rng) -> Blow {
        if random.u64(..4) == 0 { Blow::StopOther } else { Blow::StopLeader }
    }

    /// Two of three are whole splits; the third is one-way, or between two peers only.
    fn partition(random: &mut Rng, count: u64) -> Blow {
        match count % 3 {
            0 => Blow::SplitWithLeader,
            1 if random.bool() => Blow::SplitWithLeader,
            1 => Blow::SplitWithout,
            _ => match random.u64(..4) {
                0 => Blow::MuteLeader,
                1 => Blow::DeafLeader,
                2 => Blow::PartPair,
                _ => Blow::MutePair,
            },
        }
    }
}

impl Plan {
    /// All blows, well mixed.
    pub(crate) fn draw(self, random: &mut Rng, voters: usize) -> Vec<Blow> {
        let kills = (0..self.kills).map(|_| Blow::kill(random, voters)).collect::<Vec<_>>();
        let stops = (0..self.stops).map(|_| Blow::stop(random)).collect();
        let parts = (0..self.partitions).map(|at| Blow::partition(random, at)).collect();
        let mut blows = [kills, stops, parts].concat();
        random.shuffle(&mut blows);
        blows
    }
}
