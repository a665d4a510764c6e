//! What there is to see of a MySQL or MariaDB server before one trusts it with an election.
//!
//! Assumes: their variables and status; what a relative lacks is not held against it.
//! Promises: nothing is changed, and nothing is left behind in a session.

use std::time::Duration;

use sqlx::mysql::{MySqlConnection, MySqlSslMode};

use super::{My, group};
use crate::bell;
use crate::doctor::server::{self, Exam, Insists, Probed, is_this_host};
use crate::error::Error;
use crate::server::dialect::{Dialect, Limits};

impl Probed for My {
    const ISOLATION: &'static str =
        "SELECT /*!50720 @@global.transaction_isolation */ /*M! @@global.tx_isolation */";
    const TABLE_TAIL: &'static str = " ENGINE = InnoDB";
    const FIT: &'static [(&'static str, &'static str)] = &[
        ("endpoint", "it can be written to: a primary"),
        ("tables", "all eight are there and use InnoDB"),
        ("rights", "this user has what a candidate needs"),
    ];

    async fn identify(connection: &mut MySqlConnection) -> Result<(String, String), Error> {
        let asked = "SELECT @@version, @@version_comment".to_owned();
        let replies = My::send(connection, asked).await.map_err(My::trouble)?;
        let row = replies.first().and_then(|reply| reply.rows.first());
        let cell = |at: usize| row.and_then(|row| row.get(at)?.as_deref()).unwrap_or_default();
        let known = ["MariaDB", "TiDB", "Percona"];
        let product =
            known.iter().find(|name| cell(0).contains(**name) || cell(1).contains(**name));
        let version = cell(0).split('-').next().unwrap_or_default();
        Ok(((*product.unwrap_or(&"MySQL")).to_owned(), version.to_owned()))
    }

    async fn look_around(exam: &mut Exam<My>) -> Result<(), Error> {
        cluster(exam).await;
        advisory(exam).await;
        limits(exam).await;
        doorbell(exam);
        durability(exam).await;
        if !group::look(exam).await {
            replicas(exam).await;
        }
        encryption(exam).await;
        Ok(())
    }
}

/// The value of a global variable or status; empty where there is no such thing.
pub(super) async fn value(exam: &mut Exam<My>, kind: &str, name: &str) -> String {
    let row = exam.ask_row(&format!("SHOW GLOBAL {kind} LIKE '{name}'")).await;
    row.ok().and_then(|row| row.into_iter().nth(1)).unwrap_or_default()
}

async fn cluster(exam: &mut Exam<My>) {
    if exam.findings.is_refused("cluster") || value(exam, "VARIABLES", "wsrep_on").await != "ON" {
        return;
    }
    let size = value(exam, "STATUS", "wsrep_cluster_size").await;
    let state = value(exam, "STATUS", "wsrep_local_state_comment").await;
    if !exam.manner.single_writer {
        // Without tables it was not asked yet.
        exam.findings.refuse(
            "cluster",
            format!("it is one of {size} nodes of a Galera cluster, which do not see each other's row locks"),
            "send all candidates to one node at a time and vouch for that with ?galera=single-writer in the URL",
        );
        return;
    }
    exam.findings.warn(
        "cluster",
        format!("it is one of {size} nodes of a Galera cluster ({state}), and you vouch that candidates use one at a time"),
        "keep that promise in the proxy before the cluster: with two writers a deposed leader could still commit",
    );
    let vouched = "all candidates write through one node at a time, as you vouch".to_owned();
    exam.conditions.lease.push(vouched.clone());
    exam.conditions.transaction.push(vouched);
}

async fn advisory(exam: &mut Exam<My>) {
    let key = getrandom::u64().unwrap_or_default();
    let take = format!("SELECT GET_LOCK('incumbent_{key:016x}', 0)");
    let first = exam.ask(&take).await;
    let second = My::send(&mut exam.second, take.clone()).await.map_err(My::trouble);
    let second = second.map(|replies| {
        replies.last().and_then(|reply| reply.cell()).unwrap_or_default().to_owned()
    });
    let release = take.replace("GET_LOCK", "RELEASE_LOCK").replace(", 0", "");
    for connection in [&mut exam.first, &mut exam.second] {
        let _ = My::send(connection, release.clone()).await;
    }
    match (first.as_deref(), second.as_deref()) {
        (Ok("1"), Ok("0")) => {
            exam.findings.good("advisory locks", "GET_LOCK excludes; elections do not use it");
        }
        (Ok(_), Ok(_)) => exam.findings.warn(
            "advisory locks",
            "two sessions had the same GET_LOCK: it excludes nobody here",
            "elections do not use it; whatever else does is not safe on this server",
        ),
        _ => exam.findings.good("advisory locks", "there are none; elections do not use them"),
    }
}

