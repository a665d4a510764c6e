//! Where settings come from: flag, then environment, then file, then default.

use serde_json::{Value, json};

use crate::support::{Desk, Running, end, text, until};

/// Leads for an instant with whatever settings apply, and shows what came of it.
fn lead(desk: &Desk, flags: &[&str], variables: &[(&str, &str)], url: &str) -> Value {
    let mut run = desk.command(&[&["run"], flags, &["--", "true"]].concat());
    run.envs(variables.iter().copied());
    let ended = end(run);
    assert_eq!(ended.code, 0, "{ended:?}");
    desk.call(&["status", "--all", "--json", "--url", url]).json()
}

const FILE: &str = r#"
url = "sqlite:file.db"
election = "of-file"
name = "named-by-file"
lease = "5s"
margin = "1s"
expiry = "database"
history = "file.jsonl"
grace = "500ms"
"#;

#[test]
fn the_file_is_used_where_nothing_else_is_said() {
    let desk = Desk::new();
    desk.write(".config/incumbent.toml", FILE);
    let seen = lead(&desk, &[], &[], "sqlite:file.db");
    let seen = &seen[0];
    assert_eq!(seen["election"], "of-file");
    assert_eq!(seen["last_holder"], "named-by-file");
    assert_eq!((&seen["lease"], &seen["margin"]), (&json!(5.0), &json!(1.0)));
    assert_eq!(seen["expiry"], "database");
    assert!(desk.path("file.jsonl").exists());
}

#[test]
fn the_environment_wins_over_the_file() {
    let desk = Desk::new();
    desk.write(".config/incumbent.toml", FILE);
    let variables = [
        ("INCUMBENT_URL", "sqlite:env.db"),
        ("INCUMBENT_ELECTION", "of-env"),
        ("INCUMBENT_NAME", "named-by-env"),
        ("INCUMBENT_LEASE", "6s"),
        ("INCUMBENT_MARGIN", "2s"),
        ("INCUMBENT_EXPIRY", "observed"),
        ("INCUMBENT_HISTORY", "env.jsonl"),
        ("INCUMBENT_GRACE", "400ms"),
    ];
    let seen = lead(&desk, &[], &variables, "sqlite:env.db");
    let seen = &seen[0];
    assert_eq!(seen["election"], "of-env");
    assert_eq!(seen["last_holder"], "named-by-env");
    assert_eq!((&seen["lease"], &seen["margin"]), (&json!(6.0), &json!(2.0)));
    assert_eq!(seen["expiry"], "observed");
    assert!(desk.path("env.jsonl").exists());
    assert!(!desk.path("file.db").exists() && !desk.path("file.jsonl").exists());
}

#[test]
fn a_flag_wins_over_the_environment() {
    let desk = Desk::new();
    let variables = [
        ("INCUMBENT_URL", "sqlite:env.db"),
        ("INCUMBENT_ELECTION", "of-env"),
        ("INCUMBENT_NAME", "named-by-env"),
        ("INCUMBENT_LEASE", "6s"),
        ("INCUMBENT_EXPIRY", "database"),
        ("INCUMBENT_HISTORY", "env.jsonl"),
    ];
    let flags = [
        "--url",
        "sqlite:flag.db",
        "--election",
        "of-flag",
        "--name",
        "named-by-flag",
        "--lease",
        "7s",
        "--expiry",
        "observed",
        "--history",
        "flag.jsonl",
    ];
    let seen = lead(&desk, &flags, &variables, "sqlite:flag.db");
    let seen = &seen[0];
    assert_eq!(seen["election"], "of-flag");
    assert_eq!(seen["last_holder"], "named-by-flag");
    assert_eq!((&seen["lease"], &seen["expiry"]), (&json!(7.0), &json!("observed")));
    assert!(desk.path("flag.jsonl").exists());
    assert!(!desk.path("env.db").exists() && !desk.path("env.jsonl").exists());
}

