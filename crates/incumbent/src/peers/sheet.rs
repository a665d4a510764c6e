//! What voters keep of an election: its page, and the last of its terms and orders.
//!
//! Assumes: voters do not read it. Whoever proposes a change read the sheet before it.
//! Promises: a sheet reads back as it was written, by this version and by later ones; one of a later
//! version is refused, never guessed at. Orders that cannot be read stay as they were written until an
//! order takes their place. It stays small, because every beat writes all of it.

use std::time::Duration;

use incumbent_protocol::identity::{CandidateId, CandidateName, ElectionName};
use incumbent_protocol::lease::order::OrderError;
use incumbent_protocol::lease::page::Page;
use incumbent_protocol::lease::request::{Claim, Holding};
use incumbent_protocol::lease::row::{Record, State};
use incumbent_protocol::rules::{Expiry, Rules};
use incumbent_protocol::term::{Recorded, Term};
use incumbent_protocol::time::StoreTime;
use serde::{Deserialize, Serialize};

use super::message::Value;
use crate::error::Error;
use crate::store::arbiter::{Plan, controls, controls_text, misfit, odd};
use crate::store::office::{OrderRecord, Removing, TermRecord, Warrant};

/// How many terms, and how many orders, are kept for people.
const KEPT: usize = 20;

/// Longest reason, and longest name of whoever gives it, that is kept, in characters.
const REASON_MAX: usize = 200;

/// The version of what [`Sheet::write`] writes.
const VERSION: u8 = 1;

/// One election.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sheet {
    pub(super) page: Page,
    /// Newest first.
    pub(super) terms: Vec<TermRecord>,
    /// Newest first.
    pub(super) orders: Vec<OrderRecord>,
    /// What operators ordered, as it is written, if this program cannot read it.
    pub(super) unread: Option<String>,
}

impl Sheet {
    /// Reads what a majority accepted; a sheet that was never written is empty.
    pub(super) fn read(value: Option<&Value>) -> Result<Sheet, Error> {
        let bytes = match value {
            None => return Ok(Sheet::default()),
            Some(Value::Sheet(bytes)) => bytes.as_slice(),
            Some(Value::Electorate(_)) => return Err(odd("kind")),
        };
        match bytes {
            [VERSION, body @ ..] => {
                let body: Body = postcard::from_bytes(body).map_err(|_| odd("shape"))?;
                body.sheet()
            }
            [version, ..] => {
                let problem =
                    format!("version {version} of an election; this program knows {VERSION}");
                Err(Error::Open { place: "the peers' register".to_owned(), problem })
            }
            [] => Err(odd("shape")),
        }
    }

    pub(super) fn write(&self) -> Result<Value, Error> {
        let written = postcard::to_extend(&Body::of(self), vec![VERSION]);
        written
            .map(Value::Sheet)
            .map_err(|error| Error::Store(format!("an election cannot be written: {error}")))
    }

    /// The sheet with the term prolonged, if it still stands.
    pub(super) fn renewed(&self, holding: &Holding, now: StoreTime) -> Option<Sheet> {
        let page = self.page.renewed(holding, now)?;
        Some(Sheet { page, ..self.clone() })
    }

    /// The sheet once a plan was carried out.
    pub(super) fn after(&self, plan: &Plan) -> Result<Sheet, Error> {
        match plan {
            Plan::Claim { election, claim } => self.claimed(election, claim),
            Plan::Release { now, successor, .. } => {
                let page = self.page.released(successor.clone());
                let mut sheet = Sheet { page, ..self.clone() };
                sheet.end_term("resigned", *now, None);
                Ok(sheet)
            }
            Plan::Order { warrant, decree, now } => {
                let page = self.page.obeying(decree).ok_or_else(|| misfit(&warrant.election))?;
                let mut sheet = Sheet { page, ..self.clone() };
                if decree.ends {
                    sheet.end_term(warrant.ending(), *now, Some(warrant));
                }
                sheet.note(warrant, decree.term, *now);
                Ok(sheet)
            }
            Plan::Forget { .. } if self.is_forgotten() => Err(OrderError::Unknown.into()),
            Plan::Forget { removing, removal, now } => {
                let page =
                    self.page.forgotten(removal).ok_or_else(|| misfit(&removing.election))?;
                let order = OrderRecord {
                    at: *now,
                    verb: Removing::VERB.to_owned(),
                    subject: Some(removing.election.to_string()),
                    term: removal.term,
                    actor: short(&removing.actor),
                    reason: removing.reason.as_deref().map(short),
                };
                Ok(Sheet { page, terms: Vec::new(), orders: vec![order], unread: None })
            }
            Plan::Register { .. } => Err(no_rounds()),
        }
    }

