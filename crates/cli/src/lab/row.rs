//! The rows of a diagram: what is told of a run, in order.
//!
//! Assumes: nothing.
//! Promises: of one instant, first what happened to nodes, then what they sent; nodes to which the same
//! happened share a row.

use std::collections::{BTreeMap, BTreeSet};

use incumbent_protocol::node::NodeId;
use incumbent_sim::lab::{Event, Fate, Letter, Trace, What};

use super::words::{label, shown, units};

/// A row of the diagram.
pub(super) enum Row {
    /// A message, by its place in the trace.
    Message(usize),
    /// Something that happened to nodes, with its mark.
    Mark(char, BTreeSet<NodeId>, String),
}

impl Row {
    /// The message, if it is one.
    pub(super) fn letter<'a>(&self, trace: &'a Trace) -> Option<&'a Letter> {
        match self {
            Row::Message(letter) => trace.letters.get(*letter),
            Row::Mark(..) => None,
        }
    }

    /// What is said beside it.
    pub(super) fn note(&self, trace: &Trace, room: Room) -> String {
        let letter = match self {
            Row::Message(letter) => &trace.letters[*letter],
            Row::Mark(_, _, words) => return words.clone(),
        };
        let mut notes = Vec::new();
        if room == Room::Arrows {
            notes.push(label(letter));
        }
        if letter.fate == Fate::Lost {
            notes.push("lost".to_owned());
        }
        if let Some(again) = letter.again {
            notes.push(format!("again at {}", units(again)));
        }
        notes.join(", ")
    }
}

/// How much a line has room for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// Words on every arrow.
    Words,
    /// Letters where words do not fit.
    Letters,
    /// Arrows only; words stand beside them.
    Arrows,
}

pub(super) const CRASHED: char = '✗';
pub(super) const RETURNED: char = '+';
const FOUND: char = '?';
const TIMER: char = '!';
const BEGAN: char = 'o';
const PICKED: char = '★';

/// What the marks say, in the order in which rows of one instant come.
pub(super) const MARKS: [(char, &str); 6] = [
    (CRASHED, "dead, or a message that nobody read"),
    (RETURNED, "back"),
    (FOUND, "finds a death"),
    (TIMER, "a timeout"),
    (BEGAN, "enters a run"),
    (PICKED, "holds somebody for picked"),
];

/// The rows: of one instant, first what happened to nodes, then what they sent.
pub(super) fn rows(trace: &Trace, acks: bool) -> Vec<(u64, Row)> {
    let mut marks: BTreeMap<(u64, usize, String), BTreeSet<NodeId>> = BTreeMap::new();
    let mut sent: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    let picked: BTreeSet<(u64, NodeId)> = trace.events.iter().filter_map(picked).collect();
    for event in &trace.events {
        let (place, node, words) = match event.what {
            // Whoever hears of a run only from what came of it does not begin anything.
            What::Began { node, .. } if picked.contains(&(event.at, node)) => continue,
            What::Crashed(node) => (0, node, format!("{} is dead", shown(node))),
            What::Returned(node) => (1, node, format!("{} is back", shown(node))),
            What::Found { node, dead } => (2, node, format!("{} found dead", shown(dead))),
            What::Timer(node) => (3, node, "timeout".to_owned()),
            What::Began { node, run } => (4, node, format!("run {run}")),
            What::Picked { node, nominee, .. } => (5, node, format!("{} picked", shown(nominee))),
            What::Sent(letter) => {
                if acks || !trace.letters[letter].kind.is_upkeep() {
                    sent.entry(event.at).or_default().push(letter);
                }
                continue;
            }
            What::Arrived(_) | What::Lost(_) | What::Unread(_) => continue,
        };
        marks.entry((event.at, place, words)).or_default().insert(node);
    }
    let mut rows: Vec<(u64, usize, Row)> = Vec::new();
    for ((at, place, words), nodes) in marks {
        rows.push((at, place, Row::Mark(MARKS[place].0, nodes, words)));
    }
    let messages =
        sent.into_iter().flat_map(|(at, letters)| letters.into_iter().map(move |it| (at, it)));
    rows.extend(messages.map(|(at, letter)| (at, MARKS.len(), Row::Message(letter))));
    rows.sort_by_key(|(at, place, _)| (*at, *place));
    rows.into_iter().map(|(at, _, row)| (at, row)).collect()
}

fn picked(event: &Event) -> Option<(u64, NodeId)> {
    match event.what {
        What::Picked { node, .. } => Some((event.at, node)),
        _ => None,
    }
}

/// When: of a message from its sending to its arrival.
pub(super) fn time(trace: &Trace, at: u64, row: &Row) -> String {
    match row {
        Row::Message(letter) => match trace.letters[*letter].fate {
            Fate::Lost => units(at),
            fate => format!("{}→{}", units(at), units(fate.at().unwrap_or(at))),
        },
        Row::Mark(..) => units(at),
    }
}
