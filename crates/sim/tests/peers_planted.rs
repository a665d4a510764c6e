//! Mistakes on purpose among peers: each is caught, by a judge of a world or, where ratification keeps
//! it from doing harm, where it shows: in whom a run picks, in what a run costs, in what a detector says.

use incumbent_protocol::bully::{self, Bully};
use incumbent_protocol::caucus::Rejoin;
use incumbent_protocol::detector::{self, Detector};
use incumbent_protocol::identity::Incarnation;
use incumbent_protocol::node::NodeId;
use incumbent_protocol::nomination::{Effect, Input, Notice, Run};
use incumbent_protocol::planted::{Bug, while_planted};
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::ratify::amend::{Answer, Change, Charter, Question};
use incumbent_protocol::ratify::proposal::Proposer;
use incumbent_protocol::ratify::{Amendment, Ask, Ballot, Electorate, Reply, Step, Voter};
use incumbent_protocol::ring::{self, Ring};
use incumbent_protocol::time::Time;
use incumbent_sim::clock::SECOND;
use incumbent_sim::lab;
use incumbent_sim::model::explore;
use incumbent_sim::model::ratify::Setup;
use incumbent_sim::peers::fault::{Fault, Kind};
use incumbent_sim::peers::story::{Algorithm, Numbers};
use incumbent_sim::peers::{Story, run};
use incumbent_sim::scribe::Keep;

/// Most worlds that a mistake may take until it is caught.
const MOST: u64 = 300;

/// Where a mistake is caught.
enum Caught {
    /// By one of these judges, in worlds in which only this goes wrong.
    World(Algorithm, &'static [Kind], &'static [&'static str]),
    /// By one of these judges, in the worlds that are drawn for everybody.
    Drawn(Algorithm, &'static [&'static str]),
    /// By one of these judges, in worlds that are told by hand.
    Told(fn(u64) -> Story, &'static [&'static str]),
    /// In all states of a small world of ratification.
    Explored(Setup),
    /// By what a test below looks at.
    Elsewhere(fn()),
}

use Caught::{Drawn, Elsewhere, Explored, Told, World};

fn net(bug: Bug) -> Caught {
    use Algorithm::{Bully, Ring};
    let leases: &[&str] = &["at_most_one_lease", "token_growth"];
    match bug {
        Bug::Unratified => World(Bully, &[Kind::Split, Kind::Cut], leases),
        Bug::HalfIsEnough => World(Ring, &[Kind::Split, Kind::Cut], leases),
        Bug::PromiseNotKept => Told(most_restart_while_one_leads, leases),
        Bug::BallotIgnored => World(
            Bully,
            &[Kind::Delay, Kind::Reorder, Kind::Pause, Kind::PauseLeader, Kind::Takeover],
            leases,
        ),
        Bug::BallotReused => Elsewhere(two_attempts_of_one_ballot),
        Bug::LineageIgnored => Told(two_lose_their_disks_while_one_leads, leases),
        Bug::OldElectorate => World(
            Bully,
            &[
                Kind::AddVoter,
                Kind::RemoveVoter,
                Kind::AddVoter,
                Kind::RemoveVoter,
                Kind::Split,
                Kind::Cut,
                Kind::Delay,
            ],
            leases,
        ),
        Bug::SettledTooSoon | Bug::LastRegisterLeft => Explored(replaced()),
        Bug::UnchosenElectorate => Elsewhere(an_electorate_is_used_at_once),
        Bug::UnheededAccept => Explored(Setup::new(3, &[1, 1, 1])),
        Bug::AnyValue => World(
            Bully,
            &[Kind::Split, Kind::Cut, Kind::Loss, Kind::Delay, Kind::PauseLeader, Kind::Takeover],
            leases,
        ),
        Bug::HeedForgotten => Explored(Setup { crashes: 1, ..Setup::new(1, &[1, 1]) }),
        Bug::ShortcutReused => Explored(Setup { at_once: true, ..Setup::new(1, &[3]) }),
        Bug::RefusalCounted => Explored(Setup::new(3, &[1, 1])),
        Bug::UnfitProclaims => Elsewhere(one_that_may_not_be_picked_is),
        Bug::LowerStands => Elsewhere(the_lower_of_two_nominees_stands),
        Bug::NumberTwice => Elsewhere(a_number_goes_by_twice),
        Bug::StandstillCounts => Elsewhere(whoever_stood_still_suspects_others),
        Bug::BlockedForGood => {
            World(Ring, &[Kind::CrashLeader, Kind::Resign, Kind::Cut], &["eventual_leader"])
        }
        Bug::IdsAsText => Elsewhere(nine_leads),
        Bug::ForwardsSmaller => Elsewhere(a_run_costs_more),
        Bug::ElectedAtFirst => Elsewhere(a_run_costs_less),
        Bug::DeadNeighbour => Elsewhere(a_ring_stops_at_the_dead),
        Bug::NoCoordinatorTimeout => Elsewhere(nobody_is_picked),
        Bug::StaleCoordinator => Elsewhere(an_old_coordinator_counts),
        Bug::LateReply => Elsewhere(a_late_answer_counts),
        Bug::OutdatedOnce => Drawn(Ring, &["all_answers_suffice"]),
        Bug::RefusalNotKept => Drawn(Ring, &["eventual_leader"]),
        _ => unreachable!("{bug:?} is not of peers"),
    }
}

