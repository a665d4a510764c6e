//! Names: of elections, of candidates, and of one life of a candidate.
//!
//! Assumes: the driver draws a fresh [`Incarnation`] from the operating system at every start.
//! Promises: a candidate is a human-readable name plus an incarnation, so a restarted process is
//! never mistaken for its former self; and every name is safe in a file name, an SQL literal, a log
//! line and a shell.

use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Longest name accepted, in characters.
pub const NAME_MAX: usize = 128;

/// What is wrong with a name. *Standing:* none was taken. *Retry:* with another name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NameError {
    /// Nothing was given.
    #[error("a name must not be empty")]
    Empty,
    /// Longer than [`NAME_MAX`].
    #[error("a name has at most {NAME_MAX} characters, this one has {0}")]
    TooLong(usize),
    /// A character outside the allowed set.
    #[error(
        "the name {name:?} has {character:?} at position {position}: use ASCII letters, digits and . _ - : / @, \
         beginning with a letter or digit"
    )]
    Character {
        /// The name as given.
        name: String,
        /// The first offending character.
        character: char,
        /// Its position, counted from 1.
        position: usize,
    },
}

fn check(name: &str) -> Result<(), NameError> {
    let length = name.chars().count();
    if length == 0 {
        return Err(NameError::Empty);
    }
    if length > NAME_MAX {
        return Err(NameError::TooLong(length));
    }
    let odd = name.chars().enumerate().find(|&(at, c)| {
        !(c.is_ascii_alphanumeric() || (at > 0 && matches!(c, '.' | '_' | '-' | ':' | '/' | '@')))
    });
    odd.map_or(Ok(()), |(at, character)| {
        Err(NameError::Character { name: name.to_owned(), character, position: at + 1 })
    })
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $type(Box<str>);

        impl $type {
            /// Takes a name after checking it.
            pub fn new(name: impl AsRef<str>) -> Result<Self, NameError> {
                check(name.as_ref())?;
                Ok(Self(name.as_ref().into()))
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $type {
            type Err = NameError;

            fn from_str(name: &str) -> Result<Self, NameError> {
                Self::new(name)
            }
        }

        impl TryFrom<String> for $type {
            type Error = NameError;

            fn try_from(name: String) -> Result<Self, NameError> {
                Self::new(name)
            }
        }

        impl From<$type> for String {
            fn from(name: $type) -> String {
                name.0.into()
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

name! {
    /// The name of a contest with one winner at a time.
    ElectionName
}

name! {
    /// What people call a candidate, for example its host name.
    CandidateName
}

/// One life of one process: a number drawn at its start and never again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Incarnation(u128);

impl Incarnation {
    /// Takes 128 random bits from the driver.
    pub const fn from_random(bits: u128) -> Self {
        Incarnation(bits)
    }

    /// The bits, for deriving jitter.
    pub const fn bits(self) -> u128 {
        self.0
    }
}

impl fmt::Display for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Incarnation({self})")
    }
}

impl From<Incarnation> for String {
    fn from(incarnation: Incarnation) -> String {
        incarnation.to_string()
    }
}

impl TryFrom<String> for Incarnation {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl FromStr for Incarnation {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const SHAPE: &str = "an incarnation is 32 hexadecimal digits";
        if text.len() != 32 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(SHAPE);
        }
        u128::from_str_radix(text, 16).map(Incarnation).map_err(|_| SHAPE)
    }
}

/// One incarnation of a process taking part in elections.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CandidateId {
    /// What people call it.
    pub name: CandidateName,
    /// Which life of it this is.
    pub incarnation: Incarnation,
}

impl CandidateId {
    /// A candidate of that name in that life.
    pub const fn new(name: CandidateName, incarnation: Incarnation) -> Self {
        CandidateId { name, incarnation }
    }
}

impl fmt::Display for CandidateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{:08x}", self.name, self.incarnation.0 >> 96)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_names_pass() {
        for name in ["billing", "eu-1/ledger", "host-7.example:8080", "cron@db_2", "9"] {
            assert_eq!(ElectionName::new(name).map(String::from), Ok(name.to_owned()));
        }
    }

    #[test]
    fn odd_names_are_refused_with_the_character_and_its_place() {
        let error = ElectionName::new("a b").map(String::from);
        assert_eq!(
            error,
            Err(NameError::Character { name: "a b".into(), character: ' ', position: 2 })
        );
        for name in ["", "-x", "../etc", "naïve", "a\nb", "a'b", "a\0", &"x".repeat(129)] {
            assert!(ElectionName::new(name).is_err(), "{name:?} must be refused");
        }
    }

    #[test]
    fn an_incarnation_reads_back_as_it_was_written() {
        let incarnation = Incarnation::from_random(0x00ff_1234);
        assert_eq!(incarnation.to_string().parse(), Ok(incarnation));
        assert!("+0ff".parse::<Incarnation>().is_err());
    }
}
