//! Every fault of the proxy does what it says, on plain TCP and before a real server.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use incumbent_testbed::{Proxy, Way, shared_postgres};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::common::{Result, eventually, psql};

/// Long enough for bytes that are not withheld, in tests that something does *not* arrive.
const MOMENT: Duration = Duration::from_millis(300);

/// A server that answers each chunk with the same bytes, and tells what it heard; the end of a
/// connection is an empty chunk.
async fn echo() -> anyhow::Result<(SocketAddr, mpsc::UnboundedReceiver<Vec<u8>>)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let (heard, hears) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let heard = heard.clone();
            tokio::spawn(async move {
                let mut bytes = [0; 1024];
                loop {
                    let length = stream.read(&mut bytes).await.unwrap_or(0);
                    let _ = heard.send(bytes[..length].to_vec());
                    if length == 0 || stream.write_all(&bytes[..length]).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    Ok((address, hears))
}

async fn ask(stream: &mut TcpStream, words: &[u8]) -> std::io::Result<Vec<u8>> {
    stream.write_all(words).await?;
    answer(stream).await
}

async fn answer(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; 1024];
    let length = stream.read(&mut bytes).await?;
    bytes.truncate(length);
    Ok(bytes)
}

async fn hears_nothing(stream: &mut TcpStream) -> bool {
    tokio::time::timeout(MOMENT, answer(stream)).await.is_err()
}

async fn is_reset(stream: &mut TcpStream) -> bool {
    answer(stream).await.is_err_and(|error| error.kind() == ErrorKind::ConnectionReset)
}

#[tokio::test]
async fn without_a_fault_bytes_ends_and_counts_pass() -> Result {
    let (address, mut hears) = echo().await?;
    let proxy = Proxy::start(address).await?;
    let mut client = TcpStream::connect(proxy.address()).await?;
    assert_eq!(ask(&mut client, b"hello").await?, b"hello");
    assert_eq!(proxy.connections(), 1);
    assert_eq!(proxy.bytes(), (5, 5));
    drop(client);
    assert_eq!(hears.recv().await.as_deref(), Some(&b"hello"[..]));
    assert_eq!(hears.recv().await.as_deref(), Some(&b""[..]));
    eventually("the connection is gone", async || proxy.connections() == 0).await
}

#[tokio::test]
async fn a_delay_is_added_each_way() -> Result {
    let (address, _hears) = echo().await?;
    let proxy = Proxy::start(address).await?;
    let mut client = TcpStream::connect(proxy.address()).await?;
    proxy.delay(Duration::from_millis(100));
    let began = Instant::now();
    assert_eq!(ask(&mut client, b"hello").await?, b"hello");
    assert!(began.elapsed() >= Duration::from_millis(200), "{:?}", began.elapsed());
    Ok(())
}

#[tokio::test]
async fn dropped_replies_vanish_and_their_connection_is_reset_afterwards() -> Result {
    let (address, mut hears) = echo().await?;
    let proxy = Proxy::start(address).await?;
    let mut client = TcpStream::connect(proxy.address()).await?;
    let mut idle = TcpStream::connect(proxy.address()).await?;
    assert_eq!(ask(&mut idle, b"idle").await?, b"idle");
    assert_eq!(hears.recv().await.as_deref(), Some(&b"idle"[..]));
    proxy.drop_replies(true);
    client.write_all(b"hello").await?;
    assert_eq!(hears.recv().await.as_deref(), Some(&b"hello"[..]));
    assert!(hears_nothing(&mut client).await, "the reply arrived");
    proxy.drop_replies(false);
    assert!(is_reset(&mut client).await, "a connection that lost bytes lives on");
    assert_eq!(ask(&mut idle, b"still").await?, b"still");
    Ok(())
}

#[tokio::test]
async fn silence_to_the_server_lets_nothing_reach_it_not_even_an_end() -> Result {
    let (address, mut hears) = echo().await?;
    let proxy = Proxy::start(address).await?;
    let mut client = TcpStream::connect(proxy.address()).await?;
    assert_eq!(ask(&mut client, b"before").await?, b"before");
    assert_eq!(hears.recv().await.as_deref(), Some(&b"before"[..]));
    proxy.silence(Way::ToServer);
    client.write_all(b"hello").await?;
    drop(client);
    let heard = tokio::time::timeout(MOMENT, hears.recv()).await;
    assert!(heard.is_err(), "the server heard {heard:?}");
    assert_eq!(proxy.connections(), 1, "the server's connection has to stay open");
    proxy.silence(Way::None);
    assert_eq!(hears.recv().await.as_deref(), Some(&b""[..]), "it is reset afterwards");
    Ok(())
}

#[tokio::test]
async fn silence_to_the_client_lets_requests_through_and_both_lets_nothing() -> Result {
    let (address, mut hears) = echo().await?;
    let proxy = Proxy::start(address).await?;
    let mut client = TcpStream::connect(proxy.address()).await?;
    assert_eq!(ask(&mut client, b"before").await?, b"before");
    assert_eq!(hears.recv().await.as_deref(), Some(&b"before"[..]));
    proxy.silence(Way::ToClient);
    client.write_all(b"one way").await?;
    assert_eq!(hears.recv().await.as_deref(), Some(&b"one way"[..]));
    proxy.silence(Way::Both);
    client.write_all(b"no way").await?;
    assert!(hears_nothing(&mut client).await, "an answer arrived");
    let mut newcomer = TcpStream::connect(proxy.address()).await?;
    newcomer.write_all(b"hello").await?;
    assert!(hears_nothing(&mut newcomer).await, "a new connection got through");
    assert!(hears.try_recv().is_err(), "the server heard something");
    proxy.silence(Way::None);
    assert!(is_reset(&mut client).await);
    assert!(is_reset(&mut newcomer).await);
    Ok(())
}

#[tokio::test]
async fn a_reset_hits_present_connections_only() -> Result {
    let (address, _hears) = echo().await?;
    let proxy = Proxy::start(address).await?;
    let mut client = TcpStream::connect(proxy.address()).await?;
    assert_eq!(ask(&mut client, b"hello").await?, b"hello");
    proxy.reset();
    assert!(is_reset(&mut client).await);
    let mut client = TcpStream::connect(proxy.address()).await?;
    assert_eq!(ask(&mut client, b"hello").await?, b"hello");
    Ok(())
}

#[tokio::test]
async fn refused_connections_are_reset_and_present_ones_live_on() -> Result {
    let (address, _hears) = echo().await?;
    let proxy = Proxy::start(address).await?;
    let mut present = TcpStream::connect(proxy.address()).await?;
    assert_eq!(ask(&mut present, b"hello").await?, b"hello");
    proxy.refuse(true);
    let mut newcomer = TcpStream::connect(proxy.address()).await?;
    assert!(is_reset(&mut newcomer).await);
    assert_eq!(ask(&mut present, b"still").await?, b"still");
    proxy.refuse(false);
    let mut newcomer = TcpStream::connect(proxy.address()).await?;
    assert_eq!(ask(&mut newcomer, b"hello").await?, b"hello");
    Ok(())
}

#[tokio::test]
async fn a_pattern_spread_over_two_chunks_springs_the_trap_once() -> Result {
    let (address, mut hears) = echo().await?;
    let proxy = Proxy::start(address).await?;
    let mut client = TcpStream::connect(proxy.address()).await?;
    proxy.reset_on_reply(b"COMMIT");
    assert_eq!(ask(&mut client, b"xCOM").await?, b"xCOM");
    assert!(!proxy.fired());
    client.write_all(b"MITx").await?;
    assert!(is_reset(&mut client).await);
    assert!(proxy.fired());
    assert_eq!(hears.recv().await.as_deref(), Some(&b"xCOM"[..]));
    assert_eq!(hears.recv().await.as_deref(), Some(&b"MITx"[..]), "the request has to arrive");
    let mut client = TcpStream::connect(proxy.address()).await?;
    assert_eq!(ask(&mut client, b"COMMIT").await?, b"COMMIT");
    Ok(())
}

#[tokio::test]
async fn a_connection_reset_in_mid_commit_has_committed() -> Result {
    let database = shared_postgres().await?.fresh_database().await?;
    let proxy = Proxy::start(shared_postgres().await?.address()).await?;
    let url = proxy.url(&database.url);
    psql(&url, "CREATE TABLE kept (number int)").await?;
    proxy.reset_on_reply(b"COMMIT");
    let lost = psql(&url, "BEGIN; INSERT INTO kept VALUES (7); COMMIT").await;
    assert!(lost.is_err(), "the answer arrived");
    assert!(proxy.fired());
    assert_eq!(psql(&url, "SELECT number FROM kept").await?, "7");
    Ok(())
}

#[tokio::test]
async fn a_url_keeps_all_but_its_host_and_port() -> Result {
    let (address, _hears) = echo().await?;
    let proxy = Proxy::start(address).await?;
    let here = format!("127.0.0.1:{}", proxy.port());
    let cases = [
        ("postgres://u:p@db.example:5432/name?x=y", format!("postgres://u:p@{here}/name?x=y")),
        ("mysql://u:p%40@10.0.0.1/name", format!("mysql://u:p%40@{here}/name")),
        ("postgres://localhost", format!("postgres://{here}")),
    ];
    for (url, expected) in cases {
        assert_eq!(proxy.url(url), expected);
    }
    Ok(())
}
