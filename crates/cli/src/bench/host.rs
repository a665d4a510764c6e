//! A process of a benchmark, in which one candidate lives, or several.
//!
//! Assumes: orders come on standard input, from the process that started this one.
//! Promises: it dies with that process, whatever becomes of it: its standard input ends, and on Linux
//! the kernel kills it besides.

use std::collections::BTreeMap;

use super::candidate::{Candidate, Contest};
use super::word::{Order, Said, Word};
use crate::exit::Exit;
use crate::flags::HostArgs;
use crate::run::stage;
use crate::settings::Settings;

/// Does as it is told until nobody is there any more.
pub(crate) fn host(settings: &Settings, args: &HostArgs) -> anyhow::Result<Exit> {
    if !stage::bind(args.parent)? {
        return Ok(Exit::Failure);
    }
    let contest = Contest {
        url: settings.url.clone(),
        election: settings.election.clone(),
        config: settings.onlooker.clone(),
    };
    let mut candidates = BTreeMap::new();
    for line in std::io::stdin().lines().map_while(Result::ok) {
        match line.parse() {
            Ok(Order::Join(who)) => match Candidate::start(who, contest.clone()) {
                Ok(candidate) => drop(candidates.insert(who, candidate)),
                Err(error) => {
                    Said { who, word: Word::Failed { problem: format!("{error:#}") } }.say();
                }
            },
            Ok(Order::Kill(who)) => {
                if let Some(candidate) = candidates.remove(&who) {
                    candidate.kill();
                }
            }
            Err(odd) => tracing::warn!("{odd}"),
        }
    }
    // The candidates' threads end with the process, without a word to the store.
    Ok(Exit::Ok)
}
