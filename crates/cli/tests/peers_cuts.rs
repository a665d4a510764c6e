//! Three peers of which two lose each other: the leader reaches a majority, so it keeps its term.
//!
//! Assumes: root, `ip` and `bash`. `INCUMBENT_CHAOS_SECONDS`, `_LEASE` (milliseconds) and `_SCHEME` say
//! how long each cut lasts, and of what.
//! Promises: each peer is in a network namespace of its own, behind one bridge. A cut loses packets in
//! silence, in one direction or in both, and nothing else. All namespaces are gone at the end.

#[expect(dead_code, reason = "other tests use the rest")]
mod troupe;

use std::fmt;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use incumbent_audit::audit;
use troupe::{Start, Troupe, is_alive};

const PROGRAM: &str = env!("CARGO_BIN_EXE_incumbent");

/// Says who began to work under which token, and as which process.
const WORK: &str =
    r#"echo "$INCUMBENT_NAME $INCUMBENT_TOKEN $$ $(date +%s%N)" >> "$STARTS"; exec sleep 6000"#;

/// A hardware address that no peer has.
const NOBODY: &str = "02:00:00:00:00:ee";

const PEERS: usize = 3;

#[test]
#[ignore = "as root: cargo xtask chaos cuts"]
fn a_leader_by_ring_keeps_its_term_in_every_partial_cut() {
    cut_everywhere("ring");
}

#[test]
#[ignore = "as root: cargo xtask chaos cuts"]
fn a_leader_by_bully_keeps_its_term_in_every_partial_cut() {
    cut_everywhere("bully");
}

fn setting(name: &str, usual: u64) -> u64 {
    let name = format!("INCUMBENT_CHAOS_{name}");
    std::env::var(name).map_or(usual, |text| text.parse().expect("a number"))
}

/// Which packets are lost.
#[derive(Clone, Copy)]
enum Cut {
    Both(usize, usize),
    OneWay(usize, usize),
}

impl Cut {
    fn ways(self) -> Vec<(usize, usize)> {
        match self {
            Cut::Both(one, other) => vec![(one, other), (other, one)],
            Cut::OneWay(from, to) => vec![(from, to)],
        }
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cut::Both(one, other) => write!(f, "n{one} <-> n{other}"),
            Cut::OneWay(from, to) => write!(f, "n{from} -> n{to}"),
        }
    }
}

fn cut_everywhere(scheme: &str) {
    if std::env::var("INCUMBENT_CHAOS_SCHEME").is_ok_and(|only| only != scheme) {
        return;
    }
    let span = Duration::from_secs(setting("SECONDS", 60));
    let lease = Duration::from_millis(setting("LEASE", 3_000));
    let mut stage = Stage::new(scheme, lease);
    let leader = stage.start();
    let [first, second] = [1, 2].map(|step| (leader + step - 1) % PEERS + 1);
    say(&format!("{scheme}, lease {lease:?}: n{leader} leads; each cut lasts {span:?}"));
    let cuts = [
        Cut::Both(leader, first),
        Cut::Both(leader, second),
        Cut::Both(first, second),
        Cut::OneWay(leader, first),
        Cut::OneWay(first, leader),
        Cut::OneWay(first, second),
    ];
    let mut lost = 0;
    for cut in cuts {
        let terms = stage.troupe.starts().len();
        stage.network.cut(cut);
        assert!(!stage.network.is_open(cut), "{cut} is not cut");
        std::thread::sleep(span);
        let more = stage.troupe.starts().len() - terms;
        lost += more;
        stage.network.heal(cut);
        stage.troupe.until("the cut to be healed", || stage.network.is_open(cut).then_some(()));
        // All are linked again before the next cut.
        std::thread::sleep(lease * 2);
        say(&format!("{scheme}: {cut}: {more} terms lost"));
    }
    let report = audit(&stage.troupe.histories()).expect("histories");
    assert!(report.is_clean(), "{report}");
    assert_eq!(lost, 0, "{scheme}: terms were lost while the leader reached a majority");
    assert!(is_alive(stage.worker().pid), "nobody works");
}

fn say(text: &str) {
    writeln!(std::io::stdout(), "{text}").expect("somebody who reads");
}

/// Peers, and the network between them.
struct Stage {
    troupe: Troupe,
    scheme: String,
    lease: Duration,
    // Last: the peers end first.
    network: Network,
}

