//! Transactions that commit only under the leadership that began them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use incumbent::{Backend, Cause, Effect, Election, Error, Leadership, Order, Retry};
use sqlx::Connection;

use crate::ground::Ground;
use crate::host::Host;
use crate::support::{
    BILLING, LONG, SHORT, close_all, contend, for_a_while, lead, resign, seen, soon, until, won,
};
use crate::users::{Users, send, with_pool};

pub(crate) async fn work_commits_under_its_leadership(ground: &Ground) {
    let one = ground.candidate("one", LONG).await;
    let leadership = lead(&one).await;
    with_pool!(&ground.users, pool => {
        let mut work = leadership.transaction(pool).await.expect("begins");
        send!("INSERT INTO ledger VALUES (1, 'kept')", &mut *work).expect("inserts");
        work.commit().await.expect("commits");
        assert_eq!(ground.users.entries().await, 1);

        let mut work = leadership.transaction(pool).await.expect("begins");
        send!("INSERT INTO ledger VALUES (2, 'dropped')", &mut *work).expect("inserts");
        drop(work);
        let mut work = leadership.transaction(pool).await.expect("begins");
        send!("INSERT INTO ledger VALUES (2, 'undone')", &mut *work).expect("inserts");
        work.rollback().await.expect("undone");
        assert_eq!(ground.users.entries().await, 1);

        // A statement that fails is the user's; the leadership has nothing to do with it.
        let mut work = leadership.transaction(pool).await.expect("begins");
        send!("INSERT INTO ledger VALUES (1, 'again')", &mut *work).expect_err("a duplicate");
        drop(work);
        assert!(leadership.is_valid());
    });
    drop(leadership);
    close_all([one]).await;
}

pub(crate) async fn a_part_of_the_work_can_be_undone(ground: &Ground) {
    let one = ground.candidate("one", LONG).await;
    let leadership = lead(&one).await;
    with_pool!(&ground.users, pool => {
        let mut work = leadership.transaction(pool).await.expect("begins");
        send!("INSERT INTO ledger VALUES (1, 'outer')", &mut *work).expect("inserts");
        let mut part = work.begin().await.expect("a part");
        send!("INSERT INTO ledger VALUES (2, 'kept')", &mut *part).expect("inserts");
        part.commit().await.expect("kept");
        let mut part = work.begin().await.expect("a part");
        send!("INSERT INTO ledger VALUES (3, 'undone')", &mut *part).expect("inserts");
        part.rollback().await.expect("undone");
        work.commit().await.expect("commits");
        let kept = "SELECT count(*) FROM ledger WHERE entry < 3";
        assert_eq!((ground.users.number(kept).await, ground.users.entries().await), (2, 2));

        let mut work = leadership.transaction(pool).await.expect("begins");
        let mut part = work.begin().await.expect("a part");
        send!("INSERT INTO ledger VALUES (4, 'part')", &mut *part).expect("inserts");
        part.commit().await.expect("kept, so far");
        drop(work);
        assert_eq!(ground.users.entries().await, 2, "a part outlived the whole");
    });
    drop(leadership);
    close_all([one]).await;
}

/// Ends the leader's term for the sake of `two`, which leads when this returns.
async fn depose(ground: &Ground, first: &Leadership, one: &Election, two: &Election) -> Leadership {
    let waiting = contend(two);
    seen(one, "two").await;
    let term = Some(first.term().get());
    ground.heard_of("two").await;
    // A busy server may not answer in time. Then it may be carried out all the same, and a second one is
    // refused.
    let mut tried = false;
    until("the takeover", async || {
        let order = two.backend().takeover(BILLING, "two", term, "ann", None).await;
        let Err(error) = order else { return true };
        let later = error.retry() == Retry::Later;
        assert!(later || tried, "taken over: {error}");
        tried = true;
        !later
    })
    .await;
    soon("the loss", first.lost()).await;
    // The deposed leader's process lets go, though its work does not stop.
    one.backend().clone().close().await;
    won(waiting).await
}

