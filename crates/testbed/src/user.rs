//! The user that a server runs as.
//!
//! Assumes that the server's package made that user. Promises that a server is never run as root:
//! PostgreSQL refuses that, and the others should not be trusted with it.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use anyhow::{Context as _, ensure};

use crate::program::MISSING;

/// Another user if we are root, otherwise ourselves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct User(Option<(u32, u32)>);

impl User {
    /// The user called `name` if we are root, otherwise ourselves.
    pub(crate) fn for_server(name: &str) -> anyhow::Result<Self> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Self(None));
        }
        Ok(Self(Some((number(name, "-u")?, number(name, "-g")?))))
    }

    pub(crate) fn ids(self) -> Option<(u32, u32)> {
        self.0
    }

    /// Lets `command` run as this user.
    pub(crate) fn apply(self, command: &mut Command) {
        if let Some((uid, gid)) = self.0 {
            command.gid(gid).uid(uid);
        }
    }
}

fn number(name: &str, which: &str) -> anyhow::Result<u32> {
    let output = Command::new("id").args([which, name]).output().context("running `id`")?;
    ensure!(output.status.success(), "there is no user `{name}`; {MISSING}");
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().with_context(|| format!("`id {which} {name}` said {text:?}"))
}
