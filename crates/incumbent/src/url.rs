//! From a URL to a place where elections are agreed.
//!
//! Assumes: nothing; URLs come from people.
//! Promises: an unknown scheme, option or an odd path is an error that shows what would be right,
//! and never a password.

use std::fmt;
use std::path::{Path, PathBuf};
#[cfg(any(feature = "postgres", feature = "mysql"))]
use std::str::FromStr;

use crate::config::Config;
use crate::contest::Protocol;
use crate::error::Error;
#[cfg(feature = "peers")]
use crate::peers::place::Place;
#[cfg(feature = "peers")]
use crate::peers::way::Scheme;
#[cfg(any(feature = "postgres", feature = "mysql"))]
use crate::server::hosts::{self, Hosts};

/// Where elections are agreed.
#[derive(Clone)]
pub(crate) enum Target {
    /// A file of this host.
    #[cfg(feature = "sqlite")]
    Sqlite(PathBuf),
    /// A database of a PostgreSQL server.
    #[cfg(feature = "postgres")]
    Postgres(Hosts<crate::postgres::Pg>),
    /// A database of a MySQL or MariaDB server.
    #[cfg(feature = "mysql")]
    Mysql { hosts: Hosts<crate::mysql::My>, single_writer: bool },
    /// A quorum of peers.
    #[cfg(feature = "peers")]
    Peers(Box<Place>),
}

const KNOWN: &str = "use sqlite:///absolute/path.db, sqlite:relative/path.db, a plain path that ends in .db, \
    postgres://user:password@host/database, mysql://user:password@host/database, or without a database \
    ring://host1:7600,host2:7600,host3:7600 or bully://host1:7600,host2:7600,host3:7600";

/// The options whose values are no secrets.
const SHOWN: [&str; 26] = [
    "protocol",
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "host",
    "port",
    "dbname",
    "user",
    "ssl-mode",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "socket",
    "galera",
    "me",
    "listen",
    "data",
    "secret-file",
    "heartbeat",
    "detector",
    "message-time",
    "return",
    "voters",
    "discover",
    "unratified",
];

/// What may stand behind the question mark of a PostgreSQL URL.
#[cfg(feature = "postgres")]
const POSTGRES: [&str; 9] =
    ["sslmode", "sslrootcert", "sslcert", "sslkey", "host", "port", "dbname", "user", "password"];

/// What may stand behind the question mark of a MySQL URL.
#[cfg(feature = "mysql")]
const MYSQL: [&str; 6] = ["ssl-mode", "ssl-ca", "ssl-cert", "ssl-key", "socket", "galera"];

impl Target {
    /// What a URL names, and by which protocol elections are held there, if it says so.
    pub(crate) fn with_protocol(url: &str) -> Result<(Target, Option<Protocol>), Error> {
        for protocol in [Protocol::Ring, Protocol::Bully] {
            if let Some(rest) = url.strip_prefix(protocol.as_str())
                && let Some(rest) = rest.strip_prefix(':')
            {
                let wrong = |problem| Error::Url { url: redacted(url), problem };
                return Ok((peers(protocol, rest).map_err(wrong)?, Some(protocol)));
            }
        }
        let Some((bare, options)) = url.rsplit_once('?') else {
            return Ok((Target::parse_bare(url)?, None));
        };
        let (ours, theirs): (Vec<_>, Vec<_>) =
            options.split('&').partition(|option| option.starts_with("protocol="));
        let protocol = match ours.as_slice() {
            [] => return Ok((Target::parse_bare(url)?, None)),
            [one] => one.trim_start_matches("protocol=").parse::<Protocol>(),
            _ => {
                let problem = "the protocol is given twice".to_owned();
                return Err(Error::Url { url: redacted(url), problem });
            }
        };
        let wrong = |error: Error| Error::Url { url: redacted(url), problem: error.to_string() };
        let protocol = protocol.map_err(wrong)?;
        let rest = theirs.join("&");
        let url = if rest.is_empty() { bare.to_owned() } else { format!("{bare}?{rest}") };
        Ok((Target::parse_bare(&url)?, Some(protocol)))
    }

