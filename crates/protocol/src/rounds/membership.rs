//! What a candidate keeps between its rounds: its place in line, whom it watches, the pace.
//!
//! Assumes: [`Candidacy`](crate::candidacy::Candidacy) asks it what to do next and tells it what
//! every round showed.
//! Promises: local state changes only by a committed round; a follower watches the few lowest rows
//! whatever the size of the roster, and more only while those are suspected or may not win; a leader
//! looks through the roster page by page.

use std::collections::{BTreeMap, VecDeque};

use core::time::Duration;

use super::pace::{Pace, Pacing};
use super::pacer::{self, Pacer};
use super::register::{MemberId, Place, Profile, Pulse, Scene, Shown, Vars, Window};
use super::round::{Act, Contend, Evidence, Join, Lead, Round};
use crate::identity::CandidateId;
use crate::lease::request::{Bid, Holding, Resignation};
use crate::lease::row::Snapshot;
use crate::observation::Observation;
use crate::rules::Timing;
use crate::time::{AskedAt, HeardAt, StoreTime, Time};

/// How many of the lowest rows a follower watches while all is well.
pub const WATCHED: u32 = 4;

/// How many rows a leader looks through in one round.
pub const PAGE: u32 = 128;

/// How many rows a leader evicts in one round.
const EVICTED: usize = 64;

/// Who came to the roster, or was evicted from it. Told by the leader, once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct News {
    /// The place in line.
    pub id: MemberId,
    /// Whose.
    pub candidate: CandidateId,
    /// Whether it came; else it was evicted.
    pub came: bool,
}

/// What one candidate keeps about a roster.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Membership {
    /// The candidate's own timings at the first round time.
    own: Timing,
    pacing: Pacing,
    profile: Profile,
    place: Option<Place>,
    /// A round of unknown outcome may have given it a place.
    perhaps: bool,
    /// The place that was taken away or could not be kept, until a new one is had.
    evicted: Option<Place>,
    pace: Pace,
    /// The number of the last pace that was ever seen, and in which life of VARS.
    newest: Option<(StoreTime, u64)>,
    pacer: Pacer,
    watched: BTreeMap<MemberId, (Observation<Pulse>, bool)>,
    /// When the store that showed these rows took the place of another. A store that went back counts
    /// the same beats of a row again.
    replaced: Option<StoreTime>,
    /// Whether `watched` reaches up to this candidate's own row.
    complete: bool,
    /// How many of those that it watches may not win, and are passed over though they live.
    barred: u32,
    /// Where the leader's next page begins.
    cursor: MemberId,
    /// Ids up to this one were there before this leadership.
    known: MemberId,
    news: VecDeque<News>,
    beat_due: Time,
    /// A claim was refused: what is known of the line must be learnt anew.
    balked: bool,
    heard: Option<HeardAt>,
}

impl Membership {
    /// A candidate that has no place yet.
    pub fn new(own: Timing, pacing: Pacing, profile: Profile) -> Self {
        Membership {
            own,
            pacing,
            profile,
            place: None,
            perhaps: false,
            evicted: None,
            pace: Pace::first(&pacing),
            newest: None,
            pacer: Pacer::default(),
            watched: BTreeMap::new(),
            replaced: None,
            complete: false,
            barred: 0,
            cursor: MemberId::NONE,
            known: MemberId::MAX,
            news: VecDeque::new(),
            beat_due: Time::ZERO,
            balked: false,
            heard: None,
        }
    }

    /// Its place in line.
    pub const fn place(&self) -> Option<Place> {
        self.place
    }

    /// Whether the store may have a row of its own.
    pub const fn may_have_row(&self) -> bool {
        self.perhaps || self.place.is_some()
    }

    /// How long a round is, as far as it knows.
    pub const fn pace(&self) -> &Pace {
        &self.pace
    }

    /// When its last round was heard to be committed.
    pub const fn heard(&self) -> Option<HeardAt> {
        self.heard
    }

    /// What became known about others since the last call.
    pub fn poll_news(&mut self) -> Option<News> {
        self.news.pop_front()
    }

    /// How many are ahead of it in line who are not known to be gone; `None` if it has no place or
    /// cannot tell.
    pub fn ahead(&self, now: Time) -> Option<usize> {
        let place = self.place.filter(|_| self.complete)?;
        let patience = self.patience();
        let ahead = self.watched.range(..place.id);
        Some(ahead.filter(|(_, (seen, died))| !died && now < seen.ripe_at(patience)).count())
    }

    /// The timings at the present pace.
    pub(crate) fn timing(&self) -> Timing {
        let shortest = self.pace.shortest();
        self.own.paced(self.pacing.rules_at(shortest), shortest)
    }

    /// How long a row of the roster must stand still before anyone may say that its owner is gone.
    pub fn patience(&self) -> Duration {
        self.pacing.rules_at(self.pace.round).lease()
    }

    /// Whether a beat is due, and not only a look.
    pub(crate) fn is_beat_due(&self, now: Time) -> bool {
        now >= self.beat_due
    }

