//! The configuration file.
//!
//! Assumes: it is TOML with one level of keys.
//! Promises: an unknown key is an error that names it and the known ones; a file that was not asked
//! for may be missing.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use incumbent::{Expiry, Preference, Protocol};
use toml::{Table, Value};

use super::{SettingsError, folder};
use crate::flags::{Label, label};
use crate::span;

const KNOWN: [&str; 27] = [
    "url",
    "election",
    "name",
    "lease",
    "margin",
    "expiry",
    "history",
    "grace",
    "stop_timeout",
    "protocol",
    "round_time",
    "round_limit",
    "round_delta",
    "round_cap",
    "address",
    "label",
    "priority",
    "prefer",
    "preempt_after",
    "hold_down",
    "rolling",
    "drain",
    "metrics",
    "secret_file",
    "data",
    "me",
    "unratified",
];

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
    pub(super) stop_timeout: Option<Duration>,
    pub(super) protocol: Option<Protocol>,
    pub(super) round_time: Option<Duration>,
    pub(super) round_limit: Option<u32>,
    pub(super) round_delta: Option<Duration>,
    pub(super) round_cap: Option<Duration>,
    pub(super) address: Option<String>,
    pub(super) label: Vec<Label>,
    pub(super) priority: Option<i32>,
    pub(super) prefer: Vec<Preference>,
    pub(super) preempt_after: Option<Duration>,
    pub(super) hold_down: Option<Duration>,
    pub(super) rolling: Option<bool>,
    pub(super) drain: Option<Duration>,
    pub(super) metrics: Option<SocketAddr>,
    pub(super) secret: Option<PathBuf>,
    pub(super) data: Option<PathBuf>,
    pub(super) me: Option<String>,
    pub(super) unratified: Option<bool>,
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
        Ok(text) => {
            let file = parse(&text);
            if file.as_ref().is_ok_and(File::has_password) && is_open_to_others(&path) {
                tracing::warn!(
                    file = %path.display(),
                    "others on this host can read the password in the URL of the configuration: chmod 600 it"
                );
            }
            file.map_err(|problem| SettingsError::File { path, problem })
        }
        Err(error) if !required && is_missing(&error) => Ok(File::default()),
        Err(error) => Err(SettingsError::Unreadable { path, problem: error.to_string() }),
    }
}

impl File {
    fn has_password(&self) -> bool {
        self.url.as_ref().is_some_and(|url| *url != incumbent::redacted(url))
    }
}

fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}

fn is_missing(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn parse(text: &str) -> Result<File, String> {
    let table: Table =
        text.parse().map_err(|error: toml::de::Error| error.to_string().trim_end().to_owned())?;
    if table.contains_key("secret") {
        // Configuration is copied and shown; a secret is neither.
        return Err("a secret does not stand in here: name its file with secret_file".to_owned());
    }
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
    let protocol =
        text("protocol")?.map(|word| word.parse().map_err(|e: incumbent::Error| e.to_string()));
    Ok(File {
        url: text("url")?,
        election: text("election")?,
        name: text("name")?,
        lease: span("lease")?,
        margin: span("margin")?,
        expiry: expiry.transpose()?,
        history: text("history")?.map(|path| Path::new(&path).to_owned()),
        grace: span("grace")?,
        stop_timeout: span("stop_timeout")?,
        protocol: protocol.transpose()?,
        round_time: span("round_time")?,
        round_limit: number(&table, "round_limit")?,
        round_delta: span("round_delta")?,
        round_cap: span("round_cap")?,
        address: text("address")?,
        label: list(&table, "label", "zone=a,rack=7", label)?,
        priority: number(&table, "priority")?,
        prefer: list(&table, "prefer", "zone=a,version=newest", |word| {
            word.parse().map_err(|error: incumbent::PreferenceError| error.to_string())
        })?,
        preempt_after: span("preempt_after")?,
        hold_down: span("hold_down")?,
        rolling: truth(&table, "rolling")?,
        drain: span("drain")?,
        metrics: text("metrics")?.as_deref().map(address).transpose()?,
        secret: text("secret_file")?.map(PathBuf::from),
        data: text("data")?.map(PathBuf::from),
        me: text("me")?,
        unratified: truth(&table, "unratified")?,
    })
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| format!("metrics must be an address like 127.0.0.1:9464, not {text}"))
}

