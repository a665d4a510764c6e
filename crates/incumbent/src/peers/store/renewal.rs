//! How leaders prolong their terms.
//!
//! Assumes: a leader was the last to change its register, most of the time.
//! Promises: where that is so a renewal is one message to each voter. A renewal that others overruled is
//! tried again on what they left, until it is known whether the term still stands.

use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::lease::request::Holding;

use super::{Store, key};
use crate::error::Error;
use crate::peers::message::Key;
use crate::peers::register::Fate;
use crate::peers::sheet::Sheet;

impl Store {
    /// Prolongs some of the held terms, and names those that still stood.
    pub(super) async fn renew_some(
        &mut self,
        held: &[(&ElectionName, &Holding)],
        renewed: &mut Vec<String>,
    ) -> Result<(), Error> {
        let mut fresh: Vec<(&ElectionName, &Holding)> = Vec::new();
        let mut changes = Vec::new();
        let mut by = Vec::new();
        let now = self.registers.now();
        for (election, holding) in held.iter().copied() {
            let known = self.registers.shortcut(&key(election));
            let next = known.as_ref().and_then(|heeded| {
                Sheet::read(heeded.value.as_ref()).ok()?.renewed(holding, now)?.write().ok()
            });
            match (known, next) {
                (Some(heeded), Some(value)) => {
                    changes.push((heeded, value));
                    by.push((election, holding));
                }
                _ => fresh.push((election, holding)),
            }
        }
        let fates = self.registers.propose(changes).await?;
        // By an order, most likely, which is not to lose against every beat.
        let overruled = fates.contains(&Fate::Doubtful);
        for ((election, holding), fate) in by.into_iter().zip(fates) {
            match fate {
                Fate::Chosen => renewed.push(election.to_string()),
                Fate::Doubtful => fresh.push((election, holding)),
            }
        }
        if overruled {
            self.registers.step_aside().await;
        }
        while !fresh.is_empty() {
            let keys: Vec<Key> = fresh.iter().map(|(election, _)| key(election)).collect();
            let (heeded, now) = self.registers.heed(&keys).await?;
            let mut changes = Vec::new();
            let mut by = Vec::new();
            for (one, (election, holding)) in heeded.into_iter().zip(std::mem::take(&mut fresh)) {
                let sheet = Sheet::read(one.value.as_ref())?;
                if let Some(next) = sheet.renewed(holding, now) {
                    changes.push((one, next.write()?));
                    by.push((election, holding));
                }
            }
            let fates = self.registers.propose(changes).await?;
            for ((election, holding), fate) in by.into_iter().zip(fates) {
                match fate {
                    Fate::Chosen => renewed.push(election.to_string()),
                    // A beat more does no harm.
                    Fate::Doubtful => fresh.push((election, holding)),
                }
            }
            if !fresh.is_empty() {
                self.registers.step_aside().await;
            }
        }
        Ok(())
    }
}
