//! The doorbell of PostgreSQL: where it is heard, and where nobody may listen.

use sqlx::postgres::PgPool;

use crate::ground::Ground;
use crate::support::{LONG, close_all, for_a_while, lead, resign, until};
use crate::users::{Users, send};

pub(crate) async fn candidates_listen_at_the_server(ground: &Ground) {
    let one = ground.candidate("one", LONG).await;
    let bells = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
        AND application_name = 'incumbent (bell)' AND query LIKE 'NOTIFY%' AND state = 'idle'";
    until("somebody listens", async || ground.superuser().number(bells).await == 1).await;
    close_all([one]).await;
    until("nobody listens", async || ground.superuser().number(bells).await == 0).await;
}

/// The sessions behind a pooler are everybody's: whoever gets one in which somebody listened hears
/// rings that it never asked for, and some drivers take that for an error.
pub(crate) async fn nobody_listens_in_the_sessions_of_a_pooler(ground: &Ground) {
    let (one, two) = (ground.candidate("one", LONG).await, ground.candidate("two", LONG).await);
    for election in [&one, &two] {
        resign(lead(election).await).await;
        for_a_while().await;
    }
    let Users::Postgres(pool) = &ground.users else { panic!("not PostgreSQL") };
    assert_eq!(channels_of_all_sessions(pool).await, 0);
    close_all([one, two]).await;
}

/// Over as many sessions as the pooler has.
async fn channels_of_all_sessions(pool: &PgPool) -> i64 {
    let mut open = Vec::new();
    let mut channels = 0;
    for _ in 0..3 {
        let mut session = pool.begin().await.expect("begins");
        let question = sqlx::raw_sql("SELECT count(*) FROM pg_listening_channels()");
        let row = question.fetch_one(&mut *session).await.expect("a row");
        channels += sqlx::Row::get::<i64, _>(&row, 0);
        open.push(session);
    }
    for mut session in open {
        send!("SELECT 1", &mut *session).expect("nothing was heard");
        session.rollback().await.expect("ends");
    }
    channels
}
