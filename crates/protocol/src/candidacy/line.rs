//! What a candidacy does in an election with a roster: joining, beating, contending, leading.
//!
//! Assumes: as [`answers`](super::answers): an answer belongs to the request that was under way.
//! Promises: whoever is first in line contends as soon as the term is open, and nobody else does; a
//! lease is made of the shortest of the paces before and after the round that earned it, and of what
//! the row tells challengers to wait for.

use super::{Candidacy, Notice, Stage, UnderWay, Wish};
use crate::lease::request::{Denied, Refusal, Request};
use crate::lease::row::{Snapshot, State};
use crate::rounds::membership::Membership;
use crate::rounds::register::MemberId;
use crate::rounds::round::{Act, End, Report};
use crate::rules::Rules;
use crate::time::{AskedAt, HeardAt, Time};

use core::time::Duration;

/// How often within a round those at the front of the line look after the leader.
const LOOKS: u32 = 4;

/// Where a candidate is in line, as far as its own last round tells.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Rank {
    /// Its place; `None` while it has none.
    pub id: Option<MemberId>,
    /// How many are ahead of it who are not known to be gone; `None` if there are too many to see.
    pub ahead: Option<usize>,
    /// How long a round is.
    pub round_time: Duration,
    /// How long ago its last round was; `None` if there was none.
    pub age: Option<Duration>,
    /// Whether that is less than a lease, so that what it knows can be relied on.
    pub fresh: bool,
}

impl Candidacy {
    /// Where it is in line; `None` in an election without a roster.
    pub fn rank(&self, now: Time) -> Option<Rank> {
        let membership = self.membership.as_ref()?;
        let age = membership.heard().map(|heard| now.since(heard.time()));
        Some(Rank {
            id: membership.place().map(|place| place.id),
            ahead: membership.ahead(now),
            round_time: membership.pace().round,
            age,
            fresh: age.is_some_and(|age| age < self.timing.rules().span()),
        })
    }

    /// What is due in a round.
    pub(super) fn round(&self, now: Time, membership: &Membership) -> Request {
        let round = match (&self.owed, &self.stage, membership.place()) {
            (Some(term), _, _) => Membership::resign(self.resignation(*term)),
            (None, Stage::Leading { term, .. }, Some(place)) => {
                membership.lead(now, place, self.holding(*term))
            }
            (None, Stage::Following, Some(_)) if self.steps_back => Membership::leave(&self.me),
            (None, _, place)
                if self.is_free() && self.wish == Wish::Lead && !self.is_held_off(now) =>
            {
                let Some(place) = place else {
                    return Request::Round(Box::new(membership.join(&self.me, self.bid(now))));
                };
                if self.turn_at(now, membership).is_some_and(|turn| turn <= now) {
                    membership.contend(now, place, self.bid(now))
                } else if membership.is_beat_due(now) {
                    membership.beat(&self.me, now, place)
                } else {
                    return Request::Look;
                }
            }
            (None, Stage::Following, _) if membership.may_have_row() => Membership::leave(&self.me),
            (None, _, _) => return Request::Look,
        };
        Request::Round(Box::new(round))
    }

    /// Beats keep their own time: what is asked in between is only a look.
    pub(super) fn count_beat(&mut self, request: &Request) {
        if let (Some(membership), Request::Round(round)) = (&mut self.membership, request)
            && matches!(round.act, Act::Beat { .. })
        {
            membership.beaten(self.cadence.next());
        }
    }

    /// When it is this candidate's turn to claim, if ever, as far as can be told.
    pub(super) fn turn_at(&self, now: Time, membership: &Membership) -> Option<Time> {
        let seen = self.seen.as_deref()?;
        let open = if self.bid(now).decide(seen).is_ok() {
            Time::ZERO
        } else {
            self.observation.as_ref()?.ripe_at(self.patience())
        };
        membership.turn_at(open, seen, &self.me)
    }

    /// Whether a hint that something changed concerns this candidate more than most.
    pub(super) fn is_near(&self, now: Time) -> bool {
        let Some(membership) = &self.membership else {
            return true;
        };
        let follows = self.stage == Stage::Following && membership.place().is_some();
        !follows || membership.ahead(now).is_some_and(|ahead| ahead <= 1)
    }

