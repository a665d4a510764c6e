//! Who comes to the line of a roster, who goes, and how the pace changes, as seen by one who is not
//! in line.
//!
//! Assumes: looks that are less than a round apart.
//! Promises: everybody who came or went between two looks is told of once; a look that fails tells
//! nothing, and the next one makes up for it.

use std::time::Duration;

use incumbent::{Change, Election, Member, Position, Roster};
use tokio::time::{Instant, sleep_until};

use super::line::Event;

/// Looks are no more frequent than this, however short the rounds.
const LOOK_MIN: Duration = Duration::from_millis(50);

/// Keeps an eye on a roster.
#[derive(Debug)]
pub(super) struct Lookout<'a> {
    election: &'a Election,
    /// When to look next; never while there is no roster.
    next: Option<Instant>,
    last: Option<(Roster, Instant)>,
}

impl<'a> Lookout<'a> {
    pub(super) fn new(election: &'a Election) -> Self {
        Lookout { election, next: Some(Instant::now()), last: None }
    }

    /// A leader may be the first of an election with a roster.
    pub(super) fn may_have_begun(&mut self, change: &Change) {
        if matches!(change, Change::Leader(Some(_))) && self.next.is_none() {
            self.next = Some(Instant::now());
        }
    }

    /// What changed since the last look, once it is time to look again. Can be given up at any time.
    pub(super) async fn look(&mut self) -> Vec<Event> {
        let Some(next) = self.next else {
            return std::future::pending().await;
        };
        sleep_until(next).await;
        let found = self.election.members().await;
        let now = Instant::now();
        let Ok(roster) = found else {
            self.next = Some(now + Duration::from_secs(1));
            return Vec::new();
        };
        let round = roster.pace.map(|pace| pace.shortest());
        self.next = round.map(|round| now + (round / 2).max(LOOK_MIN));
        let last = self.last.replace((roster.clone(), now));
        match last {
            Some((last, then)) => changes(&last, &roster, now - then),
            None => Vec::new(),
        }
    }
}

fn changes(last: &Roster, roster: &Roster, between: Duration) -> Vec<Event> {
    let same =
        |one: &Member, other: &Member| one.id == other.id && one.candidate == other.candidate;
    let is_in = |member: &Member, roster: &Roster| roster.members.iter().any(|m| same(m, member));
    let lease =
        last.pacing.zip(last.pace).map(|(pacing, pace)| pacing.rules_at(pace.round).lease());
    let overdue = |member: &Member| lease.is_some_and(|lease| member.idle + between >= lease);
    let mut events = Vec::new();
    for member in last.members.iter().filter(|member| !is_in(member, roster)) {
        let (id, who) = (member.id, member.candidate.clone());
        events.push(if member.position == Position::Died || overdue(member) {
            Event::Seen(Change::Died { id, who })
        } else {
            Event::Gone { id, who }
        });
    }
    for member in roster.members.iter().filter(|member| !is_in(member, last)) {
        events.push(Event::Seen(Change::Came { id: member.id, who: member.candidate.clone() }));
    }
    let round = |roster: &Roster| roster.pace.map(|pace| pace.round);
    if let Some(round) = round(roster).filter(|now| round(last).is_some_and(|then| then != *now)) {
        events.push(Event::Seen(Change::Paced { round }));
    }
    events
}
