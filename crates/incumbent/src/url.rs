//! From a URL to a place where elections are agreed.
//!
//! Assumes: nothing; URLs come from people.
//! Promises: an unknown scheme or an odd path is an error that shows what would be right.

use std::path::{Path, PathBuf};

use crate::error::Error;

/// Where elections are agreed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A file of this host.
    Sqlite(PathBuf),
}

const KNOWN: &str =
    "use sqlite:///absolute/path.db, sqlite:relative/path.db or a plain path that ends in .db";

impl Target {
    pub(crate) fn parse(url: &str) -> Result<Target, Error> {
        let wrong = |problem: String| Error::Url { url: url.to_owned(), problem };
        let path = match url.split_once(':') {
            Some(("sqlite" | "file", rest)) => rest.strip_prefix("//").unwrap_or(rest),
            Some((scheme, _)) if is_scheme(scheme) => {
                return Err(wrong(format!("unknown scheme {scheme:?}; {KNOWN}")));
            }
            _ if Path::new(url).extension().is_some_and(|e| e == "db" || e == "sqlite") => url,
            _ => return Err(wrong(KNOWN.to_owned())),
        };
        let path = path.split_once('?').map_or(Ok(path), |(path, options)| {
            if options.is_empty() {
                Ok(path)
            } else {
                Err(wrong(format!("unknown options {options:?}")))
            }
        })?;
        match path {
            "" => Err(wrong(format!("it names no file; {KNOWN}"))),
            ":memory:" => Err(wrong(
                "a database in memory cannot be shared by processes; hand in a pool instead"
                    .to_owned(),
            )),
            path if path.ends_with('/') => Err(wrong("it names a folder, not a file".to_owned())),
            path => Ok(Target::Sqlite(PathBuf::from(path))),
        }
    }
}

fn is_scheme(text: &str) -> bool {
    text.len() > 1
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(url: &str) -> Option<PathBuf> {
        Target::parse(url).ok().map(|Target::Sqlite(path)| path)
    }

    #[test]
    fn the_usual_spellings_name_a_file() {
        for (url, file) in [
            ("sqlite:///var/lib/x.db", "/var/lib/x.db"),
            ("sqlite:x.db", "x.db"),
            ("sqlite://x.db", "x.db"),
            ("/tmp/x.db", "/tmp/x.db"),
            ("x.sqlite", "x.sqlite"),
        ] {
            assert_eq!(path(url), Some(PathBuf::from(file)), "{url}");
        }
    }

    #[test]
    fn whatever_names_no_file_is_refused() {
        for url in [
            "",
            "zookeeper://host",
            "sqlite:",
            "sqlite::memory:",
            "sqlite:/tmp/",
            "hello",
            "sqlite:x.db?a=b",
        ] {
            assert_eq!(path(url), None, "{url}");
        }
        let error = Target::parse("etcd://host").map(drop).expect_err("unknown").to_string();
        assert!(
            error.contains("unknown scheme \"etcd\"") && error.contains("sqlite:///"),
            "{error}"
        );
    }
}
