//! An observation counts from after its answer came.

use incumbent_protocol::observation::{Observation, View};
use incumbent_protocol::time::{AskedAt, Time};

fn observation(now: Time) -> Observation {
    Observation::first(View { mark: None, beaten_at: None, replaced: None }, AskedAt::before_sending(now))
}

fn main() {}
