//! The tables of a database.
//!
//! Assumes: nothing.
//! Promises: without `--apply` nothing is opened.

use incumbent::Backend;
use serde_json::json;

use crate::exit::Exit;
use crate::flags::SchemaArgs;
use crate::printer::Printer;
use crate::settings::Settings;

/// Prints the tables, or makes them.
pub(crate) async fn schema(
    settings: &Settings,
    printer: &Printer,
    args: &SchemaArgs,
) -> anyhow::Result<Exit> {
    if args.apply {
        settings.create().await?.close().await;
        if printer.json() {
            printer.value(&json!({ "applied": true, "url": settings.url }))?;
        } else {
            printer.line(format!("the tables are in place in {}", settings.url))?;
        }
    } else if printer.json() {
        printer.value(&json!({ "sql": Backend::schema() }))?;
    } else {
        printer.line(Backend::schema().trim_end())?;
    }
    Ok(Exit::Ok)
}
