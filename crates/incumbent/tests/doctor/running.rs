//! An examination while somebody leads: nothing happens to them.

use incumbent::{Backend, Schema};
use incumbent_testbed::{shared_mariadb, shared_postgres};

use crate::support::{examine, settings};

/// Leads, is examined twice at once, and leads on in the same term.
async fn undisturbed(url: &str) -> anyhow::Result<()> {
    Schema::of(url)?.apply().await?;
    let folder = tempfile::tempdir()?;
    let history = folder.path().join("history");
    let backend = Backend::open_with(url, &settings().name("ann").history(&history)).await?;
    let election = backend.election("billing").await?;
    let leadership = election.campaign().await?;
    let (first, second) = tokio::join!(examine(url), examine(url));
    for checkup in [first?, second?] {
        assert!(checkup.is_fit(), "{checkup:#?}");
    }
    assert!(leadership.is_valid());
    let status = backend.status("billing").await?;
    assert_eq!(status.leader().map(|leader| leader.term), Some(leadership.term()));
    assert_eq!(backend.terms("billing", 10).await?.len(), 1);
    assert_eq!(backend.statuses().await?.len(), 1);
    leadership.resign().await?;
    backend.close().await;
    let report = incumbent_audit::audit(&[history])?;
    assert!(report.is_clean(), "{report}");
    Ok(())
}

#[tokio::test]
async fn a_leader_on_postgres_is_not_disturbed() -> anyhow::Result<()> {
    undisturbed(&shared_postgres().await?.fresh_database().await?.url).await
}

#[tokio::test]
async fn a_leader_on_mariadb_is_not_disturbed() -> anyhow::Result<()> {
    undisturbed(&shared_mariadb().await?.fresh_database().await?.url).await
}

#[tokio::test]
async fn a_leader_on_sqlite_is_not_disturbed() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    undisturbed(&format!("sqlite:{}/e.db", folder.path().display())).await
}
