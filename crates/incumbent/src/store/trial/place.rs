//! A database for one scenario, and candidates in it.
//!
//! Assumes: nothing.
//! Promises: it is new, and has all tables.

use std::time::Duration;

use incumbent_protocol::identity::{CandidateId, CandidateName, ElectionName, Incarnation};
use incumbent_protocol::lease::request::{Bid, Denied, Done, Holding, Request, Resignation};
use incumbent_protocol::lease::row::Snapshot;
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::rules::Timing;
use incumbent_testbed::{shared_mariadb, shared_postgres};
use sqlx::mysql::MySqlConnection;
use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection, Row};
use tempfile::TempDir;

use crate::schema::Schema;
use crate::store::round::{Answer, Ask, WRITES};
use crate::store::{Manner, Store};
use crate::url::Target;

/// Sends text as it stands.
macro_rules! send {
    ($kind:ty, $url:expr, $it:ident => $do:expr) => {{
        let mut $it = <$kind>::connect($url).await.expect("it connects");
        let done = $do;
        $it.close().await.expect("it closes");
        done
    }};
}

/// One database.
pub(super) struct Place {
    pub(super) url: String,
    _folder: Option<TempDir>,
}

impl Place {
    pub(super) async fn sqlite() -> Place {
        let folder = tempfile::tempdir().expect("a folder");
        let url = format!("sqlite://{}", folder.path().join("app.db").display());
        Place::made(url, Some(folder)).await
    }

    pub(super) async fn postgres() -> Place {
        let server = shared_postgres().await.expect("PostgreSQL starts");
        Place::made(server.fresh_database().await.expect("a database").url, None).await
    }

    pub(super) async fn mariadb() -> Place {
        let server = shared_mariadb().await.expect("MariaDB starts");
        Place::made(server.fresh_database().await.expect("a database").url, None).await
    }

    async fn made(url: String, folder: Option<TempDir>) -> Place {
        Schema::of(&url).expect("a URL").apply().await.expect("the tables are made");
        Place { url, _folder: folder }
    }

    /// Somebody who may contend.
    pub(super) async fn candidate(&self, name: &str) -> Candidate {
        self.candidate_at(&self.url, name).await
    }

    /// The same by another way to the same place.
    pub(super) async fn candidate_at(&self, url: &str, name: &str) -> Candidate {
        let me = CandidateId::new(candidate(name), Incarnation::from_random(number_of(name)));
        let target = Target::parse(url).expect("a URL");
        let manner = Manner { contends: true, single_writer: false };
        let store = Store::open(target, me.clone(), &timing(), manner).await;
        Candidate { store: store.expect("it opens"), me }
    }

    /// Runs statements behind everybody's back.
    pub(super) async fn run(&self, sql: &str) {
        let sql = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
        if self.url.starts_with("sqlite") {
            send!(SqliteConnection, &self.url, it => sql.execute(&mut it).await.expect("runs"));
        } else if self.url.starts_with("postgres") {
            send!(PgConnection, &self.url, it => sql.execute(&mut it).await.expect("runs"));
        } else {
            send!(MySqlConnection, &self.url, it => sql.execute(&mut it).await.expect("runs"));
        }
    }

    /// The number that a statement finds.
    pub(super) async fn number(&self, sql: &str) -> i64 {
        let sql = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
        if self.url.starts_with("sqlite") {
            send!(SqliteConnection, &self.url, it => sql.fetch_one(&mut it).await.expect("runs").get(0))
        } else if self.url.starts_with("postgres") {
            send!(PgConnection, &self.url, it => sql.fetch_one(&mut it).await.expect("runs").get(0))
        } else {
            send!(MySqlConnection, &self.url, it => sql.fetch_one(&mut it).await.expect("runs").get(0))
        }
    }
}

/// Somebody who contends, without a driver.
pub(super) struct Candidate {
    pub(super) store: Store,
    pub(super) me: CandidateId,
}

impl Candidate {
    async fn ask(&mut self, request: Request) -> Answer {
        let asks = [Ask { election: billing(), request, promising: false }];
        let (mut answers, error) = self.store.round(&asks, WRITES).await;
        assert!(error.is_none(), "{error:?}");
        answers.pop().flatten().expect("an answer")
    }

    pub(super) async fn bid(&mut self) -> Answer {
        let (candidate, rules) = (self.me.clone(), *timing().rules());
        self.ask(Request::Bid(Bid {
            candidate,
            rules,
            suspicion: None,
            newest: None,
            longest: rules.lease(),
        }))
        .await
    }

    /// Wins a term that is open.
    pub(super) async fn win(&mut self) -> Holding {
        match self.bid().await {
            Outcome::Committed(Done::Claimed(claim)) => {
                Holding { candidate: claim.candidate, term: claim.term }
            }
            other => panic!("{other:?}"),
        }
    }

    pub(super) async fn lose(&mut self) -> Denied {
        match self.bid().await {
            Outcome::Refused(denied) => denied,
            other => panic!("{other:?}"),
        }
    }

    pub(super) async fn renews(&mut self, holding: &Holding) -> bool {
        matches!(self.ask(Request::Renew(holding.clone())).await, Outcome::Committed(Done::Renewed))
    }

    pub(super) async fn resign(&mut self, holding: Holding, heir: Option<&str>) {
        let resignation = Resignation { holding, heir: heir.map(candidate) };
        let answer = self.ask(Request::Resign(resignation)).await;
        assert!(matches!(answer, Outcome::Committed(Done::Resigned)), "{answer:?}");
    }

    pub(super) async fn look(&mut self) -> Snapshot {
        let mut found = self.store.look(Some(&billing())).await.expect("readable");
        found.pop().expect("it is there").1
    }
}

pub(super) fn billing() -> ElectionName {
    election("billing")
}

pub(super) fn election(name: &str) -> ElectionName {
    ElectionName::new(name).expect("a name")
}

pub(super) fn candidate(name: &str) -> CandidateName {
    CandidateName::new(name).expect("a name")
}

pub(super) fn timing() -> Timing {
    Timing::of_lease(Duration::from_mins(1)).expect("timing")
}

/// A number for each name of a few letters.
fn number_of(name: &str) -> u128 {
    name.bytes().fold(0, |number, byte| number << 8 | u128::from(byte))
}
