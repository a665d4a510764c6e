//! Health by the answer of an HTTP server.
//!
//! Assumes: the server is near and trusted; nothing secret is in the question.
//! Promises: one question on a connection of its own, which is closed with the probe. No redirect
//! is followed, and the body is not read.

use std::convert::Infallible;
use std::fmt;
use std::future::pending;

use hyper::client::conn::http1;
use hyper::header::{CONNECTION, HOST, HeaderValue, USER_AGENT};
use hyper::http::uri::Scheme;
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use thiserror::Error;
use tokio::net::TcpStream;

use crate::url::redacted;

/// Why a URL of health was refused. *Standing:* none was taken. *Retry:* with another URL.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{url:?} cannot be asked for health: {problem}")]
pub struct UrlError {
    /// As given, without a password.
    pub url: String,
    /// What is wrong with it, and what would be right.
    pub problem: String,
}

/// A server that is asked for every probe.
pub(super) struct UrlProbe {
    host: String,
    port: u16,
    /// Path and query, which may hold secrets.
    path: Uri,
    /// Host and port, as the server wants to be called.
    name: HeaderValue,
}

impl UrlProbe {
    pub(super) fn new(url: &str) -> Result<UrlProbe, UrlError> {
        let wrong = |problem: String| UrlError { url: redacted(url), problem };
        let uri = url.parse::<Uri>().map_err(|error| wrong(error.to_string()))?;
        if uri.scheme() == Some(&Scheme::HTTPS) {
            let instead = "only http is spoken here; use a command such as \"curl -fsS URL\"";
            return Err(wrong(instead.to_owned()));
        }
        let known = "write it like http://127.0.0.1:8080/healthz";
        let authority = match uri.authority() {
            Some(authority) if uri.scheme() == Some(&Scheme::HTTP) => authority,
            _ => return Err(wrong(known.to_owned())),
        };
        if authority.as_str().contains('@') {
            return Err(wrong("it must not hold a user or a password".to_owned()));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        // A port that is there and cannot be read must not be taken for none.
        let port = match authority.as_str().strip_prefix(authority.host()) {
            Some("") => Some(80),
            _ => authority.port_u16().filter(|port| *port != 0),
        };
        let (Some(port), false) = (port, host.is_empty()) else {
            return Err(wrong(known.to_owned()));
        };
        let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        let path = format!("{}{query}", uri.path()).parse().map_err(|_| wrong(known.to_owned()))?;
        let name = authority.as_str().parse().map_err(|_| wrong(known.to_owned()))?;
        Ok(UrlProbe { host, port, path, name })
    }

    pub(super) async fn run(&self) -> Result<(), String> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await;
        let stream = stream.map_err(|error| format!("cannot connect to {self}: {error}"))?;
        let status = self.ask(stream).await.map_err(|error| format!("{self}: {error}"))?;
        if status.is_success() { Ok(()) } else { Err(format!("{self} answered {status}")) }
    }

    async fn ask(&self, stream: TcpStream) -> Result<StatusCode, hyper::Error> {
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let mut question = Request::new(String::new());
        question.uri_mut().clone_from(&self.path);
        let headers = question.headers_mut();
        headers.insert(HOST, self.name.clone());
        let me = concat!("incumbent/", env!("CARGO_PKG_VERSION"));
        headers.insert(USER_AGENT, HeaderValue::from_static(me));
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        // What becomes of the connection reaches the question, so it has the only say.
        let drive = async {
            let _ = connection.await;
            pending::<Infallible>().await
        };
        tokio::select! {
            answer = sender.send_request(question) => answer.map(|answer| answer.status()),
            never = drive => match never {},
        }
    }
}

impl fmt::Display for UrlProbe {
    /// The server only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UrlProbe { host, port, .. } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

#[cfg(test)]
mod tests;
