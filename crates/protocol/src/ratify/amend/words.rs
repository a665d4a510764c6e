//! What is said between a change of the voters, whoever carries its messages, and the voters.

use core::cmp::Reverse;

use crate::node::NodeId;
use crate::ratify::electorate::{Electorate, Unchanged};
use crate::ratify::voter::{Ask, Inventory, Reply};

/// A value that can hold an electorate.
pub trait Charter: Clone {
    /// The value that holds it.
    fn of(electorate: Electorate) -> Self;

    /// The electorate that it holds; `None` if it is the value of another register.
    fn electorate(&self) -> Option<&Electorate>;
}

/// What to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// A node votes from now on. If it does not live, its lineage cannot be noted: unless it has
    /// none it will vote only after a [`Change::Note`].
    Add(NodeId),
    /// A node votes no longer.
    Remove(NodeId),
    /// The lineages that voters report are noted, where none is.
    Note,
    /// Nothing, except that an unsettled change is completed.
    Complete,
}

/// What to ask.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Question<K, V> {
    /// Which registers do you know of? ([`Voter::list`](crate::ratify::Voter::list))
    List,
    /// Questions about registers. ([`Voter::handle`](crate::ratify::Voter::handle))
    Asks(Vec<(K, Ask<V>)>),
}

/// What a voter said.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Answer<K, V> {
    /// To [`Question::List`].
    Inventory(Inventory<K>),
    /// To [`Question::Asks`], in their order.
    Replies(Vec<Reply<V>>),
}

/// How far a change is: more means further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Progress {
    pub(super) electorate: u64,
    pub(super) stage: u8,
    /// How many registers are to be rewritten still.
    pub(super) left: Reverse<usize>,
}

/// What an answer led to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum Move {
    /// More answers are needed.
    Wait,
    /// There is another question.
    Ask,
    /// There is another question, but somebody else is at work: pause for a random time first.
    Contended,
    /// The change is complete, and this is who votes.
    Done(Electorate),
    /// There is nothing to change, or it must not be.
    Refused(Unchanged),
}
