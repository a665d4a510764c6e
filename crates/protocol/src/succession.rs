//! Who leads next: what one candidate knows of the others, and what follows from that. Policy, not
//! safety.
//!
//! Assumes: presence rows come now and then, and may be old. The driver passes what is told
//! ([`Effect::Tell`]) to the candidacy of the same candidate, and tells of every gain and loss.
//! Promises: nothing here makes a candidate lead or stop leading by itself. It says when to wait, whom
//! to hand over to, and when to ask for a hand-over; the candidacy and the store decide. A hand-over
//! that was begun ends: see [`handover`].

pub mod handover;
pub mod presence;

use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use crate::candidacy::{self, Wish};
use crate::controls::{Mandate, Transfer};
use crate::identity::{CandidateId, CandidateName, Incarnation};
use crate::lease::order::{Order, Papers};
use crate::lease::row::{Snapshot, State};
use crate::planted::{self, Bug};
use crate::policy::{Field, Policy};
use crate::protocol::Protocol;
use crate::roll::{Peer, Presence};
use crate::rounds::register::Profile;
use crate::rules::Timing;
use crate::term::Term;
use crate::time::{StoreTime, Time};

use handover::{Handover, UnderWay};

/// Who asks for a hand-over that no person asked for.
pub const POLICY: &str = "policy";

/// How many presence rows are written at least between two steps back in line.
const STEPS_APART: u32 = 4;

/// Longest reason that is passed on to the others, in characters.
const WHY_MAX: usize = 300;

/// What a candidate is, tells and prefers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What it tells of itself.
    pub profile: Profile,
    /// Higher ones go first.
    pub priority: i32,
    /// What it prefers.
    pub policy: Policy,
    /// How long its work may take to end when it is asked to hand over.
    pub drain: Duration,
    /// How often it writes its presence.
    pub every: Duration,
}

/// What reaches a succession.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Time has passed.
    Wake,
    /// The candidacy keeps these timings from now on.
    Timing(Timing),
    /// Whether the process is well enough to lead; if not, why. A leader that is not hands over.
    Fit(Option<String>),
    /// Whether the candidate is the nominee, in an election in which nominees bid.
    Nominated {
        /// Whether it is.
        mine: bool,
        /// Whether a nominee asks the present leader for its place.
        asks: bool,
    },
    /// The candidate leads.
    Gained(Term),
    /// It does not lead any more.
    Lost,
    /// The process itself wants its leader to hand over, for example before it stops.
    HandOver {
        /// For whom; anyone if it is left out.
        to: Option<CandidateName>,
    },
    /// Presence rows and the election were read.
    Shown {
        /// Every candidate that is listed.
        candidates: Vec<Peer>,
        /// The election at that moment.
        snapshot: Snapshot,
        /// How the candidate stands.
        standing: Standing,
    },
    /// They could not be read.
    NotShown,
}

/// How a candidate stands when it is shown the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Whether its user waits for it to lead.
    pub waits: bool,
    /// Whether it owes the store the end of a term.
    pub owes: bool,
    /// How many are ahead of it in line, where there is one.
    pub ahead: Option<usize>,
}

/// What a succession wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "there are few of them, and they are moved once")]
pub enum Effect {
    /// Tell the candidacy.
    Tell(candidacy::Input),
    /// Have the store carry out an order. Whether it was carried out, the next rows show.
    Order(Order, Papers),
}

/// What a succession wants known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Another live process has this candidate's name.
    Twin(CandidateId),
    /// The work under this term is asked to end. Renewals go on until it has.
    Draining {
        /// The term.
        term: Term,
        /// What was asked.
        handover: Handover,
    },
}

/// What was read of the others.
#[derive(Clone, Debug)]
struct Seen {
    candidates: Vec<Peer>,
    snapshot: Snapshot,
}

/// Whether it is the nominee, and what that entails.
#[derive(Clone, Copy, Debug)]
struct Nomination {
    mine: bool,
    asks: bool,
}

/// One candidate in one election, as far as the others matter to it.
#[derive(Debug)]
pub struct Succession {
    me: CandidateId,
    settings: Settings,
    timing: Timing,
    seen: Option<Seen>,
    /// Whether rows were ever read, with or without success.
    asked: bool,
    unfit: Option<String>,
    nomination: Option<Nomination>,
    leads: Option<Term>,
    handover: Option<UnderWay>,
    /// Since when it has been better than the leader.
    outranks_since: Option<Time>,
    /// Rows of others with the same name, and whether they were seen to be written anew.
    twins: BTreeMap<Incarnation, (StoreTime, bool)>,
    shown_since_step: u32,
    /// What the others were last to be told.
    told: Option<Presence>,
    effects: VecDeque<Effect>,
    notices: VecDeque<Notice>,
}

