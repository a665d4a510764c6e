//! What the elections of this process are to ask of the store, and how much of it travels together.
//!
//! Assumes: the driver stamps each chunk itself, when it is sent.
//! Promises: what a lease depends on goes first, before every chunk; everything else keeps its order.
//! What becomes of one chunk says nothing of another. A store that fails a chunk gets half as much
//! the next time, so that there is progress as long as it can do one thing within its timeout.

use std::collections::VecDeque;

use incumbent_protocol::candidacy::Ticket;
use incumbent_protocol::lease::request::Request;

use crate::store::round::{Ask, RENEWALS, WRITES};

/// What travels together: each kind costs the store something else. First what is most urgent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Renewals: one statement.
    Renew,
    /// Rounds of elections with a roster: a transaction each.
    Round,
    /// Resignations, and bids that a read found promising: one transaction, several statements each.
    Write,
    /// Looks, and bids that may be hopeless: one read. The first that are not are written as well.
    Read,
}

impl Kind {
    fn of(ask: &Ask) -> Kind {
        match &ask.request {
            Request::Renew(_) => Kind::Renew,
            Request::Bid(_) if ask.promising => Kind::Write,
            Request::Look | Request::Bid(_) => Kind::Read,
            Request::Resign(_) => Kind::Write,
            Request::Round(_) => Kind::Round,
        }
    }

    /// How many travel together at most. Names are short, so that a message stays below a megabyte,
    /// the least that any server accepts (`max_allowed_packet` of old MySQL).
    const fn most(self) -> usize {
        match self {
            Kind::Renew | Kind::Read => RENEWALS,
            Kind::Write => WRITES,
            Kind::Round => 50,
        }
    }
}

type Item = (Ticket, Ask);

/// Sizes are counted in parts of one: a store that failed to do twice as much is asked for an eighth more after each
/// success, so that it fails a chunk in eight and not every second one, each for a whole timeout.
const PARTS: usize = 8;

/// Everything that is due and not under way.
#[derive(Debug)]
pub(super) struct Queue {
    pressing: VecDeque<Item>,
    others: VecDeque<Item>,
    /// How much travels together, in [`PARTS`].
    sizes: [usize; 4],
}

/// What is to be done next.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) kind: Kind,
    pub(super) asks: Vec<Item>,
    /// How many elections it may write to, beside renewals.
    pub(super) writes: usize,
}

impl Queue {
    pub(super) fn new() -> Queue {
        let sizes = [Kind::Renew, Kind::Round, Kind::Write, Kind::Read];
        let sizes = sizes.map(|kind| kind.most() * PARTS);
        Queue { pressing: VecDeque::new(), others: VecDeque::new(), sizes }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pressing.is_empty() && self.others.is_empty()
    }

    /// Whether a lease depends on it, or somebody waits for its end.
    pub(super) fn presses(&self) -> bool {
        !self.pressing.is_empty()
    }

    pub(super) fn push(&mut self, ticket: Ticket, ask: Ask) {
        let queue = if ask.presses() { &mut self.pressing } else { &mut self.others };
        queue.push_back((ticket, ask));
    }

    /// Puts back what a read found promising and what did not fit into that round: before all others,
    /// for it was asked before them.
    pub(super) fn put_back(&mut self, items: Vec<Item>) {
        for (ticket, ask) in items.into_iter().rev() {
            self.others.push_front((ticket, Ask { promising: true, ..ask }));
        }
    }

    /// The next chunk: as many of one kind as may travel together, in their order. It is the most
    /// urgent of what presses, else of the kind that is first in line.
    pub(super) fn take(&mut self) -> Option<Chunk> {
        let kind = |(_, ask): &Item| Kind::of(ask);
        let urgent = self.pressing.iter().map(kind).min();
        let queue = if urgent.is_some() { &mut self.pressing } else { &mut self.others };
        let kind = urgent.or_else(|| queue.front().map(kind))?;
        let most = self.sizes[kind as usize] / PARTS;
        let (mut asks, mut rest) = (Vec::new(), VecDeque::with_capacity(queue.len()));
        for item in queue.drain(..) {
            if asks.len() < most && Kind::of(&item.1) == kind {
                asks.push(item);
            } else {
                rest.push_back(item);
            }
        }
        *queue = rest;
        Some(Chunk { kind, asks, writes: self.sizes[Kind::Write as usize] / PARTS })
    }

    /// A chunk came back: the next of its kind is larger, or smaller if the store failed it.
    pub(super) fn came_back(&mut self, kind: Kind, well: bool) {
        let mut resize = |kind: Kind| {
            let size = &mut self.sizes[kind as usize];
            let next = if well { *size + *size / PARTS } else { *size / 2 };
            *size = next.clamp(PARTS, kind.most() * PARTS);
        };
        resize(kind);
        if kind == Kind::Read && !well {
            // It may have been the writes of the same round that took too long.
            resize(Kind::Write);
        }
    }
}

