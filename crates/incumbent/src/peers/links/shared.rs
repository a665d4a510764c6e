//! What all tasks of the links of a node share.
//!
//! Assumes: no lock is held while anything waits.
//! Promises: events about a node are queued in the order in which its lines come and go, because
//! room for them is reserved before the table is locked and filled before it is unlocked.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use incumbent_protocol::node::NodeId;
use tokio::runtime::Handle;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{AbortHandle, JoinSet};

#[cfg(test)]
use super::Counts;
use super::complaints::Complaints;
use super::session::LinkError;
use super::table::{Entry, Line, Table};
use super::twins::{Pair, Twin, Twins};
use super::{Event, Limits, Words};
use crate::peers::frame;
use crate::peers::hello::{Hello, HelloError};
use crate::peers::numbers::{Dropped, Numbers};
use crate::peers::secret::Secret;

/// Room for at least these many events: a node that replaces another takes two at once.
const FEWEST_EVENTS: usize = 8;

pub(super) struct Shared<M> {
    pub(super) hello: Hello,
    pub(super) secret: Secret,
    pub(super) limits: Limits,
    pub(super) events: mpsc::Sender<Event<M>>,
    pub(super) complaints: Complaints,
    pub(super) twins: Twins,
    pub(super) guests: Arc<Semaphore>,
    numbers: Numbers,
    failed: AtomicU64,
    dropped: AtomicU64,
    table: Mutex<Table>,
    /// Oldest first.
    strangers: Mutex<VecDeque<Stranger>>,
    /// The tasks that serve no link, and would never end.
    services: Mutex<Vec<AbortHandle>>,
    /// None once everything has ended.
    tasks: Mutex<Option<JoinSet<()>>>,
    runtime: Handle,
}

/// A connection that has proven nothing yet.
struct Stranger {
    number: u64,
    origin: IpAddr,
    task: AbortHandle,
}

impl<M> Shared<M> {
    pub(super) fn new(
        hello: Hello,
        secret: Secret,
        limits: Limits,
        numbers: Numbers,
    ) -> (Self, mpsc::Receiver<Event<M>>) {
        let (events, taken) = mpsc::channel(limits.events.max(FEWEST_EVENTS));
        let shared = Shared {
            hello,
            secret,
            events,
            complaints: Complaints::default(),
            twins: Twins::new(limits.repeat),
            guests: Arc::new(Semaphore::new(limits.guests)),
            limits,
            numbers,
            failed: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            table: Mutex::default(),
            strangers: Mutex::default(),
            services: Mutex::default(),
            tasks: Mutex::new(Some(JoinSet::new())),
            runtime: Handle::current(),
        };
        (shared, taken)
    }

    pub(super) fn table(&self) -> MutexGuard<'_, Table> {
        lock(&self.table)
    }

    /// Ends all tasks at once.
    pub(super) fn end(&self) {
        self.close_table();
        // Dropped outside of the lock: tasks that end may take it.
        let tasks = lock(&self.tasks).take();
        drop(tasks);
    }

    /// Lets links write what they were given, then ends all tasks.
    pub(super) async fn close(&self) {
        self.close_table();
        let tasks = lock(&self.tasks).take();
        let Some(mut tasks) = tasks else { return };
        lock(&self.services).drain(..).for_each(|service| service.abort());
        let links = async { while tasks.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(self.limits.grace, links).await;
        tasks.shutdown().await;
    }

    fn close_table(&self) {
        let mut table = self.table();
        table.close();
        self.numbers.end();
    }

    /// A connection ended before it was a link.
    pub(super) fn refuse(&self, place: &str, error: &LinkError) {
        self.failed.fetch_add(1, Ordering::Relaxed);
        if let Some(cause) = error.cause() {
            self.numbers.refused(cause);
        }
        if let LinkError::Hello(HelloError::Twin(twin)) = error {
            let one = Twin { hello: self.hello.clone(), place: None };
            let other = Twin { hello: (**twin).clone(), place: Some(place.to_owned()) };
            let pair = Pair { one, other };
            self.twins.saw(&self.hello, &pair, Instant::now());
        }
    }

    #[cfg(test)]
    pub(super) fn counts(&self) -> Counts {
        let (nodes, lines) = {
            let table = self.table();
            (table.nodes(), table.lines())
        };
        let tasks = lock(&self.tasks).as_mut().map_or(0, |tasks| {
            reap(tasks);
            tasks.len()
        });
        Counts {
            nodes,
            lines,
            strangers: lock(&self.strangers).len(),
            tasks,
            dropped: self.dropped.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        }
    }
}

