//! All judges together, and what they say to people and to programs.

use incumbent_protocol::standing::Reason;

use super::forge::*;
use super::*;

fn broken() -> History {
    History {
        torn: 1,
        ..History::from_lines(vec![
            opened(0, A, "boot"),
            opened(0, B, "boot"),
            gained(1_000, A, 5, 4_000),
            gained(3_000, B, 6, 6_000),
        ])
    }
}

#[test]
fn an_ordinary_history_is_clean() {
    let report = judge(&History::from_lines(vec![
        opened(0, A, "boot"),
        opened(0, B, "boot"),
        gained(1_000, A, 5, 4_000),
        work_began(1_000, A, 5),
        saw(1_500, B, Some((A, 5))),
        renewed(2_000, A, 5, 5_000),
        lost(4_700, A, 5, Reason::Ending),
        work_ended(4_800, A, 5),
        gained(5_200, B, 6, 8_200),
    ]));
    assert!(report.is_clean(), "{report}");
    assert_eq!((report.elections, report.terms, report.candidates), (1, 2, 2));
    assert_eq!(report.lines, 9);
}

#[test]
fn a_report_to_people_tells_verdicts_gaps_and_stories() {
    let told = judge(&broken()).to_string();
    assert_eq!(
        told,
        "\
4 lines by 2 candidates about 1 election: 2 terms
  at_most_one_lease        BROKEN 1 time
  fence_order              nothing to judge
  by_transaction           nothing to judge
  token_growth             kept (2 facts)
  no_leader_without_token  kept (2 facts)
  work_stops_in_time       nothing to judge
  loss_told_once           kept (2 facts)
  no_idle_change           nothing to judge
  eventual_leader          nothing to judge
  agreement                nothing to judge
  ids_grow                 nothing to judge
1 line cut short, as killed processes leave them; left out
at_most_one_lease at 3.000s: at 3.000s both a#0000000a (term 5, valid until 4.000s) and b#0000000b (term 6, valid \
until 6.000s) hold a valid lease of ledger
1 broken promise found"
    );
}

#[test]
fn a_report_to_programs_is_an_object_with_the_same_content() {
    let told = serde_json::to_value(judge(&broken())).expect("a report is plain data");
    assert_eq!(told["checked"]["token_growth"], 2);
    assert_eq!(told["violations"][0]["property"], "at_most_one_lease");
    assert_eq!(told["violations"][0]["at"], 3_000_000_000_u64);
    assert_eq!((&told["torn"], &told["terms"]), (&1.into(), &2.into()));
}

#[test]
fn clocks_that_are_not_even_excuse_a_span_and_not_a_world() {
    let told = |from: u64, until: u64| {
        let mut judge = Judge::new(Conditions::default());
        judge.uneven(at(from), at(until));
        broken().lines.iter().for_each(|line| judge.line(line));
        judge.finish().violations.len()
    };
    assert_eq!((told(2_000, 3_000), told(3_000, 9_000)), (0, 0));
    assert_eq!((told(0, 2_999), told(3_001, 9_000)), (1, 1));
}

#[test]
fn an_audit_reads_and_judges_files() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), broken().to_text()).expect("written");
    let report = audit(&[file.path()]).expect("readable");
    assert_eq!(report.violations.len(), 1, "{report}");
    assert!(audit(&["no/such/file"]).is_err());
}
