//! The voter of this process: a thread that owns it and its file.
//!
//! Assumes: the disk may be slow, which must not keep the runtime from anything else.
//! Promises: an answer leaves only after what it promises is on the disk. Questions that arrive while
//! the disk is busy are answered together, for the price of one write; only so many wait, in number
//! and in length, and what is beyond that is dropped, because it is asked again. After a failed sync the voter says nothing
//! more: what the file shows then need not be on the disk.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use incumbent_protocol::node::NodeId;
use incumbent_protocol::quorum::FOUNDED;
use incumbent_protocol::ratify::electorate::Lineage;
use incumbent_protocol::ratify::voter::{Entry, Inventory, Promise};
use incumbent_protocol::ratify::{Ask, Electorate, Voter};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::disk::Disk;
use super::message::{Key, Message, Value};
use super::numbers::{Dropped, Numbers};
use super::voters::drawn;
use crate::clock;
use crate::error::Error;

/// Most questions that are answered together.
const BATCH: usize = 256;

/// Most questions that wait while the disk is busy.
const QUEUE: usize = 256;

/// How long all questions together may be that wait or are being answered, in KiB: more than the
/// longest one.
const ROOM: u32 = 64 << 10;

/// How long to wait before a file that failed is opened again.
const REOPEN: Duration = Duration::from_millis(500);

/// One question and who asks it.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) from: NodeId,
    pub(super) id: u64,
    pub(super) electorate: Electorate,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    Asks(Vec<(Key, Ask<Value>)>),
    Inventory,
}

impl What {
    /// How much room it takes, in KiB.
    fn room(&self) -> u32 {
        let What::Asks(asks) = self else { return 1 };
        let length = |(_, ask): &(Key, Ask<Value>)| match ask {
            Ask::Accept(_, Value::Sheet(bytes)) => bytes.len(),
            Ask::Accept(..) | Ask::Heed(_) | Ask::Show => 0,
        };
        let bytes = asks.iter().map(|ask| size_of_val(ask) + length(ask)).sum::<usize>();
        u32::try_from(bytes >> 10).map_or(ROOM, |kib| kib.min(ROOM - 1) + 1)
    }
}

/// A question, and the room that it takes until it is answered.
#[derive(Debug)]
struct Waiting {
    question: Question,
    room: OwnedSemaphorePermit,
}

/// The way to the voter. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Booth {
    questions: SyncSender<Waiting>,
    room: Arc<Semaphore>,
    thread: JoinHandle<()>,
    numbers: Numbers,
}

impl Booth {
    /// Starts the voter from what is on the disk. `answer` is called in its thread.
    pub(super) fn open(
        me: NodeId,
        first: Electorate,
        disk: Disk,
        numbers: Numbers,
        answer: impl Fn(NodeId, Message) + Send + 'static,
    ) -> Result<Booth, Error> {
        let voter = Voter::from_entries(me, first.clone(), disk.entries()?);
        let voter = voter.of(Lineage::drawn(disk.lineage()));
        let (questions, asked) = sync_channel(QUEUE);
        let stranger = false;
        let clerk = Clerk { me, first, disk, voter, stranger, numbers: numbers.clone() };
        let spawned = thread::Builder::new().name("incumbent-voter".to_owned());
        let spawned = spawned.spawn(move || clerk.serve(&asked, answer));
        let thread =
            spawned.map_err(|error| Error::Store(format!("no thread for the voter: {error}")))?;
        let room = Arc::new(Semaphore::new(ROOM as usize));
        Ok(Booth { questions, room, thread, numbers })
    }

    /// Answers what was asked so far, and closes the file: another process may open it then.
    pub(super) async fn close(self) {
        drop(self.questions);
        let _ = tokio::task::spawn_blocking(move || self.thread.join()).await;
    }

    /// Puts a question. Its answer comes when it may; never, if too many wait already.
    pub(super) fn put(&self, question: Question) {
        let room = Arc::clone(&self.room).try_acquire_many_owned(question.what.room());
        let Ok(room) = room else { return self.numbers.dropped(Dropped::Busy) };
        if let Err(TrySendError::Full(_)) = self.questions.try_send(Waiting { question, room }) {
            self.numbers.dropped(Dropped::Busy);
        }
    }
}

struct Clerk {
    me: NodeId,
    first: Electorate,
    disk: Disk,
    voter: Voter<Key, Value>,
    /// Whether it was said that the others do not count on this file.
    stranger: bool,
    numbers: Numbers,
}

