//! What can happen next in a small world of nomination.
//!
//! Promises: a step that is counted on happens of itself; the others are trouble.

use core::time::Duration;

use incumbent_protocol::node::NodeId;
use incumbent_protocol::nomination::Input;
use incumbent_protocol::time::Time;

use super::nominator::Nominator;
use super::setup::Setup;
use super::state::{Letter, State};

/// A wait that ends later than this from now never ends.
const NEVER: Duration = Duration::from_hours(1);

/// One thing that happens. Nodes are given by their places, messages by theirs among those under way,
/// which are sorted by to whom they go and from whom they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A node is told that nobody leads.
    Begin(u8),
    /// A node is told of the one that joins.
    Learn(u8),
    /// A message arrives.
    Arrive(u8),
    /// A message arrives, and will again.
    Double(u8),
    /// A message is lost.
    Lose(u8),
    /// The earliest wait ends, as no message is under way.
    Pass,
    /// The earliest wait ends though messages are under way.
    Delay,
    /// A node dies.
    Crash(u8),
    /// A node is told who is dead, or misses whom it takes to be picked.
    Find(u8),
    /// All is quiet, and a node that knows of nobody picked is told that nobody leads.
    Miss(u8),
    /// All is quiet without agreement, and a node says again that it was picked.
    Repeat(u8),
}

impl Step {
    /// Whether it happens of itself.
    pub(super) const fn is_counted_on(self) -> bool {
        !matches!(self, Step::Double(_) | Step::Lose(_) | Step::Delay | Step::Crash(_))
    }
}

impl<P: Nominator> State<P> {
    /// All steps that can be taken.
    pub fn steps(&self, setup: &Setup<P>) -> Vec<Step> {
        let mut steps = self.expected(setup);
        for which in self.next_letters(setup) {
            if self.budget.doubles > 0 {
                steps.push(Step::Double(which));
            }
            if self.budget.losses > 0 {
                steps.push(Step::Lose(which));
            }
        }
        if self.budget.delays > 0 && !self.letters.is_empty() && self.wakes_at().is_some() {
            steps.push(Step::Delay);
        }
        if self.budget.crashes > 0 && self.crashed.is_none() {
            steps.extend(self.living().map(Step::Crash));
        }
        steps
    }

    /// Whether nothing happens any more unless there is trouble.
    pub(super) fn is_quiet(&self, setup: &Setup<P>) -> bool {
        self.letters.is_empty()
            && self.wakes_at().is_none()
            && !self.expected(setup).into_iter().any(|step| self.after(step, setup).is_some())
    }

    /// The steps that happen of themselves.
    fn expected(&self, setup: &Setup<P>) -> Vec<Step> {
        let mut steps = Vec::new();
        for place in self.living() {
            let seat = &self.seats[usize::from(place)];
            if seat.begins {
                steps.push(Step::Begin(place));
            }
            if seat.learns {
                steps.push(Step::Learn(place));
            }
            if let Some(dead) = self.dead()
                && (seat.node.nominee() == Some(dead) || setup.told && !seat.told)
            {
                steps.push(Step::Find(place));
            }
        }
        steps.extend(self.next_letters(setup).map(Step::Arrive));
        let learn = self.living().any(|place| self.seats[usize::from(place)].learns);
        if self.letters.is_empty() && !learn && self.wakes_at().is_some() {
            steps.push(Step::Pass);
        }
        if steps.is_empty() {
            let nominee = |place: u8| self.seats[usize::from(place)].node.nominee();
            let lacks = self.living().filter(|place| nominee(*place).is_none());
            steps.extend(lacks.map(Step::Miss));
            if setup.repeats && !self.agrees() {
                let picked = |place: &u8| nominee(*place) == Some(setup.node(*place));
                steps.extend(self.living().filter(picked).map(Step::Repeat));
            }
        }
        steps
    }

