//! `cargo xtask services`: the servers that tests and benchmarks run against.
//!
//! Assumes that a test starts its own servers (the crate `incumbent-testbed`); this only brings the
//! programs. Promises to install what is missing where it may, to name what to install where it may
//! not, and to leave no server running but those of `up`, until Ctrl-C.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

use crate::step::Step;
use crate::{apt, printer, process};

/// Runs before the tests.
pub(crate) const STEP: Step =
    Step::call("services", "the servers that tests start are installed", |_| provide(false));

/// Something that has to be there.
struct Service {
    name: &'static str,
    /// The Debian package that brings it.
    package: &'static str,
    /// The file to look for: a program, a library by its paths, or a module of Python.
    file: File,
}

enum File {
    Program(&'static str),
    Library(&'static [&'static str]),
    Module(&'static str),
}

const SERVICES: &[Service] = &[
    Service { name: "PostgreSQL", package: "postgresql", file: File::Program("postgres") },
    Service { name: "MariaDB", package: "mariadb-server", file: File::Program("mariadbd") },
    Service {
        name: "Galera",
        package: "galera-4",
        file: File::Library(&[
            "/usr/lib/galera/libgalera_smm.so",
            "/usr/lib/libgalera_smm.so",
            "/usr/lib64/galera-4/libgalera_smm.so",
            "/usr/lib64/galera/libgalera_smm.so",
        ]),
    },
    Service { name: "PgBouncer", package: "pgbouncer", file: File::Program("pgbouncer") },
    Service { name: "rsync", package: "rsync", file: File::Program("rsync") },
    Service { name: "OpenSSL", package: "openssl", file: File::Program("openssl") },
    Service { name: "psycopg2", package: "python3-psycopg2", file: File::Module("psycopg2") },
    Service { name: "PyMySQL", package: "python3-pymysql", file: File::Module("pymysql") },
];

/// Prints what is there; installs what is not, as root, or through `sudo` if that is `wanted`.
pub(crate) fn provide(wanted: bool) -> anyhow::Result<()> {
    let missing: Vec<&Service> =
        SERVICES.iter().filter(|service| service.find().is_none()).collect();
    if !missing.is_empty() {
        let packages: Vec<&str> = missing.iter().map(|service| service.package).collect();
        install(&packages, wanted)?;
    }
    for service in SERVICES {
        let path = service.find().with_context(|| {
            format!("{} is still missing after its package was installed", service.name)
        })?;
        printer::row(service.name, &service.describe(&path));
    }
    Ok(())
}

/// Starts servers to try things with by hand, until Ctrl-C.
pub(crate) fn up(root: &Path) -> anyhow::Result<()> {
    provide(false)?;
    process::run(process::cargo(root).args(["run", "--quiet", "--package", "incumbent-testbed"]))
}

fn install(packages: &[&str], wanted: bool) -> anyhow::Result<()> {
    let names = packages.join(" ");
    let by_hand = format!(
        "servers for the tests are missing; install them (Debian and Ubuntu: apt-get install \
         {names}), or run `cargo xtask services --install`, which uses sudo"
    );
    if apt::may_install() {
        printer::progress(&format!("installing {names}"));
        return apt::install(packages).context(by_hand);
    }
    ensure!(wanted, by_hand);
    let program = env::current_exe().context("finding this program")?;
    process::run(Command::new("sudo").arg(program).arg("services")).context(by_hand)
}

impl Service {
    fn find(&self) -> Option<PathBuf> {
        match self.file {
            File::Program(name) => {
                folders().map(|folder| folder.join(name)).find(|path| path.is_file())
            }
            File::Library(paths) => paths.iter().map(PathBuf::from).find(|path| path.is_file()),
            // The Python on the search path need not be the one that the packages belong to.
            File::Module(name) => ["python3", "/usr/bin/python3"].iter().find_map(|python| {
                let script = format!("import {name}; print({name}.__file__)");
                first_line(Command::new(python).args(["-c", &script])).map(PathBuf::from)
            }),
        }
    }

    /// Its version, as it states it, and where it is.
    fn describe(&self, path: &Path) -> String {
        let version = match self.file {
            File::Program("openssl") => first_line(Command::new(path).arg("version")),
            File::Program(_) => first_line(Command::new(path).arg("--version")),
            File::Library(_) | File::Module(_) => {
                let query = ["--show", "--showformat=${Version}", self.package];
                first_line(Command::new("dpkg-query").args(query))
            }
        };
        format!("{}  [{}]", version.unwrap_or_else(|| "of unknown version".into()), path.display())
    }
}

/// Folders that hold programs: the search path, those of servers, and where Debian keeps each
/// version of `postgres`, the newest first.
fn folders() -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let path: Vec<PathBuf> = env::split_paths(&path).collect();
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| {
            let version = entry.file_name().to_str()?.parse().ok()?;
            Some((version, entry.path().join("bin")))
        })
        .collect();
    versions.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    let usual = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    path.into_iter().chain(usual).chain(versions.into_iter().map(|(_, folder)| folder))
}

/// The first line that a command writes, if it succeeds.
fn first_line(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_not_found() {
        let file = File::Program("incumbent-no-such-program");
        assert!(Service { name: "x", package: "x", file }.find().is_none());
        let file = File::Library(&["/nonexistent/library.so"]);
        assert!(Service { name: "x", package: "x", file }.find().is_none());
    }

    #[test]
    fn what_is_there_is_described_by_its_first_line_and_its_place() {
        let service = Service { name: "sh", package: "dash", file: File::Program("env") };
        let path = service.find().expect("every system has `env`");
        assert!(service.describe(&path).ends_with(&format!("[{}]", path.display())));
        assert_eq!(
            first_line(Command::new("/bin/sh").args(["-c", "echo a; echo b"])),
            Some("a".into())
        );
        assert_eq!(first_line(Command::new("/bin/sh").args(["-c", "echo a; exit 1"])), None);
    }
}
