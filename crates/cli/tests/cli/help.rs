//! The help pages: snapshots are the specification of the command line.

use crate::support::Desk;

/// Lines without what a terminal would not show.
fn page(args: &[&str]) -> String {
    let ended = Desk::new().call(args);
    assert_eq!((ended.code, ended.err.as_str()), (0, ""), "{args:?}");
    let lines = ended.out.lines().map(str::trim_end);
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_long_page_shows_everything() {
    insta::assert_snapshot!("help", page(&["--help"]));
}

#[test]
fn the_short_page_fits_a_screen() {
    let page = page(&["-h"]);
    insta::assert_snapshot!("short", page);
    assert!(page.lines().count() < 60, "{page}");
}

#[test]
fn every_command_has_a_page_with_examples() {
    for command in [
        "run",
        "status",
        "members",
        "watch",
        "history",
        "explain",
        "transfer",
        "demote",
        "takeover",
        "pause",
        "resume",
        "cordon",
        "uncordon",
        "forget",
        "voters",
        "secret",
        "schema",
        "doctor",
        "demo",
        "bench",
        "audit",
        "completions",
    ] {
        let page = page(&[command, "--help"]);
        assert!(page.contains("Examples:\n  incumbent "), "{command}");
        insta::assert_snapshot!(command, page);
    }
}

#[test]
fn every_benchmark_has_a_page_with_examples() {
    let page = page(&["bench", "failover", "--help"]);
    assert!(page.contains("Examples:\n  incumbent bench failover"), "{page}");
    insta::assert_snapshot!("bench-failover", page);
}

#[test]
fn no_page_is_wider_than_a_hundred_columns() {
    for command in ["run", "status", "members", "demo", "takeover", "transfer", "schema", "doctor"]
    {
        let wide = page(&[command, "--help"])
            .lines()
            .find(|line| line.chars().count() > 100)
            .map(str::to_owned);
        assert_eq!(wide, None, "{command}");
    }
}

#[test]
fn hidden_commands_are_not_advertised() {
    let page = page(&["--help"]);
    for hidden in ["guard", "enter", "demo-work", "bench-host"] {
        assert!(!page.contains(hidden), "{hidden}");
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    assert_eq!(page(&["--version"]), format!("incumbent {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn nothing_at_all_is_answered_with_help_and_counts_as_wrong_usage() {
    let ended = Desk::new().call(&[]);
    assert_eq!((ended.code, ended.out.as_str()), (2, ""));
    assert!(ended.err.contains("Usage: incumbent"), "{}", ended.err);
}
