//! What the driver does when a handle says something.
//!
//! Assumes: a handle that is gone wants nothing any more.
//! Promises: nothing here waits. When the last handle is gone, everything is let go.

use incumbent_protocol::history::Event;
use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::time::Time;
use tokio::sync::oneshot;

use super::command::Command;
use super::seat::Seat;
use super::{CLOSE_MAX, Driver};
use crate::clock;
use crate::contest::Contest;
use crate::error::Error;
use crate::health::Fitness;

impl Driver {
    pub(super) fn obey(&mut self, command: Option<Command>) {
        let now = clock::now();
        let Some(command) = command else {
            self.deserted = true;
            return self.close(now, None);
        };
        match command {
            Command::Enter { election, contest, done } => {
                let _ = done.send(self.enter(&election, &contest, now));
            }
            Command::Rank { election, done } => {
                self.seat(&election, |seat| drop(done.send(seat.rank(now))));
            }
            Command::Pulse { election, done } => {
                self.seat(&election, |seat| drop(done.send(seat.report.pulse())));
            }
            Command::Office(errand) => self.errands.push_back(errand),
            Command::Close { done } => self.close(now, Some(done)),
            Command::Work { election, term, began, at } => {
                if let Some(history) = &mut self.history {
                    let event = if began {
                        Event::WorkBegan { election, term }
                    } else {
                        Event::WorkEnded { election, term }
                    };
                    history.write_at(at, event);
                }
            }
            // Nobody would be left to renew it.
            Command::Campaign { winner, .. } if self.closing.is_some() => {
                let _ = winner.send(Err(Error::Closed));
            }
            Command::Campaign { election, winner } => {
                self.seat(&election, |seat| seat.campaign(winner));
            }
            Command::Observe { election, feed } => {
                self.seat(&election, |seat| seat.observe(feed));
            }

            Command::Drain { election, to, done } => {
                self.seat(&election, |seat| seat.drain(now, to, done));
            }
            Command::Fit { unfit } => self.fit(now, unfit),
            Command::Monitor(monitor) => {
                let fitness = monitor.fitness();
                self.monitor = Some(monitor);
                self.examined(&fitness);
            }
            Command::Resign { election, term, done } => {
                self.seat(&election, |seat| seat.resign(now, term, done));
            }
            // Each counts anew when it is attended to.
            Command::Recount => drop(self.seats.values_mut()),
        }
    }

    fn enter(
        &mut self,
        election: &ElectionName,
        contest: &Contest,
        now: Time,
    ) -> Result<(), Error> {
        let make = || Seat::new(election.clone(), self.me.clone(), contest.clone(), now);
        let seat = self.seats.enter(election, make);
        if let Some(nominations) = &self.nominations {
            seat.awaits_nomination(now, nominations);
        }
        seat.fit(now, self.unfit.clone());
        if seat.contest == *contest {
            Ok(())
        } else {
            Err(Error::OtherTiming { election: seat.election.to_string() })
        }
    }

    pub(super) fn seat(&mut self, election: &ElectionName, act: impl FnOnce(&mut Seat)) {
        if let Some(seat) = self.seats.get_mut(election) {
            act(seat);
        }
    }

    fn fit(&mut self, now: Time, unfit: Option<String>) {
        self.seats.values_mut().for_each(|seat| seat.fit(now, unfit.clone()));
        self.unfit = unfit;
    }

    pub(super) fn examined(&mut self, fitness: &Fitness) {
        let unfit = fitness.reason().map(Into::into);
        self.fit(clock::now(), unfit);
    }

    fn close(&mut self, now: Time, done: Option<oneshot::Sender<()>>) {
        let until = now + (self.default_timeout * 2).min(CLOSE_MAX);
        let (_, waiting) = self.closing.get_or_insert((until, Vec::new()));
        waiting.extend(done);
        for seat in self.seats.values_mut() {
            seat.close();
        }
    }
}
