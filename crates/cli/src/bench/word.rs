//! What the processes of a benchmark say to one another: a line of text at a time.
//!
//! Assumes: both ends are the same program.
//! Promises: whoever says that it leads has stamped that moment itself; the round time is told by
//! whoever leads and by nobody else, so that a large crowd stays silent.

use std::io::{self, Write};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What is heard of a candidate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Said {
    /// Its number.
    pub(super) who: u32,
    pub(super) word: Word,
}

/// What happened to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Word {
    /// It takes part, for the first time or again.
    Joined,
    /// It has its leadership in hand.
    Led {
        /// Since when, in nanoseconds of the host's lease clock.
        at: u64,
        term: u64,
        /// How long a round is, if there are rounds.
        round_us: Option<u64>,
    },
    /// Its leadership is over though nobody killed it.
    Lost { reason: String },
    /// It was taken off the roster though it lives.
    Evicted,
    /// The round time under its leadership is another one.
    Paced { round_us: u64 },
    /// The store does not answer it.
    Trouble { problem: String },
    /// It cannot take part.
    Failed { problem: String },
}

impl Said {
    /// Says it on standard output; a listener that went away is nobody's trouble.
    pub(super) fn say(self) {
        if let Ok(line) = serde_json::to_string(&self) {
            let _ = io::stdout().lock().write_all(format!("{line}\n").as_bytes());
        }
    }

    /// Understands a line.
    pub(super) fn hear(line: &str) -> Option<Said> {
        serde_json::from_str(line).ok()
    }
}

/// What a process is told to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Let a candidate of this number contend.
    Join(u32),
    /// End it without a word to the store.
    Kill(u32),
}

impl Order {
    /// As a line.
    pub(super) fn line(self) -> String {
        match self {
            Order::Join(who) => format!("join {who}\n"),
            Order::Kill(who) => format!("kill {who}\n"),
        }
    }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(line: &str) -> Result<Order, String> {
        let odd = || format!("{line:?} is no order");
        let (word, who) = line.trim().split_once(' ').ok_or_else(odd)?;
        let who = who.parse().map_err(|_| odd())?;
        match word {
            "join" => Ok(Order::Join(who)),
            "kill" => Ok(Order::Kill(who)),
            _ => Err(odd()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_understood() {
        for order in [Order::Join(7), Order::Kill(0)] {
            assert_eq!(order.line().parse(), Ok(order));
        }
        assert!("dance 7".parse::<Order>().is_err() && "join".parse::<Order>().is_err());
        let said = Said { who: 3, word: Word::Led { at: 5, term: 9, round_us: None } };
        let line = serde_json::to_string(&said).expect("text");
        assert_eq!(Said::hear(&line), Some(said));
        assert_eq!(Said::hear("nonsense"), None);
    }
}
