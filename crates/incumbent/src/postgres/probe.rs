//! What there is to see of a PostgreSQL server before one trusts it with an election.
//!
//! Assumes: the views and settings of PostgreSQL 12; what a relative of it lacks is not held
//! against it.
//! Promises: nothing is changed, and nothing is left behind in a session.

use std::time::Duration;

use sqlx::postgres::{PgConnection, PgListener, PgPoolOptions, PgSslMode};
use tokio::time::timeout;

use super::{Pg, fit};
use crate::bell;
use crate::doctor::finding::Verdict;
use crate::doctor::server::{self, Exam, Insists, Probed, is_this_host};
use crate::error::Error;
use crate::server::dialect::{Dialect, Limits};
use crate::server::fit::Unfit;

/// How long a ring may take.
const ECHO: Duration = Duration::from_secs(5);

impl Probed for Pg {
    const ISOLATION: &'static str = "SELECT current_setting('default_transaction_isolation')";
    const TABLE_TAIL: &'static str = "";
    const FIT: &'static [(&'static str, &'static str)] = &[
        ("endpoint", "it can be written to: a primary"),
        ("tables", "all eight are there and written to the log"),
        ("rights", "this user has what a candidate needs"),
    ];

    async fn identify(connection: &mut PgConnection) -> Result<(String, String), Error> {
        let asked = "SELECT current_setting('server_version'), version()".to_owned();
        let replies = Pg::send(connection, asked).await.map_err(Pg::trouble)?;
        let row = replies.first().and_then(|reply| reply.rows.first());
        let cell = |at: usize| row.and_then(|row| row.get(at)?.as_deref()).unwrap_or_default();
        let relatives = [("CockroachDB", "CockroachDB"), ("-YB-", "YugabyteDB")];
        let relative = relatives.iter().find(|(mark, _)| cell(1).contains(mark));
        let product = relative.map_or("PostgreSQL", |(_, name)| name);
        let version = cell(0).split(' ').next().unwrap_or_default();
        Ok((product.to_owned(), version.to_owned()))
    }

    async fn parts(connection: &mut PgConnection) -> Result<Option<Unfit>, Error> {
        fit::pooler(connection).await
    }

    async fn look_around(exam: &mut Exam<Pg>) -> Result<(), Error> {
        pooler(exam);
        if !exam.findings.is_refused("pooler") {
            advisory(exam).await;
            limits(exam).await;
        }
        doorbell(exam).await;
        durability(exam).await;
        standbys(exam).await;
        encryption(exam).await;
        Ok(())
    }
}

fn pooler(exam: &mut Exam<Pg>) {
    if exam.findings.is_refused("pooler") {
        return;
    }
    if exam.limits.each {
        let said = "there is one, which keeps a transaction together";
        let advice = "PgBouncer waits server_login_retry (15 s by default) after a failed login before it tries the server \
            again: set it to 1, or nobody leads for that much longer after a restart of the server";
        exam.findings.add("pooler", Verdict::Good, said.to_owned(), Some(advice.to_owned()));
    } else {
        exam.findings.good("pooler", "none that shows");
    }
}

async fn advisory(exam: &mut Exam<Pg>) {
    let begin = Pg::begin(exam.limits);
    let key = getrandom::u64().unwrap_or_default() >> 1;
    let take = format!("{begin}; SELECT pg_try_advisory_xact_lock({key})");
    let first = exam.ask(&take).await;
    let second = Pg::send(&mut exam.second, take).await.map_err(Pg::trouble);
    let second = second.map(|replies| {
        replies.last().and_then(|reply| reply.cell()).unwrap_or_default().to_owned()
    });
    for connection in [&mut exam.first, &mut exam.second] {
        let _ = Pg::send(connection, "ROLLBACK".to_owned()).await;
    }
    match (first.as_deref(), second.as_deref()) {
        (Ok("t"), Ok("f")) => {
            exam.findings.good("advisory locks", "they exclude; elections need them only for a fair queue");
        }
        (Ok(_), Ok(_)) => exam.findings.warn(
            "advisory locks",
            "two sessions had the same one: they exclude nobody here",
            "orders and takeovers may wait for long where fenced writers are busy; whatever else relies on them is not \
             safe on this server",
        ),
        _ => exam.findings.warn(
            "advisory locks",
            "none could be taken",
            "candidates need pg_advisory_xact_lock, or nobody can claim an election",
        ),
    }
}

/// The limits that a candidate would run under.
async fn limits(exam: &mut Exam<Pg>) {
    let limits = Limits::of(&exam.timing);
    let shown = async {
        let (mut own, limits) = Pg::connect(&exam.options, limits).await?;
        let names = "statement_timeout lock_timeout idle_in_transaction_session_timeout";
        let settings = names.split(' ').map(|name| format!("current_setting('{name}')"));
        let settings = settings.collect::<Vec<_>>().join(", ");
        let asked = format!("{}; SELECT {settings}; ROLLBACK", Pg::begin(limits));
        let replies = Pg::send(&mut own, asked).await?;
        let rows = replies.into_iter().find_map(|reply| reply.rows.into_iter().next());
        let _ = sqlx::Connection::close(own).await;
        Ok::<_, sqlx::Error>(rows.unwrap_or_default())
    };
    match shown.await.map_err(Pg::trouble) {
        Ok(cells) => {
            let cells: Vec<_> = cells.into_iter().map(Option::unwrap_or_default).collect();
            let [statement, lock, idle] = &cells[..] else { return };
            if [statement, lock, idle].contains(&&"0".to_owned()) {
                exam.findings.warn(
                    "limits",
                    format!("statements {statement}, locks {lock}, idle transactions {idle}; 0 means none"),
                    "a statement of a leader that is cut off may outlive its lease; it still cannot undo a takeover",
                );
            } else {
                let said =
                    format!("statements {statement}, locks {lock}, idle transactions {idle}");
                exam.findings.good("limits", said);
            }
        }
        Err(error) => exam.findings.untried("limits", &error.to_string()),
    }
}

