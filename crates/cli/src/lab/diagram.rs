//! The messages of a lab as a sequence diagram for a terminal.
//!
//! Assumes: characters for lines and arrows are one column wide.
//! Promises: no line is wider than the terminal, and whatever had to be left out for that is said.

use std::collections::{BTreeMap, BTreeSet};

use incumbent_protocol::node::NodeId;
use incumbent_sim::lab::{Fate, Kind, Letter, Setting, Trace};

use super::row::{CRASHED, MARKS, RETURNED, Room, Row, rows, time};
use super::words::{label, shown};
use crate::wrap::wrap;

/// More rows than anybody reads.
const MOST_ROWS: usize = 300;

/// Draws what happened, within so many columns.
pub(super) fn draw(setting: &Setting, trace: &Trace, width: usize, acks: bool) -> String {
    let rows = rows(trace, acks);
    let times: Vec<String> = rows.iter().map(|(at, row)| time(trace, *at, row)).collect();
    let margin = times.iter().map(|time| time.chars().count()).max().unwrap_or(0).max(4);
    let Some(sheet) = Sheet::fit(setting, trace, &rows, width.saturating_sub(margin)) else {
        return list(trace, &rows, &times, width);
    };
    let mut lines = vec![format!("{:margin$} {}", "time", sheet.head())];
    let mut alive: BTreeSet<NodeId> = setting.nodes.iter().copied().collect();
    for ((_, row), time) in rows.iter().zip(&times).take(MOST_ROWS) {
        if let Row::Mark(mark, nodes, _) = row {
            match *mark {
                CRASHED => alive.retain(|node| !nodes.contains(node)),
                RETURNED => alive.extend(nodes),
                _ => {}
            }
        }
        lines.push(format!("{time:margin$} {}", sheet.row(row, trace, &alive)));
    }
    lines.extend(left_out(rows.len(), width));
    lines.push(String::new());
    lines.push(sheet.legend(trace, &rows, width));
    let lines = lines.iter().map(|line| line.trim_end());
    lines.collect::<Vec<_>>().join("\n")
}

/// Where lifelines stand.
struct Sheet {
    columns: BTreeMap<NodeId, usize>,
    gap: usize,
    wide: usize,
    room: Room,
}

impl Sheet {
    /// The widest sheet that fits beside what is said about its rows.
    fn fit(setting: &Setting, trace: &Trace, rows: &[(u64, Row)], width: usize) -> Option<Sheet> {
        let letters = || rows.iter().filter_map(|(_, row)| row.letter(trace));
        let longest = |of: fn(&Letter) -> String| letters().map(|it| of(it).chars().count()).max();
        let names = setting.nodes.iter().map(|node| shown(*node).len()).max().unwrap_or(1);
        let edge = names.div_ceil(2);
        let gaps = setting.nodes.len().saturating_sub(1);
        for room in [Room::Words, Room::Letters, Room::Arrows] {
            let notes = rows.iter().map(|(_, row)| row.note(trace, room).chars().count()).max();
            let taken = edge * 2 + 3 + notes.unwrap_or(0);
            let wide = width.checked_sub(taken)?.checked_div(gaps).unwrap_or(0);
            let words = (longest(label).unwrap_or(0) + 3).max(names + 2);
            let least = match room {
                Room::Words => words,
                Room::Letters => (longest(short).unwrap_or(0) + 3).max(names + 1),
                Room::Arrows => (names + 1).max(3),
            };
            if wide >= least || gaps == 0 {
                let gap = wide.min(if room == Room::Arrows { least } else { words });
                let columns = setting.nodes.iter().enumerate();
                let columns = columns.map(|(at, node)| (*node, edge + at * gap)).collect();
                return Some(Sheet { columns, gap, wide: edge * 2 + gap * gaps + 1, room });
            }
        }
        None
    }

    fn head(&self) -> String {
        let mut line = vec![' '; self.wide];
        for (node, column) in &self.columns {
            let name = shown(*node);
            let start = column.saturating_sub(name.len() / 2);
            write(&mut line, start, &name);
        }
        line.into_iter().collect()
    }

    fn row(&self, row: &Row, trace: &Trace, alive: &BTreeSet<NodeId>) -> String {
        let mut line = vec![' '; self.wide];
        for (node, column) in &self.columns {
            line[*column] = if alive.contains(node) { '│' } else { '┊' };
        }
        match row {
            Row::Message(letter) => self.arrow(&mut line, &trace.letters[*letter]),
            Row::Mark(mark, nodes, _) => {
                for node in nodes {
                    line[self.columns[node]] = *mark;
                }
            }
        }
        format!("{} {}", line.into_iter().collect::<String>(), row.note(trace, self.room))
    }

