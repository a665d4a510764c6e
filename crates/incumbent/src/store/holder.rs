//! Who holds an election up: sessions and processes that keep a lock which orders and claims wait for.
//!
//! Assumes: locks are held for milliseconds where all is well.
//! Promises: whoever is named has kept one lock for a second; those that come and go are not named.

use std::fmt;
use std::time::Duration;

use incumbent_protocol::identity::ElectionName;

use crate::error::Error;

/// Who keeps a lock for less is not worth a word.
const NOTABLE: Duration = Duration::from_secs(1);

/// How often a lock is looked at before somebody is said to keep it. InnoDB shows the same as before to
/// whoever asks again within a tenth of a second.
const LOOKS: u32 = 5;

/// Somebody who has kept a lock for a second or more, while orders and claims wait for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockHolder {
    /// Which election waits; any may if there is none.
    pub election: Option<ElectionName>,
    /// The session or process: its number, whose it is, and what it does.
    pub who: String,
    /// What it keeps.
    pub what: String,
    /// For how long, where that can be seen.
    pub held_for: Option<Duration>,
    /// What ends it. Nothing where the store does not tell whether it is a lock that elections wait for.
    pub end: Option<String>,
    /// Changes when it lets go and takes the lock anew.
    pub(crate) work: String,
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LockHolder { who, what, end, .. } = self;
        match self.held_for {
            Some(span) => write!(f, "{who} has had {what} for {} s", span.as_secs())?,
            None => write!(f, "{who} has had {what} for more than a second")?,
        }
        match end {
            Some(end) => write!(f, "; `{end}` ends that"),
            None => f.write_str(", which may be what orders and claims wait for"),
        }
    }
}

/// Those of them who keep their locks. Looks again while it cannot be seen for how long they have.
pub(crate) async fn lasting(
    mut look: impl AsyncFnMut() -> Result<Vec<LockHolder>, Error>,
) -> Result<Vec<LockHolder>, Error> {
    let mut holders = look().await?;
    holders.retain(|one| one.held_for.is_none_or(|span| span >= NOTABLE));
    for _ in 0..LOOKS {
        if holders.iter().all(|one| one.held_for.is_some()) {
            break;
        }
        tokio::time::sleep(NOTABLE / LOOKS).await;
        let again = look().await?;
        let still = |one: &LockHolder| again.iter().any(|it| it.work == one.work);
        holders.retain(|one| one.held_for.is_some() || still(one));
    }
    Ok(holders)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(work: &str, held_for: Option<u64>) -> LockHolder {
        LockHolder {
            election: None,
            who: "session 7".to_owned(),
            what: "a lock".to_owned(),
            held_for: held_for.map(Duration::from_secs),
            end: held_for.map(|_| "KILL 7".to_owned()),
            work: work.to_owned(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_comes_and_goes_is_not_named() {
        let mut count = 0;
        let look = async || {
            count += 1;
            let busy = holder(&format!("work {count}"), None);
            Ok(vec![busy, holder("stuck", None), holder("new", Some(0)), holder("old", Some(60))])
        };
        let found = lasting(look).await.expect("looks");
        let works: Vec<_> = found.iter().map(|one| one.work.as_str()).collect();
        assert_eq!(works, ["stuck", "old"]);
        let words: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            words,
            [
                "session 7 has had a lock for more than a second, which may be what orders and claims wait for",
                "session 7 has had a lock for 60 s; `KILL 7` ends that",
            ]
        );
        assert_eq!(count, LOOKS + 1);
    }
}
