//! `cargo xtask`: everything a contributor can do with this repository, in one list.
//!
//! Assumes that `cargo` started it (the alias in `.cargo/config.toml` does). Promises that the exit
//! code is zero only if every step that was asked for passed, and that only `fix` changes sources.
//!
//! # Layout
//! - `flags`: the command line, its help and its examples
//! - `step`, `table`: one named thing to run; an ordered list of them
//! - `artifact`, `suites`: what cargo builds; test programs that run side by side
//! - `test`, `check`, `fix`, `bench`, `sim`, `chaos`, `soak`, `demo`: the tables, one per subcommand
//! - `tools`, `services`, `deny`, `links`, `markdown`, `msrv`: steps that are more than one command
//! - `apt`, `process`, `printer`: installing packages; starting children; writing to the terminal

mod apt;
mod artifact;
mod bench;
mod chaos;
mod check;
mod demo;
mod deny;
mod fix;
mod flags;
mod links;
mod markdown;
mod msrv;
mod printer;
mod process;
mod services;
mod sim;
mod soak;
mod step;
mod suites;
mod table;
mod test;
mod tools;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser as _;

use crate::flags::{Flags, Selection, ServicesAction, Subcommand};
use crate::table::Table;

fn main() -> ExitCode {
    match dispatch(Flags::parse().subcommand) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            printer::error(&error);
            ExitCode::FAILURE
        }
    }
}

fn dispatch(subcommand: Subcommand) -> anyhow::Result<()> {
    // The folder above `xtask/`, wherever in the tree the command was typed.
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("the folder `xtask` has no parent folder")?;
    match subcommand {
        Subcommand::Test { quick, selection } => run(&test::table(quick), &selection, root),
        Subcommand::Check { selection } => run(&check::table(), &selection, root),
        Subcommand::Fix { selection } => run(&fix::table(), &selection, root),
        Subcommand::Bench { name, list, arguments } => {
            let selection = Selection { only: name, list };
            select(&bench::table(), &selection)?.map_or(Ok(()), |table| table.run(root, &arguments))
        }
        Subcommand::Services { action: Some(ServicesAction::Up), .. } => services::up(root),
        Subcommand::Services { install, action: None } => services::provide(install),
        Subcommand::Chaos { action } => chaos::run(root, action),
        Subcommand::Soak { selection } => run(&soak::table(), &selection, root),
        Subcommand::Demo { arguments } => demo::run(root, &arguments),
        Subcommand::Sim { selection, arguments } if arguments.is_empty() => {
            run(&sim::table(), &selection, root)
        }
        Subcommand::Sim { arguments, .. } => sim::run(root, &arguments),
    }
}

fn run(table: &Table, selection: &Selection, root: &Path) -> anyhow::Result<()> {
    select(table, selection)?.map_or(Ok(()), |table| table.run(root, &[]))
}

/// What is left of `table` to run: all, one step, or nothing because only the list was wanted.
fn select(table: &Table, selection: &Selection) -> anyhow::Result<Option<Table>> {
    if selection.list {
        table.print();
        return Ok(None);
    }
    match &selection.only {
        Some(name) => table.only(name).map(Some),
        None => Ok(Some(table.clone())),
    }
}
