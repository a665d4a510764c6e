//! The step `links`: links between Markdown files lead somewhere.
//!
//! Assumes that links to other sites are somebody else's promise, and never uses the network.
//! Promises that each relative link names a file or folder of this repository, that its anchor
//! exists if it leads to a Markdown page, and that all mistakes are listed at once.

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::markdown::Page;

/// Folders that hold no pages of ours.
const SKIPPED: &[&str] = &["target", ".git", "node_modules"];

pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    let mut files = Vec::new();
    collect(root, &mut files)?;
    files.sort();
    let mut mistakes = Vec::new();
    for file in &files {
        let text =
            fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
        let page = Page::parse(&text);
        let name = file.strip_prefix(root).unwrap_or(file).display();
        for (line, label) in &page.undefined {
            mistakes.push(format!("{name}:{line}: the label `{label}` is not defined"));
        }
        for (line, link) in &page.links {
            if let Some(mistake) = mistake(root, file, &page, link)? {
                mistakes.push(format!("{name}:{line}: `{link}` {mistake}"));
            }
        }
    }
    if !mistakes.is_empty() {
        bail!("{} of the links lead nowhere:\n{}", mistakes.len(), mistakes.join("\n"));
    }
    Ok(())
}

/// Adds every Markdown file below `folder`.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let context = || format!("reading the folder {}", folder.display());
    for entry in fs::read_dir(folder).with_context(context)? {
        let entry = entry.with_context(context)?;
        let path = entry.path();
        // The type of the entry itself: a symbolic link is not followed, so the walk ends.
        if entry.file_type().with_context(context)?.is_dir() {
            if !SKIPPED.iter().any(|skipped| entry.file_name() == *skipped) {
                collect(&path, files)?;
            }
        } else if is_markdown(&path) {
            files.push(path);
        }
    }
    Ok(())
}

/// What is wrong with `link` on the page `file`, if anything.
fn mistake(
    root: &Path,
    file: &Path,
    page: &Page,
    link: &str,
) -> anyhow::Result<Option<&'static str>> {
    if has_scheme(link) {
        return Ok(None);
    }
    let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
    let anchor = anchor.to_lowercase();
    if target.is_empty() {
        let known = anchor.is_empty() || page.anchors.contains(&anchor);
        return Ok((!known).then_some("is no heading of this page"));
    }
    let Some(path) = resolve(root, file, target) else {
        return Ok(Some("leads out of the repository"));
    };
    if !path.exists() {
        return Ok(Some("leads to no file"));
    }
    if anchor.is_empty() || !is_markdown(&path) {
        return Ok(None);
    }
    let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let known = Page::parse(&text).anchors.contains(&anchor);
    Ok((!known).then_some("leads to a page without that heading"))
}

/// Whether `link` names another site or an address, as in `https:` or `mailto:`.
fn has_scheme(link: &str) -> bool {
    link.starts_with("//")
        || link.split_once(':').is_some_and(|(scheme, _)| {
            !scheme.is_empty() && scheme.chars().all(|character| character.is_ascii_alphabetic())
        })
}

/// The path that `target` means on the page `file`; none if it climbs out of `root`.
fn resolve(root: &Path, file: &Path, target: &str) -> Option<PathBuf> {
    let target = target.replace("%20", " ");
    // A leading slash means the root of the repository.
    let mut path = match target.strip_prefix('/') {
        Some(_) => root.to_owned(),
        None => file.parent()?.to_owned(),
    };
    for component in Path::new(&target).components() {
        match component {
            Component::Normal(name) => path.push(name),
            Component::ParentDir if path == root => return None,
            Component::ParentDir => drop(path.pop()),
            _ => {}
        }
    }
    Some(path)
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a repository of these files.
    fn check_files(files: &[(&str, &str)]) -> Result<(), String> {
        let root = tempfile::tempdir().expect("a temporary folder");
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("can create");
            fs::write(path, text).expect("can write");
        }
        check(root.path()).map_err(|error| error.to_string())
    }

    #[test]
    fn links_that_resolve_pass() {
        let index =
            "# Top\n[a](docs/a.md#part-one) [b](docs/) [c](#top) [d](https://e.example/x)\n";
        let page = "## Part one\n[up](../index.md) [root](/index.md) [code](run.rs#L3)\n";
        let files = [("index.md", index), ("docs/a.md", page), ("docs/run.rs", "")];
        assert_eq!(check_files(&files), Ok(()));
    }

    #[test]
    fn every_kind_of_broken_link_is_listed_with_its_line() {
        let page = "[a](none.md)\n[b](#none)\n[c](page.md#none)\n[d](../out.md)\n[e][none]\n";
        let error = check_files(&[("page.md", page)]).expect_err("all are broken");
        for line in 1..=5 {
            assert!(error.contains(&format!("page.md:{line}: ")), "line {line} in {error}");
        }
    }

    #[test]
    fn build_output_is_not_read() {
        assert_eq!(check_files(&[("target/doc/x.md", "[a](none.md)")]), Ok(()));
    }
}
