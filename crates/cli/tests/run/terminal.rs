//! A command on a real terminal, below a real shell: its keys, its input, its modes.
//!
//! The shell echoes what is typed. So words that a test waits for are typed with quotes in them.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};

use crate::troupe::{Troupe, is_alive};
use crate::{PROGRAM, audit};

const CTRL_C: &str = "\x03";
const CTRL_Z: &str = "\x1a";

/// Says when it runs, and then what it read.
const READER: &str = r#"sh -c 'echo rea""dy; read x; echo got-$x'"#;
/// Says when it runs, and then sleeps.
const SLEEPER: &str = r#"sh -c 'echo $$ > "$PID"; echo rea""dy; exec sleep 600'"#;

/// A program on a terminal of its own, as the first process of its session.
struct Terminal<'a> {
    troupe: &'a Troupe,
    child: Child,
    keys: ChildStdin,
    shown: Arc<Mutex<String>>,
}

impl<'a> Terminal<'a> {
    /// With an interactive shell.
    fn shell(troupe: &'a Troupe) -> Self {
        let terminal = Terminal::of(troupe, "bash --norc --noprofile -i");
        terminal.shows("$ ");
        terminal
    }

    fn of(troupe: &'a Troupe, program: &str) -> Self {
        let mut command = Command::new("script");
        command.args(["-qfc", program, "/dev/null"]);
        for (key, _) in std::env::vars_os() {
            if key.to_string_lossy().starts_with("INCUMBENT_") {
                command.env_remove(key);
            }
        }
        let url = format!("sqlite://{}", troupe.path("e.db").display());
        command.env("INCUMBENT_URL", url).env("INCUMBENT_NAME", "ann");
        command.env("INCUMBENT_HISTORY", troupe.path("ann.history"));
        command.env("RUN", format!("{PROGRAM} run")).env("PID", troupe.path("pid"));
        command.env("STARTS", troupe.path("starts"));
        command.env("TERM", "dumb").env("PS1", "$ ").env("SHELL", "/bin/sh");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("script, of util-linux");
        let keys = child.stdin.take().expect("keys");
        let mut screen = child.stdout.take().expect("a screen");
        let shown = Arc::new(Mutex::new(String::new()));
        let said = Arc::clone(&shown);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                said.lock().expect("shown").push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        Terminal { troupe, child, keys, shown }
    }

    fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("a terminal");
    }

    /// Waits for these words, and forgets everything up to them.
    fn shows(&self, words: &str) {
        let look = || {
            let mut shown = self.shown.lock().expect("shown");
            let at = shown.find(words)?;
            *shown = shown.split_off(at + words.len());
            Some(())
        };
        let begun = std::time::Instant::now();
        while look().is_none() {
            let shown = self.shown.lock().expect("shown").clone();
            assert!(begun.elapsed() < crate::troupe::PATIENCE, "no {words:?} in {shown:?}");
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }

    /// The shell has the terminal, and it works as it should.
    fn is_sane(&mut self) {
        self.types("stty -a | tr ' ' _; echo en\"\"d\n");
        self.shows("_icanon");
        self.shows("_echo_");
        self.shows("end");
    }

    fn pid(&self) -> i32 {
        let read = || self.troupe.read("pid").trim().parse().ok();
        self.troupe.until("the command to say who it is", read)
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn troupe(lease: &'static str) -> Troupe {
    Troupe::new(PROGRAM, lease)
}

#[test]
fn a_command_reads_from_the_terminal() {
    let troupe = troupe("20s");
    let mut terminal = Terminal::shell(&troupe);
    terminal.types(&format!("$RUN --lease 20s -- {READER}; echo code=$?\n"));
    terminal.shows("ready");
    terminal.types("word\n");
    terminal.shows("got-word");
    terminal.shows("code=0");
    terminal.is_sane();
    audit(&troupe);
}

#[test]
fn a_command_in_a_script_has_the_terminal_when_it_asks_for_it() {
    let troupe = troupe("20s");
    let mut terminal = Terminal::shell(&troupe);
    std::fs::write(
        troupe.path("script"),
        format!("$RUN --lease 20s -- {READER}\nread y; echo then-$y\n"),
    )
    .expect("a script");
    terminal.types(&format!("sh {}; echo code=$?\n", troupe.path("script").display()));
    terminal.shows("ready");
    terminal.types("word\n");
    terminal.shows("got-word");
    terminal.types("more\n");
    terminal.shows("then-more");
    terminal.shows("code=0");
    terminal.is_sane();
}

#[test]
fn ctrl_c_ends_the_command_and_it_is_not_run_again() {
    let troupe = troupe("20s");
    let mut terminal = Terminal::shell(&troupe);
    terminal.types(&format!("$RUN --lease 20s --restart always -- {SLEEPER}; echo code=$?\n"));
    terminal.shows("ready");
    terminal.types(CTRL_C);
    terminal.shows("code=130");
    assert!(!is_alive(terminal.pid()));
    terminal.is_sane();
    audit(&troupe);
}

#[test]
fn a_command_that_goes_on_after_ctrl_c_is_left_alone() {
    let troupe = troupe("20s");
    let mut terminal = Terminal::shell(&troupe);
    let work =
        r#"sh -c 'trap "echo caug\"\"ht" INT; echo rea""dy; read x; read y; echo got-$y; exit 7'"#;
    terminal.types(&format!("$RUN --lease 20s -- {work}; echo code=$?\n"));
    terminal.shows("ready");
    terminal.types(CTRL_C);
    terminal.shows("caught");
    terminal.types("one\ntwo\nthree\n");
    terminal.shows("got-");
    terminal.shows("code=7");
}

#[test]
fn ctrl_z_stops_the_job_and_fg_continues_it() {
    let troupe = troupe("60s");
    let mut terminal = Terminal::shell(&troupe);
    // It starts no processes: one that is stopped between fork and exec would hold up the shell.
    let work = r#"bash -c 'while :; do echo ti""ck; read -t 0.05 x; done'"#;
    terminal.types(&format!("$RUN --lease 60s -- {work}\n"));
    for _ in 0..2 {
        // It has the terminal when it goes on.
        terminal.shows("tick");
        terminal.types(CTRL_Z);
        terminal.shows("while this job is stopped");
        terminal.shows("Stopped");
        terminal.is_sane();
        terminal.types("fg\n");
        terminal.shows("$RUN");
    }
    terminal.shows("tick");
    terminal.types(CTRL_C);
    terminal.shows("$ ");
    terminal.is_sane();
    audit(&troupe);
}

#[test]
fn a_job_in_the_background_goes_on_without_the_terminal_and_fg_gives_it_back() {
    let troupe = troupe("60s");
    let mut terminal = Terminal::shell(&troupe);
    let work = r#"sh -c 'echo rea""dy; read y < "$PID"; read x; echo got-$x'"#;
    let made = Command::new("mkfifo").arg(troupe.path("pid")).status();
    assert!(made.is_ok_and(|made| made.success()));
    terminal.types(&format!("$RUN --lease 60s -- {work}\n"));
    terminal.shows("ready");
    terminal.types(CTRL_Z);
    terminal.shows("Stopped");
    terminal.types("bg\n");
    terminal.is_sane();
    std::fs::write(troupe.path("pid"), "go on").expect("a file");
    terminal.types("until jobs | grep -q Stopped; do sleep 0.02; done; echo en\"\"d\n");
    terminal.shows("end");
    terminal.types("fg\n");
    terminal.shows("$RUN");
    terminal.types("word\n");
    terminal.shows("got-word");
    terminal.is_sane();
}

#[test]
fn a_job_that_is_stopped_for_longer_than_the_lease_loses_it_and_its_command() {
    let mut troupe = troupe("4s");
    let pid = {
        let mut terminal = Terminal::shell(&troupe);
        terminal.types(&format!("$RUN --lease 4s -- {SLEEPER}; echo code=$?\n"));
        terminal.shows("ready");
        terminal.types(CTRL_Z);
        terminal.shows("Stopped");
        let pid = terminal.pid();
        troupe.until("the command to die", || (!is_alive(pid)).then_some(()));
        terminal.types("fg; echo code=$?\n");
        // It contends again, and leads again.
        terminal.shows("lost (term");
        terminal.shows("ready");
        terminal.types(CTRL_C);
        terminal.shows("code=130");
        terminal.is_sane();
        pid
    };
    troupe.join("bob");
    assert_eq!(troupe.nth_start(1).name, "bob");
    assert!(!is_alive(pid));
    audit(&troupe);
}

#[test]
fn a_job_in_the_background_stops_when_it_reads_and_has_the_terminal_in_the_foreground() {
    let troupe = troupe("60s");
    let mut terminal = Terminal::shell(&troupe);
    terminal.types(&format!("$RUN --lease 60s -- {READER} &\n"));
    terminal.shows("ready");
    terminal.shows("while this job is stopped");
    terminal.types("until jobs | grep -q Stopped; do sleep 0.02; done; echo en\"\"d\n");
    terminal.shows("end");
    terminal.is_sane();
    terminal.types("fg\n");
    terminal.shows("$RUN");
    terminal.types("word\n");
    terminal.shows("got-word");
    terminal.is_sane();
}

#[test]
fn a_lost_leadership_gives_the_terminal_back_as_it_was() {
    let troupe = troupe("10s");
    let mut terminal = Terminal::shell(&troupe);
    let work = r#"sh -c 'trap "" TERM; stty raw -echo; echo rea""dy; sleep 600'"#;
    terminal.types(&format!("$RUN --lease 10s --grace 500ms --once -- {work}; echo code=$?\n"));
    terminal.shows("ready");
    let demote = troupe.call("demote").output().expect("demote");
    assert!(demote.status.success(), "{}", String::from_utf8_lossy(&demote.stderr));
    terminal.shows("code=123");
    terminal.is_sane();
    audit(&troupe);
}

#[test]
fn a_candidate_that_contends_again_hears_ctrl_c() {
    let mut troupe = troupe("4s");
    troupe.join_with("bob", &["--priority", "1"], &["sleep", "600"]);
    troupe.until("bob to lead", || troupe.read("bob.err").contains("leading").then_some(()));
    let mut terminal = Terminal::shell(&troupe);
    terminal.types(&format!("$RUN --lease 4s -- {SLEEPER}; echo code=$?\n"));
    terminal.shows("contending");
    let order = troupe.call("takeover").args(["ann", "--yes"]).output().expect("takeover");
    assert!(order.status.success(), "{}", String::from_utf8_lossy(&order.stderr));
    terminal.shows("ready");
    let order = troupe.call("takeover").args(["bob", "--yes"]).output().expect("takeover");
    assert!(order.status.success(), "{}", String::from_utf8_lossy(&order.stderr));
    terminal.shows("lost");
    terminal.types(CTRL_C);
    terminal.shows("code=130");
    terminal.is_sane();
}

#[test]
fn ctrl_z_does_nothing_where_no_shell_could_continue_the_job() {
    let troupe = troupe("20s");
    let run = format!("exec {PROGRAM} run --lease 20s -- {READER}");
    let mut terminal = Terminal::of(&troupe, &run);
    terminal.shows("ready");
    terminal.types(CTRL_Z);
    terminal.types("word\n");
    terminal.shows("got-word");
}

#[test]
fn a_program_that_stops_its_whole_group_stops_the_job() {
    let troupe = troupe("60s");
    let mut terminal = Terminal::shell(&troupe);
    let work = r#"sh -c 'echo rea""dy; kill -STOP 0; read x; echo got-$x'"#;
    terminal.types(&format!("$RUN --lease 60s -- {work}\n"));
    terminal.shows("Stopped");
    terminal.is_sane();
    terminal.types("fg\n");
    terminal.shows("$RUN");
    terminal.types("word\n");
    terminal.shows("got-word");
    terminal.is_sane();
}