#[test]
fn without_any_settings_a_database_in_the_state_folder_is_used() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new();
    let url = format!("sqlite:{}", desk.path(".local/state/incumbent/elections.db").display());
    let seen = lead(&desk, &[], &[], &url);
    assert_eq!(seen[0]["election"], "default");
    assert_eq!(seen[0]["lease"], 3.0);
    let folder = desk.path(".local/state/incumbent");
    let mode = std::fs::metadata(folder).expect("folder").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn the_state_folder_is_where_the_user_says() {
    let desk = Desk::new();
    let state = desk.path("state");
    let mut schema = desk.command(&["schema", "--apply", "--json"]);
    schema.env("XDG_STATE_HOME", &state);
    let url = format!("sqlite://{}", state.join("incumbent/elections.db").display());
    let told = json!({ "applied": true, "url": url, "from": null, "to": 3 });
    assert_eq!(end(schema).json(), told);
}

#[test]
fn a_file_can_be_named_by_flag_or_by_variable() {
    let desk = Desk::new();
    let by_flag = desk.write("a.toml", "url = \"sqlite:a.db\"");
    let by_variable = desk.write("b.toml", "url = \"sqlite:b.db\"");
    let mut schema = desk.command(&["schema", "--apply", "--json"]);
    schema.env("INCUMBENT_CONFIG", &by_variable);
    assert_eq!(end(schema).json()["url"], "sqlite:b.db");
    let mut schema = desk.command(&["schema", "--apply", "--json", "--config", text(&by_flag)]);
    schema.env("INCUMBENT_CONFIG", &by_variable);
    assert_eq!(end(schema).json()["url"], "sqlite:a.db");
}

#[test]
fn looking_writes_no_history() {
    let desk = Desk::new();
    assert_eq!(desk.ask(&["schema", "--apply", "--history", "h.jsonl"]).code, 0);
    assert_eq!(desk.ask(&["status", "--history", "h.jsonl"]).code, 1);
    assert!(!desk.path("h.jsonl").exists());
}

#[test]
fn who_is_preferred_can_be_said_by_flag_variable_and_file() {
    let desk = Desk::new();
    let file = desk.write(
        "x.toml",
        "priority = -3\nprefer = [\"zone=a\", \"version=newest\"]\npreempt_after = \"30s\"\ndrain = \"5s\"\n",
    );
    let _ann = desk.leader_with("ann", &["--config", text(&file)]);
    let seen = desk.ask(&["members", "--json"]).json();
    let ann = &seen["members"][0];
    assert_eq!((&ann["priority"], &ann["prefers"]), (&json!(-3), &json!("zone=a version=newest")));
    let mut bob = desk.command(&["run", "--priority=-1", "--name", "bob", "--", "sleep", "600"]);
    bob.env("INCUMBENT_URL", desk.url()).env("INCUMBENT_PREFER", "version=oldest");
    bob.env("INCUMBENT_ROLLING", "true").env("INCUMBENT_LABEL", "version=1.2");
    let _bob = Running::start(bob);
    let bob = until("a line of the roll", || {
        let seen = desk.ask(&["members", "--json"]).json();
        seen["members"].as_array()?.iter().find(|member| member["name"] == "bob").cloned()
    });
    assert_eq!((&bob["priority"], &bob["prefers"]), (&json!(-1), &json!("rolling version=oldest")));
}

#[test]
fn preferences_that_do_not_fit_together_are_refused() {
    let desk = Desk::new();
    desk.ask(&["run", "--hold-down", "5m", "--", "true"])
        .failed(2, "a hold-down is for preemption: say --preempt-after too");
    desk.ask(&["run", "--rolling", "--", "true"]).failed(
        2,
        "cannot use this rolling: candidates are told apart by their version: set the label version too",
    );
    let ended = desk.ask(&["run", "--prefer", "newest", "--", "true"]);
    assert!(ended.code == 2 && ended.err.contains("is no preference"), "{ended:?}");
    let ended = desk.ask(&["run", "--priority", "high", "--", "true"]);
    assert!(ended.code == 2 && ended.err.contains("--priority"), "{ended:?}");
}

