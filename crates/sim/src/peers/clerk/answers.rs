//! What a clerk makes of what voters answer.

use core::time::Duration;
use std::collections::BTreeMap;
use std::rc::Rc;

use incumbent_protocol::node::NodeId;
use incumbent_protocol::ratify::amend::{Amendment, Answer, Move, Question as Asked};
use incumbent_protocol::ratify::proposal::Sight;
use incumbent_protocol::ratify::voter::Inventory;
use incumbent_protocol::ratify::{Electorate, Reply, Step};
use incumbent_protocol::time::StoreTime;

use super::{Aim, Clerk, Clocks, Finished, Stage};
use crate::peers::words::{Key, Message, Value};

/// For this long a read waits for voters to be of one mind.
const PATIENCE: Duration = Duration::from_millis(4);

impl Clerk {
    /// Takes an answer. Those to questions that are not asked any more are nobody's.
    pub(in crate::peers) fn hear(&mut self, now: Clocks, from: NodeId, message: Message) {
        let (Message::Answer { id, .. } | Message::Registers { id, .. }) = message else { return };
        let errand = self.errand.as_mut();
        let question = errand.and_then(|errand| errand.question.as_mut());
        let Some(question) = question.filter(|question| question.id == id) else { return };
        question.waiting.remove(&from);
        match message {
            Message::Answer { now: theirs, reply, .. } => {
                question.clocks.insert(from, theirs);
                self.hear_reply(now, from, reply);
            }
            Message::Registers { inventory, .. } => self.hear_inventory(now, from, inventory),
            _ => {}
        }
    }

    fn hear_reply(&mut self, now: Clocks, from: NodeId, reply: Reply<Value>) {
        let Some(errand) = &mut self.errand else { return };
        match &mut errand.stage {
            Stage::Looking { reading, looks, until } => match reading.hear(from, reply) {
                Sight::Known(value) => {
                    let theirs = self.set(now);
                    self.seen(now, value.as_ref(), theirs);
                }
                Sight::Outdated(electorate) => {
                    let looks = *looks + 1;
                    if self.adopt(electorate) { self.look(now, looks) } else { self.give_up() }
                }
                Sight::Wait | Sight::Unclear => {
                    *until = reading.is_unclear().then(|| now.local + PATIENCE);
                }
            },
            Stage::Heeding { proposal, .. } => match proposal.hear(from, reply) {
                Step::Wait | Step::Chosen => {}
                Step::Decide(value) => self.heeded(now, value),
                Step::Overruled(by) => {
                    self.proposer.heard_of(by);
                    let aim = self.aim();
                    self.step_aside(now, aim);
                }
                Step::Outdated(electorate) => match self.aim() {
                    Some(aim) if self.adopt(electorate) => self.heed(now, aim),
                    _ => self.give_up(),
                },
            },
            Stage::Accepting { proposal, value, .. } => match proposal.hear(from, reply) {
                Step::Wait | Step::Decide(_) => {}
                Step::Chosen => {
                    self.proposer.chosen(Key::Election, proposal, value.clone());
                    self.set_if_majority(now);
                    self.chosen(now);
                }
                Step::Overruled(by) => {
                    self.proposer.heard_of(by);
                    self.set_if_majority(now);
                    self.doubtful(now);
                }
                Step::Outdated(electorate) => {
                    self.set_if_majority(now);
                    if self.adopt(electorate) { self.doubtful(now) } else { self.give_up() }
                }
            },
            Stage::Amending { amendment, serial } => {
                let step = amendment.hear(from, *serial, Answer::Replies(vec![reply]));
                self.amended(now, step);
            }
            Stage::Founding { .. } | Stage::Aside { .. } => {}
        }
    }

    /// What the register is heeded for; it goes on elsewhere.
    fn aim(&mut self) -> Option<Aim> {
        match &mut self.errand.as_mut()?.stage {
            Stage::Heeding { aim, .. } | Stage::Accepting { aim, .. } => {
                Some(core::mem::replace(aim, Aim::Decide))
            }
            _ => None,
        }
    }

    fn heeded(&mut self, now: Clocks, value: Option<Value>) {
        self.overruled = 0;
        let theirs = self.set(now);
        let Some(aim) = self.aim() else { return };
        let Some(errand) = &mut self.errand else { return };
        let stage = Stage::Aside { until: now.local, aim: None };
        let Stage::Heeding { proposal, .. } = core::mem::replace(&mut errand.stage, stage) else {
            return;
        };
        match aim {
            Aim::Read | Aim::Reread { .. } => match value {
                None => self.seen(now, None, theirs),
                Some(value) => self.propose(now, proposal, value, Aim::Reread { theirs }),
            },
            Aim::Decide => self.decide(now, theirs, proposal, value.as_ref()),
            Aim::Insist { value: mine, answer, ended } if value.as_ref() == Some(&mine) => {
                let aim = Aim::Insist { value: mine.clone(), answer, ended };
                self.propose(now, proposal, mine, aim);
            }
            // Nobody can tell here whether the other one came after it.
            Aim::Insist { .. } => self.give_up(),
            Aim::Complete { answer } => self.finish(answer),
        }
    }

