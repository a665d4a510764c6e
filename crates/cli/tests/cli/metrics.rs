//! `run --metrics`: what Prometheus and those who restart processes see.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::support::{Desk, PATIENCE, Running, until};

/// An address that is free at this moment.
fn free() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    listener.local_addr().expect("an address")
}

/// The status and the text of a page, once anybody listens there.
fn page(address: SocketAddr, path: &str) -> (u16, String) {
    let mut stream = until("somebody to listen", || TcpStream::connect(address).ok());
    stream.set_read_timeout(Some(PATIENCE)).expect("set");
    let ask = format!("GET {path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n");
    stream.write_all(ask.as_bytes()).expect("sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("text");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).expect("a status").parse().expect("a number");
    (status, body.to_owned())
}

fn is_shown(text: &str, series: &str, value: &str) -> bool {
    let has = |line: &str| series.split(' ').all(|word| line.contains(word));
    text.lines().any(|line| has(line) && line.ends_with(&format!(" {value}")))
}

#[test]
fn a_leader_and_a_follower_are_both_ready_and_one_of_them_leads() {
    let desk = Desk::new();
    let (one, two) = (free(), free());
    let leader = desk.candidate("ann", &["--metrics", &one.to_string()]);
    assert_eq!(leader.line(), "begun");
    let _follower = desk.candidate("bob", &["--metrics", &two.to_string()]);
    assert_eq!(page(one, "/readyz"), (200, "leading\n".to_owned()));
    until("bob to contend", || (page(two, "/readyz").1 == "contending\n").then_some(()));
    for address in [one, two] {
        assert_eq!(page(address, "/livez"), (200, "alive\n".to_owned()));
        let (status, text) = page(address, "/metrics");
        assert_eq!(status, 200);
        assert!(text.contains("# TYPE incumbent_round_seconds histogram"), "{text}");
        assert!(text.contains("# HELP incumbent_contending 1 while"), "{text}");
        assert!(is_shown(&text, "incumbent_contending election=\"default\"", "1"), "{text}");
    }
    let leading = "incumbent_standing standing=\"leading\"";
    assert!(is_shown(&page(one, "/metrics").1, leading, "1"));
    assert!(is_shown(&page(two, "/metrics").1, leading, "0"));
}

#[test]
fn an_address_that_is_taken_is_refused_before_anything_is_opened() {
    let desk = Desk::new();
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let ended = desk.ask(&["run", "--metrics", &address, "--", "true"]);
    assert_eq!((ended.code, ended.out.as_str()), (125, ""));
    assert!(ended.err.contains(&format!("cannot serve metrics on {address}: ")), "{}", ended.err);
    assert!(!desk.path("elections.db").exists());
}

#[test]
fn the_file_may_name_the_address() {
    let desk = Desk::new();
    let address = free();
    desk.write(".config/incumbent.toml", &format!("metrics = \"{address}\"\n"));
    let leader = desk.candidate("ann", &[]);
    assert_eq!(leader.line(), "begun");
    assert_eq!(page(address, "/readyz").0, 200);
}

#[test]
fn lines_can_be_json_and_there_is_one_for_each_transition() {
    let desk = Desk::new();
    let ended = desk.ask(&["run", "-v", "--log-format", "json", "--", "true"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let lines = ended.err.lines().filter(|line| line.starts_with('{'));
    let told: Vec<serde_json::Value> =
        lines.map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let tos: Vec<_> = told
        .iter()
        .filter(|line| line["message"] == "standing")
        .map(|line| line["to"].as_str().expect("text"))
        .collect();
    assert_eq!(tos, ["following", "leading", "following", "out"], "{told:#?}");
}

#[test]
fn a_candidate_that_does_not_contend_says_why_when_asked_whether_it_is_ready() {
    let (desk, address) = (Desk::new(), free());
    let flags = ["--metrics", &address.to_string(), "--health", "echo disk full >&2; false"]
        .map(str::to_owned);
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let _ann = desk.candidate("ann", &flags);
    until("the reason", || {
        if std::net::TcpStream::connect(address).is_err() {
            return None;
        }
        let (code, words) = page(address, "/readyz");
        (code == 503 && words.contains("disk full")).then_some(())
    });
}

/// The program as a shell starts it after these words, on the usual database.
fn after(desk: &Desk, words: &str, args: &[&str]) -> std::process::Command {
    let program = desk.command(args);
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &format!("{words}; exec \"$0\" \"$@\"")]).arg(program.get_program());
    command.args(program.get_args()).current_dir(desk.path("."));
    command.env("HOME", desk.path(".")).env("INCUMBENT_URL", desk.url());
    command
}

#[test]
fn many_who_connect_and_ask_nothing_neither_end_the_candidate_nor_hide_its_metrics() {
    let (desk, address) = (Desk::new(), free());
    let work = "echo begun; while [ ! -e again ]; do sleep 0.05; done; rm again";
    let flags =
        ["--metrics", &address.to_string(), "--restart", "always", "--restart-delay", "1ms"]
            .map(str::to_owned);
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let args = [&["run", "--name", "ann"], &flags[..], &["--", "sh", "-c", work]].concat();
    // More connections than it may have files open.
    let ann = Running::start(after(&desk, "ulimit -n 200", &args));
    assert_eq!(ann.line(), "begun");
    let limit = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    raised.expect("this test may open as many files as the system allows");
    let idle: Vec<TcpStream> = (0..1_000)
        .map(|_| {
            let mut stream = TcpStream::connect(address).expect("a connection");
            // It may have been closed already, for the sake of the next one.
            let _ = stream.write_all(b"GET /metrics HTTP/1.1\r\nHo");
            stream
        })
        .collect();
    let (status, text) = page(address, "/metrics");
    assert_eq!(status, 200);
    assert!(is_shown(&text, "incumbent_standing standing=\"leading\"", "1"), "{text}");
    // To start the command again takes files.
    std::fs::write(desk.path("again"), "").expect("written");
    assert_eq!(ann.line(), "begun");
    assert_eq!(page(address, "/readyz"), (200, "leading\n".to_owned()));
    drop(idle);
}

#[test]
fn one_who_connects_and_asks_slowly_is_given_up() {
    let (desk, address) = (Desk::new(), free());
    let _ann = desk.leader_with("ann", &["--metrics", &address.to_string()]);
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("set");
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHo").expect("sent");
    let mut answer = Vec::new();
    // Closed, in order or not, but not after the whole patience.
    let ended = stream.read_to_end(&mut answer);
    let timed_out = |error: &std::io::Error| error.kind() == std::io::ErrorKind::WouldBlock;
    assert!(!ended.as_ref().is_err_and(timed_out), "{ended:?}");
}

#[test]
fn a_connection_is_closed_after_one_answer() {
    let (desk, address) = (Desk::new(), free());
    let _ann = desk.leader_with("ann", &["--metrics", &address.to_string()]);
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("set");
    stream.write_all(b"GET /livez HTTP/1.1\r\nHost: here\r\n\r\n").expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer and then the end");
    assert!(answer.to_lowercase().contains("connection: close"), "{answer}");
    assert!(answer.ends_with("alive\n"), "{answer}");
}

#[test]
fn the_program_may_open_as_many_files_as_it_can_and_its_command_as_many_as_before() {
    let desk = Desk::new();
    let work = ["--", "sh", "-c", "ulimit -S -n; ulimit -H -n; exec sleep 600"];
    let args = [&["run", "--name", "ann"], &work[..]].concat();
    let ann = Running::start(after(&desk, "ulimit -S -n 100; ulimit -H -n 300", &args));
    assert_eq!((ann.line(), ann.line()), ("100".to_owned(), "300".to_owned()));
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", ann.id())).expect("limits");
    let files = limits.lines().find(|line| line.starts_with("Max open files")).expect("a line");
    assert_eq!(files.split_whitespace().nth(3), Some("300"), "{limits}");
}