/// One voter becomes two becomes another one, while two write.
fn replaced() -> Setup {
    const CHANGES: &[Change] = &[Change::Add(NodeId::given(1)), Change::Remove(NodeId::given(0))];
    Setup { nodes: 2, changes: CHANGES, learns: true, retries: 1, ..Setup::new(1, &[1, 1]) }
}

fn assert_caught(bug: Bug) {
    assert_caught_by(bug, &net(bug));
}

fn assert_caught_by(bug: Bug, net: &Caught) {
    let promises = match net {
        World(_, _, promises) | Drawn(_, promises) | Told(_, promises) => *promises,
        Elsewhere(shows) => return shows(),
        Explored(setup) => {
            assert_eq!(explore(setup).problem, None);
            let found = while_planted(bug, || explore(setup)).problem;
            assert!(found.is_some(), "{} is in no state", bug.as_str());
            return;
        }
    };
    for seed in 0..MOST {
        let story = match net {
            World(algorithm, kinds, _) => Story::among(*algorithm, seed, 180 * SECOND, kinds),
            Drawn(algorithm, _) => Story::of(*algorithm, seed, 240 * SECOND),
            Told(story, _) => story(seed),
            Elsewhere(_) | Explored(_) => return,
        };
        let run = run(&story, Some(bug), Keep::default()).expect("the story can be told");
        let mut told = run.report.violations.iter();
        if let Some(violation) = told.find(|violation| promises.contains(&violation.property)) {
            #[expect(clippy::print_stdout, reason = "which seed it was is for people to read")]
            {
                println!("{}: seed {seed} breaks {}", bug.as_str(), violation.property);
            }
            return;
        }
    }
    panic!("{} broke none of {promises:?} in {MOST} worlds", bug.as_str());
}

macro_rules! caught {
    ($($name:ident: $bug:expr;)+) => {
        $(
            #[test]
            fn $name() {
                assert_caught($bug);
            }
        )+

        #[test]
        fn every_mistake_of_peers_has_a_test() {
            let tested = [$($bug),+];
            assert!(Bug::OF_PEERS.iter().all(|bug| tested.contains(bug)));
        }
    };
}

