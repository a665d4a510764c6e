//! Only time that was watched passing makes a suspicion.

use core::time::Duration;
use incumbent_protocol::observation::{Suspicion, View};

fn main() {
    let _ = Suspicion {
        view: View { mark: None, beaten_at: None, replaced: None },
        stood: Duration::from_secs(3),
    };
}
