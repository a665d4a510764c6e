//! The notice board of `run`: metrics for Prometheus, and whether this candidate contends.
//!
//! Assumes: it is opened before the store is, so that nothing goes uncounted.
//! Promises: `/readyz` says at once whether this candidate contends or leads; `/livez` gives up only
//! after several leases without contending, because a restart seldom mends a store. Neither depends
//! on leading: a follower is as well as a leader. What the board does never delays a round, and those
//! who ask, or only connect, do not take the files that the candidate needs.

mod door;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use axum::Router;
use axum::http::{StatusCode, header};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use incumbent::{Pulse, Standing};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tokio::net::TcpListener;

use self::door::Door;
use crate::run::lookout::Obstacle;

/// Upper ends of what histograms tell apart, in seconds: from a local file to a lease of a minute.
const BUCKETS: [f64; 20] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 7.5, 10.0, 15.0,
    20.0, 30.0, 45.0, 60.0,
];

/// How often it looks whether the candidate contends.
const LOOK: Duration = Duration::from_secs(1);

/// How many leases a candidate may go without contending before it counts as dead.
const LEASES: u32 = 5;

/// No candidate counts as dead sooner than that, however short its lease.
const SHORTEST: Duration = Duration::from_secs(15);

/// A board that listens, though nobody looks after it yet.
#[derive(Debug)]
pub(crate) struct Board {
    listener: TcpListener,
    address: SocketAddr,
    metrics: PrometheusHandle,
}

impl Board {
    /// Listens, and begins to count.
    pub(crate) async fn open(address: SocketAddr) -> anyhow::Result<Board> {
        let problem = || format!("cannot serve metrics on {address}");
        let listener = TcpListener::bind(address).await.with_context(problem)?;
        let address = listener.local_addr().with_context(problem)?;
        let metrics = PrometheusBuilder::new().set_buckets(&BUCKETS)?.install_recorder()?;
        Ok(Board { listener, address, metrics })
    }

    /// Where it listens.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the program ends.
    pub(crate) fn serve(self, pulses: Vec<Pulse>, obstacle: Obstacle) {
        let (pulses, contended) = (pulses.into(), Arc::new(Mutex::new(Instant::now())));
        let checks = Checks { pulses, contended, obstacle };
        let (alive, ready, watched) = (checks.clone(), checks.clone(), checks);
        let (metrics, kept) = (self.metrics.clone(), self.metrics);
        let pages = Router::new()
            .route("/metrics", get(async move || page(&metrics)))
            .route("/livez", get(async move || alive.live()))
            .route("/readyz", get(async move || ready.ready()))
            // One answer for each connection: nobody holds one for the next time.
            .layer(map_response(async |answer: Response| {
                ([(header::CONNECTION, "close")], answer)
            }));
        tokio::spawn(async move {
            loop {
                watched.look();
                kept.run_upkeep();
                tokio::time::sleep(LOOK).await;
            }
        });
        tokio::spawn(async move {
            if let Err(error) = axum::serve(Door::new(self.listener), pages).await {
                tracing::warn!(%error, "metrics are not served any more");
            }
        });
    }
}

fn page(metrics: &PrometheusHandle) -> impl IntoResponse + use<> {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], metrics.render())
}

/// What is asked by those who restart processes.
#[derive(Clone, Debug)]
struct Checks {
    /// One for each slot.
    pulses: Arc<[Pulse]>,
    /// When the candidate was last seen to contend.
    contended: Arc<Mutex<Instant>>,
    /// What keeps it from contending.
    obstacle: Obstacle,
}

type Verdict = (StatusCode, String);

impl Checks {
    fn look(&self) {
        if self.is_contending() || !self.wants_to_lead() {
            *self.contended.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        }
    }

    /// Whether it may take over, or leads.
    fn ready(&self) -> Verdict {
        let leads = self.pulses.iter().any(|pulse| pulse.standing() == Standing::Leading);
        match (self.is_contending(), leads) {
            (true, true) => (StatusCode::OK, "leading\n".to_owned()),
            (true, _) => (StatusCode::OK, "contending\n".to_owned()),
            (false, _) => (StatusCode::SERVICE_UNAVAILABLE, format!("{}\n", self.words())),
        }
    }

    /// Whether it is, or was not long ago.
    fn live(&self) -> Verdict {
        self.look();
        let contended = *self.contended.lock().unwrap_or_else(PoisonError::into_inner);
        let (ago, limit) = (contended.elapsed(), (self.lease() * LEASES).max(SHORTEST));
        if ago <= limit {
            let words = if self.wants_to_lead() { "alive" } else { "alive, but not contending" };
            return (StatusCode::OK, format!("{words}\n"));
        }
        let words = format!("not contending since {} s: {}\n", ago.as_secs(), self.words());
        (StatusCode::SERVICE_UNAVAILABLE, words)
    }

    fn is_contending(&self) -> bool {
        self.pulses.iter().any(Pulse::is_contending)
    }

    /// One that is cordoned or not well does not, and no restart would help against the first.
    fn wants_to_lead(&self) -> bool {
        self.pulses.iter().any(Pulse::wants_to_lead)
    }

    fn lease(&self) -> Duration {
        self.pulses.iter().map(Pulse::lease).max().unwrap_or_default()
    }

    fn words(&self) -> String {
        let last = self.pulses.iter().filter_map(Pulse::last_round).min();
        match (self.wants_to_lead(), last) {
            (false, _) if self.obstacle.words().is_some() => {
                self.obstacle.words().unwrap_or_default()
            }
            (false, _) => "this candidate does not want to lead at present".to_owned(),
            (true, None) => "the store has not answered yet".to_owned(),
            (true, Some(ago)) => {
                format!("the store last answered {:.1} s ago, or too late", ago.as_secs_f64())
            }
        }
    }
}
