//! What formulas say about a setting.
//!
//! Assumes: a setting that passed its check.
//! Promises: exact numbers where a formula applies, and the reason where none does. What our machines
//! send beyond the textbook is told apart from it.

use std::collections::BTreeMap;

use incumbent_protocol::node::NodeId;

use super::kind::Kind;
use super::links::MESSAGE_TIME;
use super::setting::{Manner, Setting};
use crate::clock::Span;

/// How long a neighbour, or a higher node, has to answer: there, back, and as long again.
const TIMEOUT: usize = 3;

/// What the formulas give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theory {
    /// Which case it is, in words.
    pub case: String,
    /// How many messages of each kind; kinds that no formula counts are not here.
    pub counts: BTreeMap<Kind, usize>,
    /// From the beginning until all agree.
    pub time: Span,
    /// What to know when comparing it with the textbook.
    pub notes: Vec<String>,
}

/// Why no formula applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Silence {
    /// Somebody dies or comes back on the way.
    #[error("somebody dies or comes back after the beginning")]
    Failures,
    /// Links are not ideal.
    #[error("messages do not all take one message time, or get lost, or come twice")]
    Links,
    /// Timeouts are longer.
    #[error("timeouts follow from another bound than one message time")]
    Bound,
    /// Some begin, and others do not, or they do not begin together.
    #[error("several begin, and not everybody at once")]
    SomeBegin,
    /// Several begin.
    #[error("several begin, and the lecture counts one")]
    SeveralBegin,
    /// The leader lives.
    #[error("the leader is alive, and the lecture begins with its death")]
    LeaderLives,
    /// Nobody is left.
    #[error("whoever should begin is dead")]
    NobodyBegins,
}

impl Theory {
    /// What the formulas give for a setting.
    pub fn of(setting: &Setting) -> Result<Theory, Silence> {
        let later = setting.failures.iter().any(|(_, at)| *at > 0);
        if later || !setting.returns.is_empty() {
            return Err(Silence::Failures);
        }
        if !setting.links.are_ideal() {
            return Err(Silence::Links);
        }
        if setting.bound != MESSAGE_TIME {
            return Err(Silence::Bound);
        }
        let alive = |node: &NodeId| setting.is_alive(*node, 0);
        let live: Vec<NodeId> = setting.nodes.iter().copied().filter(alive).collect();
        let mut begin: Vec<_> = setting.initiators.clone();
        begin.retain(|(node, _)| alive(node));
        begin.sort_unstable();
        begin.dedup();
        let Some((first, at)) = begin.first().copied() else { return Err(Silence::NobodyBegins) };
        match (setting.manner, begin.len()) {
            (Manner::Bully, 1) => bully(setting, &live, first),
            (Manner::Bully, _) => Err(Silence::SeveralBegin),
            (Manner::Ring, 1) => Ok(ring_of_one(setting, &live, first)),
            (Manner::Ring, many) if many == live.len() && begin.iter().all(|it| it.1 == at) => {
                ring_of_all(setting, &live)
            }
            (Manner::Ring, _) => Err(Silence::SomeBegin),
        }
    }

    /// How many messages the textbook counts.
    pub fn total(&self) -> usize {
        self.counts.values().sum()
    }
}

/// The lecture: every live node from whoever begins upwards asks all that are higher.
fn bully(setting: &Setting, live: &[NodeId], first: NodeId) -> Result<Theory, Silence> {
    let Some(leader) = setting.dead_leader() else { return Err(Silence::LeaderLives) };
    let nodes = setting.nodes.len();
    let above = |of: NodeId, among: &[NodeId]| among.iter().filter(|node| **node > of).count();
    let knows = above(first, &setting.nodes) == 1;
    let asking = || live.iter().filter(|node| **node >= first && !knows);
    let elections: usize = asking().map(|node| above(*node, &setting.nodes)).sum();
    let answers: usize = asking().map(|node| above(*node, live)).sum();
    let others = nodes - 1 - usize::from(knows);
    let counts =
        [(Kind::Election, elections), (Kind::Answer, answers), (Kind::Coordinator, others)];
    let wins = above(first, live) == 0;
    let rank = above(first, &setting.nodes) + 1;
    let only = live.len() + 1 == nodes;
    let case = match (knows, only && rank == nodes) {
        (true, _) => format!(
            "the best case: the second highest finds the death, N - 2 = {} Coordinator messages \
             and 1 message time, with N = {nodes} nodes of which the leader is dead",
            nodes - 2
        ),
        (_, true) => format!(
            "the worst case: the lowest finds the death, N(N - 1)/2 = {} Election messages and 5 \
             message times, with N = {nodes} nodes of which the leader is dead",
            nodes * (nodes - 1) / 2
        ),
        _ if only => format!(
            "between best and worst: the number {rank} from the top finds the death, i(i - 1)/2 = \
             {} Election messages for i = {rank}, with N = {nodes} nodes of which the leader is dead",
            rank * (rank - 1) / 2
        ),
        _ => format!(
            "the lecture's counting with {} of N = {nodes} nodes dead: each live node from {first} \
             upwards asks all higher ones",
            nodes - live.len()
        ),
    };
    let mut notes = Vec::new();
    if !knows {
        let higher = nodes - live.len();
        let dead = setting.nodes.iter().filter(|node| !live.contains(node));
        let highest = live.iter().max().copied().unwrap_or(leader);
        let unheard = dead.filter(|node| **node > highest).count();
        notes.push(format!(
            "{} of the Coordinator messages went to higher nodes that had not answered: the lecture \
             sends it to lower ones only ({} here)",
            unheard.min(higher),
            others - unheard
        ));
        notes.push(
            "the timeout for answers is 3 message times: there, back, and one to see to it"
                .to_owned(),
        );
    }
    let time = match (knows, wins) {
        _ if live.len() == 1 && knows => 0,
        (true, _) => 1,
        (false, true) if live.len() == 1 => TIMEOUT,
        (false, true) => TIMEOUT + 1,
        (false, false) => 1 + TIMEOUT + 1,
    };
    Ok(Theory { case, counts: counts.into_iter().collect(), time: units(time), notes })
}

