//! The way between a process and the store: what it does to a request and to its answer.
//!
//! Assumes: nothing. Promises: a fate is used once; when none is left, the way is what it usually
//! is.

use core::time::Duration;
use std::collections::VecDeque;

use incumbent_protocol::lease::request::Request;

/// What kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Look,
    Bid,
    Renew,
    Resign,
    Round,
}

impl Kind {
    pub(crate) fn of(request: &Request) -> Kind {
        match request {
            Request::Look => Kind::Look,
            Request::Bid(_) => Kind::Bid,
            Request::Renew(_) => Kind::Renew,
            Request::Resign(_) => Kind::Resign,
            Request::Round(_) => Kind::Round,
        }
    }
}

/// What is lost on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    Nothing,
    Request,
    Reply,
}

/// What becomes of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fate {
    /// How long it travels. Longer than the timeout means that it takes effect after its sender
    /// gave up.
    pub(crate) there: Duration,
    /// How long the answer travels.
    pub(crate) back: Duration,
    pub(crate) lost: Loss,
}

/// The way of one process to the store.
#[derive(Clone, Debug)]
pub(crate) struct Post {
    usual: Duration,
    cut: bool,
    planned: VecDeque<(Option<Kind>, Fate)>,
}

impl Post {
    /// A way that takes so long in each direction.
    pub(crate) fn new(usual: Duration) -> Self {
        Post { usual, cut: false, planned: VecDeque::new() }
    }

    pub(crate) fn set_usual(&mut self, each_way: Duration) {
        self.usual = each_way;
    }

    pub(crate) const fn usual(&self) -> Duration {
        self.usual
    }

    pub(crate) fn cut(&mut self, cut: bool) {
        self.cut = cut;
    }

    /// Plans the fate of the next request of a kind, or of the next at all.
    pub(crate) fn plan(&mut self, kind: Option<Kind>, fate: Fate) {
        self.planned.push_back((kind, fate));
    }

    /// Forgets all plans and mends the way.
    pub(crate) fn heal(&mut self) {
        self.planned.clear();
        self.cut = false;
    }

    /// The fate of a request that leaves now.
    pub(crate) fn fate(&mut self, kind: Kind) -> Fate {
        let usual = Fate { there: self.usual, back: self.usual, lost: Loss::Nothing };
        let planned = self
            .planned
            .iter()
            .position(|(only, _)| only.is_none_or(|only| only == kind))
            .and_then(|at| self.planned.remove(at));
        let fate = planned.map_or(usual, |(_, fate)| fate);
        if self.cut {
            return Fate { lost: Loss::Request, ..fate };
        }
        fate
    }
}
