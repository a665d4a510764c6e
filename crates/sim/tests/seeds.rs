//! Stories that once broke a promise: they are told again for ever, and keep it. And stories that
//! still break one, so that nobody forgets them: whoever closes such a gap moves its file.

use std::path::PathBuf;

use incumbent_audit::Report;
use incumbent_sim::genre::Genre;
use incumbent_sim::scribe::Keep;
use incumbent_sim::seed::Seed;
use incumbent_sim::{peers, story};

/// The seed files of a folder, each with its tale and what the judges say of its story. Beside them
/// there may be a README and folders: whatever else is there would be a story that nobody tells.
fn told(folder: &str) -> Vec<(PathBuf, String, Report)> {
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
        let told = if Seed::<peers::story::Setting>::is_of(&text) {
            judged::<peers::story::Setting>(&text)
        } else {
            judged::<story::Setting>(&text)
        };
        let (tale, report) = told.unwrap_or_else(|problem| panic!("{}: {problem}", file.display()));
        (file, tale, report)
    };
    files.into_iter().map(tell).collect()
}

fn judged<S: Genre>(text: &str) -> Result<(String, Report), String> {
    let seed = Seed::<S>::parse(text).map_err(|problem| problem.to_string())?;
    let run = S::run(&seed.story, seed.plant, Keep::default());
    Ok((seed.tale, run.map_err(|problem| problem.to_string())?.report))
}

#[test]
fn every_kept_story_keeps_every_promise() {
    let told = told("seeds");
    assert!(!told.is_empty(), "there are stories to tell");
    for (file, tale, report) in told {
        assert!(report.is_clean(), "{}: {tale}\n{report}", file.display());
    }
}

/// There may be none, which is how it should be.
#[test]
fn every_open_story_still_breaks_a_promise() {
    for (file, tale, report) in told("seeds/open") {
        let file = file.display();
        assert!(!report.is_clean(), "{file} is closed ({tale}): move it to `seeds`");
    }
}
