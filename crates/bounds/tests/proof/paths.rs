//! Streams in both directions around a ring, as member streams or one path at a time; babbling talkers; cut
//! links.

use crate::common::*;
use proptest::prelude::*;
use proptest::sample::Index;
use std::collections::HashMap;
use tsn_bounds::Bounds;
use tsn_plan::{
    Active, Algorithm, Destination, Fault, Identification, Merge, Pattern, Plan, Recovery, Redundancy,
    Rewritten, Route, Size, Span,
};

const RATES: [u64; 3] = [100_000_000, GIGABIT, 300_000_000];

#[derive(Clone, Debug)]
enum Paths {
    One,
    /// Member streams that merge: the algorithm's history (none: match) and the reset time.
    Copies(Option<u32>, u64),
    /// Member streams that all go on.
    All,
    /// One path until this instant, then the other path.
    InTurn(u64),
}

#[derive(Clone, Debug)]
pub struct Talk {
    from: Index,
    to: Index,
    pcp: u8,
    pattern: Pattern,
    size: Size,
    paths: Paths,
    babble: Option<(u64, u64)>,
}

fn talk() -> impl Strategy<Value = Talk> {
    let jitter = prop_oneof![3 => Just(0), 1 => 1..300_000u64];
    let periodic = (prop::sample::select(&[200u64, 250, 500, 1_000][..]), 0..500_000u64, jitter);
    let pattern = prop_oneof![
        9 => periodic.prop_map(|(us, offset_ns, jitter_ns)| Pattern::Periodic {
            period_ns: us * 1_000, offset_ns, jitter_ns
        }),
        2 => (1_600..4_000u64, 1_000_000..20_000_000u64)
            .prop_map(|(burst_octets, rate_bps)| Pattern::TokenBucket { burst_octets, rate_bps }),
        1 => (100_000_000..900_000_000u64).prop_map(|mean_interval_ps| Pattern::Poisson { mean_interval_ps }),
    ];
    let size = prop_oneof![
        3 => (64..1_500u32).prop_map(|octets| Size::Frame { octets }),
        1 => prop::collection::vec(0..3_000u32, 1..3).prop_map(|mut octets| {
            octets.sort_unstable();
            Size::Units { octets, most_per_frame: 1_472, overhead: 50 }
        }),
    ];
    let paths = prop_oneof![
        1 => Just(Paths::One),
        3 => (prop::option::weighted(0.7, 1..64u32), prop_oneof![Just(2_000_000_000u64), 1..300_000u64])
            .prop_map(|(history, reset)| Paths::Copies(history, reset)),
        1 => Just(Paths::All),
        1 => (1..3_000_000u64).prop_map(Paths::InTurn),
    ];
    let babble = prop::option::weighted(0.2, (0..2_000_000u64, 50_000..400_000u64));
    (any::<Index>(), any::<Index>(), 0..8u8, pattern, size, paths, babble).prop_map(
        |(from, to, pcp, pattern, size, paths, babble)| {
            let size = crate::draw::conforming(&pattern, size);
            Talk { from, to, pcp, pattern, size, paths, babble }
        },
    )
}

/// A ring of 3 to 6 nodes, each with a station.
pub fn plan() -> impl Strategy<Value = Plan> {
    let links = prop::collection::vec((prop::sample::select(&RATES[..]), 0..3_000u64), 3..7);
    let cut = prop::option::weighted(0.3, (any::<Index>(), 1..2_000_000u64, 1..1_000_000u64));
    (links, prop::collection::vec(talk(), 1..8), any::<bool>(), cut).prop_map(
        |(links, talks, stations, cut)| {
            let mut net = Net::new(3_000_000);
            net.plan.drain_ns = 4_000_000;
            let count = links.len();
            let ring: Vec<u32> = (0..count).map(|n| net.node(&format!("n{n}"), links[n].1)).collect();
            for n in 0..count {
                net.link(ring[n], ring[(n + 1) % count], links[n].0, 5_000);
            }
            let ends: Vec<u32> = if stations {
                let ends: Vec<u32> = (0..count).map(|n| net.node(&format!("s{n}"), 0)).collect();
                ends.iter().zip(&ring).for_each(|(end, node)| _ = net.link(*end, *node, GIGABIT, 5_000));
                ends
            } else {
                ring.clone()
            };
            for (number, talk) in talks.iter().enumerate() {
                add(&mut net, number, talk, &ring, &ends);
            }
            if let Some((link, from_ns, long)) = cut {
                let port = 2 * link.index(count) as u32;
                net.plan.faults.push(Fault::LinkDown { port, from_ns, until_ns: from_ns + long });
            }
            net.plan
        },
    )
}

