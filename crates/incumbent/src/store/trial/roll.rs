//! Who takes part.

use std::time::Duration;

use incumbent_protocol::identity::{CandidateId, ElectionName, Incarnation};
use incumbent_protocol::lease::order::{Order, OrderError, Papers};
use incumbent_protocol::roll::{GONE_MAX, Peer, Presence};
use incumbent_protocol::rounds::register::Profile;
use incumbent_protocol::time::StoreTime;
use incumbent_testbed::Proxy;

use super::place::{Place, billing, candidate, election};
use crate::error::Error;
use crate::store::office::Warrant;

/// Whatever a program may say of itself.
const ODD: [&str; 6] = [
    "it's \"the\" `boss`",
    "back\\slash \\' \\\\ \\0 %s %_",
    "Ωμέγα 🦀 日本 \u{1f468}\u{200d}\u{1f469}",
    "'); DROP TABLE incumbent_candidate; --",
    "two\nlines\tand a tab;\r/* ? $1 :x @y */",
    "",
];

const DAY: u64 = 24 * 60 * 60 * 1_000_000;

fn peer(id: &CandidateId) -> Peer {
    Peer {
        id: id.clone(),
        profile: Profile::default(),
        priority: 0,
        presence: Presence::Ready,
        why: None,
        prefers: String::new(),
        started: StoreTime::from_micros(0),
        beaten_at: StoreTime::from_micros(0),
        every: Duration::from_secs(2),
    }
}

/// Without the times, which are the store's own.
fn timeless(peer: &Peer) -> Peer {
    let zero = StoreTime::from_micros(0);
    Peer { started: zero, beaten_at: zero, ..peer.clone() }
}

pub(super) async fn odd_words_come_back_as_they_were(place: &Place) {
    let mut one = place.candidate("one").await;
    let mut lines = Vec::new();
    for (at, words) in (0..).zip(ODD) {
        let id =
            CandidateId::new(candidate(&format!("odd-{at}")), Incarnation::from_random(at + 1));
        // Labels and addresses are one line each, which settings promise.
        let line = words.lines().next().unwrap_or_default().to_owned();
        let profile =
            Profile { address: Some(line.clone()), labels: vec![("zone".to_owned(), line)] };
        let (why, prefers) = (Some(words.to_owned()), words.to_owned());
        let presence = if at % 2 == 0 { Presence::Unfit } else { Presence::Left };
        let priority = if at % 2 == 0 { i32::MIN } else { i32::MAX };
        lines.push(Peer { profile, why, prefers, presence, priority, ..peer(&id) });
    }
    lines.push(peer(&one.me));
    let billing = billing();
    let put: Vec<_> = lines.iter().map(|line| (&billing, line)).collect();
    let rolls = one.store.roll(&put, &[&billing]).await.expect("written");
    let mut found: Vec<_> = rolls[&billing].iter().map(timeless).collect();
    found.sort_by_key(|peer| peer.id.incarnation.to_string());
    lines.sort_by_key(|peer| peer.id.incarnation.to_string());
    assert_eq!(found, lines);
    // Another one reads the same.
    let mut two = place.candidate("two").await;
    assert_eq!(two.store.roll(&[], &[&billing]).await.expect("readable"), rolls);
}

pub(super) async fn a_line_keeps_its_start_and_gets_new_stamps_and_words(place: &Place) {
    let mut one = place.candidate("one").await;
    let (billing, mail) = (billing(), election("mail"));
    let line = peer(&one.me);
    let lines = [(&mail, &line), (&billing, &line)];
    let first = one.store.roll(&lines, &[&billing, &mail]).await.expect("written");
    assert_eq!(first.len(), 2);
    let before = &first[&billing][0];
    assert!(before.started <= before.beaten_at && before.started.as_micros() > DAY);
    tokio::time::sleep(Duration::from_millis(2)).await;

    let (presence, why) = (Presence::Unfit, Some("disk full".to_owned()));
    let line = Peer { presence, why, priority: -7, ..peer(&one.me) };
    let second = one.store.roll(&[(&billing, &line)], &[&billing, &mail]).await.expect("written");
    let after = &second[&billing][0];
    assert_eq!(timeless(after), line);
    assert_eq!(after.started, before.started);
    assert!(after.beaten_at > before.beaten_at);
    assert_eq!(second[&mail], first[&mail], "a line was changed that was not written");
}

