//! The elections that a candidate of `run` contends for: one, or with slots one of several.
//!
//! Assumes: all of them are on one backend, and renewed together.
//! Promises: at most one is led. A second one that is won in the same moment is let go of before
//! the first is worked under; a campaign for the others is withdrawn at once.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use incumbent::{Backend, Changes, Election, ElectionName, Error, Leadership, Pulse};

/// Where one can win.
#[derive(Debug)]
pub(crate) struct Field {
    base: String,
    elections: Vec<Election>,
    has_slots: bool,
}

/// A leadership, and the number of its slot if there are several.
#[derive(Debug)]
pub(crate) struct Won {
    pub(crate) leadership: Leadership,
    pub(crate) slot: Option<usize>,
}

/// The names of the elections, checked before anything is opened.
pub(crate) fn names(base: &str, slots: Option<u8>) -> Result<Vec<String>, Error> {
    let Some(slots) = slots else {
        return Ok(vec![base.to_owned()]);
    };
    let names: Vec<String> = (1..=slots).map(|slot| format!("{base}.{slot}")).collect();
    for name in &names {
        ElectionName::new(name)?;
    }
    Ok(names)
}

impl Field {
    /// Takes part in all of them, for now without wanting anything.
    pub(crate) async fn enter(
        backend: &Backend,
        base: &str,
        slots: Option<u8>,
    ) -> Result<Field, Error> {
        let mut elections = Vec::new();
        for name in names(base, slots)? {
            elections.push(backend.election(&name).await?);
        }
        Ok(Field { base: base.to_owned(), elections, has_slots: slots.is_some() })
    }

    /// Whether it contends in each of them.
    pub(crate) async fn pulses(&self) -> Result<Vec<Pulse>, Error> {
        let mut pulses = Vec::with_capacity(self.elections.len());
        for election in &self.elections {
            pulses.push(election.pulse().await?);
        }
        Ok(pulses)
    }

    /// What happens in each of them.
    pub(crate) fn observe(&self) -> Result<Vec<Changes>, Error> {
        self.elections.iter().map(Election::observe).collect()
    }

    /// What it is called as a whole.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// What one of them is called.
    pub(crate) fn name(&self, index: usize) -> &str {
        self.elections.get(index).map_or(&self.base, |election| election.name().as_str())
    }

    /// In words.
    pub(crate) fn describe(&self) -> String {
        match self.elections.len() {
            _ if !self.has_slots => self.base.clone(),
            1 => format!("{}.1", self.base),
            slots => format!("one of {0}.1 to {0}.{slots}", self.base),
        }
    }

    /// Contends until one is won.
    pub(crate) async fn win(&self) -> Result<Won, Error> {
        let mut ended = first(self.elections.iter().map(Election::campaign)).await.into_iter();
        let (mut won, mut failed) = (None, None);
        for (index, end) in &mut ended {
            match end {
                Ok(leadership) if won.is_none() => {
                    won = Some(Won { leadership, slot: self.has_slots.then_some(index + 1) });
                }
                Ok(spare) => {
                    // If the store cannot be told, its lease runs out without any work under it.
                    let _ = spare.resign().await;
                }
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        won.ok_or_else(|| failed.unwrap_or(Error::Closed))
    }
}

/// Waits until at least one of the futures is done, and gives up the others.
async fn first<T>(futures: impl Iterator<Item = impl Future<Output = T>>) -> Vec<(usize, T)> {
    let mut futures: Vec<Pin<Box<_>>> = futures.map(Box::pin).collect();
    poll_fn(|context| {
        let mut done = Vec::new();
        for (index, future) in futures.iter_mut().enumerate() {
            if let Poll::Ready(output) = future.as_mut().poll(context) {
                done.push((index, output));
            }
        }
        if done.is_empty() { Poll::Pending } else { Poll::Ready(done) }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_elections_with_a_number() {
        assert_eq!(names("billing", None).expect("a name"), ["billing"]);
        assert_eq!(names("billing", Some(2)).expect("names"), ["billing.1", "billing.2"]);
        assert_eq!(names("billing", Some(1)).expect("a name"), ["billing.1"]);
    }

    #[test]
    fn a_name_must_leave_room_for_the_number_of_its_slot() {
        assert!(names(&"x".repeat(126), Some(9)).is_ok());
        assert!(names(&"x".repeat(126), Some(10)).is_err());
    }

    #[tokio::test]
    async fn everything_that_is_done_at_once_is_told_at_once() {
        let done = [true, false, true];
        let futures = done.into_iter().map(async |done| {
            if !done {
                std::future::pending::<()>().await;
            }
        });
        assert_eq!(first(futures).await, [(0, ()), (2, ())]);
    }
}