/// How to begin so that SQLite does not keep everyone else away from the beginning.
async fn begin_early<'a, DB: incumbent::Fencing>(
    leadership: &'a Leadership,
    pool: &sqlx::Pool<DB>,
) -> incumbent::Fenced<'a, DB> {
    leadership.transaction_with(pool, "BEGIN").await.expect("begins")
}

pub(crate) async fn work_begun_before_a_takeover_is_not_committed_after_it(ground: &Ground) {
    let (one, two) = (ground.candidate("one", SHORT).await, ground.candidate("two", SHORT).await);
    let first = lead(&one).await;
    with_pool!(&ground.users, pool => {
        let mut work = begin_early(&first, pool).await;
        // In SQLite whoever has written keeps every successor away, so there it writes too late.
        let insert = "INSERT INTO ledger VALUES (1, 'too late')";
        if !ground.kind.is_file() {
            send!(insert, &mut *work).expect("inserts");
        }
        let second = depose(ground, &first, &one, &two).await;
        let error = if ground.kind.is_file() && send!(insert, &mut *work).is_err() {
            None
        } else {
            Some(work.commit().await.expect_err("the term is over"))
        };
        let over = first.term().get();
        let fenced = |error: &Error| matches!(error, Error::Fenced { term, .. } if *term == over);
        assert!(error.as_ref().is_none_or(fenced), "{error:?}");
        assert!(error.is_some() || ground.kind.is_file());
        assert_eq!(ground.users.entries().await, 0, "a deposed leader wrote");
        let early = first.transaction(pool).await.map(drop).expect_err("the term is over");
        assert!(fenced(&early), "{early}");
        assert!(early.to_string().contains("is over"), "{early}");
        let mut work = second.transaction(pool).await.expect("begins");
        send!("INSERT INTO ledger VALUES (1, 'in time')", &mut *work).expect("inserts");
        work.commit().await.expect("commits");
        drop(second);
    });
    close_all([two]).await;
}

pub(crate) async fn nothing_begins_under_a_leadership_that_was_lost(ground: &Ground) {
    let one = ground.candidate("one", LONG).await;
    let leadership = lead(&one).await;
    with_pool!(&ground.users, pool => {
        // In SQLite a transaction that is open holds up the order.
        let begun = if ground.kind.is_file() {
            None
        } else {
            let mut work = leadership.transaction(pool).await.expect("begins");
            send!("INSERT INTO ledger VALUES (1, 'last')", &mut *work).expect("inserts");
            Some(work)
        };
        let decree = one.backend().demote(BILLING, None, "ann", None);
        decree.await.expect("demoted");
        soon("the loss", leadership.lost()).await;
        // Nobody else can lead yet, so that what was begun may be finished.
        if let Some(work) = begun {
            work.commit().await.expect("commits");
        }
        let late = leadership.transaction(pool).await.map(drop).expect_err("it was lost");
        assert!(matches!(late, Error::Fenced { .. }), "{late}");
    });
    close_all([one]).await;
}

/// Whoever would lead next waits for a transaction whose guard has spoken.
pub(crate) async fn a_successor_waits_for_a_commit_in_flight(ground: &Ground) {
    let (one, two) = (ground.candidate("one", LONG).await, ground.candidate("two", LONG).await);
    let first = lead(&one).await;
    let token = first.token();
    let insert = "INSERT INTO ledger VALUES (1, 'in flight')";
    let waiting = match &ground.users {
        Users::Sqlite(pool) => {
            let mut work = first.transaction(pool).await.expect("begins");
            send!(insert, &mut *work).expect("inserts");
            let waiting = contend(&two);
            for_a_while().await;
            assert!(!waiting.is_finished(), "the successor did not wait");
            work.commit().await.expect("commits");
            resign(first).await;
            waiting
        }
        Users::Postgres(pool) => {
            let mut work = pool.begin().await.expect("begins");
            send!(insert, &mut *work).expect("inserts");
            send!(format!("SELECT incumbent_guard('{BILLING}', {token})"), &mut *work)
                .expect("stands");
            let waiting = contend(&two);
            drop(first);
            for_a_while().await;
            assert!(!waiting.is_finished(), "the successor did not wait");
            work.commit().await.expect("commits");
            waiting
        }
        Users::MySql(pool) => {
            let mut work = pool.begin().await.expect("begins");
            send!(insert, &mut *work).expect("inserts");
            send!(format!("CALL incumbent_guard('{BILLING}', {token})"), &mut *work)
                .expect("stands");
            let waiting = contend(&two);
            drop(first);
            for_a_while().await;
            assert!(!waiting.is_finished(), "the successor did not wait");
            work.commit().await.expect("commits");
            waiting
        }
    };
    assert_eq!(ground.users.entries().await, 1);
    assert!(won(waiting).await.token() > token);
    close_all([one, two]).await;
}

