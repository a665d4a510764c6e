//! Mistakes on purpose, so that tests can show that they would be noticed.
//!
//! Assumes: the feature `planted`, which is off by default and refused in a build without debug
//! assertions, so that no released program can hold a mistake. Without it everything here is a
//! constant `false` that costs nothing.
//! Promises: at most one mistake at a time, in one thread, for as long as a test asks.

#[cfg(all(feature = "planted", not(debug_assertions)))]
compile_error!(
    "the feature `planted` puts mistakes into the protocol on purpose: it is for tests and must not be in a release build"
);

/// Whether this build can make mistakes.
pub const AVAILABLE: bool = cfg!(feature = "planted");

/// A mistake that people have made elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// A leader is suspected after so many reads instead of after so much time.
    CountedReads,
    /// Nothing is cut from the lease.
    NoMargin,
    /// A request of unknown outcome counts as refused.
    UnknownAsRefused,
    /// A request of unknown outcome counts as committed.
    UnknownAsCommitted,
    /// Terms are counted by each candidate for itself.
    LocalTerms,
    /// Whoever an operator chose goes on under the term before.
    TermReused,
    /// Candidates are told apart by their names alone.
    SameName,
    /// What was observed before a clock jumped still counts.
    JumpIgnored,
    /// A late answer brings back a lease that was lost.
    LeaseRevived,
    /// A candidate that was evicted takes its old place in line again.
    EvictedKeepsId,
    /// What operators have in force does not keep anybody from winning.
    ControlsIgnored,
    /// A shorter round is in force as soon as it is wished for.
    ShrunkAtOnce,
    /// That a store took the place of another does not speak against what it shows.
    ReplacementIgnored,
    /// Observers compare terms and beats alone, which a store that went back counts again: neither when
    /// a beat was made nor, after a renewal, that the store took the place of another.
    ReplacementForgotten,
    /// When a store went back, only the lease that its row names is waited for.
    LongestForgotten,
    /// A challenger waits for the shorter of its own lease and the leader's.
    ShorterLease,
    /// A term that an operator is ending can be renewed.
    EndingRenewed,
    /// Neither a pause nor a bar keeps whom the next term is reserved for from winning.
    ChosenUnbarred,
    /// Any order lifts a pause.
    PauseLifted,
    /// A bar without an end does not hold.
    CordonLapsed,
    /// A reserved term that was not let go of is kept for one lease instead of two.
    ReservedOnce,
    /// A reserved term that was let go of is not kept.
    ReleasedUnreserved,
    /// An order that names an older term is carried out.
    OlderTermOrdered,
    /// A preferred candidate asks for the place of a leader whose term has only begun.
    HoldDownIgnored,
    /// A hand-over that takes too long is left to itself.
    HandoverNotForced,
    /// A renewal that follows one of unknown outcome counts from its answer.
    RenewedFromAnswer,
    /// Nothing is cut from the first lease of a term.
    FirstUncut,
    /// A resignation of an old term ends a newer one of the same candidate.
    NewerResigned,
    /// A candidate bids while work of its last term may still run.
    BidWhileDraining,
    /// A released row is claimed at once, though the store went back.
    ReleasedAtOnce,
    /// A missing row is claimed at once, though a term was seen in the election.
    MissingAsFirst,
    /// A shorter round is in force once a lease of that round has passed.
    ShorterOutwaited,
    /// A shorter round is in force one round after it was announced.
    RoundOutwaited,
    /// A contender does not mind that VARS went back to an earlier pace.
    EarlierPaceClaimed,
    /// A term that was won too late to be of use is not given back.
    LateClaimKept,
    /// A leader is told of the loss when its lease ends, and not before.
    NoGrace,
    /// A suspicion counts against later beats of the same term.
    TermCovered,
    /// Nodes are compared as text, so that 9 is more than 10.
    IdsAsText,
    /// Half of the voters count as a majority.
    HalfIsEnough,
    /// A voter answers before it has kept its promise.
    PromiseNotKept,
    /// A voter answers an electorate that another one replaced.
    OldElectorate,
    /// A voter accepts a ballot below the one it heeds.
    BallotIgnored,
    /// A ballot that a voter heeds in advance can also be that of another attempt.
    BallotReused,
    /// An electorate is settled before registers were rewritten under it.
    SettledTooSoon,
    /// An electorate is used that was proposed and perhaps never chosen.
    UnchosenElectorate,
    /// A voter does not care which disk the electorate counts on.
    LineageIgnored,
    /// A ring's participant forwards a smaller number.
    ForwardsSmaller,
    /// A ring's node proclaims itself before its number came round.
    ElectedAtFirst,
    /// A bully's node waits for ever for a coordinator once somebody higher answered.
    NoCoordinatorTimeout,
    /// The coordinator of an old run counts as that of the newest.
    StaleCoordinator,
    /// A ring's node never passes over a dead neighbour.
    DeadNeighbour,
    /// A ring's node stays blocked after its first election.
    BlockedForGood,
    /// A late answer to a heartbeat counts for those that went unanswered.
    LateReply,
    /// A voter that accepts a ballot goes on accepting lower ones.
    UnheededAccept,
    /// A proposer goes on from the first value that it is shown, and not from the newest.
    AnyValue,
    /// A voter that starts again knows what it accepted, and not what it heeds.
    HeedForgotten,
    /// A shortcut can be taken again and again.
    ShortcutReused,
    /// When the voters changed, the last register is not rewritten.
    LastRegisterLeft,
    /// Once a voter accepted, those that refuse count as if they had.
    RefusalCounted,
    /// A bully's node that may not be picked proclaims itself.
    UnfitProclaims,
    /// Of two nominees of one run in a ring the lower one stands.
    LowerStands,
    /// A ring's node lets a number go by twice.
    NumberTwice,
    /// A detector that stood still itself suspects the others.
    StandstillCounts,
    /// A nominee takes itself for the leader without a majority: the first voter that answers is
    /// enough for it.
    Unratified,
    /// Of several registers in one message only the first that new voters answer counts as over.
    OutdatedOnce,
    /// What a bid was refused for is not kept by a majority before the refusal is told.
    RefusalNotKept,
}