fn number<N: TryFrom<i64>>(table: &Table, key: &str) -> Result<Option<N>, String> {
    let found = table.get(key).map(|value| {
        let number = value.as_integer().and_then(|number| N::try_from(number).ok());
        number.ok_or_else(|| format!("{key} must be a number, like 2, not {value}"))
    });
    found.transpose()
}

fn truth(table: &Table, key: &str) -> Result<Option<bool>, String> {
    let found = table.get(key).map(|value| {
        value.as_bool().ok_or_else(|| format!("{key} must be true or false, not {value}"))
    });
    found.transpose()
}

/// A list of texts, or one text with commas.
fn list<T>(
    table: &Table,
    key: &str,
    like: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let wrong = || format!("{key} must be text in quotes, like {like:?}, or a list of such texts");
    let texts: Vec<&str> = match table.get(key) {
        None => Vec::new(),
        Some(Value::String(text)) => text.split(',').collect(),
        Some(Value::Array(texts)) => {
            let texts = texts.iter().map(|text| text.as_str().ok_or_else(wrong));
            texts.collect::<Result<_, _>>()?
        }
        Some(_) => return Err(wrong()),
    };
    texts.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(key: &str, value: &str) -> Label {
        (key.to_owned(), value.to_owned())
    }

    #[test]
    fn every_known_key_is_read() {
        let text = KNOWN.map(|key| match key {
            "lease" | "margin" | "grace" | "stop_timeout" | "round_time" | "round_delta"
            | "round_cap" | "preempt_after" | "hold_down" | "drain" => format!("{key} = \"2s\"\n"),
            "priority" => "priority = -3\n".to_owned(),
            "prefer" => "prefer = \"zone=a,version=newest\"\n".to_owned(),
            "rolling" | "unratified" => format!("{key} = true\n"),
            "expiry" => "expiry = \"database\"\n".to_owned(),
            "protocol" => "protocol = \"rounds\"\n".to_owned(),
            "round_limit" => "round_limit = 3\n".to_owned(),
            "metrics" => "metrics = \"[::1]:9464\"\n".to_owned(),
            "label" => "label = [\"zone=a\", \"note=a, b\"]\n".to_owned(),
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
            stop_timeout: two,
            protocol: Some(Protocol::Rounds),
            round_time: two,
            round_limit: Some(3),
            round_delta: two,
            round_cap: two,
            address: word(),
            label: vec![pair("zone", "a"), pair("note", "a, b")],
            priority: Some(-3),
            prefer: ["zone=a", "version=newest"].map(|word| word.parse().expect("one")).to_vec(),
            preempt_after: two,
            hold_down: two,
            rolling: Some(true),
            drain: two,
            metrics: Some(SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, 9464))),
            secret: Some("x".into()),
            data: Some("x".into()),
            me: word(),
            unratified: Some(true),
        };
        assert_eq!(parse(&text.concat()), Ok(file));
    }

    #[test]
    fn an_unknown_key_is_refused_with_the_known_ones() {
        let error = parse("leese = \"3s\"").expect_err("unknown");
        assert_eq!(
            error,
            "unknown key \"leese\"; the known ones are url, election, name, lease, margin, expiry, history, grace, \
             stop_timeout, protocol, round_time, round_limit, round_delta, round_cap, address, label, priority, prefer, preempt_after, \
             hold_down, rolling, drain, metrics, secret_file, data, me, unratified"
        );
    }

    #[test]
    fn a_value_of_another_kind_is_refused() {
        assert_eq!(parse("lease = 3"), Err("lease must be text in quotes, not integer".to_owned()));
        assert_eq!(
            parse("round_limit = -1"),
            Err("round_limit must be a number, like 2, not -1".to_owned())
        );
        assert!(parse("label = 3").is_err());
        assert!(parse("prefer = \"newest\"").is_err());
        assert_eq!(
            parse("rolling = \"yes\""),
            Err("rolling must be true or false, not \"yes\"".to_owned())
        );
        assert_eq!(
            parse("metrics = \"here\""),
            Err("metrics must be an address like 127.0.0.1:9464, not here".to_owned())
        );
        let labels = parse("label = \"zone=a,rack=7\"").map(|file| file.label);
        assert_eq!(labels, Ok(vec![pair("zone", "a"), pair("rack", "7")]));
        assert_eq!(parse("lease = \"3\""), Err("lease: 3 of what? Write 3s or 3ms".to_owned()));
    }
}