    /// The pace changed: the next beat is due by the new one.
    pub(crate) fn beat_by(&mut self, next: Time) {
        self.beat_due = self.beat_due.min(next);
    }

    pub(crate) const fn beaten(&mut self, next: Time) {
        self.beat_due = next;
    }

    /// When it will be its turn to claim, given that the term can be claimed at `open`; `None` if
    /// others are ahead, or if a claim was refused and nothing was heard since.
    pub(crate) fn turn_at(
        &self,
        open: Time,
        snapshot: &Snapshot,
        me: &CandidateId,
    ) -> Option<Time> {
        let place = self.place.filter(|_| !self.balked)?;
        let record = snapshot.record.as_ref();
        if record.is_some_and(|record| record.successor.as_ref() == Some(&me.name)) {
            return Some(open);
        }
        if !self.complete {
            return None;
        }
        let lease = record.map_or(Duration::ZERO, |record| record.rules.lease());
        let patience = self.patience().max(lease);
        let mut turn = open;
        for (observation, died) in self.watched.range(..place.id).map(|(_, seen)| seen) {
            // Of the holder itself the term tells, and more is heard of that than of a row.
            let candidate = &observation.view().candidate;
            let holds = record.is_some_and(|r| r.holder == *candidate);
            if !*died && !holds && !snapshot.bars(&candidate.name) {
                turn = turn.max(observation.ripe_at(patience));
            }
        }
        Some(turn)
    }

    /// Forgets what elapsed time would prove.
    pub(crate) fn forget(&mut self) {
        self.watched.clear();
        self.complete = false;
        self.barred = 0;
        self.pacer = Pacer::default();
    }

    /// Takes the pace that a store showed.
    fn follow(&mut self, vars: &Vars) {
        let known = self.newest.filter(|(epoch, _)| *epoch == vars.epoch);
        let number = known.map_or(0, |(_, number)| number).max(vars.pace.number);
        self.newest = Some((vars.epoch, number));
        self.pace = vars.pace;
    }

    fn newest(&self, place: Place) -> u64 {
        let known = self.newest.filter(|(epoch, _)| *epoch == place.epoch);
        known.map_or(0, |(_, number)| number)
    }

    /// The round of one who has no place.
    pub(crate) fn join(&self, me: &CandidateId, bid: Bid) -> Round {
        let (profile, pacing, evicted) = (self.profile.clone(), self.pacing, self.evicted);
        round(me, self.lowest(Time::ZERO), Act::Join(Join { profile, pacing, evicted, bid }))
    }

    /// The round of a follower.
    pub(crate) fn beat(&self, me: &CandidateId, now: Time, place: Place) -> Round {
        round(me, self.lowest(now), Act::Beat { place })
    }

    /// The round of a contender.
    pub(crate) fn contend(&self, now: Time, place: Place, bid: Bid) -> Round {
        let me = bid.candidate.clone();
        let ahead = self.suspected(now).take_while(|e| e.view().id < place.id).collect();
        round(
            &me,
            self.lowest(now),
            Act::Contend(Contend { place, bid, pace: self.newest(place), ahead }),
        )
    }

    /// The round of a leader.
    pub(crate) fn lead(&self, now: Time, place: Place, holding: Holding) -> Round {
        let me = holding.candidate.clone();
        let others = self.suspected(now).filter(|e| e.view().id != place.id);
        let evict = others.take(EVICTED).collect();
        let shift = self.pacer.shift(now, &self.pace, &self.pacing);
        let window = Window { after: self.cursor, most: PAGE };
        round(
            &me,
            window,
            Act::Lead(Lead { place, holding, pace: self.newest(place), evict, shift }),
        )
    }

    /// The round of one who wants no place any more.
    pub(crate) fn leave(me: &CandidateId) -> Round {
        round(me, Window { after: MemberId::NONE, most: 0 }, Act::Leave)
    }

    /// The round of one whose term is over.
    pub(crate) fn resign(resignation: Resignation) -> Round {
        let me = resignation.holding.candidate.clone();
        round(&me, Window { after: MemberId::NONE, most: 0 }, Act::Resign(resignation))
    }

    /// The lowest rows: more of them while those at the front are suspected or may not win, so that
    /// whoever is next is seen even if all that were watched died at once.
    fn lowest(&self, now: Time) -> Window {
        let patience = self.patience();
        let gone = |seen: &&(Observation<Pulse>, bool)| seen.1 || now >= seen.0.ripe_at(patience);
        let suspected = self.watched.values().filter(gone).count();
        let suspected = u32::try_from(suspected).unwrap_or(u32::MAX / 4);
        let passed = suspected.saturating_add(self.barred);
        let most = WATCHED.saturating_add(passed.saturating_mul(2));
        Window { after: MemberId::NONE, most }
    }

    fn suspected(&self, now: Time) -> impl Iterator<Item = Evidence> {
        let patience = self.patience();
        self.watched.values().filter_map(move |(seen, _)| seen.suspect(now, patience))
    }

