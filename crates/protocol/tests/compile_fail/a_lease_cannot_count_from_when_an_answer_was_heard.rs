//! A lease counts from before its request was sent.

use incumbent_protocol::lease::Lease;
use incumbent_protocol::rules::Rules;
use incumbent_protocol::time::{HeardAt, Time};

fn lease(now: Time, rules: &Rules) -> Lease {
    Lease::granted(HeardAt::after_answer(now), rules)
}

fn main() {}