#[cfg(test)]
mod tests {
    use incumbent_protocol::candidacy::{Candidacy, Effect, Input, Wish};
    use incumbent_protocol::identity::{CandidateId, CandidateName, ElectionName, Incarnation};
    use incumbent_protocol::lease::request::Holding;
    use incumbent_protocol::protocol::Protocol;
    use incumbent_protocol::rules::Timing;
    use incumbent_protocol::term::{Recorded, Term};
    use incumbent_protocol::time::Time;

    use super::*;

    fn me() -> CandidateId {
        CandidateId::new(CandidateName::new("ann").expect("a name"), Incarnation::from_random(1))
    }

    /// What a candidate asks first, if it wants to lead.
    fn bid() -> (Ticket, Request) {
        let timing = Timing::of_lease(std::time::Duration::from_secs(3)).expect("a timing");
        let mut candidacy = Candidacy::new(me(), timing);
        candidacy.begin(Time::ZERO);
        candidacy.handle(Time::ZERO, Input::Wish(Wish::Lead));
        let Some(Effect::Ask { ticket, request }) = candidacy.poll_effect() else {
            panic!("it asks for nothing");
        };
        (ticket, request)
    }

    fn ask(number: usize, request: Request) -> Ask {
        let election = ElectionName::new(format!("shard-{number}")).expect("a name");
        Ask { election, request, promising: false }
    }

    fn renewal(number: usize) -> Ask {
        let term = Term::recorded(1).expect("a term");
        ask(number, Request::Renew(Holding { candidate: me(), term }))
    }

    fn bids(queue: &mut Queue, count: usize) {
        let (ticket, request) = bid();
        for number in 0..count {
            queue.push(ticket, ask(number, request.clone()));
        }
    }

    #[test]
    fn a_store_that_does_a_few_claims_within_its_timeout_gets_through_all_of_them() {
        for able in [1, 7, 99, 1_000] {
            let (mut queue, mut claimed, mut chunks) = (Queue::new(), 0, 0);
            // How long it all takes, in timeouts of a store that needs a whole one for what it is able to do.
            let mut thousandths = 0;
            bids(&mut queue, 10_000);
            while let Some(Chunk { kind, mut asks, writes }) = queue.take() {
                chunks += 1;
                let most = if kind == Kind::Read { writes } else { asks.len() };
                let well = most.min(asks.len()) <= able;
                thousandths += if well { most.min(asks.len()) * 1_000 / able } else { 1_000 };
                if well {
                    claimed += most.min(asks.len());
                    let left = asks.split_off(most.min(asks.len()));
                    queue.put_back(left);
                } else {
                    // Nothing is known of them: each asks anew.
                    for (ticket, ask) in asks {
                        queue.push(ticket, ask);
                    }
                }
                queue.came_back(kind, well);
                assert!(chunks <= 40_000, "no progress with {able} within a timeout: {claimed}");
            }
            assert_eq!(claimed, 10_000, "{able} within a timeout");
            let (took, needed) = (thousandths / 1_000, 10_000 / able);
            assert!(
                took <= needed * 3 / 2 + 20,
                "{took} timeouts for what {needed} are enough for"
            );
        }
    }

    #[test]
    fn a_renewal_waits_for_no_more_than_the_chunk_that_is_under_way() {
        let mut queue = Queue::new();
        bids(&mut queue, 10_000);
        let first = queue.take().expect("bids");
        assert_eq!(first.kind, Kind::Read);
        queue.push(bid().0, renewal(10_001));
        let second = queue.take().expect("a renewal");
        assert_eq!((second.kind, second.asks.len()), (Kind::Renew, 1));
        queue.put_back(first.asks);
        let third = queue.take().expect("what was found promising");
        assert_eq!((third.kind, third.asks.len()), (Kind::Write, WRITES));
    }

    #[test]
    fn what_became_of_a_chunk_of_one_kind_does_not_shrink_another() {
        let mut queue = Queue::new();
        queue.came_back(Kind::Read, false);
        for number in 0..3_000 {
            queue.push(bid().0, renewal(number));
        }
        bids(&mut queue, 3_000);
        assert_eq!(queue.take().expect("renewals").asks.len(), 2_000);
        assert_eq!(queue.take().expect("the rest of them").asks.len(), 1_000);
        let read = queue.take().expect("bids");
        assert_eq!((read.asks.len(), read.writes), (1_000, WRITES / 2));
        queue.came_back(Kind::Read, true);
        assert_eq!(queue.take().expect("more of them").asks.len(), 1_125);
        assert_eq!(queue.take().expect("the rest of them").asks.len(), 875);
    }
}