    /// Whether its election was removed and not held since. What is left keeps terms growing.
    pub(super) fn is_forgotten(&self) -> bool {
        let record = self.page.record.as_ref();
        record.is_some_and(|record| record.state == State::Released) && self.terms.is_empty()
    }

    fn claimed(&self, election: &ElectionName, claim: &Claim) -> Result<Sheet, Error> {
        let page = self.page.claimed(claim).ok_or_else(|| misfit(election))?;
        let mut sheet = Sheet { page, ..self.clone() };
        sheet.end_term(claim.opening.as_str(), claim.since, None);
        let began = TermRecord {
            term: claim.term,
            leader: claim.candidate.name.to_string(),
            incarnation: claim.candidate.incarnation.to_string(),
            began: claim.since,
            opening: claim.opening.as_str().to_owned(),
            ended: None,
            ending: None,
            actor: None,
            note: None,
        };
        sheet.terms.insert(0, began);
        sheet.terms.truncate(KEPT);
        Ok(sheet)
    }

    fn end_term(&mut self, ending: &str, now: StoreTime, warrant: Option<&Warrant>) {
        let Some(open) = self.terms.first_mut().filter(|term| term.ended.is_none()) else {
            return;
        };
        open.ended = Some(now);
        open.ending = Some(ending.to_owned());
        open.actor = warrant.map(|warrant| short(&warrant.papers.actor));
        open.note = warrant.and_then(|warrant| warrant.papers.reason.as_deref().map(short));
    }

    fn note(&mut self, warrant: &Warrant, term: Term, at: StoreTime) {
        let record = OrderRecord {
            at,
            verb: warrant.order.word().to_owned(),
            subject: warrant.order.subject().map(ToString::to_string),
            term,
            actor: short(&warrant.papers.actor),
            reason: warrant.papers.reason.as_deref().map(short),
        };
        self.orders.insert(0, record);
        self.orders.truncate(KEPT);
    }
}

/// As much of a text as is kept.
fn short(text: &str) -> String {
    text.chars().take(REASON_MAX).collect()
}

/// Registers of a roster are for databases.
pub(super) fn no_rounds() -> Error {
    let problem = "peers hold elections by ring or bully; rounds need a database".to_owned();
    Error::Setting { setting: "protocol", problem }
}

/// A sheet as it is written: numbers and text only.
#[derive(Serialize, Deserialize)]
struct Body {
    record: Option<RecordBody>,
    controls: Option<String>,
    terms: Vec<TermBody>,
    orders: Vec<OrderBody>,
}

#[derive(Serialize, Deserialize)]
struct RecordBody {
    state: State,
    holder: CandidateId,
    term: u64,
    beat: u64,
    lease_us: u64,
    margin_us: u64,
    since: StoreTime,
    beaten_at: StoreTime,
    successor: Option<CandidateName>,
}

#[derive(Serialize, Deserialize)]
struct TermBody {
    term: u64,
    leader: String,
    incarnation: String,
    began: StoreTime,
    opening: String,
    ended: Option<StoreTime>,
    ending: Option<String>,
    actor: Option<String>,
    note: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct OrderBody {
    at: StoreTime,
    verb: String,
    subject: Option<String>,
    term: u64,
    actor: String,
    reason: Option<String>,
}

impl Body {
    fn of(sheet: &Sheet) -> Body {
        let micros = |span: Duration| u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
        let record = sheet.page.record.as_ref().map(|record| RecordBody {
            state: record.state,
            holder: record.holder.clone(),
            term: record.term.get(),
            beat: record.beat,
            lease_us: micros(record.rules.lease()),
            margin_us: micros(record.rules.margin()),
            since: record.since,
            beaten_at: record.beaten_at,
            successor: record.successor.clone(),
        });
        let term = |term: &TermRecord| TermBody {
            term: term.term.get(),
            leader: term.leader.clone(),
            incarnation: term.incarnation.clone(),
            began: term.began,
            opening: term.opening.clone(),
            ended: term.ended,
            ending: term.ending.clone(),
            actor: term.actor.clone(),
            note: term.note.clone(),
        };
        let order = |order: &OrderRecord| OrderBody {
            at: order.at,
            verb: order.verb.clone(),
            subject: order.subject.clone(),
            term: order.term.get(),
            actor: order.actor.clone(),
            reason: order.reason.clone(),
        };
        // What a later version wrote goes back as it came, unless an order took its place.
        let unread = sheet.unread.as_deref().filter(|it| controls(Some(it)) == sheet.page.controls);
        Body {
            record,
            controls: unread.map(str::to_owned).or_else(|| controls_text(&sheet.page.controls)),
            terms: sheet.terms.iter().map(term).collect(),
            orders: sheet.orders.iter().map(order).collect(),
        }
    }

