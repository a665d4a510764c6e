//! The task of a node: hears links, the voter, the clock and its handles, and answers at once.
//!
//! Assumes: links that prove who speaks.
//! Promises: nothing here waits. A peer that says nonsense, or too much, costs no more than itself:
//! what it says of elections is kept for those only in which this process takes part.
//!
//! | file | what |
//! |---|---|
//! | [`hearing`] | what it does with what it hears |
//! | [`neighbours`] | who is linked to this node |
//! | [`parts`] | the elections in which it takes part |
//! | [`roll`] | who is there, as everybody says |

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use incumbent_protocol::caucus;
use incumbent_protocol::detector::{self, Detector};
use incumbent_protocol::group::{Group, Lookout, Manner};
use incumbent_protocol::identity::{CandidateId, ElectionName, Incarnation};
use incumbent_protocol::node::NodeId;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::ratify::Electorate;
use incumbent_protocol::time::Time;
use tokio::sync::{mpsc, oneshot};

use super::address::Seat;
use super::booth::Booth;
use super::links::{Event, Links};
use super::message::Message;
use super::node::{Answers, Nomination, Part, Word};
use super::numbers::Numbers;
use crate::bell::Ring;
use crate::clock;

mod hearing;
mod neighbours;
mod parts;
mod roll;

use neighbours::{FORGET, Neighbour};
use roll::Roll;

/// How often it is said again in which elections this process contends.
const ANNOUNCE: Duration = Duration::from_secs(5);

/// How many words of its handles it hears before it looks what is to be done.
const TOGETHER: usize = 256;

/// Everything that the task of a node has.
pub(super) struct Task {
    pub(super) me: CandidateId,
    pub(super) node: NodeId,
    /// Where it listens, if it does.
    pub(super) address: Option<String>,
    pub(super) seats: Vec<Seat>,
    pub(super) links: Links<Message>,
    pub(super) events: mpsc::Receiver<Event<Message>>,
    pub(super) words: mpsc::UnboundedReceiver<Word>,
    pub(super) booth: Option<Booth>,
    pub(super) electorate: Electorate,
    pub(super) detector: Detector,
    pub(super) manner: Manner,
    pub(super) numbers: Numbers,
    pub(super) rings: mpsc::Sender<Ring>,
    pub(super) nominations: mpsc::UnboundedSender<Nomination>,
    pub(super) state: State,
}

/// What a task comes to know.
pub(super) struct State {
    groups: BTreeMap<ElectionName, Group>,
    /// What the driver said last of each of them.
    parts: BTreeMap<ElectionName, Part>,
    neighbours: BTreeMap<NodeId, Neighbour>,
    /// Which node a candidate runs on.
    homes: BTreeMap<Incarnation, NodeId>,
    pending: BTreeMap<u64, Pending>,
    roll: Roll,
    watched: BTreeSet<NodeId>,
    /// Whether it is to be said anew in which elections this process contends.
    news: bool,
    /// When that was last said, and of how many.
    announced: Option<(Time, usize)>,
    lookout: Lookout,
    /// How often a group was told who takes part in it.
    #[cfg(test)]
    recounted: usize,
    /// Listening nodes that are in nobody's list, and since when they are gone.
    strangers: BTreeMap<String, Option<Time>>,
}

impl State {
    /// Nothing yet.
    pub(super) const fn new() -> State {
        State {
            groups: BTreeMap::new(),
            parts: BTreeMap::new(),
            neighbours: BTreeMap::new(),
            homes: BTreeMap::new(),
            pending: BTreeMap::new(),
            roll: Roll::new(),
            watched: BTreeSet::new(),
            news: false,
            announced: None,
            lookout: Lookout::NEVER,
            #[cfg(test)]
            recounted: 0,
            strangers: BTreeMap::new(),
        }
    }
}

struct Pending {
    message: Message,
    waiting: BTreeSet<NodeId>,
    answers: Answers,
}

