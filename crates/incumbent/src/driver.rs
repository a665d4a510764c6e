//! The one task that drives all elections of a process on one database.
//!
//! Assumes: it is polled; a runtime that is blocked delays losses being *told*, though never
//! [`is_valid`] becoming false.
//! Promises: at most one round is under way; while it is, time still passes for every election;
//! elections that are due go into the same round, as many as fit, renewals before all others.
//!
//! [`is_valid`]: crate::Leadership::is_valid

mod answers;
pub(crate) mod command;
#[cfg_attr(not(feature = "peers"), path = "driver/nobody.rs")]
mod nominated;
mod obedience;
mod queue;
mod seat;
mod seats;
mod work;

use std::collections::VecDeque;
use std::time::Duration;

use incumbent_protocol::candidacy::{Effect, Input};
use incumbent_protocol::identity::CandidateId;
use incumbent_protocol::rates::Rates;
use incumbent_protocol::succession::presence::{self, Schedule};
use incumbent_protocol::time::Time;
use tokio::sync::{mpsc, oneshot};

use self::answers::Trouble;
pub(crate) use self::command::{Command, Errand};
use self::nominated::Nominations;
use self::queue::Queue;
use self::seat::{Seat, Surroundings};
use self::seats::Seats;
use self::work::{Running, finish, run_errand, run_roll, run_round};
use crate::bell::{Bell, Ring};
use crate::clock::{self, JumpDetector};
use crate::health::{Fitness, Monitor};
use crate::history::Writer;
use crate::lock::SharedLock;
use crate::observe::Change;
use crate::reporter;
use crate::store::Store;
use crate::store::round::Ask;

/// Longest that closing waits for work to end and for the store to be told, unless terms are let go of
/// all the while.
const CLOSE_MAX: Duration = Duration::from_secs(2);

/// Reads take no more than one part in so many of the time because of a clock that rings.
const READ_SHARE: u32 = 5;

/// Longest that the driver sleeps while it leads anything. Timers of tokio stand still while the
/// machine sleeps, and a leader is to be told soon after it wakes that its lease has run out.
const NAP_MAX: Duration = Duration::from_millis(250);

/// Clocks that move apart by more than this between two looks did not just drift.
const JUMP_TOLERANCE: Duration = Duration::from_millis(250);

pub(crate) struct Driver {
    me: CandidateId,
    /// Before the lock, so that a driver that is dropped writes its last line while others can still
    /// see that it lives.
    history: Option<Writer>,
    default_timeout: Duration,
    commands: mpsc::UnboundedReceiver<Command>,
    handles: mpsc::WeakUnboundedSender<Command>,
    seats: Seats,
    idle: Option<Store>,
    running: Option<Running>,
    queue: Queue,
    errands: VecDeque<Errand>,
    /// When presence is written and read.
    presence: Schedule,
    /// Why this process is not well enough to lead, if it is not.
    unfit: Option<String>,
    monitor: Option<Monitor>,
    lock: SharedLock,
    bell: Bell,
    /// A ring that nobody heeded yet.
    unheard: Option<Ring>,
    polls: Polls,
    /// Where it is for peers to say who bids: how they say so.
    nominations: Option<Nominations>,
    jumps: JumpDetector,
    rates: Rates,
    trouble: Option<Trouble>,
    /// Whether the last piece of work was a round.
    looked: bool,
    closing: Option<(Time, Vec<oneshot::Sender<()>>)>,
    /// No handle is left that could say anything.
    deserted: bool,
}

impl Driver {
    /// Starts the task; it ends when the last handle is gone or when it is told to close.
    pub(crate) fn start(
        mut store: Store,
        bell: Bell,
        me: CandidateId,
        default_timeout: Duration,
        history: Option<Writer>,
    ) -> mpsc::UnboundedSender<Command> {
        crate::metrics::describe();
        let (handle, commands) = mpsc::unbounded_channel();
        let driver = Driver {
            me,
            default_timeout,
            commands,
            handles: handle.downgrade(),
            seats: Seats::default(),
            lock: store.shared_lock(),
            bell,
            unheard: None,
            polls: Polls { last: Time::ZERO, spent: Duration::ZERO },
            nominations: nominated::of(&mut store),
            idle: Some(store),
            running: None,
            queue: Queue::new(),
            errands: VecDeque::new(),
            presence: Schedule::new(),
            unfit: None,
            monitor: None,
            jumps: JumpDetector::new(JUMP_TOLERANCE),
            rates: Rates::default(),
            history,
            trouble: None,
            looked: false,
            closing: None,
            deserted: false,
        };
        tokio::spawn(driver.drive());
        handle
    }

