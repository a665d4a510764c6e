//! Users of the database with few rights.

use incumbent::{Cause, Config};
use sqlx::error::DatabaseError;

use crate::ground::Ground;
use crate::support::{BILLING, LONG, close_all, lead, resign};
use crate::users::{Users, send, with_pool};

const PASSWORD: &str = "correct-horse";

/// A new user of the server, who may connect to the database and nothing else.
async fn role(ground: &Ground, kind: &str) -> String {
    let name = &ground.database().name;
    // Users belong to the server, not to the database.
    let user = format!("{kind}_{}", &name[name.len() - 8..]);
    let sql = if ground.kind.is_postgres() {
        format!("CREATE ROLE {user} LOGIN PASSWORD '{PASSWORD}'")
    } else {
        format!("CREATE USER {user}@'%' IDENTIFIED BY '{PASSWORD}'")
    };
    ground.superuser().run(&sql).await;
    user
}

pub(crate) async fn a_user_without_rights_is_told_what_to_have_granted(ground: &Ground) {
    let user = role(ground, "nobody").await;
    let url = ground.url_with(&user, PASSWORD, &ground.database().name);
    let error = ground.open_at(&url, &Config::new()).await.map(drop);
    let error = error.expect_err("no rights").to_string();
    assert!(error.contains("schema --grants"), "{error}");
    assert!(!error.contains(PASSWORD), "{error}");
    assert_eq!(ground.held().await, 0);
}

/// Each right in turn is taken away again.
pub(crate) async fn a_user_with_all_rights_but_one_is_told_which(ground: &Ground) {
    let user = role(ground, "almost").await;
    let url = ground.url_with(&user, PASSWORD, &ground.database().name);
    let superuser = ground.superuser();
    let all = ground.schema().grants(&user).expect("grants");
    let whom = if ground.kind.is_postgres() { user.clone() } else { format!("{user}@'%'") };
    for (right, table) in [
        ("UPDATE", "incumbent_meta"),
        ("INSERT", "incumbent_election"),
        ("UPDATE", "incumbent_beat"),
        ("DELETE", "incumbent_term"),
        ("INSERT", "incumbent_vars"),
        ("UPDATE", "incumbent_vars"),
        ("UPDATE", "incumbent_descriptor"),
        ("DELETE", "incumbent_descriptor"),
        ("UPDATE", "incumbent_candidate"),
        ("DELETE", "incumbent_candidate"),
        ("INSERT", "incumbent_order"),
        ("DELETE", "incumbent_order"),
    ] {
        grant(&superuser, &all).await;
        superuser.run(&format!("REVOKE {right} ON {table} FROM {whom}")).await;
        let error = ground.open_at(&url, &Config::new()).await.map(drop);
        let error = error.expect_err("a right is lacking").to_string();
        assert!(error.contains("schema --grants") && error.contains(right), "{error}");
        assert!(error.contains(table), "{error}");
    }
    assert_eq!(ground.held().await, 0);
}

/// As one message: a comment may hold any sign. MySQL takes nothing behind the last semicolon.
async fn grant(superuser: &Users, grants: &str) {
    superuser.run(grants.trim_end().trim_end_matches(';')).await;
}

pub(crate) async fn a_user_with_exactly_the_granted_rights_can_do_all_of_it(ground: &Ground) {
    let user = role(ground, "candidate").await;
    grant(&ground.superuser(), &ground.schema().grants(&user).expect("grants")).await;
    let url = ground.url_with(&user, PASSWORD, &ground.database().name);
    let backend = ground.open_at(&url, &ground.config("one", LONG)).await.expect("opens");
    let election = backend.election(BILLING).await.expect("opens");
    let first = lead(&election).await;
    let token = first.token();
    let terms = backend.terms(BILLING, 9).await.expect("terms");
    assert_eq!(terms.len(), 1);
    resign(first).await;
    let second = lead(&election).await;
    assert!(second.token() > token);
    let demoted = backend.demote(BILLING, None, "ann", None).await.expect("demoted");
    assert_eq!(demoted.term, second.term());
    drop(second);
    close_all([election]).await;
}

/// A user who may call the guard and write to the user's own table, and nothing else.
async fn writer(ground: &Ground) -> Users {
    let user = role(ground, "writer").await;
    let (guard, whom) = if ground.kind.is_postgres() {
        ("FUNCTION incumbent_guard(text, bigint)", user.clone())
    } else {
        ("PROCEDURE incumbent_guard", format!("{user}@'%'"))
    };
    let grants =
        format!("GRANT SELECT, INSERT ON ledger TO {whom}; GRANT EXECUTE ON {guard} TO {whom}");
    grant(&ground.superuser(), &grants).await;
    Users::new(&ground.url_with(&user, PASSWORD, &ground.database().name), 2)
}

/// As programs in other languages do: plain statements, the guard last, and COMMIT with it.
pub(crate) async fn a_user_with_only_the_guard_writes_under_a_token(ground: &Ground) {
    let postgres = ground.kind.is_postgres();
    let writer = writer(ground).await;
    let may_not = writer.try_run("SELECT * FROM incumbent_election").await;
    may_not.expect_err("it has no right to the tables");
    let one = ground.candidate("one", LONG).await;
    let first = lead(&one).await;
    let token = first.token();
    let (begin, call) = if postgres { ("BEGIN", "SELECT") } else { ("START TRANSACTION", "CALL") };
    let write = |entry: u32| format!("{begin}; INSERT INTO ledger VALUES ({entry}, 'by hand')");
    let seal = format!("{call} incumbent_guard('{BILLING}', {token}); COMMIT");
    with_pool!(&writer, pool => {
        let mut connection = pool.acquire().await.expect("connects");
        send!(write(1), &mut *connection).expect("writes");
        send!(seal, &mut *connection).expect("commits under the token");
        assert_eq!(ground.users.entries().await, 1);
        resign(first).await;
        let second = lead(&one).await;
        send!(write(2), &mut *connection).expect("writes");
        let error = send!(seal, &mut *connection).map(drop).expect_err("the term is over");
        assert!(error.to_string().contains("is over"), "{error}");
        send!("ROLLBACK", &mut *connection).expect("undone");
        drop(second);
    });
    assert_eq!(ground.users.entries().await, 1, "written under an old token");
    close_all([one]).await;
}