impl Task {
    /// Runs until the last handle is gone.
    pub(super) async fn run(mut self) {
        self.detector.begin(clock::now());
        self.show_reach();
        let mut heard = Vec::new();
        loop {
            self.turn();
            let wake = self.wake_at().map(|at| at.since(clock::now()));
            tokio::select! {
                event = self.events.recv() => match event {
                    Some(event) => self.happened(event),
                    None => return,
                },
                words = self.words.recv_many(&mut heard, TOGETHER) => {
                    if words == 0 {
                        return;
                    }
                    for word in heard.drain(..) {
                        if let Word::Close { done } = word {
                            return self.close(done).await;
                        }
                        self.told(word);
                    }
                }
                () = sleep(wake) => {}
            }
        }
    }

    async fn close(mut self, done: oneshot::Sender<()>) {
        if let Some(booth) = self.booth.take() {
            booth.close().await;
        }
        self.links.close().await;
        drop(done);
    }

    fn wake_at(&self) -> Option<Time> {
        let groups = self.state.groups.values().filter_map(Group::wake_at);
        let gone = self.state.strangers.values().flatten().map(|since| *since + FORGET);
        let again = self.announces_at();
        let look = self.state.lookout.wake_at();
        groups.chain(self.detector.wake_at()).chain(gone).chain(again).chain(look).min()
    }

    /// Does what is due, and passes on what was said.
    fn turn(&mut self) {
        let now = clock::now();
        if self.detector.wake_at().is_some_and(|at| at <= now) {
            self.detector.handle(now, detector::Input::Wake);
        }
        for group in self.state.groups.values_mut() {
            group.wake(now);
        }
        self.forget_strangers(now);
        if self.state.lookout.take(now) {
            // It is a hint: one that is lost because many wait is no loss.
            let _ = self.rings.try_send(Ring::Changed);
        }
        self.announce(now);
        // Suspicions wake groups, and groups change who is watched.
        loop {
            self.watch(now);
            if !self.pass_suspicions(now) {
                break;
            }
        }
        self.pass_on();
    }

    fn watch(&mut self, now: Time) {
        let watched = self.state.groups.values().flat_map(Group::watches);
        let watched: BTreeSet<NodeId> = watched.filter(|node| *node != self.node).collect();
        if self.state.watched != watched {
            self.state.watched.clone_from(&watched);
            self.detector.handle(now, detector::Input::Watch(watched));
        }
    }

    fn pass_suspicions(&mut self, now: Time) -> bool {
        let mut any = false;
        while let Some(notice) = self.detector.poll_notice() {
            any = true;
            let input = match notice {
                detector::Notice::Suspected(node) => {
                    tracing::debug!(%node, by = %self.node, "suspected");
                    caucus::Input::Suspected(node)
                }
                detector::Notice::Trusted(node) => {
                    tracing::debug!(%node, "trusted");
                    caucus::Input::Trusted(node)
                }
            };
            for group in self.state.groups.values_mut() {
                group.handle(now, input.clone());
            }
        }
        any
    }

    fn pass_on(&mut self) {
        while let Some(detector::Effect::Send { to, message }) = self.detector.poll_effect() {
            self.links.send(to, Message::Beat(message));
        }
        for (election, group) in &mut self.state.groups {
            while let Some((to, message)) = group.poll_message() {
                let election = election.clone();
                self.links.send(to, &Message::Caucus { election, message });
            }
            let (before, mine) = (group.nominee(), group.poll_nomination());
            if group.nominee() != before {
                let nominee = group.nominee().map(|it| it.to_string());
                tracing::debug!(node = %self.node, ?nominee, "nominated");
            }
            if let Some(mine) = mine {
                let nomination = Nomination { election: election.clone(), mine };
                // The driver may be gone already.
                let _ = self.nominations.send(nomination);
                if self.manner.unratified {
                    // That alone changes who leads.
                    let _ = self.rings.try_send(Ring::Changed);
                }
            }
        }
    }

    fn happened(&mut self, event: Event<Message>) {
        let now = clock::now();
        match event {
            Event::Up(hello) => {
                self.up(hello);
                self.show_reach();
            }
            Event::Down { node, .. } => {
                self.detector.handle(now, detector::Input::Unreachable(node));
                for group in self.state.groups.values_mut() {
                    group.handle(now, caucus::Input::Unreachable(node));
                }
                self.gone(now, node);
                self.show_reach();
            }
            Event::Message { from, message } => self.heard(now, from, message),
        }
    }
}

async fn sleep(span: Option<Duration>) {
    match span {
        Some(span) => tokio::time::sleep(span).await,
        None => std::future::pending().await,
    }
}
