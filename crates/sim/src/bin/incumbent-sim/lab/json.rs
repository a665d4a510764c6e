//! A run of the lab as programs read it.
//!
//! Promises: times are message times; nodes are texts, because digests do not fit into numbers.

use std::collections::BTreeMap;

use incumbent_protocol::node::NodeId;
use incumbent_sim::lab::{
    End, Event, Fate, Kind, Letter, MESSAGE_TIME, Outcome, Setting, Theory, Trace, What,
};
use serde::Serialize;

/// A run.
#[derive(Debug, Serialize)]
pub(super) struct Run {
    protocol: &'static str,
    nodes: Vec<String>,
    seed: u64,
    /// Whom all live nodes hold for picked.
    agreed: Option<String>,
    /// When they came to agree.
    agreed_at: Option<f64>,
    ended_at: f64,
    /// Whether the limit ended the run.
    limited: bool,
    picks: BTreeMap<String, Option<String>>,
    counts: BTreeMap<&'static str, usize>,
    theory: TheoryJson,
    messages: Vec<MessageJson>,
    events: Vec<EventJson>,
}

#[derive(Debug, Serialize)]
struct TheoryJson {
    /// Which case it is, or why no formula applies.
    words: String,
    counts: Option<BTreeMap<&'static str, usize>>,
    time: Option<f64>,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct MessageJson {
    from: String,
    to: String,
    kind: &'static str,
    about: Option<String>,
    run: u64,
    sent: f64,
    /// `arrived`, `unread`, `lost` or `on_its_way`.
    fate: &'static str,
    at: Option<f64>,
    again: Option<f64>,
}

#[derive(Debug, Serialize)]
struct EventJson {
    at: f64,
    /// `sent`, `arrived`, `lost`, `unread`, `timer`, `found`, `began`, `picked`, `crashed` or
    /// `returned`.
    event: &'static str,
    /// The place of the message in `messages`.
    message: Option<usize>,
    node: Option<String>,
    /// Who was found dead, or picked.
    whom: Option<String>,
    run: Option<u64>,
}

impl Run {
    /// What came out of a setting.
    pub(super) fn of(setting: &Setting, outcome: &Outcome) -> Run {
        let picks = outcome.picks.iter();
        let picks = picks.map(|(node, pick)| (node.to_string(), pick.map(text)));
        Run {
            protocol: setting.manner.as_str(),
            nodes: setting.nodes.iter().copied().map(text).collect(),
            seed: setting.seed,
            agreed: outcome.agreed().map(text),
            agreed_at: outcome.agreed_at().map(units),
            ended_at: units(outcome.ended),
            limited: outcome.end == End::Limit,
            picks: picks.collect(),
            counts: counts(&outcome.trace.counts()),
            theory: theory(setting),
            messages: outcome.trace.letters.iter().map(message).collect(),
            events: events(&outcome.trace),
        }
    }
}

fn theory(setting: &Setting) -> TheoryJson {
    match Theory::of(setting) {
        Ok(theory) => TheoryJson {
            counts: Some(counts(&theory.counts)),
            time: Some(units(theory.time)),
            words: theory.case,
            notes: theory.notes,
        },
        Err(silence) => {
            TheoryJson { words: silence.to_string(), counts: None, time: None, notes: Vec::new() }
        }
    }
}

fn counts(counts: &BTreeMap<Kind, usize>) -> BTreeMap<&'static str, usize> {
    counts.iter().map(|(kind, count)| (kind.as_str(), *count)).collect()
}

fn message(letter: &Letter) -> MessageJson {
    MessageJson {
        from: text(letter.from),
        to: text(letter.to),
        kind: letter.kind.as_str(),
        about: letter.about.map(text),
        run: letter.run.0,
        sent: units(letter.sent),
        fate: match letter.fate {
            Fate::Arrived(_) => "arrived",
            Fate::Unread(_) => "unread",
            Fate::Lost => "lost",
            Fate::OnItsWay(_) => "on_its_way",
        },
        at: letter.fate.at().map(units),
        again: letter.again.map(units),
    }
}

fn events(trace: &Trace) -> Vec<EventJson> {
    trace.events.iter().map(event).collect()
}

fn event(event: &Event) -> EventJson {
    let blank = |name| EventJson {
        at: units(event.at),
        event: name,
        message: None,
        node: None,
        whom: None,
        run: None,
    };
    let of = |name, letter| EventJson { message: Some(letter), ..blank(name) };
    let at = |name, node| EventJson { node: Some(text(node)), ..blank(name) };
    match event.what {
        What::Sent(letter) => of("sent", letter),
        What::Arrived(letter) => of("arrived", letter),
        What::Lost(letter) => of("lost", letter),
        What::Unread(letter) => of("unread", letter),
        What::Timer(node) => at("timer", node),
        What::Found { node, dead } => EventJson { whom: Some(text(dead)), ..at("found", node) },
        What::Began { node, run } => EventJson { run: Some(run.0), ..at("began", node) },
        What::Picked { node, run, nominee } => {
            EventJson { run: Some(run.0), whom: Some(text(nominee)), ..at("picked", node) }
        }
        What::Crashed(node) => at("crashed", node),
        What::Returned(node) => at("returned", node),
    }
}

fn text(node: NodeId) -> String {
    node.to_string()
}

#[expect(clippy::cast_precision_loss, reason = "times of a lab are short")]
fn units(time: u64) -> f64 {
    time as f64 / MESSAGE_TIME as f64
}