/// Makes the lines of an election as old as nobody keeps them.
async fn age(place: &Place, name: &str, election: &ElectionName) {
    let age = DAY + 1_000_000;
    let old = format!(
        "UPDATE incumbent_candidate SET beaten_us = beaten_us - {age}
        WHERE holder = '{name}' AND election = '{election}'"
    );
    place.run(&old).await;
}

async fn lines(place: &Place) -> i64 {
    place.number("SELECT count(*) FROM incumbent_candidate").await
}

pub(super) async fn a_line_older_than_a_day_is_taken_off(place: &Place) {
    let (mut one, mut two) = (place.candidate("one").await, place.candidate("two").await);
    let (billing, mail) = (billing(), election("mail"));
    for it in [&mut one, &mut two] {
        let line = peer(&it.me);
        it.store.roll(&[(&billing, &line), (&mail, &line)], &[&billing]).await.expect("written");
    }
    age(place, "two", &billing).await;
    age(place, "two", &mail).await;
    assert_eq!(lines(place).await, 4);
    let line = peer(&one.me);
    let rolls = one.store.roll(&[(&billing, &line)], &[&billing]).await.expect("written");
    let names: Vec<_> = rolls[&billing].iter().map(|peer| peer.id.name.as_str()).collect();
    assert_eq!(names, ["one"]);
    assert_eq!(lines(place).await, 3, "the old line of this election alone goes");

    // Whoever comes back after more than a day begins anew in one of them, and goes on in the other.
    let line = peer(&two.me);
    let put = [(&billing, &line), (&mail, &line)];
    let rolls = two.store.roll(&put, &[&billing, &mail]).await.expect("written");
    assert_eq!((rolls[&billing].len(), rolls[&mail].len()), (2, 2));
    assert_eq!(lines(place).await, 4);
}

pub(super) async fn whoever_only_looks_at_the_roll_changes_nothing(place: &Place) {
    let (mut one, mut two) = (place.candidate("one").await, place.candidate("two").await);
    let billing = billing();
    let line = peer(&one.me);
    one.store.roll(&[(&billing, &line)], &[&billing]).await.expect("written");
    age(place, "one", &billing).await;
    let rolls = two.store.roll(&[], &[&billing, &election("never-held")]).await.expect("readable");
    assert!(rolls.is_empty(), "{rolls:?}");
    assert_eq!(lines(place).await, 1);
}

/// What a crash loop leaves: each start writes its lines, and most say that they leave.
async fn crash_loop(place: &Place, starts: u128) {
    let billing = billing();
    let mut it = place.candidate("loop").await;
    let lines: Vec<_> = (0..starts)
        .map(|start| {
            let id = CandidateId::new(it.me.name.clone(), Incarnation::from_random(start + 1));
            let presence = if start % 10 == 0 { Presence::Ready } else { Presence::Left };
            Peer { presence, ..peer(&id) }
        })
        .collect();
    for lines in lines.chunks(500) {
        let put: Vec<_> = lines.iter().map(|line| (&billing, line)).collect();
        // Nobody reads it, as if each of them had been killed right after it wrote.
        it.store.roll(&put, &[]).await.expect("written");
    }
    let old = "UPDATE incumbent_candidate SET started_us = started_us - 60000000, beaten_us = beaten_us - 60000000";
    place.run(old).await;
}

pub(super) async fn what_a_crash_loop_left_is_not_read_and_goes(place: &Place) {
    crash_loop(place, 3_000).await;
    assert_eq!(lines(place).await, 3_000);
    let billing = billing();
    let mut one = place.candidate("one").await;
    // Whoever only looks sees one line of that name, and changes nothing.
    let shown = one.store.roll(&[], &[&billing]).await.expect("readable");
    assert_eq!(shown[&billing].len(), 1);
    assert_eq!(lines(place).await, 3_000);
    // A candidate takes them off, a part each time, and so does every start of that very loop.
    let line = peer(&one.me);
    for calls in 1.. {
        let before = lines(place).await;
        let rolls = one.store.roll(&[(&billing, &line)], &[&billing]).await.expect("written");
        let names: Vec<_> = rolls[&billing].iter().map(|peer| peer.id.name.as_str()).collect();
        assert_eq!(names, ["loop", "one"], "first started first");
        if lines(place).await == 2 {
            break;
        }
        assert!(lines(place).await < before && calls < 20, "{before} lines");
    }
}

