//! What a process sees of elections: their sheets, as a majority keeps them or, where nothing is
//! ratified, as this process believes.
//!
//! Assumes: nothing.
//! Promises: many elections are looked at in few messages, none of which becomes too long.

use std::collections::{BTreeMap, BTreeSet};

use incumbent_protocol::controls::Controls;
use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::lease::row::Snapshot;
use incumbent_protocol::roll::{Peer, Presence};
use incumbent_protocol::time::StoreTime;

use super::{Store, TOGETHER, key, named};
use crate::clock;
use crate::error::Error;
use crate::peers::message::Key;
use crate::peers::sheet::Sheet;
use crate::store::arbiter::{Arbiter, Snapshots};

impl Store {
    /// The sheets of these elections, and the time.
    pub(super) async fn sheets(
        &mut self,
        names: &[&ElectionName],
    ) -> Result<(BTreeMap<ElectionName, Sheet>, StoreTime), Error> {
        let names: BTreeSet<&ElectionName> = names.iter().copied().collect();
        let mut sheets = BTreeMap::new();
        if let Some(hints) = self.hints.as_mut().filter(|_| self.contends) {
            for name in names {
                sheets.insert(name.clone(), hints.sheet(name).await);
            }
            return Ok((sheets, clock::wall()));
        }
        if self.hints.is_some() {
            return self.hearsay(&names.into_iter().collect::<Vec<_>>()).await;
        }
        let names: Vec<&ElectionName> = names.into_iter().collect();
        let mut now = self.quorum.now();
        for some in names.chunks(TOGETHER) {
            let keys: Vec<Key> = some.iter().map(|name| key(name)).collect();
            let (values, at) = self.quorum.read(keys).await?;
            now = at;
            for (name, value) in some.iter().zip(values) {
                sheets.insert((*name).clone(), Sheet::read(value.as_ref())?);
            }
        }
        Ok((sheets, now))
    }

    /// Who says that it leads: all that an onlooker can see if nothing is ratified.
    async fn hearsay(
        &mut self,
        names: &[&ElectionName],
    ) -> Result<(BTreeMap<ElectionName, Sheet>, StoreTime), Error> {
        let rolls = self.roll(&[], names).await?;
        let now = clock::wall();
        let leads = |peer: &&Peer| {
            peer.is_present(now) && matches!(peer.presence, Presence::Leading | Presence::Draining)
        };
        let mut sheets = BTreeMap::new();
        for (name, peers) in rolls {
            let leader = peers.iter().filter(leads).max_by_key(|peer| peer.beaten_at);
            if let Some(hints) = &mut self.hints {
                let sheet = hints.seen(&name, leader.map(|peer| peer.id.clone()));
                sheets.insert(name, sheet);
            }
        }
        Ok((sheets, now))
    }

    /// Every election that was ever held here.
    pub(super) async fn elections(&mut self) -> Result<Vec<ElectionName>, Error> {
        if let Some(hints) = &self.hints {
            return Ok(hints.elections());
        }
        Ok(self.quorum.list().await?.into_iter().filter_map(named).collect())
    }

    pub(super) async fn sheet(&mut self, election: &ElectionName) -> Result<Sheet, Error> {
        let (mut sheets, _) = self.sheets(&[election]).await?;
        Ok(sheets.remove(election).unwrap_or_default())
    }
}

pub(super) fn snapshots<'a>(
    sheets: impl Iterator<Item = (ElectionName, &'a Sheet)>,
    now: StoreTime,
) -> Snapshots {
    let found = sheets.map(|(name, sheet)| (name, sheet.page.snapshot(now))).collect();
    let controls = Controls::default();
    let blank = Snapshot { record: None, now, holder_died: false, replaced: None, controls };
    Snapshots { found, blank }
}
