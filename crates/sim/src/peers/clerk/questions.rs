//! How questions are put to voters, and put again to those that do not answer.
//!
//! Assumes: what is sent may be lost. Promises: a question is put again later each time, as in
//! `incumbent`'s `peers/node.rs`; only the answers to the last one count.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use incumbent_protocol::node::NodeId;
use incumbent_protocol::ratify::Ask;

use super::{Clerk, Clocks, Errand, Question, Stage};
use crate::peers::words::{Key, Message, Value};

/// After this long without an answer a question is put again: it may have been lost.
const AGAIN: Duration = Duration::from_millis(60);

/// After this long at the latest.
const AGAIN_MAX: Duration = Duration::from_secs(1);

impl Clerk {
    pub(super) fn put(&mut self, now: Clocks, key: Key, ask: Ask<Value>) {
        let electorate = Rc::clone(&self.electorate);
        let to = electorate.voters().clone();
        self.question(now, to, |id| Message::Ask { id, electorate, key, ask });
    }

    pub(super) fn put_inventory(&mut self, now: Clocks) {
        let electorate = Rc::clone(&self.electorate);
        let to = electorate.voters().clone();
        self.question(now, to, |id| Message::Inventory { id, electorate });
    }

    pub(super) fn question(
        &mut self,
        now: Clocks,
        to: BTreeSet<NodeId>,
        message: impl FnOnce(u64) -> Message,
    ) {
        let id = self.next;
        self.next += 1;
        let message = message(id);
        self.sends.extend(to.iter().map(|node| (*node, message.clone())));
        let (again_at, patience) = (now.local + AGAIN, AGAIN);
        let clocks = BTreeMap::new();
        let question = Question { id, message, waiting: to, again_at, patience, clocks };
        if let Some(errand) = &mut self.errand {
            errand.question = Some(question);
        }
    }

    pub(super) fn put_again(&mut self, now: Clocks) {
        if matches!(&self.errand, Some(Errand { stage: Stage::Amending { .. }, .. })) {
            return self.amend_again(now);
        }
        let Some(question) = self.errand.as_mut().and_then(|errand| errand.question.as_mut())
        else {
            return;
        };
        question.patience = (question.patience * 2).min(AGAIN_MAX);
        question.again_at = now.local + question.patience;
        let again = question.waiting.iter().map(|node| (*node, question.message.clone()));
        self.sends.extend(again);
    }
}
