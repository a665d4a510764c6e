//! A step: one named thing that passes or fails.
//!
//! Assumes that the root of the repository is the right folder for every command. Promises that a
//! step is a plain constant, so that a new one is one line in a table, and that a child's own
//! output reaches the terminal unchanged.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use crate::{process, sim};

/// One named thing to run.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    /// How it is called on the command line.
    pub(crate) name: &'static str,
    /// What holds if it passes, in a few words.
    pub(crate) about: &'static str,
    action: Action,
    variable: Option<(&'static str, &'static str)>,
}

#[derive(Clone, Copy)]
enum Action {
    /// `cargo` with these arguments.
    Cargo(&'static [&'static str]),
    /// `incumbent-sim` with these arguments.
    Sim(&'static [&'static str]),
    /// A function of this program, given the root of the repository.
    Call(fn(&Path) -> anyhow::Result<()>),
}

impl Step {
    /// A step that runs `cargo` with `arguments`.
    pub(crate) const fn cargo(
        name: &'static str,
        about: &'static str,
        arguments: &'static [&'static str],
    ) -> Self {
        Self { name, about, action: Action::Cargo(arguments), variable: None }
    }

    /// A step that runs simulated worlds.
    pub(crate) const fn sim(
        name: &'static str,
        about: &'static str,
        arguments: &'static [&'static str],
    ) -> Self {
        Self { name, about, action: Action::Sim(arguments), variable: None }
    }

    /// A step that calls a function of this program.
    pub(crate) const fn call(
        name: &'static str,
        about: &'static str,
        function: fn(&Path) -> anyhow::Result<()>,
    ) -> Self {
        Self { name, about, action: Action::Call(function), variable: None }
    }

    /// The same step with an environment variable set for its command.
    pub(crate) const fn with_variable(self, name: &'static str, value: &'static str) -> Self {
        Self { variable: Some((name, value)), ..self }
    }

    /// Runs the step; `extra` goes to the program that cargo starts, behind `--`.
    pub(crate) fn run(&self, root: &Path, extra: &[String]) -> anyhow::Result<()> {
        let arguments = match self.action {
            Action::Call(function) => return function(root),
            Action::Sim(arguments) => {
                let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
                return sim::run(root, &arguments);
            }
            Action::Cargo(arguments) => arguments,
        };
        let mut command = process::cargo(root);
        command.args(arguments).envs(self.variable);
        if !extra.is_empty() {
            command.arg("--").args(extra);
        }
        process::run(&mut command)
    }
}

/// What the step runs, as one would type it.
impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.action {
            Action::Call(_) => write!(formatter, "built in"),
            Action::Sim(arguments) => write!(formatter, "incumbent-sim {}", arguments.join(" ")),
            Action::Cargo(arguments) => {
                if let Some((name, value)) = self.variable {
                    write!(formatter, "{name}={value} ")?;
                }
                write!(formatter, "cargo {}", arguments.join(" "))
            }
        }
    }
}

/// A duration for people: `0.4 s`, `59.0 s`, `12 min 5 s`.
pub(crate) fn show(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds < 60 {
        format!("{:.1} s", duration.as_secs_f64())
    } else {
        format!("{} min {} s", seconds / 60, seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_shows_what_one_would_type() {
        let step = Step::cargo("doc", "documented", &["doc", "--no-deps"]);
        assert_eq!(step.to_string(), "cargo doc --no-deps");
        let step = step.with_variable("RUSTDOCFLAGS", "-Dwarnings");
        assert_eq!(step.to_string(), "RUSTDOCFLAGS=-Dwarnings cargo doc --no-deps");
    }

    #[test]
    fn a_failing_function_fails_its_step() {
        let step = Step::call("no", "never passes", |_| anyhow::bail!("no"));
        assert!(step.run(Path::new("."), &[]).is_err());
    }

    #[test]
    fn durations_are_shown_for_people() {
        assert_eq!(show(Duration::from_millis(440)), "0.4 s");
        assert_eq!(show(Duration::from_secs(725)), "12 min 5 s");
    }
}
