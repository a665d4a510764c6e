//! The tables: made, made again, brought up to date.

use incumbent::{Config, Error};

use crate::ground::{Ground, Kind};
use crate::host::Host;
use crate::support::{LONG, close_all, lead, soon};

pub(crate) async fn the_schema_can_be_applied_twice(ground: &Ground) {
    let one = ground.candidate("one", LONG).await;
    let leadership = lead(&one).await;
    let applied = ground.schema().apply().await.expect("applied again");
    assert_eq!(applied.from, Some(applied.to));
    soon("a renewal", leadership.extended()).await;
    assert!(leadership.is_valid());
    drop(leadership);
    close_all([one]).await;
}

/// Several at once, on a database without any table.
pub(crate) async fn several_may_apply_the_schema_at_once(kind: Kind) {
    for _ in 0..3 {
        let ground = Ground::bare(kind, Host::shared(kind).await).await;
        let mut all = tokio::task::JoinSet::new();
        for _ in 0..4 {
            let schema = ground.schema();
            all.spawn(async move { schema.apply().await });
        }
        for applied in soon("all of them", all.join_all()).await {
            applied.expect("applied beside others");
        }
        let one = ground.candidate("one", LONG).await;
        drop(lead(&one).await);
        close_all([one]).await;
    }
}

/// What `Schema::sql` prints can be run as it stands, and is as good as applying it.
pub(crate) async fn the_printed_statements_make_the_schema(kind: Kind) {
    let ground = Ground::bare(kind, Host::shared(kind).await).await;
    for statement in statements(&ground.schema().sql()) {
        ground.users.run(&statement).await;
    }
    let one = ground.candidate("one", LONG).await;
    let leadership = lead(&one).await;
    drop(leadership);
    close_all([one]).await;
}

/// Each statement by itself, as programs send them that take no script.
pub(crate) fn statements(sql: &str) -> Vec<String> {
    let parts = sql.split(";\n\n").map(|it| it.trim().trim_end_matches(';').to_owned());
    parts.filter(|it| !it.is_empty()).collect()
}

pub(crate) async fn an_older_schema_is_refused_and_brought_up_to_date(kind: Kind) {
    let ground = Ground::bare(kind, Host::shared(kind).await).await;
    let sql = ground.schema().sql();
    let guard = sql.find("incumbent_guard").expect("version 2 brings the guard");
    // All that comes before the guard, and the line that tells the version.
    let (first, _) = sql[..guard].rsplit_once("'1');").expect("version 1 is noted");
    for statement in statements(&format!("{first}'1')")) {
        ground.users.run(&statement).await;
    }
    let place = format!("/{}", ground.database().name);
    let older = ground.open_at(&ground.url, &Config::new()).await.map(drop);
    let older = older.expect_err("an older schema");
    assert!(matches!(&older, Error::SchemaOlder { found: 1, known: 2, .. }), "{older}");
    let text = older.to_string();
    assert!(text.contains("schema --apply") && text.contains(&place), "{text}");

    let applied = ground.schema().apply().await.expect("brought up to date");
    assert_eq!((applied.from, applied.to), (Some(1), 2));
    let one = ground.candidate("one", LONG).await;
    let leadership = lead(&one).await;
    drop(leadership);
    close_all([one]).await;
}