caught! {
    a_voter_that_accepts_and_heeds_nothing_is_caught: Bug::UnheededAccept;
    a_proposer_that_takes_any_value_is_caught: Bug::AnyValue;
    a_voter_that_forgets_what_it_heeds_is_caught: Bug::HeedForgotten;
    a_shortcut_taken_twice_is_caught: Bug::ShortcutReused;
    a_register_that_is_not_rewritten_is_caught: Bug::LastRegisterLeft;
    a_refusal_counted_as_a_vote_is_caught: Bug::RefusalCounted;
    a_bully_that_may_not_be_picked_is_caught: Bug::UnfitProclaims;
    a_ring_in_which_the_lower_nominee_stands_is_caught: Bug::LowerStands;
    a_ring_in_which_a_number_goes_by_twice_is_caught: Bug::NumberTwice;
    a_detector_that_blames_others_for_its_standstill_is_caught: Bug::StandstillCounts;
    a_leader_without_a_majority_is_caught: Bug::Unratified;
    half_of_the_voters_taken_for_a_majority_are_caught: Bug::HalfIsEnough;
    a_promise_that_was_not_kept_is_caught: Bug::PromiseNotKept;
    a_ballot_accepted_below_the_one_heeded_is_caught: Bug::BallotIgnored;
    a_ballot_used_for_two_attempts_is_caught: Bug::BallotReused;
    a_voter_with_another_disk_is_caught: Bug::LineageIgnored;
    an_answer_to_a_replaced_electorate_is_caught: Bug::OldElectorate;
    an_electorate_settled_too_soon_is_caught: Bug::SettledTooSoon;
    an_electorate_used_before_it_was_chosen_is_caught: Bug::UnchosenElectorate;
    a_ring_that_stays_blocked_is_caught: Bug::BlockedForGood;
    numbers_compared_as_text_are_caught: Bug::IdsAsText;
    a_ring_that_forwards_smaller_numbers_is_caught: Bug::ForwardsSmaller;
    a_ring_that_proclaims_at_once_is_caught: Bug::ElectedAtFirst;
    a_ring_that_waits_for_the_dead_is_caught: Bug::DeadNeighbour;
    a_bully_that_waits_for_ever_is_caught: Bug::NoCoordinatorTimeout;
    a_coordinator_of_an_old_run_is_caught: Bug::StaleCoordinator;
    an_answer_that_comes_too_late_is_caught: Bug::LateReply;
    a_beat_that_waits_for_former_voters_is_caught: Bug::OutdatedOnce;
    a_refusal_that_no_majority_keeps_is_caught: Bug::RefusalNotKept;
}

/// What is caught in small worlds is caught in the large ones too, which are drawn for everybody.
#[test]
fn drawn_worlds_catch_what_breaks_a_majority_or_the_order_of_values() {
    let leases: &[&str] = &["at_most_one_lease", "token_growth"];
    assert_caught_by(Bug::AnyValue, &Drawn(Algorithm::Ring, leases));
    assert_caught_by(Bug::RefusalCounted, &Drawn(Algorithm::Bully, leases));
    assert_caught_by(Bug::HalfIsEnough, &Drawn(Algorithm::Ring, leases));
    assert_caught_by(Bug::Unratified, &Drawn(Algorithm::Ring, leases));
}

fn node(number: u128) -> NodeId {
    NodeId::given(number)
}

fn fault(millis: u64, kind: Kind, target: usize, span: u64) -> Fault {
    Fault { at: millis * 1_000_000, kind, target, span: span * 1_000_000, level: 0 }
}

/// When somebody comes to lead for the nth time, in milliseconds, and which node.
fn gained(story: &Story, nth: usize) -> (u64, usize) {
    gained_with(None, story, nth)
}

fn gained_with(bug: Option<Bug>, story: &Story, nth: usize) -> (u64, usize) {
    let keep = Keep { history: true, trace: false };
    let history = run(story, bug, keep).expect("the story can be told").history;
    let mut lines = history.lines().filter(|line| line.contains("\"gained\""));
    let line = lines.nth(nth).expect("a leader");
    let digits = line.bytes().skip("{\"at\":".len()).take_while(u8::is_ascii_digit);
    let nanos = digits.fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
    let leads = |node: &usize| line.contains(&format!("\"node-{node}\""));
    (nanos / 1_000_000, (0..story.setting.nodes).find(leads).expect("one of the nodes"))
}

/// The leader is cut off, and at once three of the other four are killed and come back.
fn most_restart_while_one_leads(seed: u64) -> Story {
    let mut story = Story::plain(Algorithm::Bully, seed, 5, 60 * SECOND);
    let (_, leader) = gained(&story, 0);
    story.faults = vec![fault(20_000, Kind::Cut, leader, 8_000)];
    let others = (0..5).filter(|&node| node != leader).take(3);
    story.faults.extend(others.map(|node| fault(20_010, Kind::Crash, node, 20)));
    story
}

