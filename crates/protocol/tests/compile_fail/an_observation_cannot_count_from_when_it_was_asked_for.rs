//! An observation counts from after its answer came.

use incumbent_protocol::observation::Observation;
use incumbent_protocol::time::{AskedAt, Time};

fn observation(now: Time) -> Observation {
    Observation::first(None, AskedAt::before_sending(now))
}

fn main() {}
