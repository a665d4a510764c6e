//! Flags, as a setting.
//!
//! Assumes: the flags were read one by one.
//! Promises: what was not said is what the help page says; whether it fits together is for the lab to
//! say.

use incumbent_protocol::node::NodeId;
use incumbent_sim::lab::{Case, Links, Setting, numbers};

use crate::flags::{Initiator, LabArgs};

/// What the flags ask for.
pub(super) fn setting(args: &LabArgs) -> Setting {
    let manner = args.manner.0;
    let mut setting = match case(args) {
        Some(case) => case.setting(manner, args.nodes, args.seed),
        None => Setting::new(manner, nodes(args)),
    };
    setting.failures.extend(&args.fail);
    setting.returns.extend(&args.give_back);
    with_links(&mut setting, args);
    if setting.initiators.is_empty() {
        setting.initiators = initiators(args, &setting);
    }
    setting
}

/// How chance and links behave, whatever the case.
pub(super) fn with_links(setting: &mut Setting, args: &LabArgs) {
    setting.preempt = args.preempt;
    setting.detection = args.detect;
    setting.links = Links {
        delay: args.delay,
        unlike: args.link.clone(),
        loss: args.loss,
        twice: args.duplicate,
    };
    setting.bound = args.bound.unwrap_or_else(|| setting.links.slowest());
    setting.seed = args.seed;
    setting.limit = args.limit.unwrap_or(setting.limit);
}

/// The case that was chosen; the example if nothing else was.
fn case(args: &LabArgs) -> Option<Case> {
    let own = args.nodes.is_some()
        || !args.ids.is_empty()
        || !args.order.is_empty()
        || !args.initiator.is_empty()
        || !args.fail.is_empty()
        || !args.give_back.is_empty();
    args.case.map(|case| case.0).or((!own).then_some(Case::Example))
}

/// Who takes part, in ring order. An order alone says who takes part, too.
fn nodes(args: &LabArgs) -> Vec<NodeId> {
    let mut nodes = match (args.ids.is_empty(), args.nodes) {
        (false, _) => args.ids.clone(),
        (true, Some(count)) => numbers(count),
        (true, None) if args.order.is_empty() => numbers(6),
        (true, None) => args.order.clone(),
    };
    // Whoever is not in the order comes after it; the lab refuses doubles and strangers.
    if !args.order.is_empty() {
        nodes.retain(|node| !args.order.contains(node));
        nodes = args.order.iter().copied().chain(nodes).collect();
    }
    nodes
}

fn initiators(args: &LabArgs, setting: &Setting) -> Vec<(NodeId, u64)> {
    let alive = setting.nodes.iter().copied().filter(|node| setting.is_alive(*node, 0));
    if args.initiator.is_empty() {
        return alive.min().map(|node| (node, 0)).into_iter().collect();
    }
    let each = args.initiator.iter().flat_map(|initiator| match initiator {
        Initiator::All => alive.clone().map(|node| (node, 0)).collect(),
        Initiator::One(node, at) => vec![(*node, *at)],
    });
    each.collect()
}
