//! Leadership bound to health: probes, and the monitor that does them again and again.
//!
//! Assumes: whoever says that a candidate is well knows what its work needs.
//! Promises: a probe is done by one task at a time, and never outlives its timeout by more than it
//! takes to end it: a function's future is dropped, a command is killed with its whole process
//! group, a connection is closed.
//!
//! ```
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//! use incumbent::health::{Monitor, HealthRules, Probe};
//!
//! // Every five seconds; three failures in a row make it unfit, half a minute without any fit again.
//! let rules = HealthRules::new(Duration::from_secs(5), Duration::from_secs(2), 3, Duration::from_secs(30))?;
//! let probe = Probe::function(|| async {
//!     let free = 10_u64; // Ask the disk.
//!     if free > 1 { Ok(()) } else { Err(format!("{free} GB free")) }
//! });
//! let mut monitor = Monitor::start(probe, rules);
//! // Nothing is known, and nobody is fit, before the first probe has passed.
//! while !monitor.changed().await.is_fit() {}
//! assert!(monitor.fitness().is_fit());
//! # Ok(()) }
//! # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
//! ```

use std::ffi::OsString;
use std::fmt;

mod command;
mod function;
mod monitor;
#[cfg(feature = "health-url")]
mod url;

pub use incumbent_protocol::health::{Fitness, HealthRules, HealthRulesError};

use self::command::CommandProbe;
use self::function::FunctionProbe;
pub use self::monitor::Monitor;
#[cfg(feature = "health-url")]
pub use self::url::UrlError;
#[cfg(feature = "health-url")]
use self::url::UrlProbe;

/// A way to find out whether this process, or what it leads for, is well.
pub struct Probe(Kind);

enum Kind {
    Function(FunctionProbe),
    Command(CommandProbe),
    #[cfg(feature = "health-url")]
    Url(UrlProbe),
}

impl Probe {
    /// Calls a function; what it returns as an error is the reason. One that panics has failed, too.
    ///
    /// Its future is dropped when it takes too long. One that blocks its thread cannot be dropped:
    /// it counts as failed all the same, and is not called again before it has returned.
    ///
    /// ```
    /// use incumbent::health::Probe;
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// let ready = Arc::new(AtomicBool::new(true));
    /// let probe = Probe::function(move || {
    ///     let ready = Arc::clone(&ready);
    ///     async move { ready.load(Ordering::Relaxed).then_some(()).ok_or("not ready".to_owned()) }
    /// });
    /// ```
    pub fn function<F, Answer>(function: F) -> Probe
    where
        F: FnMut() -> Answer + Send + 'static,
        Answer: Future<Output = Result<(), String>> + Send + 'static,
    {
        Probe(Kind::Function(FunctionProbe::new(function)))
    }

    /// Runs a program; exit code 0 is well, anything else is not, and the last line that it wrote to
    /// standard error is the reason. Whatever is left of its process group when it ends or takes too
    /// long is killed.
    ///
    /// ```
    /// use incumbent::health::Probe;
    ///
    /// let probe = Probe::command("sh", ["-c", "test -w /var/lib/app"]);
    /// ```
    pub fn command<Words>(program: impl Into<OsString>, words: Words) -> Probe
    where
        Words: IntoIterator<Item: Into<OsString>>,
    {
        let words = words.into_iter().map(Into::into).collect();
        Probe(Kind::Command(CommandProbe::new(program.into(), words)))
    }

    /// Keeps variables of this process from the program of [`Probe::command`]; secrets, for example.
    /// Other probes have no use for it.
    ///
    /// ```
    /// use incumbent::health::Probe;
    ///
    /// let probe = Probe::command("sh", ["-c", "test -w /var/lib/app"]).without(["APP_PASSWORD"]);
    /// ```
    #[must_use]
    pub fn without(mut self, variables: impl IntoIterator<Item: Into<OsString>>) -> Probe {
        if let Kind::Command(command) = &mut self.0 {
            command.without.extend(variables.into_iter().map(Into::into));
        }
        self
    }

    /// Asks an HTTP server; an answer between 200 and 299 is well, anything else is not. No redirect
    /// is followed, and only `http` is spoken: for `https` there is [`Probe::command`] and a program
    /// like curl.
    ///
    /// ```
    /// use incumbent::health::Probe;
    ///
    /// let probe = Probe::url("http://127.0.0.1:8080/healthz")?;
    /// assert!(Probe::url("https://127.0.0.1:8080/healthz").is_err());
    /// # Ok::<(), incumbent::health::UrlError>(())
    /// ```
    #[cfg(feature = "health-url")]
    pub fn url(url: &str) -> Result<Probe, UrlError> {
        Ok(Probe(Kind::Url(UrlProbe::new(url)?)))
    }

    /// Probes once, for as long as it takes. Dropping the future ends the probe.
    async fn run(&mut self) -> Result<(), String> {
        match &mut self.0 {
            Kind::Function(function) => function.run().await,
            Kind::Command(command) => command.run().await,
            #[cfg(feature = "health-url")]
            Kind::Url(url) => url.run().await,
        }
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Function(_) => f.write_str("Probe::function"),
            Kind::Command(command) => write!(f, "Probe::command({command})"),
            #[cfg(feature = "health-url")]
            Kind::Url(url) => write!(f, "Probe::url({url})"),
        }
    }
}