    /// The target together with what settings say about it, if they fit together.
    pub(crate) fn for_config(self, config: &Config) -> Result<Target, Error> {
        match self {
            #[cfg(feature = "peers")]
            Target::Peers(place) => Ok(Target::Peers(Box::new(config.peers.applied(*place)))),
            #[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
            target => match config.protocol_set().filter(|protocol| protocol.is_of_peers()) {
                Some(protocol) => {
                    let word = protocol.as_str();
                    let problem = format!(
                        "peers hold elections by {word}: use {word}://host1:7600,host2:7600,host3:7600"
                    );
                    Err(Error::Setting { setting: "protocol", problem })
                }
                None => Ok(target),
            },
        }
    }

    /// What a URL names.
    pub(crate) fn parse(url: &str) -> Result<Target, Error> {
        Target::with_protocol(url).map(|(target, _)| target)
    }

    fn parse_bare(url: &str) -> Result<Target, Error> {
        let wrong = |problem: String| Error::Url { url: redacted(url), problem };
        match url.split_once(':') {
            Some(("sqlite" | "file", rest)) => {
                sqlite(rest.strip_prefix("//").unwrap_or(rest)).map_err(wrong)
            }
            // Without the slashes the driver would take all the rest for a path, and show it.
            Some(("postgres" | "postgresql" | "mysql" | "mariadb", rest))
                if !rest.starts_with("//") =>
            {
                Err(wrong(format!("two slashes are missing after the colon; {KNOWN}")))
            }
            Some(("postgres" | "postgresql", _)) => postgres(url).map_err(wrong),
            Some(("mysql" | "mariadb", rest)) => mysql(rest).map_err(wrong),
            Some((scheme, _)) if is_scheme(scheme) => {
                Err(wrong(format!("unknown scheme {scheme:?}; {KNOWN}")))
            }
            _ if Path::new(url).extension().is_some_and(|e| e == "db" || e == "sqlite") => {
                sqlite(url).map_err(wrong)
            }
            _ => Err(wrong(KNOWN.to_owned())),
        }
    }
}

impl fmt::Debug for Target {
    /// Without secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self {
            #[cfg(feature = "sqlite")]
            Target::Sqlite(path) => path.display().to_string(),
            #[cfg(feature = "postgres")]
            Target::Postgres(hosts) => hosts.place(),
            #[cfg(feature = "mysql")]
            Target::Mysql { hosts, .. } => hosts.place(),
            #[cfg(feature = "peers")]
            Target::Peers(place) => place.to_string(),
        };
        f.debug_tuple("Target").field(&place).finish()
    }
}

/// The URL without its password, for people and logs.
///
/// ```
/// let shown = incumbent::redacted("postgres://app:hunter2@db/app");
/// assert_eq!(shown, "postgres://app:***@db/app");
/// ```
pub fn redacted(url: &str) -> String {
    let mut marks = url.match_indices('?').map(|(at, _)| (&url[..at], &url[at + 1..]));
    match marks.find(|(_, options)| is_options(options)) {
        Some((bare, options)) => {
            let mut shown = without_password(bare);
            // Or it is all one password, with a host behind it.
            if options.contains('@') && shown == bare {
                let colon = bare.match_indices(':').nth(1).map(|(at, _)| at);
                shown = colon.map_or(shown, |at| format!("{}:***", &bare[..at]));
            }
            let options = options.split('&').map(shown_option).collect::<Vec<_>>();
            format!("{shown}?{}", options.join("&"))
        }
        None => without_password(url),
    }
}

/// A URL without options, and without what stands between a user and a host.
fn without_password(url: &str) -> String {
    let Some(colon) = url.find(':') else {
        return url.to_owned();
    };
    let slashes = if url[colon..].starts_with("://") { 3 } else { 1 };
    let (scheme, rest) = url.split_at(colon + slashes);
    // The last one: a password may hold any letter that belongs elsewhere.
    let (authority, tail) = rest.split_at(rest.rfind('@').map_or(0, |at| at + 1));
    let user = authority.split_once(':').map(|(user, _)| format!("{user}:***@"));
    let authority = user.unwrap_or_else(|| authority.to_owned());
    format!("{scheme}{authority}{tail}")
}

