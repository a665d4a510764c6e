//! What is asked of the operating system for a connection.
//!
//! Assumes: nothing; a wish that is not granted costs speed, not correctness.
//! Promises: small messages leave at once, and a connection to a host that vanished is given up in
//! time, so that a new one can be tried.

use std::time::Duration;

use tokio::net::TcpStream;

/// Prepares a connection; what was sent may go unanswered for as long as `stuck`.
pub(super) fn prepare(stream: &TcpStream, stuck: Duration) {
    let _ = stream.set_nodelay(true);
    #[cfg(target_os = "linux")]
    {
        use rustix::net::sockopt;
        let millis = u32::try_from(stuck.as_millis()).unwrap_or(u32::MAX);
        let _ = sockopt::set_tcp_user_timeout(stream, millis);
        let _ = sockopt::set_socket_keepalive(stream, true);
        let _ = sockopt::set_tcp_keepidle(stream, stuck.max(Duration::from_secs(1)));
        let _ = sockopt::set_tcp_keepintvl(stream, Duration::from_secs(1));
    }
    #[cfg(not(target_os = "linux"))]
    let _ = stuck;
}
