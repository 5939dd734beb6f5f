//! Random small plans: any tree of nodes, any shapers, gates, limits, patterns, multicast.

use super::*;
use proptest::prelude::*;

/// Rates at which an octet takes a whole number of nanoseconds, so that stamps in ns are exact.
const RATES: [u64; 3] = [100_000_000, GIGABIT, 4_000_000_000];

#[derive(Clone, Debug)]
pub struct Link {
    /// The node before to which the node is linked.
    parent: prop::sample::Index,
    rate: u64,
    propagation_ns: u64,
    processing_ns: u64,
}

#[derive(Clone, Debug)]
pub struct Talk {
    from: prop::sample::Index,
    to: Vec<prop::sample::Index>,
    pcp: u8,
    pattern: Pattern,
    size: Size,
}

#[derive(Clone, Debug)]
pub struct Shape {
    port: prop::sample::Index,
    gates: Option<(i64, Vec<(u8, u64)>)>,
    turns: Option<Turns>,
    max_sdu: Option<u32>,
    longest_wait: Option<u64>,
    shaped: Vec<(u8, i64)>,
    limit: Option<u32>,
    classes: u8,
}

/// A list that is requested at a time, with a base time: (ns, ns, entries).
type Later = (i64, i64, Vec<(u8, u64)>);

/// Gates with more than a single list: states before it, lists that replace it, and no guard.
#[derive(Clone, Debug)]
struct Turns {
    initial: Option<u8>,
    extension: u64,
    unguarded: bool,
    runs: bool,
    changes: Vec<Later>,
}

fn turns() -> impl Strategy<Value = Turns> {
    let list = prop::collection::vec((any::<u8>(), 1_000..100_000u64), 1..6);
    let changes = prop::collection::vec((0..2_000_000i64, -100_000..2_000_000i64, list), 0..4);
    let strict = (prop::bool::weighted(0.3), any::<bool>());
    (prop::option::of(any::<u8>()), 0..100_000u64, strict, changes).prop_map(
        |(initial, extension, (unguarded, runs), mut changes)| {
            changes.sort_by_key(|change| change.0);
            Turns { initial, extension, unguarded, runs, changes }
        },
    )
}

impl Turns {
    fn over(&self, gates: &mut Gates) {
        gates.initial = self.initial;
        gates.cycle_extension_ns = self.extension;
        gates.unguarded = self.unguarded;
        gates.changes = self.changes.iter().map(|(at, base, list)| change(*at, *base, list)).collect();
    }
}

fn link() -> impl Strategy<Value = Link> {
    (any::<prop::sample::Index>(), prop::sample::select(&RATES[..]), 0..2_000u64, 0..5_000u64).prop_map(
        |(parent, rate, propagation_ns, processing_ns)| Link { parent, rate, propagation_ns, processing_ns },
    )
}

fn talk() -> impl Strategy<Value = Talk> {
    let pattern = prop_oneof![
        4 => (20_000..200_000u64, 0..50_000u64, prop_oneof![Just(0), 1..40_000u64]).prop_map(
            |(period_ns, offset_ns, jitter_ns)| Pattern::Periodic {
                period_ns: period_ns / 10_000 * 10_000,
                offset_ns: offset_ns / 10_000 * 10_000,
                jitter_ns,
            }
        ),
        2 => (20_000_000..200_000_000u64).prop_map(|mean_interval_ps| Pattern::Poisson { mean_interval_ps }),
        1 => (1..5u32).prop_map(|backlog| Pattern::Saturating { backlog }),
        1 => (1_542..8_000u64, 100_000..50_000_000u64)
            .prop_map(|(burst_octets, rate_bps)| Pattern::TokenBucket { burst_octets, rate_bps }),
        2 => (prop::collection::vec(0..40_000u64, 1..12), 1..60_000u64, 1..40u32).prop_map(
            |(gaps_ns, more, passes)| Pattern::Trace { cycle_ns: gaps_ns.iter().sum::<u64>() + more, gaps_ns, passes }
        ),
    ];
    let size = prop_oneof![
        3 => (64..1_523u32).prop_map(|octets| Size::Frame { octets }),
        1 => prop::collection::vec(64..1_523u32, 1..6).prop_map(|octets| Size::List { octets }),
        1 => prop::collection::vec(0..6_000u32, 1..4).prop_map(|mut octets| {
            octets.sort_unstable();
            Size::Units { octets, most_per_frame: 1_472, overhead: 50 }
        }),
    ];
    let ends = (any::<prop::sample::Index>(), prop::collection::vec(any::<prop::sample::Index>(), 1..4));
    (ends, 0..8u8, pattern, size).prop_map(|((from, to), pcp, pattern, size)| {
        let size = match (&pattern, size) {
            // A token bucket has frames of one size.
            (Pattern::TokenBucket { .. }, Size::List { octets }) => Size::Frame { octets: octets[0] },
            (Pattern::TokenBucket { .. }, Size::Units { .. }) => Size::Frame { octets: 64 },
            (_, size) => size,
        };
        Talk { from, to, pcp, pattern, size }
    })
}