impl Clerk {
    fn serve(mut self, questions: &Receiver<Waiting>, answer: impl Fn(NodeId, Message)) {
        while let Ok(first) = questions.recv() {
            let more = questions.try_iter().take(BATCH - 1);
            let mut rooms = Vec::new();
            let mut promised = Vec::new();
            for Waiting { question, room } in std::iter::once(first).chain(more) {
                rooms.push(room);
                promised.push(self.promise(question));
            }
            self.complain();
            let entries: Vec<_> = promised.iter().flat_map(Answered::entries).collect();
            if let Err(error) = self.keep(entries) {
                if self.disk.is_unsynced() {
                    tracing::error!(%error, file = self.disk.place(),
                        "cannot sync the votes to disk: this voter abstains for good; check the disk and restart the \
                         machine, or remove the voter, delete its file and add it again");
                    return;
                }
                tracing::error!(%error, "cannot persist the vote; this voter abstains until its file is writable");
                self = match self.start_over(questions) {
                    Some(anew) => anew,
                    None => return,
                };
                continue;
            }
            for answered in promised {
                let (to, message) = answered.message();
                answer(to, message);
            }
            drop(rooms);
        }
    }

    fn keep(&self, entries: Vec<&Entry<Key, Value>>) -> Result<(), Error> {
        if entries.is_empty() {
            return Ok(());
        }
        let begun = clock::now();
        let kept = self.disk.keep(entries);
        self.numbers.promised(clock::now().since(begun));
        kept
    }

    fn promise(&mut self, question: Question) -> Answered {
        let Question { from, id, electorate, what } = question;
        match what {
            What::Asks(asks) => Answered::Asks(from, id, self.voter.handle(&electorate, asks)),
            What::Inventory => Answered::Inventory(from, id, self.voter.list(&electorate)),
        }
    }

    /// Says once that nobody counts on this file: it is another one than that of before.
    fn complain(&mut self) {
        let electorate = self.voter.electorate();
        let lineage = Some(Lineage::drawn(self.disk.lineage()));
        let stranger = electorate.number() >= FOUNDED
            && electorate.has(self.me)
            && !electorate.admits(self.me, lineage);
        if stranger && !std::mem::replace(&mut self.stranger, true) {
            tracing::error!(node = %self.me, file = self.disk.place(),
                "this node does not vote: its file is not the one that the others count on; restore that file, or \
                 remove the voter and add it again");
        }
    }

    /// What is in memory may be more than what is on the disk: only that counts. The file is opened
    /// again, because one that failed once refuses everything, and again until it can be: a disk that
    /// was full may have room later. Nothing is answered meanwhile.
    fn start_over(self, questions: &Receiver<Waiting>) -> Option<Clerk> {
        let Clerk { me, first, disk, voter, stranger, numbers } = self;
        drop(voter);
        let path = disk.path().to_owned();
        drop(disk);
        loop {
            thread::sleep(REOPEN);
            // Whoever asked has given up by now.
            loop {
                match questions.try_recv() {
                    Ok(_) => {}
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return None,
                }
            }
            // Should the file be gone, the one that is made in its place is another.
            let Ok(lineage) = drawn() else { continue };
            let disk = Disk::open(&path, me, lineage.bits());
            match disk.and_then(|disk| disk.entries().map(|entries| (disk, entries))) {
                Ok((disk, entries)) => {
                    tracing::info!(file = disk.place(), "the promises can be kept again");
                    let voter = Voter::from_entries(me, first.clone(), entries);
                    let voter = voter.of(Lineage::drawn(disk.lineage()));
                    return Some(Clerk { me, first, disk, voter, stranger, numbers });
                }
                Err(error) => tracing::debug!(%error, "the promises cannot be opened yet"),
            }
        }
    }
}

/// An answer that waits for the disk.
enum Answered {
    Asks(NodeId, u64, Promise<Key, Value>),
    Inventory(NodeId, u64, Promise<Key, Value, Inventory<Key>>),
}

impl Answered {
    fn entries(&self) -> &[Entry<Key, Value>] {
        match self {
            Answered::Asks(_, _, promise) => promise.entries(),
            Answered::Inventory(_, _, promise) => promise.entries(),
        }
    }

    /// The answer and whom it is for. What it promises was kept, together with the others.
    fn message(self) -> (NodeId, Message) {
        let kept = |_: &[Entry<Key, Value>]| Ok::<(), Infallible>(());
        match self {
            Answered::Asks(to, id, promise) => {
                let Ok(replies) = promise.keep(kept);
                (to, Message::Answer { id, now: clock::wall(), replies })
            }
            Answered::Inventory(to, id, promise) => {
                let Ok(inventory) = promise.keep(kept);
                (to, Message::Registers { id, inventory })
            }
        }
    }
}

#[cfg(test)]
mod tests;
