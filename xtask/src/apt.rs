//! Debian's packages.
//!
//! Assumes nothing: other systems have no `apt-get`, and then nothing may be installed. Promises that
//! no question is asked and that no service of a package is started.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use crate::process;

/// The file that Debian's packages ask before they start a service.
const POLICY: &str = "/usr/sbin/policy-rc.d";

/// Whether packages can and may be installed. Where `id` cannot tell, they may not.
pub(crate) fn may_install() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
        && process::succeeds(Command::new("apt-get").arg("--version"))
}

/// Installs `packages` and what they need.
pub(crate) fn install(packages: &[&str]) -> anyhow::Result<()> {
    let _policy = Policy::forbid_starts(Path::new(POLICY))?;
    process::run(Command::new("apt-get").arg("update"))?;
    let mut command = Command::new("apt-get");
    command.args(["install", "--yes", "--no-install-recommends"]).args(packages);
    process::run(command.env("DEBIAN_FRONTEND", "noninteractive"))
}

/// Forbids packages to start services, until dropped. A policy that is there already is the
/// machine's own, and stays.
struct Policy {
    ours: Option<PathBuf>,
}

impl Policy {
    fn forbid_starts(path: &Path) -> anyhow::Result<Self> {
        let mut options = fs::File::options();
        match options.write(true).create_new(true).mode(0o755).open(path) {
            Ok(mut file) => {
                let policy = Self { ours: Some(path.to_owned()) };
                file.write_all(b"#!/bin/sh\nexit 101\n").context("writing a policy")?;
                Ok(policy)
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                Ok(Self { ours: None })
            }
            Err(error) => Err(error).with_context(|| format!("making {}", path.display())),
        }
    }
}

impl Drop for Policy {
    fn drop(&mut self) {
        if let Some(path) = &self.ours {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_forbidden_only_while_packages_are_installed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("policy");
        let policy = Policy::forbid_starts(&path).expect("can be made");
        let status = Command::new(&path).status().expect("can be run");
        assert_eq!(status.code(), Some(101), "the code that means: forbidden");
        drop(policy);
        assert!(!path.exists(), "our policy outlived its purpose");
    }

    #[test]
    fn a_policy_of_the_machine_stays() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("policy");
        fs::write(&path, "theirs").expect("can write");
        drop(Policy::forbid_starts(&path).expect("is there already"));
        assert_eq!(fs::read_to_string(&path).expect("is still there"), "theirs");
    }
}
