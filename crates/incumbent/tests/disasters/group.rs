//! Group Replication of MySQL: its primary is killed, stopped, and cut off from the others.
//!
//! Assumes: MySQL, which `cargo xtask soak` brings; so none of these runs without being asked for.

use std::path::PathBuf;

use incumbent::{Config, Doctor, Election, Leadership, Schema, Verdict};
use incumbent_audit::audit;
use incumbent_testbed::Group;
use tempfile::TempDir;

use crate::hosts::{at_ports, enter};
use crate::server::Server;
use crate::support::{LEASE, soon, until};
use crate::troupe::NAMES;

/// A group, and two candidates who know all its members.
struct Story {
    group: Group,
    url: String,
    candidates: Vec<Election>,
    histories: Vec<PathBuf>,
    folder: TempDir,
}

impl Story {
    async fn begin() -> Self {
        let group = Group::start().await.expect("the group starts");
        let first = &group.members[0];
        let url = at_ports(&first.url(), first.port(), &group.ports());
        let schema = Schema::of(&url).expect("a URL");
        schema.apply().await.expect("the tables are made");
        let grant = "GRANT SELECT ON performance_schema.replication_group_members TO incumbent@'%'";
        Server::sql(first, grant).await;
        let folder = tempfile::tempdir().expect("a folder");
        let (candidates, histories) = (Vec::new(), Vec::new());
        let mut story = Story { group, url, candidates, histories, folder };
        for name in &NAMES[..2] {
            let history = story.folder.path().join(name);
            let config = Config::new().name(*name).lease(LEASE).history(&history);
            story.candidates.push(enter(&story.url, &config).await);
            story.histories.push(history);
        }
        story
    }

    async fn first(&self) -> Leadership {
        soon("a leadership", self.candidates[0].campaign()).await.expect("won")
    }

    /// Waits until the group has another primary than this one.
    async fn another_primary(&self, old: usize) -> usize {
        let another = async || self.group.primary().await.filter(|at| *at != old);
        until("another primary", async || another().await.is_some()).await;
        another().await.expect("there is one")
    }

    /// Waits until the second candidate leads under a higher token than this, and judges all that was done.
    async fn end(self, first: Leadership) {
        let token = first.token();
        drop(first);
        let second = soon("a successor", self.candidates[1].campaign()).await.expect("won");
        assert!(second.token() > token, "a token came back");
        drop(second);
        for election in self.candidates {
            election.backend().clone().close().await;
        }
        let report = audit(&self.histories).expect("readable");
        assert!(report.is_clean(), "{report}");
    }
}

#[tokio::test]
#[ignore = "needs MySQL: cargo xtask soak"]
async fn elections_follow_the_group_when_its_primary_is_killed() {
    let mut story = Story::begin().await;
    let first = story.first().await;
    let old = story.group.primary().await.expect("a primary");
    story.group.members[old].kill();
    story.another_primary(old).await;
    story.end(first).await;
}

#[tokio::test]
#[ignore = "needs MySQL: cargo xtask soak"]
async fn elections_follow_the_group_when_its_primary_is_stopped_and_comes_back() {
    let story = Story::begin().await;
    let first = story.first().await;
    let old = story.group.primary().await.expect("a primary");
    story.group.members[old].freeze();
    story.another_primary(old).await;
    let waiting = story.candidates[1].clone();
    soon("the end of the first leadership", async { first.lost().await }).await;
    let second = soon("a successor", waiting.campaign()).await.expect("won");
    // It takes itself for the primary until it hears of the others.
    story.group.members[old].thaw();
    second.extended().await;
    second.extended().await;
    drop(second);
    story.end(first).await;
}

/// The others stand still: to the primary that is the same as being cut off from both.
#[tokio::test]
#[ignore = "needs MySQL: cargo xtask soak"]
async fn nobody_leads_on_a_primary_that_is_cut_off_from_its_group_and_somebody_does_afterwards() {
    let story = Story::begin().await;
    let first = story.first().await;
    let old = story.group.primary().await.expect("a primary");
    let others: Vec<_> = (0..story.group.members.len()).filter(|at| *at != old).collect();
    for at in &others {
        story.group.members[*at].freeze();
    }
    soon("the end of the leadership", async { first.lost().await }).await;
    let waiting = story.candidates[1].clone();
    let campaign = tokio::spawn(async move { waiting.campaign().await });
    tokio::time::sleep(LEASE * 3).await;
    assert!(!campaign.is_finished(), "somebody was elected by a minority");
    for at in &others {
        story.group.members[*at].thaw();
    }
    let second = soon("a successor", campaign).await.expect("no panic").expect("won");
    assert!(second.token() > first.token(), "a token came back");
    drop(first);
    story.end(second).await;
}

#[tokio::test]
#[ignore = "needs MySQL: cargo xtask soak"]
async fn the_doctor_names_the_group_its_mode_and_its_members() {
    let story = Story::begin().await;
    let config = Config::new().lease(LEASE * 60);
    let checkup = Doctor::examine(&story.url, &config).await.expect("examined");
    assert!(checkup.is_fit(), "{checkup:#?}");
    let found = |probe: &str| checkup.findings.iter().find(|it| it.probe == probe).expect(probe);
    let group = found("group");
    assert_eq!(group.verdict, Verdict::Good, "{group:?}");
    for words in [
        "with a single primary",
        "PRIMARY ONLINE",
        "SECONDARY ONLINE",
        "BEFORE_ON_PRIMARY_FAILOVER",
    ] {
        assert!(group.said.contains(words), "{group:?}");
    }
    assert!(found("standbys").said.contains("2 other members"), "{checkup:#?}");
    assert!(found("product").said.contains("MySQL: elections were tried"), "{checkup:#?}");
    // Without that right the rest can be seen still.
    let member = &story.group.members[story.group.primary().await.expect("a primary")];
    Server::sql(
        member,
        "REVOKE SELECT ON performance_schema.replication_group_members FROM incumbent@'%'",
    )
    .await;
    let checkup = Doctor::examine(&story.url, &config).await.expect("examined");
    let group = checkup.findings.iter().find(|it| it.probe == "group").expect("looked at");
    let advice = group.advice.as_deref().unwrap_or_default();
    assert!(group.said.contains("may not see") && advice.contains("GRANT SELECT"), "{group:?}");
}
