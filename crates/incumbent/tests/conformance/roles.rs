//! Users of the database with few rights.

use incumbent::Config;

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

async fn grant(superuser: &Users, grants: &str) {
    for statement in grants.split(';').filter(|it| !it.trim().is_empty()) {
        superuser.run(statement.trim()).await;
    }
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

/// As programs in other languages do: plain statements, the guard last, and COMMIT with it.
pub(crate) async fn a_user_with_only_the_guard_writes_under_a_token(ground: &Ground) {
    let user = role(ground, "writer").await;
    let superuser = ground.superuser();
    let postgres = ground.kind.is_postgres();
    let (guard, whom) = if postgres {
        ("FUNCTION incumbent_guard(text, bigint)", user.clone())
    } else {
        ("PROCEDURE incumbent_guard", format!("{user}@'%'"))
    };
    let grants =
        format!("GRANT SELECT, INSERT ON ledger TO {whom}; GRANT EXECUTE ON {guard} TO {whom}");
    grant(&superuser, &grants).await;
    let direct = ground.url_with(&user, PASSWORD, &ground.database().name);
    let writer = Users::new(&direct, 2);
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