    /// What it proposed was chosen.
    fn chosen(&mut self, now: Clocks) {
        let Some(aim) = self.aim() else { return };
        match aim {
            Aim::Reread { theirs } => {
                let Some(errand) = &self.errand else { return };
                let Stage::Accepting { value, .. } = &errand.stage else { return };
                let value = value.clone();
                self.seen(now, Some(&value), theirs);
            }
            Aim::Decide | Aim::Read => self.renewed(),
            Aim::Complete { answer } => self.finish(answer),
            Aim::Insist { answer, ended, .. } => {
                self.rings = Some(Message::Rung { ended });
                self.finish(answer);
            }
        }
    }

    /// What it proposed may be chosen, or not.
    fn doubtful(&mut self, now: Clocks) {
        match self.aim() {
            Some(Aim::Reread { .. }) => self.heed(now, Aim::Read),
            // Somebody was faster: that will be seen.
            Some(Aim::Complete { answer }) => self.finish(answer),
            Some(aim) => self.heed(now, aim),
            None => {}
        }
    }

    fn hear_inventory(&mut self, now: Clocks, from: NodeId, inventory: Inventory<Key>) {
        let Some(errand) = &mut self.errand else { return };
        match &mut errand.stage {
            Stage::Amending { amendment, serial } => {
                let step = amendment.hear(from, *serial, Answer::Inventory(inventory));
                self.amended(now, step);
            }
            Stage::Founding { lineages, kept } => {
                let next = match inventory {
                    Inventory::Outdated(electorate) => Some(electorate),
                    Inventory::NoVoter { lineage: Some(lineage) }
                        if self.electorate.number() == 0 =>
                    {
                        lineages.insert(from, lineage);
                        let all =
                            self.electorate.voters().iter().all(|it| lineages.contains_key(it));
                        all.then(|| Electorate::founded(lineages.clone()))
                    }
                    Inventory::Keys { .. } => {
                        kept.insert(from);
                        (self.electorate.voters() == kept).then(|| self.electorate.confirmed())
                    }
                    Inventory::NoVoter { .. } => None,
                };
                let Some(next) = next else { return };
                if self.adopt(next) { self.set_out(now) } else { self.give_up() }
            }
            _ => {}
        }
    }

    pub(super) fn amend(&mut self, now: Clocks, amendment: Box<Amendment<Key, Value>>) {
        let Some((serial, asked)) = amendment.question() else { return self.give_up() };
        let electorate = Rc::new(amendment.electorate().clone());
        let whom = amendment.whom();
        self.enter(Stage::Amending { amendment, serial });
        let ask = match asked {
            Asked::List => None,
            // One: only one election is held.
            Asked::Asks(mut asks) => asks.pop(),
        };
        self.question(now, whom, |id| match ask {
            None => Message::Inventory { id, electorate },
            Some((key, ask)) => Message::Ask { id, electorate, key, ask },
        });
    }

    /// Nobody answers any more.
    pub(super) fn amend_again(&mut self, now: Clocks) {
        let Some(errand) = &mut self.errand else { return };
        if let Stage::Amending { amendment, .. } = &mut errand.stage {
            let step = match amendment.go_on() {
                Move::Contended => Move::Ask,
                step => step,
            };
            self.amended(now, step);
        }
    }

    fn amended(&mut self, now: Clocks, step: Move) {
        match step {
            Move::Wait => {}
            // A pause would only be one of milliseconds: the question is put again after one anyway.
            Move::Ask | Move::Contended => {
                let Some(errand) = &mut self.errand else { return };
                let stage = Stage::Aside { until: now.local, aim: None };
                let before = core::mem::replace(&mut errand.stage, stage);
                if let Stage::Amending { amendment, .. } = before {
                    self.amend(now, amendment);
                }
            }
            Move::Done(electorate) => {
                self.adopt(electorate);
                self.finish(Finished::Amend(true));
            }
            Move::Refused(_) => self.finish(Finished::Amend(false)),
        }
    }

    fn clocks(&self) -> Option<&BTreeMap<NodeId, StoreTime>> {
        Some(&self.errand.as_ref()?.question.as_ref()?.clocks)
    }

    /// Takes over the voters' clock: the one in the middle.
    fn set(&mut self, now: Clocks) -> StoreTime {
        let mut all: Vec<StoreTime> =
            self.clocks().into_iter().flat_map(BTreeMap::values).copied().collect();
        all.sort_unstable();
        let theirs = all.get(all.len() / 2).copied().unwrap_or(now.wall);
        let signed = |time: StoreTime| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        self.ahead = signed(theirs).saturating_sub(signed(now.wall));
        theirs
    }

    fn set_if_majority(&mut self, now: Clocks) {
        let clocks = self.clocks();
        if clocks.is_some_and(|clocks| self.electorate.is_majority(clocks.keys())) {
            self.set(now);
        }
    }
}