impl Stage {
    fn new(scheme: &str, lease: Duration) -> Stage {
        let network = Network::new(scheme);
        let folder = network.folder.path();
        let program = folder.join("in-its-namespace");
        // The name of a peer says where it runs.
        let script = format!(
            "#!/bin/sh\nfor word; do [ \"$before\" = --name ] && name=$word; before=$word; done\n\
             exec ip netns exec \"{}-$name\" {PROGRAM} \"$@\"\n",
            network.prefix
        );
        std::fs::write(&program, script).expect("a script");
        let may_run = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&program, may_run).expect("a mode");
        let secret = folder.join("secret");
        std::fs::write(&secret, "0123456789abcdef".repeat(4)).expect("a secret");
        std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).expect("a mode");
        let text: &'static str = format!("{}ms", lease.as_millis()).leak();
        let troupe = Troupe::new(program.to_str().expect("text"), text);
        Stage { troupe, scheme: scheme.to_owned(), lease, network }
    }

    /// Starts everybody, and tells who leads once that has not changed for a while.
    fn start(&mut self) -> usize {
        let address = |peer: usize| format!("10.93.0.{peer}:7600");
        let list = (1..=PEERS).map(address).collect::<Vec<_>>().join(",");
        let folder = self.network.folder.path().display().to_string();
        for peer in 1..=PEERS {
            let url = format!(
                "{}://{list}?me={}&data={folder}&secret-file={folder}/secret",
                self.scheme,
                address(peer)
            );
            let name = format!("n{peer}");
            self.troupe.join_with(&name, &["--url", &url], &["sh", "-c", WORK]);
        }
        self.troupe.until("somebody to work", || self.troupe.starts().pop());
        std::thread::sleep(self.lease * 2);
        self.worker().name.trim_start_matches('n').parse().expect("a number")
    }

    fn worker(&self) -> Start {
        self.troupe.starts().pop().expect("somebody works")
    }
}

/// A namespace for each peer, and one with the bridge between them.
struct Network {
    prefix: String,
    folder: tempfile::TempDir,
}

impl Network {
    fn new(scheme: &str) -> Network {
        let prefix = format!("cut-{}-{scheme}", std::process::id());
        let network = Network { prefix, folder: tempfile::tempdir().expect("a folder") };
        let hub = format!("{}-hub", network.prefix);
        ip(&["netns", "add", &hub]);
        ip(&["-n", &hub, "link", "add", "name", "hub0", "type", "bridge"]);
        ip(&["-n", &hub, "link", "set", "hub0", "up"]);
        for peer in 1..=PEERS {
            let (own, port) = (network.of(peer), format!("p{peer}"));
            ip(&["netns", "add", &own]);
            let pair = ["type", "veth", "peer", "name", "eth0", "netns", &own];
            ip(&[&["-n", &hub, "link", "add", "name", &port][..], &pair[..]].concat());
            ip(&["-n", &hub, "link", "set", &port, "master", "hub0", "up"]);
            ip(&["-n", &own, "addr", "add", &format!("10.93.0.{peer}/24"), "dev", "eth0"]);
            ip(&["-n", &own, "link", "set", "eth0", "up"]);
            ip(&["-n", &own, "link", "set", "lo", "up"]);
        }
        network
    }

    fn of(&self, peer: usize) -> String {
        format!("{}-n{peer}", self.prefix)
    }

    /// What these say goes to a hardware address that nobody has: it is lost, and they are not told.
    fn cut(&self, cut: Cut) {
        for (from, to) in cut.ways() {
            let to = format!("10.93.0.{to}");
            let entry = ["neigh", "replace", &to, "lladdr", NOBODY, "dev", "eth0"];
            ip(&[&["-n", &self.of(from)][..], &entry[..], &["nud", "permanent"]].concat());
        }
    }

    fn heal(&self, cut: Cut) {
        for (from, to) in cut.ways() {
            ip(&["-n", &self.of(from), "neigh", "del", &format!("10.93.0.{to}"), "dev", "eth0"]);
        }
    }

    /// Whether one of the two that are cut off can connect to the other.
    fn is_open(&self, cut: Cut) -> bool {
        let (from, to) = cut.ways()[0];
        let mut connect = Command::new("ip");
        connect.args(["netns", "exec", &self.of(from), "timeout", "1", "bash", "-c"]);
        connect.arg(format!("exec 3<>/dev/tcp/10.93.0.{to}/7600")).stderr(Stdio::null());
        connect.status().expect("ip runs").success()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for name in (1..=PEERS).map(|peer| format!("n{peer}")).chain(["hub".to_owned()]) {
            let _ = Command::new("ip")
                .args(["netns", "del", &format!("{}-{name}", self.prefix)])
                .stderr(Stdio::null())
                .status();
        }
    }
}

fn ip(words: &[&str]) {
    let done = Command::new("ip").args(words).output().expect("ip runs");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "ip {}: {said} (only root can)", words.join(" "));
}