/// Writers that come after an order wait for it, however many there are; else they could keep it away
/// for as long as they have work.
pub(crate) async fn an_order_is_not_passed_by_later_writers(ground: &Ground) {
    let one = ground.candidate("one", LONG).await;
    let leadership = lead(&one).await;
    let guard = format!("SELECT incumbent_guard('{BILLING}', {})", leadership.token());
    let Users::Postgres(pool) = Users::new(&ground.database().url, 10) else {
        panic!("only PostgreSQL lets one who shares a row pass one who waits for it");
    };
    let mut first = pool.begin().await.expect("begins");
    send!(guard, &mut *first).expect("stands");
    let backend = one.backend().clone();
    let order =
        tokio::spawn(async move { backend.order(BILLING, Order::Pause, None, "ann", None).await });
    waiting(&pool, 1).await;
    let mut later = tokio::task::JoinSet::new();
    for _ in 0..7 {
        let (pool, guard) = (pool.clone(), guard.clone());
        later.spawn(async move {
            let mut work = pool.begin().await.expect("begins");
            send!(guard, &mut *work).expect("stands");
            work.commit().await.expect("commits");
        });
    }
    waiting(&pool, 8).await;
    assert!(later.try_join_next().is_none(), "a later writer passed the order");
    first.commit().await.expect("commits");
    soon("the order", order).await.expect("no panic").expect("paused");
    soon("the writers", later.join_all()).await;
    drop(leadership);
    close_all([one]).await;
}

/// The same of InnoDB, which has a queue for every row. An order gives up after a second and comes again, so that
/// here a statement of our own waits as an order does.
pub(crate) async fn a_change_of_a_row_is_not_passed_by_later_guards(ground: &Ground) {
    let one = ground.candidate("one", LONG).await;
    let leadership = lead(&one).await;
    let guard = format!("CALL incumbent_guard('{BILLING}', {})", leadership.token());
    let Users::MySql(pool) = Users::new(&ground.database().superuser_url, 10) else {
        panic!("not MariaDB")
    };
    let waiting = async |wanted: i64| {
        until("transactions wait for a row", async || {
            // What InnoDB shows is renewed ten times a second, if nobody asks meanwhile.
            for_a_while().await;
            let asked = "SELECT COUNT(*) FROM information_schema.innodb_trx AS t
                JOIN information_schema.processlist AS p ON p.id = t.trx_mysql_thread_id
                WHERE t.trx_state = 'LOCK WAIT' AND p.db = DATABASE()";
            ground.superuser().number(asked).await == wanted
        })
        .await;
    };
    let mut first = pool.begin().await.expect("begins");
    send!(guard, &mut *first).expect("stands");
    let order = {
        let (pool, change) = (pool.clone(), "SELECT 1 FROM incumbent_election FOR UPDATE");
        tokio::spawn(async move {
            let mut work = pool.begin().await.expect("begins");
            send!(change, &mut *work).expect("has the row");
            work.rollback().await.expect("undone");
        })
    };
    waiting(1).await;
    let mut later = tokio::task::JoinSet::new();
    for _ in 0..7 {
        let (pool, guard) = (pool.clone(), guard.clone());
        later.spawn(async move {
            let mut work = pool.begin().await.expect("begins");
            send!(guard, &mut *work).expect("stands");
            work.commit().await.expect("commits");
        });
    }
    waiting(8).await;
    assert!(later.try_join_next().is_none(), "a later writer passed");
    first.commit().await.expect("commits");
    soon("the change", order).await.expect("no panic");
    soon("the writers", later.join_all()).await;
    drop(leadership);
    close_all([one]).await;
}

