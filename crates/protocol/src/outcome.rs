//! What became of a request: three answers, not two.
//!
//! Assumes: a driver calls everything it is not sure of [`Outcome::Unknown`].
//! Promises: there is no way to treat an outcome as a yes or a no without a `match` that names all
//! three.

/// The fate of a request that wanted to change something.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use = "an outcome that nobody looks at may have made someone a leader"]
pub enum Outcome<T, R> {
    /// It took effect.
    Committed(T),
    /// It had no effect and never will.
    Refused(R),
    /// It may or may not have taken effect, or may do so later. Neither of the other two may be
    /// concluded.
    Unknown,
}
