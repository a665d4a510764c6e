//! Fenced transactions, as the database runs them: it checks the term when they begin, and once
//! more under a shared lock, in one message with the COMMIT.
//!
//! Assumes: as for all transactions, a crash keeps what was committed and nothing else.
//! Promises: between the guard and the commit nobody changes the election row. With one writer at a
//! time nobody changes anything from the beginning on, and the first check is enough.

use incumbent_protocol::history;
use incumbent_protocol::lease::request::Holding;
use incumbent_protocol::term::Term;

use super::World;
use crate::database::{Key, Mode, Owner};
use crate::fault::Kind;
use crate::mail::{Body, Mail, MailId};
use crate::plant::Plant;
use crate::queue::Event;
use crate::story::{Engine, Isolation};
use crate::transaction::{Ask, Phase, Said, Session, SessionId, seen};

impl World<'_> {
    /// A statement reaches the database.
    pub(super) fn statement(&mut self, id: MailId) {
        let Some(Mail { process: Some(process), life, election, body, .. }) = self.mails.remove(id)
        else {
            return;
        };
        let Body::Statement { session, ask, term } = body else {
            return;
        };
        if !self.store.up {
            if self.store.refuses {
                self.reply(process, life, election, session, Said::Gone);
            }
            return;
        }
        let host = &self.processes[usize::from(process)];
        if self.is_one_writer() && (!host.up || host.life != life) {
            return; // Where the database is a file, a call ends with its process.
        }
        if ask == Ask::Begin {
            return self.open_session(process, life, election, session, term);
        }
        let idle = |it: &&mut Session| it.phase == Phase::Idle;
        let Some(open) = self.store.sessions.get_mut(&session).filter(idle) else {
            return self.reply(process, life, election, session, Said::Gone);
        };
        match ask {
            Ask::Commit => {
                open.phase = Phase::Waiting;
                let guards = !matches!(self.plant, Plant::UnguardedCommit | Plant::GuardAtBegin);
                let locks = guards && self.plant != Plant::UnlockedGuard;
                if self.is_one_writer() || !locks {
                    self.locked(session);
                } else {
                    self.wait(session, usize::from(election), Mode::Shared);
                }
            }
            _ if self.store.read_only => {
                self.tally.fire(Kind::ReadOnly);
                self.end_session(session, Some(Said::Refused));
            }
            _ => self.answer_session(session),
        }
    }

    fn open_session(
        &mut self,
        process: u8,
        life: u32,
        election: u8,
        session: SessionId,
        term: Term,
    ) {
        let host = &self.processes[usize::from(process)];
        let mut candidate = host.id.clone();
        candidate.incarnation = host.incarnation(life);
        let holding = Holding { candidate, term };
        let (phase, idle_since) = (Phase::Waiting, self.now);
        let open = Session { process, life, election, holding, phase, seen: None, idle_since };
        self.store.sessions.insert(session, open);
        if self.is_one_writer() {
            self.wait(session, 0, Mode::Exclusive);
        } else {
            self.queue.push(self.now + self.story.setting.lease, Event::Idle { session });
            self.check_early(session);
        }
    }

    fn is_one_writer(&self) -> bool {
        self.story.setting.engine == Engine::OneWriter
    }

    fn key_of(&self, session: SessionId) -> Option<Key> {
        let open = self.store.sessions.get(&session)?;
        Some(if self.is_one_writer() { 0 } else { usize::from(open.election) })
    }

    /// Takes a lock, or waits for it for as long as the database lets it.
    fn wait(&mut self, session: SessionId, key: Key, mode: Mode) {
        if self.store.locks.take(key, Owner::Session(session), mode) {
            self.locked(session);
        } else {
            let at = self.now + self.story.setting.lock_timeout;
            self.queue.push(at, Event::LockTimeoutOf { session });
        }
    }

    /// The transaction has the lock that it waited for: at its beginning, or for its guard.
    pub(super) fn locked(&mut self, session: SessionId) {
        let Some(open) = self.store.sessions.get(&session) else {
            return;
        };
        if self.is_one_writer() && open.seen.is_none() {
            self.check_early(session);
        } else {
            self.guard(session);
        }
    }

    /// The check at the beginning, to fail early. With one writer it is the guard.
    fn check_early(&mut self, session: SessionId) {
        let now = self.now;
        let Some(open) = self.store.sessions.get_mut(&session) else {
            return;
        };
        let snapshot = self.store.rows.snapshot(now, usize::from(open.election));
        open.seen = Some(seen(&snapshot));
        if open.holding.may_commit(&snapshot) || self.plant == Plant::UnguardedCommit {
            self.answer_session(session);
        } else {
            self.tally.barred += 1;
            self.end_session(session, Some(Said::Refused));
        }
    }

    /// The check before the commit.
    fn guard(&mut self, session: SessionId) {
        let now = self.now;
        let Some(open) = self.store.sessions.get_mut(&session) else {
            return;
        };
        let snapshot = self.store.rows.snapshot(now, usize::from(open.election));
        let minds = self.story.setting.transactions == Some(Isolation::Snapshot);
        let changed = minds && open.seen != Some(seen(&snapshot));
        let passes = open.holding.may_commit(&snapshot) && !changed;
        let guards = !matches!(self.plant, Plant::UnguardedCommit | Plant::GuardAtBegin);
        let guards = guards && self.story.setting.engine == Engine::RowLocks;
        if guards && !passes {
            self.tally.barred += 1;
            return self.end_session(session, Some(Said::Refused));
        }
        open.phase = Phase::Guarded;
        if let Some(down) = self.store.guard_crash.take() {
            self.tally.fire(Kind::GuardCrash);
            let refuses = self.dealing.percent(50);
            self.kill_store(refuses);
            return self.stay_down(down);
        }
        let most = self.story.setting.commit_most;
        let mut takes = self.dealing.between(most / 8, most);
        if self.store.stall > 0 && self.dealing.percent(50) {
            self.tally.fire(Kind::Stall);
            takes += self.dealing.between(0, self.store.stall);
        }
        self.queue.push(now + takes, Event::Settle { session });
    }

    /// A transaction has come to its commit.
    pub(super) fn settle(&mut self, session: SessionId) {
        let guarded = |open: &Session| open.phase == Phase::Guarded;
        if !self.store.sessions.get(&session).is_some_and(guarded) {
            return;
        }
        let said = if self.dealing.chance(self.store.abort) {
            self.tally.fire(Kind::Abort);
            Said::Refused
        } else if self.store.disk_full {
            self.tally.fire(Kind::DiskFull);
            Said::Refused
        } else {
            self.keep(session);
            Said::Committed
        };
        self.end_session(session, Some(said));
    }

    /// What the transaction wrote is in the table.
    pub(super) fn keep(&mut self, session: SessionId) {
        let Some(Session { election, holding, .. }) = self.store.sessions.get(&session) else {
            return;
        };
        self.tally.committed += 1;
        let row = self.store.rows.row(usize::from(*election));
        self.oaths.worked(self.now, usize::from(*election), holding, row);
        let line = history::Event::Committed {
            election: self.elections[usize::from(*election)].clone(),
            term: holding.term,
            from: holding.candidate.clone(),
            work: u64::from(session),
            position: self.store.rows.table.keep(self.now),
        };
        self.scribe.world(self.now, line);
    }

    fn answer_session(&mut self, session: SessionId) {
        let now = self.now;
        if let Some(open) = self.store.sessions.get_mut(&session) {
            open.phase = Phase::Idle;
            open.idle_since = now;
            let (process, life, election) = (open.process, open.life, open.election);
            self.reply(process, life, election, session, Said::Done);
        }
    }

    /// Ends a transaction: its lock goes to the next in line, its answer to its client.
    pub(super) fn end_session(&mut self, session: SessionId, said: Option<Said>) {
        let Some(key) = self.key_of(session) else {
            return;
        };
        if let Some(open) = self.store.sessions.remove(&session)
            && let Some(said) = said
        {
            self.reply(open.process, open.life, open.election, session, said);
        }
        let next = self.store.locks.release(key, Owner::Session(session));
        self.let_in(next);
    }

    pub(super) fn reply(
        &mut self,
        number: u8,
        life: u32,
        election: u8,
        session: SessionId,
        said: Said,
    ) {
        let process = &mut self.processes[usize::from(number)];
        if said == Said::Committed && process.life == life && process.commits_lost > 0 {
            process.commits_lost -= 1;
            self.tally.fire(Kind::CommitLost);
            return;
        }
        let mail = self.mails.insert(Mail {
            process: Some(number),
            life,
            election,
            sent: self.now,
            locked: None,
            claim: None,
            scene: None,
            heard: None,
            body: Body::Reply { session, said },
        });
        self.pass(mail, |mail| Event::Answer { mail });
    }

    /// A transaction has waited long enough for its lock.
    pub(super) fn lock_timeout_of(&mut self, session: SessionId) {
        if let Some(key) = self.key_of(session)
            && let Some(next) = self.store.locks.give_up(key, Owner::Session(session))
        {
            self.end_session(session, Some(Said::Refused));
            self.let_in(next);
        }
    }
}
