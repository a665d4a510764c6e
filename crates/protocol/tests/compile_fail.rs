//! What must not compile: each rule of time, of outcomes and of terms is a type, and here is what happens to whoever
//! breaks one.
//!
//! Assumes: the toolchain of the project; another words its errors otherwise. `TRYBUILD=overwrite` writes them anew.
//! Promises: each file below fails to build, for the stated reason and no other.

#[test]
fn what_breaks_a_rule_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
