//! Why a candidate leads or does not.
//!
//! Assumes: as for all looks: a few reads, one after the other.
//! Promises: decides nothing and changes nothing; works whoever is down.

use std::collections::BTreeMap;

use incumbent_protocol::explain::{Cause, explain, held_up};
use incumbent_protocol::identity::{CandidateId, CandidateName, ElectionName};
use incumbent_protocol::lease::row::{Record, Snapshot};
use incumbent_protocol::roll::Peer;
use incumbent_protocol::rules::Expiry;

use super::Backend;
use crate::driver::Errand;
use crate::error::Error;
use crate::store::holder::LockHolder;

/// What an explanation is drawn from.
struct Field {
    snapshot: Snapshot,
    peers: Vec<Peer>,
    line: Vec<CandidateId>,
    /// Who holds it up, if that can be seen.
    holders: Result<Vec<LockHolder>, Error>,
}

impl Field {
    fn explain(&self, name: &CandidateName) -> Vec<Cause> {
        let causes = explain(name, &self.snapshot, &self.peers, &self.line);
        let holders = match &self.holders {
            Ok(holders) => holders,
            Err(error) => {
                let unseen = Cause::LocksUnseen { why: error.to_string() };
                return causes.into_iter().chain([unseen]).collect();
            }
        };
        // Of some it is known that they keep a lock that elections wait for.
        let (sure, perhaps): (Vec<_>, Vec<_>) =
            holders.iter().partition(|holder| holder.end.is_some());
        let mut causes = held_up(causes, sure.iter().map(ToString::to_string));
        let perhaps = perhaps.iter().map(|by| Cause::MayBeHeldUp { by: by.to_string() });
        causes.extend(perhaps);
        causes
    }
}

impl Backend {
    /// Why a candidate leads or does not: everything that speaks against it, what weighs most first.
    ///
    /// ```
    /// # async fn example() -> Result<(), incumbent::Error> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let url = format!("sqlite://{}/elections.db", folder.path().display());
    /// use incumbent::{Backend, Cause, Config};
    ///
    /// let backend = Backend::open_with(&url, &Config::new().name("host-1")).await?;
    /// let leadership = backend.election("billing").await?.campaign().await?;
    /// let causes = backend.explain("billing", "host-1").await?;
    /// assert!(matches!(causes[0], Cause::Leads { .. }));
    /// let causes = backend.explain("billing", "host-2").await?;
    /// assert_eq!(causes[0], Cause::NeverSeen);
    /// # drop(leadership); backend.close().await;
    /// # Ok(()) }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
    /// ```
    pub async fn explain(&self, election: &str, name: &str) -> Result<Vec<Cause>, Error> {
        let name = CandidateName::new(name)?;
        Ok(self.field(election).await?.explain(&name))
    }

    /// The same for everybody who takes part, or did within a day, by name.
    pub async fn explanations(
        &self,
        election: &str,
    ) -> Result<BTreeMap<CandidateName, Vec<Cause>>, Error> {
        let field = self.field(election).await?;
        let holder = field.snapshot.record.as_ref().map(|record| &record.holder.name);
        let names = field.peers.iter().map(|peer| &peer.id.name).chain(holder);
        Ok(names.map(|name| (name.clone(), field.explain(name))).collect())
    }

    async fn field(&self, election: &str) -> Result<Field, Error> {
        let name = ElectionName::new(election)?;
        let look = |done| Errand::Look { election: Some(name.clone()), done };
        let mut found = self.ask(look).await?;
        let (_, snapshot) = found.pop().ok_or(Error::Closed)?;
        let mut holders = self.lock_holders().await;
        if let Ok(holders) = &mut holders {
            holders.retain(|one| one.election.as_ref().is_none_or(|it| *it == name));
        }
        let peers = self.candidates(election).await?;
        // A roster may be left over from a time when the election was held by rounds.
        let by_lease = |record: &Record| record.rules.expiry() != Expiry::Rounds;
        let line = if snapshot.record.as_ref().is_some_and(by_lease) {
            Vec::new()
        } else {
            let roster = self.members(election).await?;
            roster.live().map(|member| member.candidate.clone()).collect()
        };
        Ok(Field { snapshot, peers, line, holders })
    }
}
