//! Servers that are well, ill, silent, confused or not there.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::*;

/// Longer than anything here takes on the slowest machine.
const LONG: Duration = Duration::from_mins(1);

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Answers one question with these words, and returns the question.
async fn server(answer: &'static str) -> (SocketAddr, JoinHandle<String>) {
    let (listener, address) = listen().await;
    let task = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut question = String::new();
        while !question.ends_with("\r\n\r\n") {
            let mut room = [0; 1_024];
            let count = stream.read(&mut room).await.unwrap();
            assert!(count > 0, "the question is cut off: {question}");
            question.push_str(std::str::from_utf8(&room[..count]).unwrap());
        }
        stream.write_all(answer.as_bytes()).await.unwrap();
        question
    });
    (address, task)
}

async fn ask(url: &str) -> Result<(), String> {
    let probe = UrlProbe::new(url).unwrap();
    timeout(LONG, probe.run()).await.expect("the probe ends")
}

async fn answered(answer: &'static str) -> Result<(), String> {
    let (address, _) = server(answer).await;
    ask(&format!("http://{address}/healthz")).await
}

#[tokio::test]
async fn answers_from_200_to_299_are_well() {
    assert_eq!(answered("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await, Ok(()));
    assert_eq!(answered("HTTP/1.1 204 No Content\r\n\r\n").await, Ok(()));
    assert_eq!(answered("HTTP/1.0 299 Odd\r\n\r\n").await, Ok(()));
}

#[tokio::test]
async fn the_question_names_host_path_and_query() {
    let (address, task) = server("HTTP/1.1 200 OK\r\n\r\n").await;
    assert_eq!(ask(&format!("http://{address}/health/deep?key=1")).await, Ok(()));
    let question = task.await.unwrap();
    assert!(question.starts_with("GET /health/deep?key=1 HTTP/1.1\r\n"), "{question}");
    assert!(question.contains(&format!("host: {address}\r\n")), "{question}");
}

#[tokio::test]
async fn a_server_that_answers_500_is_ill() {
    let (address, _) = server("HTTP/1.1 500 Internal Server Error\r\n\r\n").await;
    let said = ask(&format!("http://{address}/?token=hunter2")).await;
    assert_eq!(said, Err(format!("{address} answered 500 Internal Server Error")));
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_not_well() {
    let said = answered("HTTP/1.1 302 Found\r\nlocation: /elsewhere\r\n\r\n").await;
    assert!(said.unwrap_err().ends_with("answered 302 Found"));
}

#[tokio::test]
async fn a_server_that_hangs_up_or_speaks_another_language_is_ill() {
    for words in ["", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 2"] {
        let said = answered(words).await.unwrap_err();
        assert!(said.starts_with("127.0.0.1:"), "{said}");
    }
}

#[tokio::test]
async fn a_port_where_nobody_listens_is_a_failure() {
    let (listener, address) = listen().await;
    drop(listener);
    let said = ask(&format!("http://{address}/")).await.unwrap_err();
    assert!(
        said.starts_with(&format!("cannot connect to {address}: Connection refused")),
        "{said}"
    );
}

#[tokio::test]
async fn a_connection_ends_with_its_probe_though_the_server_never_answers() {
    let (listener, address) = listen().await;
    let probe = UrlProbe::new(&format!("http://{address}/")).unwrap();
    let mut stream = tokio::select! {
        answer = probe.run() => panic!("nobody answered: {answer:?}"),
        stream = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            assert_eq!(stream.read_u8().await.unwrap(), b'G');
            stream
        } => stream,
    };
    let mut rest = Vec::new();
    timeout(LONG, stream.read_to_end(&mut rest)).await.expect("it is closed").unwrap();
}

#[test]
fn host_port_and_path_are_read_with_their_defaults() {
    for (url, server, path) in [
        ("http://web", "web:80", "/"),
        ("HTTP://web:81?deep", "web:81", "/?deep"),
        ("http://[::1]:8080/a", "[::1]:8080", "/a"),
        ("http://[::1]", "[::1]:80", "/"),
    ] {
        let probe = UrlProbe::new(url).unwrap();
        assert_eq!((probe.to_string().as_str(), probe.path.to_string().as_str()), (server, path));
    }
}

#[test]
fn a_url_that_cannot_be_asked_is_refused_and_says_what_would_be_right() {
    for (url, said) in [
        ("https://web/healthz", "only http is spoken here"),
        ("ftp://web/", "write it like http://"),
        ("/healthz", "write it like http://"),
        ("http://", "http"),
        ("http://web:0/", "write it like http://"),
        ("http://web:99999/", "http"),
        ("http://web:/", "http"),
        ("http://we b/", "http"),
    ] {
        let error = UrlProbe::new(url).err().unwrap_or_else(|| panic!("{url} was accepted"));
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[test]
fn a_password_is_refused_and_never_shown() {
    let error = UrlProbe::new("http://app:hunter2@web/").err().unwrap().to_string();
    assert!(error.contains("must not hold a user") && !error.contains("hunter2"), "{error}");
}