impl Succession {
    /// A candidate that knows of no others. The timings are those of its candidacy.
    pub fn new(me: CandidateId, settings: Settings, timing: Timing) -> Self {
        Succession {
            me,
            settings,
            timing,
            seen: None,
            asked: false,
            unfit: None,
            nomination: None,
            leads: None,
            handover: None,
            outranks_since: None,
            twins: BTreeMap::new(),
            shown_since_step: 0,
            told: None,
            effects: VecDeque::new(),
            notices: VecDeque::new(),
        }
    }

    /// How often it writes its presence.
    pub const fn every(&self) -> Duration {
        self.settings.every
    }

    /// Why the process is not well enough to lead, if it is not.
    pub fn unfit(&self) -> Option<&str> {
        self.unfit.as_deref()
    }

    /// Whether the last read of the others succeeded.
    pub const fn is_informed(&self) -> bool {
        self.seen.is_some()
    }

    /// What it is to the others, if its user waits for it to lead or not; `None` if it does not take
    /// part.
    pub fn presence(&self, waits: bool) -> Option<Presence> {
        Some(match (self.leads, &self.handover) {
            (Some(_), Some(_)) => Presence::Draining,
            (Some(_), None) => Presence::Leading,
            (None, _) if !waits => return None,
            (None, _) if self.unfit.is_some() => Presence::Unfit,
            (None, _) => Presence::Ready,
        })
    }

    /// Whether there is something new to tell the others, once.
    pub fn has_news(&mut self, waits: bool) -> bool {
        let presence = self.presence(waits);
        let before = core::mem::replace(&mut self.told, presence);
        presence.is_some() && presence != before
    }

    /// Its presence row. The store fills in the times.
    pub fn row(&self, waits: bool) -> Peer {
        let prefer = self.settings.policy.prefer.iter().map(ToString::to_string);
        let rolling = self.settings.policy.rolling.then(|| "rolling".to_owned());
        Peer {
            id: self.me.clone(),
            profile: self.settings.profile.clone(),
            priority: self.settings.priority,
            presence: self.presence(waits).unwrap_or(Presence::Left),
            why: self.unfit.as_ref().map(|why| why.chars().take(WHY_MAX).collect()),
            prefers: rolling.into_iter().chain(prefer).collect::<Vec<_>>().join(" "),
            started: StoreTime::default(),
            beaten_at: StoreTime::default(),
            every: self.settings.every,
        }
    }

    /// What the candidacy should want where its user wants this: a candidate that may not win only
    /// watches.
    pub fn wish(&self, wanted: Wish) -> Wish {
        let abstains = self.unfit.is_some() || self.is_barred() || self.awaits_rows();
        if self.leads.is_none() && abstains { wanted.min(Wish::Watch) } else { wanted }
    }

    /// Why this process does not contend although it is asked to, if so.
    pub fn obstacle(&self) -> Option<String> {
        if let Some(why) = &self.unfit {
            return Some(format!("not well: {why}"));
        }
        let Seen { snapshot, .. } = self.seen.as_ref()?;
        let permitted = snapshot.controls.permit(&self.me.name, snapshot.now);
        permitted.err().map(|refusal| refusal.to_string())
    }

    /// For whom the leader is asked to end its work, if it is asked.
    pub fn handover(&self) -> Option<&Handover> {
        self.handover.as_ref().map(UnderWay::handover)
    }

    /// Whether an operator keeps this process from winning.
    fn is_barred(&self) -> bool {
        self.seen.as_ref().is_some_and(|Seen { snapshot, .. }| {
            snapshot.controls.bar_on(&self.me.name, snapshot.now).is_some()
        })
    }

    /// Whether it waits for the first rows, because it matters who else is there.
    fn awaits_rows(&self) -> bool {
        let Settings { policy, priority, .. } = &self.settings;
        !self.asked && (!policy.is_blank() || *priority != 0)
    }