    /// Which messages can arrive next: of equal ones the first, and of a link in order the first.
    fn next_letters(&self, setup: &Setup<P>) -> impl Iterator<Item = u8> {
        let follows = |at: usize| {
            let (before, letter) = (&self.letters[at - 1], &self.letters[at]);
            before == letter || setup.ordered && before.link() == letter.link()
        };
        let places = (0..self.letters.len()).filter(move |at| *at == 0 || !follows(*at));
        places.map(|at| u8::try_from(at).unwrap_or(u8::MAX))
    }

    /// When the earliest wait of those who live ends.
    fn wakes_at(&self) -> Option<Time> {
        let waits = self.living().filter_map(|place| self.seats[usize::from(place)].node.wake_at());
        waits.min().filter(|at| *at < self.now + NEVER)
    }

    /// The world after a step, unless that changes nothing.
    pub fn after(&self, step: Step, setup: &Setup<P>) -> Option<State<P>> {
        let mut next = self.clone();
        match step {
            Step::Begin(place) => {
                next.seats[usize::from(place)].begins = false;
                next.handle(place, Input::Vacant, setup);
            }
            Step::Learn(place) => {
                next.seats[usize::from(place)].learns = false;
                let all = setup.numbers.map(NodeId::given).to_vec();
                next.handle(place, Input::Nodes(all), setup);
            }
            Step::Arrive(which) => {
                let letter = next.letters.remove(usize::from(which));
                next.arrive(letter.to, letter.from, letter.message, setup);
            }
            Step::Double(which) => {
                next.budget.doubles -= 1;
                let letter = next.letters[usize::from(which)];
                next.arrive(letter.to, letter.from, letter.message, setup);
            }
            Step::Lose(which) => {
                next.budget.losses -= 1;
                next.letters.remove(usize::from(which));
            }
            Step::Pass => next.pass(setup),
            Step::Delay => {
                next.budget.delays -= 1;
                next.pass(setup);
            }
            Step::Crash(place) => {
                next.budget.crashes -= 1;
                next.crash(place, setup);
            }
            Step::Find(place) => next.find(place, setup),
            Step::Miss(place) => next.handle(place, Input::Vacant, setup),
            Step::Repeat(from) => {
                let message = next.seats[usize::from(from)].node.repeated();
                let others = next.living().filter(|to| *to != from);
                next.letters.extend(others.map(|to| Letter { to, from, message }));
                next.letters.sort_unstable();
            }
        }
        (next != *self).then_some(next)
    }

    fn arrive(&mut self, to: u8, from: u8, message: P::Message, setup: &Setup<P>) {
        self.handle(to, Input::Message { from: setup.node(from), message }, setup);
    }

    /// Whose waits end at the same instant do not see each other: their order makes no difference.
    fn pass(&mut self, setup: &Setup<P>) {
        let Some(now) = self.wakes_at() else { return };
        self.now = now;
        for place in self.living() {
            if self.seats[usize::from(place)].node.wake_at().is_some_and(|at| at <= now) {
                self.handle(place, Input::Wake, setup);
            }
        }
    }

    /// What it said is still under way; what is said to it reaches nobody. Of itself nothing is left.
    fn crash(&mut self, place: u8, setup: &Setup<P>) {
        let node = setup.node(place);
        self.crashed = Some((place, node));
        self.letters.retain(|letter| letter.to != place);
        let seat = &mut self.seats[usize::from(place)];
        seat.node = P::node(node, setup.rejoin);
        (seat.begins, seat.learns) = (false, false);
    }

    fn find(&mut self, place: u8, setup: &Setup<P>) {
        let Some(dead) = self.dead() else { return };
        if setup.told && !core::mem::replace(&mut self.seats[usize::from(place)].told, true) {
            self.handle(place, Input::Unreachable(dead), setup);
        }
        if self.seats[usize::from(place)].node.nominee() == Some(dead) {
            self.handle(place, Input::Vacant, setup);
        }
    }
}
