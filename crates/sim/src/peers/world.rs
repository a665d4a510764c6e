//! The world of peers: nodes, their links and disks, and everything between them, one event after the
//! other.
//!
//! Assumes: a story that says what goes wrong, and chance from its seed.
//! Promises: the same story gives the same history, byte for byte. No decision about leadership is
//! made here: all of them are made by the shipping code of `incumbent-protocol`.

use std::rc::Rc;

use incumbent_protocol::group::{Group, Manner};
use incumbent_protocol::history;
use incumbent_protocol::identity::{CandidateId, CandidateName, ElectionName, Incarnation};
use incumbent_protocol::ratify::Electorate;
use incumbent_protocol::rules::Timing;
use incumbent_protocol::time::Time;
use incumbent_protocol::{caucus, detector};

use super::PeersError;
use super::booth::Disk;
use super::node::Node;
use super::story::Story;
use super::tally::Tally;
use super::wire::{Letters, Link};
use crate::clock::{At, HostClock, SECOND};
use crate::genre;
use crate::network::{Network, TroubleId};
use crate::queue::Queue;
use crate::random::Random;
use crate::resource::Resource;
use crate::scribe::{Keep, Scribe};
use incumbent_audit::{NoTermAgainstOrders, Violation};

mod drive;
mod faults;
mod heal;
mod life;
mod notice;
mod office;
mod post;
mod serve;
mod turn;
mod work;

/// What is going to happen. Nodes are named by their place in the setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A letter arrives.
    Deliver { letter: usize },
    /// A node's timer fires.
    Wake { node: u8, turn: u32 },
    /// A voter's disk has written.
    Kept { node: u8, life: u32 },
    /// Two nodes try to have a link.
    Dial { pair: usize },
    /// They have one.
    Linked { pair: usize, session: u64, lives: (u32, u32) },
    /// One of them has it.
    Up { node: u8, life: u32, peer: u8, session: u64, incarnation: Incarnation },
    /// One of them learns that it is gone.
    Down { node: u8, life: u32, peer: u8, session: u64 },
    /// Nothing was acknowledged for long.
    Stuck { pair: usize, session: u64 },
    /// Supervised work takes its next step.
    Work { node: u8, life: u32, election: u8, serial: u32 },
    /// Supervised work has stopped.
    Stopped { node: u8, life: u32, election: u8, serial: u32 },
    /// A user wants to lead again.
    Campaign { node: u8, life: u32, election: u8 },
    /// A write reaches the resource.
    Write { node: u8, life: u32, election: u8, term: u64 },
    /// A fault begins.
    Fault { index: usize },
    /// A fault ends, or turns over.
    Over { index: usize },
    /// A stopped process goes on.
    Resume { node: u8, life: u32 },
    /// A process starts.
    Start { node: u8 },
    /// Everything heals.
    Heal,
    /// Nothing may change from here on.
    Quiet,
    /// The run ends.
    End,
}

/// The world while it runs.
#[derive(Debug)]
pub(super) struct World<'a> {
    pub(super) story: &'a Story,
    pub(super) timing: Timing,
    pub(super) manner: Manner,
    pub(super) detector: detector::Manner,
    pub(super) first: Rc<Electorate>,
    pub(super) elections: Vec<ElectionName>,
    pub(super) now: At,
    pub(super) ended: bool,
    pub(super) healed: Option<At>,
    /// Who led last in each election, if anybody ever did.
    pub(super) led: Vec<Option<u8>>,
    pub(super) queue: Queue<Event>,
    pub(super) random: Random,
    pub(super) nodes: Vec<Node>,
    pub(super) network: Network,
    pub(super) links: Vec<Link>,
    pub(super) letters: Letters,
    /// What leaders write to, one for each election.
    pub(super) resources: Vec<Resource>,
    /// Faults that last, with what they did to links.
    pub(super) lasting: Vec<(usize, Vec<TroubleId>)>,
    pub(super) scribe: Scribe,
    pub(super) no_term_against_orders: NoTermAgainstOrders,
    /// What the world itself saw that must not be.
    pub(super) violations: Vec<Violation>,
    pub(super) tally: Tally,
}

/// What became of a world of peers.
pub type Run = genre::Run<Tally>;

/// Runs a story to its end.
pub(super) fn run(story: &Story, keep: Keep) -> Result<Run, PeersError> {
    let mut world = World::new(story, keep)?;
    world.run();
    world.sum_up();
    let World { scribe, mut tally, no_term_against_orders, violations, .. } = world;
    let (mut report, history, trace) = scribe.finish();
    no_term_against_orders.add_to(&mut report);
    report.violations.extend(violations);
    tally.runs = 1;
    tally.simulated = story.setting.length;
    Ok(Run { report, tally, history, trace })
}