/// The limits that a candidate would run under.
async fn limits(exam: &mut Exam<My>) {
    let limits = Limits::of(&exam.timing);
    let shown = async {
        let (mut own, _) = My::connect(&exam.options, limits).await?;
        let names = "'innodb_lock_wait_timeout', 'max_statement_time', 'idle_transaction_timeout', 'max_execution_time'";
        let asked = format!("SHOW SESSION VARIABLES WHERE variable_name IN ({names})");
        let replies = My::send(&mut own, asked).await?;
        let _ = sqlx::Connection::close(own).await;
        let rows = replies.into_iter().flat_map(|reply| reply.rows);
        let pair = |row: Vec<Option<String>>| {
            let mut cells = row.into_iter().map(Option::unwrap_or_default);
            let name = cells.next().unwrap_or_default();
            (name, cells.next().unwrap_or_default())
        };
        Ok::<Vec<(String, String)>, sqlx::Error>(rows.map(pair).collect())
    };
    let shown = match shown.await.map_err(My::trouble) {
        Ok(shown) => shown,
        Err(error) => return exam.findings.untried("limits", &error.to_string()),
    };
    let said = shown.iter().map(|(name, value)| {
        let value = value.trim_end_matches('0').trim_end_matches('.');
        format!("{name} {}", if value.is_empty() { "0" } else { value })
    });
    let said = said.collect::<Vec<_>>().join(", ");
    if shown.iter().any(|(name, _)| name == "max_statement_time") {
        exam.findings.good("limits", said);
    } else {
        exam.findings.warn(
            "limits",
            said,
            "MySQL bounds reads only: a write of a leader that is cut off may outlive its lease; it still cannot undo a \
             takeover",
        );
    }
}

fn doorbell(exam: &mut Exam<My>) {
    let trip = exam.question.map_or(Duration::ZERO, |trips| trips.best);
    let poll = bell::polls(trip, exam.timing.beat());
    let said = format!("this kind of server has none: candidates that wait look every {poll:.0?}");
    exam.findings.good("doorbell", said);
}

async fn durability(exam: &mut Exam<My>) {
    let flush = value(exam, "VARIABLES", "innodb_flush_log_at_trx_commit").await;
    let sync = value(exam, "VARIABLES", "sync_binlog").await;
    let said = format!("innodb_flush_log_at_trx_commit {flush}, sync_binlog {sync}");
    match flush.as_str() {
        "2" => exam.conditions.on_durability("the server loses no power"),
        "0" => exam.conditions.on_durability("the server does not crash"),
        _ => {}
    }
    match flush.as_str() {
        "1" => exam.findings.good("durability", said),
        "2" => exam.findings.warn(
            "durability",
            said,
            "a loss of power can forget the last second of terms; a crash of the server alone cannot. Tokens go on growing \
             by its clock; 1 prevents it",
        ),
        "" => exam.findings.untried("durability", "the setting cannot be seen"),
        _ => exam.findings.warn(
            "durability",
            said,
            "a crash of the server can forget the last second of terms: whoever led then must not be trusted without its \
             token; set it to 1",
        ),
    }
}

async fn replicas(exam: &mut Exam<My>) {
    let replicas = value(exam, "STATUS", "Slaves_connected").await;
    let waiting = value(exam, "STATUS", "Rpl_semi_sync_master_clients").await;
    let number = |text: &str| text.parse().unwrap_or(0_u32);
    match (number(&replicas), number(&waiting)) {
        (0, 0) => exam.findings.good("standbys", "none are connected"),
        (_, waiting) if waiting > 0 => {
            let said =
                format!("{waiting} are semi-synchronous: a commit waits until one of them has it");
            exam.findings.good("standbys", said);
        }
        (all, _) => {
            exam.findings.warn(
                "standbys",
                format!("{all} asynchronous: promoting one may forget the last terms"),
                "tokens go on growing all the same, and candidates wait out a lease after a promotion; what was written \
                 in fenced transactions may be lost with the rest: semi-synchronous replication prevents that",
            );
            let condition =
                "a promoted replica has what was committed before (they are asynchronous)";
            exam.conditions.transaction.push(condition.to_owned());
        }
    }
}

async fn encryption(exam: &mut Exam<My>) {
    let asked = exam.ask_row("SHOW SESSION STATUS LIKE 'Ssl_version'").await;
    let Some(version) = asked.ok().and_then(|row| row.into_iter().nth(1)) else { return };
    let local = exam.options.get_socket().is_some() || is_this_host(exam.options.get_host());
    let insists = match exam.options.get_ssl_mode() {
        MySqlSslMode::Disabled => Insists::Never,
        MySqlSslMode::Preferred => Insists::No,
        _ => Insists::Yes,
    };
    let words = [
        "whoever sits between the two can take encryption away, and read all that is said",
        "add ?ssl-mode=verify_identity to the URL, or ?ssl-mode=required at least",
    ];
    server::encryption(&mut exam.findings, local, insists, Some(&version), words);
}
