//! What a seat knows of the others, and what follows from that: policy, not safety.
//!
//! Assumes: rolls come now and then, and may be old.
//! Promises: nothing here makes anybody lead or stop leading by itself. It says when to wait, whom to
//! hand over to, and when to ask for a hand-over; the protocol and the store decide.

use std::collections::BTreeMap;
use std::time::Duration;

use incumbent_protocol::controls::Transfer;
use incumbent_protocol::identity::{CandidateId, CandidateName, Incarnation};
use incumbent_protocol::lease::order::{Order, Papers};
use incumbent_protocol::lease::row::{Snapshot, State};
use incumbent_protocol::policy::Field;
use incumbent_protocol::roll::{Peer, Presence};
use incumbent_protocol::term::Term;
use incumbent_protocol::time::{StoreTime, Time};

use crate::contest::Stance;

/// Who asks for a hand-over that no person asked for.
pub(super) const POLICY: &str = "policy";

/// How many rolls pass at least between two steps back in line.
const STEPS_APART: u32 = 4;

/// Longest reason that is passed on to the others, in characters.
const WHY_MAX: usize = 300;

/// What a roll showed.
#[derive(Debug)]
struct Heard {
    peers: Vec<Peer>,
    snapshot: Snapshot,
}

/// What a seat knows of the others.
#[derive(Debug)]
pub(super) struct Desk {
    me: CandidateId,
    stance: Stance,
    heard: Option<Heard>,
    /// Whether a roll ever came back, with or without success.
    pub(super) rolled: bool,
    /// Why this process is not fit to lead, if it is not.
    pub(super) unfit: Option<String>,
    /// Since when it has been better than whoever leads.
    outranks_since: Option<Time>,
    /// Lines of others with the same name, and whether they were seen to be written anew.
    twins: BTreeMap<Incarnation, (StoreTime, bool)>,
    rolls_since_step: u32,
}

impl Desk {
    pub(super) fn new(me: CandidateId, stance: Stance) -> Self {
        Desk {
            me,
            stance,
            heard: None,
            rolled: false,
            unfit: None,
            outranks_since: None,
            twins: BTreeMap::new(),
            rolls_since_step: 0,
        }
    }

    /// How long work may take to end, unless an order says otherwise.
    pub(super) const fn drain(&self) -> Duration {
        self.stance.drain
    }

    pub(super) const fn roll_every(&self) -> Duration {
        self.stance.roll_every
    }

    /// What this process says of itself.
    pub(super) fn line(&self, presence: Presence, why: Option<String>) -> Peer {
        let prefer = self.stance.policy.prefer.iter().map(ToString::to_string);
        let rolling = self.stance.policy.rolling.then(|| "rolling".to_owned());
        Peer {
            id: self.me.clone(),
            profile: self.stance.profile.clone(),
            priority: self.stance.priority,
            presence,
            why: why.map(|why| why.chars().take(WHY_MAX).collect()),
            prefers: rolling.into_iter().chain(prefer).collect::<Vec<_>>().join(" "),
            started: StoreTime::default(),
            beaten_at: StoreTime::default(),
            every: self.stance.roll_every,
        }
    }

    /// Takes what a roll showed; tells of processes with the same name that are found to be alive.
    pub(super) fn hear(&mut self, peers: Vec<Peer>, snapshot: Snapshot) -> Vec<CandidateId> {
        self.rolled = true;
        self.rolls_since_step = self.rolls_since_step.saturating_add(1);
        let mut found = Vec::new();
        for peer in &peers {
            let same = peer.id.name == self.me.name && peer.id != self.me;
            if !same || !peer.is_present(snapshot.now) {
                self.twins.remove(&peer.id.incarnation);
                continue;
            }
            let first = (peer.beaten_at, false);
            let (seen, told) = self.twins.entry(peer.id.incarnation).or_insert(first);
            // A line that stays as it is may be of a process that died a moment ago.
            if peer.beaten_at > *seen && !std::mem::replace(told, true) {
                found.push(peer.id.clone());
            }
        }
        let there =
            |incarnation: &Incarnation| peers.iter().any(|p| p.id.incarnation == *incarnation);
        self.twins.retain(|incarnation, _| there(incarnation));
        self.heard = Some(Heard { peers, snapshot });
        found
    }

    /// A roll could not be called. What an older one showed may be over by now, and the store itself
    /// refuses whoever may not win.
    pub(super) fn unheard(&mut self) {
        self.rolled = true;
        self.heard = None;
    }

    /// Whether the last call of the roll came back well.
    pub(super) const fn has_heard(&self) -> bool {
        self.heard.is_some()
    }

    /// Whether an operator keeps this process from winning.
    pub(super) fn is_barred(&self) -> bool {
        self.heard.as_ref().is_some_and(|heard| {
            let Heard { snapshot, .. } = heard;
            snapshot.controls.bar_on(&self.me.name, snapshot.now).is_some()
        })
    }

