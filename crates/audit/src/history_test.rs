//! Reading what real processes leave behind.

use std::io::Write;

use super::*;

const OPENED: &str = r#"{"at":1,"candidate":{"name":"a","incarnation":"0000000000000000000000000000000a"},"event":"opened","version":1,"clock":"boot","wall":0}"#;
const GAINED: &str = r#"{"at":2,"candidate":{"name":"a","incarnation":"0000000000000000000000000000000a"},"event":"gained","election":"ledger","term":5,"valid_until":9,"opening":"first"}"#;
const CLOSED: &str = r#"{"at":3,"candidate":{"name":"a","incarnation":"0000000000000000000000000000000a"},"event":"closed"}"#;

fn text(lines: &[&str]) -> String {
    lines.join("\n") + "\n"
}

fn problem(text: &str) -> String {
    History::parse("a.history", text).expect_err("must be refused").to_string()
}

#[test]
fn what_was_written_reads_back_the_same() {
    let written = text(&[OPENED, GAINED, CLOSED]);
    let history = History::parse("a.history", &written).expect("ours");
    assert_eq!((history.lines.len(), history.torn), (3, 0));
    assert_eq!(history.to_text(), written);
}

#[test]
fn a_torn_last_line_is_counted_and_left_out() {
    for cut in 1..GAINED.len() {
        let torn = format!("{OPENED}\n{}", &GAINED[..cut]);
        let history = History::parse("a.history", &torn).expect("torn is not foreign");
        assert_eq!((history.lines.len(), history.torn), (1, 1), "cut at {cut}");
    }
}

#[test]
fn a_last_line_that_lacks_only_its_end_counts_as_whole() {
    let history = History::parse("a.history", &format!("{OPENED}\n{GAINED}")).expect("ours");
    assert_eq!((history.lines.len(), history.torn), (2, 0));
}

#[test]
fn a_restarted_process_may_go_on_behind_a_torn_line() {
    let half = &GAINED[..40];
    for torn in [
        format!("{OPENED}\n{half}\n{OPENED}\n{GAINED}\n"),
        format!("{OPENED}\n{half}{OPENED}\n{GAINED}\n"),
    ] {
        let history = History::parse("a.history", &torn).expect("torn is not foreign");
        assert_eq!((history.lines.len(), history.torn), (3, 1), "{torn}");
    }
}

#[test]
fn a_broken_line_in_the_middle_is_refused_with_its_place() {
    let problem = problem(&text(&[OPENED, &GAINED[..40], CLOSED]));
    assert!(problem.starts_with("a.history:2: not a line of a history"), "{problem}");
}

#[test]
fn a_foreign_file_is_refused() {
    for foreign in ["hello\n", "# Title\n\ntext", "{\"level\":\"info\"}\n{}\n", "[1,2]\n"] {
        let problem = problem(foreign);
        assert!(problem.starts_with("a.history:1:"), "{problem}");
    }
}

#[test]
fn a_newer_format_is_named_as_such_even_if_its_lines_are_strange() {
    let newer = OPENED.replace("\"version\":1", "\"version\":7,\"new\":true");
    let problem = problem(&text(&[&newer, "{\"quite\":\"new\"}"]));
    assert!(problem.contains("version 7"), "{problem}");
    assert!(problem.contains("reads up to 1"), "{problem}");
}

#[test]
fn lines_before_an_opening_line_are_refused() {
    let problem = problem(&text(&[GAINED]));
    assert!(problem.contains("a.history:1: a#00000000 wrote this before"), "{problem}");
}

#[test]
fn a_missing_file_is_named() {
    let error = History::read(&["no/such/file"]).expect_err("missing");
    assert!(error.to_string().starts_with("no/such/file: "), "{error}");
}

