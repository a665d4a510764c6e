//! Traces: a collector gets the span of a leadership before the program ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

use crate::support::{Desk, PATIENCE, end};

/// One message as it came: its first line, and its body.
type Message = (String, Vec<u8>);

/// A collector that takes everything and looks at nothing.
fn collector() -> (String, Receiver<Message>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let (told, messages) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let told = told.clone();
            std::thread::spawn(move || {
                while let Some(message) = receive(&stream) {
                    let _ = told.send(message);
                }
            });
        }
    });
    (url, messages)
}

fn receive(stream: &TcpStream) -> Option<Message> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|length| *length > 0)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a number");
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let mut answer = stream;
    answer.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").ok()?;
    Some((first, body))
}

fn contains(body: &[u8], word: &str) -> bool {
    body.windows(word.len()).any(|part| part == word.as_bytes())
}

#[test]
fn a_leadership_arrives_at_the_collector_as_a_span() {
    let (url, messages) = collector();
    let desk = Desk::new();
    let mut run = desk.command(&["run", "--election", "traced", "--name", "ann", "--", "true"]);
    run.env("INCUMBENT_URL", desk.url()).env("OTEL_EXPORTER_OTLP_ENDPOINT", url);
    let ended = end(run);
    assert_eq!(ended.code, 0, "{ended:?}");
    let (first, body) = messages.recv_timeout(PATIENCE).expect("a message");
    assert!(first.starts_with("POST /v1/traces "), "{first}");
    for word in ["service.name", "incumbent", "campaign", "leadership", "traced", "ann", "resigned"]
    {
        assert!(contains(&body, word), "{word} is missing");
    }
}

#[test]
fn a_collector_that_is_away_costs_a_warning_at_most() {
    let desk = Desk::new();
    let mut run = desk.command(&["run", "--", "true"]);
    run.env("INCUMBENT_URL", desk.url()).env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9");
    assert_eq!(end(run).code, 0);
}
