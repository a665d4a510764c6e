//! What a candidacy wants known: for the history, and for whoever supervises the work.
//!
//! Assumes: notices come in the order in which they were given out.
//! Promises: instants on a process's own clock stand in the history as instants of the world.

use incumbent_protocol::candidacy::Notice;
use incumbent_protocol::history;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::standing::Reason;
use incumbent_protocol::time::Time;

use super::{Event, World};
use crate::peers::clerk::Clocks;
use crate::peers::node::Parts;
use crate::process::Held;

impl World<'_> {
    /// Passes on all notices. Whether there were any.
    pub(super) fn note(&mut self, number: u8, parts: &mut Parts, now: Clocks) -> bool {
        let mut any = false;
        while let Some(notice) = parts.candidacy.poll_notice() {
            any = true;
            self.record(number, &notice);
            self.supervise(number, parts, now, &notice);
        }
        any
    }

    fn record(&mut self, number: u8, notice: &Notice) {
        let node = &self.nodes[usize::from(number)];
        let election = self.election.clone();
        let until = |at: Time| Time::from_nanos(node.when(at));
        let line = match *notice {
            Notice::Gained { term, lease, opening } => history::Event::Gained {
                election,
                term,
                valid_until: until(lease.valid_until()),
                opening,
            },
            Notice::Renewed { term, lease } => {
                history::Event::Renewed { election, term, valid_until: until(lease.valid_until()) }
            }
            Notice::Unsure { term } => history::Event::Unsure { election, term },
            Notice::Lost { term, reason } => history::Event::Lost { election, term, reason },
            Notice::Leader(ref leader) => history::Event::Saw {
                election,
                leader: leader.as_ref().map(|leader| leader.id.clone()),
                term: leader.as_ref().map(|leader| leader.term),
            },
            _ => return,
        };
        self.scribe.line(self.now, &node.id, line);
    }

    fn supervise(&mut self, number: u8, parts: &mut Parts, now: Clocks, notice: &Notice) {
        match *notice {
            Notice::Gained { term, lease, .. } => {
                parts.held = Some(Held { term, until: lease.valid_until(), sure: true });
                parts.wants = false;
                self.founded = true;
                self.tally.gained += 1;
                self.begin_work(number, parts, term);
            }
            Notice::Renewed { term, lease } => {
                parts.held = Some(Held { term, until: lease.valid_until(), sure: true });
            }
            Notice::Unsure { .. } => {
                if let Some(held) = &mut parts.held {
                    held.sure = false;
                }
            }
            Notice::Lost { reason, .. } => {
                let held = parts.held.take().filter(|_| reason == Reason::Ending);
                self.end_work(number, parts, now, held);
            }
            Notice::Rejected(_) => {
                // A user who is told so tries again later.
                parts.wants = false;
                let life = self.nodes[usize::from(number)].life;
                let later = self.now + self.story.setting.lease;
                self.queue.push(later, Event::Campaign { node: number, life });
            }
            _ => {}
        }
    }
}
