//! Where a voter keeps its promises unless it is told: a folder for each list of peers.
//!
//! Assumes: nothing; the same address may have been in another list before.
//! Promises: a voter takes up promises only if they belong to the peers of its list. Promises of its
//! address that may belong to another group are never used, and never passed over in silence.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use etcetera::base_strategy::{BaseStrategy, Xdg};
use incumbent_protocol::node::NodeId;
use incumbent_protocol::ratify::Electorate;
use incumbent_protocol::ratify::voter::Entry;

use super::address::Seat;
use super::disk::Disk;
use super::place::Place;
use crate::error::Error;

/// The folder for everything of this user's peers, where none is given.
pub(super) fn base(place: &Place) -> Result<PathBuf, Error> {
    if let Some(folder) = &place.data {
        return Ok(folder.clone());
    }
    let homeless = |problem: &str| {
        place.wrong(format!("{problem}: say where to keep promises with data=/a/folder in the URL"))
    };
    let base = Xdg::new().map_err(|error| homeless(&error.to_string()))?;
    let state = base.state_dir().ok_or_else(|| homeless("this user has no state folder"))?;
    Ok(state.join("incumbent").join("peers"))
}

pub(super) fn make(folder: &Path) -> Result<(), Error> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| Error::Open {
        place: folder.display().to_string(),
        problem: error.to_string(),
    })
}

/// The peers of a list, as a name for a folder: the same in whatever order they are listed.
pub(super) fn group(place: &Place, seats: &[Seat]) -> String {
    let mut list: Vec<&str> = seats.iter().map(|seat| seat.address.as_str()).collect();
    if place.by_dns {
        // Its addresses may change.
        list = vec![&place.list];
    }
    list.sort_unstable();
    format!("{:016x}", NodeId::of_address(&list.join(",")).number() >> 64)
}

/// Opens the promises of a node in its group's folder below `base`. Those in another folder are taken
/// up if exactly the listed voters gave them.
pub(super) fn open(
    base: &Path,
    group: &str,
    node: NodeId,
    first: &Electorate,
    fresh_lineage: u128,
) -> Result<Disk, Error> {
    let own = base.join(group);
    let file = own.join(name(node));
    if !file.exists() {
        for folder in folders(base) {
            let other = folder.join(name(node));
            if !other.is_file() {
                continue;
            }
            let disk = Disk::open(&other, node, fresh_lineage)?;
            let kept = disk.entries()?;
            if kept.iter().any(|entry| is_of(entry, first)) {
                return Ok(disk);
            }
            if !kept.is_empty() {
                return Err(foreign(&folder));
            }
        }
    }
    make(&own)?;
    Disk::open(&file, node, fresh_lineage)
}

pub(super) fn name(node: NodeId) -> String {
    format!("{node}.promises")
}

fn is_of(entry: &Entry<super::message::Key, super::message::Value>, first: &Electorate) -> bool {
    matches!(entry, Entry::Electorate(kept) if kept.voters() == first.voters())
}

/// Where promises of this user's peers may be: in the base itself, as before there was a folder for
/// each group, and below it.
fn folders(base: &Path) -> Vec<PathBuf> {
    let below = std::fs::read_dir(base).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut below: Vec<PathBuf> = below.filter(|path| path.is_dir()).collect();
    below.sort();
    std::iter::once(base.to_owned()).chain(below).collect()
}

fn foreign(folder: &Path) -> Error {
    let folder = folder.display();
    let problem = format!(
        "a voter with this address kept promises there for another list of peers, and must not mix them with new ones. \
         If this is the same group with a changed list, add data={folder} to the URL (or --data). \
         If it is a new group, use another address or give it a data folder of its own; \
         if the old group is gone for good, remove that folder"
    );
    Error::Open { place: folder.to_string(), problem }
}

#[cfg(test)]
mod tests {
    use incumbent_protocol::ratify::Electorate;
    use tempfile::TempDir;

    use super::*;
    use crate::peers::address::Peers;
    use crate::peers::way::Scheme;

    fn seats(list: &str) -> Vec<Seat> {
        Peers::parse(list).expect("a list").into_seats()
    }

    fn group_of(list: &str) -> String {
        let place = Place::parse(Scheme::Ring, &format!("//{list}")).expect("a place");
        group(&place, &seats(list))
    }

    /// Starts the voter at the first address of a list, which founds its group.
    fn start(base: &TempDir, list: &str) -> Result<PathBuf, Error> {
        let first = Electorate::first(seats(list).iter().map(|seat| seat.id));
        let node = seats(list)[0].id;
        let disk = open(base.path(), &group_of(list), node, &first, 1)?;
        if disk.entries()?.is_empty() {
            disk.keep([&Entry::Electorate(first)])?;
        }
        Ok(disk.path().to_owned())
    }

    fn base() -> TempDir {
        tempfile::tempdir().expect("a folder")
    }

    #[test]
    fn a_second_group_does_not_take_up_the_promises_of_the_first() {
        let base = base();
        let first = start(&base, "127.0.0.1:7600").expect("alone");
        let second = start(&base, "127.0.0.1:7600,127.0.0.1:7601,127.0.0.1:7602");
        let error = second.expect_err("it would lead alone").to_string();
        let folder = first.parent().expect("a folder").display().to_string();
        assert!(error.contains(&format!("data={folder}")), "{error}");
        // Another address has nothing to do with it, and the first goes on.
        start(&base, "127.0.0.1:7601,127.0.0.1:7600").expect("a group of its own");
        assert_eq!(start(&base, "127.0.0.1:7600").expect("as before"), first);
    }

    #[test]
    fn the_order_of_a_list_does_not_matter() {
        assert_eq!(group_of("a:1,b:1,c:1"), group_of("c:1,a:1,b:1"));
        assert_ne!(group_of("a:1,b:1,c:1"), group_of("a:1,b:1"));
    }

    #[test]
    fn promises_of_the_same_voters_are_found_wherever_they_are() {
        let (base, list) = (base(), "a:1,b:1,c:1");
        let path = start(&base, list).expect("new");
        // As it was before there was a folder for each group.
        let old = base.path().join(path.file_name().expect("a name"));
        std::fs::rename(&path, &old).expect("moved");
        assert_eq!(start(&base, list).expect("found"), old);
        assert!(start(&base, "a:1,b:1,c:1,d:1").is_err(), "that might be another group");
    }

    #[test]
    fn a_list_that_follows_a_change_of_the_voters_finds_its_promises() {
        let base = base();
        let path = start(&base, "a:1,b:1,c:1").expect("new");
        // `voters add` and `voters remove` since.
        let now = Electorate::first(seats("a:1,b:1,d:1").iter().map(|seat| seat.id));
        let disk = Disk::open(&path, seats("a:1")[0].id, 1).expect("there");
        disk.keep([&Entry::Electorate(now)]).expect("kept");
        drop(disk);
        assert_eq!(start(&base, "a:1,d:1,b:1").expect("found"), path);
        assert_eq!(start(&base, "a:1,b:1,c:1").expect("the old list, too"), path);
    }
}
