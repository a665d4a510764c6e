//! The elections in which this process takes part, and with whom.
//!
//! Assumes: the driver says how its candidates stand, and every neighbour in which elections it
//! contends.
//! Promises: a group is told who takes part and who leads as soon as either changes. However many
//! elections are entered, saying so costs each peer a bounded share of its time.

use std::collections::BTreeSet;
use std::time::Duration;

use incumbent_protocol::group::{Group, Told};
use incumbent_protocol::identity::{CandidateId, CandidateName, ElectionName};
use incumbent_protocol::node::NodeId;
use incumbent_protocol::term::Term;
use incumbent_protocol::time::Time;

use super::{ANNOUNCE, State, Task};
use crate::peers::message::Message;
use crate::peers::node::Part;

/// How long the next announcement waits for each name in the last one.
const NAME: Duration = Duration::from_micros(20);

impl Task {
    pub(super) fn takes(&mut self, now: Time, election: &ElectionName, part: Option<Part>) {
        let Some(part) = part else {
            self.state.parts.remove(election);
            self.state.news |= self.state.groups.remove(election).is_some();
            return;
        };
        let told = self.resolve(&part);
        let known = self.state.parts.insert(election.clone(), part).is_some();
        let (node, manner) = (self.node, &self.manner);
        let group = self.state.groups.entry(election.clone());
        let group = group.or_insert_with(|| Group::new(node, manner, now));
        group.tell(now, told);
        if !known {
            self.state.news = true;
            self.recount(now, election);
        }
    }

    /// What a candidate says of itself, in numbers of nodes.
    fn resolve(&self, part: &Part) -> Told {
        let leader = part.leader.as_ref().map(|leader| self.home(leader));
        let up = |node: NodeId| node == self.node || self.state.neighbours.contains_key(&node);
        let term = part.term.map(Term::get);
        Told { eligible: part.eligible, leader, reachable: leader.is_some_and(up), term }
    }

    /// A node came, on which somebody may lead of whom was not known where it is.
    pub(super) fn resolve_again(&mut self, now: Time) {
        let parts = self.state.parts.iter();
        let told: Vec<_> = parts.map(|(name, part)| (name.clone(), self.resolve(part))).collect();
        for (election, told) in told {
            if let Some(group) = self.state.groups.get_mut(&election) {
                group.tell(now, told);
            }
        }
    }

    /// Says in which elections this process contends, if that is news or was said long ago. All of
    /// them are in one message: so the more there are, the longer the next one waits.
    pub(super) fn announce(&mut self, now: Time) {
        let Some(at) = self.announces_at() else { return };
        if now < at {
            return;
        }
        let contends = self.contends();
        for node in self.state.neighbours.keys() {
            self.links.send(*node, &contends);
        }
        self.state.news = false;
        self.state.announced = Some((now, self.state.groups.len()));
    }

    /// When it is next said in which elections this process contends.
    pub(super) fn announces_at(&self) -> Option<Time> {
        let State { news, announced, groups, .. } = &self.state;
        let Some((last, length)) = *announced else {
            return news.then_some(Time::ZERO);
        };
        let pause = NAME.saturating_mul(u32::try_from(length).unwrap_or(u32::MAX));
        // It may have been lost with a link that broke.
        let again = (!groups.is_empty()).then_some(last + ANNOUNCE);
        if *news { Some(last + pause.min(ANNOUNCE)) } else { again }
    }

    pub(super) fn contends(&self) -> Message {
        Message::Contends(self.state.groups.keys().cloned().collect())
    }

    /// A neighbour contends in these elections from now on, and in no others.
    pub(super) fn contending(&mut self, now: Time, from: NodeId, elections: Vec<ElectionName>) {
        let Some(neighbour) = self.state.neighbours.get_mut(&from) else { return };
        let elections = elections.into_iter().collect();
        let before = std::mem::replace(&mut neighbour.contends, elections);
        let changed: Vec<_> = before.symmetric_difference(&neighbour.contends).cloned().collect();
        for election in changed {
            self.recount(now, &election);
        }
    }

    /// Tells the group of an election who takes part in it.
    pub(super) fn recount(&mut self, now: Time, election: &ElectionName) {
        let Some(group) = self.state.groups.get_mut(election) else { return };
        #[cfg(test)]
        {
            self.state.recounted += 1;
        }
        let there = self.state.neighbours.iter();
        let there = there.filter(|(_, it)| it.contends.contains(election));
        let nodes: BTreeSet<NodeId> = there.map(|(node, _)| *node).chain([self.node]).collect();
        group.nodes(now, nodes.into_iter().collect());
    }

    /// Whoever was picked in an election, if its process is known.
    pub(super) fn nominee(&self, election: &ElectionName) -> Option<CandidateId> {
        let node = self.state.groups.get(election)?.nominee()?;
        if node == self.node {
            return Some(self.me.clone());
        }
        let hello = &self.state.neighbours.get(&node)?.hello;
        let name = CandidateName::new(&hello.name).ok()?;
        Some(CandidateId::new(name, hello.incarnation))
    }
}

