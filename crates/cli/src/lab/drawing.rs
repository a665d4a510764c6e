//! The messages of a lab as a drawing: a sequence diagram that every browser shows.
//!
//! Assumes: nothing.
//! Promises: one group of class `message` per message that was sent; nothing is fetched from
//! elsewhere; readable on light and on dark ground.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use incumbent_protocol::node::NodeId;
use incumbent_sim::lab::{Fate, Letter, MESSAGE_TIME, Setting, Trace, What};

use super::words::{label, message_times, shown, units};

/// Between lifelines, at least.
const COLUMN: f64 = 104.0;
/// Left of the first lifeline, for the times.
const LEFT: f64 = 100.0;
/// Right of the last one, for what stands beside it.
const RIGHT: f64 = 110.0;
/// Above the first row.
const TOP: f64 = 86.0;
/// From one row to the next within an instant.
const ROW: f64 = 17.0;
/// For one message time in which nothing happens.
const UNIT: f64 = 34.0;
/// For any time in which nothing happens, at most.
const PAUSE: f64 = 120.0;

const STYLE: &str = "\
:root{color-scheme:light dark}
text{font:12px system-ui,sans-serif;fill:#1f2328;stroke:#ffffff;stroke-width:3px;paint-order:stroke;stroke-linejoin:round}
.ground{fill:#ffffff}.title{font-size:15px;font-weight:600}.time{fill:#59636e;text-anchor:end}
.name{font-weight:600;text-anchor:middle;stroke:none}.box{fill:#eef1f4;stroke:#59636e}
.life{stroke:#818b98;stroke-width:1.2}.dead{stroke-dasharray:2 5}
.message line{stroke:#0b5cad;stroke-width:1.5}.message polygon{fill:#0b5cad}
.Election line{stroke:#0b5cad}.Election polygon{fill:#0b5cad}
.OK line{stroke:#1a7f37}.OK polygon{fill:#1a7f37}
.Coordinator line,.Elected line{stroke:#8a3ffc}.Coordinator polygon,.Elected polygon{fill:#8a3ffc}
.Ack line,.Ask line,.Current line{stroke:#818b98;stroke-width:.8}.Ack polygon,.Ask polygon,.Current polygon{fill:#818b98}
.upkeep{fill:#59636e;font-size:10px}
.again line{stroke-dasharray:5 4}.cross,.message .cross{stroke:#cf222e;stroke-width:2.2}
.mark{fill:#ffffff;stroke:#1f2328;stroke-width:1.4}.picked{fill:#bf8700;stroke:#bf8700}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3;stroke:#0d1117}.ground{fill:#0d1117}.time{fill:#9198a1}.box{fill:#212830;stroke:#9198a1}
.life{stroke:#6e7681}.message line{stroke:#58a6ff}.message polygon{fill:#58a6ff}
.OK line{stroke:#3fb950}.OK polygon{fill:#3fb950}
.Coordinator line,.Elected line{stroke:#be95ff}.Coordinator polygon,.Elected polygon{fill:#be95ff}
.Ack line,.Ask line,.Current line{stroke:#6e7681}.Ack polygon,.Ask polygon,.Current polygon{fill:#6e7681}
.upkeep{fill:#9198a1}.cross,.message .cross{stroke:#ff7b72}
.mark{fill:#0d1117;stroke:#e6edf3}.picked{fill:#e3b341;stroke:#e3b341}}
";

/// Draws what happened.
pub(super) fn draw(setting: &Setting, trace: &Trace, title: &str) -> String {
    let plan = Plan::new(setting, trace);
    let (wide, high) = (plan.wide, plan.foot + 24.0);
    let title = escaped(title);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide:.0}\" height=\"{high:.0}\" \
         viewBox=\"0 0 {wide:.0} {high:.0}\" role=\"img\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n<rect class=\"ground\" width=\"{wide:.0}\" height=\"{high:.0}\"/>\n\
         <text class=\"title\" x=\"16\" y=\"26\">{title}</text>\n\
         <text class=\"time\" x=\"{:.0}\" y=\"66\">message times</text>\n",
        LEFT - 8.0
    );
    lifelines(&mut svg, setting, trace, &plan);
    for (y, at) in &plan.instants {
        let x = LEFT - 14.0;
        let _ = writeln!(
            svg,
            "<text class=\"time\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
            y + 4.0,
            units(*at)
        );
    }
    for (place, letter) in trace.letters.iter().enumerate() {
        message(&mut svg, &plan, place, letter);
    }
    labels(&mut svg, trace, &plan);
    marks(&mut svg, trace, &plan);
    svg + "</svg>\n"
}

/// Where everything stands.
struct Plan {
    columns: BTreeMap<NodeId, f64>,
    /// How far down each event is.
    rows: Vec<f64>,
    /// Where each letter was sent.
    sent: BTreeMap<usize, f64>,
    /// Where each letter arrived, once or twice.
    came: BTreeMap<usize, Vec<f64>>,
    /// Where each instant begins.
    instants: Vec<(f64, u64)>,
    wide: f64,
    foot: f64,
}

impl Plan {
    /// Every event has a row of its own, so that nothing covers anything; time that passes between
    /// instants shows as room between them.
    fn new(setting: &Setting, trace: &Trace) -> Plan {
        let mut plan = Plan {
            columns: BTreeMap::new(),
            rows: Vec::new(),
            sent: BTreeMap::new(),
            came: BTreeMap::new(),
            instants: Vec::new(),
            wide: LEFT + RIGHT,
            foot: TOP,
        };
        let mut x = LEFT + 30.0;
        for node in &setting.nodes {
            plan.columns.insert(*node, x);
            plan.wide = x + RIGHT;
            x += COLUMN;
        }
        let mut before = None;
        for (place, event) in trace.events.iter().enumerate() {
            let opens = before != Some(event.at);
            if let Some(passed) = before.and_then(|before| event.at.checked_sub(before)) {
                plan.foot += (units_of(passed) * UNIT).min(PAUSE);
            }
            if place > 0 && !matches!(event.what, What::Lost(_)) {
                plan.foot += ROW;
            }
            if opens {
                plan.instants.push((plan.foot, event.at));
            }
            before = Some(event.at);
            plan.rows.push(plan.foot);
            match event.what {
                What::Sent(letter) => drop(plan.sent.insert(letter, plan.foot)),
                What::Arrived(letter) | What::Unread(letter) => {
                    plan.came.entry(letter).or_default().push(plan.foot);
                }
                _ => {}
            }
        }
        plan.foot += ROW;
        plan
    }
}

#[expect(clippy::cast_precision_loss, reason = "a drawing needs no more")]
fn units_of(span: u64) -> f64 {
    span as f64 / MESSAGE_TIME as f64
}

fn lifelines(svg: &mut String, setting: &Setting, trace: &Trace, plan: &Plan) {
    for node in &setting.nodes {
        let x = plan.columns[node];
        let name = shown(*node);
        let _ = writeln!(
            svg,
            "<g><title>node {node}</title><rect class=\"box\" x=\"{:.1}\" y=\"44\" width=\"64\" \
             height=\"26\" rx=\"5\"/><text class=\"name\" x=\"{x:.1}\" y=\"61\">{name}</text></g>",
            x - 32.0
        );
        let (mut from, mut alive) = (70.0, true);
        let turns = trace.events.iter().zip(&plan.rows).filter_map(|(event, y)| match event.what {
            What::Crashed(it) if it == *node => Some((*y, false)),
            What::Returned(it) if it == *node => Some((*y, true)),
            _ => None,
        });
        for (y, lives) in turns.chain([(plan.foot, true)]) {
            let dead = if alive { "" } else { " dead" };
            line(svg, &format!("life{dead}"), (x, from), (x, y));
            (from, alive) = (y, lives);
        }
    }
}

fn message(svg: &mut String, plan: &Plan, place: usize, letter: &Letter) {
    let (from, to) = (plan.columns[&letter.from], plan.columns[&letter.to]);
    let Some(start) = plan.sent.get(&place).copied() else { return };
    let came = plan.came.get(&place).map_or(&[][..], Vec::as_slice);
    let fate = match letter.fate {
        Fate::Arrived(at) => format!("arrives at {}", units(at)),
        Fate::Unread(at) => format!("finds nobody alive at {}", units(at)),
        Fate::Lost => "is lost".to_owned(),
        Fate::OnItsWay(_) => "is on its way at the end".to_owned(),
    };
    let lost = if letter.fate == Fate::Lost { " lost" } else { "" };
    let _ = writeln!(
        svg,
        "<g class=\"message {}{lost}\"><title>{} from {} to {}, run {}: sent at {}, {fate}</title>",
        letter.kind,
        label(letter),
        shown(letter.from),
        shown(letter.to),
        letter.run,
        message_times(letter.sent),
    );
    let end = match came.first() {
        Some(y) => (to, *y),
        None => (from + (to - from) * 0.6, start + UNIT * 0.6),
    };
    line(svg, "", (from, start), end);
    match letter.fate {
        Fate::Arrived(_) => head(svg, (from, start), end),
        Fate::Unread(_) | Fate::Lost => cross(svg, end),
        Fate::OnItsWay(_) => {}
    }
    svg.push_str("</g>\n");
    if let Some(y) = came.get(1) {
        let _ = write!(svg, "<g class=\"again {}\">", letter.kind);
        line(svg, "", (from, start), (to, *y));
        head(svg, (from, start), (to, *y));
        svg.push_str("</g>\n");
    }
}

/// What the arrows say, where they begin: every one of them begins in a row of its own.
fn labels(svg: &mut String, trace: &Trace, plan: &Plan) {
    for (place, letter) in trace.letters.iter().enumerate() {
        let Some(row) = plan.sent.get(&place) else { continue };
        let (from, to) = (plan.columns[&letter.from], plan.columns[&letter.to]);
        let (away, anchor) = if to > from { (9.0, "start") } else { (-9.0, "end") };
        let class = if letter.kind.is_upkeep() { " class=\"upkeep\"" } else { "" };
        let (x, y, text) = (from + away, row + 4.0, label(letter));
        let _ = writeln!(
            svg,
            "<text{class} x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"
        );
    }
}

fn head(svg: &mut String, from: (f64, f64), to: (f64, f64)) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let long = dx.hypot(dy).max(1.0);
    let (dx, dy) = (dx / long, dy / long);
    let (x, y) = (to.0 - dx * 9.0, to.1 - dy * 9.0);
    let _ = writeln!(
        svg,
        "<polygon points=\"{:.1},{:.1} {:.1},{:.1} {:.1},{:.1}\"/>",
        to.0,
        to.1,
        x - dy * 4.0,
        y + dx * 4.0,
        x + dy * 4.0,
        y - dx * 4.0
    );
}

fn cross(svg: &mut String, (x, y): (f64, f64)) {
    for sign in [1.0, -1.0] {
        line(svg, "cross", (x - 5.0, y - 5.0 * sign), (x + 5.0, y + 5.0 * sign));
    }
}

/// What happened to nodes.
fn marks(svg: &mut String, trace: &Trace, plan: &Plan) {
    for (event, y) in trace.events.iter().zip(&plan.rows) {
        let (node, words) = match event.what {
            What::Crashed(node) => (node, "dead".to_owned()),
            What::Returned(node) => (node, "back".to_owned()),
            What::Found { node, dead } => (node, format!("{} found dead", shown(dead))),
            What::Timer(node) => (node, "timeout".to_owned()),
            What::Began { node, run } => (node, format!("run {run}")),
            What::Picked { node, nominee, .. } => (node, format!("{} picked", shown(nominee))),
            What::Sent(_) | What::Arrived(_) | What::Lost(_) | What::Unread(_) => continue,
        };
        let x = plan.columns[&node];
        let class = match event.what {
            What::Picked { .. } => "mark picked",
            _ => "mark",
        };
        match event.what {
            What::Crashed(_) => cross(svg, (x, *y)),
            _ => {
                let _ = writeln!(
                    svg,
                    "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>"
                );
            }
        }
        let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{:.1}\">{words}</text>", x + 8.0, y + 4.0);
    }
}

fn line(svg: &mut String, class: &str, from: (f64, f64), to: (f64, f64)) {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    let ((x1, y1), (x2, y2)) = (from, to);
    let _ =
        writeln!(svg, "<line{class} x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