pub(super) async fn names_that_never_come_back_do_not_add_up(place: &Place) {
    let billing = billing();
    let mut one = place.candidate("one").await;
    let pods: Vec<_> = (0..200)
        .map(|at| {
            let id =
                CandidateId::new(candidate(&format!("pod-{at}")), Incarnation::from_random(at + 1));
            Peer { presence: Presence::Left, ..peer(&id) }
        })
        .collect();
    let put: Vec<_> = pods.iter().map(|line| (&billing, line)).collect();
    one.store.roll(&put, &[&billing]).await.expect("written");
    let line = peer(&one.me);
    let rolls = one.store.roll(&[(&billing, &line)], &[&billing]).await.expect("written");
    assert_eq!(rolls[&billing].len(), GONE_MAX + 1);
    assert_eq!(lines(place).await, i64::try_from(GONE_MAX).expect("few") + 1);
}

pub(super) async fn two_live_processes_of_one_name_are_both_read(place: &Place) {
    let billing = billing();
    let mut one = place.candidate("one").await;
    let twin = peer(&CandidateId::new(one.me.name.clone(), Incarnation::from_random(1 << 90)));
    let line = peer(&one.me);
    for _ in 0..2 {
        let put = [(&billing, &line), (&billing, &twin)];
        let rolls = one.store.roll(&put, &[&billing]).await.expect("written");
        assert_eq!(rolls[&billing].len(), 2);
    }
}

pub(super) async fn a_transfer_beside_a_crash_loop_finds_its_candidate(place: &Place) {
    crash_loop(place, 2_000).await;
    let (mut one, mut bob) = (place.candidate("one").await, place.candidate("bob").await);
    one.win().await;
    let (billing, line) = (billing(), peer(&bob.me));
    bob.store.roll(&[(&billing, &line)], &[&billing]).await.expect("written");
    let transfer = |to: &str| Warrant {
        election: billing.clone(),
        order: Order::Transfer { to: candidate(to), drain: Duration::from_secs(1) },
        papers: Papers { actor: "ann".to_owned(), ..Papers::default() },
    };
    // One that is away is known, and what is wrong is said.
    let refused = one.store.carry_out(&transfer("loop")).await;
    let away = matches!(&refused, Err(Error::Order(OrderError::NotReady { seen: Some(_), .. })));
    assert!(away, "{refused:?}");
    one.store.carry_out(&transfer("bob")).await.expect("ordered");
}

/// Also while old lines are taken off by all of them.
pub(super) async fn many_write_the_roll_at_once(place: &Place) {
    let elections: Vec<_> = (0..8).map(|at| election(&format!("election-{at}"))).collect();
    let mut all = tokio::task::JoinSet::new();
    for number in 0..4 {
        let mut it = place.candidate(&format!("many-{number}")).await;
        let mut elections = elections.clone();
        // Everybody has another order.
        elections.rotate_left(number * 2);
        all.spawn(async move {
            for at in 0..25 {
                let id = CandidateId::new(candidate("gone"), Incarnation::from_random(at + 1));
                let (line, gone) = (peer(&it.me), peer(&id));
                let mut put: Vec<_> = elections.iter().map(|name| (name, &line)).collect();
                put.extend(elections.iter().map(|name| (name, &gone)));
                let names: Vec<_> = elections.iter().collect();
                let rolls = it.store.roll(&put, &names).await.expect("written beside others");
                assert_eq!(rolls.len(), elections.len());
            }
        });
    }
    for _ in 0..10 {
        age(place, "gone", &elections[3]).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    all.join_all().await;
}

pub(super) async fn the_roll_is_one_message(place: &Place) {
    let (_, rest) = place.url.split_once('@').expect("a user");
    let (address, _) = rest.split_once('/').expect("a database");
    let proxy = Proxy::start(address.parse().expect("an address")).await.expect("a proxy");
    let mut one = place.candidate_at(&proxy.url(&place.url), "one").await;
    let elections: Vec<_> = (0..20).map(|at| election(&format!("election-{at}"))).collect();
    let line = peer(&one.me);
    let put: Vec<_> = elections.iter().map(|name| (name, &line)).collect();
    let names: Vec<_> = elections.iter().collect();
    for _ in 0..2 {
        let before = proxy.round_trips();
        one.store.roll(&put, &names).await.expect("written");
        assert_eq!(proxy.round_trips(), before + 1);
    }
}
