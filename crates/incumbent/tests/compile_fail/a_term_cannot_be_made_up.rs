//! Only an election issues terms and tokens.

use incumbent::{Term, Token};

fn main() {
    let _ = Term(core::num::NonZeroU64::MIN);
    let _ = Term::new(7);
    let _ = Term::recorded(7);
    let _ = Token::new(7);
    let _ = Token::recorded(7);
    let _: Term = 7_u64.into();
}
