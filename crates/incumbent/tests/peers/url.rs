//! What a URL says, and what is wrong with one.

use incumbent::{Backend, Config, Error, Protocol};

use crate::support::{Cluster, LONG, SHORT, close_all, contend, lead, leader, seen, until, won};

/// What somebody with that URL is told.
async fn told(url: &str) -> String {
    let opened = Backend::open_with(url, &Config::new()).await;
    opened.map(drop).expect_err(url).to_string()
}

fn says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word:?} is not in {text:?}");
    }
}

#[tokio::test]
async fn the_same_url_makes_each_process_another_node() {
    for scheme in ["ring", "bully"] {
        let cluster = Cluster::new(scheme, 3);
        let mut all = Vec::new();
        for name in ["one", "two", "three"] {
            all.push(cluster.open(&cluster.guest(name, LONG)).await);
        }
        let first = lead(&all[0]).await;
        for backend in &all {
            until("all see it", async || leader(backend).await == "one").await;
        }
        let kept = std::fs::read_dir(cluster.path("guests")).expect("a folder").flatten();
        let kept = kept.filter(|it| it.path().extension().is_some_and(|end| end == "promises"));
        assert_eq!(kept.count(), 3, "each keeps a file of its own");
        drop(first);
        close_all(all).await;
    }
}

#[tokio::test]
async fn one_more_than_listed_contends_without_a_vote() {
    let cluster = Cluster::new("bully", 1);
    let voter = cluster.start(0, LONG).await;
    let guest = cluster.open(&cluster.guest("guest", LONG)).await;
    let leadership = lead(&guest).await;
    until("the voter sees it", async || leader(&voter).await == "guest").await;
    assert!(!cluster.path("guests").exists(), "who does not vote keeps nothing");
    // Its end is not the end of the majority.
    drop(leadership);
    close_all(vec![guest]).await;
    drop(lead(&voter).await);
    close_all(vec![voter]).await;
}

#[tokio::test]
async fn of_more_than_vote_the_rest_contends() {
    let cluster = Cluster::new("bully", 3).options("voters=1");
    let voter = cluster.start(0, LONG).await;
    let (two, three) = (cluster.start(1, LONG).await, cluster.start(2, LONG).await);
    let first = lead(&two).await;
    let waiting = contend(&three).await;
    seen(&two, "node-2").await;
    first.resign().await.expect("resigns");
    drop(won(waiting).await);
    // Whoever has an address that stays may come to vote, and has its file.
    assert!(cluster.data(0).exists() && cluster.data(1).exists());
    close_all(vec![two, three, voter]).await;
}

#[tokio::test]
async fn an_address_twice_is_refused() {
    let text = told("bully://127.0.0.1:7601,127.0.0.1:7602,127.0.0.1:7601").await;
    says(&text, &["127.0.0.1:7601", "twice"]);
    let text = told("bully://3@127.0.0.1:7601,3@127.0.0.1:7602").await;
    says(&text, &["same number 3", "127.0.0.1:7601", "127.0.0.1:7602"]);
}

#[tokio::test]
async fn what_cannot_be_understood_is_refused_with_what_would_be_right() {
    for (url, words) in [
        ("ring:127.0.0.1:7601", ["two slashes", ""]),
        ("ring://", ["empty", "host:port"]),
        ("ring://127.0.0.1:0", ["port", "65535"]),
        ("ring://a b:7601", ["cannot be read", "a b"]),
        ("bully://127.0.0.1:7601?colour=red", ["unknown option \"colour\"", "message-time"]),
        ("bully://127.0.0.1:7601?heartbeat=soon", ["heartbeat", "700ms"]),
        ("bully://127.0.0.1:7601?heartbeat=0", ["heartbeat", "700ms"]),
        ("bully://127.0.0.1:7601?heartbeat=1ms", ["", "heartbeat"]),
        ("bully://127.0.0.1:7601?message-time=2h", ["message-time", "2s"]),
        ("bully://127.0.0.1:7601?detector=crystal-ball", ["timeout or phi", ""]),
        ("bully://127.0.0.1:7601?return=never", ["sticky or preempt", ""]),
        ("bully://127.0.0.1:7601?voters=0", ["voters", "number"]),
        ("bully://127.0.0.1:7601?voters=2", ["voters", "1"]),
        ("bully://127.0.0.1:7601?me=", ["me", "value"]),
        ("bully://127.0.0.1:7601?me=127.0.0.1:7601,127.0.0.1:7602", ["several", ""]),
        ("bully://127.0.0.1:7601?listen=127.0.0.1:7609", ["listen", "me="]),
        ("bully://127.0.0.1:7601?discover=luck", ["dns", ""]),
        ("bully://192.0.2.1:7601", ["secret", "incumbent secret"]),
    ] {
        says(&told(url).await, &words);
    }
    // These need a secret before anything else is looked at.
    for (url, words) in [
        ("bully://192.0.2.1:7601", ["none of the listed addresses", "me=HOST:PORT"]),
        ("bully://127.0.0.1:7601?me=192.0.2.1:7601", ["cannot listen", "192.0.2.1:7601"]),
    ] {
        let config = Config::new().secret(crate::support::SECRET).expect("a secret");
        let opened = Backend::open_with(url, &config).await.map(drop);
        says(&opened.expect_err(url).to_string(), &words);
    }
}

#[tokio::test]
async fn rounds_are_refused() {
    let cluster = Cluster::new("ring", 1);
    let config = cluster.node(0, LONG).protocol(Protocol::Rounds);
    let opened = Backend::open_with(&cluster.url(), &config).await.map(drop);
    let error = opened.expect_err("rounds need a table");
    assert!(
        matches!(error, Error::Setting { .. } | Error::Open { .. } | Error::Url { .. }),
        "{error}"
    );
    says(&error.to_string(), &["rounds"]);
}

#[tokio::test]
async fn whoever_is_told_its_address_takes_that_one_and_may_listen_elsewhere() {
    let cluster = Cluster::new("bully", 2);
    let elsewhere = Cluster::new("bully", 1);
    // The first address is free, and yet the process is the second.
    let second = cluster.start(1, LONG).await;
    let url = format!("{}listen={}", cluster.url(), elsewhere.address(0));
    let error = Backend::open_with(&url, &cluster.node(1, LONG)).await.map(drop);
    says(&error.expect_err("its file is in use").to_string(), &["another process votes"]);
    let socket = std::net::TcpListener::bind(cluster.address(1));
    assert!(socket.is_err(), "the second listens at its address");
    drop(std::net::TcpListener::bind(cluster.address(0)).expect("nobody is the first"));
    // The first listens somewhere else, and dials the others.
    let first = Backend::open_with(&url, &cluster.node(0, LONG)).await.expect("opens");
    drop(std::net::TcpListener::bind(cluster.address(0)).expect("nobody listens there"));
    assert!(std::net::TcpListener::bind(elsewhere.address(0)).is_err(), "it listens here");
    let leadership = lead(&second).await;
    until("the first sees it", async || leader(&first).await == "node-1").await;
    drop(leadership);
    close_all(vec![first, second]).await;
}

#[tokio::test]
async fn heartbeat_message_time_and_detector_may_be_chosen() {
    for (scheme, options) in [
        ("ring", "heartbeat=300ms&message-time=20ms"),
        ("bully", "heartbeat=2s&message-time=100&detector=phi"),
    ] {
        let cluster = Cluster::new(scheme, 3).options(options);
        let all = cluster.start_all(SHORT).await;
        let waiting = contend(&all[0]).await;
        drop(won(waiting).await);
        close_all(all).await;
    }
}
