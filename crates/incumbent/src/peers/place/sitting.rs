//! Which of the listed addresses is this process's own.
//!
//! Assumes: whoever is about to end lets go of its address within a few seconds.
//! Promises: a process that takes the place of one that is ending waits for its address. Where several
//! of the listed addresses are of this machine, the first that is free is taken.

use std::time::Duration;

use tokio::net::TcpListener;
use tokio::time::Instant;

use super::Place;
use crate::error::Error;
use crate::peers::address::{Peers, Seat};

/// How long a process that ends may take to let go of its address.
const ENDING: Duration = Duration::from_secs(4);

/// Who this process is, and its ear.
#[derive(Debug)]
pub(in crate::peers) struct Sitting {
    pub(crate) seat: Seat,
    pub(crate) listener: TcpListener,
    /// Whether it will be there again under the same address.
    pub(crate) stays: bool,
}

impl Place {
    /// Finds out who of the peers this process is, and listens there.
    pub(in crate::peers) async fn sit(&self, seats: &[Seat]) -> Result<Sitting, Error> {
        if let Some(me) = &self.me {
            return self.sit_as(seats, me).await;
        }
        if self.listen.is_some() {
            // Every process can listen there: that does not tell which of them it is.
            return Err(self.wrong(
                "whoever listens elsewhere than at a listed address must say which one is its own: add me=HOST:PORT"
                    .to_owned(),
            ));
        }
        let begun = Instant::now();
        let taken = loop {
            let mut taken = Vec::new();
            for seat in seats {
                match TcpListener::bind(&seat.address).await {
                    Ok(listener) => {
                        return Ok(Sitting { seat: seat.clone(), listener, stays: true });
                    }
                    Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
                        taken.push(seat.address.clone());
                    }
                    // An address of another machine.
                    Err(_) => {}
                }
            }
            // The only one of this machine: whoever has it may be ending.
            if taken.len() != 1 || seats.len() == 1 || begun.elapsed() > ENDING {
                break taken.pop();
            }
            tokio::time::sleep(ENDING / 20).await;
        };
        let Some(taken) = taken else {
            return Err(self.wrong(
                "none of the listed addresses is one of this machine: say which one is this process with me=HOST:PORT"
                    .to_owned(),
            ));
        };
        // All that are of this machine have their process: one more takes part without a vote.
        let host = taken.rsplit_once(':').map_or(taken.as_str(), |(host, _)| host);
        let listener = self.bind(&format!("{host}:0")).await?;
        let address = listener.local_addr().map_err(|error| self.wrong(error.to_string()))?;
        tracing::info!(%address, "every listed address of this machine has its process: this one contends without a vote");
        Ok(Sitting { seat: Seat::at(address.to_string()), listener, stays: false })
    }

    async fn sit_as(&self, seats: &[Seat], me: &str) -> Result<Sitting, Error> {
        let own = Peers::parse(me).map_err(|error| self.wrong(error.to_string()))?;
        let [own] = own.seats() else {
            return Err(self.wrong(format!("me={me} names several addresses")));
        };
        let listed = seats.iter().find(|seat| seat.address == own.address || seat.id == own.id);
        let seat = listed.unwrap_or(own).clone();
        let listener = self.bind(self.listen.as_deref().unwrap_or(&own.address)).await?;
        Ok(Sitting { seat, listener, stays: true })
    }

    /// Listens there, as soon as a predecessor that is ending has let go of it.
    async fn bind(&self, address: &str) -> Result<TcpListener, Error> {
        let begun = Instant::now();
        loop {
            match TcpListener::bind(address).await {
                Err(error)
                    if error.kind() == std::io::ErrorKind::AddrInUse
                        && begun.elapsed() < ENDING =>
                {
                    tokio::time::sleep(ENDING / 20).await;
                }
                bound => {
                    let wrong = |error| self.wrong(format!("cannot listen at {address}: {error}"));
                    return bound.map_err(wrong);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::way::Scheme;

    #[tokio::test(start_paused = true)]
    async fn a_seat_by_name_is_waited_for_while_whoever_has_it_is_ending() {
        let predecessor = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let own = predecessor.local_addr().expect("an address").to_string();
        let url = format!("//{own},127.0.0.2:1,127.0.0.3:1?me={own}");
        let place = Place::parse(Scheme::Ring, &url).expect("a place");
        let seats = place.seats().await.expect("seats");
        let error = place.sit(&seats).await.expect_err("it stays").to_string();
        assert!(error.contains(&format!("cannot listen at {own}")), "{error}");
        tokio::spawn(async move {
            tokio::time::sleep(ENDING / 8).await;
            drop(predecessor);
        });
        let sitting = place.sit(&seats).await.expect("a seat");
        assert_eq!(sitting.seat.address, own);
    }

    #[tokio::test(start_paused = true)]
    async fn the_only_seat_of_this_machine_is_waited_for_while_whoever_has_it_is_ending() {
        let predecessor = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let own = predecessor.local_addr().expect("an address").to_string();
        // The others are addresses that no machine has.
        let url = format!("//{own},240.0.0.1:7600,240.0.0.2:7600");
        let place = Place::parse(Scheme::Bully, &url).expect("a place");
        let seats = place.seats().await.expect("seats");
        tokio::spawn(async move {
            tokio::time::sleep(ENDING / 8).await;
            drop(predecessor);
        });
        let sitting = place.sit(&seats).await.expect("a seat");
        assert!(sitting.stays, "it took another seat: {}", sitting.seat.address);
        assert_eq!(sitting.seat.address, own);
    }
}
