//! Completion scripts.
//!
//! Assumes: nothing.
//! Promises: made from the same definition as the flags themselves.

use clap::CommandFactory;
use serde_json::json;

use crate::exit::Exit;
use crate::flags::{CompletionsArgs, Flags};
use crate::printer::Printer;

/// Prints the script for a shell.
pub(crate) fn completions(printer: &Printer, args: &CompletionsArgs) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Flags::command(), "incumbent", &mut script);
    let script = String::from_utf8(script)?;
    if printer.json() {
        printer.value(&json!({ "shell": args.shell.to_string(), "script": script }))?;
    } else {
        printer.write(&script)?;
    }
    Ok(Exit::Ok)
}
