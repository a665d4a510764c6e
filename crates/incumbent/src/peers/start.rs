//! How a node is put together: its number, its ear, its voter, its task.
//!
//! Assumes: a runtime.
//! Promises: a process that votes opens its file before anybody hears of it; one that only looks
//! neither listens nor votes.

use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use incumbent_protocol::caucus::{self, Rejoin};
use incumbent_protocol::detector::{self, Detector};
use incumbent_protocol::group::Manner;
use incumbent_protocol::identity::CandidateId;
use incumbent_protocol::node::NodeId;
use incumbent_protocol::ratify::Electorate;
use incumbent_protocol::rules::Timing;
use incumbent_protocol::{bully, ring};
use tokio::sync::mpsc;

use super::address::Seat;
use super::booth::Booth;
use super::disk::Disk;
use super::folder;
use super::hello::Hello;
use super::hints::Hints;
use super::links::{Limits, Links, Settings};
use super::message::Message;
use super::node::{Node, Word};
use super::numbers::Numbers;
use super::place::{Detection, Place, Sitting};
use super::quorum::Quorum;
use super::secret::Secret;
use super::store::{Parts, Store};
use super::task::{State, Task};
use super::way::Scheme;
use crate::error::Error;

/// Longest message: as many elections as travel together, at their longest.
const MESSAGE_MAX: usize = 8 << 20;

/// Rings that wait to be heard. More of them would say nothing new.
const RINGS: usize = 4;

/// Opens elections among peers; to contend in them, or only to look.
pub(crate) async fn open(
    place: &Place,
    me: CandidateId,
    timing: &Timing,
    contends: bool,
) -> Result<Store, Error> {
    let seats = place.seats().await?;
    let secret = secret(place, &seats)?;
    if contends {
        secret.warn_if_short();
    }
    let electorate = Electorate::first(place.voters(&seats));
    let sitting = if contends { Some(place.sit(&seats).await?) } else { None };
    let node = match &sitting {
        Some(sitting) => sitting.seat.id,
        None => NodeId::given(me.incarnation.bits()),
    };
    let disk = match &sitting {
        // Whoever has an address that stays may come to vote.
        Some(sitting) if sitting.stays => Some(disk(place, &seats, sitting).await?),
        _ => None,
    };
    let (address, listener) = match sitting {
        Some(Sitting { seat, listener, .. }) => (Some(seat.address), Some(listener)),
        None => (None, None),
    };
    let hello = Hello::new(node, me.incarnation, me.name.to_string(), address.clone());
    let hello = if contends { hello.by(place.way()) } else { hello };
    let limits = Limits { message: MESSAGE_MAX, ..Limits::default() };
    let numbers = Numbers::of(&me.name);
    let settings = Settings { hello, listener, secret, limits, numbers: numbers.clone() };
    let (links, events) = Links::start(settings);
    for seat in seats.iter().filter(|seat| seat.id != node) {
        links.keep(&seat.address);
    }
    let names = seats.iter().map(|seat| (seat.id, seat.address.clone())).collect();
    let (say, words) = mpsc::unbounded_channel();
    let handle = Node::new(say, numbers.clone());
    let booth = disk.map(|disk| voter(node, &electorate, disk, &links, &handle)).transpose()?;
    let (rings, rung) = mpsc::channel(RINGS);
    let (nominations, nominated) = mpsc::unbounded_channel();
    let task = Task {
        me: me.clone(),
        node,
        address,
        seats,
        links,
        events,
        words,
        booth,
        electorate: electorate.clone(),
        detector: detector(place)?,
        manner: manner(place, timing)?,
        numbers,
        rings,
        nominations,
        state: State::new(),
    };
    tokio::spawn(task.run());
    let quorum = Quorum::new(handle.clone(), electorate, names, me.incarnation);
    let hints = place.unratified.then(|| Hints::new(handle.clone(), me, *timing.rules()));
    let preempts = place.rejoin == Rejoin::Preempting && !place.unratified;
    let (node, rings, nominations) = (handle, rung, nominated);
    Ok(Store::new(Parts { node, quorum, hints, rings, nominations, contends, preempts }))
}

