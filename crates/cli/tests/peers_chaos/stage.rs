//! Peers in processes of their own, the network between them, and what is done to both.
//!
//! Assumes: `sh`, `sleep` and `date` are there.
//! Promises: whoever was killed, stopped or cut off is back before the next blow; whatever should
//! come and does not is a failure that shows what everybody said.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fastrand::Rng;
use incumbent_audit::{Report, audit};
use incumbent_testbed::Mesh;
use rustix::process::Signal;

use crate::blow::Blow;
use crate::troupe::{Start, Troupe, is_alive, send};

/// Says who began to work under which token, and as which process.
const WORK: &str =
    r#"echo "$INCUMBENT_NAME $INCUMBENT_TOKEN $$ $(date +%s%N)" >> "$STARTS"; exec sleep 6000"#;

/// What the peers are like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) scheme: &'static str,
    pub(crate) nodes: usize,
    /// How many of the first of them vote.
    pub(crate) voters: usize,
    pub(crate) lease: Duration,
    /// What stands behind the other options of the URL.
    pub(crate) more: &'static str,
}

pub(crate) struct Stage {
    setting: Setting,
    troupe: Troupe,
    mesh: Mesh,
    /// What was done, for those who look for a fault.
    log: Vec<String>,
    /// How long it took after each blow until somebody worked again.
    pub(crate) recoveries: Vec<Duration>,
    // Last, so that the proxies end before what drives them.
    _runtime: tokio::runtime::Runtime,
}

impl Stage {
    pub(crate) fn new(setting: Setting) -> Stage {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let mesh = runtime.block_on(Mesh::start(setting.nodes)).expect("a network");
        let lease: &'static str = format!("{}ms", setting.lease.as_millis()).leak();
        let troupe = Troupe::new(crate::PROGRAM, lease);
        let (log, recoveries) = (Vec::new(), Vec::new());
        Stage { setting, troupe, mesh, log, recoveries, _runtime: runtime }
    }

    /// Everybody is there, and somebody works.
    pub(crate) fn settle(&mut self) -> Start {
        for peer in 1..=self.setting.nodes {
            self.join(peer);
        }
        self.worker(|_| true)
    }

    /// Two peers of whom each has a list with itself alone, as after a mistake: both lead.
    pub(crate) fn divide(&mut self) {
        for peer in [1, 2] {
            self.join_by(peer, &self.mesh.own(peer));
        }
        for name in [name(1), name(2)] {
            self.troupe.until("both to work", || {
                self.troupe.starts().into_iter().find(|start| start.name == name)
            });
        }
        std::thread::sleep(self.setting.lease);
    }

    /// Parts whoever leads from all others, and waits until another one works. Tells when they were
    /// parted, by the lease clock.
    pub(crate) fn behead(&mut self) -> u64 {
        for peer in 1..=self.setting.nodes {
            self.join(peer);
        }
        // Whoever is alone in the beginning may lead for a moment where nobody ratifies, and the one
        // that stays need not have been the last to begin.
        std::thread::sleep(self.setting.lease * 3);
        let leader = self.troupe.until("one alone to work", || {
            let starts = self.troupe.starts().into_iter();
            let mut alive = starts.filter(|start| is_alive(start.pid));
            alive.next().filter(|_| alive.next().is_none())
        });
        let leader = peer(&leader.name);
        let parted = incumbent::lease_clock_nanos();
        self.mesh.split(&[leader]);
        self.worker(|it| it != leader);
        std::thread::sleep(self.setting.lease);
        self.mesh.heal();
        parted
    }

    fn join(&mut self, peer: usize) {
        self.join_by(peer, &self.mesh.list(peer));
    }

    fn join_by(&mut self, peer: usize, list: &str) {
        let name = name(peer);
        if self.troupe.pid_of(&name).is_some() {
            return;
        }
        let Setting { scheme, voters, more, lease, .. } = self.setting;
        let own = self.mesh.own(peer);
        let data = self.troupe.path("peers").display().to_string();
        let votes = voters.min(list.split(',').count());
        let url =
            format!("{scheme}://{list}?me={own}&data={data}&heartbeat=300ms&voters={votes}{more}");
        let grace = format!("{}ms", lease.as_millis() * 3 / 10);
        let flags = ["--url", &url, "--grace", &grace];
        self.troupe.join_with(&name, &flags, &["sh", "-c", WORK]);
    }

    /// Waits for somebody who works, of those who fit.
    fn worker(&self, fits: impl Fn(usize) -> bool) -> Start {
        self.troupe.until("somebody to work", || {
            let last = self.troupe.starts().pop()?;
            (fits(peer(&last.name)) && is_alive(last.pid)).then_some(last)
        })
    }