    /// Why this process does not contend although it is asked to, if so.
    pub(super) fn obstacle(&self) -> Option<String> {
        if let Some(why) = &self.unfit {
            return Some(format!("not well: {why}"));
        }
        let Heard { snapshot, .. } = self.heard.as_ref()?;
        let permitted = snapshot.controls.permit(&self.me.name, snapshot.now);
        permitted.err().map(|refusal| refusal.to_string())
    }

    /// Whether it waits for the first roll, because it matters who else is there.
    pub(super) fn awaits_roll(&self) -> bool {
        let Stance { policy, priority, .. } = &self.stance;
        !self.rolled && (!policy.is_blank() || *priority != 0)
    }

    /// The hand-over that whoever leads in `term` is asked for.
    pub(super) fn transfer(&self, term: Term) -> Option<&Transfer> {
        self.heard.as_ref()?.snapshot.controls.transfer_of(term)
    }

    /// How long to let better ones go first.
    pub(super) fn deference(&self, step: Duration) -> Duration {
        self.field(|field| self.stance.policy.deference(field, step)).unwrap_or_default()
    }

    /// For whom the next term is reserved when this process lets go.
    pub(super) fn heir(&self) -> Option<CandidateName> {
        let heir = self.field(|field| self.stance.policy.heir(field)).flatten();
        // One that is not well is not waited for to come back.
        heir.filter(|heir| self.unfit.is_none() || *heir != self.me.name)
    }

    /// Whether it stands in the way of a better one, with `ahead` in line before it.
    pub(super) fn steps_back(&mut self, ahead: Option<usize>) -> bool {
        let better = self.field(|field| {
            let leader = self.leader();
            let rivals = field.peers.iter().filter(|peer| Some(&peer.id) != leader);
            let mine = field.mine()?;
            let better = rivals.filter(|peer| {
                peer.contends(field.now)
                    && field.controls.bar_on(&peer.id.name, field.now).is_none()
                    && self.stance.policy.compare(peer, mine).is_gt()
            });
            Some((better.count(), usize::from(leader.is_some())))
        });
        let (Some(Some((better, leads))), Some(ahead)) = (better, ahead) else {
            return false;
        };
        // More are better than stand before it: one of them stands behind.
        let due = better > ahead.saturating_sub(leads) && self.rolls_since_step >= STEPS_APART;
        if due {
            self.rolls_since_step = 0;
        }
        due
    }

    /// The order to ask whoever leads for a hand-over, if it is time for that.
    pub(super) fn preempts(&mut self, now: Time) -> Option<(Order, Papers)> {
        let preempt = self.stance.policy.preempt?;
        let leader = self.leader().cloned();
        let better = leader.as_ref().is_some_and(|leader| {
            self.field(|field| self.stance.policy.outranks(field, leader)).unwrap_or(false)
        });
        if !better || self.unfit.is_some() {
            self.outranks_since = None;
            return None;
        }
        let since = *self.outranks_since.get_or_insert(now);
        let Heard { snapshot, .. } = self.heard.as_ref()?;
        let record = snapshot.record.as_ref()?;
        let young = snapshot.now.since(record.since) < preempt.hold_down;
        if young || now.since(since) < preempt.after {
            return None;
        }
        let asks = self.asks("is preferred")?;
        self.outranks_since = None;
        Some(asks)
    }

    /// The order to ask whoever leads to hand over to this process, unless somebody asked already.
    pub(super) fn asks(&self, why: &str) -> Option<(Order, Papers)> {
        self.leader().filter(|leader| **leader != self.me)?;
        let Heard { snapshot, .. } = self.heard.as_ref()?;
        let term = snapshot.record.as_ref()?.term;
        if snapshot.controls.transfer_of(term).is_some() {
            return None;
        }
        let order = Order::Transfer { to: self.me.name.clone(), drain: self.stance.drain };
        let (actor, reason) = (POLICY.to_owned(), Some(format!("{} {why}", self.me.name)));
        Some((order, Papers { term: Some(term), actor, reason, roll: None }))
    }

    fn leader(&self) -> Option<&CandidateId> {
        let record = self.heard.as_ref()?.snapshot.record.as_ref()?;
        (record.state == State::Held).then_some(&record.holder)
    }

    fn field<T>(&self, ask: impl FnOnce(&Field<'_>) -> T) -> Option<T> {
        let Heard { peers, snapshot } = self.heard.as_ref()?;
        let Snapshot { controls, now, .. } = snapshot;
        let holder = snapshot.record.as_ref().map(|record| &record.holder);
        Some(ask(&Field { me: &self.me, peers, holder, controls, now: *now }))
    }
}