/// Whether this may be what stands behind the question mark, and not the rest of a password, a host and
/// a path. In doubt it is options, whose values are not shown.
fn is_options(text: &str) -> bool {
    let before_host = text.split_once('@').map_or("", |(before, _)| before);
    before_host.is_empty() || before_host.contains('=')
}

/// An option as people may see it: with its value only if that is known to be no secret.
fn shown_option(option: &str) -> String {
    match option.split_once('=') {
        Some((key, _)) if !SHOWN.contains(&key) => format!("{key}=***"),
        None if !SHOWN.contains(&option) => "***".to_owned(),
        _ => option.to_owned(),
    }
}

#[cfg(feature = "sqlite")]
fn sqlite(path: &str) -> Result<Target, String> {
    let path = match path.split_once('?') {
        Some((_, options)) if !options.is_empty() => {
            let keys =
                options.split('&').map(|option| option.split('=').next().unwrap_or_default());
            return Err(format!(
                "SQLite takes no such option: {}",
                keys.collect::<Vec<_>>().join(", ")
            ));
        }
        Some((path, _)) => path,
        None => path,
    };
    match path {
        "" => Err(format!("it names no file; {KNOWN}")),
        ":memory:" => {
            Err("a database in memory cannot be shared by processes; hand in a pool instead"
                .to_owned())
        }
        path if path.ends_with('/') => Err("it names a folder, not a file".to_owned()),
        path => Ok(Target::Sqlite(PathBuf::from(path))),
    }
}

#[cfg(not(feature = "sqlite"))]
fn sqlite(_path: &str) -> Result<Target, String> {
    Err("this program was built without SQLite: enable the feature `sqlite`".to_owned())
}

#[cfg(feature = "postgres")]
fn postgres(url: &str) -> Result<Target, String> {
    check_options(url, &POSTGRES)?;
    let each = each_host(url, &["host", "port"])?;
    let options = each.iter().map(|url| sqlx::postgres::PgConnectOptions::from_str(url));
    let options = options.collect::<Result<Vec<_>, _>>().map_err(|e| e.to_string())?;
    Ok(Target::Postgres(Hosts::new(options)))
}

#[cfg(not(feature = "postgres"))]
fn postgres(_url: &str) -> Result<Target, String> {
    Err("this program was built without PostgreSQL: enable the feature `postgres`".to_owned())
}

#[cfg(feature = "mysql")]
fn mysql(rest: &str) -> Result<Target, String> {
    check_options(rest, &MYSQL)?;
    let (bare, options) = rest.split_once('?').unwrap_or((rest, ""));
    let (ours, theirs): (Vec<_>, Vec<_>) =
        options.split('&').partition(|option| option.starts_with("galera="));
    let single_writer = match ours.as_slice() {
        [] => false,
        ["galera=single-writer"] => true,
        _ => return Err("the option galera takes the value single-writer only".to_owned()),
    };
    let url = format!("mysql:{bare}?{}", theirs.join("&"));
    let url = url.trim_end_matches('?');
    let each = each_host(url, &["socket"])?;
    if single_writer && each.len() > 1 {
        let problem = "it names several hosts, so each candidate picks one by itself: galera=single-writer cannot be \
            vouched for; name one host, a proxy before the cluster for example";
        return Err(problem.to_owned());
    }
    let options = each.iter().map(|url| sqlx::mysql::MySqlConnectOptions::from_str(url));
    let options = options.collect::<Result<Vec<_>, _>>().map_err(|e| e.to_string())?;
    if options.iter().any(|options| options.get_database().is_none()) {
        return Err("it names no database: mysql://user:password@host/database".to_owned());
    }
    Ok(Target::Mysql { hosts: Hosts::new(options), single_writer })
}

#[cfg(not(feature = "mysql"))]
fn mysql(_rest: &str) -> Result<Target, String> {
    Err("this program was built without MySQL: enable the feature `mysql`".to_owned())
}

#[cfg(feature = "peers")]
fn peers(protocol: Protocol, rest: &str) -> Result<Target, String> {
    let scheme = if protocol == Protocol::Ring { Scheme::Ring } else { Scheme::Bully };
    Place::parse(scheme, rest).map(|place| Target::Peers(Box::new(place)))
}

#[cfg(not(feature = "peers"))]
fn peers(_protocol: Protocol, _rest: &str) -> Result<Target, String> {
    Err("this program was built without peers: enable the feature `peers`".to_owned())
}

