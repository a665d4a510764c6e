//! What candidates know of each other: the roster, their own rank, and who came and who died.

use incumbent::{Change, Changes, Election, MemberId, Position};
use incumbent_testbed::Way;

use crate::ground::Ground;
use crate::support::{BILLING, LONG, SHORT, change, close_all, for_a_while, lead, rank, resign};
use crate::support::{stand, until, vanish, won};
use crate::users::{Users, send};

/// Whatever a person may type into a setting.
const LABELS: [(&str, &str); 3] = [
    ("zone", "O'Brien \"the\" `boss`; DROP TABLE x; --"),
    ("rack", "a=b=c"),
    ("日本", "🦀 \\' %s"),
];

pub(crate) async fn members_shows_everybody_with_what_they_tell_of_themselves(ground: &Ground) {
    let config = ground.config("one", LONG).address("10.0.0.1:80");
    let config = LABELS.iter().fold(config, |config, (key, value)| config.label(*key, *value));
    let one = ground.enter(&config).await;
    let two = ground.enter(&ground.config("two", LONG).address("[::1]:80 'b'")).await;
    let three = ground.enter(&ground.config("three", LONG).label("zone", "b")).await;
    let nobody = one.members().await.expect("members");
    assert_eq!((nobody.members.len(), nobody.pace, nobody.leader()), (0, None, None));
    let first = lead(&one).await;
    let (waiting, _) = stand(&two).await;
    let (last, _) = stand(&three).await;
    let roster = three.members().await.expect("members");
    let seen: Vec<_> = roster
        .members
        .iter()
        .map(|member| (&member.candidate, member.position, member.address.as_deref()))
        .collect();
    let who = [&one, &two, &three].map(|election| election.backend().candidate());
    let expected = [
        (who[0], Position::Leader, Some("10.0.0.1:80")),
        (who[1], Position::Second, Some("[::1]:80 'b'")),
        (who[2], Position::Waiting, None),
    ];
    assert_eq!(seen, expected);
    let labels = LABELS.map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(roster.members[0].labels, labels);
    assert_eq!(roster.members[1].labels, []);
    assert_eq!(
        roster.leader().map(|leader| (&leader.id, leader.term)),
        Some((who[0], first.term()))
    );
    assert_eq!(roster.second().map(|member| &member.candidate), Some(who[1]));
    assert_eq!(roster.live().count(), 3);
    assert!(roster.members.is_sorted_by(|one, two| one.id < two.id));
    assert_eq!(roster.pacing, Some(config.pacing().expect("a pacing")));
    let never = one.backend().members("never-held").await.expect("members");
    assert_eq!(never.members, []);
    waiting.abort();
    last.abort();
    drop(first);
    close_all([one, two, three]).await;
}

pub(crate) async fn a_rank_is_fresh_while_rounds_come_through_and_then_stale(ground: &Ground) {
    let one = ground.candidate("one", SHORT).await;
    let first = lead(&one).await;
    let before = ground.candidate("before", SHORT).await;
    assert_eq!((rank(&before).await.id, rank(&before).await.fresh), (None, false));
    close_all([before]).await;
    let proxy = if ground.kind.is_file() { None } else { Some(ground.proxy().await) };
    let config = ground.config("two", SHORT);
    let url = proxy.as_ref().map_or_else(|| ground.url.clone(), |proxy| proxy.url(&ground.url));
    let two = ground.open_at(&url, &config).await.expect("opens");
    let two = two.election(BILLING).await.expect("the election opens");
    let (waiting, id) = stand(&two).await;
    until("one is ahead", async || rank(&two).await.ahead == Some(1)).await;
    until("a fresh rank", async || rank(&two).await.fresh).await;
    assert_eq!(rank(&two).await.id, Some(id));
    match (&proxy, &ground.users) {
        (Some(proxy), _) => {
            proxy.silence(Way::Both);
            until("a stale rank", async || !rank(&two).await.fresh).await;
            proxy.silence(Way::None);
        }
        (None, Users::Sqlite(pool)) => {
            // Whoever writes to a file keeps everybody else from it.
            let mut writer = pool.acquire().await.expect("a connection");
            send!("BEGIN IMMEDIATE", &mut *writer).expect("a lock");
            until("a stale rank", async || !rank(&two).await.fresh).await;
            send!("ROLLBACK", &mut *writer).expect("undone");
        }
        _ => panic!("a server has a network"),
    }
    let age = rank(&two).await.age;
    assert!(age.is_some_and(|age| age > SHORT / 2), "{age:?}");
    until("a fresh rank", async || rank(&two).await.fresh).await;
    waiting.abort();
    drop(first);
    close_all([one, two]).await;
}

fn came(change: &Change) -> Option<(MemberId, String)> {
    match change {
        Change::Came { id, who } => Some((*id, who.name.to_string())),
        _ => None,
    }
}

pub(crate) async fn a_newcomer_is_told_to_the_leader(ground: &Ground) {
    let (one, two) = (ground.candidate("one", LONG).await, ground.candidate("two", LONG).await);
    let mut changes = one.observe().expect("observes");
    let first = lead(&one).await;
    let (waiting, id) = stand(&two).await;
    assert_eq!(change("a newcomer", &mut changes, came).await, (id, "two".to_owned()));
    waiting.abort();
    let left = async || one.members().await.expect("members").members.len() == 1;
    until("two leaves", left).await;
    // Whoever comes again is somebody new.
    let (waiting, again) = stand(&two).await;
    assert!(again > id);
    assert_eq!(change("a newcomer", &mut changes, came).await, (again, "two".to_owned()));
    waiting.abort();
    drop(first);
    close_all([one, two]).await;
}

/// Everything that was said so far, without waiting for more.
async fn said(changes: &mut Changes) -> Vec<Change> {
    let mut all = Vec::new();
    while let Ok(Some(change)) =
        tokio::time::timeout(std::time::Duration::from_millis(1), changes.next()).await
    {
        all.push(change);
    }
    all
}

fn deaths(changes: &[Change], of: MemberId) -> usize {
    changes.iter().filter(|c| matches!(c, Change::Died { id, .. } if *id == of)).count()
}

pub(crate) async fn a_death_is_told_once_and_never_again(ground: &Ground) {
    let (one, three) =
        (ground.candidate("one", SHORT).await, ground.candidate("three", SHORT).await);
    let mut changes = one.observe().expect("observes");
    let mut others = three.observe().expect("observes");
    let first = lead(&one).await;
    let config = ground.config("two", SHORT);
    let dead = vanish(async || stand(&ground.enter(&config).await).await.1);
    let (waiting, _) = stand(&three).await;
    let died = |change: &Change| match change {
        Change::Died { id, who } => Some((*id, who.name.to_string())),
        _ => None,
    };
    assert_eq!(change("a death", &mut changes, died).await, (dead, "two".to_owned()));
    let gone = async |election: &Election| {
        let members = election.members().await.expect("members").members;
        members.iter().all(|member| member.id != dead)
    };
    assert!(gone(&one).await, "the dead are still in line");
    resign(first).await;
    let second = won(waiting).await;
    for _ in 0..3 {
        second.extended().await;
    }
    for_a_while().await;
    let (ours, theirs) = (said(&mut changes).await, said(&mut others).await);
    assert_eq!((deaths(&ours, dead), deaths(&theirs, dead)), (0, 0), "{ours:?} {theirs:?}");
    drop(second);
    close_all([one, three]).await;
}
