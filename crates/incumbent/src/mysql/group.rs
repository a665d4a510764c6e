//! Group Replication of MySQL: what there is to see of a group.
//!
//! Assumes: a user that may read `performance_schema.replication_group_members`; without that right only the settings
//! can be seen.
//! Promises: nothing is changed.

use super::My;
use super::probe::value;
use crate::doctor::server::Exam;

/// Whether so many members are out of reach that nothing can be committed here.
pub(super) const LOST_MAJORITY: &str =
    "SELECT COALESCE(SUM(member_state = 'UNREACHABLE') * 2 >= COUNT(*), 0)
    FROM performance_schema.replication_group_members";

/// The fewest members of a group that outlives the loss of one.
const FEWEST: usize = 3;

/// One member.
struct Member {
    place: String,
    state: String,
    role: String,
}

/// Says what the group is. Returns whether there is one.
pub(super) async fn look(exam: &mut Exam<My>) -> bool {
    let name = value(exam, "VARIABLES", "group_replication_group_name").await;
    if name.is_empty() {
        return false;
    }
    let members = members(exam).await;
    if members.as_ref().is_some_and(|members| members.iter().all(|it| it.state == "OFFLINE")) {
        return false;
    }
    let single = value(exam, "VARIABLES", "group_replication_single_primary_mode").await == "ON";
    let mode = if single { "a single primary" } else { "several primaries" };
    let consistency = value(exam, "VARIABLES", "group_replication_consistency").await;
    let who = match &members {
        Some(members) => {
            let each = members.iter().map(|it| format!("{} {} {}", it.place, it.role, it.state));
            each.collect::<Vec<_>>().join(", ")
        }
        None => "this user may not see its members".to_owned(),
    };
    let said = format!("{name}, with {mode}; {who}; group_replication_consistency {consistency}");
    match advice(members.as_deref(), single, &consistency) {
        Some(advice) => exam.findings.warn("group", said, advice),
        None => exam.findings.good("group", said),
    }
    patience(exam).await;
    match members {
        Some(members) => {
            let others = members.iter().filter(|it| it.state == "ONLINE").count().saturating_sub(1);
            let said =
                format!("{others} other members of the group: a commit waits for a majority");
            exam.findings.good("standbys", said);
        }
        None => exam.findings.good("standbys", "the group's: a commit waits for a majority"),
    }
    true
}

async fn members(exam: &mut Exam<My>) -> Option<Vec<Member>> {
    let asked = "SELECT GROUP_CONCAT(CONCAT_WS(' ', CONCAT(member_host, ':', member_port), member_state, member_role)
            ORDER BY member_host, member_port SEPARATOR ',')
        FROM performance_schema.replication_group_members";
    let all = exam.ask(asked).await.ok()?;
    let members = all.split(',').map(|member| {
        let mut words = member.split(' ').map(ToOwned::to_owned);
        let mut word = || words.next().unwrap_or_default();
        Member { place: word(), state: word(), role: word() }
    });
    Some(members.collect())
}

/// What to do about a group, gravest first.
fn advice(members: Option<&[Member]>, single: bool, consistency: &str) -> Option<&'static str> {
    if !single {
        return Some(
            "use single-primary mode: members do not see each other's row locks, so a deposed leader could still commit",
        );
    }
    if consistency == "EVENTUAL" {
        return Some(
            "set group_replication_consistency = BEFORE_ON_PRIMARY_FAILOVER or stronger: a new primary answers before it \
             has applied what the old one committed, so a leader can lose its term without need",
        );
    }
    let Some(members) = members else {
        return Some(
            "GRANT SELECT ON performance_schema.replication_group_members to this user, so that members can be examined, \
             and a primary without a majority be told from one with it",
        );
    };
    if members.iter().any(|member| member.state != "ONLINE") {
        return Some("bring all members back: a group that loses its majority elects nobody");
    }
    (members.len() < FEWEST).then_some("use at least three members: fewer do not outlive one")
}

/// How long a primary without a majority waits.
async fn patience(exam: &mut Exam<My>) {
    let name = "group_replication_unreachable_majority_timeout";
    if value(exam, "VARIABLES", name).await != "0" {
        return;
    }
    exam.findings.warn(
        "group timeout",
        format!("{name} is 0: a primary that is cut off from the group waits for it for ever"),
        "set it to a few seconds: the primary then becomes read-only, which applications notice",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(states: &[&str]) -> Vec<Member> {
        let member = |state: &&str| Member {
            place: "a:3306".to_owned(),
            state: (*state).to_owned(),
            role: "SECONDARY".to_owned(),
        };
        states.iter().map(member).collect()
    }

    #[test]
    fn the_gravest_trouble_of_a_group_is_named() {
        let good = "BEFORE_ON_PRIMARY_FAILOVER";
        let three = members(&["ONLINE"; 3]);
        assert_eq!(advice(Some(&three), true, good), None);
        assert_eq!(advice(Some(&three), true, "BEFORE_AND_AFTER"), None);
        for (members, single, consistency, word) in [
            (Some(three.as_slice()), false, "EVENTUAL", "single-primary"),
            (Some(three.as_slice()), true, "EVENTUAL", "BEFORE_ON_PRIMARY_FAILOVER"),
            (None, true, good, "GRANT SELECT"),
            (Some(&members(&["ONLINE", "ONLINE", "UNREACHABLE"])), true, good, "majority"),
            (Some(&members(&["ONLINE"; 2])), true, good, "three"),
        ] {
            let advice = advice(members, single, consistency).expect("there is trouble");
            assert!(advice.contains(word), "{advice}");
        }
    }
}