/// A leader lets go. While the next one is elected, two nodes are cut off; then the two others who
/// voted for it lose their disks, and it is cut off itself.
fn two_lose_their_disks_while_one_leads(seed: u64) -> Story {
    let mut story = Story::plain(Algorithm::Bully, seed, 5, 60 * SECOND);
    story.faults = vec![fault(20_000, Kind::Resign, 0, 0)];
    let (at, leader) = gained(&story, 1);
    if leader < 2 {
        return story; // Nothing is to be seen with this seed.
    }
    // Just before the votes for the next one are cast.
    story.faults.push(fault(at - 1 - seed % 5, Kind::Cut, 0, 60));
    story.faults.push(fault(at - 1 - seed % 5, Kind::Cut, 1, 60));
    let others = (2..5).filter(|&node| node != leader);
    story.faults.extend(others.map(|node| fault(at + 60, Kind::DiskLost, node, 20)));
    story.faults.push(fault(at + 59, Kind::Cut, leader, 8_000));
    story.faults.sort_by_key(|fault| fault.at);
    story
}

/// An attempt that a voter heeds in advance is no other attempt.
fn two_attempts_of_one_ballot() {
    let ballots = || {
        let electorate = Electorate::first([node(1)]);
        let mut proposer: Proposer<u8, u8> = Proposer::new(Incarnation::from_random(7));
        let mut first = proposer.attempt(&electorate);
        assert_eq!(first.hear(node(1), Reply::Shown(None)), Step::Decide(None));
        first.propose(1);
        assert_eq!(first.hear(node(1), Reply::Accepted), Step::Chosen);
        proposer.chosen(0, &first, 1);
        let fresh = proposer.attempt(&electorate);
        let (short, _) = proposer.shortcut(&0, &electorate).expect("it was the last to write");
        (fresh.ballot(), short.ballot())
    };
    let (fresh, short) = ballots();
    assert_ne!(fresh, short);
    let (fresh, short) = while_planted(Bug::BallotReused, ballots);
    assert_eq!(fresh, short);
}

/// Of 8, 9, 10 and 11 the highest that is left follows a leader that died, unless they are compared as
/// text.
fn nine_leads() {
    let mut story = Story::plain(Algorithm::Bully, 2, 4, 60 * SECOND);
    story.setting.numbers = Numbers::From(8);
    let (_, first) = gained(&story, 0);
    story.faults = vec![fault(20_000, Kind::Crash, first, 20_000)];
    let highest = (0..4).rfind(|node| *node != first).expect("three are left");
    assert_eq!(gained(&story, 1).1, highest);
    assert_ne!(gained_with(Some(Bug::IdsAsText), &story, 1).1, highest);
}

/// Whether a run in a lab costs what theory says.
fn costs_what_it_should(setting: &lab::Setting) -> bool {
    let theory = lab::Theory::of(setting).expect("a formula applies");
    let counts = lab::run(setting).expect("a good setting").trace.counts();
    let measured = |kind| counts.get(kind).copied().unwrap_or(0);
    theory.counts.iter().all(|(kind, count)| measured(kind) == *count)
}

fn costs_otherwise(bug: Bug, setting: &lab::Setting) {
    assert!(costs_what_it_should(setting));
    assert!(!while_planted(bug, || costs_what_it_should(setting)));
}

fn a_run_costs_more() {
    // All begin at once: whoever meets a smaller number must swallow it.
    let mut setting = lab::Case::Worst.setting(lab::Manner::Ring, Some(6), 0);
    setting.initiators = setting.nodes.iter().map(|node| (*node, 0)).collect();
    let sent = || lab::run(&setting).expect("a good setting").trace.letters.len();
    let (right, wrong) = (sent(), while_planted(Bug::ForwardsSmaller, sent));
    assert!(wrong > right, "{wrong} messages instead of {right}");
}

fn a_run_costs_less() {
    costs_otherwise(Bug::ElectedAtFirst, &lab::Case::Worst.setting(lab::Manner::Ring, Some(6), 0));
}

/// Whether a run in a lab picks somebody.
fn picks(setting: &lab::Setting) -> bool {
    lab::run(setting).expect("a good setting").agreed().is_some()
}

fn a_ring_stops_at_the_dead() {
    let mut setting = lab::Case::Worst.setting(lab::Manner::Ring, Some(5), 0);
    let begins = setting.initiators[0].0;
    let at = setting.nodes.iter().position(|node| *node == begins).expect("it takes part");
    let neighbour = setting.nodes[(at + 1) % setting.nodes.len()];
    setting.failures = vec![(neighbour, 0)];
    assert!(picks(&setting));
    assert!(!while_planted(Bug::DeadNeighbour, || picks(&setting)));
}

