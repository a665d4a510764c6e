//! Bad input: URLs, places, files, timings and names that cannot work.

use std::fs;
use std::time::Duration;

use incumbent::{Backend, Config, Election, Error, NameError, Refusal, Retry, Timing, TimingError};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};

use crate::support::{BILLING, LONG, Place, config, lead, soon};

async fn refused(url: &str, config: &Config) -> Error {
    let opened = soon("an answer", Backend::open_with(url, config)).await;
    let error = opened.map(drop).expect_err(url);
    assert_eq!(error.retry(), Retry::AfterChange, "{error}");
    error
}

#[tokio::test]
async fn an_unknown_scheme_is_refused_with_what_would_be_right() {
    for url in ["etcd://host", "redis://host/0", "hello", "", "sqlite:"] {
        let error = refused(url, &Config::new()).await;
        assert!(matches!(error, Error::Url { .. }), "{error}");
        assert!(error.to_string().contains("use sqlite:///"), "{error}");
    }
}

#[tokio::test]
async fn a_place_that_cannot_hold_a_database_is_refused() {
    let place = Place::new();
    let missing = place.folder().join("missing/elections.db");
    let folder = place.folder().join("folder.db");
    fs::create_dir(&folder).expect("made");
    for (path, word) in [
        (missing, "does not exist: make it first"),
        (folder, "it is a folder"),
        ("/proc/elections.db".into(), "/proc/elections.db"),
    ] {
        let error = refused(&path.display().to_string(), &Config::new()).await;
        assert!(matches!(error, Error::Open { .. }), "{error}");
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[tokio::test]
async fn whoever_only_looks_makes_nothing() {
    let place = Place::new();
    let error = Backend::open_existing(&place.url(), &Config::new()).await;
    let error = error.map(drop).expect_err("nothing is there");
    assert!(error.to_string().contains("does not exist"), "{error}");
    assert_eq!(fs::read_dir(place.folder()).expect("reads").count(), 0);

    fs::write(place.path(), "").expect("written");
    let error = Backend::open_existing(&place.url(), &Config::new()).await;
    let error = error.map(drop).expect_err("no election was held");
    assert!(error.to_string().contains("no election"), "{error}");
}

#[tokio::test]
async fn a_file_of_garbage_is_refused_and_left_alone() {
    let place = Place::new();
    let garbage = "not a database, but somebody's notes. ".repeat(400);
    fs::write(place.path(), &garbage).expect("written");
    let error = refused(&place.url(), &Config::new()).await;
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    let name = place.path().display().to_string();
    assert!(error.to_string().contains(&name), "{error}");
    assert_eq!(fs::read_to_string(place.path()).expect("reads"), garbage);
    assert_eq!(fs::read_dir(place.folder()).expect("reads").count(), 1);
}

/// A database in which elections were held, as bytes.
async fn healthy(place: &Place) -> Vec<u8> {
    let election = place.candidate("one", LONG).await;
    for _ in 0..3 {
        lead(&election).await.resign().await.expect("resigns");
    }
    election.backend().clone().close().await;
    fs::read(place.path()).expect("reads")
}

#[tokio::test]
async fn a_truncated_database_is_refused() {
    let place = Place::new();
    let bytes = healthy(&place).await;
    for length in [1, 99, 100, 511, 1_000, 4_096, bytes.len() / 2] {
        fs::write(place.path(), &bytes[..length]).expect("written");
        let opened = Backend::open(&place.url()).await.map(drop);
        assert!(
            matches!(opened, Err(Error::Corrupt { .. })),
            "{length} of {} bytes: {opened:?}",
            bytes.len()
        );
    }
}

#[tokio::test]
async fn no_damage_makes_it_panic_or_wait_for_ever() {
    let place = Place::new();
    let bytes = healthy(&place).await;
    let mut opened = 0;
    for round in 0..120_usize {
        let mut damaged = bytes.clone();
        for nth in 0..24 {
            // Any spread will do, as long as it is the same one every time.
            let at = (round * 7_919 + nth * 104_729) % bytes.len();
            damaged[at] =
                damaged[at].wrapping_add(u8::try_from(1 + (round + nth) % 255).unwrap_or(1));
        }
        fs::write(place.path(), damaged).expect("written");
        let (url, config) = (place.url(), config("two", LONG));
        if let Ok(backend) = soon("an answer", Backend::open_with(&url, &config)).await {
            opened += 1;
            let _ = soon("an answer", backend.statuses()).await;
            let _ = soon("an answer", backend.terms(BILLING, 9)).await;
            soon("closing", backend.close()).await;
        }
        for file in &place.files()[1..] {
            let _ = fs::remove_file(file);
        }
    }
    assert!(opened < 120, "no damage was ever noticed");
}

#[tokio::test]
async fn a_newer_schema_is_refused_with_both_versions() {
    let place = Place::new();
    healthy(&place).await;
    place.sql("UPDATE incumbent_meta SET value = '99' WHERE key = 'schema_version'").await;
    let error = refused(&place.url(), &Config::new()).await;
    assert!(matches!(error, Error::SchemaNewer { found: 99, known: 3 }), "{error}");
    assert!(error.to_string().contains("upgrade the program"), "{error}");
}

#[tokio::test]
async fn a_store_that_speaks_of_itself_in_odd_letters_is_an_error_and_no_panic() {
    let place = Place::new();
    healthy(&place).await;
    place.sql("UPDATE incumbent_meta SET value = CAST(x'ff' AS TEXT)").await;
    let opened = Backend::open(&place.url()).await.map(drop);
    assert!(opened.is_err());
}

#[tokio::test]
async fn a_row_that_was_edited_by_hand_is_an_error_and_no_guess() {
    let place = Place::new();
    healthy(&place).await;
    place.sql("UPDATE incumbent_election SET incarnation = 'me'").await;
    let backend = place.open(&config("two", LONG)).await;
    let error = backend.status(BILLING).await.expect_err("odd");
    assert!(error.to_string().contains("odd incarnation"), "{error}");
}

type Fits = fn(&TimingError) -> bool;

#[tokio::test]
async fn timings_that_cannot_work_are_refused_before_anything_is_made() {
    let place = Place::new();
    let ms = Duration::from_millis;
    let cases: [(Config, Fits); 5] = [
        (Config::new().margin(Duration::ZERO), |e| matches!(e, TimingError::MarginSmall { .. })),
        (Config::new().lease(ms(3)), |e| matches!(e, TimingError::LeaseShort { .. })),
        (Config::new().lease(Duration::MAX), |e| matches!(e, TimingError::LeaseLong { .. })),
        (Config::new().lease(ms(1_000)).beat(ms(800)), |e| matches!(e, TimingError::Budget { .. })),
        (Config::new().timeout(Duration::ZERO), |e| matches!(e, TimingError::Zero { .. })),
    ];
    for (config, fits) in cases {
        let error = refused(&place.url(), &config).await;
        assert!(matches!(&error, Error::Timing(timing) if fits(timing)), "{error}");
    }
    assert_eq!(fs::read_dir(place.folder()).expect("reads").count(), 0);
}

#[tokio::test]
async fn a_lease_that_the_stores_round_trips_do_not_allow_is_refused() {
    let slow = SqlitePoolOptions::new()
        .max_connections(1)
        .after_connect(|connection, _| {
            Box::pin(async {
                let pause = || {
                    std::thread::sleep(Duration::from_millis(10));
                    true
                };
                connection.lock_handle().await?.set_progress_handler(1, pause);
                Ok(())
            })
        })
        .connect_with(SqliteConnectOptions::new().in_memory(true));
    let slow = slow.await.expect("a pool");
    let opened = Backend::with_sqlite_pool(slow, &config("one", Duration::from_millis(60))).await;
    let error = opened.map(drop).expect_err("too slow");
    assert!(matches!(error, Error::Timing(TimingError::RoundTrip { .. })), "{error}");
}

#[tokio::test]
async fn odd_names_are_refused() {
    let place = Place::new();
    let backend = place.open(&config("one", LONG)).await;
    let long = "x".repeat(129);
    for name in ["", " ", "a b", "naïve", "../up", "a'; DROP TABLE x", "a\0", &long] {
        let error = backend.election(name).await.map(drop).expect_err(name);
        assert!(matches!(error, Error::Name(_)), "{error}");
        let error = backend.status(name).await.map(drop).expect_err(name);
        assert!(matches!(error, Error::Name(_)), "{error}");
        let error = refused(&place.url(), &config(name, LONG)).await;
        assert!(matches!(error, Error::Name(_)), "{error}");
    }
    let error = backend.election("").await.map(drop);
    assert!(matches!(error, Err(Error::Name(NameError::Empty))));
    let longest = "x".repeat(128);
    for name in ["eu-1/ledger", "host:8080@x_y.z", &longest] {
        let election = backend.election(name).await.expect(name);
        assert!(lead(&election).await.is_valid());
    }
}

#[tokio::test]
async fn a_history_that_cannot_be_written_is_refused() {
    let place = Place::new();
    let config = config("one", LONG).history(place.folder().join("missing/history"));
    let error = refused(&place.url(), &config).await;
    assert!(matches!(error, Error::History { .. }), "{error}");
}

#[tokio::test]
async fn rules_that_differ_from_the_leaders_are_refused() {
    let place = Place::new();
    let one = place.candidate("one", LONG).await;
    let leadership = lead(&one).await;
    for other in [
        config("two", LONG / 2),
        config("two", LONG).margin(LONG / 20),
        config("two", LONG).expiry(incumbent::Expiry::Database),
    ] {
        let two = place.enter(&other).await;
        let campaign = soon("an answer", two.campaign()).await.map(drop);
        assert!(
            matches!(campaign, Err(Error::Refused(Refusal::RulesDiffer { .. }))),
            "{campaign:?}"
        );
    }
    // Once nobody leads, anybody may bring new rules.
    leadership.resign().await.expect("resigns");
    let two = place.candidate("two", LONG / 2).await;
    assert!(lead(&two).await.remaining() < LONG / 2);
}

#[tokio::test]
async fn other_timings_for_an_election_that_is_open_in_this_process_are_refused() {
    let place = Place::new();
    let election: Election = place.candidate("one", LONG).await;
    let backend = election.backend();
    let other = Timing::of_lease(LONG / 2).expect("a timing");
    let error = backend.election_with(BILLING, other).await.map(drop);
    assert!(
        matches!(&error, Err(Error::OtherTiming { election }) if election == BILLING),
        "{error:?}"
    );
    backend.election(BILLING).await.expect("the same is fine");
}

#[tokio::test]
async fn a_database_that_cannot_be_written_is_refused_with_its_name() {
    let place = Place::new();
    let one = place.candidate("one", LONG).await;
    one.backend().clone().close().await;
    let options = SqliteConnectOptions::new().filename(place.path()).read_only(true);
    let pool = SqlitePoolOptions::new().connect_with(options).await.expect("connects");
    let opened = Backend::with_sqlite_pool(pool, &config("two", LONG)).await;
    let error = opened.map(drop).expect_err("it is read-only");
    assert_eq!(error.retry(), Retry::AfterChange);
    let words = error.to_string();
    assert!(words.contains("read-only") && words.contains("elections.db"), "{words}");
}

#[tokio::test]
async fn a_database_with_several_names_is_refused() {
    let place = Place::new();
    let one = place.candidate("one", LONG).await;
    one.backend().clone().close().await;
    fs::hard_link(place.path(), place.folder().join("other.db")).expect("linked");
    let error = refused(&place.url(), &config("two", LONG)).await;
    assert!(error.to_string().contains("hard links"), "{error}");
}