    /// Takes what a committed round showed to a follower or a contender.
    pub(crate) fn hear(&mut self, scene: &Scene, window: Window, heard_at: HeardAt) {
        self.heard = Some(heard_at);
        self.balked = false;
        if let Some(vars) = &scene.vars {
            self.follow(vars);
        }
        let shown = |id: &MemberId| scene.shown.iter().any(|shown| shown.pulse.id == *id);
        self.watched.retain(|id, _| shown(id));
        self.watch(scene, heard_at);
        let barred = |shown: &&Shown| scene.election.bars(&shown.pulse.candidate.name);
        let barred = scene.shown.iter().filter(barred).count();
        self.barred = u32::try_from(barred).unwrap_or(u32::MAX / 4);
        let last = scene.shown.last().map_or(MemberId::NONE, |shown| shown.pulse.id);
        let full = scene.shown.len() >= window.most as usize;
        self.complete = !full || self.place.is_some_and(|place| last >= place.id);
    }

    /// Takes what a committed round showed to a leader.
    pub(crate) fn hear_leading(
        &mut self,
        scene: &Scene,
        window: Window,
        evicted: &[Pulse],
        (asked_at, heard_at): (AskedAt, HeardAt),
    ) {
        self.heard = Some(heard_at);
        if let Some(vars) = &scene.vars {
            let took = heard_at.time().since(asked_at.time());
            let calm = evicted.is_empty() && pacer::has_room(took, &self.timing());
            self.pacer.hear(&self.pace, vars, heard_at, calm);
            self.follow(vars);
        }
        let last = scene.shown.last().map_or(MemberId::NONE, |shown| shown.pulse.id);
        let full = scene.shown.len() >= window.most as usize;
        let shown = |id: &MemberId| scene.shown.iter().any(|shown| shown.pulse.id == *id);
        // Whoever is missing from the page has left.
        let on_page = |id: &MemberId| *id > window.after && (!full || *id <= last);
        self.watched.retain(|id, _| shown(id) || !on_page(id));
        self.watch(scene, heard_at);
        self.cursor = if full { last } else { MemberId::NONE };
        for came in scene.shown.iter().filter(|shown| shown.pulse.id > self.known) {
            let Shown { pulse: Pulse { id, candidate, .. }, .. } = came.clone();
            self.news.push_back(News { id, candidate, came: true });
        }
        // Whoever comes later has a higher id.
        self.known = self.known.max(last);
        self.bury(evicted);
    }

    /// Tells once of each that was evicted.
    fn bury(&mut self, evicted: &[Pulse]) {
        for Pulse { id, candidate, .. } in evicted {
            self.watched.remove(id);
            self.news.push_back(News { id: *id, candidate: candidate.clone(), came: false });
        }
    }

    fn watch(&mut self, scene: &Scene, heard_at: HeardAt) {
        if self.replaced != scene.election.replaced {
            self.replaced = scene.election.replaced;
            self.watched.clear();
        }
        for Shown { pulse, died } in &scene.shown {
            let first = || (Observation::first(pulse.clone(), heard_at), *died);
            let (seen, dead) = self.watched.entry(pulse.id).or_insert_with(first);
            seen.hear(pulse.clone(), heard_at);
            *dead = *died;
        }
    }

    pub(crate) fn joined(&mut self, place: Place) {
        // What was seen from another place proves nothing in this one.
        self.forget();
        self.place = Some(place);
        self.perhaps = false;
        self.evicted = None;
        self.beat_due = Time::ZERO;
    }

    /// Its place was taken from it.
    pub(crate) fn lost_place(&mut self, wrongly: bool) -> Option<MemberId> {
        let place = self.place.take()?;
        if wrongly {
            self.evicted = Some(place);
        }
        self.forget();
        Some(place.id)
    }

    /// Its rounds came too late to keep a term: whether it is thought dead or not, it asks for longer
    /// ones when it joins anew.
    pub(crate) const fn overdue(&mut self) {
        self.evicted = self.place;
    }

    /// It gave its place back.
    pub(crate) fn left(&mut self) {
        self.place = None;
        self.perhaps = false;
        self.forget();
    }

    /// A leadership begins: from now on it looks after the whole roster.
    pub(crate) fn elected(&mut self, vars: Option<&Vars>, passed: &[Pulse]) {
        self.cursor = MemberId::NONE;
        self.pacer = Pacer::elected(vars);
        if let Some(vars) = vars {
            self.follow(vars);
            self.known = vars.max_id;
        }
        self.bury(passed);
    }

    /// A claim was refused.
    pub(crate) const fn balk(&mut self) {
        self.balked = true;
        self.beat_due = Time::ZERO;
    }

    /// A round of unknown outcome: the next one must be a beat again.
    pub(crate) const fn unheard(&mut self, joined: bool) {
        self.perhaps |= joined;
        self.beat_due = Time::ZERO;
    }
}

fn round(me: &CandidateId, window: Window, act: Act) -> Round {
    Round { candidate: me.clone(), window, act }
}