#[cfg(test)]
mod tests {
    use incumbent_protocol::caucus::{self, Rejoin};
    use incumbent_protocol::detector::{self, Detector};
    use incumbent_protocol::group::Manner;
    use incumbent_protocol::identity::Incarnation;
    use incumbent_protocol::ratify::Electorate;
    use incumbent_protocol::ring;
    use tokio::net::TcpListener;
    use tokio::sync::mpsc;

    use super::*;
    use crate::clock;
    use crate::peers::hello::Hello;
    use crate::peers::links::{Event, Limits, Links, Settings};
    use crate::peers::node::Word;
    use crate::peers::numbers::Numbers;
    use crate::peers::secret::Secret;

    const MANY: usize = 1_000;

    type Events = mpsc::Receiver<Event<Message>>;

    async fn links(number: u128, listens: bool) -> (Hello, Links<Message>, Events) {
        let listener = if listens {
            Some(TcpListener::bind("127.0.0.1:0").await.expect("a port"))
        } else {
            None
        };
        let address = listener.as_ref().map(|it| it.local_addr().expect("bound").to_string());
        let (node, life) = (NodeId::given(number), Incarnation::from_random(number << 64));
        let hello = Hello::new(node, life, format!("host-{number}"), address);
        let secret = Secret::from_text("a secret for tests only").expect("long enough");
        let (limits, numbers) = (Limits::default(), Numbers::default());
        let settings = Settings { hello: hello.clone(), listener, secret, limits, numbers };
        let (links, events) = Links::start(settings);
        (hello, links, events)
    }

    /// A node that is linked to another one, which only listens.
    async fn linked() -> (Task, Links<Message>, Events) {
        let (other, others, heard) = links(2, true).await;
        let (own, links, mut events) = links(1, false).await;
        links.keep(other.address.as_deref().expect("it listens"));
        let up = events.recv().await.expect("a link");
        let timeouts = ring::Timeouts::of_message_time(Duration::from_millis(50));
        let manner = Manner {
            algorithm: caucus::Manner::Ring(timeouts.expect("long enough")),
            rejoin: Rejoin::Sticky,
            patience: Duration::from_secs(6),
            unratified: false,
        };
        let name = CandidateName::new(&own.name).expect("a name");
        let mut task = Task {
            me: CandidateId::new(name, own.incarnation),
            node: own.node,
            address: None,
            seats: Vec::new(),
            links,
            events,
            words: mpsc::unbounded_channel().1,
            booth: None,
            electorate: Electorate::first([other.node]),
            detector: Detector::new(detector::Manner::default()),
            manner,
            numbers: Numbers::default(),
            rings: mpsc::channel(1).0,
            nominations: mpsc::unbounded_channel().0,
            state: State::new(),
        };
        task.happened(up);
        (task, others, heard)
    }

    fn elections(count: usize) -> Vec<ElectionName> {
        let name = |at| ElectionName::new(format!("job-{at:05}")).expect("a name");
        (0..count).map(name).collect()
    }

    fn enter(task: &mut Task, election: ElectionName) {
        let part = Some(Part { eligible: true, leader: None, term: None });
        task.told(Word::Takes { election, part });
    }

    #[tokio::test]
    async fn entering_many_elections_is_told_in_messages_that_grow_with_their_number() {
        let (mut task, _others, mut heard) = linked().await;
        let begun = clock::now();
        for election in elections(MANY) {
            enter(&mut task, election);
            task.turn();
        }
        while let Some(at) = task.announces_at().filter(|_| task.state.news) {
            tokio::time::sleep(at.since(clock::now())).await;
            task.turn();
        }
        let took = clock::now().since(begun);
        let (mut names, mut messages) = (0, 0);
        while names < MANY || messages == 0 {
            let event = heard.recv().await.expect("a link");
            let Event::Message { message: Message::Contends(all), .. } = event else { continue };
            (names, messages) = (names + all.len(), messages + 1);
            if all.len() == MANY {
                break;
            }
        }
        let share = usize::try_from(took.as_micros() / NAME.as_micros()).expect("a short test");
        assert!(names <= share + 2 * MANY, "{names} names in {messages} messages in {took:?}");
        assert_eq!(task.state.recounted, MANY, "groups that nothing happened to");
    }

    #[tokio::test]
    async fn only_those_are_counted_again_that_a_neighbour_entered_or_left() {
        let (mut task, _others, _heard) = linked().await;
        let (now, from, mut all) = (clock::now(), NodeId::given(2), elections(MANY));
        for election in &all {
            enter(&mut task, election.clone());
        }
        for (listed, recounted) in [(MANY, MANY), (MANY, 0), (MANY - 1, 1), (0, MANY - 1)] {
            task.state.recounted = 0;
            all.truncate(listed);
            task.heard(now, from, Message::Contends(all.clone()));
            assert_eq!(task.state.recounted, recounted);
        }
    }
}