    pub(super) fn rounded(
        &mut self,
        now: Time,
        asked: &UnderWay,
        asked_at: AskedAt,
        heard_at: HeardAt,
        report: Report,
    ) {
        if let (End::Beaten, Some(refusal)) =
            (&report.end, self.other_rules(&report.scene.election))
        {
            let snapshot = Some(report.scene.election);
            return self.denied(now, false, heard_at, Denied { refusal, snapshot });
        }
        let Some(membership) = &mut self.membership else {
            return;
        };
        let scene = &report.scene;
        self.cadence.answered(now);
        match report.end {
            End::Joined(place) => {
                membership.joined(place);
                membership.hear(scene, asked.window, heard_at);
                self.notices.push_back(Notice::Joined { id: place.id, life: place.epoch });
                self.keep_pace();
                self.see(&report.scene.election, heard_at);
                self.cadence.look_at(now);
            }
            End::Beaten => {
                membership.hear(scene, asked.window, heard_at);
                self.keep_pace();
                self.see(&report.scene.election, heard_at);
                self.look_ahead(now);
            }
            End::Evicted => {
                self.see(&report.scene.election, heard_at);
                self.evicted(now);
            }
            // Neither sure nor refused: the next round, due at once, counts from after the jump.
            End::Led(_) if asked.doubted => {}
            End::Led(evicted) => {
                membership.hear_leading(scene, asked.window, &evicted, (asked_at, heard_at));
                let before = *self.timing.rules();
                self.keep_pace();
                // Nothing is leased for longer than challengers wait, whatever was done to VARS.
                let stored = scene.election.record.as_ref().map(|record| record.rules);
                let rules = [before, *self.timing.rules()].into_iter().chain(stored);
                let shortest = rules.min_by_key(Rules::lease).unwrap_or(before);
                self.prolonged(now, asked_at, &shortest);
                self.pass_on_news();
            }
            End::Claimed(claim, _) if asked.doubted => {
                let patience = self.patience();
                self.owe(now, &claim);
                self.cadence.retry_at(now + patience);
            }
            End::Claimed(claim, passed) => {
                membership.elected(scene.vars.as_ref(), &passed);
                self.keep_pace();
                self.claimed(now, asked_at, &claim);
                self.pass_on_news();
            }
            End::Left => {
                if self.steps_back {
                    self.cadence.look_at(now);
                }
                self.left();
            }
            End::Resigned => {
                if scene.mine.is_none() {
                    // It let go too late: its lease had run out, and another has passed it over.
                    self.deposed(Some(&report.scene.election));
                }
                self.left();
                self.owed = None;
                self.cadence.back_off(now);
            }
        }
    }

    /// Why nobody in line will ever lead, if somebody leads who knows of no line.
    fn other_rules(&self, snapshot: &Snapshot) -> Option<Refusal> {
        let record = snapshot.record.as_ref().filter(|record| record.state == State::Held)?;
        let (theirs, ours) = (record.rules, *self.timing.rules());
        (!ours.agree_with(&theirs)).then_some(Refusal::RulesDiffer { theirs, ours })
    }

    /// Follows what was read of the pace.
    fn keep_pace(&mut self) {
        let Some(membership) = &mut self.membership else {
            return;
        };
        let timing = membership.timing();
        if timing != self.timing {
            self.cadence.pace(timing.beat());
            membership.beat_by(self.cadence.next());
            self.timing = timing;
            let round = membership.pace().round;
            self.notices.push_back(Notice::Paced { round });
        }
    }

    /// Goes on at once if it is its turn; looks more often if it is nearly so.
    pub(super) fn look_ahead(&mut self, now: Time) {
        let Some(membership) = &self.membership else {
            return;
        };
        if self.stage != Stage::Following || self.wish != Wish::Lead {
            return;
        }
        if self.turn_at(now, membership).is_some_and(|turn| turn <= now) {
            self.cadence.look_at(now);
        } else if membership.ahead(now).is_some_and(|ahead| ahead <= 1) {
            self.cadence.look_by(now + self.timing.beat() / LOOKS);
        }
    }

    fn pass_on_news(&mut self) {
        let Some(membership) = &mut self.membership else {
            return;
        };
        while let Some(news) = membership.poll_news() {
            self.notices.push_back(Notice::Member(news));
        }
    }

    /// The store has no row of this candidate's any more.
    pub(super) fn evicted(&mut self, now: Time) {
        if let Some(membership) = &mut self.membership
            && let Some(id) = membership.lost_place(true)
        {
            self.notices.push_back(Notice::Evicted { id });
        }
        self.cadence.look_at(now);
    }

    /// A leader's round was refused, or it let go of a term that was over. If another leads, this one
    /// was thought dead: others must hear of that mistake.
    pub(super) fn deposed(&mut self, snapshot: Option<&Snapshot>) {
        let record = snapshot.and_then(|snapshot| snapshot.record.as_ref());
        let overtaken = record.is_some_and(|record| record.holder != self.me);
        if let Some(membership) = &mut self.membership
            && let Some(id) = membership.lost_place(overtaken)
            && overtaken
        {
            self.notices.push_back(Notice::Evicted { id });
        }
    }

    fn left(&mut self) {
        self.steps_back = false;
        if let Some(membership) = &mut self.membership {
            membership.left();
        }
    }

    /// A claim was refused: what is known of the line may be old.
    pub(super) fn balk(&mut self) {
        if let Some(membership) = &mut self.membership {
            membership.balk();
        }
    }
}
