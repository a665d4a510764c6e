//! What flags, environment and file say about elections among peers.
//!
//! Assumes: clap has already let a flag win over its environment variable.
//! Promises: the secret is read once and never shown; a flag that means nothing to the store is an
//! error, not a surprise.

use std::ffi::OsString;
use std::path::PathBuf;

use incumbent::{Config, Protocol};

use super::file::File;
use super::{SettingsError, with};
use crate::flags::{PeerFlags, SECRET};

/// By which protocol the peers of a URL hold elections; `None` if it names a database.
pub(super) fn protocol(url: &str) -> Option<Protocol> {
    let (scheme, _) = url.split_once(':')?;
    scheme.parse().ok().filter(|protocol: &Protocol| protocol.is_of_peers())
}

/// Whether a URL says that nobody votes.
pub(super) fn is_unratified(url: &str) -> bool {
    let (_, options) = url.split_once('?').unwrap_or_default();
    options.split('&').any(|option| matches!(option, "unratified" | "unratified=true"))
}

/// Refuses flags that only peers understand.
pub(super) fn refuse(flags: &PeerFlags) -> Result<(), SettingsError> {
    flags.given().map_or(Ok(()), |flag| Err(SettingsError::OfPeers(flag)))
}

/// What was said.
#[derive(Debug, Default)]
pub(super) struct Said {
    secret: Option<Secret>,
    data: Option<PathBuf>,
    me: Option<String>,
    pub(super) unratified: bool,
}

/// Variables for other processes of this program. They may hold the secret, and are not shown.
#[derive(Clone, Default)]
pub(crate) struct Variables(pub(crate) Vec<(&'static str, OsString)>);

impl std::fmt::Debug for Variables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(key, _)| key)).finish()
    }
}

/// Where the secret is.
enum Secret {
    File(PathBuf),
    Text(OsString),
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(***)")
    }
}

impl Said {
    /// Lets the environment say what no flag said, and the file what neither said.
    pub(super) fn merge(flags: &PeerFlags, file: &mut File) -> Said {
        let text = std::env::var_os(SECRET).filter(|text| !text.is_empty()).map(Secret::Text);
        let secret = flags.secret_file.clone().map(Secret::File).or(text);
        Said {
            secret: secret.or(file.secret.take().map(Secret::File)),
            data: flags.data.clone().or(file.data.take()),
            me: flags.me.clone().or(file.me.take()),
            unratified: flags.unratified.or(file.unratified).unwrap_or_default(),
        }
    }

    /// The same as variables, for other processes of this program; who this process is, is its own.
    pub(super) fn variables(&self) -> Variables {
        let secret = self.secret.as_ref().map(|secret| match secret {
            Secret::File(path) => ("INCUMBENT_SECRET_FILE", path.clone().into_os_string()),
            Secret::Text(text) => (SECRET, text.clone()),
        });
        let data = self.data.clone().map(|data| ("INCUMBENT_DATA", data.into_os_string()));
        let unratified = self.unratified.then(|| ("INCUMBENT_UNRATIFIED", "true".into()));
        Variables(secret.into_iter().chain(data).chain(unratified).collect())
    }

    /// Hands it to the library.
    pub(super) fn configured(self, config: Config) -> anyhow::Result<Config> {
        let config = with(config, self.data, Config::data);
        let config = with(config, self.me, Config::me);
        let config = if self.unratified { config.unratified() } else { config };
        match self.secret {
            Some(Secret::File(path)) => Ok(config.secret_file(path)?),
            Some(Secret::Text(text)) => {
                let text = text.into_string().map_err(|_| SettingsError::SecretText)?;
                Ok(config.secret(&text)?)
            }
            None => Ok(config),
        }
    }
}
