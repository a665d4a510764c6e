//! The world: processes, a database, resources and everything between them, one event after the
//! other.
//!
//! Assumes: a story that says what goes wrong, and chance from its seed.
//! Promises: the same story gives the same history, byte for byte. No decision about leadership is
//! made here: all of them are made by the shipping code of `incumbent-protocol`.

use std::collections::BTreeMap;

use incumbent_protocol::history;
use incumbent_protocol::identity::{CandidateName, ElectionName, NameError};
use incumbent_protocol::rules::TimingError;
use thiserror::Error;

use crate::clock::{At, HostClock, SECOND, Skew, Source, Span};
use crate::database::{Database, Locks};
use crate::genre;
use crate::mail::{MailId, Mails};
use crate::network::{Network, TroubleId};
use crate::plant::Plant;
use crate::process::{Manner, Process};
use crate::queue::{Event, Queue};
use crate::random::Random;
use crate::resource::Resource;
use crate::scribe::{Keep, Scribe};
use crate::story::{Engine, Story};
use crate::tally::Tally;
use crate::transaction::{Session, SessionId};
use incumbent_audit::{HandoverInOrder, NoTermAgainstOrders, OrdersHold};

mod conduct;
mod driver;
mod faults;
mod hangup;
mod heal;
mod lasting;
mod life;
mod notice;
mod oath;
mod outage;
mod post;
mod rounds;
mod session;
mod store;
mod succession;
mod transaction;
mod work;

use oath::Oaths;

/// Changes whenever the same seed may give another history.
pub const VERSION: u32 = 6;

/// Why a world could not begin. *Retry:* with another story.
#[derive(Debug, Error)]
pub enum WorldError {
    /// Timings that do not work.
    #[error("the story's timings do not work: {0}")]
    Timing(#[from] TimingError),
    /// A name that cannot be one.
    #[error("the story's names do not work: {0}")]
    Name(#[from] NameError),
    /// Numbers that do not fit together.
    #[error("the story does not work: {0}")]
    Story(String),
}

/// What became of a world.
pub type Run = genre::Run<Tally>;

/// The world while it runs.
#[derive(Debug)]
pub(crate) struct World<'a> {
    story: &'a Story,
    plant: Plant,
    /// What candidates are configured with, and what those are that keep other rules.
    manner: Manner,
    odd_manner: Manner,
    now: At,
    ended: bool,
    healed: Option<At>,
    /// Whether anybody counted itself as deposed since this was last cleared.
    deposed: bool,
    /// Until when clocks may differ by more than the margin, and what comes of that may last.
    uneven_until: At,
    /// When the database was last made anew.
    deleted: At,
    /// When all candidates were last given other rules, and when the database last went back. Not one
    /// within the longest lease of the other: who keeps a shorter lease than a lost row said, and starts
    /// after that, cannot know how long to wait.
    new_rules: Option<At>,
    went_back: Option<At>,
    /// When a term was last issued.
    claimed: At,
    queue: Queue,
    random: Random,
    /// The chance of fenced transactions, so that all else is as in a world without.
    dealing: Random,
    elections: Vec<ElectionName>,
    processes: Vec<Process>,
    network: Network,
    mails: Mails,
    store: Store,
    resources: Vec<Resource>,
    /// Faults that last, with what they did to links.
    lasting: Vec<(u32, Vec<TroubleId>)>,
    /// The last number that was given to a fenced transaction.
    dealt: SessionId,
    /// The last number that was given to a call for presence.
    calls: u64,
    scribe: Scribe,
    oaths: Oaths,
    no_term_against_orders: NoTermAgainstOrders,
    orders_hold: OrdersHold,
    handover_in_order: HandoverInOrder,
    tally: Tally,
}

/// The database and the machine below it.
#[expect(clippy::struct_excessive_bools, reason = "independent troubles, each there or not")]
#[derive(Debug)]
struct Store {
    rows: Database,
    locks: Locks,
    up: bool,
    /// Whether it says so when it is down.
    refuses: bool,
    /// Until when it stays down, if it is.
    down_until: At,
    /// Transactions that have read and not yet committed.
    active: Vec<MailId>,
    /// Fenced transactions that are open.
    sessions: BTreeMap<SessionId, Session>,
    /// For how long it will be down, if it is to be killed behind the next guard.
    guard_crash: Option<Span>,
    abort: u32,
    stall: Span,
    read_only: bool,
    disk_full: bool,
}

/// Runs a story to its end.
pub fn run(story: &Story, plant: Plant, keep: Keep) -> Result<Run, WorldError> {
    let mut world = World::new(story, plant, keep)?;
    plant.while_planted(|| world.run());
    let World {
        scribe, tally, oaths, no_term_against_orders, orders_hold, handover_in_order, ..
    } = world;
    let (mut report, history, trace) = scribe.finish();
    no_term_against_orders.add_to(&mut report);
    orders_hold.add_to(&mut report);
    handover_in_order.add_to(&mut report);
    oaths.add_to(&mut report);
    Ok(Run { report, tally, history, trace })
}

impl<'a> World<'a> {
    fn new(story: &'a Story, plant: Plant, keep: Keep) -> Result<Self, WorldError> {
        let setting = &story.setting;
        story.check().map_err(WorldError::Story)?;
        if Plant::of_peers().any(|of_peers| of_peers == plant) {
            return Err(WorldError::Story(format!("only peers can make the mistake {plant}")));
        }
        let mut random = story.random();
        let names = (0..setting.elections).map(|n| ElectionName::new(format!("election-{n}")));
        let keeps_old = if story.goes_back() { setting.lease * 12 } else { 0 };
        let locks = match setting.engine {
            Engine::OneWriter => 1,
            Engine::RowLocks => setting.elections,
        };
        let mut world = World {
            story,
            plant,
            manner: Manner { timing: setting.timing()?, pacing: setting.pacing()? },
            odd_manner: Manner { timing: setting.odd_timing()?, pacing: setting.odd_pacing()? },
            now: 0,
            ended: false,
            healed: None,
            deposed: false,
            deleted: 0,
            new_rules: None,
            went_back: None,
            claimed: 0,
            queue: Queue::default(),
            elections: names.collect::<Result<_, _>>()?,
            processes: processes(story, plant, &mut random)?,
            network: Network::new(
                setting.candidates + 1,
                setting.latency_least,
                setting.latency_most,
            ),
            mails: Mails::default(),
            store: Store {
                rows: Database::new(setting.elections, setting.store_skew, keeps_old),
                locks: Locks::new(locks),
                up: true,
                refuses: true,
                down_until: 0,
                active: Vec::new(),
                sessions: BTreeMap::new(),
                guard_crash: None,
                abort: 0,
                stall: 0,
                read_only: false,
                disk_full: false,
            },
            resources: vec![Resource::default(); setting.elections],
            lasting: Vec::new(),
            dealt: 0,
            calls: 0,
            scribe: Scribe::new(true, keep),
            uneven_until: 0,
            oaths: Oaths::default(),
            no_term_against_orders: NoTermAgainstOrders::default(),
            orders_hold: OrdersHold::default(),
            handover_in_order: HandoverInOrder::default(),
            tally: Tally {
                runs: 1,
                simulated: setting.length,
                contests: setting.elections as u64,
                ..Tally::default()
            },
            dealing: Random::from_seed(story.seed ^ 0x000d_ea11),
            random,
        };
        world.set_the_stage();
        Ok(world)
    }

