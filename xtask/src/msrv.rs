//! The step `msrv`: every page names the same oldest Rust version.
//!
//! Assumes that a page states the version on a line that also says "Rust" or "MSRV", for example
//! "Rust 1.94 or newer". Promises that such a line agrees with `rust-version` of the workspace; a
//! page that states no version is fine.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};

/// Pages that may state the version.
const PAGES: &[&str] = &["README.md", "CONTRIBUTING.md"];

pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    let manifest = fs::read_to_string(root.join("Cargo.toml")).context("reading Cargo.toml")?;
    let msrv = rust_version(&manifest)?;
    let mut mistakes = Vec::new();
    for page in PAGES.iter().filter(|page| root.join(page).exists()) {
        let text =
            fs::read_to_string(root.join(page)).with_context(|| format!("reading {page}"))?;
        for (line, stated) in stated_versions(&text).filter(|(_, stated)| *stated != msrv) {
            mistakes.push(format!("{page}:{line} says {stated}"));
        }
    }
    if !mistakes.is_empty() {
        bail!("Cargo.toml says rust-version {msrv}, but {}", mistakes.join(", "));
    }
    Ok(())
}

/// `workspace.package.rust-version` of a manifest.
fn rust_version(manifest: &str) -> anyhow::Result<String> {
    let manifest: toml::Table = manifest.parse().context("Cargo.toml is not TOML")?;
    let version = manifest
        .get("workspace")
        .and_then(|workspace| workspace.get("package")?.get("rust-version")?.as_str())
        .context("Cargo.toml has no workspace.package.rust-version")?;
    Ok(version.to_owned())
}

/// Each Rust version that `text` states, with the number of its line.
fn stated_versions(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let speaks_of_rust = |line: &str| {
        let line = line.to_lowercase();
        line.contains("rust") || line.contains("msrv")
    };
    (1..).zip(text.lines()).filter(move |(_, line)| speaks_of_rust(line)).flat_map(
        |(number, line)| {
            line.split(|character: char| !character.is_ascii_digit() && character != '.')
                .map(|word| word.trim_matches('.'))
                .filter(|word| is_rust_version(word))
                .map(move |word| (number, word))
        },
    )
}

/// Whether `word` looks like `1.94` or `1.94.1`; Rust has been in two digits since 2016.
fn is_rust_version(word: &str) -> bool {
    let parts: Vec<_> = word.split('.').collect();
    matches!(parts.as_slice(), ["1", minor] | ["1", minor, _] if minor.len() >= 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_the_workspace() {
        let manifest = "[workspace.package]\nrust-version = \"1.94\"\n";
        assert_eq!(rust_version(manifest).expect("is there"), "1.94");
        assert!(rust_version("[package]\nname = \"x\"\n").is_err());
    }

    #[test]
    fn versions_are_found_on_lines_about_rust_only() {
        let page = "SQLite 1.23 is old.\nNeeds Rust 1.94 or newer.\nThe MSRV is 1.90.\n";
        assert_eq!(stated_versions(page).collect::<Vec<_>>(), [(2, "1.94"), (3, "1.90")]);
        assert_eq!(stated_versions("clap 4.6 for Rust 2024").count(), 0);
    }

    #[test]
    fn a_page_that_disagrees_is_named_with_its_line() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let write = |name, text| fs::write(root.path().join(name), text).expect("can write");
        write("Cargo.toml", "[workspace.package]\nrust-version = \"1.94\"\n");
        check(root.path()).expect("no page, no mistake");
        write("README.md", "Install.\nRust 1.80 or newer.\n");
        let error = check(root.path()).expect_err("1.80 is not 1.94").to_string();
        assert!(error.contains("README.md:2 says 1.80"), "{error}");
    }
}
