//! A few processes with a caucus and a detector each, on a network that loses, doubles, delays and cuts.
//!
//! Assumes: nothing of the protocols but their five methods. Promises: the same world of the same seed.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use incumbent_protocol::caucus::{self, Caucus, Manner, Rejoin};
use incumbent_protocol::detector::{self, Detector};
use incumbent_protocol::node::NodeId;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::time::Time;

/// The bound on a message's time while the network is well.
pub(crate) const UNIT: Duration = Duration::from_millis(10);

#[derive(Clone, Copy, Debug)]
enum Message {
    Caucus(caucus::Message),
    Detector(detector::Message),
}

#[derive(Debug)]
enum Event {
    Arrives { from: NodeId, to: NodeId, message: Message },
    Refused { by: NodeId, to: NodeId },
}

struct Process {
    caucus: Caucus,
    detector: Detector,
    watches: BTreeSet<NodeId>,
}

/// How the network is at present.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weather {
    /// Of a hundred messages, so many are lost.
    pub(crate) loses: u64,
    /// And so many arrive twice.
    pub(crate) doubles: u64,
    /// A message takes so many units at most.
    pub(crate) units: u32,
}

impl Weather {
    pub(crate) const FINE: Weather = Weather { loses: 0, doubles: 0, units: 1 };
}

pub(crate) struct World {
    pub(crate) now: Time,
    pub(crate) weather: Weather,
    pub(crate) cut: BTreeSet<(NodeId, NodeId)>,
    pub(crate) eligible: BTreeMap<NodeId, bool>,
    order: Vec<NodeId>,
    manner: Manner,
    rejoin: Rejoin,
    processes: BTreeMap<NodeId, Process>,
    events: BTreeMap<(Time, u64), Event>,
    sent: u64,
    chance: u64,
    /// Runs that anybody heard of, and changes of nominees.
    pub(crate) changes: u64,
}

impl World {
    /// So many processes in ring order, all new.
    pub(crate) fn new(order: Vec<NodeId>, manner: Manner, rejoin: Rejoin, seed: u64) -> Self {
        let mut world = World {
            now: Time::from_nanos(1_000_000_000),
            weather: Weather::FINE,
            cut: BTreeSet::new(),
            eligible: order.iter().map(|node| (*node, true)).collect(),
            order,
            manner,
            rejoin,
            processes: BTreeMap::new(),
            events: BTreeMap::new(),
            sent: 0,
            chance: seed,
            changes: 0,
        };
        for node in world.order.clone() {
            world.start(node);
        }
        world
    }

    /// A process begins, knowing nothing. Does nothing if it lives.
    pub(crate) fn start(&mut self, node: NodeId) {
        if self.processes.contains_key(&node) {
            return;
        }
        let mut caucus = Caucus::unratified(node, self.manner, self.rejoin);
        let heartbeats = detector::Manner::of_timeout(UNIT * 12).expect("long enough");
        let mut detector = Detector::new(heartbeats);
        caucus.begin(self.now);
        detector.begin(self.now);
        self.processes.insert(node, Process { caucus, detector, watches: BTreeSet::new() });
        self.tell(node, caucus::Input::Eligible(self.eligible[&node]));
        self.tell(node, caucus::Input::Nodes(self.order.clone()));
        self.tell(node, caucus::Input::Leader(None));
    }

    pub(crate) fn crash(&mut self, node: NodeId) {
        self.processes.remove(&node);
    }

    pub(crate) fn set_eligible(&mut self, node: NodeId, eligible: bool) {
        self.eligible.insert(node, eligible);
        self.tell(node, caucus::Input::Eligible(eligible));
    }

    /// Whom each process that lives would have lead.
    pub(crate) fn nominees(&self) -> BTreeMap<NodeId, Option<NodeId>> {
        self.processes.iter().map(|(node, process)| (*node, process.caucus.nominee())).collect()
    }

