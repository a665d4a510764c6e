//! The doorbell: wakes candidates when something changed.
//!
//! Assumes: on one host, that Linux's inotify tells when a file that was open for writing is closed,
//! which happens to a lock file when the last process that holds it dies, and to the bell itself
//! whenever it is rung. Elsewhere whatever the backend has; where it has nothing, candidates that
//! wait look a little more often.
//! Promises: nothing. It only makes a candidate look sooner; safety and liveness rest on the look.

use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// A poll takes no more than one part in so many of the time.
const POLL_SHARE: u32 = 50;

/// What a ring means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ring {
    /// Something changed: everyone should look.
    Changed,
    /// Something may have changed: whoever waits should look.
    Perhaps,
}

/// How often to look where nothing rings: the faster the store answers the more often, and at least
/// once a beat.
pub(crate) fn polls(round_trip: Duration, beat: Duration) -> Duration {
    (round_trip * POLL_SHARE).clamp(beat / 16, beat)
}

/// Where rings come from.
#[derive(Debug)]
pub(crate) enum Bell {
    /// From nowhere.
    Silent,
    /// From a folder of this host.
    Folder(listener::Listener),
    /// From a task that listens at a server.
    Server { rings: mpsc::Receiver<Ring>, task: JoinHandle<()> },
    /// From peers.
    #[cfg(feature = "peers")]
    Peers(mpsc::Receiver<Ring>),
    /// From a clock.
    Clock(tokio::time::Interval),
}

impl Bell {
    pub(crate) fn at_folder(folder: Option<PathBuf>) -> Bell {
        let listener = folder.and_then(|folder| {
            listener::Listener::new(&folder)
                .inspect_err(|error| {
                    tracing::warn!(%error, "no doorbell: changes are noticed at the next beat only");
                })
                .ok()
        });
        listener.map_or(Bell::Silent, Bell::Folder)
    }

    pub(crate) fn every(span: Duration) -> Bell {
        let mut clock = tokio::time::interval(span);
        clock.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        Bell::Clock(clock)
    }

    /// Completes when the bell was rung; never, if there is none.
    pub(crate) async fn rung(&mut self) -> Ring {
        match self {
            Bell::Silent => std::future::pending().await,
            Bell::Folder(listener) => {
                listener.rung().await;
                Ring::Changed
            }
            Bell::Server { rings, .. } => match rings.recv().await {
                Some(ring) => ring,
                None => std::future::pending().await,
            },
            #[cfg(feature = "peers")]
            Bell::Peers(rings) => match rings.recv().await {
                Some(ring) => ring,
                None => std::future::pending().await,
            },
            Bell::Clock(clock) => {
                clock.tick().await;
                Ring::Perhaps
            }
        }
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        if let Bell::Server { task, .. } = self {
            task.abort();
        }
    }
}

#[cfg(target_os = "linux")]
mod listener {
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
    use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
    use tokio::io::unix::AsyncFd;
    use tokio::time::{Instant, sleep_until};

    /// The kernel tells of the closed file before it drops the lock. On a busy machine the process
    /// that dies may be put aside in between, for longer than any one guess: so its lock is tried
    /// again and again, with pauses that double.
    const FIRST: Duration = Duration::from_millis(1);
    /// After that long a pause it is left to the next beat.
    const LAST: Duration = Duration::from_secs(1);

    #[derive(Debug)]
    pub(crate) struct Listener {
        events: AsyncFd<OwnedFd>,
        folder: PathBuf,
        dying: Vec<Dying>,
    }

    /// A lock file that was closed and whose lock may still be held.
    #[derive(Debug)]
    struct Dying {
        file: PathBuf,
        pause: Duration,
        again: Instant,
    }

