//! Stories that once broke a promise: they are told again for ever, and keep it. And stories that
//! still break one, so that nobody forgets them: whoever closes such a gap moves its file.

use std::path::PathBuf;

use incumbent_sim::check::Report;
use incumbent_sim::scribe::Keep;
use incumbent_sim::seed::Seed;
use incumbent_sim::world;

/// The seed files of a folder, each with what the judges say of its story. Beside them there may be
/// a README and folders: whatever else is there would be a story that nobody tells.
fn told(folder: &str) -> Vec<(PathBuf, Seed, Report)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(&folder).expect("the folder of seeds");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.is_file() && !file.ends_with("README.md"));
    files.sort();
    for file in &files {
        let is_seed = file.extension().is_some_and(|extension| extension == "seed");
        assert!(is_seed, "{} is no story", file.display());
    }
    let tell = |file: PathBuf| {
        let text = std::fs::read_to_string(&file).expect("a seed file");
        let seed =
            Seed::parse(&text).unwrap_or_else(|problem| panic!("{}: {problem}", file.display()));
        let run = world::run(&seed.story, seed.plant, Keep::default());
        let run = run.unwrap_or_else(|problem| panic!("{}: {problem}", file.display()));
        (file, seed, run.report)
    };
    files.into_iter().map(tell).collect()
}

#[test]
fn every_kept_story_keeps_every_promise() {
    let told = told("seeds");
    assert!(!told.is_empty(), "there are stories to tell");
    for (file, seed, report) in told {
        assert!(report.is_clean(), "{}: {}\n{report}", file.display(), seed.tale);
    }
}

/// There may be none, which is how it should be.
#[test]
fn every_open_story_still_breaks_a_promise() {
    for (file, seed, report) in told("seeds/open") {
        let file = file.display();
        assert!(!report.is_clean(), "{file} is closed ({}): move it to `seeds`", seed.tale);
    }
}
