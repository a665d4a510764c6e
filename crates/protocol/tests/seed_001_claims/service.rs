//! Services as the document speaks of them: `service_0`, `service_1`, each trying to lead.
//!
//! Assumes: the document's timeout of 20 seconds. Promises: every query of the document has its
//! counterpart here.

use core::time::Duration;

use incumbent_protocol::candidacy::{Input, Wish};
use incumbent_protocol::lease::order::{Decree, Order, OrderError};
use incumbent_protocol::lease::request::Opening;
use incumbent_protocol::lease::row::Sight;
use incumbent_protocol::rules::{Expiry, Rules, Timing};
use incumbent_protocol::term::Term;

use crate::support::clock::{Clock, TRUE_RATE};
use crate::support::log::What;
use crate::support::ms;
use crate::support::post::Kind;
use crate::support::process::Process;
use crate::support::world::World;

/// The timeout of the document.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Some services and a store.
pub(crate) struct Services {
    pub(crate) world: World,
}

impl Services {
    /// So many services; none contends yet.
    pub(crate) fn of(count: usize, expiry: Expiry) -> Self {
        let mut world = World::default();
        for number in 0..count {
            let clock = Clock::new(ms(987_654) * u32::try_from(number).expect("few"), TRUE_RATE);
            world.add(&format!("service_{number}"), timing(expiry), clock);
        }
        Services { world }
    }

    pub(crate) fn timing(&self) -> Timing {
        self.world.processes[0].timing
    }

    pub(crate) fn lease(&self) -> Duration {
        self.timing().rules().lease()
    }

    pub(crate) fn contend(&mut self, who: usize) {
        self.world.tell(who, Input::Wish(Wish::Lead));
    }

    /// All begin at one instant, the first of them first.
    pub(crate) fn all_contend(&mut self) {
        for who in 0..self.world.processes.len() {
            self.contend(who);
        }
    }

    pub(crate) fn run(&mut self, span: Duration) {
        self.world.run_until(self.world.now + span);
    }

    pub(crate) fn run_until(&mut self, instant: Duration) {
        self.world.run_until(instant);
    }

    pub(crate) fn order(&mut self, order: &Order) -> Result<Decree, OrderError> {
        self.world.store.order(self.world.now, order, None)
    }

    /// Who believes to lead, by name.
    pub(crate) fn leaders(&self) -> Vec<&str> {
        let leading = self.world.processes.iter().filter(|process| process.leads());
        leading.map(|process: &Process| process.name.as_str()).collect()
    }

    /// What the store tells anyone who asks.
    pub(crate) fn sight(&self) -> Sight {
        self.world.store.snapshot(self.world.now).sight()
    }

    /// The terms that began.
    pub(crate) fn terms(&self) -> Vec<Term> {
        self.world.store.claims().map(|claim| claim.term).collect()
    }

    /// Why they could begin.
    pub(crate) fn openings(&self) -> Vec<Opening> {
        self.world.store.claims().map(|claim| claim.opening).collect()
    }

    /// How often a service asked for something.
    pub(crate) fn asked(&self, who: usize, kind: Kind) -> usize {
        self.asks(who, kind).count()
    }

    /// When a service last asked for a renewal.
    pub(crate) fn last_renewal(&self, who: usize) -> Duration {
        self.asks(who, Kind::Renew).last().expect("a renewal")
    }

    fn asks(&self, who: usize, kind: Kind) -> impl Iterator<Item = Duration> {
        let log = self.world.log.iter();
        log.filter(move |entry| entry.who == who && entry.what == What::Asked(kind))
            .map(|entry| entry.at)
    }
}

fn timing(expiry: Expiry) -> Timing {
    let rules = Rules::new(TIMEOUT, TIMEOUT / 10, expiry).expect("rules");
    Timing::new(rules, TIMEOUT / 4, TIMEOUT / 6, TIMEOUT / 10).expect("timing")
}
