//! Ports of this host that are free.
//!
//! Assumes: nobody else takes one of them between the look and its use, which is a matter of
//! milliseconds.
//! Promises: different ones, of the loopback address only.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;

use anyhow::Context;
use incumbent::Protocol;

/// So many addresses at which nobody listens.
pub(crate) fn free(count: usize) -> anyhow::Result<Vec<SocketAddr>> {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    // All are held until the last is found, so that each is another one.
    let taken = std::iter::repeat_with(|| TcpListener::bind(any)).take(count);
    let taken = taken.collect::<Result<Vec<_>, _>>().context("no port is free")?;
    let free = taken.iter().map(TcpListener::local_addr);
    free.collect::<Result<_, _>>().context("no port is free")
}

/// The URL of peers that listen at these addresses and keep their promises in this folder.
pub(crate) fn url(protocol: Protocol, addresses: &[SocketAddr], data: &Path) -> String {
    let list: Vec<_> = addresses.iter().map(ToString::to_string).collect();
    format!("{}://{}?data={}", protocol.as_str(), list.join(","), data.display())
}
