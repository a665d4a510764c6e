//! The commands of a play.
//!
//! Assumes: one election, one store. Promises: an unknown command or a bad argument ends the play
//! with its line.

use core::time::Duration;

use incumbent_protocol::candidacy::{Input, Wish};
use incumbent_protocol::identity::CandidateName;
use incumbent_protocol::lease::order::{Decree, Order};
use incumbent_protocol::lease::row::Snapshot;
use incumbent_protocol::rounds::pace::Pacing;
use incumbent_protocol::rules::{Expiry, Rules, Timing};

use crate::support::clock::{Clock, TRUE_RATE};
use crate::support::post::{Fate, Kind, Loss};
use crate::support::referee;
use crate::support::world::World;
use crate::transcript::{self, number, seconds};

/// A world and how much of its log was printed.
#[derive(Debug, Default)]
pub(crate) struct Stage {
    world: World,
    printed: usize,
    /// A play that breaks its own assumptions says so.
    lawless: bool,
}

impl Stage {
    /// Does some commands; gives what they print.
    pub(crate) fn perform(&mut self, commands: &[&str]) -> Vec<String> {
        let mut lines = Vec::new();
        for command in commands {
            let words: Vec<&str> = command.split_whitespace().collect();
            let said = self.act(&words).unwrap_or_else(|| panic!("cannot do: {command}"));
            lines.extend(transcript::lines(&self.world, self.printed));
            lines.extend(said);
            self.printed = self.world.log.len();
        }
        if lines.is_empty() {
            lines.push("(nothing)".to_owned());
        }
        if !self.lawless {
            referee::judge(&self.world.log).expect("the rules of the game");
        }
        lines
    }

    /// Does one command; `None` if it makes no sense.
    fn act(&mut self, words: &[&str]) -> Option<Vec<String>> {
        let (&verb, rest) = words.split_first()?;
        if let Some(order) = order(verb, rest) {
            return Some(self.order(&order));
        }
        match (verb, rest) {
            ("candidates", _) => self.candidates(rest)?,
            ("lead", _) => self.wish(rest, Wish::Lead)?,
            ("watch", _) => self.wish(rest, Wish::Watch)?,
            ("leave", _) => self.wish(rest, Wish::Nothing)?,
            ("run", [span]) => self.world.run_until(self.world.now + duration(span)?),
            ("bell", _) => self.each(rest, |world, who| world.tell(who, Input::Bell))?,
            ("resign", _) => self.each(rest, World::resign)?,
            ("crash", _) => self.each(rest, World::crash)?,
            ("restart", _) => self.each(rest, World::start)?,
            ("died", [name]) => self.died(name)?,
            ("status", []) => return Some(self.status()),
            ("step-back", _) => self.each(rest, |world, who| world.tell(who, Input::StepBack))?,
            ("defer", [name, span]) => self.tell(name, Input::Defer(duration(span)?))?,
            ("resign-to", [name, heir]) => {
                self.tell(name, Input::Heir(CandidateName::new(heir).ok()))?;
                self.each(&[name], World::resign)?;
            }
            ("save-store", []) => self.world.store.save(),
            ("restore-store", []) => self.world.store.restore(),
            ("drop-store", []) => self.world.store.lose_all(),
            ("delete-rows", []) => self.world.store.lose_rows(),
            ("drop-vars", []) => self.world.store.registers.vars = None,
            ("beyond-all-promises", []) => self.lawless = true,
            (_, [name, arguments @ ..]) => self.fault(verb, self.who(name)?, arguments)?,
            _ => return None,
        }
        Some(Vec::new())
    }

