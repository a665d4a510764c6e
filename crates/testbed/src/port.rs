//! Free ports.
//!
//! Assumes that few others on this machine take ports below the range that the kernel hands out by
//! itself. Promises a port of 127.0.0.1 that was free a moment ago, outside of that range: a port
//! inside could be taken by any outgoing connection while its server is down, and a client that
//! keeps trying to connect to it can even end up connected to itself. No port is given out twice by
//! one process, so that a server that is down finds its own free again.

use std::collections::BTreeSet;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;

/// Where the search begins; lower ports belong to well-known services.
const LOWEST: u16 = 15_000;

/// What Linux uses unless told otherwise.
const USUAL_RANGE_START: u16 = 32_768;

/// How many ports are tried before the kernel is asked for one.
const ATTEMPTS: usize = 200;

/// The ports of this process so far.
static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// A port that was free a moment ago. Somebody may take it before it is used, so a start that fails
/// for that reason is to be repeated with another.
pub fn free() -> anyhow::Result<u16> {
    let end = range_start();
    if end > LOWEST {
        for _ in 0..ATTEMPTS {
            let chance = getrandom::u32().context("the system has no randomness")?;
            let offset = chance % u32::from(end - LOWEST);
            let port = LOWEST + u16::try_from(offset).context("an offset below 65,536")?;
            let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
            let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
            if bound.is_ok() && given.insert(port) {
                return Ok(port);
            }
        }
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port is free")?;
    Ok(listener.local_addr()?.port())
}

/// The first port of the range from which outgoing connections are served.
fn range_start() -> u16 {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let first = text.split_whitespace().next().and_then(|word| word.parse().ok());
    first.unwrap_or(USUAL_RANGE_START)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_port_can_be_bound_and_is_not_one_of_outgoing_connections() {
        let port = free().expect("some port is free");
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("it is free");
        assert!(port < range_start() || range_start() <= LOWEST);
    }
}
