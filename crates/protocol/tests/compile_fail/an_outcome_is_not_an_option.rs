//! The unknown is not nothing.

use incumbent_protocol::outcome::Outcome;

fn claimed(outcome: Outcome<u64, ()>) -> Option<u64> {
    let Some(term) = outcome else { return None };
    Some(term)
}

fn main() {}
