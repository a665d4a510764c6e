//! Only a campaign that was won gives one.

use incumbent::Leadership;

fn main() {
    let _ = Leadership::default();
}