/// Whether a ring of one's own is heard.
async fn doorbell(exam: &mut Exam<Pg>) {
    let channel = format!("incumbent_{:016x}", getrandom::u64().unwrap_or_default());
    let options =
        exam.options.clone().extra_float_digits(None).application_name("incumbent doctor");
    let heard = async {
        let pool = PgPoolOptions::new().max_connections(1).connect_lazy_with(options);
        let mut listener = PgListener::connect_with(&pool).await?;
        listener.listen(&channel).await?;
        Pg::send(&mut exam.first, format!("SELECT pg_notify('{channel}', '')")).await?;
        listener.recv().await
    };
    // What is listened to in a session of a pooler, its next owner would hear.
    let heard = !exam.limits.each && timeout(ECHO, heard).await.is_ok_and(|heard| heard.is_ok());
    let trip = exam.question.map_or(Duration::ZERO, |trips| trips.best);
    let poll = bell::polls(trip, exam.timing.beat());
    if heard {
        exam.findings
            .good("doorbell", "LISTEN and NOTIFY come through: a hand-over is heard of at once");
    } else {
        exam.findings.warn(
            "doorbell",
            format!("NOTIFY does not come through: candidates that wait look every {poll:.0?} instead"),
            "nothing but the speed of a hand-over hangs on it; a pooler in session mode, or none, lets it through",
        );
    }
}

async fn durability(exam: &mut Exam<Pg>) {
    let asked =
        "SELECT current_setting('fsync', true), current_setting('synchronous_commit', true),
        current_setting('full_page_writes', true)";
    let Ok(cells) = exam.ask_row(asked).await else { return };
    let [fsync, commit, pages] = &cells[..] else { return };
    let said = format!("fsync {fsync}, synchronous_commit {commit}, full_page_writes {pages}");
    if fsync == "off" || pages == "off" {
        exam.conditions.on_durability("the server loses no power");
        exam.findings.warn(
            "durability",
            said,
            "a loss of power can take the database along: restore it, and tokens go on growing by its clock",
        );
    } else if commit == "off" {
        exam.findings.warn(
            "durability",
            said,
            "elections set it on for themselves; a fenced transaction of yours does not, and a crash of the server can \
             forget it",
        );
    } else {
        exam.findings.good("durability", said);
    }
}

async fn standbys(exam: &mut Exam<Pg>) {
    let asked = "SELECT count(*), count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) FROM pg_stat_replication";
    let Ok(cells) = exam.ask_row(asked).await else { return };
    let names = exam.ask("SELECT current_setting('synchronous_standby_names', true)").await;
    let (names, commit) =
        (names.unwrap_or_default(), "SELECT current_setting('synchronous_commit', true)");
    let waits =
        exam.ask(commit).await.is_ok_and(|commit| !["off", "local"].contains(&commit.as_str()));
    let number = |at: usize| cells.get(at).and_then(|cell| cell.parse().ok()).unwrap_or(0_u32);
    match (number(0), number(1)) {
        (0, _) => exam.findings.good("standbys", "none are connected"),
        (all, synchronous) if synchronous > 0 && waits && !names.is_empty() => {
            let said = format!("{synchronous} of {all} are synchronous: a commit waits for them");
            exam.findings.good("standbys", said);
        }
        (all, _) => {
            exam.findings.warn(
                "standbys",
                format!("{all} asynchronous: promoting one may forget the last terms"),
                "tokens go on growing all the same, and candidates wait out a lease after a promotion; what was written \
                 in fenced transactions may be lost with the rest: synchronous_standby_names prevents that",
            );
            let condition =
                "a promoted standby has what was committed before (they are asynchronous)";
            exam.conditions.transaction.push(condition.to_owned());
        }
    }
}

async fn encryption(exam: &mut Exam<Pg>) {
    let asked = "SELECT coalesce(version, '') FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let Ok(version) = exam.ask(asked).await else { return };
    let local = exam.options.get_socket().is_some() || is_this_host(exam.options.get_host());
    let insists = match exam.options.get_ssl_mode() {
        PgSslMode::Disable => Insists::Never,
        PgSslMode::Allow | PgSslMode::Prefer => Insists::No,
        _ => Insists::Yes,
    };
    let version = (!exam.limits.each).then_some(version.as_str());
    let words = [
        "whoever sits between the two can take encryption away, and then be sent the password in clear text",
        "add ?sslmode=verify-full to the URL, or ?sslmode=require at least",
    ];
    server::encryption(&mut exam.findings, local, insists, version, words);
}
