//! The tables: made, made again, brought up to date.

use std::process::Stdio;
use std::str::FromStr;

use incumbent::{Config, Error, Protocol};
use sqlx::mysql::MySqlConnectOptions;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::ground::Ground;
use crate::host::Host;
use crate::support::{BILLING, LONG, SHORT, close_all, lead, soon};

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
    let guard = sql.find("incumbent_guard").expect("a later version brings the guard");
    // All that comes before the guard, and the line that tells the version.
    let (first, _) = sql[..guard].rsplit_once("'1');").expect("version 1 is noted");
    pipe(ground, &format!("{first}'1');")).await;
    let place = format!("/{}", ground.database().name);
    let older = ground.open_at(&ground.url, &Config::new()).await.map(drop);
    let older = older.expect_err("an older schema");
    assert!(
        matches!(&older, Error::SchemaOlder { found: 1, known, .. } if *known == newest(ground)),
        "{older}"
    );
    let text = older.to_string();
    assert!(text.contains("schema --apply") && text.contains(&place), "{text}");

    let applied = ground.schema().apply().await.expect("brought up to date");
    assert_eq!((applied.from, applied.to), (Some(1), newest(ground)));
    lead_once(ground).await;
}

/// The version that this program knows.
fn newest(ground: &Ground) -> i64 {
    if ground.kind.is_postgres() { 6 } else { 5 }
}

/// A term in each state, as a program wrote it that knew no rounds.
const BEFORE_ROUNDS: [&str; 3] = [
    "INSERT INTO incumbent_election
        (name, state, holder, incarnation, term, lease_us, margin_us, expiry, since_us, successor)
    VALUES ('billing', 'held', 'old', '0123456789abcdef0123456789abcdef', 41, 900000, 90000, 'observed', 1000, NULL),
        ('mail', 'released', 'old', '0123456789abcdef0123456789abcdef', 17, 900000, 90000, 'database', 1000, 'next')",
    "INSERT INTO incumbent_beat (name, term, incarnation, beat, beaten_us)
    VALUES ('billing', 41, '0123456789abcdef0123456789abcdef', 7, 2000), ('mail', 17, NULL, 3, 2000)",
    "INSERT INTO incumbent_term (election, term, holder, incarnation, opening, began_us)
    VALUES ('billing', 41, 'old', '0123456789abcdef0123456789abcdef', 'first', 1000)",
];

/// Nothing of that is lost, and whoever comes next leads under a higher term, by either protocol.
async fn has_kept_everything(ground: &Ground) {
    let config = Config::new().name("one").lease(SHORT);
    let backend = ground.open(&config).await;
    let old = backend.status(BILLING).await.expect("a look").record.expect("a row");
    assert_eq!((old.holder.name.as_str(), old.term.get(), old.beat), ("old", 41, 7));
    assert_eq!((old.rules, old.state.as_str()), (*backend.timing().rules(), "held"));
    let mail = backend.status("mail").await.expect("a look").record.expect("a row");
    assert_eq!((mail.term.get(), mail.state.as_str()), (17, "released"));
    assert_eq!(mail.successor.as_ref().map(incumbent::CandidateName::as_str), Some("next"));
    let terms = backend.terms(BILLING, 9).await.expect("terms");
    assert_eq!((terms.len(), terms[0].term.get(), terms[0].ended), (1, 41, None));
    let election = backend.election(BILLING).await.expect("opens");
    let leadership = lead(&election).await;
    let token = leadership.token();
    assert!(token.get() > 41, "a token came back");
    drop(leadership);
    backend.close().await;

    let config = Config::new().name("two").protocol(Protocol::Rounds).lease(SHORT);
    let two = ground.enter(&config).await;
    let leadership = lead(&two).await;
    assert!(leadership.token() > token);
    drop(leadership);
    close_all([two]).await;
}

pub(crate) async fn leaders_and_terms_outlive_the_step_to_rounds(ground: &Ground) {
    make_version(ground, 2).await;
    for statement in BEFORE_ROUNDS {
        ground.users.run(statement).await;
    }
    let applied = ground.schema().apply().await.expect("brought up to date");
    assert_eq!((applied.from, applied.to), (Some(2), newest(ground)));
    has_kept_everything(ground).await;
}

/// Makes the tables as an older program made them.
async fn make_version(ground: &Ground, version: u32) {
    let sql = ground.schema().sql();
    // All up to the line that tells that version, and what comes after the one that tells the last.
    let (old, _) = sql.split_once(&format!("'{version}');")).expect("the version is noted");
    let last = format!("'{}');", newest(ground));
    let (_, once) = sql.split_once(&last).expect("the last version is noted");
    pipe(ground, &format!("{old}'{version}');{once}")).await;
}

/// An election with a roster, as a program wrote it that knew no roll.
const BEFORE_ORDERS: [&str; 3] = [
    "INSERT INTO incumbent_election (name, state, holder, incarnation, term, lease_us, margin_us, expiry, since_us,
        successor, protocol)
    VALUES ('queue', 'held', 'old', '0123456789abcdef0123456789abcdef', 5, 900000, 90000, 'observed', 1000, NULL, 'rounds')",
    "INSERT INTO incumbent_beat (name, term, incarnation, beat, beaten_us)
    VALUES ('queue', 5, '0123456789abcdef0123456789abcdef', 7, 2000)",
    "INSERT INTO incumbent_descriptor
        (election, id, holder, incarnation, counter, address, labels, joined_us, beaten_us)
    VALUES ('queue', 3, 'old', '0123456789abcdef0123456789abcdef', 9, NULL, 'zone=eu', 1000, 2000)",
];

