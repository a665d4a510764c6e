//! The folders of this user: where the default database and the configuration are.
//!
//! Assumes: the XDG conventions.
//! Promises: nothing is made before it is needed; the default database's folder is for this user
//! alone.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use etcetera::base_strategy::{BaseStrategy, Xdg};

use super::SettingsError;

/// The URL of the default database, and its folder.
pub(super) fn default_store() -> Result<(String, Option<PathBuf>), SettingsError> {
    let homeless = |problem: String| SettingsError::Homeless(problem);
    let base = Xdg::new().map_err(|error| homeless(error.to_string()))?;
    let folder =
        base.state_dir().ok_or_else(|| homeless("no state folder".to_owned()))?.join("incumbent");
    let file = folder.join("elections.db");
    let file = file.to_str().ok_or_else(|| homeless(format!("{} is not text", file.display())))?;
    Ok((format!("sqlite://{file}"), Some(folder)))
}

/// Where the configuration is unless another file is named.
pub(super) fn usual_config() -> Option<PathBuf> {
    Some(Xdg::new().ok()?.config_dir().join("incumbent.toml"))
}

/// Makes the folder, for this user alone.
pub(super) fn make(folder: &Path) -> Result<(), incumbent::Error> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| incumbent::Error::Open {
        place: folder.display().to_string(),
        problem: error.to_string(),
    })
}
