//! Archives of freshly made data folders, so that making one takes a copy instead of seconds.
//!
//! Assumes GNU `tar`. Promises one archive per server version and recipe, made once per machine and
//! user even if many processes ask at the same time, and complete whenever it is there: it appears
//! by a rename. A folder of plain files would not do, because whoever tidies old temporary files up
//! may remove a part of it.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::fs::{self, File, Permissions};
use std::hash::{Hash as _, Hasher as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};

use crate::folder::Folder;
use crate::program;
use crate::user::User;

/// How an empty data folder is made.
pub(crate) struct Template<'a> {
    /// The server and its version, fit for a file name.
    pub(crate) version: &'a str,
    /// All else that the result depends on; another recipe is another archive.
    pub(crate) recipe: String,
    /// Whom the data belongs to.
    pub(crate) user: User,
}

impl Template<'_> {
    /// Fills `folder` with what `make` makes, from the archive if there is one.
    pub(crate) async fn unpack(
        &self,
        folder: &Folder,
        make: impl AsyncFnOnce(&Folder) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let archive = self.archive(make).await?;
        let mut command = program::command(&program::find("tar")?);
        command.args(["--extract", "--preserve-permissions", "--same-owner", "--sparse", "--file"]);
        command.arg(archive).arg("--directory").arg(folder.path());
        // Without the right to give files away, everything belongs to ourselves anyhow.
        if self.user.ids().is_none() {
            command.arg("--no-same-owner");
        }
        program::run(command).await.context("unpacking an empty data folder")?;
        Ok(())
    }

    /// The path of the archive, made if it is missing.
    async fn archive(
        &self,
        make: impl AsyncFnOnce(&Folder) -> anyhow::Result<()>,
    ) -> anyhow::Result<PathBuf> {
        let store = store()?;
        let mut hasher = DefaultHasher::new();
        self.recipe.hash(&mut hasher);
        let name = format!("{}-{:016x}", self.version, hasher.finish());
        let archive = store.join(format!("{name}.tar"));
        if archive.exists() {
            return Ok(archive);
        }
        let _lock = lock(store.join(format!("{name}.lock"))).await?;
        if archive.exists() {
            return Ok(archive);
        }
        let folder = Folder::create(self.user)?;
        make(&folder).await?;
        let unfinished = store.join(format!("{name}.unfinished"));
        let mut command = program::command(&program::find("tar")?);
        command.args(["--create", "--sparse", "--exclude=./log", "--file"]).arg(&unfinished);
        command.arg("--directory").arg(folder.path()).arg(".");
        program::run(command).await.context("packing an empty data folder")?;
        fs::rename(&unfinished, &archive).context("naming an archive")?;
        Ok(archive)
    }
}

/// The folder of archives, which only we may enter: they hold passwords.
fn store() -> anyhow::Result<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let path = env::temp_dir().join(format!("incumbent-testbed-{user}"));
    // One that is there already is judged below.
    let _ = fs::create_dir(&path);
    let found =
        fs::symlink_metadata(&path).with_context(|| format!("making {}", path.display()))?;
    ensure!(
        found.is_dir() && found.uid() == user,
        "{} is not a folder of ours; remove it",
        path.display()
    );
    fs::set_permissions(&path, Permissions::from_mode(0o700))?;
    Ok(path)
}

/// Waits for our turn to make an archive; the turn ends when the file is closed.
async fn lock(path: PathBuf) -> anyhow::Result<File> {
    let take = move || -> anyhow::Result<File> {
        let file = File::create(Path::new(&path)).context("making a lock file")?;
        file.lock().context("waiting for a lock file")?;
        Ok(file)
    };
    tokio::task::spawn_blocking(take).await.context("waiting for a lock file")?
}
