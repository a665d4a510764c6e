//! A lease comes from a request and the rules, not from an instant of one's choice.

use incumbent_protocol::lease::Lease;
use incumbent_protocol::time::Time;

fn main() {
    let _ = Lease {
        valid_until: Time::from_nanos(u64::MAX),
    };
}