/// One URL for each host that this one names. The options in `alone` name a host themselves.
#[cfg(any(feature = "postgres", feature = "mysql"))]
fn each_host(url: &str, alone: &[&str]) -> Result<Vec<String>, String> {
    let begin = url.find("://").map_or(0, |scheme| scheme + 3);
    let rest = &url[begin..];
    let (authority, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    // A password may hold a comma and an `@`; a host may hold neither.
    let (user, hosts) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
    let hosts: Vec<&str> = hosts.split(',').collect();
    if hosts.len() == 1 {
        return Ok(vec![url.to_owned()]);
    }
    if hosts.len() > hosts::MOST {
        return Err(format!("it names {} hosts, and {} are the most", hosts.len(), hosts::MOST));
    }
    for (at, host) in hosts.iter().enumerate() {
        if host.is_empty() || host.starts_with(':') {
            return Err("one of its hosts is empty: write host1:5432,host2:5432".to_owned());
        }
        if hosts[..at].contains(host) {
            return Err(format!("it names the host {host} twice"));
        }
    }
    let options = tail.split_once('?').map_or("", |(_, options)| options);
    let mut keys = options.split('&').filter_map(|option| option.split('=').next());
    if let Some(key) = keys.find(|key| alone.contains(key)) {
        return Err(format!("the option {key:?} cannot be given with several hosts"));
    }
    let scheme = &url[..begin];
    Ok(hosts.iter().map(|host| format!("{scheme}{user}{host}{tail}")).collect())
}

/// The driver would only log what it does not know.
#[cfg(any(feature = "postgres", feature = "mysql"))]
fn check_options(url: &str, known: &[&str]) -> Result<(), String> {
    let options = url.split_once('?').map_or("", |(_, options)| options);
    let keys = options.split('&').filter(|option| !option.is_empty());
    let keys = keys.map(|option| option.split_once('=').map_or(option, |(key, _)| key));
    for key in keys {
        // Perhaps a part of the password, which must not be shown.
        if !key.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)) {
            let odd = "its options cannot be read: in a password write %3F for ?, %2F for / and %23 for #";
            return Err(odd.to_owned());
        }
        if !known.contains(&key) {
            return Err(format!("unknown option {key:?}; known are {}", known.join(", ")));
        }
    }
    Ok(())
}