impl Bug {
    /// Those that candidates on a database can make.
    pub const ALL: &'static [Bug] = &[
        Bug::CountedReads,
        Bug::NoMargin,
        Bug::UnknownAsRefused,
        Bug::UnknownAsCommitted,
        Bug::LocalTerms,
        Bug::TermReused,
        Bug::SameName,
        Bug::JumpIgnored,
        Bug::LeaseRevived,
        Bug::EvictedKeepsId,
        Bug::ControlsIgnored,
        Bug::ShrunkAtOnce,
        Bug::ReplacementIgnored,
        Bug::ReplacementForgotten,
        Bug::LongestForgotten,
        Bug::ShorterLease,
        Bug::EndingRenewed,
        Bug::ChosenUnbarred,
        Bug::PauseLifted,
        Bug::CordonLapsed,
        Bug::ReservedOnce,
        Bug::ReleasedUnreserved,
        Bug::OlderTermOrdered,
        Bug::HoldDownIgnored,
        Bug::HandoverNotForced,
        Bug::RenewedFromAnswer,
        Bug::FirstUncut,
        Bug::NewerResigned,
        Bug::BidWhileDraining,
        Bug::ReleasedAtOnce,
        Bug::MissingAsFirst,
        Bug::ShorterOutwaited,
        Bug::RoundOutwaited,
        Bug::EarlierPaceClaimed,
        Bug::LateClaimKept,
        Bug::NoGrace,
        Bug::TermCovered,
    ];

    /// Those of them that hardly ever show in drawn worlds, and are found in worlds of their own.
    pub const OF_OWN_WORLDS: &'static [Bug] =
        &[Bug::RenewedFromAnswer, Bug::MissingAsFirst, Bug::EarlierPaceClaimed];

    /// Those that only peers can make: in ring, bully and ratification.
    pub const OF_PEERS: &'static [Bug] = &[
        Bug::IdsAsText,
        Bug::HalfIsEnough,
        Bug::PromiseNotKept,
        Bug::OldElectorate,
        Bug::BallotIgnored,
        Bug::BallotReused,
        Bug::SettledTooSoon,
        Bug::UnchosenElectorate,
        Bug::LineageIgnored,
        Bug::ForwardsSmaller,
        Bug::ElectedAtFirst,
        Bug::NoCoordinatorTimeout,
        Bug::StaleCoordinator,
        Bug::DeadNeighbour,
        Bug::BlockedForGood,
        Bug::LateReply,
        Bug::UnheededAccept,
        Bug::AnyValue,
        Bug::HeedForgotten,
        Bug::ShortcutReused,
        Bug::LastRegisterLeft,
        Bug::RefusalCounted,
        Bug::UnfitProclaims,
        Bug::LowerStands,
        Bug::NumberTwice,
        Bug::StandstillCounts,
        Bug::Unratified,
        Bug::OutdatedOnce,
        Bug::RefusalNotKept,
    ];

    /// The word used in commands and ledgers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Bug::CountedReads => "counted_reads",
            Bug::NoMargin => "no_margin",
            Bug::UnknownAsRefused => "unknown_as_refused",
            Bug::UnknownAsCommitted => "unknown_as_committed",
            Bug::LocalTerms => "local_terms",
            Bug::TermReused => "term_reused",
            Bug::SameName => "same_name",
            Bug::JumpIgnored => "jump_ignored",
            Bug::LeaseRevived => "lease_revived",
            Bug::EvictedKeepsId => "evicted_keeps_id",
            Bug::ControlsIgnored => "controls_ignored",
            Bug::ShrunkAtOnce => "shrunk_at_once",
            Bug::ReplacementIgnored => "replacement_ignored",
            Bug::ReplacementForgotten => "replacement_forgotten",
            Bug::LongestForgotten => "longest_forgotten",
            Bug::ShorterLease => "shorter_lease",
            Bug::EndingRenewed => "ending_renewed",
            Bug::ChosenUnbarred => "chosen_unbarred",
            Bug::PauseLifted => "pause_lifted",
            Bug::CordonLapsed => "cordon_lapsed",
            Bug::ReservedOnce => "reserved_once",
            Bug::ReleasedUnreserved => "released_unreserved",
            Bug::OlderTermOrdered => "older_term_ordered",
            Bug::HoldDownIgnored => "hold_down_ignored",
            Bug::HandoverNotForced => "handover_not_forced",
            Bug::RenewedFromAnswer => "renewed_from_answer",
            Bug::FirstUncut => "first_uncut",
            Bug::NewerResigned => "newer_resigned",
            Bug::BidWhileDraining => "bid_while_draining",
            Bug::ReleasedAtOnce => "released_at_once",
            Bug::MissingAsFirst => "missing_as_first",
            Bug::ShorterOutwaited => "shorter_outwaited",
            Bug::RoundOutwaited => "round_outwaited",
            Bug::EarlierPaceClaimed => "earlier_pace_claimed",
            Bug::LateClaimKept => "late_claim_kept",
            Bug::NoGrace => "no_grace",
            Bug::TermCovered => "term_covered",
            Bug::IdsAsText => "ids_as_text",
            Bug::HalfIsEnough => "half_is_enough",
            Bug::PromiseNotKept => "promise_not_kept",
            Bug::OldElectorate => "old_electorate",
            Bug::BallotIgnored => "ballot_ignored",
            Bug::BallotReused => "ballot_reused",
            Bug::SettledTooSoon => "settled_too_soon",
            Bug::UnchosenElectorate => "unchosen_electorate",
            Bug::LineageIgnored => "lineage_ignored",
            Bug::ForwardsSmaller => "forwards_smaller",
            Bug::ElectedAtFirst => "elected_at_first",
            Bug::NoCoordinatorTimeout => "no_coordinator_timeout",
            Bug::StaleCoordinator => "stale_coordinator",
            Bug::DeadNeighbour => "dead_neighbour",
            Bug::BlockedForGood => "blocked_for_good",
            Bug::LateReply => "late_reply",
            Bug::UnheededAccept => "unheeded_accept",
            Bug::AnyValue => "any_value",
            Bug::HeedForgotten => "heed_forgotten",
            Bug::ShortcutReused => "shortcut_reused",
            Bug::LastRegisterLeft => "last_register_left",
            Bug::RefusalCounted => "refusal_counted",
            Bug::UnfitProclaims => "unfit_proclaims",
            Bug::LowerStands => "lower_stands",
            Bug::NumberTwice => "number_twice",
            Bug::StandstillCounts => "standstill_counts",
            Bug::Unratified => "unratified",
            Bug::OutdatedOnce => "outdated_once",
            Bug::RefusalNotKept => "refusal_not_kept",
        }
    }
}

