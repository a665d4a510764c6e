//! Everything that descends from this process, whichever group or session it went to.
//!
//! Assumes: this process adopts orphans ([`adopt`]), so that a daemon below it stays below it; a
//! kernel that lists children in `/proc` (Linux does).
//! Promises: nobody else's process is ever signalled, but as the first process of a container this one
//! has adopted every orphan there is, and cannot tell whose they were. After [`end`] nothing is left that this
//! process may signal. Elsewhere than on Linux nothing is found, and the group must do.

#[cfg(target_os = "linux")]
pub(crate) use self::linux::{
    adopt, bury, bury_forgotten, end, group_of, has_stopped, is_orphaned, is_stopped,
    signal_outside,
};
#[cfg(not(target_os = "linux"))]
pub(crate) use self::other::{
    adopt, bury, bury_forgotten, end, group_of, has_stopped, is_orphaned, is_stopped,
    signal_outside,
};

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeSet;
    use std::ffi::OsString;
    use std::path::Path;
    use std::sync::LazyLock;
    use std::time::{Duration, Instant};

    use rustix::io::Errno;
    use rustix::process::{
        Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpid, kill_process, pidfd_open,
        pidfd_send_signal, set_child_subreaper, waitid,
    };

    /// Between two looks at what is left.
    const NAP: Duration = Duration::from_millis(1);

    /// Between two looks at who was forgotten.
    const LOOK: Duration = Duration::from_secs(5);

    /// A kernel that takes so long to end a killed process waits for a disk, or worse.
    const TELL_AFTER: Duration = Duration::from_millis(100);

    /// From now on, whatever loses its parent below this process becomes a child of this process.
    /// Refused if `/proc` is not that of this process's namespace, because nothing would be found there.
    pub(crate) fn adopt() -> std::io::Result<()> {
        let own = std::fs::read_link("/proc/self")?;
        if own != Path::new(&getpid().to_string()) {
            let problem = "/proc shows another PID namespace: mount it anew in this one, for example \
                           with `unshare --mount-proc`";
            return Err(std::io::Error::other(problem));
        }
        Ok(set_child_subreaper(Some(getpid()))?)
    }

    /// Sends a signal to everything below, but not to those whom a signal to this group reaches.
    pub(crate) fn signal_outside(group: Pid, signal: Signal) {
        for pid in below().into_iter().filter(|&pid| group_of(pid) != Some(group)) {
            let _ = send(pid, signal);
        }
    }

    /// Buries the dead that were adopted, but not the one whose end is waited for elsewhere.
    pub(crate) fn bury(spared: Option<Pid>) {
        for pid in children(getpid()).into_iter().filter(|&pid| Some(pid) != spared) {
            let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
        }
    }

    /// Buries the dead that were adopted and that nobody waits for, for as long as it is polled: as the
    /// first process of a container, this process gets every orphan. Guards and probes are waited for
    /// elsewhere, and at once; so who is still dead at the next look is nobody's.
    pub(crate) async fn bury_forgotten() {
        let mut seen = BTreeSet::new();
        loop {
            tokio::time::sleep(LOOK).await;
            let dead = |pid: &Pid| Stat::of(*pid).is_some_and(|stat| stat.is_dead);
            let dead: Vec<Pid> = children(getpid()).into_iter().filter(dead).collect();
            for pid in dead.iter().filter(|pid| seen.contains(&pid.as_raw_pid())) {
                let _ = waitid(WaitId::Pid(*pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
            }
            seen = dead.iter().map(|pid| pid.as_raw_pid()).collect();
        }
    }

    /// Kills everything below and buries it, however long that takes. What may not be signalled (it
    /// became another user) does not count.
    pub(crate) fn end() {
        let begun = Instant::now();
        let mut is_told = false;
        loop {
            let left: Vec<Pid> = below().into_iter().filter(|&pid| kill(pid)).collect();
            if left.is_empty() {
                return;
            }
            bury(None);
            if !is_told && begun.elapsed() > TELL_AFTER {
                is_told = true;
                tracing::warn!(?left, "killed, but the kernel has not ended them yet");
            }
            std::thread::sleep(NAP);
        }
    }

    /// Kills one. False if there is nothing more to expect of it: it is dead and for another to bury,
    /// or out of reach. A dead child of this process counts until it is buried, because what it left
    /// behind may not have been seen yet.
    fn kill(pid: Pid) -> bool {
        let is_others = |stat: &Stat| stat.is_dead && stat.parent != Some(getpid());
        !Stat::of(pid).is_none_or(|stat| is_others(&stat))
            && send(pid, Signal::KILL) != Err(Errno::PERM)
    }

    /// Signals it if it is still below this process: its number may have been given to another.
    fn send(pid: Pid, signal: Signal) -> Result<(), Errno> {
        let handle = pidfd_open(pid, PidfdFlags::empty());
        if !is_below(pid) {
            return Err(Errno::SRCH);
        }
        match handle {
            Ok(handle) => pidfd_send_signal(&handle, signal),
            // An older kernel: the look just now must do.
            Err(Errno::NOSYS) => kill_process(pid, signal),
            Err(error) => Err(error),
        }
    }

    /// The group of a process, if it has one here: that of a container's first process may be outside
    /// of the container, and `getpgid` then answers with a number that is none.
    pub(crate) fn group_of(pid: Pid) -> Option<Pid> {
        Stat::of(pid)?.group
    }

    /// Whether this process is stopped.
    pub(crate) fn is_stopped(pid: Pid) -> bool {
        Stat::of(pid).is_some_and(|stat| stat.is_stopped)
    }

    /// Whether a child of this process is stopped.
    pub(crate) fn has_stopped(parent: Pid) -> bool {
        children(parent).into_iter().any(is_stopped)
    }

    /// Whether nobody in this session but in another group, a shell say, could continue this process's
    /// group.
    pub(crate) fn is_orphaned() -> bool {
        let Some(own) = Stat::of(getpid()) else { return true };
        let parent_of = |stat: &Stat| Stat::of(stat.parent?);
        let mut above = std::iter::successors(parent_of(&own), parent_of)
            .take_while(|stat| stat.session.is_some() && stat.session == own.session);
        !above.any(|stat| stat.group != own.group)
    }

    fn is_below(pid: Pid) -> bool {
        let parent_of = |pid: &Pid| Stat::of(*pid).and_then(|stat| stat.parent);
        std::iter::successors(parent_of(&pid), parent_of).any(|parent| parent == getpid())
    }

    /// Everything below, parents before their children.
    fn below() -> Vec<Pid> {
        let mut seen = BTreeSet::new();
        let mut found = children(getpid());
        let mut next = 0;
        while let Some(&pid) = found.get(next) {
            next += 1;
            if seen.insert(pid.as_raw_pid()) {
                found.extend(children(pid));
            }
        }
        found.retain(|pid| seen.remove(&pid.as_raw_pid()));
        found
    }

    /// Whoever has that process for a parent; the kernel keeps them by thread. Not every kernel and
    /// sandbox shows these lists; then all processes are asked for their parents.
    fn children(pid: Pid) -> Vec<Pid> {
        static HAS_LISTS: LazyLock<bool> =
            LazyLock::new(|| Path::new("/proc/thread-self/children").exists());
        if !*HAS_LISTS {
            return children_by_parent(pid);
        }
        let threads = std::fs::read_dir(format!("/proc/{}/task", pid.as_raw_pid()));
        let threads = threads.into_iter().flatten().flatten();
        let lists =
            threads.filter_map(|it| std::fs::read_to_string(it.path().join("children")).ok());
        let number = |word: &str| word.parse().ok().and_then(Pid::from_raw);
        lists.flat_map(|list| list.split(' ').filter_map(number).collect::<Vec<_>>()).collect()
    }

    fn children_by_parent(pid: Pid) -> Vec<Pid> {
        let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let number = |name: OsString| name.to_str()?.parse().ok().and_then(Pid::from_raw);
        let all = all.filter_map(|it| number(it.file_name()));
        all.filter(|&it| Stat::of(it).and_then(|stat| stat.parent) == Some(pid)).collect()
    }

    /// What the kernel says about a process.
    struct Stat {
        is_dead: bool,
        is_stopped: bool,
        parent: Option<Pid>,
        group: Option<Pid>,
        session: Option<Pid>,
    }

    impl Stat {
        fn of(pid: Pid) -> Option<Stat> {
            let line = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?;
            // The name before it may hold anything, also brackets.
            let mut words = line.rsplit_once(')')?.1.split_whitespace();
            let state = words.next()?;
            let (is_dead, is_stopped) = (matches!(state, "Z" | "X"), state == "T");
            let mut number = || words.next()?.parse().ok().and_then(Pid::from_raw);
            let (parent, group, session) = (number(), number(), number());
            Some(Stat { is_dead, is_stopped, parent, group, session })
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_child_is_found_in_the_lists_and_without_them() {
            let mut child = std::process::Command::new("sleep").arg("600").spawn().expect("sleep");
            let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a number");
            let found = (children(getpid()).contains(&pid), children_by_parent(getpid()));
            child.kill().expect("killed");
            child.wait().expect("dead");
            assert!(found.0 && found.1.contains(&pid), "{found:?}");
            assert!(!children_by_parent(getpid()).contains(&pid));
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use rustix::process::{Pid, Signal};

    #[expect(clippy::unnecessary_wraps, reason = "on Linux it can fail")]
    pub(crate) fn adopt() -> std::io::Result<()> {
        Ok(())
    }

    pub(crate) fn group_of(pid: Pid) -> Option<Pid> {
        rustix::process::getpgid(Some(pid)).ok()
    }

    pub(crate) fn signal_outside(_: Pid, _: Signal) {}

    /// Nobody can tell; so the guard is believed.
    pub(crate) fn has_stopped(_: Pid) -> bool {
        true
    }

    pub(crate) fn is_stopped(_: Pid) -> bool {
        false
    }

    pub(crate) fn is_orphaned() -> bool {
        let parent =
            rustix::process::getppid().and_then(|it| rustix::process::getsid(Some(it)).ok());
        parent.is_none() || parent != rustix::process::getsid(None).ok()
    }

    pub(crate) fn bury(_: Option<Pid>) {}

    pub(crate) async fn bury_forgotten() {
        std::future::pending().await
    }

    pub(crate) fn end() {}
}
