//! The bully: Garcia-Molina's election, as the lecture of the fourth seed tells it, and with what that
//! assumes away.
//!
//! Assumes: what [`nomination`](crate::nomination) assumes. The order of [`Input::Nodes`] does not
//! matter.
//! Promises: while messages arrive in time, one is picked in each run, and it is the highest of those
//! who live and may be picked. Where they do not, every wait has an end.
//!
//! The lecture's coordinator speaks to all lower nodes. This one also speaks to higher ones that did
//! not answer and are not known to be dead: one that may not be picked wants to know, and one that
//! was only slow then begins a run of its own.
//!
//! | file | noun |
//! |---|---|
//! | `words` | what nodes say |
//! | `timeouts` | how long they wait |
//! | `steps` | the steps of the lecture |
//! | `news` | what is late, asked or answered |

use std::collections::{BTreeSet, VecDeque};

use crate::caucus::peers::{Inquiry, Peers};
use crate::node::NodeId;
use crate::nomination::{Effect, Input, Notice, Run};
use crate::protocol::Protocol;
use crate::time::Time;

mod news;
mod steps;
#[cfg(test)]
mod tests;
mod timeouts;
mod words;

pub use crate::caucus::waits::{Rejoin, WaitError};
pub use timeouts::Timeouts;
pub use words::Message;

/// A node that cannot be reached is not asked for so many message times.
const LOST: u32 = 40;

/// What a node does about the newest run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    /// It is new, and asks whether anybody leads.
    Asking(Inquiry),
    /// It asked those who are higher, and none answered yet.
    Answers {
        until: Time,
        awaited: BTreeSet<NodeId>,
    },
    /// Somebody higher lives, and will see to it.
    Coordinator {
        until: Time,
        answered: BTreeSet<NodeId>,
    },
}

/// One node of a bully election.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bully {
    peers: Peers,
    timeouts: Timeouts,
    rejoin: Rejoin,
    /// The newest run that it knows of.
    run: Run,
    phase: Phase,
    /// Whom this run picked.
    nominee: Option<NodeId>,
    /// Whether the nominee is known to lead, from elsewhere.
    led: bool,
    /// Whether it ever heard of a run or of a leader.
    informed: bool,
    /// When the nominee says again that it was picked.
    repeats_at: Option<Time>,
    effects: VecDeque<Effect<Message>>,
    notices: VecDeque<Notice>,
}

impl Bully {
    /// A node that knows of nobody else and may be picked.
    pub fn new(me: NodeId, timeouts: Timeouts, rejoin: Rejoin) -> Self {
        Bully {
            peers: Peers::new(me),
            timeouts,
            rejoin,
            run: Run::default(),
            phase: Phase::Idle,
            nominee: None,
            led: false,
            informed: false,
            repeats_at: None,
            effects: VecDeque::new(),
            notices: VecDeque::new(),
        }
    }

    /// How long it waits for what.
    pub const fn timeouts(&self) -> &Timeouts {
        &self.timeouts
    }

    /// The newest run that it knows of.
    pub const fn run(&self) -> Run {
        self.run
    }

    /// Whom that run picked.
    pub const fn nominee(&self) -> Option<NodeId> {
        self.nominee
    }

    /// Whether a run is under way, or a question whether anybody leads.
    pub const fn is_electing(&self) -> bool {
        !matches!(self.phase, Phase::Idle)
    }

    /// The node can be reached again, as something else than its messages shows.
    pub fn reach(&mut self, node: NodeId) {
        self.peers.reach(node);
    }

    fn tick(&mut self, now: Time) {
        match &self.phase {
            Phase::Asking(inquiry) if inquiry.is_over(now) => self.start(now, self.run.next()),
            Phase::Answers { until, awaited } if *until <= now || awaited.is_empty() => {
                self.hear_nobody(now);
            }
            Phase::Coordinator { until, .. } if *until <= now => self.start(now, self.run.next()),
            _ => {}
        }
        if self.repeats_at.is_some_and(|at| at <= now) {
            let current = self.current();
            let others: Vec<NodeId> = self.peers.others().collect();
            self.send_each(others, current);
            self.repeats_at = self.timeouts.repeat().map(|every| now + every);
        }
    }

    /// This node is gone: nobody waits for it any more.
    fn lose(&mut self, now: Time, node: NodeId) {
        self.peers.lose(node, now + self.timeouts.message() * LOST);
        match &mut self.phase {
            Phase::Asking(Inquiry { awaited, .. }) | Phase::Answers { awaited, .. } => {
                awaited.remove(&node);
            }
            Phase::Coordinator { answered, .. } => {
                // Whoever promised to see to it is gone.
                if answered.remove(&node) && answered.is_empty() {
                    self.start(now, self.run.next());
                }
            }
            Phase::Idle => {}
        }
    }

    fn send(&mut self, to: NodeId, message: Message) {
        self.effects.push_back(Effect::Send { to, message });
    }

    fn send_each(&mut self, to: impl IntoIterator<Item = NodeId>, message: Message) {
        self.effects.extend(to.into_iter().map(|to| Effect::Send { to, message }));
    }
}

impl Protocol for Bully {
    type Input = Input<Message>;
    type Effect = Effect<Message>;
    type Notice = Notice;

    fn begin(&mut self, _now: Time) {}

    fn handle(&mut self, now: Time, input: Input<Message>) {
        self.peers.forgive(now);
        match input {
            Input::Wake => {}
            Input::Nodes(nodes) => self.set_nodes(now, nodes),
            Input::Eligible(eligible) => self.set_eligible(now, eligible),
            Input::Vacant => self.set_vacant(now),
            Input::Led(leader) => self.set_led(leader),
            Input::Unreachable(node) => self.lose(now, node),
            Input::Message { from, .. } if from == self.peers.me() => {}
            Input::Message { from, message } => {
                self.peers.reach(from);
                self.hear(now, from, message);
            }
        }
        self.tick(now);
    }

    fn wake_at(&self) -> Option<Time> {
        let phase = match &self.phase {
            Phase::Idle => None,
            Phase::Asking(inquiry) => Some(inquiry.until),
            Phase::Answers { until, .. } | Phase::Coordinator { until, .. } => Some(*until),
        };
        [phase, self.repeats_at].into_iter().flatten().min()
    }

    fn poll_effect(&mut self) -> Option<Effect<Message>> {
        self.effects.pop_front()
    }

    fn poll_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }
}
