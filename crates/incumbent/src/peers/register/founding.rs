//! Who votes on the registers: how that is first agreed upon, and how news of it is taken.
//!
//! Assumes: nothing; a voter may belong to another cluster, and a list may differ from those of others.
//! Promises: nothing is asked of voters before all of them are known by the disks that they keep. An
//! electorate of another cluster is never adopted, and an older one never again.

use std::collections::{BTreeMap, BTreeSet};

use incumbent_protocol::node::NodeId;
use incumbent_protocol::ratify::Electorate;
use incumbent_protocol::ratify::voter::Inventory;

use super::{AGAIN, Registers};
use crate::error::Error;
use crate::peers::message::Message;

/// The number of the first electorate that is used.
pub(in crate::peers) const FOUNDED: u64 = 2;

impl Registers {
    /// Whether all voters are known to have been there once.
    pub(in crate::peers) fn is_founded(&self) -> bool {
        self.electorate.number() >= FOUNDED
    }

    /// Sees to it that an electorate is known that counts on the disks of its voters.
    ///
    /// The list that everybody starts with names nodes only, and a node that lost its disk would pass
    /// for who it was. So nothing is asked under that list. The first time all of the listed must be
    /// there once, to say which disk each has: that makes the electorate of number 1. It is used by
    /// nobody until all of them keep it, which the one of number 2 says.
    pub(in crate::peers) async fn found(&mut self) -> Result<(), Error> {
        while self.electorate.number() < FOUNDED {
            let asked = self.electorate.clone();
            let mut lineages = BTreeMap::new();
            let mut kept = BTreeSet::new();
            let mut inbox = self.node.inventory(&asked, AGAIN);
            while self.electorate == asked {
                let (from, Message::Registers { inventory, .. }) = inbox.next().await else {
                    continue;
                };
                match inventory {
                    Inventory::Outdated(electorate) => {
                        let _ = self.adopt(electorate)?;
                    }
                    Inventory::NoVoter { lineage: Some(lineage) } if asked.number() == 0 => {
                        lineages.insert(from, lineage);
                        if asked.voters().iter().all(|voter| lineages.contains_key(voter)) {
                            self.electorate = Electorate::founded(lineages.clone());
                        }
                    }
                    Inventory::Keys { .. } => {
                        kept.insert(from);
                        if *asked.voters() == kept {
                            let _ = self.adopt(asked.confirmed())?;
                        }
                    }
                    // It lost its disk meanwhile, and others may have been founded with the next one:
                    // whoever begins anew hears of it. That is no more than a restart of this process.
                    Inventory::NoVoter { .. } if asked.number() > 0 => {
                        self.electorate = self.first.clone();
                        tokio::time::sleep(AGAIN).await;
                    }
                    Inventory::NoVoter { .. } => {}
                }
            }
        }
        Ok(())
    }

    /// Another electorate votes by now, as a voter says. Tells whether that is news.
    pub(in crate::peers) fn adopt(&mut self, electorate: Electorate) -> Result<bool, Error> {
        let (mine, theirs) = (self.electorate.number(), electorate.number());
        if mine == 0 && theirs < FOUNDED && self.electorate.voters() != electorate.voters() {
            return Err(self.differs(&electorate));
        }
        if !self.electorate.is_akin(&electorate)
            || (mine == theirs && !self.electorate.is_same(&electorate))
        {
            if !std::mem::replace(&mut self.estranged, true) {
                tracing::warn!(
                    voters = self.list(&electorate),
                    "a node votes in another cluster and is left alone: did its file come from there?"
                );
            }
            return Ok(false);
        }
        if theirs <= mine {
            return Ok(false);
        }
        self.compare(&electorate);
        self.node.electorate(&electorate);
        self.electorate = electorate;
        Ok(true)
    }

    fn differs(&self, electorate: &Electorate) -> Error {
        let (mine, theirs) = (self.list(&self.electorate), self.list(electorate));
        let problem = format!(
            "this process counts {mine} as voters, another one {theirs}: give all of them the same list of peers; \
             voters that were started before are changed by `incumbent voters add` and `remove`"
        );
        Error::Open { place: "the peers".to_owned(), problem }
    }

    /// Tells if others vote than before.
    fn compare(&self, next: &Electorate) {
        let (number, before) = (next.number(), &self.electorate);
        if before.voters() == next.voters() {
            tracing::debug!(number, "the same voters");
        } else if before.number() == 0 {
            tracing::warn!(
                voters = self.list(next),
                listed = self.list(before),
                "others vote than the list of peers names: those who vote count; correct the list"
            );
        } else {
            tracing::info!(number, voters = self.list(next), "other voters");
        }
    }

    /// The voters, for people: by their addresses as far as they are known here.
    fn list(&self, electorate: &Electorate) -> String {
        let name = |node: &NodeId| self.names.get(node).cloned().unwrap_or(node.to_string());
        electorate.voters().iter().map(name).collect::<Vec<_>>().join(", ")
    }
}
