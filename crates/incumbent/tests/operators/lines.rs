//! Lines: one for each transition at INFO, and warnings.

use std::cell::RefCell;
use std::io;
use std::sync::Once;

use incumbent::Fence;
use serde_json::Value;

use crate::story;

thread_local! {
    /// What was said on this thread.
    static PAGE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

struct Page;

impl io::Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        PAGE.with_borrow_mut(|page| page.extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Lets every thread hear itself. One listener for all of them: with one for each, a thread without
/// any could switch a line off for the others.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let info = tracing::Level::INFO;
        tracing_subscriber::fmt().json().with_max_level(info).with_writer(|| Page).init();
    });
}

/// What this library says at INFO and above while something happens.
fn heard(happens: impl FnOnce()) -> Vec<Value> {
    listen();
    happens();
    let text = String::from_utf8(PAGE.take()).expect("text");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let ours = |line: &Value| line["target"].as_str().is_some_and(|it| it.starts_with("incumbent"));
    lines.filter(ours).collect()
}

#[test]
fn every_transition_is_exactly_one_line() {
    let lines = heard(story::tell);
    let info: Vec<&Value> = lines.iter().filter(|line| line["level"] == "INFO").collect();
    let told: Vec<[&str; 3]> = info
        .iter()
        .map(|line| ["from", "to", "reason"].map(|key| line["fields"][key].as_str().expect(key)))
        .collect();
    assert_eq!(told, story::TRANSITIONS, "{lines:#?}");
    for line in info {
        let fields = &line["fields"];
        assert_eq!((&fields["election"], &fields["candidate"]), (&"billing".into(), &"ann".into()));
        let left = fields["lease_left_ms"].as_u64().expect("a number");
        let leads = fields["to"] == "leading";
        assert_eq!(left > 0, leads, "{line}");
        assert_eq!(
            fields["term"].is_u64(),
            leads || fields["from"] != "out" && fields["reason"] != "left",
            "{line}"
        );
    }
}

#[test]
fn a_refused_token_is_a_warning() {
    let lines = heard(|| {
        let fence = Fence::new();
        fence.admit(7).expect("admitted");
        fence.admit(6).expect_err("refused");
    });
    assert_eq!(lines.len(), 1, "{lines:#?}");
    assert_eq!(lines[0]["level"], "WARN");
    assert_eq!(lines[0]["fields"]["token"], 6);
    assert_eq!(lines[0]["fields"]["highest"], 7);
}
