//! One thing that makes a candidate preferred, as people write it.
//!
//! Assumes: candidates say what they are by labels.
//! Promises: what is written is read back; versions are compared as numbers where they are numbers,
//! and whoever has none comes last.

use core::cmp::Ordering;
use core::fmt;
use core::str::FromStr;

use thiserror::Error;

use crate::roll::Peer;

/// The label by which rolling deploys are told apart.
const VERSION: &str = "version";

/// What makes a candidate preferred.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Preference {
    /// A label with this value: `zone=eu-1`.
    Label {
        /// Its name.
        key: String,
        /// Its value.
        value: String,
    },
    /// The highest value of a label: `version=newest`.
    Newest {
        /// Its name.
        key: String,
    },
    /// The lowest value of a label: `version=oldest`.
    Oldest {
        /// Its name.
        key: String,
    },
}

/// What is wrong with a preference. *Standing:* nothing began. *Retry:* with another word.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{0:?} is no preference: write a label and its value, as zone=eu-1, version=newest or version=oldest"
)]
pub struct PreferenceError(String);

impl Preference {
    /// Whoever has the highest version.
    pub(crate) fn newer() -> Preference {
        Preference::Newest { key: VERSION.to_owned() }
    }

    /// Which of two it prefers; greater is better.
    pub fn compare(&self, one: &Peer, other: &Peer) -> Ordering {
        match self {
            Preference::Label { key, value } => {
                let has = |peer: &Peer| peer.label(key) == Some(value);
                has(one).cmp(&has(other))
            }
            Preference::Newest { key } => {
                let (one, other) = (one.label(key), other.label(key));
                one.map(parts).cmp(&other.map(parts))
            }
            Preference::Oldest { key } => match (one.label(key), other.label(key)) {
                (Some(one), Some(other)) => parts(other).cmp(&parts(one)),
                (one, other) => one.is_some().cmp(&other.is_some()),
            },
        }
    }
}

impl FromStr for Preference {
    type Err = PreferenceError;

    fn from_str(text: &str) -> Result<Self, PreferenceError> {
        let wrong = || PreferenceError(text.to_owned());
        let (key, value) = text.split_once('=').ok_or_else(wrong)?;
        if key.is_empty() || value.is_empty() {
            return Err(wrong());
        }
        let key = key.to_owned();
        Ok(match value {
            "newest" => Preference::Newest { key },
            "oldest" => Preference::Oldest { key },
            _ => Preference::Label { key, value: value.to_owned() },
        })
    }
}

impl fmt::Display for Preference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Preference::Label { key, value } => write!(f, "{key}={value}"),
            Preference::Newest { key } => write!(f, "{key}=newest"),
            Preference::Oldest { key } => write!(f, "{key}=oldest"),
        }
    }
}

/// A part of a version: what comes before a release (`rc`) is older than the release, and a number is
/// newer than both.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part<'a> {
    Word(&'a str),
    End,
    Number(u64),
}

fn parts(version: &str) -> Vec<Part<'_>> {
    let plain = version.strip_prefix('v').unwrap_or(version);
    let plain = plain.split('+').next().unwrap_or(plain);
    let words = plain.split(['.', '-', '_']);
    let read = |word| str::parse(word).map_or(Part::Word(word), Part::Number);
    words.map(read).chain([Part::End]).collect()
}