#[test]
fn files_are_merged_in_the_order_of_their_stamps() {
    let mut one = tempfile::NamedTempFile::new().expect("a file");
    let mut two = tempfile::NamedTempFile::new().expect("a file");
    let other = |line: &str| line.replace("\"a\"", "\"b\"").replace("0a\"", "0b\"");
    one.write_all(text(&[OPENED, CLOSED]).as_bytes()).expect("written");
    two.write_all(text(&[&other(OPENED), &other(GAINED)]).as_bytes()).expect("written");
    let history = History::read(&[one.path(), two.path()]).expect("ours");
    let order: Vec<_> = history.lines.iter().map(|line| line.at.as_nanos()).collect();
    assert_eq!(order, [1, 1, 2, 3]);
}

#[test]
fn stamps_that_go_back_are_refused_with_file_and_line() {
    let early = GAINED.replace("\"at\":2", "\"at\":0");
    let late = OPENED.replace("\"at\":1", "\"at\":3");
    for (lines, place) in [
        (text(&[OPENED, &early]), "a.history:2: "),
        (text(&[&late, GAINED]), "a.history:2: "),
        (text(&[OPENED, CLOSED, GAINED]), "a.history:3: "),
    ] {
        let problem = problem(&lines);
        assert!(problem.starts_with(place) && problem.contains("before"), "{problem}");
    }
}

#[test]
fn a_candidate_that_opens_anew_does_not_go_back_either() {
    let late = GAINED.replace("\"at\":2", "\"at\":8");
    let again = OPENED.replace("\"at\":1", "\"at\":7");
    let problem = problem(&text(&[OPENED, &late, &again]));
    assert!(problem.starts_with("a.history:3: ") && problem.contains("before"), "{problem}");
    let later = OPENED.replace("\"at\":1", "\"at\":8");
    assert!(History::parse("a.history", &text(&[OPENED, &late, &later])).is_ok());
}

#[test]
fn files_in_which_nothing_happens_are_known_one_by_one() {
    let files = [text(&[OPENED, CLOSED]), text(&[OPENED, GAINED]), String::new()].map(|text| {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(text.as_bytes()).expect("written");
        file
    });
    let paths = files.each_ref().map(tempfile::NamedTempFile::path);
    let history = History::read(&paths).expect("ours");
    let idle = [paths[0], paths[2]].map(|path| path.display().to_string());
    assert_eq!(history.idle(), idle);
    let problem = crate::audit(&[paths[0], paths[2]]).expect_err("both are idle").to_string();
    assert!(problem.starts_with(&idle.join(", ")), "{problem}");
    assert!(crate::audit(&paths).is_ok());
}

#[test]
fn a_candidate_on_two_clocks_is_refused_with_both_places() {
    let again = OPENED.replace("boot", "other").replace("\"at\":1", "\"at\":4");
    let problem = problem(&text(&[OPENED, GAINED, &again]));
    assert!(problem.starts_with("a.history:3: a#00000000 names the clock \"other\""), "{problem}");
    assert!(problem.contains("\"boot\" in a.history:1"), "{problem}");
}

#[test]
fn every_line_knows_its_place_in_its_file() {
    let late = CLOSED.replace("\"at\":3", "\"at\":9");
    let other = OPENED.replace("000a", "000b").replace("\"at\":1", "\"at\":5");
    let history = History::parse("a.history", &text(&[OPENED, &late, "", &other])).expect("ours");
    let places: Vec<_> = (0..=4).map(|line| history.place(line)).collect();
    let place = |line| Some(format!("a.history:{line}"));
    assert_eq!(places, [None, place(1), place(4), place(2), None]);
}

#[test]
fn lines_of_other_writers_may_come_late_but_not_from_before_the_opening() {
    let began = r#"{"at":1,"candidate":{"name":"a","incarnation":"0000000000000000000000000000000a"},"event":"work_began","election":"ledger","term":5}"#;
    assert!(History::parse("a.history", &text(&[OPENED, GAINED, began])).is_ok());
    let early = began.replace("\"at\":1", "\"at\":0");
    assert!(problem(&text(&[OPENED, GAINED, &early])).starts_with("a.history:3: "));
}

#[test]
fn another_candidate_in_the_file_may_be_behind() {
    let other = OPENED.replace("000a", "000b");
    assert!(History::parse("a.history", &text(&[OPENED, CLOSED, &other])).is_ok());
}
