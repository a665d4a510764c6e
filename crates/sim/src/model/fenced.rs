//! Small worlds of fenced transactions, explored completely: a leader's work in the database that
//! also keeps the election, against every takeover that can come between two of its statements.
//!
//! Assumes: nothing about clocks. Whoever believes to hold a term goes on believing so until the
//! store tells it otherwise, and whoever bids has watched the row for long enough: that is what
//! clocks at any rate can bring about, and more. Messages take any time; the client of a lost
//! connection may be answered by nobody while its last message still arrives; processes stop, go on
//! and are killed between any two steps; the server crashes between any two steps, or drops all
//! connections.
//! Promises: within the bounds of a [`Setup`] no order of events is left out. Every decision about
//! leadership is the shipping one: [`Bid::decide`], [`Holding::may_commit`], [`Holding::may_renew`],
//! [`Holding::may_resign`], [`Order::decide`].
//!
//! What must be true: no write commits after the claim of a higher term, nor after its own term was
//! released; what a client was told to be committed is in the store, and what it was told to be
//! refused never gets there; an outcome that is unknown is taken for neither; and from every state
//! on, without further trouble, the locks become free and every waiting takeover comes to its end.
//!
//! | file | what |
//! |---|---|
//! | [`setup`](Setup) | the bounds of a world, and the mistakes that can be made in it |
//! | [`session`](Session) | one connection: what was asked, how far it is, what it keeps locked |
//! | [`state`](State) | a world at one moment, and what must be true of it |
//! | [`step`](Step) | what can happen next |
//! | `server` | what the database does with a statement |
//! | `client` | what a process does with an answer, and without one |
//!
//! [`Bid::decide`]: incumbent_protocol::lease::request::Bid::decide
//! [`Holding::may_commit`]: incumbent_protocol::lease::request::Holding::may_commit
//! [`Holding::may_renew`]: incumbent_protocol::lease::request::Holding::may_renew
//! [`Holding::may_resign`]: incumbent_protocol::lease::request::Holding::may_resign
//! [`Order::decide`]: incumbent_protocol::lease::order::Order::decide

mod client;
mod server;
mod session;
mod setup;
mod state;
mod step;

pub use session::{Ask, Mode, Phase, Place, Row, Said, Session, Stage, Told};
pub use setup::{Budget, Flaw, Level, Setup};
pub use state::{Seat, State, Store};
pub use step::Step;
