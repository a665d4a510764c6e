//! LISTEN and NOTIFY as a doorbell.
//!
//! Assumes: a connection of its own, which a pooler may swallow.
//! Promises: nothing. While rings do not come through, candidates that wait look more often. What
//! decides is whether a ring of one's own was heard, not whether LISTEN was accepted. Behind a pooler
//! nobody listens: its sessions are other people's too, who would hear the rings and may stumble.
//! Where a URL names several servers, the first one that takes LISTEN is listened to: a standby takes none.
//! A server or a pooler that says no is asked again after pauses that double up to five minutes.

use std::time::Duration;

use sqlx::postgres::{PgListener, PgPool, PgPoolOptions};
use sqlx::{Executor, Row};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout, timeout_at};

use super::Pg;
use crate::bell::{Bell, Ring};
use crate::server::hosts::Hosts;

/// On which everyone listens.
const CHANNEL: &str = "incumbent";

/// The setting of a session by which it is known again.
const MARK: &str = "incumbent.bell";

/// How long a ring of one's own may take to come back.
const ECHO: Duration = Duration::from_secs(2);

/// How long to do without before trying again.
const PAUSE: Duration = Duration::from_secs(5);

/// The same at most, where the answer was no.
const LONGEST: Duration = Duration::from_mins(5);

/// How long connecting to one server may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// A connection on which nothing was heard for so long is tried.
const QUIET: Duration = Duration::from_secs(30);

/// Listens at a server for as long as the bell is kept.
pub(super) fn listen(hosts: &Hosts<Pg>, poll: Duration) -> Bell {
    let own = format!("{CHANNEL}_{:016x}", getrandom::u64().unwrap_or_default());
    // The listener wants a pool; each of these is its own and holds nothing else.
    let pools = hosts.all().iter().map(|options| {
        let options = options.clone().extra_float_digits(None).application_name("incumbent (bell)");
        let options = options.options([(MARK, &own)]);
        PgPoolOptions::new().max_connections(1).connect_lazy_with(options)
    });
    let pools: Vec<PgPool> = pools.collect();
    let (ringer, rings) = mpsc::channel(1);
    let task = tokio::spawn(async move {
        let mut pause = Pause::default();
        while !ringer.is_closed() {
            let mut errors = Vec::with_capacity(pools.len());
            for pool in &pools {
                let heard = match attend(pool, &own).await {
                    Ok(listener) => {
                        pause.heard();
                        hear(listener, &own, &ringer).await
                    }
                    Err(error) => Err(error),
                };
                errors.extend(heard.err());
            }
            let (span, is_first) = pause.after(errors.iter().all(is_refusal));
            let error = errors.last().map(ToString::to_string).unwrap_or_default();
            if is_first {
                tracing::info!(%error, ?poll, "no wake-up connection: looking more often instead");
            } else {
                tracing::debug!(%error, again_in = ?span, "no wake-up connection");
            }
            let until = Instant::now() + span;
            while Instant::now() < until && !ringer.is_closed() {
                tokio::time::sleep(poll).await;
                ring(&ringer, Ring::Perhaps);
            }
        }
    });
    Bell::Server { rings, task }
}

/// How long to do without.
#[derive(Debug, Default)]
struct Pause {
    /// After the last no in a row.
    refused: Option<Duration>,
    told: bool,
}

impl Pause {
    /// How long to wait after a failure, and whether it is the first one since something was heard.
    fn after(&mut self, refused: bool) -> (Duration, bool) {
        let longer = |pause: Duration| (pause * 2).min(LONGEST);
        self.refused = refused.then(|| self.refused.map_or(PAUSE, longer));
        let is_first = !std::mem::replace(&mut self.told, true);
        (self.refused.unwrap_or(PAUSE), is_first)
    }

    fn heard(&mut self) {
        *self = Pause::default();
    }
}

/// Whether the server, or what stands before it, will say the same again. One that is away may be back soon, and a
/// standby may be promoted.
fn is_refusal(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut => false,
        sqlx::Error::Database(said) => said.code().as_deref() != Some("25006"),
        _ => true,
    }
}

/// Listens, if this server lets one.
async fn attend(pool: &PgPool, own: &str) -> sqlx::Result<PgListener> {
    let attended = timeout(PATIENCE, async {
        let mut listener = PgListener::connect_with(pool).await?;
        if !is_direct(&mut listener, own).await? {
            return Err(sqlx::Error::Protocol("there is a pooler before the server".to_owned()));
        }
        listener.listen_all([CHANNEL, own]).await?;
        Ok(listener)
    });
    attended.await.unwrap_or(Err(sqlx::Error::PoolTimedOut))
}

/// Passes on what is heard, until nothing can be heard any more.
async fn hear(
    mut listener: PgListener,
    own: &str,
    ringer: &mpsc::Sender<Ring>,
) -> sqlx::Result<()> {
    // Whatever changed before this was not heard.
    ring(ringer, Ring::Changed);
    loop {
        let knock = sqlx::AssertSqlSafe(format!("NOTIFY {own}"));
        sqlx::query(knock).persistent(false).execute(&mut listener).await?;
        let until = Instant::now() + ECHO;
        let deaf = |_| sqlx::Error::Protocol("a ring of one's own was not heard".to_owned());
        while !is_own(&mut listener, own, ringer, until).await.map_err(deaf)?? {}
        while let Ok(heard) = timeout(QUIET, listener.recv()).await {
            heard?;
            ring(ringer, Ring::Changed);
        }
    }
}

/// Whether the session is this connection's own: what was said when connecting has reached it.
async fn is_direct(listener: &mut PgListener, own: &str) -> sqlx::Result<bool> {
    let mark = sqlx::AssertSqlSafe(format!("SELECT current_setting('{MARK}', true)"));
    let said = listener.fetch_one(sqlx::raw_sql(mark)).await?;
    Ok(said.try_get::<Option<String>, _>(0)?.is_some_and(|said| said == own))
}

/// Whether the next ring is one's own; any other is passed on.
async fn is_own(
    listener: &mut PgListener,
    own: &str,
    ringer: &mpsc::Sender<Ring>,
    until: Instant,
) -> Result<sqlx::Result<bool>, tokio::time::error::Elapsed> {
    let heard = timeout_at(until, listener.recv()).await?;
    Ok(heard.map(|heard| {
        let is_own = heard.channel() == own;
        if !is_own {
            ring(ringer, Ring::Changed);
        }
        is_own
    }))
}

fn ring(ringer: &mpsc::Sender<Ring>, ring: Ring) {
    // One ring that waits to be heard is as good as two.
    let _ = ringer.try_send(ring);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_refused_asks_again_later_and_later_and_says_so_once() {
        let mut pause = Pause::default();
        let no = sqlx::Error::Protocol("a pooler".to_owned());
        let away = sqlx::Error::Io(std::io::ErrorKind::ConnectionRefused.into());
        assert!(is_refusal(&no) && !is_refusal(&away));
        let seconds = [5, 10, 20, 40, 80, 160, 300, 300];
        for (at, seconds) in seconds.into_iter().enumerate() {
            assert_eq!(pause.after(true), (Duration::from_secs(seconds), at == 0));
        }
        assert_eq!(pause.after(false), (PAUSE, false), "a server that is away may be back soon");
        pause.heard();
        assert_eq!(pause.after(true), (PAUSE, true));
    }
}
