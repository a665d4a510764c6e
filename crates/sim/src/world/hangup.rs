//! How the database learns that the client of a fenced transaction is gone, and what becomes of such
//! transactions when the database itself goes.
//!
//! Assumes: a host tells the other side that a connection is closed, if a message can pass.
//! Promises: no transaction stays open for ever without a client, except where the database is a file
//! and the client is only stopped: nobody else can end it then.

use super::World;
use crate::queue::Event;
use crate::story::Engine;
use crate::transaction::{Phase, Said, Session, SessionId};

impl World<'_> {
    /// A client closes its connection, or is gone; the database will hear of it if it can.
    pub(super) fn hang_up(&mut self, number: u8, session: SessionId) {
        let (from, to) = (usize::from(number), self.store_node());
        let heard = match self.story.setting.engine {
            Engine::OneWriter => Some(self.now),
            Engine::RowLocks => self.network.send(&mut self.dealing, self.now, from, to).first,
        };
        if let Some(at) = heard {
            self.queue.push(at, Event::HangUp { session });
        }
    }

    /// All connections of a process are gone with it.
    pub(super) fn hang_up_all(&mut self, number: u8, life: u32) {
        let its = |open: &Session| (open.process, open.life) == (number, life);
        let open = self.store.sessions.iter().filter(|(_, open)| its(open));
        let sessions: Vec<SessionId> = open.map(|(&session, _)| session).collect();
        for session in sessions {
            self.hang_up(number, session);
        }
    }

    /// The database hears that a client is gone. What it is doing for it, it finishes.
    pub(super) fn hung_up(&mut self, session: SessionId) {
        let phase = self.store.sessions.get(&session).map(|open| open.phase);
        match phase {
            Some(Phase::Idle) => self.end_session(session, None),
            Some(Phase::Waiting) => self.lock_timeout_of(session),
            Some(Phase::Guarded) | None => {}
        }
    }

    /// The database ends a transaction whose client has said nothing for a lease's time.
    pub(super) fn look_after(&mut self, session: SessionId) {
        let Some(open) = self.store.sessions.get(&session) else {
            return;
        };
        let due = open.idle_since + self.story.setting.lease;
        if open.phase == Phase::Idle && due <= self.now {
            self.end_session(session, None);
        } else {
            let at = due.max(self.now + self.story.setting.lease / 8);
            self.queue.push(at, Event::Idle { session });
        }
    }

    /// The database is killed: a commit may have been kept unanswered, all else is gone.
    pub(super) fn kill_sessions(&mut self, told: bool) {
        let sessions: Vec<SessionId> = self.store.sessions.keys().copied().collect();
        for session in sessions {
            let guarded = |open: &Session| open.phase == Phase::Guarded;
            if self.store.sessions.get(&session).is_some_and(guarded) && self.dealing.percent(50) {
                self.keep(session);
            }
            if let Some(open) = self.store.sessions.remove(&session)
                && told
            {
                self.reply(open.process, open.life, open.election, session, Said::Gone);
            }
        }
    }
}
