//! Elections among peers: no database, one URL for all, and everything else as elsewhere.

use std::fs::File;
use std::net::TcpListener;
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Desk, Ended, Running, end, text, until};

/// Three addresses at which nobody listens.
fn addresses() -> [String; 3] {
    let ears = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
    ears.each_ref().map(|ear| ear.local_addr().expect("an address").to_string())
}

/// Three processes with one URL; all state is in the desk's folder.
struct Trio {
    desk: Desk,
    url: String,
    addresses: [String; 3],
    peers: Vec<Option<Running>>,
}

const NAMES: [&str; 3] = ["ann", "bob", "cat"];

impl Trio {
    /// Nobody runs yet.
    fn new(scheme: &str) -> Trio {
        let (desk, addresses) = (Desk::new(), addresses());
        let url = format!("{scheme}://{}?data={}", addresses.join(","), text(&desk.path("data")));
        Trio { desk, url, addresses, peers: vec![None, None, None] }
    }

    /// All run, and one of them leads.
    fn led(scheme: &str) -> Trio {
        let mut trio = Trio::new(scheme);
        for who in 0..3 {
            trio.start(who);
        }
        trio.leader();
        trio
    }

    fn start(&mut self, who: usize) {
        let work = ["--", "sh", "-c", "echo begun; exec sleep 600"];
        let args = [&["run", "--name", NAMES[who], "--me", &self.addresses[who]], &work[..]];
        let mut command = self.desk.command(&args.concat());
        command.env("INCUMBENT_URL", &self.url);
        self.peers[who] = Some(Running::start(command));
    }

    /// Somebody who leads, by number.
    fn leader(&self) -> usize {
        until("a leader", || {
            // Links take a moment.
            let ended = self.ask(&["status", "--json"]);
            let status: Value = serde_json::from_str(&ended.out).ok()?;
            NAMES.iter().position(|it| status["leader"] == *it)
        })
    }

    /// Waits until the roll shows all three.
    fn gathered(&self) {
        until("three lines of the roll", || {
            let seen = self.ask(&["members", "--json"]).json();
            (seen["members"].as_array()?.len() == 3).then_some(())
        });
    }

    fn ask(&self, args: &[&str]) -> Ended {
        let mut command = self.desk.command(args);
        command.env("INCUMBENT_URL", &self.url);
        end(command)
    }
}

#[test]
fn urls_that_name_no_peers_are_wrong_usage() {
    let desk = Desk::new();
    for (url, words) in [
        ("ring:127.0.0.1", "two slashes are missing after the colon"),
        ("ring://", "the list of nodes is empty"),
        ("bully://a:b", "the port is a number from 1 to 65535"),
        ("bully://127.0.0.1:1,127.0.0.1:1", "is in the list of nodes twice"),
        ("bully://7@a:1,7@b:1", "have the same number 7"),
        ("ring://10.0.0.9-3", "a range goes from a lower to a higher number"),
        ("ring://a?secret=x", "unknown option \"secret\"; known are me, listen, data, secret-file"),
        ("ring://a?heartbeat=7h", "the option heartbeat takes a span such as 700ms or 2s"),
        ("ring://a?voters=0", "the option voters takes a number"),
        ("ring://a?return=never", "the option return takes sticky or preempt"),
        ("ring://a?detector=gut", "the option detector takes timeout or phi"),
        ("ring://a?discover=luck", "the option discover takes dns only"),
    ] {
        let ended = desk.call(&["status", "--url", url]);
        assert_eq!((ended.code, ended.out.as_str()), (2, ""), "{url} {ended:?}");
        assert!(ended.err.starts_with("incumbent: cannot use the URL"), "{url} {ended:?}");
        assert!(ended.err.contains(words), "{url} {ended:?}");
    }
}

