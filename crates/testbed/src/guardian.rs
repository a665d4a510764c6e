//! The guardian: a small process that cleans up after one server, whatever becomes of its owner.
//!
//! Assumes that every process of the server works below its folder, which is how the guardian
//! finds them: no process number is remembered, so none that was given away again is hit.
//! Promises that when the owner lets go, or ends in any way, all those processes are killed and the
//! folder is removed. `Drop` alone cannot promise that: a killed process drops nothing, and a
//! `static` is never dropped.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::Context as _;

/// Waits for the pipe from the owner to close. A line first means an orderly end; without one the
/// owner may have died while it started a process that is not below the folder yet, so a second
/// look follows a pause. PostgreSQL gets two seconds to end by SIGQUIT, its immediate shutdown,
/// in which the postmaster waits for its children: after SIGKILL they would stay behind as zombies
/// wherever process 1 waits for nobody, as in many containers. A postmaster that was killed also
/// leaves a segment of shared memory behind, whose number is in its file; the kernel has room for
/// some thousands only.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
folder=$1
looks=2
if read -r _; then looks=1; fi
rounds=0
while [ "$looks" -gt 0 ] && [ "$rounds" -lt 500 ]; do
    rounds=$((rounds + 1))
    alive=$(find /proc/[0-9]*/cwd -maxdepth 0 -printf '%h %l\n' 2>/dev/null |
        while read -r process cwd; do
            case $cwd in "$folder" | "$folder"/*) echo "${process#/proc/}" ;; esac
        done)
    if [ -n "$alive" ]; then
        signal=KILL
        if [ -e "$folder/data/postmaster.pid" ] && [ "$rounds" -lt 100 ]; then signal=QUIT; fi
        kill -"$signal" $alive 2>/dev/null
        kill -CONT $alive 2>/dev/null
        sleep 0.02
    else
        looks=$((looks - 1))
        if [ "$looks" -gt 0 ]; then sleep 0.2; fi
    fi
done
if [ -e "$folder/data/postmaster.pid" ]; then
    set -- $(sed -n 7p "$folder/data/postmaster.pid")
    if [ -n "$2" ]; then ipcrm -m "$2" 2>/dev/null; fi
fi
if [ -e "$folder/disk" ]; then umount "$folder/data" 2>/dev/null || umount -l "$folder/data"; fi
rm -rf --one-file-system "$folder"
"#;

/// The owner's end of the pipe, and the process at the other end.
#[derive(Debug)]
pub(crate) struct Guardian {
    process: Child,
}

impl Guardian {
    /// A guardian of `folder`. To be called before anything is started there.
    pub(crate) fn watch(folder: &Path) -> anyhow::Result<Self> {
        let process = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "incumbent-guardian"])
            .arg(folder)
            // Not in the folder itself, or the guardian would find and kill itself.
            .current_dir("/")
            // A Ctrl-C at the terminal goes to the owner's process group, which this leaves.
            .process_group(0)
            .stdin(Stdio::piped())
            // Whoever waits for the end of the owner's output must not wait for the guardian.
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("the guardian of a server could not be started")?;
        Ok(Self { process })
    }

    /// Lets the guardian do its duty, and returns when it is done.
    pub(crate) fn dismiss(&mut self) {
        if let Some(mut pipe) = self.process.stdin.take() {
            // If the guardian is gone there is nobody to tell.
            let _ = pipe.write_all(b"done\n");
        }
        let _ = self.process.wait();
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        self.dismiss();
    }
}
