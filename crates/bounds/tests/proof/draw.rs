//! Random plans like real ones: reservations that fit their streams, gates with windows, lines, trees and
//! rings.

use crate::common::*;
use crate::cyclic::{self, Cyclic};
use proptest::prelude::*;
use proptest::sample::Index;
use tsn_plan::{Fault, IdleSlope, MacOperation, Pattern, Plan, Size};

/// The last two rates have octets that do not take a whole number of ps.
const RATES: [u64; 6] = [100_000_000, GIGABIT, GIGABIT, 2_500_000_000, 300_000_000, 9_294_196_000];

#[derive(Clone, Debug)]
struct Talk {
    from: Index,
    to: Index,
    pcp: u8,
    pattern: Pattern,
    size: Size,
    /// A chain of streams, each of which answers the one before: class, octets, delay after the request,
    /// jitter and start in ns.
    answers: Vec<(u8, u32, u64, u64, u64)>,
}

type Wrong = (u64, u64, Option<(i64, Vec<(u8, u64)>)>);
type Lists = (Option<u8>, Vec<(i64, i64, Vec<(u8, u64)>)>);

/// Reservations in percent of the need of their streams; highest credit, lowest credit and send slope in percent of
/// what follows from the reservation.
pub type Reserved = (u32, [u32; 3]);

#[derive(Clone, Debug)]
struct Shape {
    port: Index,
    /// Shapers of classes 5 and 4.
    reserved: Option<Reserved>,
    gates: Option<(i64, Vec<(u8, u64)>)>,
    limit: Option<u32>,
    /// The express classes of a port with pre-emption.
    express: Option<u8>,
    /// Where the gate control list holds and releases preemptable frames, and the advances of both in ns.
    holds: Option<(Index, Index, u64, u64)>,
    /// Gates before the first list, and the lists after it: each requested at a time, with its base time after that.
    lists: Option<Lists>,
    /// Whether frames may overrun their windows.
    unguarded: bool,
    /// A wrong list (none: all gates are open) from an instant on, for a time.
    wrong: Option<Wrong>,
    /// A server or a transmit buffer.
    stage: Option<(bool, u32, u64)>,
    /// Classes (bit by bit) with a longest time in the queue, and that time in ns.
    longest_wait: Option<(u8, u64)>,
    /// Classes (bit by bit) with a largest service data unit, and that in octets.
    max_sdu: Option<(u8, u32)>,
}

#[derive(Clone, Debug)]
enum Topology {
    /// Each node is linked to one of the nodes before it.
    Tree(Vec<Index>),
    /// Paths go clockwise around the ring.
    Ring(usize),
}

fn talk() -> impl Strategy<Value = Talk> {
    let periods = prop::sample::select(&[100, 125, 200, 250, 300, 500, 1_000][..]);
    let jitter = prop_oneof![4 => Just(0), 1 => 1..300_000u64];
    let periodic = (periods, 0..1_000_000u64, jitter).prop_map(|(us, offset_ns, jitter_ns)| {
        Pattern::Periodic { period_ns: us * 1_000, offset_ns, jitter_ns }
    });
    let pattern_and_class = prop_oneof![
        10 => (periodic, prop::sample::select(&[7, 6, 6, 5, 5, 5, 4, 4, 2, 0][..])),
        2 => (
            (1_600..6_000u64, 1_000_000..40_000_000u64)
                .prop_map(|(burst_octets, rate_bps)| Pattern::TokenBucket { burst_octets, rate_bps }),
            prop::sample::select(&[6, 5, 4, 2, 0][..])
        ),
        1 => (Just(Pattern::Saturating { backlog: 3 }), prop::sample::select(&[0, 0, 1, 4, 5][..])),
        1 => (
            (30_000_000..300_000_000u64).prop_map(|mean_interval_ps| Pattern::Poisson { mean_interval_ps }),
            prop::sample::select(&[0, 0, 2, 5][..])
        ),
    ];
    let size = prop_oneof![
        6 => (64..700u32).prop_map(|octets| Size::Frame { octets }),
        2 => Just(Size::Frame { octets: FULL }),
        2 => prop::collection::vec(0..3_000u32, 1..3).prop_map(|mut octets| {
            octets.sort_unstable();
            Size::Units { octets, most_per_frame: 1_472, overhead: 50 }
        }),
    ];
    let answer = (
        prop::sample::select(&[7, 6, 5, 4, 0][..]),
        64..700u32,
        0..300_000u64,
        prop_oneof![3 => Just(0), 1 => 1..300_000u64],
        prop_oneof![2 => Just(0), 1 => 0..1_500_000u64],
    );
    let answers = prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(answer, 1..4)];
    (any::<Index>(), any::<Index>(), pattern_and_class, size, answers).prop_map(
        |(from, to, (pattern, pcp), size, answers)| {
            let size = conforming(&pattern, size);
            Talk { from, to, pcp, pattern, size, answers }
        },
    )
}

