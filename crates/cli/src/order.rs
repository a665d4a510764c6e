//! What operators order.
//!
//! | file | what |
//! |---|---|
//! | [`term`] | `transfer`, `demote` and `takeover`: what becomes of the present term |
//! | [`control`] | `pause`, `resume`, `cordon` and `uncordon`: what stays in force, in one election or all |
//! | [`mod@forget`] | `forget`: what removes an election |
//! | [`consent`] | looking first, and asking |
//! | [`words`] | an order for people |
//! | [`face`] | an order for programs |
//! | [`actor`] | who orders it |
//!
//! Assumes: the operator may order what the store lets them write.
//! Promises: an order is decided and written in one step in the store, whoever is up; one that is
//! refused changes nothing. The actor and the reason stay in the history of the election. An order
//! never breaks the lease.

mod actor;
mod consent;
mod control;
mod face;
mod forget;
mod term;
mod words;

use incumbent::{Backend, Decree, Error, Order};
use thiserror::Error;

pub(crate) use self::control::{cordon, pause, resume, uncordon};
pub(crate) use self::forget::forget;
pub(crate) use self::term::{demote, takeover, transfer};
use crate::flags::Papers;

/// Longest actor or reason that is accepted, in bytes.
const TEXT_MAX: usize = 1_000;

/// What is wrong with how an order was given. Nothing was changed.
#[derive(Debug, Error)]
pub(crate) enum OrderUsage {
    /// There is nobody to ask, and nobody said yes.
    #[error(
        "a takeover needs your word: there is no terminal to ask on, so say --yes; nothing was changed"
    )]
    Unconfirmed,
    /// There is nobody to ask whether an election is to be removed, and nobody said yes.
    #[error(
        "refusing to forget {0} without confirmation (standard input is not a terminal): pass --yes; nothing was changed"
    )]
    UnconfirmedRemoval(String),
    /// What would be kept for people to read cannot be read.
    #[error("cannot use this {0}: it must be one line of text, of 1000 bytes at most")]
    Text(&'static str),
}

/// An order as it was carried out.
#[derive(Debug)]
struct Given {
    election: String,
    order: Order,
    actor: String,
    reason: Option<String>,
    decree: Decree,
    /// Who held the term when the order came.
    holder: Option<String>,
}

/// Who orders it and why, checked.
fn signed(papers: &Papers) -> Result<(String, Option<String>), OrderUsage> {
    let check = |what, text: &str| {
        let fits = !text.trim().is_empty() && text.len() <= TEXT_MAX;
        let plain = !text.chars().any(char::is_control);
        if fits && plain { Ok(()) } else { Err(OrderUsage::Text(what)) }
    };
    papers.reason.as_deref().map_or(Ok(()), |text| check("reason", text))?;
    let actor = papers.actor.clone().unwrap_or_else(actor::actor);
    check("actor", &actor)?;
    Ok((actor, papers.reason.clone()))
}

/// A refusal says in which election: it may be another one than was meant.
fn named(election: &str, error: Error) -> anyhow::Error {
    anyhow::Error::new(error).context(format!("election {election}"))
}

/// Carries an order out.
async fn give(
    backend: &Backend,
    election: &str,
    order: Order,
    term: Option<u64>,
    (actor, reason): (String, Option<String>),
) -> Result<Given, Error> {
    let decree = backend.order(election, order.clone(), term, &actor, reason.as_deref()).await?;
    // Only for words: whoever held the term of the decree.
    let record = backend.status(election).await.ok().and_then(|status| status.record);
    let same = record.filter(|record| record.term == decree.term);
    let holder = same.map(|record| record.holder.name.to_string());
    Ok(Given { election: election.to_owned(), order, actor, reason, decree, holder })
}