fn nobody_is_picked() {
    // Whoever answers dies before it can say that it was picked.
    let mut setting = lab::Case::Example.setting(lab::Manner::Bully, None, 0);
    setting.failures.push((node(4), lab::MESSAGE_TIME * 3 / 2));
    setting.failures.push((node(5), lab::MESSAGE_TIME * 3 / 2));
    assert!(picks(&setting));
    assert!(!while_planted(Bug::NoCoordinatorTimeout, || picks(&setting)));
}

fn an_old_coordinator_counts() {
    let last_pick = || {
        let timeouts = bully::Timeouts::of_message_time(core::time::Duration::from_millis(50));
        let mut bully = Bully::new(node(2), timeouts.expect("long enough"), Rejoin::Sticky);
        bully.handle(Time::ZERO, Input::Nodes([1, 2, 3, 4].map(node).to_vec()));
        for (from, run) in [(3, 5), (4, 1)] {
            let message = bully::Message::Coordinator { run: Run(run) };
            bully.handle(Time::ZERO, Input::Message { from: node(from), message });
        }
        let picks = core::iter::from_fn(|| bully.poll_notice()).filter_map(|notice| match notice {
            Notice::Picked { nominee, .. } => Some(nominee),
            Notice::Began { .. } => None,
        });
        picks.last()
    };
    assert_eq!(last_pick(), Some(node(3)));
    assert_eq!(while_planted(Bug::StaleCoordinator, last_pick), Some(node(4)));
}

fn a_late_answer_counts() {
    let trusts = || {
        let mut detector = Detector::new(detector::Manner::default());
        detector.handle(Time::ZERO, detector::Input::Watch([node(2)].into()));
        let sent = detector.poll_effect();
        let Some(detector::Effect::Send { message: detector::Message::Ping(first), .. }) = sent
        else {
            panic!("it pings at once: {sent:?}");
        };
        for millis in (100..=1_000).step_by(100) {
            detector.handle(Time::from_nanos(millis * 1_000_000), detector::Input::Wake);
        }
        let message = detector::Message::Pong(first);
        let late = detector::Input::Message { from: node(2), message };
        detector.handle(Time::from_nanos(1_010_000_000), late);
        let mut notices = core::iter::from_fn(|| detector.poll_notice());
        assert_eq!(notices.next(), Some(detector::Notice::Suspected(node(2))));
        notices.next() == Some(detector::Notice::Trusted(node(2)))
    };
    assert!(!trusts());
    assert!(while_planted(Bug::LateReply, trusts));
}

/// What the only register of these voters holds: who votes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Paper(Electorate);

impl Charter for Paper {
    fn of(electorate: Electorate) -> Self {
        Paper(electorate)
    }

    fn electorate(&self) -> Option<&Electorate> {
        Some(&self.0)
    }
}

type Voters = Vec<(NodeId, Voter<u8, Paper>)>;

fn voters(first: &Electorate) -> Voters {
    [1, 2, 3, 4].map(|number| (node(number), Voter::new(node(number), first.clone()))).into()
}

fn ask(voter: &mut Voter<u8, Paper>, electorate: &Electorate, key: u8, ask: Ask<Paper>) {
    let promise = voter.handle(electorate, vec![(key, ask)]);
    promise.keep(|_| Ok::<(), ()>(())).expect("it is kept in memory");
}

/// Puts the present question of a change to everybody once.
fn put(amendment: &mut Amendment<u8, Paper>, voters: &mut Voters) -> bool {
    let Some((serial, question)) = amendment.question() else { return false };
    let (electorate, whom) = (amendment.electorate().clone(), amendment.whom());
    for (from, voter) in voters.iter_mut().filter(|(node, _)| whom.contains(node)) {
        let answer = match question.clone() {
            Question::List => {
                let kept = voter.list(&electorate).keep(|_| Ok::<(), ()>(()));
                Answer::Inventory(kept.expect("it is kept in memory"))
            }
            Question::Asks(asks) => {
                let kept = voter.handle(&electorate, asks).keep(|_| Ok::<(), ()>(()));
                Answer::Replies(kept.expect("it is kept in memory"))
            }
        };
        let _ = amendment.hear(*from, serial, answer);
    }
    true
}

/// Whom a node picked, one after the other.
fn picked<M>(protocol: &mut impl Protocol<Input = Input<M>, Notice = Notice>) -> Option<NodeId> {
    let picks = core::iter::from_fn(|| protocol.poll_notice()).filter_map(|notice| match notice {
        Notice::Picked { nominee, .. } => Some(nominee),
        Notice::Began { .. } => None,
    });
    picks.last()
}

