//! A new secret for peers.
//!
//! Assumes: whoever asks knows where to keep it.
//! Promises: each is a new one; it is printed and kept nowhere.

use incumbent::Secret;
use serde_json::json;

use crate::exit::Exit;
use crate::printer::Printer;

/// Prints one.
pub(crate) fn secret(printer: &Printer) -> anyhow::Result<Exit> {
    let secret = Secret::generate()?;
    if printer.json() {
        printer.value(&json!({ "secret": secret }))?;
    } else {
        printer.line(secret)?;
    }
    Ok(Exit::Ok)
}
