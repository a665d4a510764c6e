//! The settings of the protocol `rounds`: where they come from, and what is wrong with them.

use serde_json::json;

use crate::support::{Desk, end};

const TRUE: [&str; 2] = ["--", "true"];

/// Contends with these flags, and fails.
#[track_caller]
fn refused(flags: &[&str], words: &str) {
    let ended = Desk::new().ask(&[&["run"], flags, &TRUE].concat());
    assert_eq!((ended.code, ended.out.as_str()), (2, ""), "{ended:?}");
    assert!(ended.err.starts_with(&format!("incumbent: {words}")), "{}", ended.err);
}

#[test]
fn settings_that_cannot_work_are_refused_with_what_would_be_right() {
    let rounds = ["--protocol", "rounds"];
    let with = |more: &[&'static str]| [&rounds[..], more].concat();
    refused(
        &with(&["--round-limit", "1"]),
        "the round limit is 1, but a lease must be 2 to 100 rounds\n",
    );
    refused(
        &["--round-time", "1s"],
        "cannot use this round time: it is for the protocol rounds only: set that too\n",
    );
    refused(
        &with(&["--lease", "3s", "--round-time", "1s"]),
        "the lease is 3s, but 2 rounds of 1s are 2s: leave one of the two out\n",
    );
    refused(
        &with(&["--round-cap", "1s"]),
        "the cap is 1s, but rounds begin with 1.5s and only grow up to it\n",
    );
    refused(
        &with(&["--expiry", "database"]),
        "cannot use this expiry: with the protocol rounds it is always observed\n",
    );
    refused(
        &with(&["--grace", "1s"]),
        "beat 1.5s + 2 x timeout 375ms + grace 1s = 3.25s must fit into the lease less its margin, 2.7s",
    );
}

#[test]
fn words_that_mean_nothing_are_refused_with_what_would_be_right() {
    refused(
        &["--label", "nonsense"],
        "invalid value 'nonsense' for '--label <KEY=VALUE>': \"nonsense\" is no label: write it like zone=a\n",
    );
    refused(
        &["--protocol", "rounds", "--label", "a=b,a=c"],
        "cannot use this label: \"a\": it is given twice\n",
    );
    refused(
        &["--protocol", "raft"],
        "invalid value 'raft' for '--protocol <NAME>'\n  [possible values: lease, rounds, ring, bully]\n",
    );
    let desk = Desk::new();
    let url = format!("{}?protocol=raft", desk.url());
    desk.call(&["status", "--url", &url]).failed(
        2,
        &format!(
            "cannot use the URL {url:?}: cannot use this protocol: \"raft\" is none: use \"lease\", \"rounds\", \"ring\" or \"bully\""
        ),
    );
    let url = format!("{}?protocol=rounds", desk.url());
    desk.call(&["status", "--protocol", "lease", "--url", &url])
        .failed(2, "cannot use this protocol: it is set to lease, but the URL says rounds");
}

#[test]
fn a_candidate_with_other_rules_than_the_rest_is_refused_with_both() {
    let desk = Desk::new();
    let ann = desk.candidate("ann", &["--protocol", "rounds"]);
    assert_eq!(ann.line(), "begun");
    let theirs = "the election runs with round time 1.5s, round limit 2, margin 300ms, delta 37.5ms, cap 15s; \
                  this candidate asked for";
    let end = "use the same, or stop all candidates first";
    for (flags, ours) in [
        (["--round-limit", "3"], "round time 1s, round limit 3, margin 300ms, delta 25ms, cap 10s"),
        (
            ["--margin", "200ms"],
            "round time 1.5s, round limit 2, margin 200ms, delta 37.5ms, cap 15s",
        ),
    ] {
        let ended = desk.ask(&[&["run", "--protocol", "rounds"], &flags[..], &TRUE].concat());
        let last = ended.err.lines().last().map(str::to_owned);
        assert_eq!((ended.code, last), (2, Some(format!("incumbent: {theirs} {ours}: {end}"))));
    }
    let ended = desk.ask(&["run", "--", "true"]);
    let words = "the election runs with lease 3s, margin 300ms, protocol rounds, this candidate asked for \
                 lease 3s, margin 300ms, expiry observed: use the same";
    assert!(ended.code == 2 && ended.err.contains(words), "{ended:?}");
}

#[test]
fn a_candidate_by_rounds_is_refused_where_somebody_leads_by_lease() {
    let desk = Desk::new();
    let _ann = desk.leader("ann");
    let ended = desk.ask(&["run", "--protocol", "rounds", "--", "true"]);
    let words = "the election runs with lease 3s, margin 300ms, expiry observed, this candidate asked for \
                 lease 3s, margin 300ms, protocol rounds: use the same";
    assert!(ended.code == 2 && ended.err.contains(words), "{ended:?}");
}

const FILE: &str = r#"
url = "sqlite:file.db"
protocol = "rounds"
round_time = "2s"
round_limit = 3
round_delta = "100ms"
round_cap = "4s"
address = "of-file"
label = ["zone=f", "note=a, b"]
"#;

#[test]
fn the_settings_of_rounds_come_from_flag_then_environment_then_file() {
    let desk = Desk::new();
    desk.write(".config/incumbent.toml", FILE);
    // The work of the leader looks at the roster that it is in.
    let look = |flags: &[&str], variables: &[(&str, &str)]| {
        let program = env!("CARGO_BIN_EXE_incumbent");
        let work = ["--", program, "members", "--json"];
        let mut run = desk.command(&[&["run"], flags, &work].concat());
        run.envs(variables.iter().copied());
        let ended = end(run);
        assert_eq!(ended.code, 0, "{ended:?}");
        let seen = ended.json();
        let spans = ["round_time", "round_limit", "round_delta", "round_cap"];
        let spans = spans.map(|key| seen[key].as_f64().expect("a number"));
        (spans, seen["members"][0]["address"].clone(), seen["members"][0]["labels"].clone())
    };
    let (spans, address, labels) = look(&[], &[]);
    assert_eq!((spans, address), ([2.0, 3.0, 0.1, 4.0], json!("of-file")));
    assert_eq!(labels, json!({ "note": "a, b", "zone": "f" }));
    let variables = [
        ("INCUMBENT_URL", "sqlite:env.db?protocol=rounds"),
        ("INCUMBENT_PROTOCOL", "rounds"),
        ("INCUMBENT_ROUND_TIME", "3s"),
        ("INCUMBENT_ROUND_LIMIT", "4"),
        ("INCUMBENT_ROUND_DELTA", "200ms"),
        ("INCUMBENT_ROUND_CAP", "5s"),
        ("INCUMBENT_ADDRESS", "of-env"),
        ("INCUMBENT_LABEL", "zone=e,rack=7"),
    ];
    let (spans, address, labels) = look(&[], &variables);
    assert_eq!((spans, address), ([3.0, 4.0, 0.2, 5.0], json!("of-env")));
    assert_eq!(labels, json!({ "rack": "7", "zone": "e" }));
    let flags = [
        ["--protocol", "rounds"],
        ["--round-time", "4s"],
        ["--round-limit", "2"],
        ["--round-delta", "300ms"],
        ["--round-cap", "6s"],
        ["--address", "of-flag"],
        ["--label", "zone=g"],
    ];
    let (spans, address, labels) = look(&flags.concat(), &variables);
    assert_eq!((spans, address), ([4.0, 2.0, 0.3, 6.0], json!("of-flag")));
    assert_eq!(labels, json!({ "zone": "g" }));
}

#[test]
fn the_doctor_says_how_the_bound_grows_with_the_round() {
    let desk = Desk::new();
    let examine = ["doctor", "--protocol", "rounds", "--lease", "1m"];
    let ended = desk.ask(&examine);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(
        ended.out.contains("bound     rounds          a round is 30.0 s at first"),
        "{}",
        ended.out
    );
    // Bounds are sums: lease + round + 2 x timeout.
    let run = ["run", "--protocol", "rounds", "--round-time", "10s", "--", "true"];
    assert_eq!(desk.ask(&run).code, 0);
    let url = format!("{}?protocol=rounds", desk.url());
    let seen = desk.call(&["doctor", "--json", "--lease", "1m", "--url", &url]).json();
    assert_eq!((&seen["protocol"], &seen["failover"]["bound"]), (&json!("rounds"), &json!(105.0)));
    assert_eq!(seen["rounds"]["first"]["bound"], 105.0);
    assert_eq!(seen["rounds"]["slowest"]["round_time"], 300.0);
    assert_eq!(
        seen["rounds"]["present"],
        json!({ "round_time": 10.0, "lease": 20.0, "bound": 35.0, "agrees": false })
    );
}
