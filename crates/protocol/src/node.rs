//! The number by which a process is known to its peers, and by which ring and bully compare it.
//!
//! Assumes: no two processes have the same one; a backend refuses a second process of the same
//! number.
//! Promises: numbers are compared as numbers, never as text, so that 10 is more than 9.

use core::fmt;
use core::str::FromStr;

use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};

use crate::planted::{self, Bug};

/// A process among its peers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(u128);

impl NodeId {
    /// A number that a person chose.
    pub const fn given(number: u128) -> Self {
        NodeId(number)
    }

    /// The MD5 digest of an address such as `10.0.0.1:7600`, read as a number. Not for secrecy: it
    /// spreads neighbours evenly over a ring.
    pub fn of_address(address: &str) -> Self {
        NodeId(u128::from_be_bytes(Md5::digest(address.as_bytes()).into()))
    }

    /// The number.
    pub const fn number(self) -> u128 {
        self.0
    }
}

impl Ord for NodeId {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        if planted::is(Bug::IdsAsText) {
            return self.0.to_string().cmp(&other.0.to_string());
        }
        self.0.cmp(&other.0)
    }
}

impl PartialOrd for NodeId {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Given numbers are small and shown as they were given; digests are shown as digests are.
impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 <= u128::from(u64::MAX) {
            f.pad(&self.0.to_string())
        } else {
            f.pad(&format!("{:032x}", self.0))
        }
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NodeId({self})")
    }
}

impl FromStr for NodeId {
    type Err = &'static str;

    /// Reads back what `Display` wrote: 32 hexadecimal digits, or a decimal number.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const SHAPE: &str = "the number of a node is a decimal number or 32 hexadecimal digits";
        if text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return u128::from_str_radix(text, 16).map(NodeId).map_err(|_| SHAPE);
        }
        text.parse::<u64>().map(|number| NodeId(number.into())).map_err(|_| SHAPE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_is_more_than_nine() {
        assert!(NodeId::given(10) > NodeId::given(9));
    }

    #[test]
    fn an_address_becomes_its_digest() {
        // The digest as `md5sum` prints it.
        let node = NodeId::of_address("127.0.0.1:7600");
        assert_eq!(node.to_string(), "4e9efc817d7ba28fecae9815f814ccff");
        assert_eq!(node.to_string().parse(), Ok(node));
    }

    #[test]
    fn a_given_number_reads_back_and_odd_text_is_refused() {
        assert_eq!("17".parse(), Ok(NodeId::given(17)));
        for odd in ["", "-1", "x", "12345678901234567890123"] {
            assert!(odd.parse::<NodeId>().is_err(), "{odd:?}");
        }
    }
}
