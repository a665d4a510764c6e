//! What several test files share: clients, and looking for what was left behind.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use incumbent_testbed::MariaDb;
use tokio::process::Command;

/// How every test here ends: a server that cannot start is a failure.
pub(crate) type Result = anyhow::Result<()>;

/// Runs a statement at a URL of PostgreSQL, in a session of its own.
pub(crate) async fn psql(url: &str, statement: &str) -> anyhow::Result<String> {
    let mut command = Command::new("psql");
    command.args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", statement]);
    output(command).await
}

/// Runs statements as the user `incumbent` over TCP.
pub(crate) async fn mariadb(
    server: &MariaDb,
    extra: &[String],
    statement: &str,
) -> anyhow::Result<String> {
    let mut command = Command::new("mariadb");
    command.args(["--no-defaults", "--batch", "--skip-column-names", "--protocol=tcp"]);
    command.args(["--host=127.0.0.1", "--user=incumbent", &format!("--port={}", server.port())]);
    command.args(extra).args(["--execute", statement, "incumbent"]);
    command.env("MYSQL_PWD", server.password());
    output(command).await
}

async fn output(mut command: Command) -> anyhow::Result<String> {
    let output = command.kill_on_drop(true).output().await?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?.trim_end_matches('\n').to_owned())
}

/// Waits until `condition` holds, much longer than it should take.
pub(crate) async fn eventually(
    what: &str,
    mut condition: impl AsyncFnMut() -> bool,
) -> anyhow::Result<()> {
    let began = Instant::now();
    while !condition().await {
        if began.elapsed() > Duration::from_mins(1) {
            bail!("after a minute it is not so that {what}");
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}

/// Whether a server's folder is removed, its disk unmounted, and no process works there.
pub(crate) fn is_gone(folder: &Path) -> anyhow::Result<bool> {
    let mounts = std::fs::read_to_string("/proc/self/mounts")?;
    let mounted = mounts.contains(&folder.display().to_string());
    let mut processes = std::fs::read_dir("/proc")?.flatten();
    let works = processes.any(|entry| {
        std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
    });
    Ok(!folder.exists() && !mounted && !works)
}