    async fn drive(mut self) {
        loop {
            self.turn();
            if self.is_over() {
                break;
            }
            let wake = self.wake_at().map(|at| at.since(clock::now()));
            let nap = self.seats.lead().then_some(NAP_MAX);
            let wake = wake.into_iter().chain(nap).min();
            tokio::select! {
                finished = finish(&mut self.running) => self.finished(finished),
                command = self.commands.recv(), if !self.deserted => self.obey(command),
                ring = self.bell.rung() => self.rung(ring),
                fitness = examined(&mut self.monitor) => self.examined(&fitness),
                heard = nominated::next(&mut self.nominations) => {
                    let now = clock::now();
                    self.seat(&heard.election, |seat| seat.nominated(now, heard.mine));
                }
                () = sleep(wake) => {}
            }
        }
        if let Some((_, waiting)) = self.closing.take() {
            // If the store could not be told, the free lock will tell.
            if let Some(lock) = self.lock.get()
                && self.seats.values().all(|seat| seat.has_let_go() && seat.has_left())
            {
                lock.leave();
            }
            self.seats = Seats::default();
            self.history = None;
            if let Some(mut store) = self.idle.take() {
                let farewell = self.presence.farewell();
                let lines: Vec<_> = farewell.iter().map(|(name, line)| (name, line)).collect();
                let said = async {
                    for lines in lines.chunks(presence::TOGETHER) {
                        if store.roll(lines, &[]).await.is_err() {
                            break;
                        }
                    }
                };
                // For people only: not worth waiting for.
                let _ = tokio::time::timeout(self.default_timeout, said).await;
                store.close().await;
            }
            drop(waiting);
        }
    }

    /// Does everything that needs no waiting.
    fn turn(&mut self) {
        self.look_at_clocks();
        while let Ok(command) = self.commands.try_recv() {
            self.obey(Some(command));
        }
        if self.queue.is_empty()
            && let Some(ring) = self.unheard.take()
        {
            self.heed(ring);
        }
        let now = clock::now();
        let mut around =
            Surroundings { driver: &self.handles, lock: &self.lock, history: &mut self.history };
        self.seats.attend(now, |seat| {
            if seat.wake_at().is_some_and(|at| at <= now) {
                seat.wake(now);
            }
            seat.settle(now, &mut around);
            if let Some(nominations) = &self.nominations {
                seat.caucus(now, nominations);
            }
            if seat.has_news() {
                self.presence.hurry(now, seat.presence_every());
            }
            for warrant in seat.orders() {
                // Whether it was carried out, the next roll tells.
                let (done, _) = oneshot::channel();
                self.errands.push_back(Errand::Order { warrant, done });
            }
            while let Some(Effect::Ask { ticket, request }) = seat.effect() {
                let election = seat.election.clone();
                self.queue.push(ticket, Ask { election, request, promising: false });
            }
        });
        if let Some(history) = &mut self.history {
            history.flush();
        }
        self.begin();
    }

    /// Tells everyone if elapsed time is in doubt. Before anything is concluded from an answer.
    fn look_at_clocks(&mut self) {
        if let Some(apart) = self.jumps.look() {
            reporter::clock_jumped(&self.me.name, apart);
            self.rates.doubt();
            self.everyone(&Input::ClockJumped);
        }
    }

    /// Starts the next piece of work on the store, if it is free.
    fn begin(&mut self) {
        let (now, seats) = (clock::now(), self.seats.values());
        let roll = self.presence.wake_at(seats).is_some_and(|at| at <= now);
        if self.queue.is_empty() && self.errands.is_empty() && !roll {
            return;
        }
        let Some(store) = self.idle.take() else {
            return;
        };
        // Renewals and resignations go first; those who only look take turns with people.
        let presses = self.queue.presses();
        let people = self.queue.is_empty() || (self.looked && !presses);
        if people && let Some(errand) = self.errands.pop_front() {
            // An errand must not keep the election with the shortest lease waiting.
            let limits = self.seats.values().map(Seat::timeout);
            let limit = limits.chain([self.default_timeout]).min();
            let limit = limit.unwrap_or(self.default_timeout);
            self.looked = false;
            self.running = Some(Box::pin(run_errand(store, errand, limit)));
            return;
        }
        // Whoever contends can be named in an order, so the others are told of it first.
        let unlisted = self.seats.values().any(Seat::is_unlisted);
        let turn = people || self.looked || unlisted;
        let may_roll = roll && turn && !presses;
        if may_roll && let Some(call) = self.presence.call(now, self.seats.values()) {
            self.looked = false;
            let limits = self.seats.values().map(Seat::timeout);
            let limit = limits.min().unwrap_or(self.default_timeout);
            self.running = Some(Box::pin(run_roll(store, call, limit)));
            return;
        }
        let Some(chunk) = self.queue.take() else {
            self.idle = Some(store);
            return;
        };
        self.looked = true;
        // A round that is given up costs the connection: nobody does so without need.
        let urgent = presses || self.seats.lead();
        let seats = chunk.asks.iter().filter_map(|(_, ask)| self.seats.get(&ask.election));
        let limits = seats.map(|seat| if urgent { seat.timeout() } else { seat.patience() });
        let limit = limits.min().unwrap_or(self.default_timeout);
        self.running = Some(Box::pin(run_round(store, chunk, limit)));
    }

