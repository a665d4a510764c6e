//! What a `ring://` or `bully://` URL says: who the peers are, who of them this process is, and how
//! they pick one of them.
//!
//! Assumes: nothing; URLs come from people.
//! Promises: the same URL may be given to every process: each finds out which of the listed addresses
//! is its own. Whatever cannot be understood is an error that says what would be right.
//!
//! | file | what |
//! |---|---|
//! | [`sitting`] | which of the listed addresses is this process's own |

use std::path::PathBuf;
use std::time::Duration;

use incumbent_protocol::caucus::Rejoin;
use incumbent_protocol::node::NodeId;

use super::address::{Peers, Seat};
use super::discovery::resolve_all;
use super::secret::Secret;
use super::way::{Scheme, Way};
use crate::error::Error;

mod sitting;

pub(super) use sitting::Sitting;

/// How it is found out that a node is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detection {
    /// After a fixed time.
    Timeout,
    /// After a time that follows how long answers take.
    Phi,
}

/// How long a leader may be silent before it is suspected, unless another span is set.
const HEARTBEAT: Duration = Duration::from_millis(700);

/// How long a message takes at most, unless another span is set. More is safe, only slow.
const MESSAGE: Duration = Duration::from_millis(50);

/// What may stand behind the question mark.
const OPTIONS: &str =
    "me, listen, data, secret-file, heartbeat, detector, message-time, return, voters, discover";

/// What a URL says.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) scheme: Scheme,
    /// The peers as they are listed; names are not resolved yet.
    pub(crate) list: String,
    /// Whether one name stands for many addresses.
    pub(crate) by_dns: bool,
    /// How many of the listed vote; all if it is left out.
    pub(crate) voters: Option<usize>,
    /// Under which address the others know this process.
    pub(crate) me: Option<String>,
    /// Where it listens, if that is another one.
    pub(crate) listen: Option<String>,
    /// Where it keeps its promises.
    pub(crate) data: Option<PathBuf>,
    pub(crate) secret_file: Option<PathBuf>,
    pub(crate) secret: Option<Secret>,
    pub(crate) heartbeat: Duration,
    pub(crate) detection: Detection,
    pub(crate) message: Duration,
    pub(crate) rejoin: Rejoin,
    pub(crate) unratified: bool,
}

impl Place {
    /// Reads what stands behind `ring:` or `bully:`.
    pub(crate) fn parse(scheme: Scheme, rest: &str) -> Result<Place, String> {
        let rest = rest.strip_prefix("//").ok_or("two slashes are missing after the colon")?;
        let (list, options) = rest.split_once('?').unwrap_or((rest, ""));
        let mut place = Place {
            scheme,
            list: list.trim_end_matches('/').to_owned(),
            by_dns: false,
            voters: None,
            me: None,
            listen: None,
            data: None,
            secret_file: None,
            secret: None,
            heartbeat: HEARTBEAT,
            detection: Detection::Timeout,
            message: MESSAGE,
            rejoin: Rejoin::Sticky,
            unratified: false,
        };
        for option in options.split('&').filter(|option| !option.is_empty()) {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            place.set(key, value)?;
        }
        if place.by_dns && place.voters.is_none() {
            let why = "with discover=dns say how many vote with voters=N: a name may not stand for all of them yet";
            return Err(why.to_owned());
        }
        if !place.by_dns {
            Peers::parse(&place.list).map_err(|error| error.to_string())?;
        }
        Ok(place)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let text = || Some(value.to_owned()).filter(|it| !it.is_empty());
        let some = || text().ok_or(format!("the option {key} needs a value"));
        match (key, value) {
            ("me", _) => self.me = Some(some()?),
            ("listen", _) => self.listen = Some(some()?),
            ("data", _) => self.data = Some(some()?.into()),
            ("secret-file", _) => self.secret_file = Some(some()?.into()),
            ("heartbeat", _) => self.heartbeat = millis(key, value)?,
            ("message-time", _) => self.message = millis(key, value)?,
            ("detector", "timeout") => self.detection = Detection::Timeout,
            ("detector", "phi") => self.detection = Detection::Phi,
            ("detector", _) => return Err("the option detector takes timeout or phi".to_owned()),
            ("return", "sticky") => self.rejoin = Rejoin::Sticky,
            ("return", "preempt") => self.rejoin = Rejoin::Preempting,
            ("return", _) => return Err("the option return takes sticky or preempt".to_owned()),
            ("discover", "dns") => self.by_dns = true,
            ("discover", _) => return Err("the option discover takes dns only".to_owned()),
            ("unratified", "" | "true") => self.unratified = true,
            ("voters", _) => {
                let count = value.parse().ok().filter(|count| *count > 0);
                let wrong = "the option voters takes a number: so many of the first listed vote";
                self.voters = Some(count.ok_or(wrong)?);
            }
            _ => return Err(format!("unknown option {key:?}; known are {OPTIONS}")),
        }
        Ok(())
    }