#[test]
fn the_time_to_stop_may_come_from_file_variable_or_flag() {
    let desk = Desk::new();
    let stop = |variable: Option<&str>, flags: &[&str]| {
        let work = ["--", "sh", "-c", "echo begun; exec sleep 600"];
        let mut command = desk.command(&[&["run"], flags, &work].concat());
        command.env("INCUMBENT_URL", desk.url());
        command.envs(variable.map(|span| ("INCUMBENT_STOP_TIMEOUT", span)));
        let said = desk.path("said");
        let mut run = Running::start_into(command, &said);
        assert_eq!(run.line(), "begun");
        run.terminate();
        assert_eq!(run.code(), 143);
        std::fs::read_to_string(said).expect("what it said")
    };
    let has = |span: &str| format!("the command has {span} to stop");
    let said = stop(None, &[]);
    assert!(said.contains(&has("10s")), "{said}");
    desk.write(".config/incumbent.toml", "stop_timeout = \"20s\"\n");
    let said = stop(None, &[]);
    assert!(said.contains(&has("20s")), "{said}");
    let said = stop(Some("30s"), &[]);
    assert!(said.contains(&has("30s")), "{said}");
    let said = stop(Some("30s"), &["--stop-timeout", "40s"]);
    assert!(said.contains(&has("40s")), "{said}");
}

#[test]
fn neither_the_secret_nor_a_password_is_passed_on_to_the_command_or_to_a_probe() {
    let desk = Desk::new();
    let show = "echo \"${INCUMBENT_SECRET-none} ${INCUMBENT_URL-none}\"";
    let probe = format!("{show} > probed");
    let run = |url: &str| {
        let flags = ["--url", "sqlite:x.db", "--health", &probe];
        let args = [&["run"], &flags[..], &["--", "sh", "-c", show]].concat();
        let mut command = desk.command(&args);
        command.env("INCUMBENT_SECRET", "0123456789abcdef").env("INCUMBENT_URL", url);
        let ended = end(command);
        assert_eq!(ended.code, 0, "{ended:?}");
        (ended.out, std::fs::read_to_string(desk.path("probed")).expect("a probe"))
    };
    let both = |text: &str| (text.to_owned(), text.to_owned());
    assert_eq!(run("postgres://app:hunter2@db/app"), both("none none\n"));
    assert_eq!(run("postgres://db/app?password=hunter2"), both("none none\n"));
    assert_eq!(run("postgres://app@db/app"), both("none postgres://app@db/app\n"));
}

#[test]
fn a_misspelt_variable_is_told_with_the_one_that_was_meant() {
    let desk = Desk::new();
    let mut command = desk.command(&["secret"]);
    command.env("INCUMBENT_LAESE", "9s").env("INCUMBENT_PORT", "tcp://10.0.0.1:80");
    let ended = crate::support::end(command);
    let words =
        "warning: INCUMBENT_LAESE means nothing to this program: was INCUMBENT_LEASE meant?";
    assert_eq!((ended.code, ended.err), (0, format!("incumbent: {words}\n")));
}

#[test]
fn a_missing_secret_is_wrong_usage() {
    let desk = Desk::new();
    let url = "ring://10.255.0.1:7600,10.255.0.2:7600,10.255.0.3:7600";
    let ended = desk.call(&["run", "--url", url, "--me", "10.255.0.1:7600", "--", "true"]);
    assert!(ended.code == 2 && ended.err.contains("`incumbent secret`"), "{ended:?}");
}

#[test]
fn a_configuration_with_a_password_that_others_can_read_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new();
    let file = desk.write("app.toml", "url = \"postgres://app:hunter2@127.0.0.1:1/app\"\n");
    for (mode, warns) in [(0o640, true), (0o644, true), (0o600, false)] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("a mode");
        let ended = desk.call(&["status", "--config", crate::support::text(&file)]);
        assert_eq!(ended.err.contains("chmod 600"), warns, "{ended:?}");
        assert!(!ended.err.contains("hunter2"), "{ended:?}");
    }
}

/// What callers hand over in open files, such as a job server of make or the sockets of systemd, reaches the command.
#[test]
fn open_files_of_the_caller_reach_the_command_under_their_numbers() {
    let desk = Desk::new();
    let (one, two) = (desk.write("one", "first\n"), desk.write("two", "second\n"));
    let script = "exec 3<\"$1\" 4<\"$2\"; exec \"$3\" run --once -- sh -c 'cat <&3; cat <&4'";
    let mut call = desk.command(&[]);
    let program = call.get_program().to_owned();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script, "sh"]).args([one, two]).arg(&program);
    shell.envs(call.get_envs().filter_map(|(key, value)| Some((key, value?))));
    shell.env("INCUMBENT_URL", desk.url()).current_dir(desk.path("."));
    call = shell;
    let ended = end(call);
    assert_eq!((ended.code, ended.out.as_str()), (0, "first\nsecond\n"), "{ended:?}");
}
