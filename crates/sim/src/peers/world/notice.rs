//! What a candidacy wants known: for the history, and for whoever supervises the work.
//!
//! Assumes: notices come in the order in which they were given out.
//! Promises: instants on a process's own clock stand in the history as instants of the world.

use incumbent_protocol::candidacy::Notice;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::standing::Reason;

use super::{Event, World, small};
use crate::peers::node::Parts;
use crate::peers::store::Clocks;
use crate::process::Held;
use crate::scribe::told;

impl World<'_> {
    /// Passes on all notices. Whether there were any.
    pub(super) fn note(&mut self, number: u8, parts: &mut Parts, now: Clocks) -> bool {
        let mut any = false;
        for election in 0..small(parts.elections.len()) {
            let at = usize::from(election);
            while let Some(notice) = parts.elections[at].candidacy.poll_notice() {
                any = true;
                self.record(number, election, &notice);
                self.supervise(number, parts, now, election, &notice);
            }
        }
        any
    }

    fn record(&mut self, number: u8, election: u8, notice: &Notice) {
        let node = &self.nodes[usize::from(number)];
        let election = self.elections[usize::from(election)].clone();
        let line = told(notice, election, |at| node.when(at));
        let Some(line) = line else { return };
        self.scribe.line(self.now, &node.id, line);
    }

    fn supervise(
        &mut self,
        number: u8,
        parts: &mut Parts,
        now: Clocks,
        election: u8,
        notice: &Notice,
    ) {
        let at = usize::from(election);
        let it = &mut parts.elections[at];
        match *notice {
            Notice::Gained { term, lease, .. } => {
                it.held = Some(Held { term, until: lease.valid_until(), sure: true });
                it.wants = false;
                self.tally.gained += 1;
                let before = self.led[at].replace(number);
                self.tally.followed += u64::from(before.is_some_and(|it| it != number));
                self.begin_work(number, parts, election, term);
            }
            Notice::Renewed { term, lease } => {
                it.held = Some(Held { term, until: lease.valid_until(), sure: true });
            }
            Notice::Unsure { .. } => {
                if let Some(held) = &mut it.held {
                    held.sure = false;
                }
            }
            Notice::Lost { reason, .. } => {
                self.tally.unheard +=
                    u64::from(reason != Reason::Resigned && reason != Reason::Deposed);
                let held = it.held.take().filter(|_| reason == Reason::Ending);
                self.end_work(number, parts, now, election, held);
            }
            Notice::Rejected(_) => {
                // A user who is told so tries again later.
                it.wants = false;
                let life = self.nodes[usize::from(number)].life;
                let later = self.now + self.story.setting.lease;
                self.queue.push(later, Event::Campaign { node: number, life, election });
            }
            _ => {}
        }
    }
}
