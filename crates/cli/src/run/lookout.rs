//! Why a candidate of `run` does not lead yet: what keeps it from contending, who leads, what ails the
//! store.
//!
//! Assumes: asked while the candidate waits to win; what happened in between is caught up with.
//! Promises: an obstacle is told once, and its end once, however many slots it is in; it counts only
//! while the candidate contends for none of them. A twin is told once.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use incumbent::{CandidateId, CandidateName, Change, Changes};

/// More news than that do not wait to be told.
const LATE_MAX: usize = 64;

/// The obstacle that was last heard of, for whoever else asks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Obstacle(Arc<Mutex<Option<String>>>);

impl Obstacle {
    /// In words, if there is one.
    pub(crate) fn words(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, why: Option<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }
}

/// What there is to tell.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// It does not contend, and why.
    Hindered(String),
    /// It contends, and the others know of it.
    Begins,
    /// It contends again.
    Contends,
    /// Another live process has the same name.
    Twin(CandidateId),
    /// Who leads: somebody else, or nobody. With slots, of the election with this number.
    Leads(usize, Option<CandidateName>),
}

/// One who listens in every election of the field.
#[derive(Debug)]
pub(crate) struct Lookout {
    me: CandidateId,
    ears: Vec<Changes>,
    known: Known,
    obstacle: Obstacle,
    /// What was heard and is still to be told.
    late: VecDeque<News>,
}

/// What was heard so far.
#[derive(Debug, Default)]
struct Known {
    /// One for each election.
    obstacles: Vec<Option<String>>,
    /// One for each election: whether orders can name this candidate there.
    listed: Vec<bool>,
    /// Whether it was told that it contends.
    begun: bool,
    /// Somebody else, one for each election.
    leaders: Vec<Option<CandidateId>>,
    /// Who was told to lead, one for each election; nobody before the first is.
    told: Vec<Option<CandidateName>>,
    trouble: Option<String>,
    twins: Vec<CandidateId>,
}

impl Lookout {
    pub(crate) fn new(me: CandidateId, ears: Vec<Changes>) -> Self {
        let known = Known::of(ears.len());
        Lookout { me, ears, known, obstacle: Obstacle::default(), late: VecDeque::new() }
    }

    /// What is kept up to date for others.
    pub(crate) fn obstacle(&self) -> Obstacle {
        self.obstacle.clone()
    }

    /// The next thing to tell. Can be given up and asked again; never returns once the backend is
    /// closed.
    pub(crate) async fn next(&mut self) -> News {
        match self.late.pop_front() {
            Some(news) => news,
            None => poll_fn(|context| self.poll(context)).await,
        }
    }

    /// What ails the store, as far as it was heard by now. Everything else is told later.
    pub(crate) async fn trouble(&mut self) -> Option<String> {
        poll_fn(|context| {
            while let Poll::Ready(news) = self.poll(context) {
                if self.late.len() < LATE_MAX {
                    self.late.push_back(news);
                }
            }
            Poll::Ready(())
        })
        .await;
        self.known.trouble.clone()
    }

    /// Whether it was told that this candidate contends.
    pub(crate) const fn has_begun(&self) -> bool {
        self.known.begun
    }