fn is_scheme(text: &str) -> bool {
    text.len() > 1
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "sqlite")]
    fn path(url: &str) -> Option<PathBuf> {
        match Target::parse(url) {
            Ok(Target::Sqlite(path)) => Some(path),
            _ => None,
        }
    }

    #[test]
    #[cfg(feature = "sqlite")]
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
    fn whatever_names_no_store_is_refused() {
        for url in [
            "",
            "zookeeper://host",
            "sqlite:",
            "sqlite::memory:",
            "sqlite:/tmp/",
            "hello",
            "sqlite:x.db?a=b",
            "postgres://host/db?sslmoed=require",
            "mysql://host",
            "mysql://host/db?galera=yes",
        ] {
            assert!(Target::parse(url).is_err(), "{url}");
        }
        let error = Target::parse("etcd://host").map(drop).expect_err("unknown").to_string();
        assert!(
            error.contains("unknown scheme \"etcd\"") && error.contains("sqlite:///"),
            "{error}"
        );
    }

    #[test]
    fn a_password_is_never_shown() {
        for (url, shown) in [
            ("postgres://me:s3@cret@host:1/db", "postgres://me:***@host:1/db"),
            ("postgres://me:s3/c?ret@host:1/db", "postgres://me:***@host:1/db"),
            ("postgres:me:s3@host/db", "postgres:me:***@host/db"),
            ("postgres://me@host/db", "postgres://me@host/db"),
            ("postgres://host/db?password=x&port=1", "postgres://host/db?password=***&port=1"),
            ("postgres://host/db?password=a@b", "postgres://host/db?password=***"),
            ("postgres://host?password=x&password=y", "postgres://host?password=***&password=***"),
            ("postgres://host:1/db?password=a@b", "postgres://host:***?password=***"),
            ("postgres://me:s=3?r=t@host/db", "postgres://me:***?r=***"),
            ("postgres://me:s3?pass=x@host/db?sslmode=a", "postgres://me:***?pass=***"),
            ("postgres://host/db?password=a?b&c", "postgres://host/db?password=***&***"),
            ("postgres://host/db?Password=x&port=1", "postgres://host/db?Password=***&port=1"),
            ("postgres://host/db?pass=x&pwd=y", "postgres://host/db?pass=***&pwd=***"),
            ("mysql://me:x@host/db?passwd=y=z", "mysql://me:***@host/db?passwd=***"),
            ("ring://a:1,b:1?secret=x&me=a:1", "ring://a:1,b:1?secret=***&me=a:1"),
            ("postgres://host/db?sslmode=require", "postgres://host/db?sslmode=require"),
            ("sqlite:x.db", "sqlite:x.db"),
            ("sqlite:x.db?key=hunter2", "sqlite:x.db?key=***"),
        ] {
            assert_eq!(redacted(url), shown);
        }
        #[cfg(feature = "sqlite")]
        {
            let error = Target::parse("sqlite:x.db?key=hunter2&mode=ro").map(drop);
            let said = error.expect_err("options that it has not").to_string();
            assert!(said.contains("key, mode") && !said.contains("hunter2"), "{said}");
        }
        #[cfg(all(feature = "postgres", feature = "mysql"))]
        for url in ["postgres://me:hunter2@host/db", "mysql://me:hunter2@host/db"] {
            let shown = Target::parse(url).map(|target| format!("{target:?}"));
            assert!(shown.is_ok_and(|shown| !shown.contains("hunter2")), "{url}");
        }
        let error = Target::parse("postgres://me:hunter2@host:port/db").map(drop).expect_err("odd");
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }

    #[test]
    #[cfg(all(feature = "postgres", feature = "mysql"))]
    fn a_url_may_name_several_hosts_each_with_a_port_of_its_own() {
        for (url, place) in [
            ("postgres://me@a,b:5433,c/db", "postgres://a:5432,b:5433,c:5432/db"),
            ("postgres://me:x,y@[::1]:1,[::2]:2/db", "postgres://[::1]:1,[::2]:2/db"),
            ("postgres://a,b/db?sslmode=require", "postgres://a:5432,b:5432/db"),
            ("mysql://me:x@a:3307,b/db", "mysql://a:3307,b:3306/db"),
        ] {
            let shown = Target::parse(url).map(|target| format!("{target:?}"));
            assert_eq!(shown.ok(), Some(format!("Target({place:?})")), "{url}");
        }
        for (url, why) in [
            ("postgres://a,,b/db", "empty"),
            ("postgres://a,/db", "empty"),
            ("postgres://me:x@,b/db", "empty"),
            ("postgres://a,:5433/db", "empty"),
            ("postgres://a:1,a:1/db", "twice"),
            ("postgres://a:1,b:x/db", "port"),
            ("postgres://a,b/db?host=c", "several hosts"),
            ("postgres://a,b/db?port=1", "several hosts"),
            ("mysql://a,b/db?socket=/tmp/s", "several hosts"),
            ("mysql://a,b", "database"),
            ("mysql://a,b/db?galera=single-writer", "several hosts"),
            ("postgres://a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q/db", "17 hosts"),
        ] {
            let error = Target::parse(url).map(drop).expect_err(url).to_string();
            assert!(error.contains(why), "{url}: {error}");
        }
        let secret = Target::parse("postgres://me:hunter2@a,,b/db").map(drop).expect_err("empty");
        assert!(!secret.to_string().contains("hunter2"), "{secret}");
    }

    #[test]
    #[cfg(feature = "mysql")]
    fn whoever_vouches_for_a_single_writer_says_so_in_the_url() {
        let vouches = |url: &str| match Target::parse(url) {
            Ok(Target::Mysql { single_writer, .. }) => Some(single_writer),
            _ => None,
        };
        assert_eq!(vouches("mysql://me:x@host/db"), Some(false));
        assert_eq!(vouches("mariadb://me:x@host/db?galera=single-writer"), Some(true));
        assert_eq!(
            vouches("mysql://me:x@host/db?ssl-mode=required&galera=single-writer"),
            Some(true)
        );
    }
}