    fn sheet(self) -> Result<Sheet, Error> {
        let record = self.record.map(RecordBody::record).transpose()?;
        let controls = controls(self.controls.as_deref());
        let unread = self.controls.filter(|_| controls.is_unreadable());
        let terms = self.terms.into_iter().map(TermBody::record).collect::<Result<_, _>>()?;
        let orders = self.orders.into_iter().map(OrderBody::record).collect::<Result<_, _>>()?;
        Ok(Sheet { page: Page { record, controls }, terms, orders, unread })
    }
}

impl RecordBody {
    fn record(self) -> Result<Record, Error> {
        let (lease, margin) =
            (Duration::from_micros(self.lease_us), Duration::from_micros(self.margin_us));
        Ok(Record {
            state: self.state,
            holder: self.holder,
            term: recorded(self.term)?,
            beat: self.beat,
            rules: Rules::new(lease, margin, Expiry::Observed).map_err(|_| odd("lease"))?,
            since: self.since,
            beaten_at: self.beaten_at,
            successor: self.successor,
        })
    }
}

impl TermBody {
    fn record(self) -> Result<TermRecord, Error> {
        Ok(TermRecord {
            term: recorded(self.term)?,
            leader: self.leader,
            incarnation: self.incarnation,
            began: self.began,
            opening: self.opening,
            ended: self.ended,
            ending: self.ending,
            actor: self.actor,
            note: self.note,
        })
    }
}

impl OrderBody {
    fn record(self) -> Result<OrderRecord, Error> {
        Ok(OrderRecord {
            at: self.at,
            verb: self.verb,
            subject: self.subject,
            term: recorded(self.term)?,
            actor: self.actor,
            reason: self.reason,
        })
    }
}

fn recorded(number: u64) -> Result<Term, Error> {
    Term::recorded(number).ok_or_else(|| odd("term"))
}

#[cfg(test)]
mod tests {
    use incumbent_protocol::identity::Incarnation;

    use super::*;

    /// As a later version might write it.
    const LATER: &str = r#"{"version":1,"quota":{"most":3},"paused":null}"#;

    fn written(controls: Option<&str>) -> Value {
        let holder = CandidateId::new("ann".parse().expect("a name"), Incarnation::from_random(7));
        let record = RecordBody {
            state: State::Held,
            holder,
            term: 5,
            beat: 1,
            lease_us: 3_000_000,
            margin_us: 300_000,
            since: StoreTime::from_micros(1),
            beaten_at: StoreTime::from_micros(2),
            successor: None,
        };
        let controls = controls.map(str::to_owned);
        let body = Body { record: Some(record), controls, terms: Vec::new(), orders: Vec::new() };
        Value::Sheet(postcard::to_extend(&body, vec![VERSION]).expect("written"))
    }

    fn controls_in(value: &Value) -> Option<String> {
        let Value::Sheet(bytes) = value else { panic!("no sheet: {value:?}") };
        postcard::from_bytes::<Body>(&bytes[1..]).expect("a body").controls
    }

    #[test]
    fn what_a_later_version_ordered_is_written_back_as_it_was() {
        let sheet = Sheet::read(Some(&written(Some(LATER)))).expect("read");
        assert!(sheet.page.controls.is_unreadable());
        let record = sheet.page.record.clone().expect("held");
        let holding = Holding { candidate: record.holder, term: record.term };
        let renewed = sheet.renewed(&holding, StoreTime::from_micros(9)).expect("it stands");
        let again = Sheet::read(Some(&renewed.write().expect("written"))).expect("read again");
        let page = again.page.released(None);
        let released = Sheet { page, ..again }.write().expect("written");
        assert_eq!(controls_in(&released).as_deref(), Some(LATER));
    }

    #[test]
    fn an_order_takes_the_place_of_what_cannot_be_read() {
        let mut sheet = Sheet::read(Some(&written(Some(LATER)))).expect("read");
        sheet.page.controls = controls(None);
        assert_eq!(controls_in(&sheet.write().expect("written")), None);
        assert_eq!(controls_in(&written(None)), None);
    }
}
