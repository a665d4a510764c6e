//! The servers, and a troupe on each.

use std::process::{Command, Output};

use incumbent_testbed::{shared_mariadb, shared_postgres};

use crate::troupe::Troupe;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_incumbent");

/// Which server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Postgres,
    Mariadb,
}

impl Kind {
    /// The URL of an empty database.
    pub(crate) async fn fresh(self) -> String {
        let database = match self {
            Kind::Postgres => shared_postgres().await.expect("a server").fresh_database().await,
            Kind::Mariadb => shared_mariadb().await.expect("a server").fresh_database().await,
        };
        database.expect("a database").url
    }

    /// A troupe on a fresh database that has the tables.
    pub(crate) async fn troupe(self) -> Troupe {
        troupe_at(&self.fresh().await)
    }
}

/// A troupe on this database, which gets the tables.
pub(crate) fn troupe_at(url: &str) -> Troupe {
    let troupe = Troupe::new(PROGRAM, "3s").at(url);
    let made = output(troupe.call("schema").arg("--apply"));
    assert!(made.status.success(), "{made:?}");
    troupe
}

pub(crate) fn output(command: &mut Command) -> Output {
    command.output().expect("the program starts")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// The password of a URL.
pub(crate) fn password(url: &str) -> &str {
    let (_, rest) = url.split_once("://").expect("a URL");
    let (user, _) = rest.split_once('@').expect("a user");
    user.split_once(':').expect("a password").1
}
