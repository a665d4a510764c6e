//! How a world of peers heals, and what is due from then on.
//!
//! Assumes: the story has no fault after this.
//! Promises: everything that was broken works, except for disks that were lost; every process runs
//! and wants to lead; and the history says by when somebody must lead and when all must know.

use incumbent_protocol::candidacy::Input;
use incumbent_protocol::history;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::time::Time;

use super::{Event, World, small};
use crate::clock::{SECOND, Span};
use crate::peers::fault::Kind;

impl World<'_> {
    pub(super) fn heal(&mut self) {
        self.healed = Some(self.now);
        self.network.heal();
        // Operators go on until nothing of what they ordered is in force.
        let faults = &self.story.faults;
        self.lasting
            .retain(|(index, _)| faults.get(*index).is_some_and(|it| it.kind.is_of_conduct()));
        for &(index, _) in &self.lasting {
            self.queue.push(self.now, Event::Over { index });
        }
        for number in 0..small(self.nodes.len()) {
            self.mend(number);
        }
        let leader_due = self.now + self.leader_takes();
        let agreement_due = leader_due + self.agreement_takes();
        for election in self.elections.clone() {
            let line = history::Event::Healed {
                election,
                leader_due: Time::from_nanos(leader_due),
                agreement_due: Time::from_nanos(agreement_due),
            };
            self.scribe.world(self.now, line);
        }
        self.queue.push(agreement_due, Event::Quiet);
    }

    fn mend(&mut self, number: u8) {
        let node = &mut self.nodes[usize::from(number)];
        node.clock.set_skew(self.now, self.story.setting.skews[usize::from(number)]);
        node.right_wall();
        node.crash_kept = None;
        node.disk_full = false;
        node.disk_slow = 0;
        let life = node.life;
        if node.frozen.is_some() {
            node.frozen = Some(self.now);
            self.resume(number, life);
        }
        self.restate(number);
        self.start(number);
        self.cure(number);
        let node = &mut self.nodes[usize::from(number)];
        let now = node.clocks(self.now);
        if let Some(parts) = &mut node.parts {
            for it in &mut parts.elections {
                it.candidacy.handle(now.local, Input::Heir(None));
            }
        }
        self.nodes[usize::from(number)].wakes_at = crate::clock::At::MAX;
        self.wake_now(number);
    }

    /// By when somebody must lead. One thing after the other: links are made anew; a bar runs out; a
    /// reservation for somebody who is gone runs out, or whoever was deposed bids again; a nominee
    /// that does not lead in time is waited for; a run; and what a takeover takes.
    fn leader_takes(&self) -> Span {
        let setting = &self.story.setting;
        let bound = u64::try_from(self.timing.failover_bound().as_nanos()).unwrap_or(u64::MAX);
        let runs = setting.message * (40 + 10 * setting.nodes as u64);
        let bars = self.story.faults.iter().filter(|fault| fault.kind == Kind::HoldOff);
        let bars = bars.map(|fault| (fault.at + fault.span).saturating_sub(self.now));
        let elections = 0..small(self.elections.len());
        let kept = elections.flat_map(|election| {
            self.nodes.iter().map(move |node| node.barred_for(election, self.now))
        });
        let bars = bars.chain(kept).max();
        // An operator notices what is still in force, and asks twice; a leader notices that it is asked
        // to hand over, and ends its work.
        let conduct = self.story.faults.iter().any(|fault| fault.kind.is_of_conduct());
        let orders = if conduct { setting.lease * 4 } else { 0 };
        let waits = setting.lease * 3 + orders + bound + runs + setting.heartbeat;
        // On the slowest clock.
        (2 * SECOND + bars.unwrap_or(0) + waits) * 20 / 19
    }

    /// How long it takes until all have heard of the leader.
    fn agreement_takes(&self) -> Span {
        let setting = &self.story.setting;
        setting.lease * 2 + setting.message * 10
    }
}
