//! The flags of `incumbent-sim lab`, and the setting that they describe.
//!
//! Promises: what is refused here is refused in words that show how to write it; whether the parts
//! fit together is for the lab to say.

use clap::{Args, ValueEnum};
use incumbent_protocol::node::NodeId;
use incumbent_sim::lab::{Case, Link, Links, MESSAGE_TIME, MOST_NODES, Manner, Setting, numbers};

pub(crate) const EXAMPLES: &str = "\
Exits with 0 if all live nodes agree in the end, with 1 if they do not. Times are message times: how
long one message takes.

Examples:
  incumbent-sim lab bully
  incumbent-sim lab bully --nodes 6 --fail 6 --initiator 1
  incumbent-sim lab bully --ids 2,5,9 --fail 9 --fail 5@2.5 --return 9@30 --preempt
  incumbent-sim lab ring --order 3,32,5,80,6,12 --initiator 6
  incumbent-sim lab ring --nodes 5 --loss 10% --duplicate --seed 7 --acks
  incumbent-sim lab bully --case worst --nodes 64 --json";

#[derive(Debug, Args)]
pub(crate) struct LabAsk {
    /// How peers pick one of them
    #[arg(value_name = "MANNER")]
    manner: MannerName,
    /// A setting that is known from lectures; `example` unless something else is chosen
    #[arg(long, value_name = "CASE", conflicts_with_all = ["ids", "order", "initiator", "fail", "give_back"])]
    case: Option<CaseName>,
    /// How many nodes, numbered from 1
    #[arg(long, value_name = "N", conflicts_with = "ids", value_parser = nodes)]
    nodes: Option<usize>,
    /// The numbers of the nodes, with commas between them; an address such as 10.0.0.1:7600 stands
    /// for its MD5 digest
    #[arg(long, value_name = "ID,...", value_delimiter = ',', value_parser = node)]
    ids: Vec<NodeId>,
    /// The order of the nodes in the ring, each sending to the next; as they are numbered unless
    /// given
    #[arg(long, value_name = "ID,...", value_delimiter = ',', value_parser = node)]
    order: Vec<NodeId>,
    /// Which nodes find that nobody leads, and when; the lowest live node at 0 unless given. `all` for
    /// all of them
    #[arg(long, value_name = "ID[@TIME]|all", value_delimiter = ',', value_parser = initiator)]
    initiator: Vec<Initiator>,
    /// Which nodes die, and when; without a time a node is dead from the beginning
    #[arg(long, value_name = "ID[@TIME]", value_delimiter = ',', value_parser = maybe_when)]
    fail: Vec<(NodeId, u64)>,
    /// Which nodes come back, and when
    #[arg(long = "return", id = "give_back", value_name = "ID@TIME", value_delimiter = ',', value_parser = when)]
    give_back: Vec<(NodeId, u64)>,
    /// A node that comes back runs for election at once, instead of asking who leads
    #[arg(long)]
    preempt: bool,
    /// How often a message is lost
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = chance)]
    loss: u32,
    /// How often a message arrives twice; 10% if no number is given
    #[arg(long, value_name = "PERCENT", default_value = "0%", default_missing_value = "10%", num_args = 0..=1, value_parser = chance)]
    duplicate: u32,
    /// How long a message takes; with two numbers, anything between them
    #[arg(long, value_name = "TIME[..TIME]", default_value = "1", value_parser = delay)]
    delay: (u64, u64),
    /// How long messages from one node to another take
    #[arg(long, value_name = "ID-ID=TIME", value_delimiter = ',', value_parser = link)]
    link: Vec<Link>,
    /// The longest that a message is expected to take, from which all timeouts follow; the longest
    /// delay unless given
    #[arg(long, value_name = "TIME", value_parser = time)]
    bound: Option<u64>,
    /// How long it takes until the death of a picked node is found
    #[arg(long, value_name = "TIME", default_value = "4", value_parser = time)]
    detect: u64,
    /// When to end, whatever happens; 20 times the number of nodes and 200 more unless given
    #[arg(long, value_name = "TIME", value_parser = time)]
    limit: Option<u64>,
    /// Seed of all random choices: the same seed gives the same run
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Show acknowledgements and other upkeep too
    #[arg(long)]
    pub(super) acks: bool,
    /// Print everything that happened as JSON
    #[arg(long)]
    pub(super) json: bool,
}

