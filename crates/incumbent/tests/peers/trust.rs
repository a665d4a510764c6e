//! Peers that must not be taken for one's own: another secret, another list, another number.

use incumbent::{Backend, Error, Expiry, Refusal, Retry};

use crate::numbers::{self, named};
use crate::support::{
    Cluster, LONG, SHORT, close_all, contend, enter, for_a_while, lead, soon, until, won,
};
use crate::{lines, look};

const OTHER: &str = "another secret that nobody else knows";

#[tokio::test]
async fn an_onlooker_with_another_secret_is_told_to_compare_them() {
    let cluster = Cluster::new("bully", 3);
    let all = cluster.start_all(LONG).await;
    drop(lead(&all[0]).await);
    let config = cluster.guest("onlooker", LONG).secret(OTHER).expect("a secret");
    let error = cluster.try_look(&config).await.map(drop).expect_err("another secret");
    let text = error.to_string();
    assert!(text.contains("secret") && text.contains(&cluster.address(0)), "{text}");
    assert!(!text.contains(OTHER) && !text.contains(crate::support::SECRET), "{text}");
    close_all(all).await;
}

#[tokio::test]
async fn a_contender_with_another_secret_says_so_once_and_goes_on_trying() {
    lines::listen();
    let cluster = Cluster::new("bully", 3);
    let config = cluster.node(0, SHORT).secret(OTHER).expect("a secret");
    let stranger = cluster.open(&config).await;
    let (two, three) = (cluster.start(1, SHORT).await, cluster.start(2, SHORT).await);
    let waiting = contend(&stranger).await;
    let complaints = |node| {
        let place = format!("place=\"{}\"", cluster.address(node));
        lines::with(&["WARN", "secret", &place])
    };
    // It dials the others, and they dial it.
    for node in 0..3 {
        until("it is said", async || !complaints(node).is_empty()).await;
    }
    for_a_while().await;
    for_a_while().await;
    let said = [complaints(0).len(), complaints(1).len(), complaints(2).len()];
    // Each of two says it of the first, and the first of each.
    assert_eq!(said, [2, 1, 1]);
    assert!(!waiting.is_finished(), "it leads alone, or has given up");
    stranger.close().await;
    let one = cluster.start(0, SHORT).await;
    drop(lead(&one).await);
    close_all(vec![one, two, three]).await;
}

#[tokio::test]
async fn different_lists_of_peers_are_refused_and_both_are_shown() {
    let cluster = Cluster::new("bully", 3);
    let (one, two) = (cluster.start(0, LONG).await, cluster.start(1, LONG).await);
    let other = Cluster::new("bully", 1);
    let url = format!("bully://{},{},{}", cluster.address(0), cluster.address(1), other.address(0));
    let config = cluster.guest("other", LONG).me(other.address(0));
    let opened = Backend::open_with(&url, &config).await;
    let error = match opened {
        Err(error) => error,
        Ok(other) => {
            let campaign = soon("an answer", enter(&other).await.campaign()).await.map(drop);
            campaign.expect_err("another list")
        }
    };
    let text = error.to_string();
    assert_eq!(error.retry(), Retry::AfterChange, "{text}");
    assert!(text.contains("same list"), "{text}");
    assert!(text.contains(&other.address(0)), "its own list is not shown: {text}");
    // By number: where the third of that list is, nobody told.
    let shown = text.matches(&cluster.address(0)).count();
    assert_eq!(shown, 2, "the others' list is not shown: {text}");
    close_all(vec![one, two]).await;
}

#[tokio::test]
async fn another_list_than_those_who_vote_is_said() {
    lines::listen();
    let cluster = Cluster::new("bully", 3);
    let all = cluster.start_all(LONG).await;
    drop(lead(&all[0]).await);
    let other = Cluster::new("bully", 1);
    let url = format!("bully://{},{},{}", cluster.address(0), cluster.address(1), other.address(0));
    let config = cluster.guest("late", LONG).me(other.address(0));
    let late = Backend::open_with(&url, &config).await.expect("two of its list are there");
    // Voters may change while a URL stays: those who vote count, not the list.
    drop(lead(&late).await);
    let listed = other.address(0);
    until("it is said", async || !lines::with(&["WARN", "list", &listed]).is_empty()).await;
    close_all(all).await;
    close_all(vec![late]).await;
}

#[tokio::test]
async fn a_secret_that_is_too_short_is_refused_and_not_shown() {
    let cluster = Cluster::new("bully", 1);
    let error = cluster.guest("one", LONG).secret("hunter2").map(drop).expect_err("too short");
    let text = error.to_string();
    assert!(text.contains("16") && !text.contains("hunter2"), "{text}");
    let file = cluster.path("secret-file");
    std::fs::write(&file, "hunter2").expect("written");
    let url = format!("{}secret-file={}", cluster.url(), file.display());
    let opened = Backend::open_with(&url, &incumbent::Config::new()).await.map(drop);
    let text = opened.expect_err("too short").to_string();
    assert!(!text.contains("hunter2") && text.contains("secret"), "{text}");
}

#[tokio::test]
async fn a_campaign_outlives_the_time_in_which_nobody_is_there() {
    let cluster = Cluster::new("ring", 3);
    let one = cluster.start(0, SHORT).await;
    let waiting = contend(&one).await;
    tokio::time::sleep(SHORT * 2).await;
    let (two, three) = (cluster.start(1, SHORT).await, cluster.start(2, SHORT).await);
    drop(won(waiting).await);
    close_all(vec![one, two, three]).await;
}