/// One begins: to the highest, once round with its number, and once round to tell.
fn ring_of_one(setting: &Setting, live: &[NodeId], first: NodeId) -> Theory {
    let size = live.len();
    let start = live.iter().position(|node| *node == first).unwrap_or(0);
    let highest = live.iter().enumerate().max_by_key(|(_, node)| **node).map_or(0, |(at, _)| at);
    let way = (highest + size - start) % size;
    let tried = tried_in_vain(setting, live, &[first]);
    let alone = usize::from(size > 1);
    let place = match way {
        0 => format!("the best case: the highest begins, 2N = {} messages", 2 * size),
        _ if way + 1 == size => format!(
            "the worst case: the one behind the highest begins, 3N - 1 = {} messages",
            3 * size - 1
        ),
        _ => format!(
            "between best and worst: the highest is {way} hops after the one that begins, 2N + \
             {way} = {} messages",
            2 * size + way
        ),
    };
    let case = format!("{place}, with N = {size} live nodes in the ring");
    let elections = (way + size) * alone + tried;
    let counts = [(Kind::Election, elections), (Kind::Elected, size * alone)];
    let time = (way + 2 * size - 1) * alone + TIMEOUT * tried;
    let notes = notes_of_ring(tried);
    Theory { case, counts: counts.into_iter().collect(), time: units(time), notes }
}

/// All begin: a number goes on until it meets a higher one.
fn ring_of_all(setting: &Setting, live: &[NodeId]) -> Result<Theory, Silence> {
    let size = live.len();
    let tried = tried_in_vain(setting, live, live);
    if tried > 0 {
        // Numbers overtake each other while a dead neighbour is waited for.
        return Err(Silence::SomeBegin);
    }
    let alone = usize::from(size > 1);
    let way = |start: usize| {
        let beats = |hops: &usize| live[(start + hops) % size] > live[start];
        (1..size).find(beats).unwrap_or(size)
    };
    let elections = (0..size).map(way).sum::<usize>() * alone;
    let case = format!(
        "everybody begins: a number goes on until it meets a higher one, {elections} Election \
         messages in this order; 2N - 1 = {} at best, N(N + 1)/2 = {} at worst, N x H(N) = {:.1} on \
         average (of order N log N), with N = {size} live nodes in the ring",
        2 * size - 1,
        size * (size + 1) / 2,
        harmonic(size),
    );
    let counts = [(Kind::Election, elections), (Kind::Elected, size * alone)];
    let time = (2 * size - 1) * alone;
    let notes = notes_of_ring(tried);
    Ok(Theory { case, counts: counts.into_iter().collect(), time: units(time), notes })
}

fn notes_of_ring(tried: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if tried > 0 {
        notes.push(format!(
            "{tried} more Election {} sent to a dead neighbour, which is passed over after 3 \
             message times without an acknowledgement: the textbook has no dead neighbours",
            if tried == 1 { "message is" } else { "messages are" }
        ));
    }
    notes.push("Unblock and Ack messages are apart: the textbook does not count them".to_owned());
    notes
}

/// How many dead neighbours are found out only by trying: all but the leader, and the leader too
/// unless the one before it found its death.
fn tried_in_vain(setting: &Setting, live: &[NodeId], begin: &[NodeId]) -> usize {
    let dead = setting.nodes.len() - live.len();
    let Some(leader) = setting.dead_leader() else { return dead };
    let place = setting.nodes.iter().position(|node| *node == leader).unwrap_or(0);
    let (before, after) = setting.nodes.split_at(place);
    let mut back = before.iter().rev().chain(after.iter().rev());
    let neighbour = back.find(|node| live.contains(node));
    dead - usize::from(neighbour.is_some_and(|node| begin.contains(node)))
}

/// How many Election messages a ring of so many takes on average if all begin: N x H(N).
#[expect(clippy::cast_precision_loss, reason = "rings are small")]
pub fn harmonic(nodes: usize) -> f64 {
    nodes as f64 * (1..=nodes).map(|number| 1.0 / number as f64).sum::<f64>()
}

fn units(count: usize) -> Span {
    Span::try_from(count).unwrap_or(Span::MAX).saturating_mul(MESSAGE_TIME)
}