    fn arrow(&self, line: &mut [char], letter: &Letter) {
        let (from, to) = (self.columns[&letter.from], self.columns[&letter.to]);
        let right = from < to;
        let (low, high) = (from.min(to), from.max(to));
        line[low + 1..high].fill('─');
        line[from] = if right { '├' } else { '┤' };
        let tip = if right { to - 1 } else { to + 1 };
        line[tip] = match letter.fate {
            Fate::Lost => 'x',
            _ if right => '▶',
            _ => '◀',
        };
        if matches!(letter.fate, Fate::Unread(_)) {
            line[to] = CRASHED;
        }
        let words = [label(letter), short(letter)];
        let space = high - low - 3;
        let fitting = words.iter().find(|word| word.chars().count() <= space);
        if let (Some(word), true) = (fitting, self.room != Room::Arrows) {
            let length = word.chars().count();
            write(line, low + 1 + usize::from(!right) + (space - length).div_ceil(2), word);
        }
    }

    /// What the signs mean, as far as they were used.
    fn legend(&self, trace: &Trace, rows: &[(u64, Row)], width: usize) -> String {
        let unread = trace.letters.iter().any(|it| matches!(it.fate, Fate::Unread(_)));
        let lost = trace.letters.iter().any(|it| it.fate == Fate::Lost);
        let used = |mark: char| {
            let of_rows =
                rows.iter().any(|(_, row)| matches!(row, Row::Mark(it, ..) if *it == mark));
            of_rows || (mark == CRASHED && unread)
        };
        let mut words = vec!["times in message times".to_owned()];
        let marks = MARKS.iter().filter(|(mark, _)| used(*mark));
        words.extend(marks.map(|(mark, meaning)| format!("{mark} {meaning}")));
        if lost {
            words.push("x lost".to_owned());
        }
        if self.room == Room::Letters {
            let letters = rows.iter().filter_map(|(_, row)| row.letter(trace));
            let cut = letters.filter(|letter| label(letter).chars().count() + 3 > self.gap);
            let kinds: BTreeSet<Kind> = cut.map(|letter| letter.kind).collect();
            words.extend(kinds.iter().map(|kind| format!("{} {kind}", kind.short())));
        }
        let mut lines = wrap(&words.join("; "), width);
        if self.room != Room::Words {
            let few = format!(
                "{width} columns are too few for all words; a wider terminal or --svg FILE shows them"
            );
            lines.extend(wrap(&few, width));
        }
        lines.join("\n")
    }
}

/// Everything as a list, where lifelines do not fit.
fn list(trace: &Trace, rows: &[(u64, Row)], times: &[String], width: usize) -> String {
    let margin = times.iter().map(|time| time.chars().count()).max().unwrap_or(0).max(4);
    let mut lines = Vec::new();
    for ((_, row), time) in rows.iter().zip(times).take(MOST_ROWS) {
        let words = match row {
            Row::Message(letter) => {
                let letter = &trace.letters[*letter];
                let fate = match letter.fate {
                    Fate::Lost => ", lost",
                    Fate::Unread(_) => ", unread",
                    Fate::Arrived(_) | Fate::OnItsWay(_) => "",
                };
                let (from, to) = (shown(letter.from), shown(letter.to));
                format!("{from} → {to}  {}{fate}", label(letter))
            }
            Row::Mark(_, nodes, words) => {
                let nodes: Vec<String> = nodes.iter().map(|node| shown(*node)).collect();
                format!("{words} ({})", nodes.join(" "))
            }
        };
        let line: String = format!("{time:margin$}  {words}").chars().take(width).collect();
        lines.push(line);
    }
    lines.extend(left_out(rows.len(), width));
    let few = format!("{width} columns are too few for a diagram of so many nodes");
    let few = format!("{few}; times in message times. --svg FILE draws it.");
    format!("{}\n\n{}", lines.join("\n"), wrap(&few, width).join("\n"))
}

/// What is said of rows that nobody would read.
fn left_out(rows: usize, width: usize) -> Vec<String> {
    match rows.saturating_sub(MOST_ROWS) {
        0 => Vec::new(),
        left => wrap(&format!("... and {left} more rows: --svg FILE and --json show all"), width),
    }
}

fn short(letter: &Letter) -> String {
    let about = letter.about.map(shown).unwrap_or_default();
    format!("{}{about}", letter.kind.short())
}

fn write(line: &mut [char], start: usize, text: &str) {
    for (place, sign) in line.iter_mut().skip(start).zip(text.chars()) {
        *place = sign;
    }
}