    fn shown(&mut self, now: Time, seen: Seen, standing: Standing) {
        self.asked = true;
        self.shown_since_step = self.shown_since_step.saturating_add(1);
        self.find_twins(&seen);
        self.seen = Some(seen);
        if let Some(Transfer { to, by, drain_us, .. }) = self.transfer() {
            let within = Duration::from_micros(*drain_us);
            let handover = Handover { to: Some(to.clone()), within, by: by.clone() };
            self.hand_over(now, handover);
        }
        // A term whose end is owed to the store has its heir: another one, or none, is too late.
        if self.leads.is_some() || !standing.owes {
            let asked = self.handover().and_then(|handover| handover.to.clone());
            let heir = asked.or_else(|| self.heir());
            self.tell(candidacy::Input::Heir(heir));
        }
        if self.leads.is_none() && standing.waits {
            self.follow(now, standing.ahead);
        }
    }

    /// What follows from the others for a candidate that waits to lead.
    fn follow(&mut self, now: Time, ahead: Option<usize>) {
        if self.nomination.is_none() {
            let step = self.timing.beat() + self.timing.timeout();
            let deference = self.field(|field| self.settings.policy.deference(field, step));
            self.tell(candidacy::Input::Defer(deference.unwrap_or_default()));
        }
        if self.steps_back(ahead) {
            self.tell(candidacy::Input::StepBack);
        }
        if self.preempts(now) && self.ask("is preferred") {
            self.outranks_since = None;
        }
        if self.nomination.is_some_and(|nomination| nomination.mine && nomination.asks) {
            self.ask("has a higher number");
        }
    }

    /// Finds live processes of the same name.
    fn find_twins(&mut self, seen: &Seen) {
        let Seen { candidates, snapshot } = seen;
        for peer in candidates {
            let same = peer.id.name == self.me.name && peer.id != self.me;
            if !same || !peer.is_present(snapshot.now) {
                self.twins.remove(&peer.id.incarnation);
                continue;
            }
            let first = (peer.beaten_at, false);
            let (at, told) = self.twins.entry(peer.id.incarnation).or_insert(first);
            // A row that stays as it is may be of a process that died a moment ago.
            if peer.beaten_at > *at && !core::mem::replace(told, true) {
                self.notices.push_back(Notice::Twin(peer.id.clone()));
            }
        }
        let there =
            |incarnation: &Incarnation| candidates.iter().any(|p| p.id.incarnation == *incarnation);
        self.twins.retain(|incarnation, _| there(incarnation));
    }

    /// The hand-over that this candidate is asked for.
    fn transfer(&self) -> Option<&Transfer> {
        self.seen.as_ref()?.snapshot.controls.transfer_of(self.leads?)
    }

    /// For whom the next term is reserved when this process lets go.
    fn heir(&self) -> Option<CandidateName> {
        let heir = self.field(|field| self.settings.policy.heir(field)).flatten();
        // One that is not well is not waited for to come back.
        heir.filter(|heir| self.unfit.is_none() || *heir != self.me.name)
    }

    /// Whether it stands in the way of a better one, with `ahead` in line before it.
    fn steps_back(&mut self, ahead: Option<usize>) -> bool {
        let leader = self.leader();
        let better = self.field(|field| self.settings.policy.better(field, leader));
        let (Some(better), Some(ahead)) = (better, ahead) else {
            return false;
        };
        // More are better than stand before it: one of them stands behind.
        let waiting = ahead.saturating_sub(usize::from(leader.is_some()));
        let due = better > waiting && self.shown_since_step >= STEPS_APART;
        if due {
            self.shown_since_step = 0;
        }
        due
    }

    /// Whether it is time to ask a worse leader for a hand-over.
    fn preempts(&mut self, now: Time) -> bool {
        let Some(preempt) = self.settings.policy.preempt else {
            return false;
        };
        let better = self.leader().is_some_and(|leader| {
            self.field(|field| self.settings.policy.outranks(field, leader)).unwrap_or(false)
        });
        if !better || self.unfit.is_some() {
            self.outranks_since = None;
            return false;
        }
        let since = *self.outranks_since.get_or_insert(now);
        now.since(since) >= preempt.after && !self.is_held_down(preempt.hold_down)
    }

    /// Whether the leader's term is too young to be cut short.
    fn is_held_down(&self, hold_down: Duration) -> bool {
        if planted::is(Bug::HoldDownIgnored) {
            return false;
        }
        let Some(Seen { snapshot, .. }) = &self.seen else {
            return true;
        };
        let age = |since| snapshot.now.since(since);
        snapshot.record.as_ref().is_none_or(|record| age(record.since) < hold_down)
    }

    /// Asks the leader to hand over to this process, unless it was asked already.
    fn ask(&mut self, why: &str) -> bool {
        let Some((order, papers)) = self.asks(why) else {
            return false;
        };
        self.effects.push_back(Effect::Order(order, papers));
        true
    }

