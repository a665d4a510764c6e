//! One who takes part: what the roll tells, joined with the line of a roster.
//!
//! Assumes: roll and roster were read one after the other; either may lack one that the other has.
//! Promises: everybody once, each life of a name apart; first in line first, then the best first.

use std::collections::BTreeMap;
use std::time::Duration;

use incumbent::{
    Bar, CandidateId, CandidateName, Member, Peer, Policy, Position, Presence, Roster, Status,
    StoreTime, VoterStatus, Voters,
};
use incumbent_protocol::explain::read;
use serde::Serialize;

use crate::moment;

/// Somebody who takes part.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a mark of its own")]
pub(super) struct Row<'a> {
    pub(super) who: &'a CandidateId,
    peer: Option<&'a Peer>,
    member: Option<&'a Member>,
    leads: bool,
    /// Whether it is second in line, or would be preferred.
    pub(super) next: bool,
    bar: Option<&'a Bar>,
    duplicate: bool,
    /// Whether there is a line.
    lined: bool,
    /// Whether it votes, where peers do.
    votes: Option<bool>,
    /// Where its peers reach it.
    home: Option<&'a str>,
    now: StoreTime,
}

/// A row as programs read it.
#[derive(Debug, Serialize)]
pub(super) struct Face<'a> {
    /// Its place in line; lower ones go first. Null where there is no line.
    id: Option<u64>,
    name: &'a str,
    incarnation: String,
    /// `leader`, `second`, `waiting`, `overdue` or `died`; `out` if it is kept from the line, `left` if
    /// it stopped in good order.
    position: &'static str,
    /// What it says of itself: `ready`, `leading`, `draining`, `unfit` or `left`; null if it says
    /// nothing.
    presence: Option<&'static str>,
    /// Why it does not contend, or what else it says.
    why: Option<&'a str>,
    priority: i32,
    /// What it prefers.
    prefers: Option<&'a str>,
    /// Whether operators keep it from winning, for good or for now.
    cordoned: bool,
    /// Whether another live process uses its name.
    duplicate: bool,
    /// Whether it votes; null where no peers do.
    votes: Option<bool>,
    address: Option<&'a str>,
    labels: BTreeMap<&'a str, &'a str>,
    /// Seconds since it was last heard of.
    idle: f64,
    joined: String,
}

/// Who votes among peers, as far as that is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Voting<'a> {
    pub(super) of_peers: bool,
    pub(super) voters: Option<&'a Voters>,
}

/// Everybody.
pub(super) fn rows<'a>(
    status: &'a Status,
    roster: &'a Roster,
    peers: &'a [Peer],
    voting: Voting<'a>,
) -> Vec<Row<'a>> {
    let Voting { of_peers, voters } = voting;
    let now = status.now;
    let leader = status.leader().map(|leader| &leader.id);
    let lives = |name: &CandidateName| {
        peers.iter().filter(|peer| peer.id.name == *name && peer.is_present(now)).count()
    };
    let row = |who: &'a CandidateId| {
        let peer = peers.iter().find(|peer| peer.id == *who);
        let voter = voters.and_then(|voters| voter(voters, &who.name));
        let is_here = peer.is_some_and(|peer| peer.is_present(now));
        Row {
            who,
            peer,
            member: roster.members.iter().find(|member| member.candidate == *who),
            leads: leader == Some(who),
            next: false,
            bar: status.controls.bar_on(&who.name, now),
            duplicate: is_here && lives(&who.name) > 1,
            lined: roster.pacing.is_some(),
            votes: voters.map(|_| is_here && voter.is_some()),
            home: voter.filter(|_| is_here).and_then(|voter| voter.address.as_deref()),
            now,
        }
    };
    let in_line = roster.members.iter().map(|member| &member.candidate);
    let known = |id: &CandidateId| roster.members.iter().any(|member| member.candidate == *id);
    let others = peers.iter().map(|peer| &peer.id).filter(|id| !known(id));
    let mut all: Vec<Row<'a>> = in_line.chain(others).map(row).collect();
    // Whoever leads may be older than the roll.
    if let Some(leader) = leader.filter(|leader| !all.iter().any(|row| row.who == *leader)) {
        all.push(row(leader));
    }
    sort(&mut all);
    let next = second(&all, status, of_peers);
    for row in &mut all {
        row.next = next.as_ref() == Some(row.who);
    }
    all
}

/// The voter whose process has this name. Processes of one name cannot be told apart by it.
fn voter<'a>(voters: &'a Voters, name: &CandidateName) -> Option<&'a VoterStatus> {
    voters.members.iter().find(|voter| voter.name.as_deref() == Some(name.as_str()))
}