/// A size that the pattern may have: a token bucket has frames of one size.
pub fn conforming(pattern: &Pattern, size: Size) -> Size {
    match (pattern, &size) {
        (Pattern::TokenBucket { .. }, Size::Units { octets, .. } | Size::List { octets }) => {
            Size::Frame { octets: octets.first().map_or(64, |first| (*first).clamp(64, FULL)) }
        }
        _ => size,
    }
}

fn shape() -> impl Strategy<Value = Shape> {
    let given = (0..200u32, 0..130u32, 50..150u32).prop_map(|(high, low, send)| [high, low, send]);
    let reserved = prop_oneof![
        3 => Just((100, [100; 3])),
        1 => (100..200u32, (0..200u32).prop_map(|high| [high, 100, 100])),
        1 => (100..200u32, given)
    ];
    let masks = prop_oneof![
        1 => Just(0xff),
        2 => Just(0x80),
        2 => Just(0x7f),
        1 => Just(0x40),
        1 => Just(0x3f),
        1 => Just(0x30),
        2 => any::<u8>()
    ];
    let entries = prop::collection::vec(
        (masks.clone(), prop_oneof![1_000..150_000u64, Just(12_240), Just(13_000)]),
        1..6,
    );
    // Cycles of which the periods are multiples, as in schedules.
    let scheduled = (
        prop::sample::select(&[100_000u64, 125_000, 250_000, 500_000][..]),
        prop::collection::vec((masks.clone(), 1..100u64), 1..6),
        -500_000..500_000i64,
    )
        .prop_map(|(cycle, parts, base)| {
            let total: u64 = parts.iter().map(|part| part.1).sum();
            let mut left = cycle;
            let count = parts.len();
            let entry = |(n, (mask, share)): (usize, (u8, u64))| {
                let long = if n + 1 == count { left } else { cycle * share / total };
                left -= long;
                (mask, long)
            };
            (base, parts.into_iter().enumerate().map(entry).filter(|entry| entry.1 > 0).collect::<Vec<_>>())
        });
    let shaper = prop_oneof![
        3 => (Just(None), scheduled.prop_map(Some)),
        4 => (reserved.clone().prop_map(Some), Just(None)),
        3 => (Just(None), (-500_000..500_000i64, entries.clone()).prop_map(Some)),
        2 => (reserved.prop_map(Some), (-500_000..500_000i64, entries.clone()).prop_map(Some)),
    ];
    let changes = prop::collection::vec((0..3_000_000i64, -100_000..1_000_000i64, entries.clone()), 0..3);
    let wrong =
        (0..2_000_000u64, 1..2_000_000u64, prop::option::weighted(0.7, (-500_000..500_000i64, entries)));
    let wrong = prop::option::weighted(0.15, wrong);
    let lists = prop::option::weighted(0.3, (prop::option::of(masks), changes));
    let limit = prop_oneof![5 => Just(None), 1 => (1..30u32).prop_map(Some)];
    let express = prop_oneof![Just(0x80), Just(0xc0), Just(0xe0), Just(0x40), any::<u8>()];
    let express = prop_oneof![2 => Just(None), 1 => express.prop_map(Some)];
    let advance = || prop_oneof![2 => Just(0), 1 => Just(1_000), 1 => Just(11_440), 1 => 0..20_000u64];
    let holds = prop::option::of((any::<Index>(), any::<Index>(), advance(), advance()));
    let unguarded = prop::bool::weighted(0.2);
    let stage = prop::option::weighted(0.3, anything::stage());
    let longest_wait = prop::option::weighted(0.2, (any::<u8>(), 1..400_000u64));
    let max_sdu = prop::option::weighted(0.2, (any::<u8>(), 40..1_500u32));
    let more = (wrong, stage, longest_wait, max_sdu);
    let parts = (any::<Index>(), shaper, limit, express, holds, lists, unguarded, more);
    parts.prop_map(|(port, (reserved, gates), limit, express, holds, lists, unguarded, more)| {
        let (wrong, stage, longest_wait, max_sdu) = more;
        Shape {
            port,
            reserved,
            gates,
            limit,
            express,
            holds,
            lists,
            unguarded,
            wrong,
            stage,
            longest_wait,
            max_sdu,
        }
    })
}