impl LabAsk {
    /// What the flags ask for.
    pub(super) fn setting(&self) -> Setting {
        let manner = self.manner.0;
        let mut setting = match self.chosen_case() {
            Some(case) => case.setting(manner, self.nodes, self.seed),
            None => Setting::new(manner, self.ring_order()),
        };
        setting.failures.extend(&self.fail);
        setting.returns.extend(&self.give_back);
        setting.preempt = self.preempt;
        setting.detection = self.detect;
        setting.links = Links {
            delay: self.delay,
            unlike: self.link.clone(),
            loss: self.loss,
            twice: self.duplicate,
        };
        setting.bound = self.bound.unwrap_or_else(|| setting.links.slowest());
        setting.seed = self.seed;
        setting.limit = self.limit.unwrap_or(setting.limit);
        if setting.initiators.is_empty() {
            setting.initiators = self.initiators(&setting);
        }
        setting
    }

    /// The case that was chosen; the example if nothing else was.
    fn chosen_case(&self) -> Option<Case> {
        let own = self.nodes.is_some()
            || !self.ids.is_empty()
            || !self.order.is_empty()
            || !self.initiator.is_empty()
            || !self.fail.is_empty()
            || !self.give_back.is_empty();
        self.case.map(|case| case.0).or((!own).then_some(Case::Example))
    }

    /// All nodes, in ring order. An order alone says which nodes there are, too.
    fn ring_order(&self) -> Vec<NodeId> {
        let mut nodes = match (self.ids.is_empty(), self.nodes) {
            (false, _) => self.ids.clone(),
            (true, Some(count)) => numbers(count),
            (true, None) if self.order.is_empty() => numbers(6),
            (true, None) => self.order.clone(),
        };
        // Nodes that are not in the order come after it; the lab refuses doubles and strangers.
        if !self.order.is_empty() {
            nodes.retain(|node| !self.order.contains(node));
            nodes = self.order.iter().copied().chain(nodes).collect();
        }
        nodes
    }

    fn initiators(&self, setting: &Setting) -> Vec<(NodeId, u64)> {
        let alive = setting.nodes.iter().copied().filter(|node| setting.is_alive(*node, 0));
        if self.initiator.is_empty() {
            return alive.min().map(|node| (node, 0)).into_iter().collect();
        }
        let each = self.initiator.iter().flat_map(|initiator| match initiator {
            Initiator::All => alive.clone().map(|node| (node, 0)).collect(),
            Initiator::One(node, at) => vec![(*node, *at)],
        });
        each.collect()
    }
}

/// How peers pick, as the command line names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MannerName(Manner);

impl ValueEnum for MannerName {
    fn value_variants<'a>() -> &'a [Self] {
        &[MannerName(Manner::Ring), MannerName(Manner::Bully)]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        let help = match self.0 {
            Manner::Ring => {
                "messages go round a ring, the highest number survives (Chang, Roberts)"
            }
            Manner::Bully => "the highest number that answers wins (Garcia-Molina)",
        };
        Some(clap::builder::PossibleValue::new(self.0.as_str()).help(help))
    }
}

/// Settings that are known from lectures, as the command line names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CaseName(Case);

impl ValueEnum for CaseName {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            CaseName(Case::Example),
            CaseName(Case::Worst),
            CaseName(Case::Best),
            CaseName(Case::Average),
        ]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        let help = match self.0 {
            Case::Example => {
                "six nodes, the highest is dead, the third finds it; a ring is of addresses"
            }
            Case::Worst => {
                "most messages: the lowest begins, which in a ring is behind the highest"
            }
            Case::Best => "fewest messages: the node begins that will be picked",
            Case::Average => "everybody begins at once, in an order drawn from the seed",
        };
        Some(clap::builder::PossibleValue::new(self.0.as_str()).help(help))
    }
}

/// Who begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Initiator {
    /// Everybody that is alive.
    All,
    /// One of them, at an instant.
    One(NodeId, u64),
}

fn nodes(text: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(0) => Err("a lab needs at least one node".to_owned()),
        Ok(many) if many > MOST_NODES => {
            Err(format!("a lab has room for {MOST_NODES} nodes, not for {many}"))
        }
        Ok(number) => Ok(number),
        Err(_) => Err(format!("{text:?} is not a number of nodes: write it like 6")),
    }
}

fn node(text: &str) -> Result<NodeId, String> {
    let text = text.trim();
    if text.contains(':') {
        return Ok(NodeId::of_address(text));
    }
    text.parse().map_err(|_| {
        format!("{text:?} is not a node: write a number like 5, or an address like 10.0.0.1:7600")
    })
}

