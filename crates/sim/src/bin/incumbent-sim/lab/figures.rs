//! What a run of the lab cost, beside the theory.
//!
//! Promises: every number has its unit, and where no formula applies the reason is given.

use std::collections::BTreeSet;

use incumbent_protocol::node::NodeId;
use incumbent_sim::lab::{End, Fate, Kind, Outcome, Setting, Theory};

use super::words::{message_times, shown};

/// What is tried out, in a few words.
fn title(setting: &Setting) -> String {
    let begin: BTreeSet<NodeId> = setting.initiators.iter().map(|(node, _)| *node).collect();
    let dead = setting.dead_at_first();
    let live = setting.nodes.len() - dead.len();
    let died = match dead.len() {
        0 => "nobody is dead".to_owned(),
        1 => format!("{} is dead", names(&dead)),
        _ => format!("{} are dead", names(&dead)),
    };
    let begins = match begin.len() {
        1 => format!("{} begins", names(&begin)),
        many if many == live => "everybody begins".to_owned(),
        _ => format!("{} begin", names(&begin)),
    };
    format!("{} of {} nodes: {died}, {begins}", setting.manner, setting.nodes.len())
}

/// The title, and what else is out of the ordinary.
pub(super) fn head(setting: &Setting) -> String {
    let mut words = vec![title(setting)];
    let percent = |share: u32| f64::from(share) / 10_000.0;
    if setting.links.loss > 0 {
        words.push(format!("{}% of messages are lost", percent(setting.links.loss)));
    }
    if setting.links.twice > 0 {
        words.push(format!("{}% come twice", percent(setting.links.twice)));
    }
    if !setting.links.are_ideal() {
        words.push(format!("seed {}", setting.seed));
    }
    words.join("; ")
}

fn names(nodes: &BTreeSet<NodeId>) -> String {
    const MOST: usize = 8;
    let mut names: Vec<String> = nodes.iter().take(MOST).map(|node| shown(*node)).collect();
    if nodes.len() > MOST {
        names.push(format!("{} more", nodes.len() - MOST));
    }
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => "nobody".to_owned(),
    }
}

/// Who was picked, what it cost, and what the theory says.
pub(super) fn figures(setting: &Setting, outcome: &Outcome) -> String {
    let theory = Theory::of(setting);
    let table = table(setting, outcome, theory.as_ref().ok());
    let mut words = Vec::new();
    match &theory {
        Ok(theory) => {
            words.push(format!("Theory: {}.", theory.case));
            words.extend(theory.notes.iter().map(|note| format!("Note: {note}.")));
        }
        Err(silence) => words.push(format!("Theory: no formula applies, because {silence}.")),
    }
    format!("{}\n\n{table}\n{}", verdict(setting, outcome), words.join("\n"))
}

/// Who was picked, by whom, and when.
fn verdict(setting: &Setting, outcome: &Outcome) -> String {
    let live = outcome.picks.len();
    let mut words = Vec::new();
    if let (Some(nominee), Some(at)) = (outcome.agreed(), outcome.agreed_at()) {
        let who = if live == 1 { "the only live node" } else { "all live nodes" };
        let since = message_times(at.saturating_sub(began(setting)));
        let nominee = shown(nominee);
        words.push(format!("{nominee} is picked by {who} ({live}), {since} after the beginning."));
    } else {
        let picks = outcome.picks.iter().map(|(node, pick)| match pick {
            Some(nominee) => format!("{} holds {}", shown(*node), shown(*nominee)),
            None => format!("{} holds nobody", shown(*node)),
        });
        let picks: Vec<String> = picks.collect();
        words.push(format!("Live nodes do not agree: {} for picked.", picks.join(", ")));
    }
    let others: BTreeSet<NodeId> =
        outcome.nominees().into_iter().filter(|it| Some(*it) != outcome.agreed()).collect();
    if !others.is_empty() {
        words.push(format!("On the way, some held {} for picked.", names(&others)));
    }
    if outcome.end == End::Limit {
        let limit = message_times(setting.limit);
        words.push(format!("The run was ended at its limit of {limit}."));
    }
    words.join(" ")
}

/// When the first that begins did.
fn began(setting: &Setting) -> u64 {
    let mut begin = setting.initiators.iter();
    let alive = begin.by_ref().filter(|(node, at)| setting.is_alive(*node, *at));
    alive.map(|(_, at)| *at).min().unwrap_or(0)
}

fn table(setting: &Setting, outcome: &Outcome, theory: Option<&Theory>) -> String {
    let sent = outcome.trace.counts();
    let unread = outcome.trace.count(|letter| matches!(letter.fate, Fate::Unread(_)));
    let lost = outcome.trace.count(|letter| letter.fate == Fate::Lost);
    let mut table = String::new();
    let mut row = |cells: [String; 5]| {
        let [name, measured, expected, unread, lost] = cells;
        let line = format!("{name:28}{measured:17}{expected:17}{unread:16}{lost}");
        table.push_str(line.trim_end());
        table.push('\n');
    };
    row(["", "MEASURED", "THEORY", "OF THEM UNREAD", "LOST"].map(str::to_owned));
    let some = |count: Option<&usize>| count.map(ToString::to_string).unwrap_or_default();
    for kind in Kind::ALL {
        let expected = theory.and_then(|theory| theory.counts.get(&kind));
        if sent.contains_key(&kind) || expected.is_some_and(|count| *count > 0) {
            row([
                format!("{kind} messages"),
                sent.get(&kind).copied().unwrap_or(0).to_string(),
                some(expected),
                some(unread.get(&kind)),
                some(lost.get(&kind)),
            ]);
        }
    }
    let counted =
        sent.iter().filter(|(kind, _)| theory.is_none_or(|it| it.counts.contains_key(kind)));
    row([
        if theory.is_some() { "messages that theory counts" } else { "messages" }.to_owned(),
        counted.map(|(_, count)| *count).sum::<usize>().to_string(),
        theory.map(|theory| theory.total().to_string()).unwrap_or_default(),
        String::new(),
        String::new(),
    ]);
    let began = began(setting);
    let since = outcome.agreed_at().map(|at| message_times(at.saturating_sub(began)));
    row([
        "time until all agree".to_owned(),
        since.unwrap_or_else(|| "never".to_owned()),
        theory.map(|theory| message_times(theory.time)).unwrap_or_default(),
        String::new(),
        String::new(),
    ]);
    table
}