#[test]
fn options_that_mean_nothing_there_are_wrong_usage() {
    let desk = Desk::new();
    let peers = "ring://127.0.0.1:1";
    for (args, words) in [
        (
            &["status", "--protocol", "bully"][..],
            "cannot use this protocol: it is set to bully, but the URL says ring",
        ),
        (
            &["status", "--protocol", "rounds"],
            "cannot use this protocol: it is set to rounds, but the URL says ring",
        ),
        (
            &["status", "--round-limit", "3"],
            "cannot use this round limit: it is for the protocol rounds, which peers do not hold",
        ),
        (
            &["status", "--expiry", "database"],
            "cannot use this expiry: peers have no clock in common: it is always observed",
        ),
        (&["schema"], "cannot use this schema: peers keep no tables: there is nothing to apply"),
        (
            &["schema", "--apply"],
            "cannot use this schema: peers keep no tables: there is nothing to apply",
        ),
    ] {
        desk.call(&[args, &["--url", peers]].concat()).failed(2, words);
    }
    for flag in ["--secret-file=x", "--data=x", "--me=x", "--unratified"] {
        let name = flag.split('=').next().expect("a name");
        let words = format!("{name} is for peers, whose URL begins with ring:// or bully://");
        desk.ask(&["status", flag]).failed(2, &words);
    }
    let none =
        "a database has no voters: they are for peers, whose URL begins with ring:// or bully://";
    desk.ask(&["voters"]).failed(2, none);
    let ended = desk.ask(&["status", "--protocol", "ring"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.err.contains("peers hold elections by ring: use ring://"), "{ended:?}");
}

#[test]
fn a_secret_is_needed_between_machines_and_never_shown() {
    let desk = Desk::new();
    let url = "ring://192.0.2.1,192.0.2.2,192.0.2.3";
    let ended = desk.call(&["status", "--url", url]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.err.contains("make one with `incumbent secret`"), "{ended:?}");
    let ended = desk.call(&["status", "--url", url, "--secret-file", "missing"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.err.starts_with("incumbent: cannot use this secret: "), "{ended:?}");
    let mut command = desk.command(&["status", "--url", url]);
    command.env("INCUMBENT_SECRET", "tooshort");
    let ended = end(command);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.err.contains("has 8 bytes") && !ended.err.contains("tooshort"), "{ended:?}");
    let config = desk.write("odd.toml", "secret = \"sixteen letters!\"\n");
    let words = "a secret does not stand in here: name its file with secret_file";
    let words = format!("{}: {words}", config.display());
    desk.call(&["status", "--config", text(&config)]).failed(2, &words);
}

#[test]
fn each_secret_is_a_new_one() {
    let desk = Desk::new();
    let (one, other) = (desk.call(&["secret"]), desk.call(&["secret", "--json"]));
    assert_eq!((one.code, other.code), (0, 0));
    let one = one.out.trim_end().to_owned();
    let other = other.json()["secret"].as_str().expect("text").to_owned();
    assert_ne!(one, other);
    for secret in [&one, &other] {
        assert!(secret.len() == 64 && secret.bytes().all(|b| b.is_ascii_hexdigit()), "{secret}");
    }
}

#[test]
fn peers_that_are_not_there_are_named() {
    let trio = Trio::new("bully");
    let ended = trio.ask(&["status"]);
    assert_eq!((ended.code, ended.out.as_str()), (125, ""), "{ended:?}");
    assert!(ended.err.contains("0 of 3 voters answer"), "{ended:?}");
    assert!(trio.addresses.iter().all(|it| ended.err.contains(it.as_str())), "{ended:?}");
}

#[test]
fn whoever_waits_says_for_whom() {
    let trio = Trio::new("ring");
    let log = trio.desk.path("err");
    let mut command = trio.desk.command(&["run", "--name", "ann", "--", "true"]);
    command.env("INCUMBENT_URL", &trio.url).stdout(Stdio::null());
    let mut ann = command.stderr(File::create(&log).expect("a file")).spawn().expect("starts");
    let line = until("a line about the voters", || {
        let said = std::fs::read_to_string(&log).expect("a file");
        said.lines().find(|line| line.contains("ann: waiting: ")).map(str::to_owned)
    });
    ann.kill().expect("killed");
    ann.wait().expect("gone");
    let begin = "incumbent: ann: waiting: 1 of 3 voters are there, and all must be once; missing: ";
    assert!(line.starts_with(begin), "{line}");
    assert!(trio.addresses[1..].iter().all(|it| line.contains(it.as_str())), "{line}");
    assert!(!line.contains(&trio.addresses[0]), "{line}");
}

#[test]
fn three_processes_with_one_url_elect_one_of_them_and_show_it() {
    let trio = Trio::led("ring");
    trio.gathered();
    let status = trio.ask(&["status", "--json"]).json();
    assert_eq!(status["protocol"], "ring");
    assert_eq!((&status["state"], &status["expiry"]), (&json!("led"), &json!("observed")));
    assert!(trio.ask(&["status"]).out.contains("\nprotocol  ring\n"));
    assert!(trio.ask(&["status", "--all"]).out.contains("  ring  "));

    let members = trio.ask(&["members", "--json"]).json();
    assert_eq!((&members["protocol"], &members["second"]), (&json!("ring"), &Value::Null));
    for member in members["members"].as_array().expect("a list") {
        let who = NAMES.iter().position(|it| member["name"] == *it).expect("one of them");
        assert_eq!(member["votes"], true, "{member}");
        assert_eq!(member["address"], trio.addresses[who], "{member}");
    }
    assert!(trio.ask(&["members"]).out.contains("ready, votes"));

    let history = trio.ask(&["history", "--json"]).json();
    assert_eq!(history[0]["leader"], NAMES[trio.leader()], "{history}");
    let explained = trio.ask(&["explain", NAMES[(trio.leader() + 1) % 3]]);
    assert!(explained.out.contains(" leads, for "), "{explained:?}");
}

#[test]
fn the_doctor_counts_voters_and_promises_no_transactions() {
    let trio = Trio::led("bully");
    let checkup = trio.ask(&["doctor", "--json"]);
    assert_eq!(checkup.code, 0, "{checkup:?}");
    let checkup = checkup.json();
    assert_eq!((&checkup["product"], &checkup["protocol"]), (&json!("peers"), &json!("bully")));
    let said = |probe: &str| {
        let found = checkup["findings"].as_array().expect("a list").iter();
        found.clone().find(|it| it["probe"] == probe).map(|it| it["said"].clone())
    };
    assert_eq!(said("majority"), Some(json!("3 of 3 voters can be reached")));
    assert_eq!(said("voters"), Some(json!("there are 3: 1 may be lost")));
    let given: Vec<_> =
        checkup["promises"].as_array().expect("a list").iter().map(|it| &it["given"]).collect();
    assert_eq!(given, ["if", "if", "no"]);
}

#[test]
fn a_killed_leader_is_followed_and_votes_again_when_it_is_back() {
    let mut trio = Trio::led("bully");
    let old = trio.leader();
    trio.peers[old].as_ref().expect("it runs").signal(Signal::KILL);
    trio.peers[old] = None;
    until("another leader", || Some(trio.leader()).filter(|new| *new != old));
    trio.start(old);
    trio.gathered();
    let history = trio.ask(&["history", "--json"]).json();
    let first = history.as_array().and_then(|terms| terms.last()).expect("a term");
    assert_eq!((&first["leader"], &first["ending"]), (&json!(NAMES[old]), &json!("expired")));
    let voters = trio.ask(&["voters", "--json"]).json();
    assert_eq!(voters["up"], 3, "{voters}");
}

#[test]
fn a_leader_hands_over_when_it_is_asked_to_and_when_it_stops() {
    let mut trio = Trio::led("ring");
    trio.gathered();
    let old = trio.leader();
    let heir = NAMES[(old + 1) % 3];
    let ended = trio.ask(&["transfer", "--to", heir, "--wait-for", "30s", "--json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(ended.json()["next_leader"], heir);
    let leader = trio.leader();
    let peer = trio.peers[leader].as_mut().expect("it runs");
    assert_eq!(peer.line(), "begun");
    peer.terminate();
    assert_eq!(peer.code(), 143);
    until("another leader", || Some(trio.leader()).filter(|new| *new != leader));
    let history = trio.ask(&["history", "--json"]).json();
    let ends: Vec<_> = history.as_array().expect("a list").iter().map(|it| &it["ending"]).collect();
    assert_eq!(ends, [&Value::Null, &json!("resigned"), &json!("resigned")], "{history}");
}

#[test]
fn voters_are_listed_removed_and_added_again() {
    let trio = Trio::led("bully");
    let shown = trio.ask(&["voters"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.out.starts_with("3 vote, 2 must agree, 3 can be reached\nNODE "), "{shown:?}");
    let address = &trio.addresses[(trio.leader() + 1) % 3];
    let removed = trio.ask(&["voters", "remove", address, "--json"]);
    assert_eq!(removed.code, 0, "{removed:?}");
    let removed = removed.json();
    assert_eq!((&removed["majority"], &removed["settled"]), (&json!(2), &json!(true)));
    assert_eq!(removed["voters"].as_array().map(Vec::len), Some(2), "{removed}");
    let again = trio.ask(&["voters", "remove", address]);
    assert_eq!((again.code, again.out.as_str()), (2, ""), "{again:?}");
    assert!(again.err.ends_with(" does not vote\n"), "{again:?}");
    let added = trio.ask(&["voters", "add", address, "--json"]).json();
    assert_eq!(added["voters"].as_array().map(Vec::len), Some(3), "{added}");
    assert!(added["number"].as_u64() > removed["number"].as_u64(), "{added}");
    let odd = trio.ask(&["voters", "add", "nobody"]);
    assert_eq!(odd.code, 2, "{odd:?}");
    assert!(
        odd.err.contains("\"nobody\" is none of the nodes that are listed or linked"),
        "{odd:?}"
    );
}

#[test]
fn settings_of_peers_may_stand_in_the_file() {
    let trio = Trio::new("bully");
    let secret = trio.desk.write("secret", &trio.desk.call(&["secret"]).out);
    let one = &trio.addresses[0];
    let config = format!(
        "url = \"bully://{one}\"\nsecret_file = \"{}\"\ndata = \"data\"\nme = \"{one}\"\n",
        text(&secret)
    );
    let config = trio.desk.write("incumbent.toml", &config);
    let ended = trio.desk.call(&["run", "--config", text(&config), "--", "true"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let kept = std::fs::read_dir(trio.desk.path("data")).expect("a folder");
    let kept: Vec<_> = kept.map(|it| it.expect("a file").file_name()).collect();
    assert_eq!(kept.len(), 1, "promises, and no secret of its own: {kept:?}");
}

#[test]
fn the_demo_plays_among_peers_too() {
    let desk = Desk::new();
    let ended = desk.call(&["demo", "--protocol", "bully", "--json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let summary = ended.json();
    assert_eq!((&summary["ok"], &summary["orphans"]), (&json!(true), &json!([])), "{summary}");
}

#[test]
fn a_benchmark_makes_its_own_peers() {
    let desk = Desk::new();
    let size = ["--candidates", "3", "--kills", "1", "--lease", "1s"];
    let ended =
        desk.call(&[&["bench", "failover", "--protocol", "ring", "--json"], &size[..]].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
    let figures = ended.json();
    assert_eq!((&figures["store"], &figures["protocol"]), (&json!("peers"), &json!("ring")));
    assert_eq!(figures["sizes"][0]["candidates"], 3, "{figures}");
}

#[test]
fn whoever_leads_without_a_vote_is_shown_as_a_hint() {
    let mut trio = Trio::new("ring");
    trio.url.push_str("&unratified");
    trio.start(0);
    trio.leader();
    until("a hint", || {
        let shown = trio.ask(&["status"]).out;
        shown.contains("\nratified  no: this is a hint, ").then_some(())
    });
    trio.ask(&["voters"]).failed(2, "cannot use this voter: without ratification nobody votes");
    let promises = trio.ask(&["doctor", "--json"]).json()["promises"].clone();
    let given: Vec<_> =
        promises.as_array().expect("a list").iter().map(|it| &it["given"]).collect();
    assert_eq!(given, ["no", "no", "no"], "{promises}");
}
