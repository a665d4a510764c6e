//! The tables of a database.
//!
//! Assumes: nothing.
//! Promises: without `--apply` nothing is opened; no password is shown.

use incumbent::{Applied, Schema, redacted};
use serde_json::json;

use crate::exit::Exit;
use crate::flags::SchemaArgs;
use crate::printer::Printer;
use crate::settings::Settings;

/// Prints the tables or the rights to them, or makes the tables.
pub(crate) async fn schema(
    settings: &Settings,
    printer: &Printer,
    args: &SchemaArgs,
) -> anyhow::Result<Exit> {
    let tables = Schema::of(&settings.url)?;
    if args.apply {
        settings.make_home()?;
        let applied = tables.apply().await?;
        let url = redacted(&settings.url);
        if printer.json() {
            let Applied { from, to, .. } = applied;
            printer.value(&json!({ "applied": true, "url": url, "from": from, "to": to }))?;
        } else {
            printer.line(format!("the tables are in place in {url}: {}", words(applied)))?;
        }
        return Ok(Exit::Ok);
    }
    let sql = match &args.grants {
        Some(user) => tables.grants(user)?,
        None => tables.sql(),
    };
    if printer.json() {
        printer.value(&json!({ "sql": sql }))?;
    } else {
        printer.line(sql.trim_end())?;
    }
    Ok(Exit::Ok)
}

fn words(applied: Applied) -> String {
    let to = applied.to;
    match applied.from {
        None => format!("made, version {to}"),
        Some(from) if from == to => format!("version {to}, as before"),
        Some(from) => format!("brought from version {from} to {to}"),
    }
}
