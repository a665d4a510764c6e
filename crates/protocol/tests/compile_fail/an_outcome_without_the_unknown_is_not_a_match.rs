//! Whoever takes an outcome apart must say what the unknown means.

use incumbent_protocol::outcome::Outcome;

fn renewed(outcome: Outcome<(), ()>) -> bool {
    match outcome {
        Outcome::Committed(()) => true,
        Outcome::Refused(()) => false,
    }
}

fn main() {}
