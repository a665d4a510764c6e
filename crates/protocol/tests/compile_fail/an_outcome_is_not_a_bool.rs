//! An outcome is neither yes nor no.

use incumbent_protocol::outcome::Outcome;

fn renewed(outcome: Outcome<(), ()>) -> bool {
    if outcome { true } else { false }
}

fn main() {}
