//! Why a database is no ground for elections.
//!
//! Assumes: nothing.
//! Promises: whoever opens a database and whoever examines it says the same in the same words.

use crate::error::Error;

/// One reason to refuse a database.
#[derive(Debug)]
pub(crate) struct Unfit {
    /// What was looked at.
    pub(crate) probe: &'static str,
    /// What was seen.
    pub(crate) said: String,
    /// What to do about it.
    pub(crate) advice: Option<String>,
}

impl Unfit {
    pub(crate) fn new(
        probe: &'static str,
        said: impl Into<String>,
        advice: impl Into<String>,
    ) -> Unfit {
        Unfit { probe, said: said.into(), advice: Some(advice.into()) }
    }
}

impl From<Unfit> for Error {
    fn from(unfit: Unfit) -> Error {
        let Unfit { said, advice, .. } = unfit;
        Error::Store(advice.map_or_else(|| said.clone(), |advice| format!("{said}; {advice}")))
    }
}