#[tokio::test]
async fn a_candidate_with_other_rules_is_refused() {
    let cluster = Cluster::new("bully", 3);
    let all = cluster.start_all(LONG).await;
    let first = lead(&all[0]).await;
    let others =
        [cluster.guest("shorter", LONG / 2), cluster.guest("more-margin", LONG).margin(LONG / 5)];
    for config in others {
        let other = cluster.open(&config).await;
        let refused = soon("an answer", enter(&other).await.campaign()).await.map(drop);
        let refused = refused.expect_err("other rules");
        assert!(matches!(refused, Error::Refused(Refusal::RulesDiffer { .. })), "{refused}");
        close_all(vec![other]).await;
    }
    let clock = cluster.guest("other-clock", LONG).expiry(Expiry::Database);
    let refused = Backend::open_with(&cluster.url(), &clock).await.map(drop);
    assert!(matches!(refused, Err(Error::Setting { setting: "expiry", .. })), "{refused:?}");
    assert!(first.is_valid());
    drop(first);
    close_all(all).await;
}

#[tokio::test]
async fn ring_and_bully_in_one_group_are_kept_apart_and_everybody_says_so_once() {
    let odd = |url: String, config| (url.replace("bully:", "ring:"), config);
    are_kept_apart(odd, "by ring:// and").await;
}

#[tokio::test]
async fn ratified_and_unratified_in_one_group_are_kept_apart_and_everybody_says_so_once() {
    let odd = |url, config: incumbent::Config| (url, config.unratified());
    are_kept_apart(odd, "by bully:// without ratification and").await;
}

/// Two of a group by bully, with a vote, and an odd one.
async fn are_kept_apart(
    odd: impl FnOnce(String, incumbent::Config) -> (String, incumbent::Config),
    way: &str,
) {
    lines::listen();
    numbers::listen();
    let cluster = Cluster::new("bully", 3);
    let who: Vec<String> = (0..3).map(|node| numbers::unique(&cluster, node)).collect();
    let (one, two) =
        (cluster.open(&named(&cluster, 0)).await, cluster.open(&named(&cluster, 1)).await);
    let (url, config) = odd(cluster.url(), named(&cluster, 2));
    let odd = Backend::open_with(&url, &config).await.expect("it opens");
    let waiting = contend(&one).await;
    let refused = |who: &str| {
        numbers::count(&incumbent::metrics::HANDSHAKES_REFUSED, who, ("cause", "scheme"))
    };
    for who in &who {
        until("many attempts", async || refused(who) >= 4).await;
    }
    let said = |node: usize| lines::with(&["ERROR", "same URL", &format!("{} at", who[node])]);
    // Two of the odd one, and the odd one of each of them.
    assert_eq!([said(0).len(), said(1).len(), said(2).len()], [1, 1, 2]);
    assert!(said(2)[0].contains(&cluster.address(2)) && said(2)[0].contains(way));
    assert!(!waiting.is_finished(), "it leads without all voters at the first start");
    let checkup = look::examined(&cluster, incumbent::Config::new()).await;
    let (verdict, words) = look::verdict(&checkup, "scheme");
    assert!(verdict == incumbent::Verdict::Refuse, "{words}");
    assert!(words.contains("1 of 3") && words.contains(&cluster.address(2)), "{words}");
    close_all(vec![odd]).await;
    let three = cluster.open(&named(&cluster, 2)).await;
    drop(won(waiting).await);
    let checkup = look::examined(&cluster, incumbent::Config::new()).await;
    assert_eq!(look::verdict(&checkup, "scheme").0, incumbent::Verdict::Good);
    close_all(vec![one, two, three]).await;
}

#[tokio::test]
async fn two_processes_with_one_number_both_say_so_and_name_each_other() {
    lines::listen();
    let cluster = Cluster::new("bully", 3);
    let all = cluster.start_all(LONG).await;
    drop(lead(&all[1]).await);
    close_all(all).await;
    let one = cluster.open(&named(&cluster, 0)).await;
    let (two, three) = (cluster.start(1, LONG).await, cluster.start(2, LONG).await);
    // A configuration that was copied: the same address, though it listens elsewhere.
    let elsewhere = Cluster::new("bully", 1);
    let name = numbers::unique(&elsewhere, 0);
    let config = cluster.guest(&name, LONG).me(cluster.address(0));
    let url = format!("{}listen={}", cluster.url(), elsewhere.address(0));
    let twin = Backend::open_with(&url, &config).await.expect("it opens");
    let original = numbers::unique(&cluster, 0);
    let said = |this: &str, other: &str| {
        let (this, other) = (format!("this={this} at"), format!("other={other} at"));
        lines::with(&["ERROR", "number of this node", &this, &other])
    };
    until("the first says so", async || !said(&original, &name).is_empty()).await;
    until("the second says so", async || !said(&name, &original).is_empty()).await;
    let met = format!("{original} at {} (met at ", cluster.address(0));
    assert!(said(&name, &original)[0].contains(&met), "{:?}", said(&name, &original));
    for_a_while().await;
    for_a_while().await;
    // A minute lies between two of them: a slow machine may have come to the second.
    assert!(said(&name, &original).len() <= 2 && said(&original, &name).len() <= 2);
    let twins = two.reach().await.map(|reach| reach.twins).unwrap_or_default().join("");
    assert!(twins.contains(&name) && twins.contains(&original), "{twins}");
    let checkup = look::examined(&cluster, incumbent::Config::new()).await;
    let (verdict, words) = look::verdict(&checkup, "numbers");
    assert!(verdict == incumbent::Verdict::Refuse, "{words}");
    assert!(words.contains(&name) && words.contains(&original), "{words}");
    close_all(vec![one, two, three, twin]).await;
}
