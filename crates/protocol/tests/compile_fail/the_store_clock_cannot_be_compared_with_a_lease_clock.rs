//! A store's clock and a process's clock have nothing in common.

use incumbent_protocol::time::{StoreTime, Time};

fn is_over(now: StoreTime, valid_until: Time) -> bool {
    now >= valid_until
}

fn main() {}
