//! What a driver makes of what the store answers.
//!
//! Assumes: one piece of work at a time, which gives the store back.
//! Promises: clocks are looked at before anything is concluded. That the store is in trouble is said
//! once, and once that it is well again.

use incumbent_protocol::candidacy::Input;
use incumbent_protocol::succession::presence::{Call, News};
use incumbent_protocol::time::HeardAt;
use tracing::{info, warn};

use super::queue::Kind;
use super::seat::Seat;
use super::work::{Finished, Heard};
use super::{Driver, nominated};
use crate::clock;
use crate::error::{Error, Retry};
use crate::observe::Change;
use crate::reporter;

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// There is no store yet: those who are to keep it wait for each other.
    Waits,
    /// There is one, and it does not do what it should.
    Fails,
}

impl Driver {
    pub(super) fn finished(&mut self, finished: Finished) {
        self.running = None;
        self.idle = Some(finished.store);
        if let Some((call, heard)) = finished.rolled {
            self.rolled(&call, heard);
        }
        let Some(round) = finished.round else { return };
        let heard_at = HeardAt::after_answer(clock::now());
        self.look_at_clocks();
        self.report(round.error.as_ref(), round.waits);
        let well = round.error.is_none();
        self.queue.came_back(round.kind, well);
        if well && round.kind == Kind::Read {
            self.polls.spent += heard_at.time().since(round.asked_at.time());
        }
        if let (true, Kind::Write, Some((until, _))) = (well, round.kind, &mut self.closing) {
            // As long as terms are let go of, there is a point in waiting for the others.
            *until = (*until).max(clock::now() + self.default_timeout);
        }
        let (mut left, mut late) = (Vec::new(), Vec::new());
        for ((ticket, ask), outcome) in round.asks.into_iter().zip(round.answers) {
            let Some(outcome) = outcome else {
                left.push((ticket, ask));
                continue;
            };
            let Some(seat) = self.seats.get_mut(&ask.election) else {
                continue;
            };
            let asked_at = round.asked_at;
            let limit = seat.report.answered(asked_at, heard_at, &outcome, round.waits);
            late.extend(limit.map(|limit| (ask.election, limit)));
            seat.handle(clock::now(), Input::Answer { ticket, asked_at, heard_at, outcome });
        }
        self.queue.put_back(left);
        let took = heard_at.time().since(round.asked_at.time());
        reporter::came_late(&self.me.name, &late, took);
    }

    /// Tells every seat what the roll showed of its election.
    fn rolled(&mut self, call: &Call, mut heard: Result<Heard, Error>) {
        let now = clock::now();
        let every = self.seats.values().map(Seat::presence_every).min();
        let listed = self.seats.values().all(|seat| !seat.is_unlisted());
        let (first, waits) =
            (!self.presence.fails(), self.idle.as_ref().is_some_and(nominated::waits));
        let every = every.unwrap_or(self.default_timeout);
        let news = self.presence.came_back(now, every, heard.is_ok(), listed);
        let candidate = self.me.name.as_str();
        match &heard {
            Err(error) if !listed && first && !waits => {
                warn!(candidate, %error, "this candidate is not listed yet: it contends, but no order can name it");
            }
            Err(error) if news == Some(News::Fails) && !waits => {
                warn!(candidate, %error, "the list of candidates cannot be read or written: orders and preferences may not be followed until it can");
            }
            Err(error) => tracing::debug!(%error, "the roll could not be called"),
            Ok(_) if news == Some(News::Well) => {
                info!(candidate, "the list of candidates is read and written again");
            }
            Ok(_) => {}
        }
        if let Ok(Heard { clock: Some(reading), .. }) = &heard
            && let Some(margin) = self.seats.values().map(Seat::margin).min()
            // Two hosts that are each within half the margin of the store are within it of each other.
            && let Some(apart) = self.rates.read(*reading, margin / 2)
        {
            reporter::rates_differ(&self.me.name, apart, margin);
        }
        for election in &call.elections {
            let Some(seat) = self.seats.get_mut(election) else { continue };
            let wrote = call.rows.get(election).map(|row| row.presence);
            let showed = heard.as_mut().ok().and_then(|heard| {
                let peers = heard.rolls.remove(election).unwrap_or_default();
                Some((peers, heard.snapshots.as_mut()?.take(election)))
            });
            seat.shown(now, wrote, showed);
        }
    }

    /// Says once that the store is in trouble, and once that it is well again.
    fn report(&mut self, error: Option<&Error>, waits: bool) {
        let (before, candidate) = (self.trouble, self.me.name.as_str());
        let Some(error) = error else {
            self.trouble = None;
            match before {
                Some(Trouble::Waits) => info!(candidate, "the voters are there"),
                Some(Trouble::Fails) => info!(candidate, "the store answers again"),
                None => return,
            }
            return self.everyone_hears(&Change::Well);
        };
        if error.retry() == Retry::AfterChange {
            self.seats.values_mut().for_each(|seat| seat.fail(error));
        }
        if matches!(error, Error::Overtaken) {
            // The store is well: two wrote at once, and the next look shows what came of it.
            return tracing::debug!(candidate, %error, "overtaken");
        }
        let waits = waits && error.retry() == Retry::Later;
        let trouble = if waits { Trouble::Waits } else { Trouble::Fails };
        if before == Some(trouble) {
            return;
        }
        self.trouble = Some(trouble);
        match trouble {
            // For whom was said when the store was opened.
            Trouble::Waits => tracing::debug!(candidate, %error, "waiting for voters"),
            Trouble::Fails => warn!(candidate, %error, "the store is in trouble"),
        }
        if before.is_none() {
            let (problem, retry) = (error.to_string(), error.retry());
            self.everyone_hears(&Change::Trouble { problem, retry });
        }
    }
}
