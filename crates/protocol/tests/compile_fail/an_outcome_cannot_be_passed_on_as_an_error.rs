//! The unknown is not a failure.

use incumbent_protocol::outcome::Outcome;

fn claimed(outcome: Outcome<u64, ()>) -> Result<u64, ()> {
    let term = outcome?;
    Ok(term)
}

fn main() {}