/// PostgreSQL looks for a name among the temporary tables of a session first, unless told otherwise.
pub(crate) async fn a_table_of_the_callers_own_does_not_fool_the_guard(ground: &Ground) {
    let Users::Postgres(writer) = writer(ground).await else { panic!("not PostgreSQL") };
    let one = ground.candidate("one", LONG).await;
    let leadership = lead(&one).await;
    let (token, wrong) = (leadership.token(), leadership.token().get() - 1);
    let forged = format!(
        "incumbent_election AS SELECT text '{BILLING}' AS name, bigint '{wrong}' AS term, text 'held' AS state"
    );
    let mut connection = writer.acquire().await.expect("connects");
    for kind in ["TABLE", "VIEW"] {
        send!(format!("CREATE TEMPORARY {kind} {forged}"), &mut *connection).expect("is made");
        let seen = format!("SELECT 1 / count(*) FROM incumbent_election WHERE term = {wrong}");
        send!(seen, &mut *connection).expect("the caller sees its own");
        let guard = |token: u64| format!("SELECT incumbent_guard('{BILLING}', {token})");
        let error = send!(guard(wrong), &mut *connection).expect_err("no such term");
        let code = error.as_database_error().and_then(DatabaseError::code);
        assert_eq!(code.as_deref(), Some("IN001"), "{kind}: {error}");
        send!(guard(token.get()), &mut *connection).expect("the true term stands");
        let gone = format!("DROP {kind} pg_temp.incumbent_election");
        send!(gone, &mut *connection).expect("is gone");
    }
    drop(leadership);
    close_all([one]).await;
}

/// PostgreSQL lets everyone call a new function, unless told otherwise.
pub(crate) async fn whoever_was_not_granted_the_guard_cannot_call_it(ground: &Ground) {
    let one = ground.candidate("one", LONG).await;
    let leadership = lead(&one).await;
    let guard = format!("SELECT incumbent_guard('{BILLING}', {})", leadership.token());
    let user = role(ground, "nobody").await;
    let nobody = Users::new(&ground.url_with(&user, PASSWORD, &ground.database().name), 2);
    let error = nobody.try_run(&guard).await.expect_err("it has no right to").to_string();
    assert!(error.contains("permission denied for function incumbent_guard"), "{error}");
    writer(ground).await.run(&guard).await;
    drop(leadership);
    close_all([one]).await;
}

/// A routine that is dropped takes everybody's right to call it along.
pub(crate) async fn the_right_to_call_the_guard_outlives_a_new_version(ground: &Ground) {
    let one = ground.candidate("one", LONG).await;
    let leadership = lead(&one).await;
    let writer = writer(ground).await;
    // The guard of the version before, in whose place the new one comes.
    let before = if ground.kind.is_postgres() { 5 } else { 4 };
    let older =
        format!("UPDATE incumbent_meta SET value = '{before}' WHERE item = 'schema_version'");
    ground.users.run(&older).await;
    let applied = ground.schema().apply().await.expect("brought up to date");
    assert_eq!((applied.from, applied.to), (Some(before), before + 1));
    let (begin, call) =
        if ground.kind.is_postgres() { ("BEGIN", "SELECT") } else { ("START TRANSACTION", "CALL") };
    let token = leadership.token();
    let work = format!(
        "{begin}; INSERT INTO ledger VALUES (1, 'by hand'); \
        {call} incumbent_guard('{BILLING}', {token}); COMMIT"
    );
    writer.run(&work).await;
    assert_eq!(ground.users.entries().await, 1);
    drop(leadership);
    close_all([one]).await;
}

/// On MySQL and MariaDB whoever looks at the transactions of others needs PROCESS. Else a lock could be kept for hours,
/// and it would be said that nobody keeps one.
pub(crate) async fn a_user_that_may_not_see_locks_is_told_so(ground: &Ground) {
    let user = role(ground, "onlooker").await;
    let grants = ground.schema().grants(&user).expect("grants");
    grant(&ground.superuser(), &grants).await;
    let url = ground.url_with(&user, PASSWORD, &ground.database().name);
    let backend = ground.open_at(&url, &ground.config("one", LONG)).await.expect("opens");
    let leadership = lead(&backend.election(BILLING).await.expect("opens")).await;
    let error = backend.lock_holders().await.expect_err("it has no right to").to_string();
    assert!(error.contains("PROCESS"), "{error}");
    let causes = backend.explain(BILLING, "one").await.expect("explains");
    let words: Vec<_> = causes.iter().map(Cause::word).collect();
    assert_eq!(words, ["leads", "locks_unseen"]);
    // What the statements name as optional is enough.
    let right = grants.lines().find(|line| line.contains("PROCESS")).expect("it is named");
    ground.superuser().run(right.trim_start_matches("-- ").trim_end_matches(';')).await;
    backend.close().await;
    drop(leadership);
    let again = ground.open_at(&url, &ground.config("one", LONG)).await.expect("opens");
    assert_eq!(again.lock_holders().await.expect("it may look"), []);
    again.close().await;
}
