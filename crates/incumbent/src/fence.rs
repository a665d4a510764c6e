//! What a resource outside of any database keeps: the highest token it has seen.
//!
//! Assumes: every request to the resource brings the token of the leadership it was made under, and
//! passes through one fence before it has any effect.
//! Promises: after a token was admitted, no lower one ever is; with a file, not after a restart of
//! the resource either.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use thiserror::Error;

/// Refuses whoever comes with a lower token than was seen before.
///
/// ```
/// use incumbent::Fence;
///
/// let fence = Fence::new();
/// fence.admit(41)?; // a leader writes
/// fence.admit(42)?; // its successor writes
/// assert!(fence.admit(41).is_err()); // the deposed one wakes up, and is too late
/// # Ok::<(), incumbent::FenceError>(())
/// ```
#[derive(Debug, Default)]
pub struct Fence {
    highest: Mutex<u64>,
    file: Option<PathBuf>,
}

/// Why a token was not admitted. Nothing may be done for it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FenceError {
    /// A higher one came before.
    #[error(
        "the token {token} is too old: {highest} was seen before it, so its leader was deposed"
    )]
    Stale {
        /// As shown.
        token: u64,
        /// The highest seen.
        highest: u64,
    },
    /// It could not be written down that this token was seen.
    #[error("cannot keep the fence {}: {problem}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
}

impl Fence {
    /// A fence that has seen nothing and forgets everything when the process ends. For a resource
    /// that ends with it.
    pub const fn new() -> Fence {
        Fence { highest: Mutex::new(0), file: None }
    }

    /// A fence that remembers in a file. For a resource that outlives its process. Two fences that
    /// are open on one file at the same time do not see each other: have one per resource.
    pub fn open(path: impl Into<PathBuf>) -> Result<Fence, FenceError> {
        let path = path.into();
        let highest = match fs::read_to_string(&path) {
            Ok(text) => {
                let number = text.trim().parse();
                number.map_err(|_| refuse(&path, "it holds no number; was it edited?"))?
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(refuse(&path, &error)),
        };
        Ok(Fence { highest: Mutex::new(highest), file: Some(path) })
    }

    /// Lets a request with this token pass, and from then on none with a lower one.
    pub fn admit(&self, token: u64) -> Result<(), FenceError> {
        let mut highest = self.highest.lock().unwrap_or_else(PoisonError::into_inner);
        if token < *highest {
            crate::reporter::refused(token, *highest);
            return Err(FenceError::Stale { token, highest: *highest });
        }
        if token > *highest {
            if let Some(path) = &self.file {
                keep(path, token).map_err(|error| refuse(path, &error))?;
            }
            *highest = token;
        }
        Ok(())
    }

    /// The highest token seen; zero if there was none.
    pub fn highest(&self) -> u64 {
        *self.highest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the number so that a crash leaves the old one or the new one, and is on disk before this
/// returns.
fn keep(path: &Path, token: u64) -> io::Result<()> {
    let mut draft = path.as_os_str().to_owned();
    draft.push(".draft");
    let mut file = File::create(&draft)?;
    writeln!(file, "{token}")?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

fn refuse(path: &Path, problem: &(impl ToString + ?Sized)) -> FenceError {
    FenceError::File { path: path.to_owned(), problem: problem.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_token_passes_again_and_a_lower_one_never() {
        let fence = Fence::new();
        for token in [7, 7, 9] {
            fence.admit(token).expect("admitted");
        }
        assert!(matches!(fence.admit(8), Err(FenceError::Stale { token: 8, highest: 9 })));
        assert_eq!(fence.highest(), 9);
    }

    #[test]
    fn a_fence_with_a_file_remembers_after_a_restart() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("fence");
        Fence::open(&path).and_then(|fence| fence.admit(42)).expect("admitted");
        let again = Fence::open(&path).expect("opens");
        assert!(again.admit(41).is_err());
        again.admit(42).expect("admitted");
    }

    #[test]
    fn a_file_that_cannot_be_written_admits_nothing_new() {
        let folder = tempfile::tempdir().expect("a folder");
        let fence = Fence::open(folder.path().join("gone").join("fence")).expect("opens");
        assert!(matches!(fence.admit(1), Err(FenceError::File { .. })));
        assert_eq!(fence.highest(), 0);
    }

    #[test]
    fn a_file_with_something_else_in_it_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("fence");
        fs::write(&path, "hello").expect("writes");
        assert!(matches!(Fence::open(&path), Err(FenceError::File { .. })));
    }
}
