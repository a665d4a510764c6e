//! What people and programs see that look on.

use std::time::Duration;

use incumbent::{Change, Leader, TermRecord};

use crate::ground::Ground;
use crate::support::{BILLING, LONG, change, close_all, contend, lead, resign, soon, won};

/// Whatever a person may type, on any keyboard.
const ODD: [&str; 6] = [
    "O'Brien \"the\" `boss`",
    "back\\slash \\' \\\\ \\0 %s %_",
    "Ωμέγα 🦀 日本 \u{1f468}\u{200d}\u{1f469}",
    "'); DROP TABLE incumbent_term; --",
    "two\nlines\tand a tab;\r/* ? $1 :x @y */",
    "",
];

pub(crate) async fn odd_words_of_operators_come_back_as_they_were(ground: &Ground) {
    let operator = ground.open(&ground.config("operator", LONG)).await;
    // Whoever was deposed lets others go first, so each leads once.
    for (at, words) in ODD.iter().enumerate() {
        let candidate = ground.candidate(&format!("candidate-{at}"), LONG).await;
        let leadership = lead(&candidate).await;
        let order = if at % 2 == 0 {
            operator.demote(BILLING, None, words, Some(words)).await
        } else {
            let next = format!("candidate-{}", at + 1);
            ground.heard_of(&next).await;
            operator.takeover(BILLING, &next, None, words, Some(words)).await
        };
        order.unwrap_or_else(|error| panic!("{error}: {words:?}"));
        soon("the loss", leadership.lost()).await;
        drop(leadership);
        close_all([candidate]).await;
    }
    let terms = operator.terms(BILLING, 99).await.expect("terms");
    assert_eq!(terms.len(), ODD.len(), "{terms:?}");
    for (term, words) in terms.iter().rev().zip(ODD) {
        assert_eq!(term.actor.as_deref(), Some(words));
        assert_eq!(term.note.as_deref(), Some(words));
    }
    operator.close().await;
}

fn words(terms: &[TermRecord]) -> Vec<(&str, &str, Option<&str>)> {
    terms.iter().map(|t| (t.leader.as_str(), t.opening.as_str(), t.ending.as_deref())).collect()
}

pub(crate) async fn every_term_keeps_why_it_began_and_why_it_ended(ground: &Ground) {
    let (one, two) = (ground.candidate("one", LONG).await, ground.candidate("two", LONG).await);
    assert_eq!(one.backend().terms(BILLING, 9).await.expect("terms"), []);
    resign(lead(&one).await).await;
    let demoted = lead(&two).await;
    let order = one.backend().demote(BILLING, None, "ann", Some("too slow"));
    order.await.expect("demoted");
    soon("the loss", demoted.lost()).await;
    drop(demoted);
    let last = lead(&one).await;
    let terms = two.backend().terms(BILLING, 9).await.expect("terms");
    let expected = [
        ("one", "released", None),
        ("two", "released", Some("demoted")),
        ("one", "first", Some("resigned")),
    ];
    assert_eq!(words(&terms), expected);
    assert_eq!((terms[0].term, terms[0].ended), (last.term(), None));
    assert_eq!(
        (terms[1].actor.as_deref(), terms[1].note.as_deref()),
        (Some("ann"), Some("too slow"))
    );
    for pair in terms.windows(2) {
        let (after, before) = (&pair[0], &pair[1]);
        assert!(after.term > before.term);
        assert!(before.ended.expect("ended") <= after.began);
    }
    assert_eq!(two.backend().terms(BILLING, 1).await.expect("terms").len(), 1);
    drop(last);
    close_all([one, two]).await;
}

pub(crate) async fn statuses_show_every_election(ground: &Ground) {
    let backend = ground.open(&ground.config("one", LONG)).await;
    assert_eq!(backend.statuses().await.expect("a look"), []);
    let mut led = Vec::new();
    for name in ["b", "a", "c", "A-b.c_9"] {
        led.push(lead(&backend.election(name).await.expect("opens")).await);
    }
    resign(led.remove(2)).await;
    let statuses = backend.statuses().await.expect("a look");
    let words: Vec<_> = statuses.iter().map(|s| (s.election.as_str(), s.sight.word())).collect();
    assert_eq!(words, [("A-b.c_9", "led"), ("a", "led"), ("b", "led"), ("c", "vacant")]);
    assert_eq!(statuses[1].leader().expect("leads").term, led[1].term());
    assert!(statuses[1].remaining() > Duration::ZERO);
    assert_eq!(statuses[3].remaining(), Duration::ZERO);
    let never = backend.status("never-held").await.expect("a look");
    assert_eq!((never.sight.word(), never.record), ("vacant", None));
    drop(led);
    backend.close().await;
}

fn led(change: &Change) -> Option<&Leader> {
    match change {
        Change::Leader(leader) => leader.as_ref(),
        _ => None,
    }
}

pub(crate) async fn an_onlooker_sees_one_leader_follow_the_other(ground: &Ground) {
    let (one, two) = (ground.candidate("one", LONG).await, ground.candidate("two", LONG).await);
    let onlooker = ground.candidate("onlooker", LONG).await;
    let mut changes = onlooker.observe().expect("observes");
    let leads = |name: &'static str| {
        move |change: &Change| led(change).filter(|l| l.id.name.as_str() == name).cloned()
    };
    let first = lead(&one).await;
    let seen = change("one leads", &mut changes, leads("one")).await;
    assert_eq!(seen.term, first.term());
    let waiting = contend(&two);
    resign(first).await;
    let second = won(waiting).await;
    let seen = change("two leads", &mut changes, leads("two")).await;
    assert_eq!((seen.term, &seen.id), (second.term(), two.backend().candidate()));
    drop(second);
    close_all([one, two, onlooker]).await;
}