/// Waits until that many sessions of the database wait for a lock.
async fn waiting(pool: &sqlx::PgPool, wanted: i64) {
    let asked = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'";
    until("sessions wait for a lock", async || {
        let found: i64 = sqlx::query_scalar(asked).fetch_one(pool).await.expect("an answer");
        found == wanted
    })
    .await;
}

/// A pool that leads elsewhere, where there is no table of ours.
pub(crate) async fn a_pool_of_another_database_is_refused(ground: &Ground) {
    let one = ground.candidate("one", LONG).await;
    let leadership = lead(&one).await;
    let elsewhere = Ground::bare(ground.kind, Host::shared(ground.kind).await).await;
    with_pool!(&elsewhere.users, pool => {
        let error = leadership.transaction(pool).await.map(drop).expect_err("it is elsewhere");
        let text = error.to_string();
        assert!(text.contains("does not hold the election"), "{text}");
        assert!(text.contains(BILLING), "{text}");
        assert_eq!(error.standing(), Effect::None, "{text}");
    });
    assert!(leadership.is_valid(), "it was lost for a mistake of the user's");
    with_pool!(&ground.users, pool => {
        let work = leadership.transaction(pool).await.expect("begins where it belongs");
        work.commit().await.expect("commits");
    });
    drop(leadership);
    close_all([one]).await;
}

/// The answer to the COMMIT is lost: whoever sent it is told that it cannot know.
pub(crate) async fn a_commit_whose_answer_is_lost_is_in_doubt(ground: &Ground) {
    let one = ground.candidate("one", LONG).await;
    let leadership = lead(&one).await;
    let proxy = ground.proxy().await;
    let users = Users::new(&proxy.url(&ground.url), 2);
    with_pool!(&users, pool => {
        let mut work = leadership.transaction(pool).await.expect("begins");
        send!("INSERT INTO ledger VALUES (1, 'unheard')", &mut *work).expect("inserts");
        proxy.reset_on_reply(b"incumbent_guard");
        let error = work.commit().await.expect_err("the answer is lost");
        assert!(proxy.fired());
        assert!(matches!(error, Error::InDoubt(_)), "{error}");
        assert!(error.to_string().contains("look before doing it again"), "{error}");
    });
    // MariaDB answers the guard before it commits, and may notice first that nobody listens.
    let entries = ground.users.entries().await;
    assert!(entries == 1 || !ground.kind.is_postgres(), "{entries} entries");
    drop(leadership);
    close_all([one]).await;
}

/// Stricter levels change nothing about who may commit.
pub(crate) async fn stricter_isolation_fences_as_well(ground: &Ground) {
    let levels = ["REPEATABLE READ", "SERIALIZABLE"];
    for (at, level) in levels.into_iter().enumerate() {
        let (one, two) =
            (ground.candidate("one", SHORT).await, ground.candidate("two", SHORT).await);
        let first = lead(&one).await;
        let (kept, late) = (2 * at + 1, 2 * at + 2);
        let begin: &'static str = match (ground.kind.is_postgres(), at) {
            (true, 0) => "BEGIN ISOLATION LEVEL REPEATABLE READ",
            (true, _) => "BEGIN ISOLATION LEVEL SERIALIZABLE",
            (false, _) => "START TRANSACTION",
        };
        let users = stricter(&ground.users, level);
        with_pool!(&users, pool => {
            let mut work = first.transaction_with(pool, begin).await.expect("begins");
            send!(format!("INSERT INTO ledger VALUES ({kept}, 'kept')"), &mut *work).expect("inserts");
            work.commit().await.expect("commits");
            let mut work = first.transaction_with(pool, begin).await.expect("begins");
            send!(format!("INSERT INTO ledger VALUES ({late}, 'late')"), &mut *work).expect("inserts");
            let second = depose(ground, &first, &one, &two).await;
            let error = work.commit().await.expect_err("the term is over");
            // What was read at the beginning has changed: either word means that nothing was written.
            assert!(matches!(error, Error::Fenced { .. } | Error::Conflict(_)), "{level}: {error}");
            drop(second);
        });
        close_all([two]).await;
    }
    assert_eq!(ground.users.entries().await, 2, "a deposed leader wrote");
}

