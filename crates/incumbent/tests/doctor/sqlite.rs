//! SQLite files, there and not there yet.

use crate::support::{examine, finding, is_refused, is_sound, prepared, refused};

#[tokio::test]
async fn a_local_file_is_sound_and_nothing_is_left_beside_it() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let url = format!("sqlite:{}/e.db", folder.path().display());
    let checkup = prepared(&url).await?;
    is_sound(
        &checkup,
        &[
            "file system",
            "file",
            "journal",
            "schema",
            "isolation",
            "locks",
            "proof of death",
            "doorbell",
            "limits",
            "clock",
        ],
    );
    assert_eq!((checkup.product.as_str(), checkup.failover.at_once), ("SQLite", true));
    let left = std::fs::read_dir(folder.path())?.flatten().map(|entry| entry.file_name());
    let mut left: Vec<_> = left.filter_map(|name| name.into_string().ok()).collect();
    left.retain(|name| !name.starts_with("e.db"));
    assert_eq!(left, Vec::<String>::new());
    Ok(())
}

#[tokio::test]
async fn a_file_that_is_not_there_yet_is_sound_and_not_made() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let checkup = examine(&format!("sqlite:{}/e.db", folder.path().display())).await?;
    is_sound(&checkup, &["file", "locks", "proof of death"]);
    assert_eq!(std::fs::read_dir(folder.path())?.count(), 0);
    Ok(())
}

#[tokio::test]
async fn a_folder_that_is_missing_is_refused() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let checkup = examine(&format!("sqlite:{}/no/e.db", folder.path().display())).await?;
    is_refused(&checkup, "file", "make it first");
    Ok(())
}

#[tokio::test]
async fn a_file_with_two_names_is_refused() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("e.db");
    let url = format!("sqlite:{}", path.display());
    prepared(&url).await?;
    std::fs::hard_link(&path, folder.path().join("other.db"))?;
    is_refused(&examine(&url).await?, "file", "hard links");
    Ok(())
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_left_alone() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("e.db");
    let text = "certainly not a database\n".repeat(100);
    std::fs::write(&path, &text)?;
    let checkup = examine(&format!("sqlite:{}", path.display())).await?;
    assert_eq!(refused(&checkup), ["schema"], "{checkup:#?}");
    assert!(finding(&checkup, "schema").said.contains("not a database"), "{checkup:#?}");
    assert_eq!(std::fs::read_to_string(path)?, text);
    Ok(())
}
