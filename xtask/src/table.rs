//! A table: steps in the order in which they run.
//!
//! Assumes that later steps are pointless once one failed. Promises to stop there, to name the
//! step and how to run it alone, and to end with a summary if all passed.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, bail};

use crate::printer;
use crate::step::{Step, show};

/// Steps in the order in which they run.
#[derive(Clone)]
pub(crate) struct Table {
    /// What to type before the name of a step to run it alone.
    alone: &'static str,
    steps: Vec<Step>,
}

impl Table {
    pub(crate) fn new(alone: &'static str, steps: impl IntoIterator<Item = Step>) -> Self {
        Self { alone, steps: steps.into_iter().collect() }
    }

    /// The table with only the step called `name`.
    pub(crate) fn only(&self, name: &str) -> anyhow::Result<Self> {
        let Some(step) = self.steps.iter().find(|step| step.name == name) else {
            let names: Vec<_> = self.steps.iter().map(|step| step.name).collect();
            bail!("there is no step `{name}`; there are: {}", names.join(", "));
        };
        Ok(Self { steps: vec![*step], ..self.clone() })
    }

    /// Prints each step, what holds if it passes, and what it runs.
    pub(crate) fn print(&self) {
        for step in &self.steps {
            printer::row(step.name, &format!("{}  [{step}]", step.about));
        }
    }

    /// Runs the steps one after another until one fails.
    pub(crate) fn run(&self, root: &Path, extra: &[String]) -> anyhow::Result<()> {
        let began = Instant::now();
        let mut times = Vec::new();
        for (index, step) in self.steps.iter().enumerate() {
            let place = format!("{}/{}", index + 1, self.steps.len());
            printer::progress(&format!("[{place}] {}: {} [{step}]", step.name, step.about));
            let step_began = Instant::now();
            step.run(root, extra).with_context(|| {
                let time = show(step_began.elapsed());
                let alone = format!("{} {}", self.alone, step.name);
                format!("step `{}` failed after {time}; run it alone with `{alone}`", step.name)
            })?;
            let time = show(step_began.elapsed());
            printer::progress(&format!("[{place}] {}: passed in {time}", step.name));
            times.push(format!("{} {time}", step.name));
        }
        let count = self.steps.len();
        let plural = if count == 1 { "step" } else { "steps" };
        let total = show(began.elapsed());
        printer::progress(&format!("{count} {plural} passed in {total} ({})", times.join(", ")));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Step = Step::call("good", "passes", |_| Ok(()));
    const BAD: Step = Step::call("bad", "fails", |_| bail!("no luck"));
    const NEVER: Step = Step::call("never", "is not reached", |_| panic!("ran after a failure"));

    #[test]
    fn a_run_stops_at_the_first_failure_and_says_how_to_run_it_alone() {
        let table = Table::new("cargo xtask test --only", [GOOD, BAD, NEVER]);
        let error = format!("{:#}", table.run(Path::new("."), &[]).expect_err("one step fails"));
        assert!(error.contains("`cargo xtask test --only bad`"), "{error}");
        assert!(error.contains("no luck"), "{error}");
    }

    #[test]
    fn one_step_can_be_picked_and_a_wrong_name_lists_the_right_ones() {
        let table = Table::new("cargo xtask test --only", [GOOD, BAD]);
        assert!(table.only("good").expect("is there").run(Path::new("."), &[]).is_ok());
        let error = table.only("god").map(|_| ()).expect_err("is not there").to_string();
        assert!(error.ends_with("good, bad"), "{error}");
    }
}