impl<'a> World<'a> {
    fn new(story: &'a Story, keep: Keep) -> Result<Self, PeersError> {
        let setting = &story.setting;
        story.check().map_err(PeersError::Story)?;
        let mut random = Random::from_seed(story.seed);
        let voters = (0..setting.voters).map(|index| setting.number(index));
        let nodes = nodes(story, &mut random)?;
        let count = nodes.len();
        let mut world = World {
            story,
            timing: setting.timing()?,
            manner: setting.manner()?,
            detector: setting.detector()?,
            first: Rc::new(Electorate::first(voters)),
            elections: elections(setting.elections)?,
            now: 0,
            ended: false,
            healed: None,
            led: vec![None; setting.elections],
            queue: Queue::default(),
            nodes,
            network: Network::new(count, setting.latency_least, setting.latency_most),
            links: vec![Link::default(); count * count],
            letters: Letters::new(count),
            resources: vec![Resource::default(); setting.elections],
            lasting: Vec::new(),
            scribe: Scribe::new(true, keep),
            no_term_against_orders: NoTermAgainstOrders::default(),
            violations: Vec::new(),
            tally: Tally::default(),
            random,
        };
        world.set_the_stage();
        Ok(world)
    }

    /// Schedules what is known beforehand.
    fn set_the_stage(&mut self) {
        let setting = &self.story.setting;
        for (node, &at) in (0..).zip(&setting.starts) {
            self.queue.push(at, Event::Start { node });
        }
        for (index, fault) in self.story.faults.iter().enumerate() {
            self.queue.push(fault.at, Event::Fault { index });
        }
        self.queue.push(setting.heals_at(), Event::Heal);
        self.queue.push(setting.length, Event::End);
    }

    fn run(&mut self) {
        while !self.ended
            && let Some((at, event)) = self.queue.pop()
        {
            self.now = at;
            self.happen(event);
        }
    }

    fn happen(&mut self, event: Event) {
        self.tally.events += 1;
        match event {
            Event::Deliver { .. }
            | Event::Wake { .. }
            | Event::Kept { .. }
            | Event::Up { .. }
            | Event::Down { .. }
            | Event::Work { .. }
            | Event::Stopped { .. }
            | Event::Campaign { .. } => self.take_turn(event),
            Event::Dial { pair } => self.dial(pair),
            Event::Linked { pair, session, lives } => self.linked(pair, session, lives),
            Event::Stuck { pair, session } => self.stuck(pair, session),
            Event::Write { node, life, election, term } => self.write(node, life, election, term),
            Event::Fault { index } => self.fault(index),
            Event::Over { index } => self.over(index),
            Event::Resume { node, life } => self.resume(node, life),
            Event::Start { node } => self.start(node),
            Event::Heal => self.heal(),
            Event::Quiet => {
                let until = Time::from_nanos(self.story.setting.length);
                self.scribe.world(self.now, history::Event::Quiet { until });
            }
            Event::End => {
                self.scribe.world(self.now, history::Event::Ended);
                self.ended = true;
            }
        }
    }

    /// Tells what only the world can see.
    fn sum_up(&mut self) {
        for node in &self.nodes {
            let Some(parts) = &node.parts else { continue };
            let (id, lineage) = (&node.id, node.disk.lineage());
            let known = parts.store.client().electorate();
            self.scribe.trace(self.now, || format!("{id} has {lineage:?} and counts on {known:?}"));
            let groups = parts.elections.iter().filter_map(|it| it.group.as_ref());
            self.tally.began += groups.map(Group::runs).sum::<u64>();
            if parts.store.unlike {
                let story = format!("{} met another electorate of the same number", node.id);
                let at = Time::from_nanos(self.now);
                self.violations.push(Violation::unwritten("one_electorate", at, story));
            }
        }
    }

    /// The world itself saw something that must not be.
    pub(super) fn accuse(&mut self, property: &'static str, story: String) {
        let at = Time::from_nanos(self.now);
        self.violations.push(Violation::unwritten(property, at, story));
    }
}

fn elections(count: usize) -> Result<Vec<ElectionName>, PeersError> {
    let name = |at| match at {
        0 => ElectionName::new("election"),
        at => ElectionName::new(format!("election-{at}")),
    };
    Ok((0..count).map(name).collect::<Result<_, _>>()?)
}

fn nodes(story: &Story, random: &mut Random) -> Result<Vec<Node>, PeersError> {
    let setting = &story.setting;
    let node = |(index, &skew): (usize, &i64)| {
        let name = CandidateName::new(format!("node-{index}"))?;
        // Hosts booted at different times: no offset between their clocks means anything.
        let reading = random.between(SECOND, 86_400 * SECOND);
        let id = CandidateId::new(name, Incarnation::from_random(0));
        let disk = Disk::new(random.next_wide());
        Ok(Node::new(setting.number(index), id, HostClock::new(0, reading, skew), disk))
    };
    setting.skews.iter().enumerate().map(node).collect()
}

/// There are never more than a few dozen nodes.
pub(super) fn small(number: usize) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

/// What a node tells a caucus when a peer is suspected or trusted.
pub(super) const fn about(notice: detector::Notice) -> caucus::Input {
    match notice {
        detector::Notice::Suspected(node) => caucus::Input::Suspected(node),
        detector::Notice::Trusted(node) => caucus::Input::Trusted(node),
    }
}
