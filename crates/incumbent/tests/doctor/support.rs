//! What all examinations here have in common.

use std::time::Duration;

use incumbent::{Checkup, Config, Doctor, Finding, Given, Schema, Verdict};

/// Settings for a machine that may be slow.
pub(crate) fn settings() -> Config {
    Config::new().lease(Duration::from_mins(1))
}

/// Examines with settings for a machine that may be slow.
pub(crate) async fn examine(url: &str) -> anyhow::Result<Checkup> {
    Ok(Doctor::examine(url, &settings()).await?)
}

/// Makes the tables, then examines.
pub(crate) async fn prepared(url: &str) -> anyhow::Result<Checkup> {
    Schema::of(url)?.apply().await?;
    examine(url).await
}

/// What was found of one thing.
#[track_caller]
pub(crate) fn finding<'a>(checkup: &'a Checkup, probe: &str) -> &'a Finding {
    let found = checkup.findings.iter().find(|finding| finding.probe == probe);
    found.unwrap_or_else(|| panic!("{probe} was not looked at: {checkup:#?}"))
}

/// The names of what was refused.
pub(crate) fn refused(checkup: &Checkup) -> Vec<&str> {
    let refused = checkup.findings.iter().filter(|it| it.verdict == Verdict::Refuse);
    refused.map(|finding| finding.probe).collect()
}

/// Nothing is refused, and all of these are good.
#[track_caller]
pub(crate) fn is_sound(checkup: &Checkup, probes: &[&str]) {
    assert!(checkup.is_fit(), "{checkup:#?}");
    for probe in probes {
        let found = finding(checkup, probe);
        assert_eq!(found.verdict, Verdict::Good, "{found:?}");
    }
    assert!(checkup.promises.iter().all(|promise| promise.given == Given::If), "{checkup:#?}");
    let (question, write) = (checkup.question.expect("trips"), checkup.write.expect("trips"));
    for trips in [question, write] {
        assert!(trips.best <= trips.median && trips.median <= trips.worst, "{trips:?}");
    }
}

/// Exactly this is refused, in words that have this in them, and nothing is promised.
#[track_caller]
pub(crate) fn is_refused(checkup: &Checkup, probe: &str, words: &str) {
    assert_eq!(refused(checkup), [probe], "{checkup:#?}");
    let found = finding(checkup, probe);
    let said = format!("{} {}", found.said, found.advice.as_deref().unwrap_or_default());
    assert!(said.contains(words), "{said}");
    assert!(checkup.promises.iter().all(|promise| promise.given == Given::No), "{checkup:#?}");
}

/// A warning in words that have this in them.
#[track_caller]
pub(crate) fn is_warned_of(checkup: &Checkup, probe: &str, words: &str) {
    let found = finding(checkup, probe);
    assert_eq!(found.verdict, Verdict::Warn, "{found:?}");
    let said = format!("{} {}", found.said, found.advice.as_deref().unwrap_or_default());
    assert!(said.contains(words), "{said}");
}