fn when(text: &str) -> Result<(NodeId, u64), String> {
    let parts = text.rsplit_once('@');
    let (who, at) = parts.ok_or_else(|| format!("{text:?} has no time: write it like 6@30"))?;
    Ok((node(who)?, time(at)?))
}

fn maybe_when(text: &str) -> Result<(NodeId, u64), String> {
    if text.contains('@') { when(text) } else { Ok((node(text)?, 0)) }
}

fn initiator(text: &str) -> Result<Initiator, String> {
    if text.trim() == "all" {
        return Ok(Initiator::All);
    }
    maybe_when(text).map(|(node, at)| Initiator::One(node, at))
}

/// Reads a number of message times, to the thousandth.
fn time(text: &str) -> Result<u64, String> {
    const MOST: u64 = 1_000_000;
    let wrong = || format!("{text:?} is not a time: write message times like 3 or 2.5");
    let (whole, part) = text.trim().split_once('.').unwrap_or((text.trim(), "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 3 {
        return Err(wrong());
    }
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let thousandths: u64 = format!("{part:0<3}").parse().map_err(|_| wrong())?;
    if whole > MOST {
        return Err(format!("{text} message times are too long: {MOST} at most"));
    }
    Ok(whole * MESSAGE_TIME + thousandths * (MESSAGE_TIME / 1_000))
}

fn delay(text: &str) -> Result<(u64, u64), String> {
    let (least, most) = text.split_once("..").unwrap_or((text, text));
    let (least, most) = (time(least)?, time(most)?);
    if least > most {
        return Err(format!("{text:?} begins with the longer time"));
    }
    if least == 0 { Err("a message must take some time".to_owned()) } else { Ok((least, most)) }
}

fn link(text: &str) -> Result<Link, String> {
    let wrong = || format!("{text:?} is not a link: write it like 2-5=3");
    let (ends, delay) = text.split_once('=').ok_or_else(wrong)?;
    let (from, to) = ends.split_once('-').ok_or_else(wrong)?;
    match time(delay)? {
        0 => Err("a message must take some time".to_owned()),
        delay => Ok(Link { from: node(from)?, to: node(to)?, delay }),
    }
}

/// Reads a percentage, to the ten-thousandth, as parts of a million.
fn chance(text: &str) -> Result<u32, String> {
    let wrong = || format!("{text:?} is not a percentage: write it like 10% or 0.5%");
    let number = text.trim().strip_suffix('%').ok_or_else(wrong)?;
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 4 || whole.len() > 3 {
        return Err(wrong());
    }
    let whole: u32 = whole.parse().map_err(|_| wrong())?;
    let part: u32 = format!("{part:0<4}").parse().map_err(|_| wrong())?;
    match whole * 10_000 + part {
        share if share <= 1_000_000 => Ok(share),
        _ => Err(format!("{text} is more than everything")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_message_times() {
        assert_eq!(time("2.5"), Ok(2_500_000));
        assert_eq!(time("0"), Ok(0));
        for odd in ["", "-1", "1s", "1.", ".5", "1.2345", "1e3", "2000000"] {
            assert!(time(odd).is_err(), "{odd:?}");
        }
    }

    #[test]
    fn nodes_are_numbers_or_addresses_with_or_without_a_time() {
        assert_eq!(maybe_when("6"), Ok((NodeId::given(6), 0)));
        assert_eq!(maybe_when("5@2.5"), Ok((NodeId::given(5), 2_500_000)));
        let address = NodeId::of_address("10.0.0.1:7600");
        assert_eq!(maybe_when("10.0.0.1:7600@1"), Ok((address, 1_000_000)));
        assert!(when("6").is_err_and(|words| words.contains("6@30")));
        assert_eq!(initiator("all"), Ok(Initiator::All));
    }

    #[test]
    fn shares_are_percentages() {
        assert_eq!(
            (chance("10%"), chance("0.5%"), chance("100%")),
            (Ok(100_000), Ok(5_000), Ok(1_000_000))
        );
        for odd in ["10", "%", "-1%", "101%", "1.23456%"] {
            assert!(chance(odd).is_err(), "{odd:?}");
        }
    }

    #[test]
    fn a_range_of_delays_grows() {
        assert_eq!(delay("0.5..2"), Ok((500_000, 2_000_000)));
        assert!(delay("2..1").is_err() && delay("0").is_err());
    }

    #[test]
    fn a_link_has_two_ends_and_a_time() {
        let (from, to) = (NodeId::given(2), NodeId::given(5));
        assert_eq!(link("2-5=3"), Ok(Link { from, to, delay: 3_000_000 }));
        assert!(link("2=3").is_err() && link("2-5").is_err());
    }
}
