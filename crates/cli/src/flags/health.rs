//! The flags that bind leadership to health, and what they mean.
//!
//! Assumes: nothing; everything comes from people.
//! Promises: what cannot work is refused before anything is started. What looks like a URL is asked
//! or refused, never handed to a shell.

use std::time::Duration;

use clap::Args;
use incumbent::health::{HealthRules, HealthRulesError, Probe, UrlError};
use thiserror::Error;

use super::private_variables;
use crate::span;

/// How often is probed unless somebody says otherwise.
const EVERY: Duration = Duration::from_secs(5);

/// Flags of `run`, for those who bind leadership to health.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Health options")]
pub(crate) struct HealthFlags {
    /// Lead only while this is well: a command for `sh -c`, which must exit with 0, or a URL such as
    /// <http://127.0.0.1:8080/healthz>, which must answer with 200 to 299.
    #[arg(
        long,
        env = "INCUMBENT_HEALTH",
        hide_env_values = true,
        value_name = "COMMAND|URL",
        allow_hyphen_values = true
    )]
    pub(crate) health: Option<String>,
    /// From one probe to the next; 5s unless given.
    #[arg(long, env = "INCUMBENT_HEALTH_EVERY", hide_env_values = true, hide_short_help = true, value_name = "DURATION", value_parser = span::parse, requires = "health")]
    pub(crate) health_every: Option<Duration>,
    /// How long a probe may take before it has failed; two fifths of --health-every unless given.
    #[arg(long, env = "INCUMBENT_HEALTH_TIMEOUT", hide_env_values = true, hide_short_help = true, value_name = "DURATION", value_parser = span::parse, requires = "health")]
    pub(crate) health_timeout: Option<Duration>,
    /// After how many failures in a row a leader hands over; 3 unless given.
    #[arg(
        long,
        env = "INCUMBENT_HEALTH_FAILURES",
        hide_env_values = true,
        hide_short_help = true,
        value_name = "N",
        requires = "health"
    )]
    pub(crate) health_failures: Option<u32>,
    /// How long it must be well again, without a failure, before it contends again; six times
    /// --health-every unless given.
    #[arg(long, env = "INCUMBENT_HEALTH_COOL_DOWN", hide_env_values = true, hide_short_help = true, value_name = "DURATION", value_parser = span::parse, requires = "health")]
    pub(crate) health_cool_down: Option<Duration>,
}

/// What is wrong with what was asked for. Nothing was started.
#[derive(Debug, Error)]
pub(crate) enum HealthUsage {
    /// There is nothing to ask.
    #[error("--health is empty: give it a command or a URL")]
    Empty,
    /// There is nobody to ask.
    #[error("--health {0:?} names no server: write it like http://127.0.0.1:8080/healthz")]
    NoServer(String),
    /// Somebody who cannot be asked.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// Rules that cannot work.
    #[error(transparent)]
    Rules(#[from] HealthRulesError),
}

impl HealthFlags {
    /// What is probed, and by which rules, if anything is.
    pub(crate) fn checked(&self) -> Result<Option<(Probe, HealthRules)>, HealthUsage> {
        let Some(words) = &self.health else { return Ok(None) };
        Ok(Some((probe(words)?, self.rules()?)))
    }

    fn rules(&self) -> Result<HealthRules, HealthUsage> {
        let usual = HealthRules::of_every(self.health_every.unwrap_or(EVERY))?;
        Ok(HealthRules::new(
            usual.every(),
            self.health_timeout.unwrap_or(usual.timeout()),
            self.health_failures.unwrap_or(usual.failures()),
            self.health_cool_down.unwrap_or(usual.cool_down()),
        )?)
    }
}

fn probe(words: &str) -> Result<Probe, HealthUsage> {
    let words = words.trim();
    if words.is_empty() {
        return Err(HealthUsage::Empty);
    }
    if !is_url(words) {
        return Ok(Probe::command("sh", ["-c", words]).without(private_variables()));
    }
    if words.ends_with("://") {
        return Err(HealthUsage::NoServer(words.to_owned()));
    }
    Ok(Probe::url(words)?)
}

/// Whether it begins like a URL that is meant for a browser.
fn is_url(words: &str) -> bool {
    let scheme = words.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    scheme.is_some_and(|scheme| scheme == "http" || scheme == "https")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        health: HealthFlags,
    }

