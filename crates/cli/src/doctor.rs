//! Can elections be held here, how fast, and what is promised?
//!
//! Assumes: the settings are those of the candidates.
//! Promises: changes nothing that a candidate would notice; shows no password; ends with success if
//! nothing is refused.

mod rounds;

use incumbent::{Bound, Checkup, Doctor, Given, Promise, Trips, Verdict};
use serde::Serialize;

use self::rounds::Rounds;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::settings::Settings;
use crate::span;
use crate::wrap::wrap;

/// How wide a report is at most.
const WIDTH: usize = 100;

/// Examines the store.
pub(crate) async fn doctor(settings: &Settings, printer: &Printer) -> anyhow::Result<Exit> {
    settings.make_home()?;
    let checkup = Doctor::examine(&settings.url, &settings.onlooker).await?;
    let rounds = Rounds::of(settings).await?;
    if printer.json() {
        let protocol = settings.protocol().as_str();
        printer.value(&Face { checkup: &checkup, protocol, rounds })?;
    } else {
        printer.line(report(&checkup, rounds.as_ref()))?;
    }
    Ok(if checkup.is_fit() { Exit::Ok } else { Exit::No })
}

/// A report as programs read it.
#[derive(Debug, Serialize)]
struct Face<'a> {
    #[serde(flatten)]
    checkup: &'a Checkup,
    protocol: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rounds: Option<Rounds>,
}

/// A report for people.
fn report(checkup: &Checkup, rounds: Option<&Rounds>) -> String {
    let Checkup { product, version, place, .. } = checkup;
    let mut page = Page::default();
    page.lines.push(format!("{product} {version}").trim_end().to_owned() + " at " + place);
    page.gap();
    for finding in &checkup.findings {
        page.row(finding.verdict.as_str(), finding.probe, &finding.said);
        if let Some(advice) = &finding.advice {
            page.row("", "", &format!("-> {advice}"));
        }
    }
    page.gap();
    page.row("time", "question", &trips(checkup.question));
    page.row("time", "write", &trips(checkup.write));
    page.row("bound", "failover", &bound(&checkup.failover));
    for (about, words) in rounds.into_iter().flat_map(Rounds::rows) {
        page.row("bound", about, &words);
    }
    page.gap();
    for promise in &checkup.promises {
        let (word, condition) = given(promise);
        page.row(word, promise.name, &format!("{}{condition}", promise.says));
    }
    page.gap();
    page.lines.push(conclusion(checkup));
    page.lines.join("\n")
}

/// Rows of three columns, the last of which may take several lines.
#[derive(Default)]
struct Page {
    lines: Vec<String>,
}

impl Page {
    fn row(&mut self, first: &str, second: &str, text: &str) {
        let head = format!("{first:<10}{second:<16}");
        let texts = wrap(text, WIDTH - head.len());
        for (at, text) in texts.iter().enumerate() {
            let head = if at == 0 { head.as_str() } else { "" };
            self.lines.push(format!("{head:<26}{text}"));
        }
    }

    fn gap(&mut self) {
        self.lines.push(String::new());
    }
}

fn trips(trips: Option<Trips>) -> String {
    trips.map_or_else(
        || "not measured".to_owned(),
        |Trips { best, median, worst, .. }| {
            format!("best {best:.1?}, median {median:.1?}, worst {worst:.1?}")
        },
    )
}

fn bound(bound: &Bound) -> String {
    let sum = format!(
        "{} (lease {} + beat {} + 2 x timeout {})",
        span::show(bound.bound),
        span::show(bound.lease),
        span::show(bound.beat),
        span::show(bound.timeout)
    );
    if bound.at_once {
        format!("a crash is noticed at once; a leader that hangs is followed within {sum}")
    } else {
        format!("after a crash somebody leads within {sum}, if the store answers")
    }
}

fn given(promise: &Promise) -> (&'static str, String) {
    let condition = promise.condition.as_deref().unwrap_or_default();
    match promise.given {
        Given::If => ("given if", format!(", if {}", condition.replace("; ", ", and if "))),
        Given::No => ("not given", format!(": {condition}")),
    }
}

fn conclusion(checkup: &Checkup) -> String {
    let count =
        |verdict| checkup.findings.iter().filter(|finding| finding.verdict == verdict).count();
    let plural = |count: usize, word: &str| match count {
        1 => format!("1 {word}"),
        count => format!("{count} {word}s"),
    };
    match (count(Verdict::Refuse), count(Verdict::Warn)) {
        (0, 0) => "Elections can be held here.".to_owned(),
        (0, warnings) => {
            format!("Elections can be held here, with {}.", plural(warnings, "warning"))
        }
        (refusals, _) => {
            format!(
                "No election should be held here before this is changed: {}.",
                plural(refusals, "refusal")
            )
        }
    }
}
