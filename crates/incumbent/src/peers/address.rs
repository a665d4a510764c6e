//! The list of nodes in a URL.
//!
//! Assumes: nothing; lists come from people.
//! Promises: all nodes that read one list find the same numbers in it; whatever cannot be read is
//! an error that says what is expected.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use incumbent_protocol::node::NodeId;
use thiserror::Error;

/// Where nodes listen, unless their address says otherwise.
pub(crate) const PORT: u16 = 7600;

/// Most nodes in a list.
pub(crate) const MOST: usize = 256;

const SHAPE: &str = "a node is host:port, as 10.0.0.1:7600, [::1]:7600 or nodes.example:7600, with its number in \
    front if it has one (7@10.0.0.2:7600); several are parted by commas, neighbours may be written as a range \
    (10.0.1.1-20:7600), and the port may be left out if it is 7600";

/// A list of nodes that cannot be used. *Standing:* none was taken. *Retry:* with another list.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum AddressError {
    /// No list at all.
    #[error("the list of nodes is empty: {SHAPE}")]
    Empty,
    /// An entry.
    #[error("the node {entry:?} cannot be read, {problem}: {SHAPE}")]
    Entry {
        /// As it was given.
        entry: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// An address twice.
    #[error("the address {0} is in the list of nodes twice: name each node once")]
    Address(String),
    /// A number twice.
    #[error("the nodes {one} and {other} have the same number {id}: give each a number of its own")]
    Number {
        /// The number.
        id: NodeId,
        /// Who has it.
        one: String,
        /// Who has it, too.
        other: String,
    },
    /// Too many.
    #[error("the list of nodes has more than {MOST}: name fewer, others may look without voting")]
    Many,
}

/// A place for a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Seat {
    /// The number of whoever sits there.
    pub(crate) id: NodeId,
    /// Where it is dialled: `host:port`.
    pub(crate) address: String,
}

/// The nodes of a cluster, in the order of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Peers {
    seats: Vec<Seat>,
}

impl Peers {
    /// Reads a list such as `10.0.0.1:7600,7@10.0.0.2:7600,10.0.1.1-20:7600,[::1]:7600`.
    pub(crate) fn parse(list: &str) -> Result<Peers, AddressError> {
        if list.trim().is_empty() {
            return Err(AddressError::Empty);
        }
        let mut seats = Vec::new();
        for entry in list.split(',').map(str::trim) {
            read(entry, &mut seats)
                .map_err(|problem| AddressError::Entry { entry: entry.to_owned(), problem })?;
            if seats.len() > MOST {
                return Err(AddressError::Many);
            }
        }
        Peers::new(seats)
    }

    /// From seats of any origin, if no two are the same.
    pub(crate) fn new(seats: Vec<Seat>) -> Result<Peers, AddressError> {
        if seats.is_empty() {
            return Err(AddressError::Empty);
        }
        if seats.len() > MOST {
            return Err(AddressError::Many);
        }
        let mut addresses = BTreeMap::new();
        let mut numbers: BTreeMap<u128, &str> = BTreeMap::new();
        for Seat { id, address } in &seats {
            if addresses.insert(address, id).is_some() {
                return Err(AddressError::Address(address.clone()));
            }
            if let Some(one) = numbers.insert(id.number(), address) {
                let (one, other) = (one.to_owned(), address.clone());
                return Err(AddressError::Number { id: *id, one, other });
            }
        }
        Ok(Peers { seats })
    }

    /// The nodes.
    pub(crate) fn seats(&self) -> &[Seat] {
        &self.seats
    }

    /// The nodes, without the list.
    pub(crate) fn into_seats(self) -> Vec<Seat> {
        self.seats
    }
}

impl Seat {
    /// A seat whose number is the digest of its address.
    pub(crate) fn at(address: String) -> Seat {
        Seat { id: NodeId::of_address(&address), address }
    }
}

/// Reads one entry of a list; a range becomes several seats.
fn read(entry: &str, seats: &mut Vec<Seat>) -> Result<(), &'static str> {
    let (id, place) = match entry.rsplit_once('@') {
        Some((id, place)) => (Some(id.parse::<NodeId>()?), place),
        None => (None, entry),
    };
    let (host, port) = split(place)?;
    let hosts = hosts(host)?;
    if id.is_some() && hosts.len() > 1 {
        return Err("a range of nodes cannot have one number");
    }
    seats.extend(hosts.into_iter().map(|host| {
        let seat = Seat::at(format!("{host}:{port}"));
        Seat { id: id.unwrap_or(seat.id), ..seat }
    }));
    Ok(())
}

/// The host, in brackets if it had them, and the port.
pub(super) fn split(place: &str) -> Result<(&str, u16), &'static str> {
    let (host, port) = if place.starts_with('[') {
        let end = place.find(']').ok_or("the bracket is not closed")?;
        let (host, rest) = place.split_at(end + 1);
        match rest.strip_prefix(':') {
            Some(port) => (host, Some(port)),
            None if rest.is_empty() => (host, None),
            None => return Err("after the bracket comes a colon and the port"),
        }
    } else {
        match place.split_once(':') {
            Some((_, rest)) if rest.contains(':') => {
                return Err("an IPv6 address stands in brackets");
            }
            Some((host, port)) => (host, Some(port)),
            None => (place, None),
        }
    };
    let Some(port) = port else { return Ok((host, PORT)) };
    // Not as `parse` does it, which takes a plus sign.
    let port = Some(port).filter(|port| port.bytes().all(|b| b.is_ascii_digit()));
    match port.and_then(|port| port.parse().ok()) {
        None | Some(0) => Err("the port is a number from 1 to 65535"),
        Some(port) => Ok((host, port)),
    }
}

/// The hosts that the text names, each written in one way only: the number depends on it.
fn hosts(host: &str) -> Result<Vec<String>, &'static str> {
    if let Some(inner) = host.strip_prefix('[') {
        let inner = inner.trim_end_matches(']');
        let address: Ipv6Addr = inner.parse().map_err(|_| "this is no IPv6 address")?;
        return Ok(vec![format!("[{address}]")]);
    }
    if let Some(range) = range(host) {
        return range;
    }
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![address.to_string()]);
    }
    if host.is_empty() {
        return Err("it names no host");
    }
    if host.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return Err("this is no IPv4 address");
    }
    if is_name(host) {
        Ok(vec![host.to_ascii_lowercase()])
    } else {
        Err("this is no name of a host")
    }
}

/// `10.0.1.1-20`, if it looks like one.
fn range(host: &str) -> Option<Result<Vec<String>, &'static str>> {
    const WRONG: &str = "a range goes from a lower to a higher number, both at most 255";
    let (first, last) = host.split_once('-')?;
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if !digits(first) || !digits(last) || !first.contains('.') {
        return None;
    }
    let ends = first.parse::<Ipv4Addr>().ok().zip(last.parse::<u8>().ok());
    let Some((first, last)) = ends.filter(|(first, last)| first.octets()[3] <= *last) else {
        return Some(Err(WRONG));
    };
    let [a, b, c, least] = first.octets();
    Some(Ok((least..=last).map(|d| Ipv4Addr::new(a, b, c, d).to_string()).collect()))
}

fn is_name(host: &str) -> bool {
    let is_part = |part: &str| {
        (1..=63).contains(&part.len())
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    host.len() <= 253 && host.split('.').all(is_part)
}

#[cfg(test)]
mod tests;
