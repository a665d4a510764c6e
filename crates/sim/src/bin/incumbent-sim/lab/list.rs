//! What happened in a lab, as a list: one row per message, and one for what happens to nodes.
//!
//! Promises: within one instant, first what happened to nodes, then what they sent; nodes to which
//! the same happened share a row.

use std::collections::{BTreeMap, BTreeSet};

use incumbent_protocol::node::NodeId;
use incumbent_sim::lab::{Event, Fate, Letter, Trace, What};

use super::words::{label, shown, units};

/// More rows than anybody reads.
const MOST_ROWS: usize = 300;

/// A row, and when it happened: of a message from its sending to its arrival.
struct Row {
    time: String,
    words: String,
}

/// Lists what happened; acknowledgements and other upkeep only if asked for.
pub(super) fn list(trace: &Trace, acks: bool) -> String {
    let rows = rows(trace, acks);
    let width = rows.iter().map(|row| row.time.chars().count()).max().unwrap_or(0).max(4);
    let mut lines = vec![format!("{:width$}  in message times", "time")];
    let shown = rows.iter().take(MOST_ROWS);
    lines.extend(shown.map(|row| format!("{:width$}  {}", row.time, row.words)));
    if let Some(left @ 1..) = rows.len().checked_sub(MOST_ROWS) {
        lines.push(format!("... and {left} more rows: --json shows all"));
    }
    lines.join("\n")
}

fn rows(trace: &Trace, acks: bool) -> Vec<Row> {
    // By instant, kind of event, and what is said of it.
    let mut marks: BTreeMap<(u64, usize, String), BTreeSet<NodeId>> = BTreeMap::new();
    let mut sent: Vec<(u64, Row)> = Vec::new();
    let picked: BTreeSet<(u64, NodeId)> = trace.events.iter().filter_map(picked).collect();
    for event in &trace.events {
        let (place, node, words) = match event.what {
            // A node that hears of a run only from its result does not begin anything.
            What::Began { node, .. } if picked.contains(&(event.at, node)) => continue,
            What::Crashed(node) => (0, node, "dead".to_owned()),
            What::Returned(node) => (1, node, "back".to_owned()),
            What::Found { node, dead } => (2, node, format!("found {} dead", shown(dead))),
            What::Timer(node) => (3, node, "timeout".to_owned()),
            What::Began { node, run } => (4, node, format!("entered run {run}")),
            What::Picked { node, nominee, .. } => (5, node, format!("picked {}", shown(nominee))),
            What::Sent(letter) => {
                let letter = &trace.letters[letter];
                if acks || !letter.kind.is_upkeep() {
                    sent.push((event.at, message(letter)));
                }
                continue;
            }
            What::Arrived(_) | What::Lost(_) | What::Unread(_) => continue,
        };
        marks.entry((event.at, place, words)).or_default().insert(node);
    }
    let mark = |((at, _, words), nodes): ((u64, usize, String), BTreeSet<NodeId>)| {
        let nodes: Vec<String> = nodes.into_iter().map(shown).collect();
        (at, Row { time: units(at), words: format!("{}: {words}", nodes.join(" ")) })
    };
    let mut rows: Vec<(u64, Row)> = marks.into_iter().map(mark).chain(sent).collect();
    rows.sort_by_key(|(at, _)| *at);
    rows.into_iter().map(|(_, row)| row).collect()
}

fn picked(event: &Event) -> Option<(u64, NodeId)> {
    match event.what {
        What::Picked { node, .. } => Some((event.at, node)),
        _ => None,
    }
}

fn message(letter: &Letter) -> Row {
    let at = units(letter.sent);
    let time = match letter.fate {
        Fate::Lost => at,
        fate => format!("{at}→{}", fate.at().map_or(at.clone(), units)),
    };
    let fate = match letter.fate {
        Fate::Lost => ", lost",
        Fate::Unread(_) => ", unread",
        Fate::Arrived(_) | Fate::OnItsWay(_) => "",
    };
    let again = letter.again.map(|at| format!(", again at {}", units(at))).unwrap_or_default();
    let (from, to) = (shown(letter.from), shown(letter.to));
    let words = format!("{from} → {to}  {}{fate}{again}", label(letter));
    Row { time, words }
}