    impl Listener {
        #[expect(
            deprecated,
            reason = "its successor is unsafe for types that may lose their descriptor; an `OwnedFd` cannot"
        )]
        pub(super) fn new(folder: &Path) -> std::io::Result<Self> {
            let fd = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
            let watch = WatchFlags::CLOSE_WRITE | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW;
            inotify::add_watch(&fd, folder, watch)?;
            let (events, folder) = (AsyncFd::new(fd)?, folder.to_owned());
            Ok(Listener { events, folder, dying: Vec::new() })
        }

        pub(super) async fn rung(&mut self) {
            loop {
                let again = self.dying.iter().map(|dying| dying.again).min();
                tokio::select! {
                    () = wait(again) => if self.has_died() { return },
                    closed = drain(&self.events) => {
                        for name in closed {
                            self.closed(self.folder.join(name));
                        }
                        return;
                    }
                }
            }
        }

        fn closed(&mut self, file: PathBuf) {
            self.dying.retain(|dying| dying.file != file);
            self.dying.push(Dying { file, pause: FIRST, again: Instant::now() + FIRST });
        }

        /// Tries the locks that it is time for; tells whether any of them was dropped by now.
        fn has_died(&mut self) -> bool {
            let (now, mut died) = (Instant::now(), false);
            self.dying.retain_mut(|dying| {
                if now < dying.again {
                    return true;
                }
                if is_free(&dying.file) {
                    died = true;
                    return false;
                }
                dying.pause *= 2;
                dying.again = now + dying.pause;
                dying.pause <= LAST && dying.file.exists()
            });
            died
        }
    }

    /// Whether nobody holds the lock of that file. A hint: the proof is for those who look.
    fn is_free(file: &Path) -> bool {
        let how = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        open(file, how, Mode::empty())
            .is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockShared).is_ok())
    }

    async fn wait(until: Option<Instant>) {
        match until {
            Some(until) => sleep_until(until).await,
            None => std::future::pending().await,
        }
    }

    /// Waits for events and takes them all; tells which lock files were closed.
    async fn drain(events: &AsyncFd<OwnedFd>) -> Vec<String> {
        let mut closed = Vec::new();
        let mut any = false;
        while !any {
            let Ok(mut guard) = events.readable().await else {
                return std::future::pending().await;
            };
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut reader = inotify::Reader::new(events.get_ref(), &mut buffer);
            while let Ok(event) = reader.next() {
                any = true;
                let name = event.file_name().and_then(|name| name.to_str().ok());
                closed
                    .extend(name.filter(|name| *name != crate::lock::BELL).map(ToOwned::to_owned));
            }
            guard.clear_ready();
        }
        closed
    }
}

#[cfg(not(target_os = "linux"))]
mod listener {
    use std::path::{Path, PathBuf};
    use std::time::{Duration, SystemTime};

    /// Without inotify the bell is looked at now and then.
    #[derive(Debug)]
    pub(crate) struct Listener {
        bell: PathBuf,
        seen: Option<SystemTime>,
    }

    impl Listener {
        #[expect(clippy::unnecessary_wraps, reason = "the other systems' listener can fail")]
        pub(super) fn new(folder: &Path) -> std::io::Result<Self> {
            Ok(Listener { bell: folder.join(crate::lock::BELL), seen: None })
        }

        pub(super) async fn rung(&mut self) {
            loop {
                let modified = std::fs::metadata(&self.bell).and_then(|m| m.modified()).ok();
                if modified != std::mem::replace(&mut self.seen, modified) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(25)).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::{Folder, ring};
    use std::time::Duration;
    use tokio::time::timeout;

    #[tokio::test]
    async fn a_ring_wakes_a_listener() {
        let place = tempfile::tempdir().expect("folder");
        let database = place.path().join("e.db");
        std::fs::write(&database, "").expect("a database");
        let folder = Folder::beside(&database);
        folder.make().expect("made");
        let mut bell = Bell::at_folder(Some(folder.path().to_owned()));
        ring(&folder);
        timeout(Duration::from_secs(20), bell.rung()).await.expect("rung");
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn it_rings_when_the_lock_of_a_closed_file_is_dropped_however_late() {
        use rustix::fs::{FlockOperation, flock};

        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("7".repeat(32));
        let held = std::fs::File::create(&path).expect("file");
        flock(&held, FlockOperation::NonBlockingLockExclusive).expect("lock");
        let mut bell = Bell::at_folder(Some(folder.path().to_owned()));
        drop(std::fs::OpenOptions::new().write(true).open(&path).expect("file"));
        timeout(Duration::from_secs(20), bell.rung()).await.expect("rung");
        // As if the process that dies were put aside before its lock is dropped.
        while timeout(Duration::from_millis(100), bell.rung()).await.is_ok() {}
        flock(&held, FlockOperation::Unlock).expect("unlock");
        timeout(Duration::from_secs(20), bell.rung()).await.expect("rung");
    }

    #[test]
    fn a_fast_store_is_polled_more_often_but_never_in_a_burst() {
        let beat = Duration::from_millis(800);
        assert_eq!(polls(Duration::from_micros(100), beat), Duration::from_millis(50));
        assert_eq!(polls(Duration::from_millis(2), beat), Duration::from_millis(100));
        assert_eq!(polls(Duration::from_secs(1), beat), beat);
    }

    #[tokio::test]
    async fn without_a_folder_it_never_rings() {
        let mut bell = Bell::at_folder(None);
        assert!(timeout(Duration::from_millis(20), bell.rung()).await.is_err());
    }
}
