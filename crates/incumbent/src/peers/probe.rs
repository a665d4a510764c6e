//! What there is to see of peers before one trusts them with an election.
//!
//! Assumes: nothing but the URL and the secret.
//! Promises: nothing is written: voters are asked, and links are made. Peers that cannot be reached
//! are findings, not errors.

use std::time::Duration;

use incumbent_protocol::identity::{CandidateId, CandidateName, Incarnation};
use incumbent_protocol::rules::Timing;
use tokio::time::timeout;

use super::node::Acquaintance;
use super::place::Place;
use super::start::open;
use super::store::Store;
use super::way::Way;
use crate::doctor::checkup::{Checkup, Identity};
use crate::doctor::clocks;
use crate::doctor::finding::Findings;
use crate::doctor::promise::Conditions;
use crate::doctor::trips;
use crate::error::Error;

/// Examines the peers that a URL names.
pub(crate) async fn examine(place: &Place, timing: &Timing) -> Result<Checkup, Error> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits)
        .map_err(|error| Error::Store(format!("the system gives no random numbers: {error}")))?;
    let name = CandidateName::new("doctor")?;
    let me = CandidateId::new(name, Incarnation::from_random(u128::from_le_bytes(bits)));
    let mut store = open(place, me, timing, false).await?;
    let mut findings = Findings::default();
    let reached = store.round_trip().await;
    meet(&store).await;
    voters(&mut findings, &store, place, reached.as_ref().err()).await;
    ways(&mut findings, &store, place).await;
    numbers(&mut findings, &store).await;
    let mut question = None;
    // Without ratification no register is asked, and none may be there to answer.
    if reached.is_ok() && !place.unratified {
        let limit = timing.timeout() * 4;
        let taken = timeout(limit * 20, trips::measure(async || store.ask().await)).await;
        question = taken.ok().and_then(Result::ok).flatten();
        let read = clocks::read(async || store.clock().await).await?;
        clocks::judge(&mut findings, &read.0, read.1, timing);
    }
    trips::judge(&mut findings, question, None, timing);
    store.close().await;
    let identity = Identity {
        product: "peers".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        place: place.to_string(),
    };
    Ok(Checkup::new(identity, findings, (question, None), timing, &conditions(place), false))
}

/// Waits a moment for the links to those voters that are not needed but up.
async fn meet(store: &Store) {
    let all = async {
        while store.reach().await.is_some_and(|reach| !reach.missing.is_empty()) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let _ = timeout(Duration::from_secs(1), all).await;
}

async fn voters(findings: &mut Findings, store: &Store, place: &Place, problem: Option<&Error>) {
    let Some(reach) = store.reach().await else { return };
    let said = format!("{} of {} voters can be reached", reach.up, reach.voters);
    match problem {
        Some(error) => findings.refuse("majority", error.to_string(), "start a majority of them"),
        None if reach.missing.is_empty() => findings.good("majority", said),
        None => findings.warn(
            "majority",
            format!("{said}; not {}", reach.missing.join(", ")),
            "start the others: with fewer than a majority nobody leads",
        ),
    }
    match reach.voters {
        1 => findings.warn(
            "voters",
            "there is one: when it is down nobody leads",
            "three voters stand the loss of one, five of two",
        ),
        even if even % 2 == 0 => findings.warn(
            "voters",
            format!("there are {even}: one less would stand the loss of as many"),
            "have an odd number of them; others may contend without a vote",
        ),
        odd => findings.good("voters", format!("there are {odd}: {} may be lost", odd / 2)),
    }
    if place.unratified {
        findings.warn(
            "ratification",
            "none: whoever is picked leads, and there may be several",
            "leave out --unratified: then the promises below hold",
        );
    }
}

/// Whether each has a number of its own, as far as those who were met can tell.
async fn numbers(findings: &mut Findings, store: &Store) {
    let twins = store.reach().await.map(|reach| reach.twins).unwrap_or_default();
    if !twins.is_empty() {
        findings.refuse(
            "numbers",
            twins.join("; "),
            "give each process an address of its own (me=HOST:PORT), or a number (7@HOST:PORT)",
        );
    }
}

/// Whether all pick leaders in the way that the URL says.
async fn ways(findings: &mut Findings, store: &Store, place: &Place) {
    let known = store.node().acquaintances().await;
    let (same, others): (Vec<_>, Vec<_>) = known
        .iter()
        .filter_map(|peer| Some((peer, peer.way?)))
        .partition(|(_, way)| *way == place.way());
    let ours = place.way();
    if !others.is_empty() {
        let say = |(peer, way): &(&Acquaintance, Way)| {
            let address = peer.address.clone().unwrap_or_else(|| peer.node.to_string());
            format!("{address} by {way}")
        };
        let said = others.iter().map(say).collect::<Vec<_>>().join(", ");
        findings.refuse(
            "scheme",
            format!("{} of {} pick leaders otherwise: {said}", others.len(), others.len() + same.len()),
            format!("give all processes of a group the same URL, and all or none of them --unratified: those of {ours} do not talk to the others"),
        );
    } else if !same.is_empty() {
        findings.good("scheme", format!("all that can be reached pick leaders by {ours}"));
    }
}

fn conditions(place: &Place) -> Conditions {
    let mut conditions = Conditions::default();
    let kept =
        "a voter keeps its file: one that lost it is removed and added again, which is seen to";
    conditions.lease.push(kept.to_owned());
    conditions.token.push(kept.to_owned());
    let nothing = "peers hold no data of yours: use the token";
    conditions.never.insert("by transaction", nothing.to_owned());
    if place.unratified {
        for promise in ["by lease", "by token"] {
            conditions.never.insert(promise, "nobody ratifies whom peers pick".to_owned());
        }
    }
    conditions
}
