//! An older backup is restored over the running database.

use std::path::Path;
use std::process::Stdio;

use incumbent::Protocol;
use incumbent_testbed::{MariaDb, Postgres};
use tokio::process::Command;

use crate::judge::Memory;
use crate::server::Server;
use crate::support::run;
use crate::troupe::{ELECTIONS, Troupe};

/// What the tools of a server do.
pub(crate) trait Backup: Server {
    fn save(&self, file: &Path) -> Command;
    fn restore(&self, file: &Path) -> Command;
}

impl Backup for Postgres {
    fn save(&self, file: &Path) -> Command {
        let mut command = Command::new("pg_dump");
        command.args(["--clean", "--if-exists", "--dbname", &self.superuser_url(), "--file"]);
        command.arg(file);
        command
    }

    fn restore(&self, file: &Path) -> Command {
        let mut command = Command::new("psql");
        command.args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-d", &self.superuser_url(), "-f"]);
        command.arg(file);
        command
    }
}

impl Backup for MariaDb {
    fn save(&self, file: &Path) -> Command {
        let mut command = tool(self, "mariadb-dump");
        // The candidates go on meanwhile: whatever they write into a table that was just made anew is
        // overwritten by the backup.
        command.args(["--single-transaction", "--replace", "--routines", "incumbent"]);
        command.arg("--result-file");
        command.arg(file);
        command
    }

    fn restore(&self, file: &Path) -> Command {
        let mut command = tool(self, "mariadb");
        let file = std::fs::File::open(file).expect("the backup");
        command.arg("incumbent").stdin(Stdio::from(file));
        command
    }
}

fn tool(server: &MariaDb, name: &str) -> Command {
    let mut command = Command::new(name);
    command.args(["--no-defaults", "--protocol=tcp", "--host=127.0.0.1", "--user=root"]);
    command.arg(format!("--port={}", server.port())).env("MYSQL_PWD", server.password());
    command
}

pub(crate) async fn restored<S: Backup>(protocol: Protocol) {
    let server = S::begin().await;
    let mut troupe = Troupe::of_three(&server, protocol).await;
    troupe.work().await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("backup.sql");
    run(server.save(&file)).await;
    let early = ELECTIONS.map(|election| troupe.log.led(election).1.expect("led"));
    for candidate in &troupe.candidates {
        candidate.resign();
    }
    let mut late = Vec::new();
    for past in &early {
        late.push(troupe.succession(past).await);
    }
    // So that everyone has seen the terms that are about to be forgotten.
    troupe.work().await;
    run(server.restore(&file)).await;
    for past in &late {
        let successor = troupe.succession(past).await;
        assert!(successor.term > past.term, "a token came back");
    }
    troupe.join("newcomer").await;
    for candidate in &troupe.candidates {
        candidate.resign();
    }
    troupe.judge("older backup restored", &server, Memory::Gaps).await;
}

#[tokio::test]
async fn tokens_grow_on_when_an_older_backup_of_postgres_is_restored() {
    restored::<Postgres>(Protocol::Lease).await;
}

#[tokio::test]
async fn tokens_grow_on_when_an_older_backup_of_mariadb_is_restored() {
    restored::<MariaDb>(Protocol::Lease).await;
}
