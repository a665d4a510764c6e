//! The configuration file.
//!
//! Assumes: it is TOML with one level of keys.
//! Promises: an unknown key is an error that names it and the known ones; a file that was not asked
//! for may be missing.

use std::path::{Path, PathBuf};
use std::time::Duration;

use incumbent::Expiry;
use toml::{Table, Value};

use super::{SettingsError, folder};
use crate::span;

const KNOWN: [&str; 8] =
    ["url", "election", "name", "lease", "margin", "expiry", "history", "grace"];

/// What the file says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct File {
    pub(super) url: Option<String>,
    pub(super) election: Option<String>,
    pub(super) name: Option<String>,
    pub(super) lease: Option<Duration>,
    pub(super) margin: Option<Duration>,
    pub(super) expiry: Option<Expiry>,
    pub(super) history: Option<PathBuf>,
    pub(super) grace: Option<Duration>,
}

/// Reads the named file, or the usual one if it exists.
pub(super) fn read(named: Option<PathBuf>) -> Result<File, SettingsError> {
    let (path, required) = match named {
        Some(path) => (path, true),
        None => match folder::usual_config() {
            Some(path) => (path, false),
            None => return Ok(File::default()),
        },
    };
    match std::fs::read_to_string(&path) {
        Ok(text) => parse(&text).map_err(|problem| SettingsError::File { path, problem }),
        Err(error) if !required && is_missing(&error) => Ok(File::default()),
        Err(error) => Err(SettingsError::Unreadable { path, problem: error.to_string() }),
    }
}

fn is_missing(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn parse(text: &str) -> Result<File, String> {
    let table: Table =
        text.parse().map_err(|error: toml::de::Error| error.to_string().trim_end().to_owned())?;
    if let Some(key) = table.keys().find(|key| !KNOWN.contains(&key.as_str())) {
        return Err(format!("unknown key {key:?}; the known ones are {}", KNOWN.join(", ")));
    }
    let text = |key: &str| match table.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(format!("{key} must be text in quotes, not {}", other.type_str())),
    };
    let span = |key: &str| {
        let found = text(key)?;
        let found =
            found.map(|text| span::parse(&text).map_err(|problem| format!("{key}: {problem}")));
        found.transpose()
    };
    let expiry =
        text("expiry")?.map(|word| word.parse().map_err(|e: incumbent::TimingError| e.to_string()));
    Ok(File {
        url: text("url")?,
        election: text("election")?,
        name: text("name")?,
        lease: span("lease")?,
        margin: span("margin")?,
        expiry: expiry.transpose()?,
        history: text("history")?.map(|path| Path::new(&path).to_owned()),
        grace: span("grace")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_key_is_read() {
        let text = KNOWN.map(|key| match key {
            "lease" | "margin" | "grace" => format!("{key} = \"2s\"\n"),
            "expiry" => "expiry = \"database\"\n".to_owned(),
            key => format!("{key} = \"x\"\n"),
        });
        let two = Some(Duration::from_secs(2));
        let word = || Some("x".to_owned());
        let file = File {
            url: word(),
            election: word(),
            name: word(),
            lease: two,
            margin: two,
            expiry: Some(Expiry::Database),
            history: Some("x".into()),
            grace: two,
        };
        assert_eq!(parse(&text.concat()), Ok(file));
    }

    #[test]
    fn an_unknown_key_is_refused_with_the_known_ones() {
        let error = parse("leese = \"3s\"").expect_err("unknown");
        assert_eq!(
            error,
            "unknown key \"leese\"; the known ones are url, election, name, lease, margin, expiry, history, grace"
        );
    }

    #[test]
    fn a_value_of_another_kind_is_refused() {
        assert_eq!(parse("lease = 3"), Err("lease must be text in quotes, not integer".to_owned()));
        assert_eq!(parse("lease = \"3\""), Err("lease: 3 of what? Write 3s or 3ms".to_owned()));
    }
}
