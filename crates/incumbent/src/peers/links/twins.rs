//! Two processes with one number: who saw them, and who is told.
//!
//! Assumes: one that was replaced by a process of its number, and comes back, runs beside it. Both
//! may be given the same address, so that neither ever dials the other: others tell them.
//! Promises: what goes on is said again and again, though not at every sight. What was seen once only
//! is not said: a process that just ended may have left a connection behind. A bounded number of
//! numbers is remembered, each for a short time.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use incumbent_protocol::identity::CandidateName;
use incumbent_protocol::node::NodeId;
use serde::{Deserialize, Serialize};

use crate::peers::frame::{self, FrameError};
use crate::peers::hello::{HELLO_MAX, Hello};

/// How long it is remembered: those who are refused come back every second.
const LATELY: Duration = Duration::from_secs(30);

/// Most numbers that are remembered.
const MOST: usize = 16;

/// Stands in the place of a version in front of what is said beside the messages.
const ASIDE: u8 = 0;

/// Longest encoded [`Pair`]: two hellos and two addresses.
const PAIR_MAX: usize = 4 * HELLO_MAX;

/// Two processes that have one number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pair {
    pub(super) one: Twin,
    pub(super) other: Twin,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Twin {
    pub(super) hello: Hello,
    /// Where it was met, which may be elsewhere than it says; none for the one that speaks.
    pub(super) place: Option<String>,
}

impl fmt::Display for Twin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{} (met at {place})", self.hello),
            None => self.hello.fmt(f),
        }
    }
}

impl Pair {
    /// What is sent of it.
    pub(super) fn aside(&self) -> Vec<u8> {
        // What was read is not too long to be written.
        frame::encode(ASIDE, self, PAIR_MAX).unwrap_or_default()
    }

    /// What was sent; none if it is an ordinary message.
    pub(super) fn read(bytes: &[u8]) -> Option<Result<Pair, FrameError>> {
        let aside = bytes.first() == Some(&ASIDE) && bytes.len() <= PAIR_MAX;
        aside.then(|| frame::decode(ASIDE, bytes))
    }

    const fn node(&self) -> NodeId {
        self.one.hello.node
    }

    fn is_sound(&self) -> bool {
        let named = |twin: &Twin| CandidateName::new(&twin.hello.name).is_ok();
        self.node() == self.other.hello.node && named(&self.one) && named(&self.other)
    }
}

/// Which numbers are used twice.
#[derive(Debug)]
pub(super) struct Twins {
    repeat: Duration,
    seen: Mutex<BTreeMap<NodeId, Sighting>>,
}

#[derive(Debug)]
struct Sighting {
    pair: Pair,
    at: Instant,
    times: u32,
    said: Option<Instant>,
    /// Whether others are to be told; they do not tell each other what they were told.
    witness: bool,
}

impl Sighting {
    /// Whether it goes on, and was not only what a process that ended left behind.
    fn is_current(&self, now: Instant) -> bool {
        (self.times > 1 || !self.witness) && now.duration_since(self.at) < LATELY
    }
}

impl Twins {
    /// None yet. For so long what was said is not said again.
    pub(super) fn new(repeat: Duration) -> Twins {
        Twins { repeat, seen: Mutex::default() }
    }

    /// This node met both, or is one of them. Tells whether it is time to say so again.
    pub(super) fn saw(&self, me: &Hello, pair: &Pair, now: Instant) -> bool {
        self.note(me, pair, true, now)
    }

    /// Another node says that it met both.
    pub(super) fn told(&self, me: &Hello, pair: &Pair, now: Instant) {
        if pair.is_sound() {
            self.note(me, pair, false, now);
        }
    }

    /// What this node saw itself, and not only once.
    pub(super) fn witnessed(&self, now: Instant) -> Vec<Pair> {
        let lock = self.lately(now);
        let sure = lock.values().filter(|seen| seen.witness && seen.is_current(now));
        sure.map(|seen| seen.pair.clone()).collect()
    }

    /// Everything that is known, for people.
    pub(super) fn known(&self, now: Instant) -> Vec<String> {
        let lock = self.lately(now);
        let sure = lock.values().filter(|seen| seen.is_current(now));
        sure.map(|Sighting { pair, .. }| {
            let (one, other, node) = (&pair.one, &pair.other, pair.node());
            format!("{one} and {other} both have the number {node}")
        })
        .collect()
    }