    /// Why this candidate did not win.
    pub(crate) fn verdict(&self) -> String {
        let Known { leaders, trouble, .. } = &self.known;
        match (self.obstacle.words(), trouble, leaders.iter().flatten().next()) {
            (Some(why), _, _) => format!("did not contend: {why}"),
            (None, Some(problem), _) => format!("the store is in trouble: {problem}"),
            (None, None, Some(_)) if self.ears.len() > 1 => "others lead".to_owned(),
            (None, None, Some(leader)) if leader.name == self.me.name => format!("{leader} leads"),
            (None, None, Some(leader)) => format!("{} leads", leader.name),
            (None, None, None) => "nobody leads, but this candidate did not win in time".to_owned(),
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<News> {
        for (index, ear) in self.ears.iter_mut().enumerate() {
            while let Poll::Ready(Some(change)) = pin!(ear.next()).poll(context) {
                let news = self.known.hear(index, change, &self.me);
                self.obstacle.set(self.known.obstacle());
                if let Some(news) = news {
                    return Poll::Ready(news);
                }
            }
        }
        Poll::Pending
    }
}

impl Known {
    fn of(elections: usize) -> Self {
        let (obstacles, listed) = (vec![None; elections], vec![false; elections]);
        let (leaders, told) = (vec![None; elections], vec![None; elections]);
        Known { obstacles, listed, leaders, told, ..Known::default() }
    }

    fn hear(&mut self, index: usize, change: Change, me: &CandidateId) -> Option<News> {
        match change {
            Change::Obstacle { why } => {
                let before = self.obstacle();
                self.obstacles[index] = why;
                let after = self.obstacle();
                if before == after {
                    return None;
                }
                match after {
                    Some(why) => Some(News::Hindered(why)),
                    None if self.begun => Some(News::Contends),
                    None => self.begins(),
                }
            }
            Change::Listed => {
                self.listed[index] = true;
                self.begins()
            }
            Change::Twin { who } if !self.twins.contains(&who) => {
                self.twins.push(who.clone());
                Some(News::Twin(who))
            }
            Change::Leader(leader) => {
                let own = leader.as_ref().is_some_and(|it| it.id == *me);
                self.leaders[index] = leader.map(|it| it.id).filter(|id| id != me);
                if own {
                    // What follows its own leadership is told again.
                    self.told[index] = None;
                    return None;
                }
                let name = self.leaders[index].as_ref().map(|id| id.name.clone());
                let before = std::mem::replace(&mut self.told[index], name.clone());
                (before != name).then_some(News::Leads(index, name))
            }
            Change::Trouble { problem, .. } => {
                self.trouble = Some(problem);
                None
            }
            Change::Well => {
                self.trouble = None;
                None
            }
            _ => None,
        }
    }

    /// Told once, when nothing keeps it from contending and orders can name it.
    fn begins(&mut self) -> Option<News> {
        let now = !self.begun && self.is_listed() && self.obstacle().is_none();
        self.begun |= now;
        now.then_some(News::Begins)
    }

    fn is_listed(&self) -> bool {
        self.listed.iter().all(|listed| *listed)
    }

    /// Whoever contends for one slot contends.
    fn obstacle(&self) -> Option<String> {
        if self.obstacles.iter().any(Option::is_none) {
            return None;
        }
        self.obstacles.first().cloned().flatten()
    }
}

#[cfg(test)]
mod tests {
    use incumbent_protocol::identity::Incarnation;

    use super::*;

    fn known(slots: usize) -> Known {
        Known { begun: true, ..Known::of(slots) }
    }

    fn me() -> CandidateId {
        let name = CandidateName::new("ann").expect("a name");
        CandidateId::new(name, Incarnation::from_random(1))
    }

    fn hinder(why: &str) -> Change {
        Change::Obstacle { why: Some(why.to_owned()) }
    }

    #[test]
    fn an_obstacle_and_its_end_are_told_once() {
        let mut known = known(1);
        let told = Some(News::Hindered("paused".to_owned()));
        assert_eq!(known.hear(0, hinder("paused"), &me()), told);
        assert_eq!(known.hear(0, hinder("paused"), &me()), None);
        let gone = Change::Obstacle { why: None };
        assert_eq!(known.hear(0, gone.clone(), &me()), Some(News::Contends));
        assert_eq!(known.hear(0, gone, &me()), None);
    }

    #[test]
    fn whoever_contends_for_one_slot_contends() {
        let mut known = known(2);
        assert_eq!(known.hear(1, hinder("cordoned"), &me()), None);
        assert!(matches!(known.hear(0, hinder("paused"), &me()), Some(News::Hindered(_))));
        assert_eq!(known.hear(1, Change::Obstacle { why: None }, &me()), Some(News::Contends));
    }

    #[test]
    fn it_contends_once_it_is_listed_everywhere_and_nothing_hinders_it() {
        let mut known = Known::of(2);
        assert_eq!(known.hear(0, Change::Listed, &me()), None);
        assert_eq!(known.hear(1, Change::Listed, &me()), Some(News::Begins));
        assert_eq!(known.hear(1, Change::Listed, &me()), None);
        let mut known = Known::of(1);
        assert!(matches!(known.hear(0, hinder("paused"), &me()), Some(News::Hindered(_))));
        assert_eq!(known.hear(0, Change::Listed, &me()), None);
        assert_eq!(known.hear(0, Change::Obstacle { why: None }, &me()), Some(News::Begins));
    }

    #[test]
    fn a_twin_is_told_once() {
        let mut known = known(2);
        let twin = || Change::Twin { who: me() };
        assert_eq!(known.hear(0, twin(), &me()), Some(News::Twin(me())));
        assert_eq!(known.hear(1, twin(), &me()), None);
    }
}
