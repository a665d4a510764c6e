//! Settings of elections among peers.
//!
//! Assumes: nothing; every value comes from a person.
//! Promises: what is set here goes before what a URL says. A secret is never shown.

use std::path::{Path, PathBuf};

use super::Config;
use crate::error::Error;
use crate::peers::place::Place;
use crate::peers::secret::{Secret as Key, SecretError};

/// Makes secrets for clusters of peers.
#[derive(Clone, Copy, Debug)]
pub struct Secret;

impl Secret {
    /// The text of a new one, for [`Config::secret`] of all peers: 64 hexadecimal digits.
    ///
    /// ```
    /// let secret = incumbent::Secret::generate()?;
    /// assert!(incumbent::Config::new().secret(&secret).is_ok());
    /// # Ok::<(), incumbent::Error>(())
    /// ```
    pub fn generate() -> Result<String, Error> {
        Key::generate().map_err(|error| Error::Store(error.to_string()))
    }
}

/// What only peers need.
#[derive(Clone, Debug, Default)]
pub(crate) struct PeersConfig {
    secret: Option<Key>,
    data: Option<PathBuf>,
    me: Option<String>,
    unratified: bool,
}

impl PeersConfig {
    /// A place with these settings.
    pub(crate) fn applied(&self, place: Place) -> Place {
        Place {
            secret: self.secret.clone().or(place.secret),
            data: self.data.clone().or(place.data),
            me: self.me.clone().or(place.me),
            unratified: self.unratified || place.unratified,
            ..place
        }
    }
}

impl Config {
    /// With `ring://` and `bully://`: the secret of the cluster, the same for all peers, at least 16
    /// characters. Without one, and without `secret-file` in the URL, peers on one machine share a
    /// secret that the first of them makes.
    pub fn secret(mut self, secret: &str) -> Result<Self, Error> {
        self.peers.secret = Some(Key::from_text(secret).map_err(|error| wrong(&error))?);
        Ok(self)
    }

    /// The same, read from a file at once.
    pub fn secret_file(mut self, file: impl AsRef<Path>) -> Result<Self, Error> {
        self.peers.secret = Some(Key::from_file(file.as_ref()).map_err(|error| wrong(&error))?);
        Ok(self)
    }

    /// With `ring://` and `bully://`: the folder in which this process keeps its promises as a voter.
    /// Default: below the user's state folder.
    pub fn data(mut self, folder: impl Into<PathBuf>) -> Self {
        self.peers.data = Some(folder.into());
        self
    }

    /// With `ring://` and `bully://`: under which address the others know this process. Default: the
    /// first of the listed ones that this machine has and that is free.
    pub fn me(mut self, address: impl Into<String>) -> Self {
        self.peers.me = Some(address.into());
        self
    }

    /// With `ring://` and `bully://`: the textbook algorithm, without a vote. Whoever is picked leads
    /// at once; where messages are lost there may be several, and tokens of different leaders cannot
    /// be compared. A hint, and no more.
    pub fn unratified(mut self) -> Self {
        self.peers.unratified = true;
        self
    }
}

fn wrong(error: &SecretError) -> Error {
    Error::Setting { setting: "secret", problem: error.to_string() }
}
