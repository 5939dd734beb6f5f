//! Random plans in which one class is nearly full: lines, trees and rings, where a burst would count at many ports.

use crate::common::*;
use crate::draw;
use proptest::prelude::*;
use proptest::sample::Index;
use tsn_bounds::{Bounds, FlowBounds, bounds};
use tsn_plan::{Pattern, Plan, Size};

#[derive(Clone, Debug)]
struct Talk {
    from: Index,
    to: Index,
    /// Whether its talker has a port of its own.
    apart: bool,
    /// Which frame of those that the plan has.
    size: usize,
    /// How many times the shortest period.
    slower: u64,
    /// In percent of its period.
    jitter: u64,
    pcp: u8,
    offset: u64,
}

#[derive(Clone, Debug)]
struct Links {
    rates: Vec<u64>,
    propagation_ps: u64,
    processing: Vec<(u64, u64)>,
}

fn talk(others: u32) -> impl Strategy<Value = Talk> {
    let jitter = prop_oneof![5 => Just(0), 1 => 1..250_u64];
    let pcp = prop_oneof![12 => Just(5), others => Just(6), others => Just(0)];
    let slower = prop::sample::select(&[1, 1, 1, 2, 3][..]);
    (any::<Index>(), any::<Index>(), any::<bool>(), 0..3_usize, slower, jitter, pcp, 0..1_000_000_u64)
        .prop_map(|(from, to, apart, size, slower, jitter, pcp, offset)| Talk {
            from,
            to,
            apart,
            size,
            slower,
            jitter,
            pcp,
            offset,
        })
}

/// The shape of a network: a parent for each node but the first, and whether the nodes are a ring instead.
fn shape() -> impl Strategy<Value = (Vec<Option<Index>>, bool)> {
    let line = (2..9_usize).prop_map(|count| (vec![None; count], false));
    let tree = prop::collection::vec(prop::option::weighted(0.5, any::<Index>()), 2..8)
        .prop_map(|tree| (tree, false));
    let ring = (2..6_usize).prop_map(|count| (vec![None; count], true));
    prop_oneof![3 => line, 2 => tree, 1 => ring]
}

/// A plan whose busiest port carries 50 to 97 % of its rate, nearly all of it in one class.
pub fn plan() -> impl Strategy<Value = Plan> {
    plan_of(50..98, 1)
}

/// A plan whose busiest port carries a part of its rate, in percent. Of 12 + 2 * others streams, 12 are in one class.
pub fn plan_of(load: std::ops::Range<u64>, others: u32) -> impl Strategy<Value = Plan> {
    let rates = prop_oneof![
        3 => Just(vec![100_000_000; 9]),
        1 => prop::collection::vec(prop::sample::select(&[100_000_000_u64, 300_000_000, 1_000_000_000][..]), 9),
    ];
    let processing = prop_oneof![
        2 => Just(vec![(0, 0); 9]),
        1 => prop::collection::vec((0..5_000_u64, 0..20_000_u64), 9),
    ];
    let links = (rates, 0..1_000_000_u64, processing).prop_map(|(rates, propagation_ps, processing)| Links {
        rates,
        propagation_ps,
        processing,
    });
    let sizes = prop_oneof![
        2 => Just([980; 3]),
        2 => prop::array::uniform3(64..1_523_u32),
    ];
    let reserved = prop::option::weighted(0.2, 100..120_u32);
    let talks = prop::collection::vec(talk(others), 3..20);
    (shape(), links, sizes, talks, load, reserved, any::<u64>()).prop_map(
        |(shape, links, sizes, talks, load, reserved, seed)| {
            build(&shape, &links, sizes, &talks, (load, reserved), seed)
        },
    )
}