    /// Does it, waits until it had its effect, and undoes it.
    pub(crate) fn strike(&mut self, random: &mut Rng, blow: Blow) {
        // Somewhere within a beat.
        std::thread::sleep(Duration::from_millis(random.u64(..300)));
        let leader = peer(&self.worker(|_| true).name);
        let other = self.other_than(random, leader);
        let at = incumbent::lease_clock_nanos();
        self.log.push(format!("{at}: {blow:?}, leader {leader}, other {other}"));
        let begun = Instant::now();
        match blow {
            Blow::KillLeader => self.kill(random, &[leader]),
            Blow::KillTwo => self.kill(random, &[leader, other]),
            Blow::KillOther => self.kill(random, &[other]),
            Blow::StopLeader => self.stop(random, leader),
            Blow::StopOther => self.stop(random, other),
            _ => self.part(random, blow, leader, other),
        }
        self.settle();
        self.recoveries.push(begun.elapsed());
    }

    fn other_than(&self, random: &mut Rng, leader: usize) -> usize {
        let others: Vec<usize> = (1..=self.setting.nodes).filter(|it| *it != leader).collect();
        others[random.usize(..others.len())]
    }

    /// Neighbours in the order of their numbers, less than half of all and of the voters, to whom these
    /// belong.
    fn minority(&self, random: &mut Rng, with: &[usize], leader: usize) -> Vec<usize> {
        let Setting { nodes, voters, .. } = self.setting;
        let mut others: Vec<usize> = (1..=nodes).filter(|it| *it != leader).collect();
        let first = random.u64(..others.len() as u64);
        others.rotate_left(usize::try_from(first).expect("small"));
        let mut side = with.to_vec();
        for other in others {
            let votes = side.iter().filter(|it| **it <= voters).count();
            let fits = other > voters || votes < (voters - 1) / 2;
            if fits && side.len() < (nodes - 1) / 2 {
                side.push(other);
            }
        }
        side
    }

    fn kill(&mut self, random: &mut Rng, whom: &[usize]) {
        for &peer in whom {
            self.troupe.signal(&name(peer), Signal::KILL);
        }
        for &peer in whom {
            self.troupe.end_of(&name(peer));
        }
        if random.bool() {
            // The rest has to do without them; otherwise they are back before anybody else leads.
            self.worker(|it| !whom.contains(&it));
        }
    }

    fn stop(&mut self, random: &mut Rng, whom: usize) {
        let Some(pid) = self.troupe.pid_of(&name(whom)) else { return };
        send(pid, Signal::STOP);
        self.hold(random);
        send(pid, Signal::CONT);
    }

    fn part(&mut self, random: &mut Rng, blow: Blow, leader: usize, other: usize) {
        let nodes = self.setting.nodes;
        let others = || (1..=nodes).filter(|it| *it != leader);
        match blow {
            Blow::SplitWithLeader => {
                let side = self.minority(random, &[leader], leader);
                self.mesh.split(&side);
                self.worker(|it| !side.contains(&it));
            }
            Blow::SplitWithout => self.mesh.split(&self.minority(random, &[], leader)),
            Blow::MuteLeader => others().for_each(|it| self.mesh.mute(leader, it)),
            Blow::DeafLeader => others().for_each(|it| self.mesh.mute(it, leader)),
            Blow::PartPair => self.mesh.part(leader, other),
            _ => self.mesh.mute(leader, other),
        }
        if blow.unseats() {
            // A majority hears each other: it does not wait for the network.
            self.worker(|it| it != leader);
        } else {
            self.hold(random);
            self.worker(|_| true);
        }
        self.mesh.heal();
    }

    /// Around a lease: some are back in time, others too late.
    fn hold(&self, random: &mut Rng) {
        let lease = u64::try_from(self.setting.lease.as_millis()).expect("small");
        std::thread::sleep(Duration::from_millis(random.u64(lease / 3..=lease * 5 / 2)));
    }

    /// What the judges say so far.
    pub(crate) fn judged(&self) -> Report {
        audit(&self.troupe.histories()).expect("histories")
    }

    /// Keeps histories, what was said and the blows for those who look for a fault.
    pub(crate) fn keep(&self) -> PathBuf {
        let Setting { scheme, nodes, .. } = self.setting;
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("peers-{scheme}-{nodes}"));
        std::fs::create_dir_all(&folder).expect("a folder");
        for peer in 1..=nodes {
            for kind in ["err", "history"] {
                let file = format!("{}.{kind}", name(peer));
                std::fs::copy(self.troupe.path(&file), folder.join(&file)).expect("a copy");
            }
        }
        std::fs::write(folder.join("blows"), self.log.join("\n")).expect("a list");
        folder
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let kept = self.keep();
            let said = format!("{:?}: kept in {}\n", self.setting, kept.display());
            let _ = std::io::Write::write_all(&mut std::io::stderr(), said.as_bytes());
        }
    }
}

fn name(peer: usize) -> String {
    format!("n{peer}")
}

fn peer(name: &str) -> usize {
    name.trim_start_matches('n').parse().expect("a number")
}
