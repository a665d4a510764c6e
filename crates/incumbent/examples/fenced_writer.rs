//! A ledger that no deposed leader can write to.
//!
//! Run it twice, in two terminals: `cargo run -p incumbent --example fenced_writer`. One of the two
//! writes; stop that one with Ctrl-Z and watch the other take over after the lease. Continue it with
//! `fg`: the ledger refuses its old token.

use std::error::Error;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use incumbent::{Backend, Config, Fence, FenceError, Leadership};

/// The resource: a file of entries beside a fence, which remembers the highest token it has seen
/// and refuses every lower one.
struct Ledger {
    entries: PathBuf,
    fence: PathBuf,
}

impl Ledger {
    /// Writes only if no newer leader has written before.
    fn write(&self, token: u64, text: &str) -> Result<bool, Box<dyn Error>> {
        let mut entries = File::options().create(true).append(true).open(&self.entries)?;
        // Whoever has the lock is the ledger for one entry. The fence is opened behind it: one that
        // was opened before would not know what other processes have let pass since.
        entries.lock()?;
        match Fence::open(&self.fence)?.admit(token) {
            Ok(()) => {}
            Err(FenceError::Stale { .. }) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        writeln!(entries, "{token} {text}")?;
        Ok(true)
    }
}

async fn work(leadership: &Leadership, ledger: &Ledger) {
    let token = leadership.token().get();
    loop {
        let word = match ledger.write(token, "an entry") {
            Ok(true) => "written",
            Ok(false) => "refused: somebody newer has written",
            Err(_) => "the ledger does not answer",
        };
        tracing::info!(token, valid = leadership.is_valid(), "{word}");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let folder = std::env::temp_dir().join("incumbent-fenced-writer");
    std::fs::create_dir_all(&folder)?;
    let ledger = Ledger { entries: folder.join("ledger"), fence: folder.join("fence") };
    let url = format!("sqlite://{}", folder.join("elections.db").display());
    let name = format!("writer-{}", std::process::id());
    let backend = Backend::open_with(&url, &Config::new().name(name)).await?;
    let election = backend.election("ledger").await?;
    tokio::select! {
        ended = election.run(async |leadership| work(leadership, &ledger).await) => ended?,
        _ = tokio::signal::ctrl_c() => {}
    }
    drop(election);
    backend.close().await;
    Ok(())
}
