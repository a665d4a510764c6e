//! `cargo xtask soak`: what takes too long, or too quiet a machine, for every change.
//!
//! First the failover bound that we state, measured on real servers: a busy machine may break it. Then
//! the suites on servers that this system does not package, which need root and a Debian or a relative of
//! it with `debootstrap` (installed if it is missing). They come into a folder of their own, from the mirror
//! that apt is configured with; the tests run there, with the same programs as elsewhere; a server that
//! cannot start fails its tests.

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

use crate::step::Step;
use crate::table::Table;
use crate::{apt, artifact, printer, process};

/// What the servers come from, and which.
const SUITE: &str = "sid";
const PACKAGES: &str = "--include=mysql-server,postgresql,openssl";

/// What shows that a folder is complete.
const COMPLETE: &[&str] = &["usr/sbin/mysqld", "usr/bin/mariadb", "usr/lib/postgresql"];

/// Lets tests that start MariaDB start MySQL instead.
const MYSQL: &str = "INCUMBENT_TESTBED_MYSQL";

/// The programs of MySQL under the names that tests know.
const NAMES: &[(&str, &str)] = &[("mysql", "mariadb"), ("mysqldump", "mariadb-dump")];

/// What cannot be tried on MySQL: it encrypts every connection, so that a proxy finds no statement in it whose answer it
/// could withhold (others withhold by direction); two tests ask in words of MariaDB alone; and it cannot replace a
/// procedure, so that rights to call it go with the old one.
const OF_MARIADB: &[&str] = &[
    "--skip",
    "is_lost",
    "--skip",
    "are_lost",
    "--skip",
    "unheard",
    "--skip",
    "over_tls",
    "--skip",
    "disk_is_full",
    "--skip",
    "outlives_a_new_version",
];

const STEPS: &[Step] = &[
    Step::cargo(
        "failover-bound",
        "50 kills of a leader on each server, and 5 promotions of a standby, are followed within the bounds that are stated",
        &[
            "bench",
            "--package",
            "incumbent",
            "--all-features",
            "--bench",
            "failover_servers",
            "--",
            "--judge",
            "--kills",
            "50",
            "--handovers",
            "10",
            "--promotions",
            "5",
            "--store",
            "sqlite,postgres,mariadb",
        ],
    ),
    Step::call("root", "the servers are there", |root| make(&place(root))),
    Step::call("mysql", "the conformance suite passes on MySQL", |root| {
        suite(root, "conformance", &[&["mariadb"], OF_MARIADB].concat(), true)
    }),
    Step::call("mysql-disasters", "elections survive disasters of MySQL", |root| {
        suite(root, "disasters", &[&["mariadb"], OF_MARIADB].concat(), true)
    }),
    Step::call("mysql-group", "elections follow the primary of a group of three", |root| {
        suite(root, "disasters", &["--ignored", "--test-threads=1", "group::"], true)
    }),
    Step::call("postgres", "the conformance suite passes on the newest PostgreSQL", |root| {
        suite(root, "conformance", &["postgres", "--skip", "pgbouncer"], false)
    }),
    Step::call("postgres-disasters", "elections survive disasters of it", |root| {
        suite(root, "disasters", &["postgres", "--skip", "pgbouncer"], false)
    }),
];

/// All steps.
pub(crate) fn table() -> Table {
    Table::new("cargo xtask soak --only", STEPS.iter().copied())
}

/// Where the servers are.
fn place(root: &Path) -> PathBuf {
    let given = env::var_os("INCUMBENT_SOAK_ROOT").map(PathBuf::from);
    given.unwrap_or_else(|| root.join("target").join("soak").join(SUITE))
}

fn is_complete(place: &Path) -> bool {
    COMPLETE.iter().all(|path| place.join(path).exists())
}

/// Makes the folder with the servers, unless it is there.
fn make(place: &Path) -> anyhow::Result<()> {
    if is_complete(place) {
        return Ok(());
    }
    ensure!(apt::may_install(), "this needs root on Debian or a relative of it: run it with sudo");
    if !process::succeeds(Command::new("debootstrap").arg("--version")) {
        apt::install(&["debootstrap"])?;
    }
    let folder = place.parent().context("the folder of the servers has no parent")?;
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    // Complete as soon as it has its name.
    let unfinished = place.with_extension("unfinished");
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished).context("removing what was left unfinished")?;
    }
    printer::progress("fetching the servers, which takes some minutes");
    let mut command = Command::new("debootstrap");
    command.args(["--variant=minbase", PACKAGES, SUITE]).arg(&unfinished).arg(mirror()?);
    process::run(&mut command)?;
    for (program, name) in NAMES {
        let link = unfinished.join("usr/bin").join(name);
        symlink(program, &link).with_context(|| format!("making {}", link.display()))?;
    }
    ensure!(is_complete(&unfinished), "the servers are not in {}", unfinished.display());
    fs::rename(&unfinished, place).context("naming the folder of the servers")
}

/// The mirror that apt is configured with.
fn mirror() -> anyhow::Result<String> {
    let mut command = Command::new("apt-get");
    command.args(["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]);
    let output = command.output().context("asking apt for its mirror")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mirror = text.lines().find(|line| !line.contains("security"));
    mirror.map(ToOwned::to_owned).context("apt is configured with no mirror")
}

/// Runs the tests of one suite where the servers are.
fn suite(root: &Path, name: &str, arguments: &[&str], mysql: bool) -> anyhow::Result<()> {
    let place = place(root);
    ensure!(is_complete(&place), "the servers are missing: run `cargo xtask soak --only root`");
    let program = built(root, name)?;
    // What is mounted goes with the last process that sees it.
    let script = r#"
        set -e
        for path in /proc /dev; do mount --rbind "$path" "$1$path"; done
        mkdir -p "$1$2"
        mount --bind "$2" "$1$2"
        cd "$2/crates/incumbent"
        place=$1
        shift 2
        exec chroot "$place" "$@"
    "#;
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation=private", "sh", "-c", script, "soak"]);
    command.arg(&place).arg(root).arg(&program).args(arguments).current_dir(root);
    command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("TMPDIR", "/tmp").env("HOME", "/root");
    command.env(MYSQL, if mysql { "1" } else { "" });
    process::run(&mut command)
}

/// The program that cargo builds for a suite.
fn built(root: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let arguments = ["test", "--workspace", "--all-features", "--no-run", "--test", name];
    let program = artifact::build(root, &arguments)?
        .into_iter()
        .find(|artifact| artifact.package == "incumbent" && artifact.target == name);
    Ok(program.with_context(|| format!("cargo does not say where `{name}` is"))?.program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_servers_is_not_complete() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        assert!(!is_complete(folder.path()));
    }
}