/// A plan with 1 to 12 streams over up to 7 nodes.
pub fn plan() -> impl Strategy<Value = Plan> {
    let net = prop_oneof![
        4 => prop::collection::vec(any::<Index>(), 1..7).prop_map(Topology::Tree),
        1 => (3..6usize).prop_map(Topology::Ring),
    ];
    let link = (prop::sample::select(&RATES[..]), 0..2_000_000u64, 0..5_000u64);
    let parts = (
        net,
        prop::collection::vec(link, 7),
        prop::collection::vec(talk(), 1..12),
        prop::collection::vec(shape(), 0..6),
        any::<u64>(),
        prop::option::weighted(0.3, cyclic::cyclic()),
    );
    parts.prop_map(|(net, links, talks, shapes, seed, turns)| {
        let mut plan = build(&net, &links, &talks, &shapes, seed);
        turns.iter().for_each(|turns: &Cyclic| cyclic::add(&mut plan, turns));
        plan
    })
}

fn build(shape: &Topology, links: &[(u64, u64, u64)], talks: &[Talk], shapes: &[Shape], seed: u64) -> Plan {
    let mut net = Net::new(3_000_000);
    net.plan.seed = seed;
    net.plan.drain_ns = 3_000_000;
    let count = match shape {
        Topology::Tree(parents) => parents.len() + 1,
        Topology::Ring(count) => *count,
    };
    let nodes: Vec<u32> = (0..count).map(|n| net.node(&format!("n{n}"), links[n].2)).collect();
    let mut parents = vec![0_usize];
    for n in 1..count {
        let parent = if let Topology::Tree(given) = shape { given[n - 1].index(n) } else { n - 1 };
        parents.push(parent);
        net.link(nodes[parent], nodes[n], links[n].0, links[n].1);
    }
    if matches!(shape, Topology::Ring(_)) {
        net.link(nodes[count - 1], nodes[0], links[0].0, links[0].1);
    }
    for (number, talk) in talks.iter().enumerate() {
        let (from, to) = (talk.from.index(count), talk.to.index(count));
        if from == to {
            continue;
        }
        let path: Vec<u32> = match shape {
            Topology::Tree(_) => path(&parents, from, to).into_iter().map(|n| nodes[n]).collect(),
            Topology::Ring(_) => {
                let steps = (to + count - from) % count;
                (0..=steps).map(|step| nodes[(from + step) % count]).collect()
            }
        };
        net.stream(&format!("s{number}"), &path, talk.pcp, talk.pattern.clone(), talk.size.clone());
        answer(&mut net.plan, talk);
    }
    for shape in shapes {
        // Only ports with streams, so that shapers have frames.
        let used: Vec<u32> =
            net.plan.streams.iter().flat_map(|s| s.route.iter().map(|hop| hop.port)).collect();
        if used.is_empty() {
            break;
        }
        let port = used[shape.port.index(used.len())] as usize;
        let own = &net.plan.ports[port];
        if own.server.is_some() || own.transmit_buffer.is_some() {
            continue;
        }
        if let Some(reserved) = shape.reserved {
            reserve(&mut net.plan, port, reserved);
        }
        if let Some(express) = shape.express {
            let own = &mut net.plan.ports[port];
            own.preemption = Some(tsn_plan::Preemption { express, ..Default::default() });
        }
        if let Some((base, entries)) = &shape.gates {
            net.plan.ports[port].gates = gates(*base, entries);
        }
        if let Some(gates) = &mut net.plan.ports[port].gates {
            gates.unguarded = shape.unguarded;
        }
        if let Some(lists) = &shape.lists {
            replace_lists(&mut net.plan, port, lists);
        }
        if let Some((from_ns, long, list)) = &shape.wrong {
            let gates = list.as_ref().and_then(|(base, entries)| gates(*base, entries)).map(Box::new);
            let wrong =
                Fault::Schedule { port: port as u32, from_ns: *from_ns, until_ns: from_ns + long, gates };
            net.plan.faults.push(wrong);
            if net.plan.check().is_err() {
                net.plan.faults.pop();
            }
        }
        if let Some(holds) = &shape.holds {
            hold(&mut net.plan, port, holds);
        }
        if let Some(stage) = shape.stage {
            let before = net.plan.ports[port].clone();
            anything::staged(&mut net.plan.ports[port], stage);
            if net.plan.check().is_err() {
                net.plan.ports[port] = before;
            }
        }
        if let Some((classes, most)) = shape.longest_wait.filter(|_| net.plan.ports[port].server.is_none()) {
            for (number, class) in net.plan.ports[port].classes.iter_mut().enumerate() {
                class.longest_wait_ns = (classes >> number & 1 == 1).then_some(most);
            }
        }
        if let Some((classes, most)) = shape.max_sdu {
            for (number, class) in net.plan.ports[port].classes.iter_mut().enumerate() {
                class.max_sdu_octets = (classes >> number & 1 == 1).then_some(most);
            }
        }
        if let Some(limit) = shape.limit {
            net.plan.ports[port].classes.iter_mut().for_each(|class| class.limit_frames = Some(limit));
        }
    }
    net.plan
}