impl<M: Words> Shared<M> {
    pub(super) fn spawn(
        &self,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> Option<AbortHandle> {
        let mut tasks = lock(&self.tasks);
        let tasks = tasks.as_mut()?;
        reap(tasks);
        Some(tasks.spawn_on(task, &self.runtime))
    }

    /// Runs a task that lasts until everything ends.
    pub(super) fn serve(&self, task: impl Future<Output = ()> + Send + 'static) {
        let service = self.spawn(task);
        lock(&self.services).extend(service);
    }

    /// Runs a task for a stranger. If there are too many, the oldest of the network ends that has
    /// most of them: many connections of one host keep out no other.
    pub(super) fn receive(
        self: &Arc<Self>,
        serve: impl Future<Output = ()> + Send + 'static,
        number: u64,
        from: IpAddr,
    ) {
        let mut strangers = lock(&self.strangers);
        if strangers.len() >= self.limits.strangers.max(1)
            && let Some(spared) = one_of_the_most(strangers.iter().map(|it| it.origin))
            && let Some(oldest) = strangers.remove(spared)
        {
            self.refuse("", &LinkError::Crowded);
            oldest.task.abort();
        }
        if let Some(task) = self.spawn(serve) {
            strangers.push_back(Stranger { number, origin: network(from), task });
        }
    }

    /// That one is no stranger any more, or is gone.
    pub(super) fn dismiss(&self, number: u64) {
        lock(&self.strangers).retain(|other| other.number != number);
    }

    pub(super) fn send(&self, to: NodeId, message: &M) -> bool {
        let bytes = match frame::encode(self.hello.version, message, self.limits.message) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.dropped.fetch_add(1, Ordering::Relaxed);
                self.numbers.dropped(Dropped::Long);
                tracing::warn!(%to, %error, "a message to a peer is not sent");
                return false;
            }
        };
        let Some(sent) = self.table().line(to).map(|line| line.queue.try_send(bytes)) else {
            return false;
        };
        if let Err(TrySendError::Full(_)) = &sent {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            self.numbers.dropped(Dropped::Full);
        }
        sent.is_ok()
    }

    /// Adds a line to a node, unless it was replaced by another process of its number.
    pub(super) async fn enter(&self, hello: &Hello, line: Line) -> Result<(), LinkError> {
        let mut room = self.events.reserve_many(2).await.map_err(|_| LinkError::Ending)?;
        let mut table = self.table();
        let place = line.place.clone();
        let (up, down) = match table.enter(hello, line) {
            Entry::Closed => return Err(LinkError::Ending),
            Entry::Replaced => {
                let error = self.replaced(&table, hello, &place);
                self.refuse(&place, &error);
                return Err(error);
            }
            Entry::Another => (false, false),
            Entry::First => (true, false),
            Entry::Instead => (true, true),
        };
        if down && let Some(room) = room.next() {
            room.send(Event::Down { node: hello.node, refused: false });
        }
        if up && let Some(room) = room.next() {
            self.numbers.links(table.nodes());
            room.send(Event::Up(hello.clone()));
        }
        Ok(())
    }

    /// One that was replaced came back: both are told that there is another.
    fn replaced(&self, table: &Table, hello: &Hello, place: &str) -> LinkError {
        let node = hello.node;
        let pair = table.peers.get(&node).map(|peer| {
            let one = Twin { hello: hello.clone(), place: Some(place.to_owned()) };
            let place = table.line(node).map(|line| line.place.clone());
            let pair = Pair { one, other: Twin { hello: peer.hello.clone(), place } };
            if self.twins.saw(&self.hello, &pair, Instant::now())
                && let Some(line) = table.line(node)
            {
                // If it does not fit, there is a next time.
                let _ = line.queue.try_send(pair.aside());
            }
            Box::new(pair)
        });
        LinkError::Replaced { node, pair }
    }

    /// Hands a message on if it came over a line that is still one of its node's.
    pub(super) async fn deliver(&self, from: NodeId, line: u64, message: M) -> Option<()> {
        let room = self.events.reserve().await.ok()?;
        let table = self.table();
        table.has(from, line).then(|| room.send(Event::Message { from, message }))
    }

    /// Takes a line away.
    pub(super) async fn exit(&self, node: NodeId, line: u64) {
        let Ok(room) = self.events.reserve().await else { return };
        let mut table = self.table();
        if table.exit(node, line) {
            self.numbers.links(table.nodes());
            room.send(Event::Down { node, refused: false });
        }
    }

    /// Says that nobody listens at the address of a node, if no line leads to it.
    pub(super) async fn refused(&self, node: NodeId) {
        let Ok(room) = self.events.reserve().await else { return };
        let table = self.table();
        if table.peers.get(&node).is_none_or(|peer| peer.lines.is_empty()) {
            room.send(Event::Down { node, refused: true });
        }
    }
}

/// The place of the first that comes from where most come from.
fn one_of_the_most(origins: impl Iterator<Item = IpAddr> + Clone) -> Option<usize> {
    let mut counts = BTreeMap::<IpAddr, usize>::new();
    for origin in origins.clone() {
        *counts.entry(origin).or_default() += 1;
    }
    let most = counts.values().max()?;
    origins.into_iter().position(|origin| counts.get(&origin) == Some(most))
}

/// Where an address belongs to: one host has a whole network of those of version 6.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            std::net::Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}

fn reap(tasks: &mut JoinSet<()>) {
    while let Some(end) = tasks.try_join_next() {
        if let Err(error) = end
            && error.is_panic()
        {
            tracing::error!(%error, "a task of the links broke down: a mistake of the program");
            debug_assert!(false, "a task of the links broke down: {error}");
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
