//! What the messages of ring and bully are called.
//!
//! Assumes: nothing.
//! Promises: one word per kind, the same in diagrams, tables and JSON.

use core::fmt;

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Somebody looks for a leader.
    Election,
    /// Bully: one with a higher number is alive. The lecture's `OK`.
    Answer,
    /// Bully: the sender was picked.
    Coordinator,
    /// Ring: somebody was picked; goes round once.
    Elected,
    /// Ring: whoever was picked knows that all know, and lets them look again.
    Unblock,
    /// A hop was read. No theory counts it.
    Ack,
    /// Who leads? From one that came back. No theory counts it.
    Ask,
    /// How things stand, told to somebody who asks or is behind. No theory counts it.
    Current,
}

impl Kind {
    /// All of them, in the order in which they usually come.
    pub const ALL: [Kind; 8] = [
        Kind::Election,
        Kind::Answer,
        Kind::Coordinator,
        Kind::Elected,
        Kind::Unblock,
        Kind::Ack,
        Kind::Ask,
        Kind::Current,
    ];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Election => "Election",
            Kind::Answer => "OK",
            Kind::Coordinator => "Coordinator",
            Kind::Elected => "Elected",
            Kind::Unblock => "Unblock",
            Kind::Ack => "Ack",
            Kind::Ask => "Ask",
            Kind::Current => "Current",
        }
    }

    /// The same in two characters at most, where room is short.
    pub const fn short(self) -> &'static str {
        match self {
            Kind::Election => "E",
            Kind::Answer => "OK",
            Kind::Coordinator => "C",
            Kind::Elected => "L",
            Kind::Unblock => "U",
            Kind::Ack => "a",
            Kind::Ask => "?",
            Kind::Current => "=",
        }
    }

    /// Whether it only keeps the protocol going over links that lose messages, which the theory knows
    /// nothing of.
    pub const fn is_upkeep(self) -> bool {
        matches!(self, Kind::Ack | Kind::Ask | Kind::Current)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