    fn asks(&self, why: &str) -> Option<(Order, Papers)> {
        self.leader().filter(|leader| **leader != self.me)?;
        let Seen { snapshot, .. } = self.seen.as_ref()?;
        let term = snapshot.record.as_ref()?.term;
        if snapshot.controls.transfer_of(term).is_some() {
            return None;
        }
        let order = Order::Transfer { to: self.me.name.clone(), drain: self.settings.drain };
        let (actor, reason) = (POLICY.to_owned(), Some(format!("{} {why}", self.me.name)));
        Some((order, Papers { term: Some(term), actor, reason, roll: None }))
    }

    fn leader(&self) -> Option<&CandidateId> {
        let record = self.seen.as_ref()?.snapshot.record.as_ref()?;
        (record.state == State::Held).then_some(&record.holder)
    }

    fn field<T>(&self, ask: impl FnOnce(&Field<'_>) -> T) -> Option<T> {
        let Seen { candidates: peers, snapshot } = self.seen.as_ref()?;
        let Snapshot { controls, now, .. } = snapshot;
        let holder = snapshot.record.as_ref().map(|record| &record.holder);
        Some(ask(&Field { me: &self.me, peers, holder, controls, now: *now }))
    }

    /// Asks the work under the leadership to end, unless it was asked already.
    fn hand_over(&mut self, now: Time, handover: Handover) {
        let Some(term) = self.leads.filter(|_| self.handover.is_none()) else {
            return;
        };
        let heir = handover.to.clone().or_else(|| self.heir());
        self.tell(candidacy::Input::Heir(heir));
        self.notices.push_back(Notice::Draining { term, handover: handover.clone() });
        self.handover = Some(UnderWay::begin(now, handover));
    }

    /// Asks it on the candidate's own behalf.
    fn hand_over_by_itself(&mut self, now: Time, to: Option<CandidateName>, why: Option<String>) {
        let actor = self.me.name.to_string();
        let by = Mandate { at: StoreTime::default(), actor, reason: why };
        self.hand_over(now, Handover { to, within: self.settings.drain, by });
    }

    /// A leader that is not well hands over.
    fn mind_health(&mut self, now: Time) {
        if let Some(why) = self.unfit.clone().filter(|_| self.leads.is_some()) {
            self.hand_over_by_itself(now, None, Some(why));
        }
    }

    /// Ends by order what took too long to end by itself.
    fn force(&mut self, now: Time) {
        let lease = self.timing.rules().lease();
        if let (Some(term), Some(under_way)) = (self.leads, &mut self.handover)
            && let Some((order, papers)) = under_way.force(now, term, lease)
        {
            self.effects.push_back(Effect::Order(order, papers));
        }
    }

    fn tell(&mut self, input: candidacy::Input) {
        self.effects.push_back(Effect::Tell(input));
    }
}

impl Protocol for Succession {
    type Input = Input;
    type Effect = Effect;
    type Notice = Notice;

    fn begin(&mut self, _now: Time) {}

    fn handle(&mut self, now: Time, input: Input) {
        match input {
            Input::Wake => {}
            Input::Timing(timing) => self.timing = timing,
            Input::Fit(unfit) => {
                self.unfit = unfit;
                self.mind_health(now);
            }
            Input::Nominated { mine, asks } => {
                self.nomination = Some(Nomination { mine, asks });
                self.tell(candidacy::Input::Nominated(mine));
            }
            Input::Gained(term) => {
                self.leads = Some(term);
                self.handover = None;
                // Not the one that was named when this process last let go.
                let heir = self.heir();
                self.tell(candidacy::Input::Heir(heir));
                // It may have fallen ill after the store had answered, and before that was heard.
                self.mind_health(now);
            }
            Input::Lost => {
                self.leads = None;
                self.handover = None;
            }
            Input::HandOver { to } => self.hand_over_by_itself(now, to, None),
            Input::Shown { candidates, snapshot, standing } => {
                self.shown(now, Seen { candidates, snapshot }, standing);
            }
            Input::NotShown => {
                // What older rows showed may be over by now, and the store itself refuses a candidate that
                // may not win.
                self.asked = true;
                self.seen = None;
            }
        }
        self.force(now);
    }

    fn wake_at(&self) -> Option<Time> {
        self.handover.as_ref().map(UnderWay::wake_at)
    }

    fn poll_effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    fn poll_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }
}

#[cfg(test)]
mod tests;