    /// The peers, with names resolved where one stands for many.
    pub(super) async fn seats(&self) -> Result<Vec<Seat>, Error> {
        let peers = if self.by_dns {
            resolve_all(&self.list).await.map_err(|error| error.to_string())
        } else {
            Peers::parse(&self.list).map_err(|error| error.to_string())
        };
        let seats = peers.map(Peers::into_seats).map_err(|problem| self.wrong(problem))?;
        if let Some(voters) = self.voters.filter(|voters| self.by_dns && *voters != seats.len()) {
            // A part of them must not take itself for the whole.
            return Err(self.wrong(format!(
                "{voters} are to vote, but the name stands for {} addresses: wait until it stands for all of them",
                seats.len()
            )));
        }
        match self.voters.filter(|voters| *voters > seats.len()) {
            Some(voters) => Err(self.wrong(format!(
                "voters={voters} is more than the {} of the list: name more peers or fewer voters",
                seats.len()
            ))),
            None => Ok(seats),
        }
    }

    /// How this process picks leaders.
    pub(super) const fn way(&self) -> Way {
        Way { scheme: self.scheme, ratified: !self.unratified }
    }

    /// Those of the listed who vote.
    pub(super) fn voters<'a>(&self, seats: &'a [Seat]) -> impl Iterator<Item = NodeId> + 'a {
        seats.iter().take(self.voters.unwrap_or(usize::MAX)).map(|seat| seat.id)
    }

    pub(super) fn wrong(&self, problem: String) -> Error {
        Error::Open { place: self.to_string(), problem }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}://{}", self.scheme.as_str(), self.list)
    }
}

/// Reads a span such as `700ms`, `2s` or `700`.
fn millis(key: &str, value: &str) -> Result<Duration, String> {
    let (number, unit) =
        value.split_at(value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len()));
    let unit = match unit {
        "" | "ms" => 1,
        "s" => 1_000,
        _ => 0,
    };
    let millis = number.parse::<u64>().ok().map(|number| number.saturating_mul(unit));
    let span = millis.filter(|millis| (1..=3_600_000).contains(millis)).map(Duration::from_millis);
    span.ok_or(format!("the option {key} takes a span such as 700ms or 2s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_for_many_must_say_how_many_vote() {
        let error =
            Place::parse(Scheme::Ring, "//peers.example?discover=dns").expect_err("how many");
        assert!(error.contains("voters=N"), "{error}");
        assert!(Place::parse(Scheme::Ring, "//peers.example?discover=dns&voters=3").is_ok());
    }

    #[tokio::test]
    async fn a_part_of_those_who_vote_is_not_taken_for_the_whole() {
        let url = "//localhost?discover=dns&voters=200";
        let place = Place::parse(Scheme::Bully, url).expect("a place");
        let error = place.seats().await.expect_err("too few").to_string();
        assert!(error.contains("200 are to vote"), "{error}");
    }
}