/// Starts the voter. What it answers goes to whoever asked, this process included.
fn voter(
    node: NodeId,
    electorate: &Electorate,
    disk: Disk,
    links: &Links<Message>,
    handle: &Node,
) -> Result<Booth, Error> {
    let (links, say) = (links.clone(), handle.downgrade());
    let numbers = handle.numbers().clone();
    Booth::open(node, electorate.clone(), disk, numbers, move |to, message| {
        if to != node {
            links.send(to, &message);
        } else if let Some(say) = say.upgrade() {
            let _ = say.send(Word::Heard(message));
        }
    })
}

fn detector(place: &Place) -> Result<Detector, Error> {
    let manner = match place.detection {
        Detection::Phi => detector::Manner::of_phi(place.heartbeat),
        Detection::Timeout => detector::Manner::of_timeout(place.heartbeat),
    };
    manner.map(Detector::new).map_err(|error| place.wrong(error.to_string()))
}

fn manner(place: &Place, timing: &Timing) -> Result<Manner, Error> {
    let algorithm = match place.scheme {
        Scheme::Ring => ring::Timeouts::of_message_time(place.message).map(caucus::Manner::Ring),
        Scheme::Bully => bully::Timeouts::of_message_time(place.message).map(caucus::Manner::Bully),
    };
    let algorithm = algorithm.map_err(|error| place.wrong(error.to_string()))?;
    // A nominee may have to wait for the lease of its predecessor.
    let patience = timing.rules().lease() * 2;
    Ok(Manner { algorithm, rejoin: place.rejoin, patience, unratified: place.unratified })
}

/// Opens the promises: in the folder that is given, or in that of the group.
async fn disk(place: &Place, seats: &[Seat], sitting: &Sitting) -> Result<Disk, Error> {
    let base = folder::base(place)?;
    folder::make(&base)?;
    let (node, lineage) = (sitting.seat.id, random().map_err(Error::Store)?);
    let group = place.data.is_none().then(|| folder::group(place, seats));
    let first = Electorate::first(place.voters(seats));
    let open = move || match group {
        Some(group) => folder::open(&base, &group, node, &first, lineage),
        None => Disk::open(&base.join(folder::name(node)), node, lineage),
    };
    let opened = tokio::task::spawn_blocking(open).await;
    opened.map_err(|error| Error::Store(format!("the promises cannot be read: {error}")))?
}

/// The secret of the cluster: as given, or one for this machine alone.
fn secret(place: &Place, seats: &[Seat]) -> Result<Secret, Error> {
    if let Some(secret) = &place.secret {
        return Ok(secret.clone());
    }
    if let Some(file) = &place.secret_file {
        return Secret::from_file(file).map_err(|error| place.wrong(error.to_string()));
    }
    if !seats.iter().all(is_local) {
        let problem = "peers on several machines need one in common, and none was given: make one with `incumbent secret`, \
             and give it to each of them by INCUMBENT_SECRET, --secret-file or secret-file= in the URL";
        return Err(Error::Setting { setting: "secret", problem: problem.to_owned() });
    }
    let folder = folder::base(place)?;
    folder::make(&folder)?;
    own_secret(&folder.join("secret")).map_err(|problem| place.wrong(problem))
}

/// Whether a seat can be on this machine only.
fn is_local(seat: &Seat) -> bool {
    let host = seat.address.rsplit_once(':').map_or(seat.address.as_str(), |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// The secret that peers on one machine share. The first of them makes it, all at once or not at
/// all.
fn own_secret(file: &Path) -> Result<Secret, String> {
    if !file.exists() {
        let text = Secret::generate().map_err(|error| error.to_string())?;
        // Nobody else's draft: another backend of this very process may be at it too.
        let draft = file.with_extension(format!("draft-{:016x}", random()?));
        let trouble = |error: std::io::Error| format!("{}: {error}", file.display());
        let mut options = std::fs::OpenOptions::new();
        let made = options.write(true).create_new(true).mode(0o600).open(&draft);
        made.and_then(|mut made| std::io::Write::write_all(&mut made, text.as_bytes()))
            .map_err(trouble)?;
        // Another process may have been faster: then its secret counts.
        let linked = std::fs::hard_link(&draft, file);
        let _ = std::fs::remove_file(&draft);
        match linked {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(trouble(error));
            }
            _ => {}
        }
    }
    Secret::from_file(file).map_err(|error| error.to_string())
}

fn random() -> Result<u128, String> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits)
        .map_err(|error| format!("the system gives no random numbers: {error}"))?;
    Ok(u128::from_le_bytes(bits))
}
