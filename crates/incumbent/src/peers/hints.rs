//! The textbook algorithm: whoever is picked leads, and nobody is asked.
//!
//! Assumes: nothing.
//! Promises: nothing but a hint. Each process keeps a sheet of its own, which is not even kept on a
//! disk; where messages are lost several may lead, and tokens of different leaders cannot be
//! compared. Whoever hears that another was picked lets go with its next beat.

use std::collections::BTreeMap;

use incumbent_protocol::identity::{CandidateId, ElectionName};
use incumbent_protocol::lease::page::Page;
use incumbent_protocol::lease::request::Holding;
use incumbent_protocol::lease::row::{Record, State};
use incumbent_protocol::rules::Rules;
use incumbent_protocol::term::{Recorded, Term};
use incumbent_protocol::time::StoreTime;

use super::node::Node;
use super::sheet::{Sheet, no_rounds};
use crate::clock;
use crate::error::Error;
use crate::store::arbiter::Plan;

/// What a process makes up for itself.
#[derive(Debug)]
pub(super) struct Hints {
    node: Node,
    me: CandidateId,
    rules: Rules,
    sheets: BTreeMap<ElectionName, Sheet>,
    /// Since when another is seen to lead, by this process's clock.
    others: BTreeMap<ElectionName, (CandidateId, StoreTime)>,
    looks: u64,
}

impl Hints {
    pub(super) const fn new(node: Node, me: CandidateId, rules: Rules) -> Self {
        Hints { node, me, rules, sheets: BTreeMap::new(), others: BTreeMap::new(), looks: 0 }
    }

    /// What this process believes of an election.
    pub(super) async fn sheet(&mut self, election: &ElectionName) -> Sheet {
        let nominee = self.node.nominee(election).await;
        self.seen(election, nominee)
    }

    /// The same, if this one is seen to lead.
    pub(super) fn seen(&mut self, election: &ElectionName, leader: Option<CandidateId>) -> Sheet {
        let own = self.sheets.get(election).cloned().unwrap_or_default();
        match leader.filter(|leader| *leader != self.me) {
            None => own,
            Some(other) => {
                let page = Page { record: self.record(election, other), ..own.page };
                Sheet { page, ..own }
            }
        }
    }

    /// A record that shows another one leading. It beats with every look: whether it lives is for
    /// peers to say.
    fn record(&mut self, election: &ElectionName, other: CandidateId) -> Option<Record> {
        let now = clock::wall();
        let seen = self.others.entry(election.clone()).or_insert_with(|| (other.clone(), now));
        if seen.0 != other {
            *seen = (other, now.max(after(seen.1)));
        }
        let (holder, since) = seen.clone();
        self.looks += 1;
        Some(Record {
            state: State::Held,
            holder,
            term: Term::recorded(since.as_micros().max(1))?,
            beat: self.looks,
            rules: self.rules,
            since,
            beaten_at: now,
            successor: None,
        })
    }

    /// Goes on leading, unless another was picked.
    pub(super) async fn renew(&mut self, election: &ElectionName, holding: &Holding) -> bool {
        let nominee = self.node.nominee(election).await;
        if nominee.is_some_and(|nominee| nominee != self.me) {
            return false;
        }
        let own = self.sheets.get(election);
        let renewed = own.and_then(|sheet| sheet.renewed(holding, clock::wall()));
        renewed.map(|sheet| self.sheets.insert(election.clone(), sheet)).is_some()
    }

    /// Does what this process decided for itself.
    pub(super) fn carry_out(&mut self, plan: &Plan) -> Result<(), Error> {
        match plan {
            Plan::Claim { election, claim } => {
                let sheet = self.sheets.entry(election.clone()).or_default();
                // It was decided on what another was seen to do, which is not on the own sheet.
                let mut claim = claim.clone();
                claim.expected = sheet.page.record.as_ref().and_then(Record::mark);
                *sheet = sheet.after(&Plan::Claim { election: election.clone(), claim })?;
                Ok(())
            }
            Plan::Release { election, .. } => {
                let sheet = self.sheets.entry(election.clone()).or_default();
                *sheet = sheet.after(plan)?;
                Ok(())
            }
            Plan::Order { .. } | Plan::Forget { .. } => {
                let problem = "without ratification nobody keeps it: leave out --unratified";
                Err(Error::Setting { setting: "order", problem: problem.to_owned() })
            }
            Plan::Register { .. } => Err(no_rounds()),
        }
    }

    /// All elections in which this process had a part.
    pub(super) fn elections(&self) -> Vec<ElectionName> {
        self.sheets.keys().chain(self.others.keys()).cloned().collect()
    }
}

fn after(time: StoreTime) -> StoreTime {
    StoreTime::from_micros(time.as_micros() + 1)
}