async fn was_before_orders(ground: &Ground) {
    for statement in BEFORE_ROUNDS.iter().chain(&BEFORE_ORDERS) {
        ground.users.run(statement).await;
    }
}

/// Nothing is in force, nobody is on the roll, and orders can be given.
async fn knows_of_orders(ground: &Ground) {
    let backend = ground.open(&Config::new().name("operator").lease(LONG)).await;
    for name in [BILLING, "mail", "queue"] {
        let found = backend.status(name).await.expect("a look");
        assert!(found.record.is_some(), "{found:?}");
    }
    let decree = backend.demote("queue", Some(5), "ann", None).await.expect("demoted");
    assert_eq!(decree.deposed.expect("was led").id.name.as_str(), "old");
    backend.close().await;
    for (sql, wanted) in [
        ("SELECT count(*) FROM incumbent_election WHERE controls IS NULL", 3),
        ("SELECT count(*) FROM incumbent_candidate", 0),
        ("SELECT count(*) FROM incumbent_descriptor WHERE election = 'queue' AND counter = 9", 1),
        ("SELECT count(*) FROM incumbent_order WHERE election = 'queue' AND term = 5", 1),
        ("SELECT count(*) FROM incumbent_order", 1),
    ] {
        assert_eq!(ground.users.number(sql).await, wanted, "{sql}");
    }
}

pub(crate) async fn leaders_and_rosters_outlive_the_step_to_orders(ground: &Ground) {
    make_version(ground, 3).await;
    was_before_orders(ground).await;
    let older = ground.open_at(&ground.url, &Config::new()).await.map(drop);
    assert!(matches!(older, Err(Error::SchemaOlder { found: 3, .. })), "{older:?}");
    let applied = ground.schema().apply().await.expect("brought up to date");
    assert_eq!((applied.from, applied.to), (Some(3), newest(ground)));
    knows_of_orders(ground).await;
    has_kept_everything(ground).await;
}

/// The tables of the first version.
const FIRST_FILE: &str = "
    CREATE TABLE incumbent_meta (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO incumbent_meta VALUES ('schema_version', '1');
    CREATE TABLE incumbent_election (name TEXT NOT NULL PRIMARY KEY,
        state TEXT NOT NULL CHECK (state IN ('held', 'ending', 'released')), holder TEXT NOT NULL,
        incarnation TEXT NOT NULL, term INTEGER NOT NULL CHECK (term > 0), lease_us INTEGER NOT NULL,
        margin_us INTEGER NOT NULL, expiry TEXT NOT NULL CHECK (expiry IN ('observed', 'database')),
        since_us INTEGER NOT NULL, successor TEXT) STRICT, WITHOUT ROWID;
    CREATE TABLE incumbent_beat (name TEXT NOT NULL PRIMARY KEY, term INTEGER NOT NULL, incarnation TEXT,
        beat INTEGER NOT NULL, beaten_us INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE incumbent_term (election TEXT NOT NULL, term INTEGER NOT NULL, holder TEXT NOT NULL,
        incarnation TEXT NOT NULL, opening TEXT NOT NULL, began_us INTEGER NOT NULL, ending TEXT,
        ended_us INTEGER, actor TEXT, note TEXT, PRIMARY KEY (election, term)) STRICT, WITHOUT ROWID";

/// What the second version brought.
const SECOND_FILE: &str = "
    ALTER TABLE incumbent_election ADD COLUMN protocol TEXT NOT NULL DEFAULT 'lease'
        CHECK (protocol IN ('lease', 'rounds'));
    CREATE TABLE incumbent_vars (name TEXT NOT NULL PRIMARY KEY, epoch_us INTEGER NOT NULL, max_id INTEGER NOT NULL,
        round_time_us INTEGER NOT NULL, round_limit INTEGER NOT NULL, margin_us INTEGER NOT NULL,
        delta_us INTEGER NOT NULL, cap_us INTEGER NOT NULL, round_us INTEGER NOT NULL, next_us INTEGER,
        pace INTEGER NOT NULL, evicted INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE incumbent_descriptor (election TEXT NOT NULL, id INTEGER NOT NULL, holder TEXT NOT NULL,
        incarnation TEXT NOT NULL, counter INTEGER NOT NULL, address TEXT, labels TEXT NOT NULL,
        joined_us INTEGER NOT NULL, beaten_us INTEGER NOT NULL, PRIMARY KEY (election, id),
        UNIQUE (election, incarnation)) STRICT, WITHOUT ROWID;
    UPDATE incumbent_meta SET value = '2' WHERE key = 'schema_version'";

pub(crate) async fn a_file_of_the_first_version_keeps_its_leaders_and_terms(ground: &Ground) {
    ground.users.run(FIRST_FILE).await;
    for statement in BEFORE_ROUNDS {
        ground.users.run(statement).await;
    }
    has_kept_everything(ground).await;
}

pub(crate) async fn a_file_of_the_second_version_keeps_its_leaders_and_rosters(ground: &Ground) {
    ground.users.run(FIRST_FILE).await;
    ground.users.run(SECOND_FILE).await;
    was_before_orders(ground).await;
    knows_of_orders(ground).await;
    has_kept_everything(ground).await;
}
