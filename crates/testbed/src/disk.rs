//! A small disk of one server, which can be full.
//!
//! Assumes root with the right to mount. Promises a real file system of its own (in memory) below
//! the data folder, so that a full one gives the server a true "no space left on device" while the
//! rest of the machine has room; the guardian unmounts it.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;

use anyhow::{Context as _, ensure};

use crate::folder::Folder;
use crate::program;

/// Takes all the room.
const FILLER: &str = "filler";

/// Mounts a file system of `size` bytes as the data folder.
pub(crate) async fn mount(folder: &Folder, size: u64) -> anyhow::Result<()> {
    let root = rustix::process::geteuid().is_root();
    ensure!(root, "a disk that can be full needs root, who may mount one");
    let data = folder.data();
    fs::create_dir(&data).context("making the data folder")?;
    // Tells the guardian to unmount; written first, so that no mount escapes it.
    folder.write("disk", "")?;
    let owner = folder.user().ids().map(|(uid, gid)| format!(",uid={uid},gid={gid}"));
    let options = format!("size={size},mode=0700{}", owner.unwrap_or_default());
    let mut command = program::command(&program::find("mount")?);
    command.args(["-t", "tmpfs", "-o", &options, "incumbent-disk"]).arg(&data);
    program::run(command).await.context("mounting a small disk")?;
    Ok(())
}

/// Writes until nothing more fits, down to the last byte.
pub(crate) fn fill(folder: &Folder) -> anyhow::Result<()> {
    let path = filler(folder)?;
    let mut file =
        File::options().create(true).append(true).open(path).context("filling a disk")?;
    let zeros = vec![0; 1 << 16];
    let mut length = zeros.len();
    while length > 0 {
        match file.write(&zeros[..length]) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::StorageFull => length /= 2,
            Err(error) => return Err(error).context("filling a disk"),
        }
    }
    Ok(())
}

/// Gives the room back.
pub(crate) fn free(folder: &Folder) -> anyhow::Result<()> {
    fs::remove_file(filler(folder)?).context("the disk was not filled")
}

fn filler(folder: &Folder) -> anyhow::Result<PathBuf> {
    ensure!(folder.path().join("disk").exists(), "the server was not started with `disk`");
    Ok(folder.data().join(FILLER))
}
