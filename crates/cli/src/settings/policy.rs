//! What flags and file say about what a candidate is and who is preferred.
//!
//! Assumes: clap has already let a flag win over its environment variable.
//! Promises: a list that was given by flag takes the place of the file's, and is not mixed with it.

use std::time::Duration;

use incumbent::Config;

use super::file::File;
use super::{SettingsError, with};
use crate::flags::PolicyFlags;

/// No term is cut short that is younger than this, unless it was said otherwise.
const DEFAULT_HOLD_DOWN: Duration = Duration::from_mins(5);

/// Lets the file say what no flag said.
pub(super) fn merge(flags: PolicyFlags, file: &mut File) -> PolicyFlags {
    PolicyFlags {
        address: flags.address.or(file.address.take()),
        label: or(flags.label, &mut file.label),
        priority: flags.priority.or(file.priority),
        prefer: or(flags.prefer, &mut file.prefer),
        preempt_after: flags.preempt_after.or(file.preempt_after),
        hold_down: flags.hold_down.or(file.hold_down),
        rolling: flags.rolling.or(file.rolling),
        drain: flags.drain.or(file.drain),
    }
}

fn or<T>(said: Vec<T>, file: &mut Vec<T>) -> Vec<T> {
    if said.is_empty() { std::mem::take(file) } else { said }
}

/// Hands it to the library.
pub(super) fn configured(config: Config, policy: PolicyFlags) -> Result<Config, SettingsError> {
    let config = with(config, policy.address, Config::address);
    let labels = policy.label.into_iter();
    let config = labels.fold(config, |config, (key, value)| config.label(key, value));
    let config = with(config, policy.priority, Config::priority);
    let config = policy.prefer.into_iter().fold(config, Config::prefer);
    let config = match (policy.preempt_after, policy.hold_down) {
        (None, Some(_)) => return Err(SettingsError::HoldDown),
        (None, None) => config,
        (Some(after), hold_down) => config.preempt(after, hold_down.unwrap_or(DEFAULT_HOLD_DOWN)),
    };
    let config = with(config, policy.rolling, Config::rolling);
    Ok(with(config, policy.drain, Config::drain))
}
