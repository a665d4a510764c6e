//! The resource that leaders write to, which checks their tokens.
//!
//! Assumes: it decides one write after the other.
//! Promises: with the fence up, no write is accepted under a token that is older than one met
//! before. With the fence down everything is accepted, and what should not have been is counted.

use incumbent_protocol::identity::CandidateName;
use incumbent_protocol::term::Term;

use crate::plant::Plant;

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Write {
    /// It was accepted.
    Accepted {
        /// Though a newer token had been met.
        stale: bool,
    },
    /// It was refused because this newer token had been met.
    Refused { newest: Term },
}

/// The resource of one election.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resource {
    newest: Option<Term>,
    last: Option<CandidateName>,
}

impl Resource {
    /// Decides about a write.
    pub(crate) fn write(
        &mut self,
        term: Term,
        from: &CandidateName,
        fenced: bool,
        plant: Plant,
    ) -> Write {
        let newer = self.newest.filter(|&newest| newest > term);
        let trusted = plant == Plant::FenceByName && self.last.as_ref() == Some(from);
        if let Some(newest) = newer.filter(|_| fenced && !trusted) {
            return Write::Refused { newest };
        }
        self.newest = self.newest.max(Some(term));
        if self.last.as_ref() != Some(from) {
            self.last = Some(from.clone());
        }
        Write::Accepted { stale: newer.is_some() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incumbent_protocol::term::Recorded;

    fn write(resource: &mut Resource, term: u64, fenced: bool) -> Write {
        let name = CandidateName::new("a").expect("name");
        let term = Term::recorded(term).expect("term");
        resource.write(term, &name, fenced, Plant::Nothing)
    }

    #[test]
    fn an_older_token_is_refused_and_an_equal_one_is_not() {
        let mut resource = Resource::default();
        assert_eq!(write(&mut resource, 7, true), Write::Accepted { stale: false });
        assert_eq!(write(&mut resource, 7, true), Write::Accepted { stale: false });
        assert!(matches!(write(&mut resource, 6, true), Write::Refused { .. }));
    }

    #[test]
    fn without_a_fence_an_older_token_is_accepted_and_counted() {
        let mut resource = Resource::default();
        write(&mut resource, 7, false);
        assert_eq!(write(&mut resource, 6, false), Write::Accepted { stale: true });
    }
}
