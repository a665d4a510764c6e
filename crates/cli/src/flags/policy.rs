//! The flags that say what a candidate is, who is preferred, and how leaderships are handed over.
//!
//! Assumes: nothing; everything comes from people.
//! Promises: a label is a key and a value, and a preference is one that the protocol knows; whether
//! they fit together is for the library to say.

use std::time::Duration;

use clap::Args;
use incumbent::Preference;

use crate::span;

/// Flags that every subcommand takes, for everything that contends.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Candidate options")]
pub(crate) struct PolicyFlags {
    /// Where others reach this candidate, for `incumbent members`.
    #[arg(
        long,
        global = true,
        env = "INCUMBENT_ADDRESS",
        hide_env_values = true,
        hide_short_help = true
    )]
    pub(crate) address: Option<String>,
    /// What this candidate says about itself, for `incumbent members` and for preferences; may be
    /// given several times, or as a list with commas.
    #[arg(long, global = true, env = "INCUMBENT_LABEL", hide_env_values = true, hide_short_help = true, value_name = "KEY=VALUE", value_delimiter = ',', value_parser = label)]
    pub(crate) label: Vec<Label>,
    /// Candidates of a higher priority go first; 0 unless given.
    #[arg(
        long,
        global = true,
        env = "INCUMBENT_PRIORITY",
        hide_env_values = true,
        hide_short_help = true,
        allow_negative_numbers = true,
        value_name = "N"
    )]
    pub(crate) priority: Option<i32>,
    /// After priority, who goes first when a term is open: zone=eu-1, version=newest,
    /// version=oldest. May be given several times, or as a list with commas; the first weighs most.
    /// All candidates should be given the same.
    #[arg(
        long,
        global = true,
        env = "INCUMBENT_PREFER",
        hide_env_values = true,
        hide_short_help = true,
        value_name = "KEY=VALUE",
        value_delimiter = ','
    )]
    pub(crate) prefer: Vec<Preference>,
    /// Ask a leader to hand over once this candidate has been preferred to it for so long; else
    /// whoever leads stays.
    #[arg(long, global = true, env = "INCUMBENT_PREEMPT_AFTER", hide_env_values = true, hide_short_help = true, value_name = "DURATION", value_parser = span::parse)]
    pub(crate) preempt_after: Option<Duration>,
    /// With --preempt-after, leave a term alone until it is so old; 5m unless given.
    #[arg(long, global = true, env = "INCUMBENT_HOLD_DOWN", hide_env_values = true, hide_short_help = true, value_name = "DURATION", value_parser = span::parse)]
    pub(crate) hold_down: Option<Duration>,
    /// Candidates are replaced one by one, told apart by their label version: hand over once, to one
    /// that is new already.
    #[arg(
        long,
        global = true,
        env = "INCUMBENT_ROLLING",
        hide_env_values = true,
        hide_short_help = true,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_name = "BOOL"
    )]
    pub(crate) rolling: Option<bool>,
    /// How long work may take to end when its leader is asked to hand over; 10s unless given.
    #[arg(long, global = true, env = "INCUMBENT_DRAIN", hide_env_values = true, hide_short_help = true, value_name = "DURATION", value_parser = span::parse)]
    pub(crate) drain: Option<Duration>,
}

/// The key and the value of a label.
pub(crate) type Label = (String, String);

/// Reads a label.
pub(crate) fn label(text: &str) -> Result<Label, String> {
    let pair = text.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
    pair.ok_or_else(|| format!("{text:?} is no label: write it like zone=a"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_split_at_its_first_sign() {
        let pair = |key: &str, value: &str| Ok((key.to_owned(), value.to_owned()));
        assert_eq!(label("zone=a"), pair("zone", "a"));
        assert_eq!(label("query=a=b"), pair("query", "a=b"));
        assert!(label("zone").is_err());
    }
}