fn one_that_may_not_be_picked_is() {
    let picks = || {
        let timeouts = bully::Timeouts::of_message_time(core::time::Duration::from_millis(50));
        let mut bully = Bully::new(node(2), timeouts.expect("long enough"), Rejoin::Sticky);
        bully.begin(Time::ZERO);
        for input in [Input::Nodes(vec![node(2)]), Input::Eligible(false), Input::Vacant] {
            bully.handle(Time::ZERO, input);
        }
        while let Some(at) = bully.wake_at().filter(|at| at.as_nanos() < 10_000_000_000) {
            bully.handle(at, Input::Wake);
        }
        picked(&mut bully)
    };
    assert_eq!(picks(), None);
    assert_eq!(while_planted(Bug::UnfitProclaims, picks), Some(node(2)));
}

fn ring_of_four() -> Ring {
    let timeouts = ring::Timeouts::of_message_time(core::time::Duration::from_millis(50));
    let mut ring = Ring::new(node(2), timeouts.expect("long enough"), Rejoin::Sticky);
    ring.begin(Time::ZERO);
    ring.handle(Time::ZERO, Input::Nodes([1, 2, 3, 4].map(node).to_vec()));
    ring
}

fn the_lower_of_two_nominees_stands() {
    let last_pick = || {
        let mut ring = ring_of_four();
        for nominee in [3, 4] {
            let word = ring::Word::Elected { run: Run(1), nominee: node(nominee) };
            let message = ring::Message::Hop(word);
            ring.handle(Time::ZERO, Input::Message { from: node(1), message });
        }
        picked(&mut ring)
    };
    assert_eq!(last_pick(), Some(node(4)));
    assert_eq!(while_planted(Bug::LowerStands, last_pick), Some(node(3)));
}

fn a_number_goes_by_twice() {
    let passed = || {
        let mut ring = ring_of_four();
        let word = ring::Word::Election { run: Run(1), best: Some(node(3)) };
        for from in [1, 4] {
            let message = ring::Message::Hop(word);
            ring.handle(Time::ZERO, Input::Message { from: node(from), message });
        }
        let sent = core::iter::from_fn(|| ring.poll_effect()).filter(|effect| {
            let Effect::Send { message, .. } = effect;
            *message == ring::Message::Hop(word)
        });
        sent.count()
    };
    assert_eq!(passed(), 1);
    assert_eq!(while_planted(Bug::NumberTwice, passed), 2);
}

fn whoever_stood_still_suspects_others() {
    let suspects = || {
        let mut detector = Detector::new(detector::Manner::default());
        detector.handle(Time::ZERO, detector::Input::Watch([node(2)].into()));
        // It did not run for a minute.
        detector.handle(Time::from_nanos(60_000_000_000), detector::Input::Wake);
        detector.poll_notice().is_some()
    };
    assert!(!suspects());
    assert!(while_planted(Bug::StandstillCounts, suspects));
}

/// An electorate that one voter accepted may never have been chosen: it is chosen first.
fn an_electorate_is_used_at_once() {
    let asks_under = || {
        let first = Electorate::first([1, 2, 3].map(node));
        let mut voters = voters(&first);
        let next = first.with(node(4)).expect("it does not vote yet");
        let writer = Ballot::first(Incarnation::from_random(1));
        ask(&mut voters[0].1, &first, 0, Ask::Accept(writer, Paper(next)));
        let operator = Incarnation::from_random(2);
        let mut amendment = Amendment::new(operator, 0, first, Change::Complete);
        for _ in 0..8 {
            // Until a majority has shown what it accepted. It heeds after the first was overruled.
            put(&mut amendment, &mut voters);
            if amendment.electorate().number() > 0 {
                break;
            }
            let accepts = |asks: &[(u8, Ask<Paper>)]| matches!(asks, [(_, Ask::Accept(..))]);
            if amendment
                .question()
                .is_some_and(|(_, it)| matches!(it, Question::Asks(asks) if accepts(&asks)))
            {
                return amendment.electorate().number();
            }
        }
        amendment.electorate().number()
    };
    assert_eq!(asks_under(), 0);
    assert_eq!(while_planted(Bug::UnchosenElectorate, asks_under), 1);
}