    /// Every transaction rings, also this process's own: a ring that comes while elections wait for
    /// their turn is heard after them. Else each of many chunks would make all elections look anew.
    fn rung(&mut self, ring: Ring) {
        if ring == Ring::Perhaps && !self.polls.may_look(clock::now()) {
            return;
        }
        if self.queue.is_empty() {
            self.heed(ring);
        } else if self.unheard != Some(Ring::Changed) {
            self.unheard = Some(ring);
        }
    }

    /// A leader need not look sooner for a mere perhaps.
    fn heed(&mut self, ring: Ring) {
        let now = clock::now();
        let every = self.seats.values().filter(|seat| seat.takes_part()).map(Seat::presence_every);
        if let (Ring::Changed, Some(every)) = (ring, every.min()) {
            self.presence.notify(now, every);
        }
        for seat in self.seats.values_mut().filter(|seat| ring == Ring::Changed || !seat.leads()) {
            seat.handle(now, Input::Bell);
        }
    }

    fn everyone(&mut self, input: &Input) {
        let now = clock::now();
        for seat in self.seats.values_mut() {
            seat.handle(now, input.clone());
        }
    }

    fn everyone_hears(&mut self, change: &Change) {
        self.seats.values_mut().for_each(|seat| seat.tell(change));
    }

    /// Whether everything was let go of, or could not be in time.
    fn is_over(&self) -> bool {
        let Some((until, _)) = &self.closing else {
            return false;
        };
        let quiet = self.running.is_none() && self.errands.is_empty() && self.queue.is_empty();
        let let_go = self.seats.values().all(|seat| seat.has_let_go() && seat.has_left());
        (quiet && let_go) || clock::now() >= *until
    }

    fn wake_at(&self) -> Option<Time> {
        let closing = self.closing.as_ref().map(|(until, _)| *until);
        // Nothing can be begun before what is under way has ended.
        let free = self.running.is_none();
        let roll = self.presence.wake_at(self.seats.values()).filter(|_| free);
        self.seats.wake_at().into_iter().chain(closing).chain(roll).min()
    }
}

/// What looks cost that nothing but a clock asked for.
#[derive(Debug)]
struct Polls {
    last: Time,
    /// How long reads took since then.
    spent: Duration,
}

impl Polls {
    /// Whether the next look may come now: where many elections are read each time, looks must not
    /// keep the store busy all the time.
    fn may_look(&mut self, now: Time) -> bool {
        let may = now.since(self.last) >= self.spent * READ_SHARE;
        if may {
            *self = Polls { last: now, spent: Duration::ZERO };
        }
        may
    }
}

async fn examined(monitor: &mut Option<Monitor>) -> Fitness {
    match monitor {
        Some(monitor) => monitor.changed().await,
        None => std::future::pending().await,
    }
}

async fn sleep(span: Option<Duration>) {
    match span {
        Some(span) => tokio::time::sleep(span).await,
        None => std::future::pending().await,
    }
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use super::*;
    use crate::{Backend, Config};

    #[tokio::test]
    async fn a_leader_is_told_of_its_loss_soon_after_the_machine_has_slept() {
        let folder = tempfile::tempdir().expect("a folder");
        let url = format!("sqlite://{}", folder.path().join("elections.db").display());
        // A beat of minutes: the driver has nothing to do but to wait for it.
        let config = Config::new().lease(Duration::from_mins(30));
        let backend = Backend::open_with(&url, &config).await.expect("opens");
        let election = backend.election("billing").await.expect("opens");
        let leadership = election.campaign().await.expect("leads");
        // What follows a claim is over: the roll, and the ring.
        tokio::time::sleep(NAP_MAX * 4).await;
        clock::sleep_through(Duration::from_hours(1));
        assert!(!leadership.is_valid());
        let told = tokio::time::timeout(Duration::from_secs(20), leadership.lost()).await;
        assert_eq!(told.ok(), Some(incumbent_protocol::standing::Reason::Expired));
    }

    #[tokio::test]
    async fn a_leader_that_only_waits_asks_the_store_for_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let url = format!("sqlite://{}", folder.path().join("elections.db").display());
        let config = Config::new().lease(Duration::from_mins(30));
        let backend = Backend::open_with(&url, &config).await.expect("opens");
        let election = backend.election("billing").await.expect("opens");
        let leadership = election.campaign().await.expect("leads");
        // What follows a claim is over at some time: the roll, and the ring.
        let quiet = async {
            let mut before = backend.statements().await.expect("counts");
            loop {
                tokio::time::sleep(NAP_MAX * 4).await;
                let after = backend.statements().await.expect("counts");
                if std::mem::replace(&mut before, after) == after {
                    return;
                }
            }
        };
        tokio::time::timeout(Duration::from_mins(1), quiet).await.expect("a quiet second");
        assert!(leadership.is_valid());
    }
}
