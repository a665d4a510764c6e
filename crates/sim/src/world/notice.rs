//! What a candidacy wants known: for the history, and for whoever supervises the work.
//!
//! Assumes: notices come in the order in which they were given out.
//! Promises: instants on a process's own clock stand in the history as instants of the world.

use incumbent_protocol::candidacy::{Notice, Wish};
use incumbent_protocol::history;
use incumbent_protocol::standing::Reason;
use incumbent_protocol::succession;

use super::{World, small};
use crate::process::Held;
use crate::queue::Event;
use crate::scribe::told;

impl World<'_> {
    pub(super) fn notice(&mut self, number: u8, index: usize, notice: &Notice) {
        let process = &mut self.processes[usize::from(number)];
        let election = self.elections[index].clone();
        let line = match *notice {
            Notice::Rejected(_) => {
                // A user who is told so sets things right and tries again.
                if let Some(part) = &mut process.seats[index].part {
                    part.wanted = Wish::Watch;
                }
                let life = process.life;
                let later = self.now + self.story.setting.lease * 3 / 2;
                let (process, seat) = (number, small(index));
                self.queue.push(later, Event::Wish { process, seat, life });
                return;
            }
            Notice::Joined { id, life } => {
                history::Event::Joined { election, id, life: life.as_micros() }
            }
            Notice::Evicted { id } => history::Event::Evicted { election, id },
            Notice::Paced { round } => {
                let round_us = u64::try_from(round.as_micros()).unwrap_or(u64::MAX);
                history::Event::Paced { election, round_us }
            }
            Notice::Member(ref news) => {
                let (id, who) = (news.id, news.candidate.clone());
                if news.came {
                    history::Event::Came { election, id, who }
                } else {
                    history::Event::Buried { election, id, who }
                }
            }
            _ => match told(notice, election, |at| process.when(at)) {
                Some(line) => line,
                None => return,
            },
        };
        self.scribe.line(self.now, &process.id, line);
        self.heed(number, index, notice);
    }

    /// What the supervisor of the work makes of a notice.
    pub(super) fn heed(&mut self, number: u8, index: usize, notice: &Notice) {
        let seat = &mut self.processes[usize::from(number)].seats[index];
        match *notice {
            Notice::Gained { term, lease, .. } => {
                let until = lease.valid_until();
                let sure = true;
                seat.held = Some(Held { term, until, sure });
                self.tally.gained += 1;
                self.pass_on(number, index, succession::Input::Gained(term));
                self.begin_work(number, index, term);
            }
            Notice::Renewed { term, lease } => {
                let until = lease.valid_until();
                let sure = true;
                seat.held = Some(Held { term, until, sure });
            }
            Notice::Unsure { .. } => {
                if let Some(held) = &mut seat.held {
                    held.sure = false;
                }
            }
            Notice::Lost { reason, .. } => {
                let held = seat.held.take();
                self.deposed |= reason == Reason::Deposed;
                self.pass_on(number, index, succession::Input::Lost);
                let held = held.filter(|_| reason == Reason::Ending);
                self.end_work(number, index, held);
            }
            Notice::Joined { .. } => self.tally.joined += 1,
            Notice::Evicted { .. } => self.tally.evicted += 1,
            Notice::Paced { .. } => {
                let timing = *seat.candidacy.timing();
                self.pass_on(number, index, succession::Input::Timing(timing));
            }
            Notice::Leader(_) | Notice::Rejected(_) | Notice::WentBack(_) | Notice::Member(_) => {}
        }
    }
}
