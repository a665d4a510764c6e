//! Only an election issues terms.

use core::num::NonZeroU64;
use incumbent_protocol::term::Term;

fn main() {
    let _ = Term(NonZeroU64::MIN);
    let _ = Term::succeeding(None, None, Default::default());
    let _ = Term::recorded(5);
}