/// A chain of answers to the last stream, up to the first one that is not valid in a Plan.
fn answer(plan: &mut Plan, talk: &Talk) {
    if !matches!(talk.pattern, Pattern::Periodic { .. }) {
        return;
    }
    for (pcp, octets, after_ns, late_ns, start_ns) in &talk.answers {
        let before = plan.clone();
        let request = plan.streams.len() - 1;
        let own = respond(plan, request, 0, *pcp, frame(*octets), *after_ns);
        own.start_ns = *start_ns;
        if let Pattern::Periodic { jitter_ns, .. } = &mut own.pattern {
            *jitter_ns = *late_ns;
        }
        if plan.check().is_err() {
            *plan = before;
            return;
        }
    }
}

/// Lets other lists follow the list of a port.
fn replace_lists(plan: &mut Plan, port: usize, (initial, changes): &Lists) {
    let before = plan.ports[port].clone();
    let own = &mut plan.ports[port];
    let Some(gates) = &mut own.gates else { return };
    gates.initial = *initial;
    if initial.is_some() {
        gates.base_time_ns = gates.base_time_ns.abs() * 3;
    }
    let mut changes = changes.clone();
    changes.sort_unstable();
    gates.changes = changes.iter().map(|(at, after, list)| change(*at, at + after, list)).collect();
    // Each list gives another idle slope, as a planner does whose windows have another length.
    for (number, class) in own.classes.iter().enumerate() {
        let Some(cbs) = &class.cbs else { continue };
        for (part, change) in (2..).zip(&mut gates.changes) {
            let bps = (cbs.idle_slope_bps * part / 3).min(cbs.idle_slope_bps - cbs.send_slope_bps - 1);
            change.idle_slopes.push(IdleSlope { class: number as u8, bps });
        }
    }
    if plan.check().is_err() {
        plan.ports[port] = before;
    }
}

/// Lets the list of a port with pre-emption hold preemptable frames.
fn hold(plan: &mut Plan, port: usize, (begins, ends, hold, release): &(Index, Index, u64, u64)) {
    let before = plan.ports[port].clone();
    let own = &mut plan.ports[port];
    let (Some(gates), Some(preemption)) = (&mut own.gates, &mut own.preemption) else { return };
    let count = gates.entries.len();
    gates.entries[begins.index(count)].mac = Some(MacOperation::Hold);
    gates.entries[ends.index(count)].mac = Some(MacOperation::Release);
    (preemption.hold_advance_ns, preemption.release_advance_ns) = (*hold, *release);
    if !gates.holds() || plan.check().is_err() {
        plan.ports[port] = before;
    }
}

