//! Who of the voters is there, and what to say if too few are.
//!
//! Assumes: whoever contends may be the first to come.
//! Promises: whoever only looks is told in time that nobody answers, and whom to look for.

use std::time::Duration;

use super::Store;
use crate::clock;
use crate::error::Error;
use crate::peers::message::Key;
use crate::peers::node::Reach;

/// How long an onlooker waits for a majority.
pub(super) const REACH_PATIENCE: Duration = Duration::from_secs(5);

impl Store {
    /// How long a short question takes at best. Whoever contends may be the first to come, and waits
    /// for the others later; whoever only looks needs a majority now.
    pub(crate) async fn round_trip(&mut self) -> Result<(Duration, Option<Duration>), Error> {
        let ask = async {
            let mut best = Duration::MAX;
            for _ in 0..3 {
                let begun = clock::now();
                self.quorum.read(vec![Key::Electorate]).await?;
                best = best.min(clock::now().since(begun));
            }
            Ok(best)
        };
        if self.hints.is_some() {
            return Ok((Duration::from_millis(1), None));
        }
        let patience = if self.contends { REACH_PATIENCE / 20 } else { REACH_PATIENCE };
        match tokio::time::timeout(patience, ask).await {
            Ok(asked) => asked.map(|best| (best, None)),
            Err(_) if self.contends => {
                if let Some(reach) = self.node.reach().await {
                    let need = self.need();
                    tracing::info!(up = reach.up, voters = reach.voters, missing = ?reach.missing,
                        "waiting for voters: {need}");
                }
                Ok((Duration::from_millis(1), None))
            }
            Err(_) => Err(self.unreachable().await),
        }
    }

    /// Who of the voters can be reached.
    pub(in crate::peers) async fn reach(&self) -> Option<Reach> {
        self.node.reach().await
    }

    /// How many voters are needed.
    fn need(&self) -> &'static str {
        if self.quorum.client().is_founded() {
            "a majority of them must be there"
        } else {
            "the first time all of them must be there once, and later a majority"
        }
    }

    async fn unreachable(&self) -> Error {
        let place = "the peers".to_owned();
        let Some(reach) = self.node.reach().await else { return Error::Closed };
        if reach.missing.is_empty() {
            let problem = "all voters are there and did not answer in time: they may have just begun, try again";
            return Error::Open { place, problem: problem.to_owned() };
        }
        let (silent, strange): (Vec<_>, Vec<_>) = reach
            .missing
            .iter()
            .map(String::as_str)
            .partition(|it| !reach.strange.iter().any(|s| s == it));
        let mut problem =
            vec![format!("{} of {} voters answer, and {}", reach.up, reach.voters, self.need())];
        if !strange.is_empty() {
            problem.push(format!(
                "another secret at {}: give all processes of the group the same one",
                strange.join(", ")
            ));
        }
        if !silent.is_empty() {
            problem.push(format!(
                "no answer from {}: are they running, and does no firewall stand between?",
                silent.join(", ")
            ));
        }
        let problem = problem.join("; ");
        Error::Open { place, problem }
    }
}
