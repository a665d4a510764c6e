//! A token comes from a term and from nowhere else.

use incumbent_protocol::term::Token;

fn main() {
    let _ = Token(5);
}