/// MySQL knows the level of a session, not of a BEGIN.
fn stricter(users: &Users, level: &str) -> Users {
    let Users::MySql(pool) = users else { return users.clone() };
    let sql = format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}");
    let options = sqlx::mysql::MySqlPoolOptions::new().max_connections(2);
    let options = options.after_connect(move |connection, _| {
        let sql = sql.clone();
        Box::pin(async move { send!(sql, connection).map(drop) })
    });
    Users::MySql(options.connect_lazy_with((*pool.connect_options()).clone()))
}

/// Who sees the sessions of others.
async fn all_seeing(ground: &Ground) -> Backend {
    let options = ground.url.split_once('?').map(|(_, options)| format!("?{options}"));
    let url = format!("{}{}", ground.database().superuser_url, options.unwrap_or_default());
    ground.open_at(&url, &ground.config("onlooker", LONG)).await.expect("opens")
}

/// A program that calls the guard by hand and is stopped before COMMIT.
pub(crate) async fn whoever_keeps_the_lock_of_an_election_is_named(ground: &Ground) {
    let postgres = ground.kind.is_postgres();
    let one = ground.candidate("one", LONG).await;
    let leadership = lead(&one).await;
    let backend = all_seeing(ground).await;
    assert_eq!(backend.lock_holders().await.expect("looks"), []);
    let (begin, call) = if postgres { ("BEGIN", "SELECT") } else { ("START TRANSACTION", "CALL") };
    let guard = format!("{begin}; {call} incumbent_guard('{BILLING}', {})", leadership.token());
    with_pool!(&ground.users, pool => {
        let mut stopped = pool.acquire().await.expect("connects");
        send!(guard, &mut *stopped).expect("holds the lock");
        let mut found = Vec::new();
        until("it is named", async || {
            // InnoDB shows nothing new to whoever asks without a pause.
            for_a_while().await;
            found = backend.lock_holders().await.expect("looks");
            !found.is_empty()
        })
        .await;
        let [holder] = &found[..] else { panic!("{found:?}") };
        assert_eq!(holder.election.is_some(), postgres);
        let said = holder.to_string();
        assert!(said.starts_with("session ") && said.contains("has had"), "{said}");
        let causes = backend.explain(BILLING, "two").await.expect("explains");
        let words: Vec<_> = causes.iter().map(ToString::to_string).collect();
        let end = if let Some(end) = &holder.end {
            assert!(words[0].starts_with("the election is held up: session "), "{words:?}");
            end.clone()
        } else {
            // MariaDB does not tell which rows are locked, so that it could be any work of this database.
            assert!(!postgres && said.contains("may be what"), "{said}");
            let Some((last, others)) = words.split_last() else { panic!("{said}") };
            assert!(!others.iter().any(|other| other.contains("held up")), "{words:?}");
            assert!(!others.is_empty(), "{words:?}");
            assert!(last.starts_with("the election may be held up: session "), "{words:?}");
            format!("KILL {}", said.split(' ').nth(1).expect("a number"))
        };
        // What it advises ends it.
        ground.superuser().run(&end).await;
        send!("COMMIT", &mut *stopped).expect_err("its session was ended");
        stopped.close().await.ok();
    });
    assert_eq!(backend.lock_holders().await.expect("looks"), []);
    drop(leadership);
    backend.close().await;
    close_all([one]).await;
}

