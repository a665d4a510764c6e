//! Completion scripts.

use std::process::Command;

use crate::support::{Desk, text};

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish"] {
        let ended = desk.call(&["completions", shell]);
        assert_eq!((ended.code, ended.err.as_str()), (0, ""));
        for word in ["incumbent", "takeover", "doctor", "grants"] {
            assert!(ended.out.contains(word), "{shell}: {word}");
        }
        assert_eq!(desk.call(&["completions", shell, "--json"]).json()["script"], ended.out);
    }
}

#[test]
fn the_script_for_bash_is_one_that_bash_accepts() {
    let desk = Desk::new();
    let script = desk.write("completions.bash", &desk.call(&["completions", "bash"]).out);
    let check = Command::new("bash").args(["-n", text(&script)]).output().expect("bash");
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
}