    fn note(&self, me: &Hello, pair: &Pair, witness: bool, now: Instant) -> bool {
        let mut lock = self.lately(now);
        let node = pair.node();
        if lock.len() >= MOST && !lock.contains_key(&node) {
            return false;
        }
        let fresh = || Sighting { pair: pair.clone(), at: now, times: 0, said: None, witness };
        let seen = lock.entry(node).or_insert_with(fresh);
        seen.pair.clone_from(pair);
        seen.at = now;
        seen.times = seen.times.saturating_add(1);
        seen.witness |= witness;
        let due = seen.is_current(now)
            && seen.said.is_none_or(|said| now.duration_since(said) >= self.repeat);
        // What others saw of others is theirs to say.
        if due && (witness || node == me.node) {
            seen.said = Some(now);
            drop(lock);
            say(me, pair);
        }
        due
    }

    /// What was not seen for a while is over; what was said is kept until it may be said again.
    fn lately(&self, now: Instant) -> MutexGuard<'_, BTreeMap<NodeId, Sighting>> {
        let mut lock = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        lock.retain(|_, seen| {
            let kept = if seen.said.is_some() { self.repeat.max(LATELY) } else { LATELY };
            now.duration_since(seen.at) < kept
        });
        lock
    }
}

fn say(me: &Hello, pair: &Pair) {
    let (one, other, node) = (&pair.one, &pair.other, pair.node());
    if node == me.node {
        let other = if one.hello.incarnation == me.incarnation { other } else { one };
        tracing::error!(
            %node, this = %me, %other,
            "another process has the number of this node: give each an address of its own (me=), or a number"
        );
    } else {
        tracing::warn!(
            %node, %one, %other,
            "two processes have one number, and one of them is not heard: give each an address of its own (me=), or a \
             number"
        );
    }
}

#[cfg(test)]
mod tests {
    use incumbent_protocol::identity::Incarnation;

    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    fn hello(node: u128, life: u128) -> Hello {
        let address = Some(format!("127.0.0.1:{life}"));
        let life = Incarnation::from_random(life);
        Hello::new(NodeId::given(node), life, "host", address)
    }

    fn twin(node: u128, life: u128) -> Twin {
        Twin { hello: hello(node, life), place: Some(format!("10.0.0.{life}")) }
    }

    fn pair(node: u128) -> Pair {
        Pair { one: twin(node, 1), other: twin(node, 2) }
    }

    #[test]
    fn it_is_said_again_every_minute_for_as_long_as_it_goes_on() {
        let (twins, me) = (Twins::new(MINUTE), hello(9, 9));
        let begin = Instant::now();
        let seconds = (0..300).map(|second| begin + Duration::from_secs(second));
        let said = seconds.filter(|now| twins.saw(&me, &pair(1), *now)).count();
        assert_eq!(said, 5, "not once only, and not at every sight");
        assert_eq!(twins.witnessed(begin + MINUTE * 5), [pair(1)]);
    }

    #[test]
    fn what_was_seen_once_is_not_said_and_is_forgotten() {
        let (twins, me) = (Twins::new(MINUTE), hello(9, 9));
        let begin = Instant::now();
        for hour in 0..3 {
            assert!(!twins.saw(&me, &pair(1), begin + Duration::from_hours(hour)));
        }
        assert!(twins.known(begin + Duration::from_hours(2)).is_empty());
    }

    #[test]
    fn what_others_tell_is_known_and_not_passed_on() {
        let (twins, me) = (Twins::new(MINUTE), hello(9, 9));
        let now = Instant::now();
        twins.told(&me, &pair(1), now);
        assert_eq!(twins.witnessed(now), []);
        let known = twins.known(now);
        for word in ["host at 127.0.0.1:1 (met at 10.0.0.1)", "127.0.0.1:2 (met at 10.0.0.2)"] {
            assert!(known[0].contains(word), "{known:?}");
        }
        let odd = Pair { one: twin(1, 1), other: twin(2, 2) };
        twins.told(&me, &odd, now);
        assert_eq!(twins.known(now).len(), 1);
    }

    #[test]
    fn the_numbers_that_are_remembered_are_bounded() {
        let (twins, me) = (Twins::new(MINUTE), hello(999, 9));
        let now = Instant::now();
        for node in 0..100 {
            twins.told(&me, &pair(node), now);
        }
        assert_eq!(twins.known(now).len(), MOST);
    }

    #[test]
    fn an_aside_is_told_apart_from_messages() {
        assert_eq!(Pair::read(&pair(1).aside()).expect("an aside").expect("read"), pair(1));
        assert!(Pair::read(&[crate::peers::hello::VERSION, 1, 2]).is_none());
        assert!(Pair::read(&[ASIDE, 1, 2]).expect("an aside").is_err());
    }
}