    /// Schedules what is known beforehand.
    fn set_the_stage(&mut self) {
        let setting = &self.story.setting;
        for process in 0..small(setting.candidates) {
            let at = self.random.between(0, setting.lease * 2);
            self.queue.push(at, Event::Start { process });
        }
        for (index, fault) in (0..).zip(&self.story.faults) {
            self.queue.push(fault.at, Event::Fault { index });
        }
        self.queue.push(setting.heals_at(), Event::Heal);
        self.queue.push(setting.length, Event::End);
    }

    fn run(&mut self) {
        while !self.ended
            && let Some((at, event)) = self.queue.pop()
        {
            self.now = at;
            self.happen(event);
        }
    }

    fn happen(&mut self, event: Event) {
        if let Event::Wake { process, turn } = event
            && self.processes[usize::from(process)].turn != turn
        {
            return; // The timer was set anew since, and nothing happens.
        }
        self.tally.events += 1;
        match event {
            Event::Wake { .. }
            | Event::Depart { .. }
            | Event::Answer { .. }
            | Event::Bell { .. }
            | Event::Work { .. }
            | Event::Stopped { .. }
            | Event::Next { .. }
            | Event::Unanswered { .. }
            | Event::Replace { .. }
            | Event::Wish { .. } => self.take_turn(event),
            Event::Arrive { mail } => self.arrive(mail),
            Event::Commit { mail } => self.commit(mail),
            Event::LockTimeout { mail } => self.lock_timeout(mail),
            Event::Settle { session } => self.settle(session),
            Event::LockTimeoutOf { session } => self.lock_timeout_of(session),
            Event::HangUp { session } => self.hung_up(session),
            Event::Idle { session } => self.look_after(session),
            Event::Write { process, seat, life, term } => self.write(process, seat, life, term),
            Event::Fault { index } => self.fault(index),
            Event::Over { index } => self.over(index),
            Event::Resume { process, life } => self.resume(process, life),
            Event::Start { process } => self.start(process),
            Event::Proof { process, life } => self.prove(process, life),
            Event::StoreUp => self.store_up(),
            Event::Heal => self.heal(),
            Event::Quiet => {
                let until = incumbent_protocol::time::Time::from_nanos(self.story.setting.length);
                self.scribe.world(self.now, history::Event::Quiet { until });
            }
            Event::End => {
                self.scribe.world(self.now, history::Event::Ended);
                self.ended = true;
            }
        }
    }

    /// How much faster than the world a clock may run; `None` while clocks keep to no bound.
    fn fast(&self) -> Option<Skew> {
        (self.now > self.uneven_until).then(|| self.story.setting.skew_bound())
    }

    /// The number of the database among the nodes.
    fn store_node(&self) -> usize {
        self.processes.len()
    }
}

fn processes(story: &Story, plant: Plant, random: &mut Random) -> Result<Vec<Process>, NameError> {
    let setting = &story.setting;
    let source = if plant == Plant::MonotonicClock { Source::Monotonic } else { Source::Boot };
    let skews = setting.skews.iter().enumerate();
    let process = |(number, &skew)| {
        let twin = setting.twins && number + 1 == setting.candidates;
        let name = CandidateName::new(format!("host-{}", if twin { 0 } else { number }))?;
        // Hosts booted at different times: no offset between their clocks means anything.
        let reading = random.between(SECOND, 86_400 * SECOND);
        Ok(Process::new(name, HostClock::new(0, reading, skew), source))
    };
    skews.map(process).collect()
}

/// There are never more than 64 of anything that is numbered in an event.
fn small(number: usize) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}
