//! The tables: made, made again, brought up to date.

use std::process::Stdio;
use std::str::FromStr;

use incumbent::{Config, Error};
use sqlx::mysql::MySqlConnectOptions;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::ground::Ground;
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
pub(crate) async fn several_may_apply_the_schema_at_once(ground: &Ground) {
    at_once(ground).await;
    // They may miss each other once.
    for _ in 0..2 {
        let another = Ground::bare(ground.kind, Host::shared(ground.kind).await).await;
        at_once(&another).await;
        another.judge();
    }
}

async fn at_once(ground: &Ground) {
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let schema = ground.schema();
        all.spawn(async move { schema.apply().await });
    }
    for applied in soon("all of them", all.join_all()).await {
        applied.expect("applied beside others");
    }
    lead_once(ground).await;
}

async fn lead_once(ground: &Ground) {
    let one = ground.candidate("one", LONG).await;
    drop(lead(&one).await);
    close_all([one]).await;
}

/// What `Schema::sql` prints can be given to the server's own client as it stands, also twice, and
/// is as good as applying it.
pub(crate) async fn the_printed_statements_make_the_schema(ground: &Ground) {
    let script = ground.schema().sql();
    pipe(ground, &script).await;
    pipe(ground, &script).await;
    let applied = ground.schema().apply().await.expect("nothing is left to do");
    assert_eq!(applied.from, Some(applied.to));
    lead_once(ground).await;
}

/// Gives a script to the client that comes with the server, as its user would.
async fn pipe(ground: &Ground, script: &str) {
    let url = &ground.database().url;
    let mut command = if ground.kind.is_postgres() {
        let mut psql = Command::new("psql");
        psql.args(["-Xq", "-v", "ON_ERROR_STOP=1", "-d", url]);
        psql
    } else {
        let options = MySqlConnectOptions::from_str(url).expect("a URL");
        let password = url.split_once("incumbent:").and_then(|(_, rest)| rest.split_once('@'));
        let mut mariadb = Command::new("mariadb");
        mariadb.args(["--no-defaults", "--protocol=tcp", "--host", options.get_host()]);
        mariadb.arg(format!("--port={}", options.get_port())).arg("--user=incumbent");
        mariadb.arg(&ground.database().name).env("MYSQL_PWD", password.expect("a password").0);
        mariadb
    };
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().expect("the client starts");
    let mut input = child.stdin.take().expect("a pipe");
    // A client that stops at an error closes the pipe; what it says tells more.
    let _ = input.write_all(script.as_bytes()).await;
    drop(input);
    let output = soon("the client ends", child.wait_with_output()).await.expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

pub(crate) async fn an_older_schema_is_refused_and_brought_up_to_date(ground: &Ground) {
    let sql = ground.schema().sql();
    let guard = sql.find("incumbent_guard").expect("version 2 brings the guard");
    // All that comes before the guard, and the line that tells the version.
    let (first, _) = sql[..guard].rsplit_once("'1');").expect("version 1 is noted");
    pipe(ground, &format!("{first}'1');")).await;
    let place = format!("/{}", ground.database().name);
    let older = ground.open_at(&ground.url, &Config::new()).await.map(drop);
    let older = older.expect_err("an older schema");
    assert!(matches!(&older, Error::SchemaOlder { found: 1, known: 2, .. }), "{older}");
    let text = older.to_string();
    assert!(text.contains("schema --apply") && text.contains(&place), "{text}");

    let applied = ground.schema().apply().await.expect("brought up to date");
    assert_eq!((applied.from, applied.to), (Some(1), 2));
    lead_once(ground).await;
}