    /// Commands that trouble one process.
    fn fault(&mut self, verb: &str, who: usize, arguments: &[&str]) -> Option<()> {
        let now = self.world.now;
        match (verb, arguments) {
            ("pause", [span]) => self.world.stop(who, duration(span)?),
            ("freeze", [span]) => self.world.freeze(who, duration(span)?),
            ("clock-jump", [span]) => self.world.leap(who, duration(span)?),
            ("rate", [rate]) => {
                let (whole, part) = rate.split_once('.')?;
                let millionths = format!("{whole}{part:0<6}").parse().ok()?;
                self.world.processes[who].clock.set_rate(now, millionths);
            }
            ("cut", []) => self.world.processes[who].post.cut(true),
            ("heal", []) => self.world.processes[who].post.heal(),
            ("delay", [span]) => self.world.processes[who].post.set_usual(duration(span)? / 2),
            ("stops-in", [span]) => self.world.processes[who].stopping = duration(span)?,
            ("lose-request", [kind]) => self.plan(who, kind, Loss::Request, None)?,
            ("lose-reply", [kind]) => self.plan(who, kind, Loss::Reply, None)?,
            ("hold-up", [kind, span]) => {
                self.plan(who, kind, Loss::Nothing, Some(duration(span)?))?;
            }
            _ => return None,
        }
        Some(())
    }

    /// `alice bob lease=3s expiry=database`: starts them, each with a clock of its own. With
    /// `round=1s`, and perhaps `limit=3`, in an election with a roster.
    fn candidates(&mut self, words: &[&str]) -> Option<()> {
        let (mut lease, mut expiry) = (Duration::from_secs(3), Expiry::Observed);
        let (mut round, mut limit) = (None, 2);
        for setting in words.iter().filter_map(|word| word.split_once('=')) {
            match setting {
                ("lease", span) => lease = duration(span)?,
                ("expiry", word) => expiry = word.parse().ok()?,
                ("round", span) => round = Some(duration(span)?),
                ("limit", word) => limit = word.parse().ok()?,
                _ => return None,
            }
        }
        let pacing = match round {
            None => None,
            Some(round) => Some(Pacing::of_round(round, limit).ok()?),
        };
        let rules = match (&pacing, round) {
            (Some(pacing), Some(round)) => pacing.rules_at(round),
            _ => Rules::new(lease, lease / 10, expiry).ok()?,
        };
        let lease = rules.lease();
        let timing = match round {
            None => Timing::new(rules, lease / 4, lease / 6, lease / 10).ok()?,
            Some(round) => Timing::new(rules, round, lease / 10, lease / 10).ok()?,
        };
        for name in words.iter().filter(|word| !word.contains('=')) {
            let hours = u64::try_from(self.world.processes.len()).ok()?;
            let clock = Clock::new(Duration::from_hours(hours), TRUE_RATE);
            match pacing {
                None => self.world.add(name, timing, clock),
                Some(pacing) => self.world.add_in_rounds(name, timing, pacing, clock),
            };
        }
        // That they begin goes without saying here.
        self.printed = self.world.log.len();
        Some(())
    }

    fn wish(&mut self, names: &[&str], wish: Wish) -> Option<()> {
        self.each(names, |world, who| world.tell(who, Input::Wish(wish)))
    }

    fn plan(&mut self, who: usize, kind: &str, lost: Loss, there: Option<Duration>) -> Option<()> {
        let kind = match kind {
            "look" => Kind::Look,
            "bid" => Kind::Bid,
            "renew" => Kind::Renew,
            "resign" => Kind::Resign,
            "round" => Kind::Round,
            _ => return None,
        };
        let post = &mut self.world.processes[who].post;
        let usual = post.usual();
        let there = there.unwrap_or(usual);
        post.plan(Some(kind), Fate { there, back: usual, lost });
        Some(())
    }

    /// A crash that leaves proof of itself.
    fn died(&mut self, name: &str) -> Option<()> {
        let who = self.who(name)?;
        let id = self.world.processes[who].life.as_ref()?.id.clone();
        self.world.crash(who);
        self.world.store.prove_dead(id);
        Some(())
    }

    fn order(&mut self, order: &Order) -> Vec<String> {
        let said = match self.world.store.order(self.world.now, order, None) {
            Ok(Decree { ends: false, .. }) => format!("ordered: {}", order.word()),
            Ok(decree) => decree.deposed.map_or_else(
                || "ordered: nobody leads".to_owned(),
                |leader| {
                    let span = seconds(decree.may_act);
                    format!("ordered: {} may act for {span} at most", leader.id.name)
                },
            ),
            Err(error) => self.numbered(format!("not ordered: {error}")),
        };
        vec![format!("{:>8}  {said}", seconds(self.world.now))]
    }

