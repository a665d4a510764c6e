//! The secret that all nodes of a cluster share, and the key made of it.
//!
//! Assumes: whoever knows the secret is a node of the cluster and is believed; it has enough
//! randomness that nobody guesses it, which [`Secret::generate`] sees to.
//! Promises: only the key is kept, never the text; neither is ever shown.

use std::fmt;
use std::fmt::Write as _;
use std::path::Path;

use snow::params::HashChoice;
use snow::resolvers::{CryptoResolver, DefaultResolver};
use thiserror::Error;

/// Shortest secret that is accepted, in bytes.
const SHORTEST: usize = 16;

/// A shorter one can be guessed, unless all of it is random.
const LONG_ENOUGH: usize = 32;

/// Longest one: whatever is longer is another file, given by mistake.
const LONGEST: u64 = 4096;

/// Keeps this key apart from whatever else may be made of the same text.
const DOMAIN: &[u8] = b"incumbent peers: key of the cluster, version 1\0";

const HOW: &str = "make one with `openssl rand -hex 32`, and give the same one to all nodes";

/// A secret that cannot be used. *Standing:* none was taken. *Retry:* with another secret.
#[derive(Debug, Error)]
pub(crate) enum SecretError {
    /// Too easily guessed.
    #[error(
        "the secret of the cluster has {0} bytes, and needs {SHORTEST} or more of real randomness: {HOW}"
    )]
    Short(usize),
    /// Not a file with a secret.
    #[error("the file {0} has more than {LONGEST} bytes and holds no secret: {HOW}")]
    Long(String),
    /// No file that can be read.
    #[error("the secret of the cluster cannot be read from {file}: {error}; {HOW}")]
    File {
        /// Where it was looked for.
        file: String,
        /// Why it cannot be read.
        error: std::io::Error,
    },
    /// No randomness, or no hash function.
    #[error("no secret can be made: {0}")]
    System(String),
}

/// What all nodes of a cluster know and nobody else.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret {
    key: [u8; 32],
    is_short: bool,
}

impl Secret {
    /// From text, without the white space around it.
    pub(crate) fn from_text(text: &str) -> Result<Secret, SecretError> {
        let text = text.trim();
        if text.len() < SHORTEST {
            return Err(SecretError::Short(text.len()));
        }
        let is_short = text.len() < LONG_ENOUGH;
        Ok(Secret { key: key(text.as_bytes())?, is_short })
    }

    /// From a file that holds the text. Warns when others on this host can read it.
    pub(crate) fn from_file(file: &Path) -> Result<Secret, SecretError> {
        let shown = || file.display().to_string();
        let wrong = |error| SecretError::File { file: shown(), error };
        let found = std::fs::metadata(file).map_err(wrong)?;
        if found.len() > LONGEST {
            return Err(SecretError::Long(shown()));
        }
        if is_open_to_others(&found) {
            tracing::warn!(
                file = shown(),
                "others on this host can read the secret of the cluster: chmod 600 it"
            );
        }
        Secret::from_text(&std::fs::read_to_string(file).map_err(wrong)?)
    }

    /// The text of a new one: 32 random bytes as 64 hexadecimal digits.
    pub(crate) fn generate() -> Result<String, SecretError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| SecretError::System(error.to_string()))?;
        Ok(bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        }))
    }

    /// Warns of a secret that is short enough to be guessed.
    pub(crate) fn warn_if_short(&self) {
        if self.is_short {
            tracing::warn!(
                "the secret of the cluster has less than {LONG_ENOUGH} bytes: whoever listens can try words until one fits; {HOW}"
            );
        }
    }

    /// What both ends of a conversation must have.
    pub(crate) const fn key(&self) -> &[u8; 32] {
        &self.key
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

fn key(text: &[u8]) -> Result<[u8; 32], SecretError> {
    let missing = || SecretError::System("BLAKE2s is missing".to_owned());
    let mut hash = DefaultResolver.resolve_hash(&HashChoice::Blake2s).ok_or_else(missing)?;
    let mut key = [0; 32];
    hash.input(DOMAIN);
    hash.input(text);
    hash.result(&mut key);
    Ok(key)
}

#[cfg(unix)]
fn is_open_to_others(found: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    found.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_found: &std::fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_secret_is_refused_with_a_way_to_make_a_long_one() {
        let error = Secret::from_text("  fifteen letters \n").expect_err("short").to_string();
        assert!(error.contains("15 bytes") && error.contains("openssl rand"), "{error}");
        assert!(Secret::from_text("sixteen letters!").is_ok());
    }

    #[test]
    fn a_secret_that_may_be_guessed_is_told_from_one_that_may_not() {
        let is_short = |text: &str| Secret::from_text(text).expect("long enough").is_short;
        assert!(is_short("correct horse battery"));
        assert!(!is_short(&Secret::generate().expect("made")));
        assert!(!is_short("0123456789abcdef0123456789abcdef"));
    }

    #[test]
    fn generated_secrets_are_long_usable_and_differ() {
        let (one, other) = (Secret::generate().expect("made"), Secret::generate().expect("made"));
        assert_eq!(one.len(), 64);
        assert!(one.bytes().all(|b| b.is_ascii_hexdigit()));
        let (one, other) = (Secret::from_text(&one), Secret::from_text(&other));
        assert_ne!(one.expect("long enough"), other.expect("long enough"));
    }

    #[test]
    fn a_secret_is_never_shown() {
        let secret = Secret::from_text("correct horse battery").expect("long enough");
        assert_eq!(format!("{secret:?}"), "Secret(***)");
    }

    #[test]
    fn the_key_is_the_same_on_every_host_and_in_every_release() {
        let secret = Secret::from_text("correct horse battery\n").expect("long enough");
        let same = Secret::from_text(" correct horse battery").expect("long enough");
        assert_eq!(secret, same);
        // BLAKE2s-256 of the domain and the text, as other programs compute it.
        assert_eq!(secret.key()[..4], 0x9bea_7917_u32.to_be_bytes());
    }

    #[test]
    fn a_file_holds_a_secret_and_odd_files_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("secret");
        assert!(matches!(Secret::from_file(&file), Err(SecretError::File { .. })));
        std::fs::write(&file, "correct horse battery\n").expect("written");
        let read = Secret::from_file(&file).expect("a secret");
        assert_eq!(read, Secret::from_text("correct horse battery").expect("long enough"));
        #[cfg(unix)]
        for mode in [0o640, 0o620, 0o604] {
            use std::os::unix::fs::PermissionsExt as _;
            let set = |mode| {
                std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode))
                    .expect("set");
                std::fs::metadata(&file).expect("there")
            };
            assert!(is_open_to_others(&set(mode)), "{mode:o}");
            assert!(!is_open_to_others(&set(0o600)));
        }
        std::fs::write(&file, vec![b'x'; 5000]).expect("written");
        assert!(matches!(Secret::from_file(&file), Err(SecretError::Long(_))));
    }
}