/// Reservations with the planner's formulas (EnGINE eq. 2 to 6), scaled.
pub fn reserve(plan: &mut Plan, port: usize, (percent, [high, low, send]): Reserved) {
    let part = |whole: f64, percent: u32| whole * f64::from(percent) / 100.0;
    let rate = plan.ports[port].rate_bps as f64;
    let mut interference = f64::from(FULL + 20) * 8.0 / rate;
    for class in [5_u8, 4] {
        let here = plan
            .streams
            .iter()
            .filter(|stream| stream.pcp == class && stream.route.iter().any(|hop| hop.port as usize == port));
        let (mut idle, mut largest) = (0.0, 0.0_f64);
        for stream in here {
            let wire: f64 = match &stream.size {
                Size::Frame { octets } => f64::from(octets + 20) * 8.0,
                Size::List { octets } => {
                    octets.iter().map(|octets| f64::from(octets + 20) * 8.0).fold(0.0, f64::max)
                }
                Size::Units { octets, .. } => octets
                    .iter()
                    .map(|unit| f64::from(unit + (unit.saturating_sub(1) / 1_472 + 1) * 70).max(84.0) * 8.0)
                    .fold(0.0, f64::max),
            };
            largest = largest.max(wire.min(f64::from(FULL + 20) * 8.0));
            idle += match stream.pattern {
                Pattern::Periodic { period_ns, .. } => wire * 1e9 / period_ns as f64,
                Pattern::TokenBucket { rate_bps, .. } => rate_bps as f64,
                _ => rate / 20.0,
            };
        }
        let idle = part(idle, percent).ceil();
        if idle <= 0.0 || idle >= rate * 0.9 {
            continue;
        }
        let high = part(idle * interference, high).ceil() as i64;
        let low = -part((rate - idle) * largest / rate, low).ceil() as i64;
        let send = part(rate - idle, send).ceil();
        interference += idle * interference / (rate - idle) + largest / rate;
        let shaper = cbs(idle as i64, (idle + send) as i64, high, low);
        plan.ports[port].classes[usize::from(class)].cbs = Some(shaper);
    }
}

/// The only path through a tree of nodes.
pub fn path(parents: &[usize], from: usize, to: usize) -> Vec<usize> {
    let up = |node: usize| {
        let mut nodes = vec![node];
        while nodes[nodes.len() - 1] != 0 {
            nodes.push(parents[nodes[nodes.len() - 1]]);
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

/// The relevant parts of a plan, for the message of a failure.
pub fn text(plan: &Plan) -> String {
    let mut lines = Vec::new();
    for port in plan.ports.iter().filter(|port| {
        plan.streams.iter().any(|s| s.route.iter().any(|hop| plan.ports[hop.port as usize].name == port.name))
    }) {
        let cbs: Vec<_> =
            port.classes.iter().enumerate().filter_map(|(n, c)| Some((n, c.cbs.as_ref()?))).collect();
        let processing = plan.nodes[port.node as usize].processing_ns;
        lines.push(format!(
            "{} {} bit/s, {} ps, node {processing} ns, cbs {cbs:?}, gates {:?}, limit {:?}, waits {:?}, {:?}, {:?}, buffer {:?}",
            port.name,
            port.rate_bps,
            port.propagation_ps,
            port.gates,
            port.classes[0].limit_frames,
            port.classes.iter().map(|class| class.longest_wait_ns).collect::<Vec<_>>(),
            port.preemption,
            port.server,
            port.transmit_buffer
        ));
    }
    for stream in &plan.streams {
        let ports: Vec<&str> =
            stream.route.iter().map(|hop| plan.ports[hop.port as usize].name.as_str()).collect();
        lines.push(format!(
            "{} pcp {} {:?} {:?} {ports:?} {:?} from {}",
            stream.name, stream.pcp, stream.pattern, stream.size, stream.answers, stream.start_ns
        ));
    }
    lines.extend(plan.faults.iter().map(|fault| format!("{fault:?}")));
    lines.extend(plan.policing.iter().map(|table| format!("{table:?}")));
    lines.join("\n")
}
