//! What candidates of a story prefer, and how they know of each other.
//!
//! Assumes: all candidates of a story are given the same policy.
//! Promises: a process has the same preferences in all its lives; only its version grows.

use incumbent_protocol::policy::{self, Policy};
use incumbent_protocol::rounds::register::Profile;
use incumbent_protocol::succession::Settings;
use serde::{Deserialize, Serialize};

use super::span;
use crate::clock::Span;

/// Preferences and presence. All spans in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Succession {
    /// How often a process writes its presence.
    pub every: Span,
    /// The priority of each process.
    pub priorities: Vec<i32>,
    /// When a better candidate asks a worse leader to hand over, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preempt: Option<Preempt>,
    /// Whether leaders hand over to newer versions.
    pub rolling: bool,
    /// How long work may take to end.
    pub drain: Span,
}

/// When a better candidate asks a worse leader to hand over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preempt {
    /// It must have been the better one for so long.
    pub after: Span,
    /// No term is cut short that is younger than this.
    pub hold_down: Span,
}

impl Succession {
    /// What a process prefers that runs this version.
    pub fn settings(&self, process: usize, version: u32) -> Settings {
        let preempt = self.preempt.map(|preempt| policy::Preempt {
            after: span(preempt.after),
            hold_down: span(preempt.hold_down),
        });
        let labels = vec![("version".to_owned(), version.to_string())];
        Settings {
            profile: Profile { address: None, labels },
            priority: self.priorities.get(process).copied().unwrap_or(0),
            policy: Policy { prefer: Vec::new(), preempt, rolling: self.rolling },
            drain: span(self.drain),
            every: span(self.every),
        }
    }
}
