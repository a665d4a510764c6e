//! An outcome that nobody looks at may have made someone a leader.

#![deny(unused_must_use)]

use incumbent_protocol::outcome::Outcome;

fn ask() -> Outcome<(), ()> {
    Outcome::Unknown
}

fn main() {
    ask();
}
