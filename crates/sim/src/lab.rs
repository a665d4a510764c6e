//! The lab: ring and bully among a handful of nodes, to look at and to count.
//!
//! Assumes: nothing; settings come from people.
//! Promises: the machines are those of production, in virtual time; the same setting gives the same
//! trace, message by message.
//!
//! | module | noun |
//! |---|---|
//! | `setting` | what is tried out |
//! | `case` | settings that are known from lectures |
//! | `links` | how messages travel |
//! | `floor` | one event after the other |
//! | `machine` | ring and bully, as they stand on it |
//! | `trace`, `kind` | what happened |
//! | `outcome` | who was picked, and when |
//! | `theory` | what formulas say about it |

mod case;
mod floor;
mod kind;
mod links;
mod machine;
mod outcome;
mod setting;
mod theory;
mod trace;

use incumbent_protocol::bully::Bully;
use incumbent_protocol::ring::Ring;

pub use case::{Case, numbers};
pub use kind::Kind;
pub use links::{Link, Links, MESSAGE_TIME};
pub use outcome::{End, Outcome};
pub use setting::{MOST_NODES, Manner, Setting, SettingError, When};
pub use theory::{Silence, Theory, harmonic};
pub use trace::{Event, Fate, Letter, Trace, What};

use floor::Floor;

/// Runs a setting to its end.
pub fn run(setting: &Setting) -> Result<Outcome, SettingError> {
    setting.check()?;
    Ok(match setting.manner {
        Manner::Ring => Floor::<Ring>::new(setting).run(),
        Manner::Bully => Floor::<Bully>::new(setting).run(),
    })
}
