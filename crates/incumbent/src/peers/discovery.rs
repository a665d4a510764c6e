//! Nodes by a name that has several addresses.
//!
//! Assumes: the name leads to all nodes and to nothing else, as that of a headless service does.
//! Promises: every node finds the same numbers, whatever the order of the answers.

use std::io;

use thiserror::Error;
use tokio::net::lookup_host;

use super::address::{self, AddressError, Peers, Seat};

/// A name that leads to no nodes. *Standing:* none was taken. *Retry:* after a pause, or with
/// another name.
#[derive(Debug, Error)]
pub(crate) enum DiscoveryError {
    /// Nobody knows it.
    #[error("no addresses of the nodes are found by the name {name:?}: {error}")]
    Name {
        /// As it was given.
        name: String,
        /// What the system says.
        error: io::Error,
    },
    /// What it leads to.
    #[error(transparent)]
    Address(#[from] AddressError),
}

/// All nodes behind a name such as `nodes.example:7600`: one for each address, its number the digest
/// of `ip:port`. In the order of the addresses.
pub(crate) async fn resolve_all(name: &str) -> Result<Peers, DiscoveryError> {
    let entry = || name.to_owned();
    let (host, port) = address::split(name.trim())
        .map_err(|problem| AddressError::Entry { entry: entry(), problem })?;
    let found = lookup_host(format!("{host}:{port}")).await;
    let mut found: Vec<_> =
        found.map_err(|error| DiscoveryError::Name { name: entry(), error })?.collect();
    found.sort_unstable();
    found.dedup();
    let seats = found.into_iter().map(|place| Seat::at(place.to_string())).collect();
    Ok(Peers::new(seats)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_address_of_a_name_is_a_node() {
        let peers = resolve_all("localhost").await.expect("every host has it");
        assert!(peers.seats().iter().any(|seat| *seat == Seat::at("127.0.0.1:7600".to_owned())));
        let literal = resolve_all("[::1]:99").await.expect("no name");
        assert_eq!(literal.seats(), [Seat::at("[::1]:99".to_owned())]);
    }

    #[tokio::test]
    async fn a_name_that_leads_nowhere_is_an_error_that_shows_it() {
        let error = resolve_all("nodes.invalid:7600").await.expect_err("reserved").to_string();
        assert!(error.contains("nodes.invalid"), "{error}");
        assert!(matches!(resolve_all("a:b").await, Err(DiscoveryError::Address(_))));
    }
}