/// PostgreSQL lists the locks of all databases of a server.
pub(crate) async fn whoever_keeps_a_lock_in_another_database_is_not_named(ground: &Ground) {
    let here = ground.candidate("one", LONG).await;
    let leads_here = lead(&here).await;
    let other = Ground::new(ground.kind).await;
    let there = other.candidate("one", LONG).await;
    let leads_there = lead(&there).await;
    let guard = format!("SELECT incumbent_guard('{BILLING}', {})", leads_there.token());
    with_pool!(&other.users, pool => {
        let mut work = pool.begin().await.expect("begins");
        send!(guard, &mut *work).expect("holds the lock");
        // The same question where the lock is says when it would have been named.
        let mut found = Vec::new();
        until("it is named there", async || {
            found = there.backend().lock_holders().await.expect("looks");
            !found.is_empty()
        })
        .await;
        assert_eq!(here.backend().lock_holders().await.expect("looks"), []);
        work.commit().await.expect("commits");
    });
    drop((leads_here, leads_there));
    close_all([here, there]).await;
    other.judge();
}

/// A writer that works for long before its guard holds up no election, and is not to be killed for it.
pub(crate) async fn whoever_writes_elsewhere_is_not_said_to_hold_elections_up(ground: &Ground) {
    let one = ground.candidate("one", LONG).await;
    let leadership = lead(&one).await;
    let backend = all_seeing(ground).await;
    with_pool!(&ground.users, pool => {
        let mut work = leadership.transaction(pool).await.expect("begins");
        send!("INSERT INTO ledger VALUES (1, 'long work')", &mut *work).expect("inserts");
        send!("UPDATE ledger SET note = 'longer'", &mut *work).expect("updates");
        tokio::time::sleep(Duration::from_millis(1500)).await;
        let found = backend.lock_holders().await.expect("looks");
        assert!(found.iter().all(|holder| holder.end.is_none()), "{found:?}");
        let causes = backend.explain(BILLING, "one").await.expect("explains");
        let words: Vec<_> = causes.iter().map(Cause::word).collect();
        assert!(!words.contains(&"held_up"), "{words:?}");
        work.commit().await.expect("commits");
    });
    drop(leadership);
    backend.close().await;
    close_all([one]).await;
}

/// Writers that are always at work keep neither an order nor a successor away.
pub(crate) async fn orders_and_takeovers_go_on_beside_busy_writers(ground: &Ground) {
    const NAMES: [&str; 2] = ["one", "two"];
    let lease = Duration::from_secs(10);
    let pair = [ground.candidate(NAMES[0], lease).await, ground.candidate(NAMES[1], lease).await];
    let mut leadership = lead(&pair[0]).await;
    let (begin, call) =
        if ground.kind.is_postgres() { ("BEGIN", "SELECT") } else { ("START TRANSACTION", "CALL") };
    let token = Arc::new(AtomicU64::new(leadership.token().get()));
    let written = Arc::new(AtomicU64::new(0));
    let users = Users::new(&ground.database().url, 8);
    let mut writers = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (users, token, written) = (users.clone(), token.clone(), written.clone());
        writers.spawn(async move {
            loop {
                let token = token.load(Ordering::SeqCst);
                let guard = format!("{begin}; {call} incumbent_guard('{BILLING}', {token})");
                with_pool!(&users, pool => {
                    let mut session = pool.acquire().await.expect("connects");
                    let end = if send!(guard, &mut *session).is_ok() {
                        tokio::time::sleep(Duration::from_millis(10)).await;
                        written.fetch_add(1, Ordering::SeqCst);
                        "COMMIT"
                    } else {
                        "ROLLBACK"
                    };
                    send!(end, &mut *session).expect("ends");
                });
            }
        });
    }
    for turn in 1..=6 {
        let before = written.load(Ordering::SeqCst);
        until("writers are at work", async || written.load(Ordering::SeqCst) > before + 8).await;
        let (next, name) = (&pair[turn % 2], NAMES[turn % 2]);
        for order in [Order::Pause, Order::Resume] {
            let given = next.backend().order(BILLING, order, None, "ann", None).await;
            given.expect("is carried out in time");
        }
        let waiting = contend(next);
        ground.heard_of(name).await;
        let order = next.backend().takeover(BILLING, name, None, "ann", None).await;
        order.expect("is carried out in time");
        soon("the loss", leadership.lost()).await;
        drop(leadership);
        leadership = won(waiting).await;
        token.store(leadership.token().get(), Ordering::SeqCst);
    }
    writers.shutdown().await;
    drop(leadership);
    close_all(pair).await;
}