fn build(
    (tree, ring): &(Vec<Option<Index>>, bool),
    links: &Links,
    sizes: [u32; 3],
    talks: &[Talk],
    (load, reserved): (u64, Option<u32>),
    seed: u64,
) -> Plan {
    let mut net = Net::new(6_000_000);
    net.plan.seed = seed;
    net.plan.drain_ns = 20_000_000;
    let count = tree.len() + 1;
    let nodes: Vec<u32> = (0..count).map(|n| net.node(&format!("n{n}"), links.processing[n].0)).collect();
    for (node, (_, further)) in net.plan.nodes.iter_mut().zip(&links.processing) {
        node.further = (*further > 0).then_some(tsn_plan::Further::Uniform { up_to_ns: *further });
    }
    let mut parents = vec![0];
    for n in 1..count {
        parents.push(tree[n - 1].map_or(n - 1, |index| index.index(n)));
        net.link(nodes[parents[n]], nodes[n], links.rates[n], links.propagation_ps);
    }
    if *ring {
        net.link(nodes[count - 1], nodes[0], links.rates[0], links.propagation_ps);
    }
    for (number, talk) in talks.iter().enumerate() {
        let (from, to) = (talk.from.index(count), talk.to.index(count));
        if from == to {
            continue;
        }
        let mut path: Vec<u32> = if *ring {
            (0..=(to + count - from) % count).map(|step| nodes[(from + step) % count]).collect()
        } else {
            draw::path(&parents, from, to).into_iter().map(|n| nodes[n]).collect()
        };
        if talk.apart {
            let own = net.node(&format!("t{number}"), 0);
            net.link(own, path[0], links.rates[from], links.propagation_ps);
            path.insert(0, own);
        }
        let pattern =
            Pattern::Periodic { period_ns: talk.slower, offset_ns: talk.offset, jitter_ns: talk.jitter };
        net.stream(&format!("s{number}"), &path, talk.pcp, pattern, Size::Frame { octets: sizes[talk.size] });
    }
    fill(&mut net.plan, load);
    if let Some(percent) = reserved {
        (0..net.plan.ports.len()).for_each(|port| draw::reserve(&mut net.plan, port, (percent, [100; 3])));
    }
    net.plan
}

/// Makes periods so long that the busiest port carries `load` percent.
fn fill(plan: &mut Plan, load: u64) {
    let slower =
        |pattern: &Pattern| if let Pattern::Periodic { period_ns, .. } = pattern { *period_ns } else { 1 };
    let mut busy = vec![0.0; plan.ports.len()];
    for stream in &plan.streams {
        let Size::Frame { octets } = stream.size else { continue };
        let bits = f64::from(octets + 20) * 8.0 / slower(&stream.pattern) as f64;
        for hop in &stream.route {
            busy[hop.port as usize] += bits * 1e9 / plan.ports[hop.port as usize].rate_bps as f64;
        }
    }
    let shortest = (busy.into_iter().fold(1.0, f64::max) * 100.0 / load as f64).ceil() as u64;
    for stream in &mut plan.streams {
        if let Pattern::Periodic { period_ns, offset_ns, jitter_ns } = &mut stream.pattern {
            *period_ns *= shortest;
            *offset_ns %= *period_ns;
            *jitter_ns = *jitter_ns * *period_ns / 100;
        }
    }
}

/// The sum of the bounds of the hops.
fn sum(flow: &FlowBounds) -> Option<i64> {
    flow.hops.iter().map(|hop| hop.upper_ps).sum()
}

/// How many flows have less than the sum of the bounds of their hops.
pub fn along(found: &Bounds) -> usize {
    let less =
        |flow: &&FlowBounds| flow.release_upper_ps.zip(sum(flow)).is_some_and(|(found, sum)| found < sum);
    found.flows.iter().filter(less).count()
}

/// Releases that chase the frames of one flow: those of each other flow are where they meet its path when a frame does
/// that waited for `share` percent of its bounds so far; a period later, its next frames come.
pub fn chasing(plan: &Plan, victim: usize, share: i64) -> Plan {
    let found = bounds(plan);
    let mut chased = plan.clone();
    let (own, path) = (&found.flows[victim], &plan.streams[victim].route);
    let until = |port: u32| -> Option<i64> {
        let place = path.iter().position(|hop| hop.port == port)?;
        own.hops[..place]
            .iter()
            .map(|hop| Some(hop.lower_ps + (hop.upper_ps? - hop.lower_ps) * share / 100))
            .sum()
    };
    for (number, stream) in plan.streams.iter().enumerate().filter(|(number, _)| *number != victim) {
        let before = &found.flows[number].hops;
        let met = stream.route.iter().enumerate().find_map(|(place, hop)| Some((place, until(hop.port)?)));
        let Some((place, at)) = met else { continue };
        let needs: i64 = before[..place].iter().map(|hop| hop.lower_ps).sum();
        let Pattern::Periodic { period_ns, offset_ns, .. } = &mut chased.streams[number].pattern else {
            continue;
        };
        let late = (at - needs) / 1_000 - 1 + *period_ns as i64 * 1_000;
        *offset_ns = late.rem_euclid(*period_ns as i64) as u64;
    }
    if let Pattern::Periodic { offset_ns, .. } = &mut chased.streams[victim].pattern {
        *offset_ns = 0;
    }
    chased
}

/// Takes the jitter of all talkers away.
pub fn without_jitter(plan: &mut Plan) {
    for stream in &mut plan.streams {
        if let Pattern::Periodic { jitter_ns, .. } = &mut stream.pattern {
            *jitter_ns = 0;
        }
    }
}