    fn flags(words: &[&str]) -> Result<HealthFlags, clap::Error> {
        let line = Line::try_parse_from([&["run"], words].concat())?;
        Ok(line.health)
    }

    /// The probe and the rules, as they are shown.
    fn meant(words: &[&str]) -> (String, String) {
        let (probe, rules) = flags(words).unwrap().checked().unwrap().expect("a probe");
        (format!("{probe:?}"), rules.to_string())
    }

    fn refused(words: &[&str]) -> String {
        flags(words).unwrap().checked().expect_err("refused").to_string()
    }

    #[test]
    fn without_the_flag_nothing_is_probed() {
        assert!(flags(&[]).unwrap().checked().unwrap().is_none());
    }

    #[test]
    fn a_url_is_asked_and_anything_else_is_a_command_of_the_shell() {
        for url in ["http://127.0.0.1:8080/healthz", "HTTP://127.0.0.1:8080"] {
            assert_eq!(meant(&["--health", url]).0, "Probe::url(127.0.0.1:8080)");
        }
        for command in ["true", "curl -fsS https://web/", "./http://odd", "-x || true"] {
            assert_eq!(meant(&["--health", command]).0, "Probe::command(sh)", "{command}");
        }
    }

    #[test]
    fn a_url_that_cannot_be_asked_is_refused_and_not_handed_to_the_shell() {
        let said = refused(&["--health", "https://web/healthz"]);
        assert!(said.contains("only http is spoken here; use a command such as"), "{said}");
        assert!(refused(&["--health", "http://"]).contains("names no server: write it like"));
    }

    #[test]
    fn nothing_is_no_command() {
        assert!(refused(&["--health", "  "]).contains("--health is empty"));
    }

    #[test]
    fn what_is_not_given_follows_from_the_time_between_probes() {
        let usual = "a probe every 5s of at most 2s, unfit after 3 failures, cool-down 30s";
        assert_eq!(meant(&["--health", "true"]).1, usual);
        let quick = "a probe every 1s of at most 400ms, unfit after 3 failures, cool-down 6s";
        assert_eq!(meant(&["--health", "true", "--health-every", "1s"]).1, quick);
    }

    #[test]
    fn everything_can_be_given() {
        let words = "--health true --health-every 2s --health-timeout 500ms --health-failures 5 \
                     --health-cool-down 1m";
        let words: Vec<_> = words.split_whitespace().collect();
        let said = "a probe every 2s of at most 500ms, unfit after 5 failures, cool-down 60s";
        assert_eq!(meant(&words).1, said);
    }

    #[test]
    fn rules_that_cannot_work_are_refused_with_both_numbers() {
        let said = refused(&["--health", "true", "--health-timeout", "6s"]);
        assert!(said.contains("is 6s, but it must be at most 5s"), "{said}");
        let said = refused(&["--health", "true", "--health-failures", "0"]);
        assert!(said.contains("are 0, but they must be 1 to 1000"), "{said}");
        let said = refused(&["--health", "true", "--health-cool-down", "1s"]);
        assert!(said.contains("is 1s, but it must be at least 5s"), "{said}");
    }

    #[test]
    fn rules_of_health_without_health_are_refused() {
        let error = flags(&["--health-every", "5s"]).unwrap_err();
        assert!(error.to_string().contains("--health <COMMAND|URL>"), "{error}");
        assert!(flags(&["--health", "true", "--health-failures", "-1"]).is_err());
    }
}