    /// The text with the place of each term instead of its number, which is a date.
    fn numbered(&self, text: String) -> String {
        let claims = self.world.store.claims();
        claims.fold(text, |text, claim| {
            text.replace(&claim.term.to_string(), &number(&self.world, claim.term))
        })
    }

    fn status(&self) -> Vec<String> {
        let mut lines: Vec<String> =
            (0..self.world.processes.len()).map(|who| self.status_of(who)).collect();
        let snapshot = self.world.store.snapshot(self.world.now);
        let row = snapshot.record.as_ref().map_or_else(String::new, |record| {
            let term = number(&self.world, record.term);
            format!(": {}, term {term}, beat {}", record.holder.name, record.beat)
        });
        let vars = self.world.store.registers.vars.as_ref().map_or_else(String::new, |vars| {
            let ids = self.world.store.registers.roster.keys().map(ToString::to_string);
            let ids: Vec<String> = ids.collect();
            format!(", round {}, roster {}", seconds(vars.pace.round), ids.join(" "))
        });
        let held = self.in_force(&snapshot);
        lines.push(format!(
            "{:>8}  store  {}{row}{vars}{held}",
            seconds(self.world.now),
            snapshot.sight().word()
        ));
        lines
    }

    /// What operators have in force.
    fn in_force(&self, snapshot: &Snapshot) -> String {
        let paused = snapshot.controls.paused.as_ref().map(|_| ", paused".to_owned());
        let barred = self.world.processes.iter().map(|process| &process.name);
        let barred = barred.filter(|name| snapshot.controls.bar_on(name, snapshot.now).is_some());
        paused.into_iter().chain(barred.map(|name| format!(", {name} barred"))).collect()
    }

    fn status_of(&self, who: usize) -> String {
        let process = &self.world.processes[who];
        let standing = process.standing().map_or("dead", |standing| standing.as_str());
        let sees = process.sees().map_or_else(String::new, |leader| {
            format!(", sees {} lead term {}", leader.id.name, number(&self.world, leader.term))
        });
        let rank = process.life.as_ref().and_then(|life| {
            let now = process.clock.read(self.world.now);
            life.candidacy.rank(now)?.id
        });
        let id = rank.map_or_else(String::new, |id| format!(", id {id}"));
        let (now, name) = (seconds(self.world.now), process.name.as_str());
        format!("{now:>8}  {name:<6} {standing}{id}{sees}")
    }

    fn tell(&mut self, name: &str, input: Input) -> Option<()> {
        self.world.tell(self.who(name)?, input);
        Some(())
    }

    /// Does something for each named process, or for all if none is named.
    fn each(&mut self, names: &[&str], act: impl Fn(&mut World, usize)) -> Option<()> {
        let all: Vec<usize> = if names.is_empty() {
            (0..self.world.processes.len()).collect()
        } else {
            names.iter().map(|name| self.who(name)).collect::<Option<_>>()?
        };
        for who in all {
            act(&mut self.world, who);
        }
        Some(())
    }

    fn who(&self, name: &str) -> Option<usize> {
        let mut processes = self.world.processes.iter();
        processes.position(|process| process.name.as_str() == name)
    }
}

/// What an operator says: `demote 30s`, `takeover bob`, `pause`.
fn order(verb: &str, rest: &[&str]) -> Option<Order> {
    Some(match (verb, rest) {
        ("demote", []) => Order::DEMOTE,
        ("demote", [span]) => Order::Demote { hold_off: duration(span)? },
        ("takeover", [name]) => Order::Takeover { successor: CandidateName::new(name).ok()? },
        ("pause", []) => Order::Pause,
        ("resume", []) => Order::Resume,
        ("cordon", [name]) => Order::Cordon { name: CandidateName::new(name).ok()? },
        ("uncordon", [name]) => Order::Uncordon { name: CandidateName::new(name).ok()? },
        _ => return None,
    })
}

/// `3s`, `1.5s`, `200ms`.
fn duration(text: &str) -> Option<Duration> {
    if let Some(millis) = text.strip_suffix("ms") {
        return millis.parse().ok().map(Duration::from_millis);
    }
    let seconds: f64 = text.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}