#[cfg(feature = "planted")]
pub(crate) use switch::is;
#[cfg(feature = "planted")]
pub use switch::while_planted;

#[cfg(feature = "planted")]
mod switch {
    use core::cell::Cell;

    use super::Bug;

    thread_local! {
        static PLANTED: Cell<Option<Bug>> = const { Cell::new(None) };
    }

    /// Whether the mistake is to be made.
    pub(crate) fn is(bug: Bug) -> bool {
        PLANTED.get() == Some(bug)
    }

    /// Makes the mistake, in this thread, while `run` runs.
    pub fn while_planted<T>(bug: Bug, run: impl FnOnce() -> T) -> T {
        struct Uproot(Option<Bug>);
        impl Drop for Uproot {
            fn drop(&mut self) {
                PLANTED.set(self.0);
            }
        }
        let _uproot = Uproot(PLANTED.replace(Some(bug)));
        run()
    }
}

/// Whether the mistake is to be made: never in this build.
#[cfg(not(feature = "planted"))]
pub(crate) const fn is(_bug: Bug) -> bool {
    false
}

/// Only runs: this build makes no mistakes.
#[cfg(not(feature = "planted"))]
pub fn while_planted<T>(_bug: Bug, run: impl FnOnce() -> T) -> T {
    run()
}

#[cfg(all(test, feature = "planted"))]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_ends_with_the_call_that_asked_for_it() {
        assert!(!is(Bug::NoMargin));
        while_planted(Bug::NoMargin, || assert!(is(Bug::NoMargin)));
        assert!(!is(Bug::NoMargin));
    }
}