    pub(crate) fn run(&mut self, units: u32) {
        let until = self.now + UNIT * units;
        let mut steps = 0;
        while let Some(at) = self.next_at().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.step();
            steps += 1;
            assert!(steps < 1_000_000, "time stands still");
        }
        self.now = until;
    }

    fn next_at(&self) -> Option<Time> {
        let wakes = self.processes.values().flat_map(|process| {
            [process.caucus.wake_at(), process.detector.wake_at()].into_iter().flatten()
        });
        wakes.chain(self.events.keys().next().map(|key| key.0)).min()
    }

    fn step(&mut self) {
        if let Some(entry) = self.events.first_entry().filter(|entry| entry.key().0 <= self.now) {
            match entry.remove() {
                Event::Arrives { from, to, message: Message::Caucus(message) } => {
                    self.tell(to, caucus::Input::Message { from, message });
                }
                Event::Arrives { from, to, message: Message::Detector(message) } => {
                    self.beat(to, detector::Input::Message { from, message });
                }
                Event::Refused { by, to } => {
                    self.tell(to, caucus::Input::Unreachable(by));
                    self.beat(to, detector::Input::Unreachable(by));
                }
            }
            return;
        }
        for node in self.order.clone() {
            let due = |at: Option<Time>| at.is_some_and(|at| at <= self.now);
            let Some(process) = self.processes.get(&node) else { continue };
            if due(process.detector.wake_at()) {
                self.beat(node, detector::Input::Wake);
            } else if due(process.caucus.wake_at()) {
                self.tell(node, caucus::Input::Wake);
            }
        }
    }

    fn tell(&mut self, node: NodeId, input: caucus::Input) {
        let Some(process) = self.processes.get_mut(&node) else { return };
        process.caucus.handle(self.now, input);
        let effects: Vec<_> = core::iter::from_fn(|| process.caucus.poll_effect()).collect();
        self.changes += core::iter::from_fn(|| process.caucus.poll_notice()).count() as u64;
        let watches = process.caucus.watches();
        let watch = (watches != process.watches).then(|| watches.clone());
        process.watches = watches;
        for caucus::Effect::Send { to, message } in effects {
            self.send(node, to, Message::Caucus(message));
        }
        if let Some(watch) = watch {
            self.beat(node, detector::Input::Watch(watch));
        }
    }

    fn beat(&mut self, node: NodeId, input: detector::Input) {
        let Some(process) = self.processes.get_mut(&node) else { return };
        process.detector.handle(self.now, input);
        let effects: Vec<_> = core::iter::from_fn(|| process.detector.poll_effect()).collect();
        let notices: Vec<_> = core::iter::from_fn(|| process.detector.poll_notice()).collect();
        for detector::Effect::Send { to, message } in effects {
            self.send(node, to, Message::Detector(message));
        }
        for notice in notices {
            let input = match notice {
                detector::Notice::Suspected(peer) => caucus::Input::Suspected(peer),
                detector::Notice::Trusted(peer) => caucus::Input::Trusted(peer),
            };
            self.tell(node, input);
        }
    }

    fn send(&mut self, from: NodeId, to: NodeId, message: Message) {
        let Weather { loses, doubles, units } = self.weather;
        let copies = if self.dice(100) < doubles { 2 } else { 1 };
        for _ in 0..copies {
            let lost = self.dice(100) < loses || self.cut.contains(&(from, to));
            let delay = UNIT * units * u32::try_from(self.dice(1_000) + 1).expect("small") / 1_000;
            let refused = !self.processes.contains_key(&to) && self.dice(2) == 0;
            let event = if refused && !lost {
                Event::Refused { by: to, to: from }
            } else {
                Event::Arrives { from, to, message }
            };
            if !lost {
                self.sent += 1;
                self.events.insert((self.now + delay, self.sent), event);
            }
        }
    }

    fn dice(&mut self, sides: u64) -> u64 {
        self.chance = self.chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.chance;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }
}