fn shape() -> impl Strategy<Value = Shape> {
    let gates = (-100_000..100_000i64, prop::collection::vec((any::<u8>(), 1_000..100_000u64), 1..6));
    let shaped = prop::collection::vec((0..8u8, 5_000_000..90_000_000i64), 0..3);
    let limit = prop::option::of(1..20u32);
    let turns = prop::option::weighted(0.3, turns());
    let longest_wait = prop::option::weighted(0.15, 1..300_000u64);
    let limits = (limit, prop::option::weighted(0.1, 100..1_500u32), longest_wait);
    (any::<prop::sample::Index>(), (prop::option::of(gates), turns), shaped, limits, 1..9u8).prop_map(
        |(port, (gates, turns), shaped, (limit, max_sdu, longest_wait), classes)| Shape {
            port,
            gates,
            turns,
            max_sdu,
            longest_wait,
            shaped,
            limit,
            classes,
        },
    )
}

/// A plan of up to 7 nodes with taps everywhere; see [`Everywhere`].
pub fn plan() -> impl Strategy<Value = Plan> {
    let parts = (
        prop::collection::vec(link(), 1..7),
        prop::collection::vec(talk(), 1..7),
        prop::collection::vec(shape(), 0..5),
        any::<u64>(),
    );
    parts.prop_map(|(links, talks, shapes, seed)| build(&links, &talks, &shapes, seed))
}

fn build(links: &[Link], talks: &[Talk], shapes: &[Shape], seed: u64) -> Plan {
    let mut net = Net::new(2_000_000);
    net.plan.seed = seed;
    net.plan.drain_ns = 500_000;
    let mut parents = vec![0];
    net.node("n0", 1_000);
    for (number, link) in links.iter().enumerate() {
        let node = net.node(&format!("n{}", number + 1), link.processing_ns);
        let parent = link.parent.index(node as usize) as u32;
        parents.push(parent);
        net.link(parent, node, link.rate, link.propagation_ns * 1_000);
    }
    for shape in shapes {
        let port = shape.port.index(net.plan.ports.len());
        let port = &mut net.plan.ports[port];
        port.classes.truncate(usize::from(shape.classes));
        let highest = port.classes.len() as u8 - 1;
        port.pcp_to_class = std::array::from_fn(|pcp| (pcp as u8).min(highest));
        port.gates = shape.gates.as_ref().and_then(|(base, entries)| gates(*base, entries));
        if let (Some(turns), Some(gates)) = (&shape.turns, &mut port.gates) {
            turns.over(gates);
        }
        let runs = port.gates.is_some() && shape.turns.as_ref().is_some_and(|turns| turns.runs);
        for (class, idle_slope) in &shape.shaped {
            if let Some(class) = port.classes.get_mut(usize::from(*class)) {
                let own = cbs(*idle_slope, port.rate_bps as i64, 20_000, -20_000);
                class.cbs = Some(Cbs { runs_while_closed: runs, ..own });
            }
        }
        for class in &mut port.classes {
            class.limit_frames = shape.limit;
            class.max_sdu_octets = shape.max_sdu;
            class.longest_wait_ns = shape.longest_wait;
        }
    }
    let nodes = net.plan.nodes.len();
    for (number, talk) in talks.iter().enumerate() {
        let from = talk.from.index(nodes) as u32;
        let mut route: Vec<Route> = Vec::new();
        let mut listeners: Vec<Destination> = Vec::new();
        for to in &talk.to {
            let to = to.index(nodes) as u32;
            let mut parent = None;
            for pair in path(&parents, from, to).windows(2) {
                let port = net.port(pair[0], pair[1]);
                let known = route.iter().position(|hop| hop.port == port);
                parent = Some(known.unwrap_or_else(|| {
                    route.push(Route { port, parent });
                    route.len() - 1
                }) as u32);
            }
            if let Some(route) = parent
                && listeners.iter().all(|listener| listener.node != to)
            {
                listeners.push(Destination { node: to, route });
            }
        }
        if !listeners.is_empty() {
            let name = format!("s{number}");
            net.tree(&name, from, route, listeners, talk.pcp, talk.pattern.clone(), talk.size.clone());
        }
    }
    for port in 0..net.plan.ports.len() as u32 {
        Everywhere::tap(&mut net, port);
    }
    net.plan
}

/// The only path through a tree of nodes.
fn path(parents: &[u32], from: u32, to: u32) -> Vec<u32> {
    let up = |node: u32| {
        let mut nodes = vec![node];
        while nodes[nodes.len() - 1] != 0 {
            nodes.push(parents[nodes[nodes.len() - 1] as usize]);
        }
        nodes
    };
    let (mut there, back) = (up(from), up(to));
    let meet = back.iter().position(|node| there.contains(node)).unwrap();
    let top = there.iter().position(|node| *node == back[meet]).unwrap();
    there.truncate(top + 1);
    there.extend(back[..meet].iter().rev());
    there
}

/// Four taps at every port: hand-over, first stamp, last bit out, last bit in.
pub struct Everywhere;

impl Everywhere {
    pub fn tap(net: &mut Net, port: u32) {
        for (stage, point) in [
            (Stage::Send, Point::End),
            (Stage::Tx, Point::Start),
            (Stage::Tx, Point::End),
            (Stage::Rx, Point::End),
        ] {
            net.tap(port, stage, point);
        }
    }

    /// Port and place (0: send, 1: tx start, 2: tx end, 3: rx end) of a tap.
    pub fn place(tap: u16) -> (usize, usize) {
        (usize::from(tap) / 4, usize::from(tap) % 4)
    }
}
