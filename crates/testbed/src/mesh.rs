//! A network of peers on one host in which every connection can be broken on purpose.
//!
//! Assumes that the runtime which started it lives as long as it does, that peers are numbered from
//! one, and that each dials the others where its own list says. Promises that every ordered pair of
//! peers has a proxy of its own, so that whatever one says to another can be withheld, and nothing
//! else.

use std::net::{Ipv4Addr, SocketAddr};

use crate::port;
use crate::proxy::{Proxy, Way};

/// The network.
#[derive(Debug)]
pub struct Mesh {
    ports: Vec<u16>,
    /// By who dials and who is dialled; nobody dials itself.
    proxies: Vec<Vec<Option<Proxy>>>,
}

impl Mesh {
    /// So many ports to listen at, without a network.
    pub fn ports(peers: usize) -> anyhow::Result<Vec<u16>> {
        (0..peers).map(|_| port::free()).collect()
    }

    /// Starts all proxies among so many peers.
    pub async fn start(peers: usize) -> anyhow::Result<Self> {
        let ports = Self::ports(peers)?;
        let mut proxies = Vec::new();
        for from in 0..peers {
            let mut row = Vec::new();
            for (to, port) in ports.iter().enumerate() {
                let upstream = SocketAddr::from((Ipv4Addr::LOCALHOST, *port));
                row.push(if from == to { None } else { Some(Proxy::start(upstream).await?) });
            }
            proxies.push(row);
        }
        Ok(Self { ports, proxies })
    }

    /// How many peers there are.
    pub fn peers(&self) -> usize {
        self.ports.len()
    }

    /// Where this peer listens, with its number: `2@127.0.0.1:20001`.
    pub fn own(&self, peer: usize) -> String {
        format!("{peer}@127.0.0.1:{}", self.ports[peer - 1])
    }

    /// All peers as this one is to dial them, with their numbers, parted by commas.
    pub fn list(&self, peer: usize) -> String {
        let row = self.proxies[peer - 1].iter().zip(&self.ports).enumerate();
        let seats = row.map(|(at, (proxy, port))| {
            let port = proxy.as_ref().map_or(*port, Proxy::port);
            format!("{}@127.0.0.1:{port}", at + 1)
        });
        seats.collect::<Vec<_>>().join(",")
    }

    /// Nothing that one peer says reaches the other; what the other says does, over connections that
    /// are there already. The end of a connection is not heard of either.
    pub fn mute(&self, from: usize, to: usize) {
        self.silence(from, to, Way::ToServer);
        self.silence(to, from, Way::ToClient);
    }

    /// Neither of two peers hears the other.
    pub fn part(&self, one: usize, other: usize) {
        self.silence(one, other, Way::Both);
        self.silence(other, one, Way::Both);
    }

    /// Nobody of these hears anybody else, and the other way round.
    pub fn split(&self, side: &[usize]) {
        for one in 1..=self.peers() {
            for other in (one + 1)..=self.peers() {
                if side.contains(&one) != side.contains(&other) {
                    self.part(one, other);
                }
            }
        }
    }

    /// Everybody hears everybody again, over new connections where something was withheld.
    pub fn heal(&self) {
        for proxy in self.proxies.iter().flatten().flatten() {
            proxy.silence(Way::None);
        }
    }

    /// How many bytes were delivered in all.
    pub fn bytes(&self) -> u64 {
        let proxies = self.proxies.iter().flatten().flatten();
        proxies.map(|proxy| proxy.bytes().0 + proxy.bytes().1).sum()
    }

    fn silence(&self, from: usize, to: usize, way: Way) {
        if let Some(proxy) = &self.proxies[from - 1][to - 1] {
            proxy.silence(way);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn everybody_has_a_list_of_its_own_in_which_only_it_stands_itself() {
        let mesh = Mesh::start(3).await.expect("ports");
        let lists: Vec<String> = (1..=3).map(|peer| mesh.list(peer)).collect();
        for (at, list) in lists.iter().enumerate() {
            assert_eq!(list.split(',').count(), 3);
            let own: Vec<_> = (1..=3).filter(|peer| list.contains(&mesh.own(*peer))).collect();
            assert_eq!(own, [at + 1]);
        }
    }
}
