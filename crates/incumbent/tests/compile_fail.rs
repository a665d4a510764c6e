//! What must not compile: promises that are types.
//!
//! Assumes: the toolchain of the project; another words its errors otherwise. `TRYBUILD=overwrite` writes them anew.
//! Promises: each file below fails to build, for the stated reason and no other.

#[test]
fn what_breaks_a_promise_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
