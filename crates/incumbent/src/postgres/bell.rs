//! LISTEN and NOTIFY as a doorbell.
//!
//! Assumes: a connection of its own, which a pooler may swallow.
//! Promises: nothing. While rings do not come through, candidates that wait look more often. What
//! decides is whether a ring of one's own was heard, not whether LISTEN was accepted. Behind a pooler
//! nobody listens: its sessions are other people's too, who would hear the rings and may stumble.

use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgListener, PgPool, PgPoolOptions};
use sqlx::{Executor, Row};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout, timeout_at};

use crate::bell::{Bell, Ring};

/// On which everyone listens.
const CHANNEL: &str = "incumbent";

/// The setting of a session by which it is known again.
const MARK: &str = "incumbent.bell";

/// How long a ring of one's own may take to come back.
const ECHO: Duration = Duration::from_secs(2);

/// How long to do without before trying again.
const PAUSE: Duration = Duration::from_secs(5);

/// A connection on which nothing was heard for so long is tried.
const QUIET: Duration = Duration::from_secs(30);

/// Listens at a server for as long as the bell is kept.
pub(super) fn listen(options: &PgConnectOptions, poll: Duration) -> Bell {
    let own = format!("{CHANNEL}_{:016x}", getrandom::u64().unwrap_or_default());
    let options = options.clone().extra_float_digits(None).application_name("incumbent (bell)");
    let options = options.options([(MARK, &own)]);
    // The listener wants a pool; this one is its own and holds nothing else.
    let pool = PgPoolOptions::new().max_connections(1).connect_lazy_with(options);
    let (ringer, rings) = mpsc::channel(1);
    let task = tokio::spawn(async move {
        while !ringer.is_closed() {
            if let Err(error) = hear(&pool, &own, &ringer).await {
                tracing::debug!(%error, "no doorbell: looking more often instead");
            }
            let until = Instant::now() + PAUSE;
            while Instant::now() < until && !ringer.is_closed() {
                tokio::time::sleep(poll).await;
                ring(&ringer, Ring::Perhaps);
            }
        }
    });
    Bell::Server { rings, task }
}

/// Passes on what is heard, until nothing can be heard any more.
async fn hear(pool: &PgPool, own: &str, ringer: &mpsc::Sender<Ring>) -> sqlx::Result<()> {
    let mut listener = PgListener::connect_with(pool).await?;
    if !is_direct(&mut listener, own).await? {
        return Err(sqlx::Error::Protocol("there is a pooler before the server".to_owned()));
    }
    listener.listen_all([CHANNEL, own]).await?;
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