/// First in line first; where there is no line, whoever leads, then the best that are there.
fn sort(all: &mut [Row<'_>]) {
    let policy = policy(all);
    all.sort_by(|one, other| {
        let place = |row: &Row<'_>| row.member.map_or(u64::MAX, |member| member.id.get());
        let by_line = place(one).cmp(&place(other));
        let absent = |row: &Row<'_>| !row.leads && !row.is_present();
        let better = match (one.peer, other.peer) {
            (Some(one), Some(other)) => policy.compare(other, one),
            _ => std::cmp::Ordering::Equal,
        };
        let by_state = (absent(one), !one.leads).cmp(&(absent(other), !other.leads));
        by_line.then(by_state).then(better).then(one.who.name.cmp(&other.who.name))
    });
}

/// What the candidates say that they prefer: whoever was heard of last counts.
fn policy(all: &[Row<'_>]) -> Policy {
    let peers = all.iter().filter_map(|row| row.peer);
    let last = peers.max_by_key(|peer| peer.beaten_at);
    last.map(|peer| read(&peer.prefers)).unwrap_or_default()
}

/// Who would be next: whoever the next term is meant for, else the first that may win it.
fn second(all: &[Row<'_>], status: &Status, of_peers: bool) -> Option<CandidateId> {
    let record = status.record.as_ref();
    let transfer = record.and_then(|record| status.controls.transfer_of(record.term));
    let heir = transfer.map(|transfer| &transfer.to);
    let heir = heir.or(record.and_then(|record| record.successor.as_ref()));
    let meant = all.iter().find(|row| row.may_win() && Some(&row.who.name) == heir);
    // Among peers nobody knows whom they will pick before they do.
    let first = all.iter().find(|row| row.may_win() && !of_peers);
    meant.or(first).map(|row| row.who.clone())
}

impl<'a> Row<'a> {
    fn is_present(&self) -> bool {
        self.member.is_some() || self.peer.is_some_and(|peer| peer.is_present(self.now))
    }

    /// Whether it would take the next term, and may.
    fn may_win(&self) -> bool {
        let waits = match (self.member, self.peer) {
            (Some(member), _) => !matches!(member.position, Position::Overdue | Position::Died),
            (None, Some(peer)) => !self.lined && peer.contends(self.now),
            (None, None) => false,
        };
        waits && !self.leads && self.bar.is_none()
    }

    /// Whether it is no longer there, as far as anybody knows. Where there is a line, whoever is not in
    /// it without a reason is gone, whatever its last words were.
    pub(super) fn is_gone(&self) -> bool {
        let unfit = self.peer.is_some_and(|peer| peer.presence == Presence::Unfit);
        let missing = self.lined && self.member.is_none() && self.bar.is_none() && !unfit;
        !self.leads && (missing || !self.is_present())
    }

    pub(super) fn id(&self) -> Option<u64> {
        self.member.map(|member| member.id.get())
    }

    /// What it is, in a word.
    pub(super) fn position(&self) -> &'static str {
        match (self.member, self.peer) {
            _ if self.leads => "leader",
            _ if self.next => "second",
            (Some(member), _) if member.position == Position::Second => "waiting",
            (Some(member), _) => member.position.as_str(),
            (None, Some(peer)) if peer.presence == Presence::Left => "left",
            (None, Some(peer)) if peer.is_present(self.now) && !self.lined => "waiting",
            (None, Some(peer)) if peer.is_present(self.now) && !self.is_gone() => "out",
            (None, _) => "overdue",
        }
    }

    /// What it says of itself and what is to be known of it, for people.
    pub(super) fn says(&self) -> String {
        let said = self.peer.map_or("-", |peer| peer.presence.as_str());
        let bar = self.bar.map(|bar| if bar.until.is_some() { "held off" } else { "cordoned" });
        let duplicate = self.duplicate.then_some("duplicate name");
        let votes = (self.votes == Some(true)).then_some("votes");
        [said].into_iter().chain(votes).chain(bar).chain(duplicate).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn priority(&self) -> i32 {
        self.peer.map_or(0, |peer| peer.priority)
    }

    pub(super) fn address(&self) -> Option<&'a str> {
        let told = self.peer.and_then(|peer| peer.profile.address.as_deref());
        told.or(self.member.and_then(|member| member.address.as_deref())).or(self.home)
    }

    pub(super) fn labels(&self) -> &'a [(String, String)] {
        match (self.peer, self.member) {
            (Some(peer), _) => &peer.profile.labels,
            (None, Some(member)) => &member.labels,
            (None, None) => &[],
        }
    }

    /// Since it was last heard of.
    pub(super) fn idle(&self) -> Duration {
        let line = self.peer.map(|peer| self.now.since(peer.beaten_at));
        let beat = self.member.map(|member| member.idle);
        [line, beat].into_iter().flatten().min().unwrap_or_default()
    }

    pub(super) fn joined(&self) -> StoreTime {
        let started = self.peer.map(|peer| peer.started);
        self.member.map(|member| member.joined).or(started).unwrap_or(self.now)
    }

    pub(super) fn face(&self) -> Face<'a> {
        let labels = self.labels().iter();
        Face {
            id: self.id(),
            name: self.who.name.as_str(),
            incarnation: self.who.incarnation.to_string(),
            position: self.position(),
            presence: self.peer.map(|peer| peer.presence.as_str()),
            why: self.peer.and_then(|peer| peer.why.as_deref()),
            priority: self.priority(),
            prefers: self.peer.map(|peer| peer.prefers.as_str()),
            cordoned: self.bar.is_some(),
            duplicate: self.duplicate,
            votes: self.votes,
            address: self.address(),
            labels: labels.map(|(key, value)| (&key[..], &value[..])).collect(),
            idle: self.idle().as_secs_f64(),
            joined: moment::rfc3339(self.joined()),
        }
    }
}
