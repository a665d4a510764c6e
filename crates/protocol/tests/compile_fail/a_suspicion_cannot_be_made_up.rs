//! Only time that was watched passing makes a suspicion.

use core::time::Duration;
use incumbent_protocol::observation::Suspicion;

fn main() {
    let _ = Suspicion {
        mark: None,
        stood: Duration::from_secs(3),
    };
}