fn add(net: &mut Net, number: usize, talk: &Talk, ring: &[u32], ends: &[u32]) {
    let count = ring.len();
    let (from, to) = (talk.from.index(count), talk.to.index(count));
    if from == to {
        return;
    }
    let stations = ring[0] != ends[0];
    let mut route: Vec<Route> = Vec::new();
    if stations {
        route.push(Route { port: net.port(ends[from], ring[from]), parent: None });
    }
    let begin = route.len() as u32;
    let mut around = |net: &Net, steps: usize, by: usize| {
        let first = route.len() as u32;
        for step in 0..steps {
            let (a, b) = ((from + step * by) % count, (from + (step + 1) * by) % count);
            let before = if step > 0 { Some(route.len() as u32 - 1) } else { begin.checked_sub(1) };
            route.push(Route { port: net.port(ring[a], ring[b]), parent: before });
        }
        (first, route.len() as u32 - 1)
    };
    let clockwise = (to + count - from) % count;
    let one = around(net, clockwise, 1);
    let other = if let Paths::One = talk.paths { one } else { around(net, count - clockwise, count - 1) };
    let mut last = one.1;
    if stations {
        route.push(Route { port: net.port(ring[to], ends[to]), parent: Some(last) });
        last = route.len() as u32 - 1;
    }
    let entries = route.len();
    let listeners = vec![Destination { node: ends[to], route: last }];
    let (pattern, size) = (talk.pattern.clone(), talk.size.clone());
    let stream = net.tree(&format!("s{number}"), ends[from], route, listeners, talk.pcp, pattern, size);
    let within = |path: (u32, u32), entry: usize| (path.0..=path.1).contains(&(entry as u32));
    let merges = vec![Merge { from: vec![one.1, other.1] }];
    stream.redundancy = match talk.paths {
        Paths::One => None,
        Paths::All => Some(Box::new(Redundancy { merges, ..Redundancy::default() })),
        Paths::InTurn(at) => {
            let spans = |from_ns, until_ns| vec![Span { from_ns, until_ns }];
            let active = vec![
                Active { route: one.0, spans: spans(0, at) },
                Active { route: other.0, spans: spans(at, u64::MAX >> 12) },
            ];
            Some(Box::new(Redundancy { merges, active, ..Redundancy::default() }))
        }
        Paths::Copies(history, reset_ns) => {
            let copy = |entry| u8::from(within(one, entry)) + 2 * u8::from(within(other, entry));
            // Every second stream has another priority on its paths.
            let identification = match (reset_ns / 7 % 16) as u8 {
                pcp @ 0..8 => Identification::Active(Rewritten {
                    destination_mac: format!("02:cb:00:00:00:{number:02x}"),
                    vid: 200,
                    pcp,
                }),
                _ => Identification::Null,
            };
            let algorithm = history.map_or(Algorithm::Match, |history| Algorithm::Vector { history });
            Some(Box::new(Redundancy {
                copies: (0..entries).map(copy).collect(),
                merges,
                recovery: Some(Recovery {
                    identification,
                    algorithm,
                    reset_ns,
                    individual: reset_ns % 3 == 0,
                    latent: None,
                }),
                ..Redundancy::default()
            }))
        }
    };
    let stream = net.plan.streams.len() as u32 - 1;
    if let Some((from_ns, every_ns)) = talk.babble {
        net.plan.faults.push(Fault::Babble { stream, from_ns, until_ns: from_ns + 700_000, every_ns });
    }
}

/// Compares a run with its bounds. An error names the frame and the bound; the result is the ratio of bound
/// and longest delay for every bounded flow, and the number of streams that lose no frame.
pub fn watch(plan: &Plan, bounds: &Bounds) -> Result<(Vec<f64>, u64), String> {
    let mut plan = plan.clone();
    crate::watch::tap_everywhere(&mut plan);
    let (sightings, counters) = run(&plan);
    // Stream, port, place, sequence number -> first and last observation in ns.
    let mut at: HashMap<(u32, usize, usize, u64), (i64, i64)> = HashMap::new();
    for one in &sightings {
        let (port, place) = crate::common::random::Everywhere::place(one.tap);
        let t = one.t_ns.unwrap_or(0);
        let known = at.entry((one.stream, port, place, one.seq)).or_insert((t, t));
        *known = (known.0.min(t), known.1.max(t));
    }
    let mut ratios = Vec::new();
    for (number, (stream, flow)) in plan.streams.iter().zip(&bounds.flows).enumerate() {
        let number = number as u32;
        let roots: Vec<usize> =
            stream.route.iter().filter(|hop| hop.parent.is_none()).map(|hop| hop.port as usize).collect();
        let ends: Vec<u32> = match &stream.redundancy {
            Some(own) if own.merges[0].from[0] == stream.listeners[0].route => own.merges[0].from.clone(),
            _ => vec![stream.listeners[0].route],
        };
        let mut longest = 0;
        let sent = at.keys().filter(|key| key.0 == number && key.2 == 0).map(|key| key.3);
        for seq in sent {
            let first = |place: usize| {
                roots.iter().filter_map(|port| at.get(&(number, *port, place, seq))).map(|seen| seen.0).min()
            };
            for end in &ends {
                let rx = plan.ports[stream.route[*end as usize].port as usize].peer as usize;
                let Some((early, late)) = at.get(&(number, rx, 3, seq)).copied() else { continue };
                let Some(release) = first(0) else { continue };
                longest = longest.max(late - release);
                for arrived in [early, late] {
                    crate::watch::within(arrived - release, flow.release_lower_ps, flow.release_upper_ps)
                        .map_err(|text| format!("{} #{seq} from its release: {text}", flow.stream))?;
                    let Some(begun) = first(1) else { continue };
                    crate::watch::within(arrived - begun, flow.lower_ps, flow.upper_ps)
                        .map_err(|text| format!("{} #{seq} from its tx stamp: {text}", flow.stream))?;
                }
            }
        }
        if let (Some(upper), 1..) = (flow.release_upper_ps, longest) {
            ratios.push(upper as f64 / (longest * 1_000) as f64);
        }
    }
    crate::watch::queues(bounds, &counters, |_, _, _| ())?;
    let (lossless, _) = crate::watch::losses(&plan, bounds, &counters, &sightings)?;
    Ok((ratios, lossless))
}
