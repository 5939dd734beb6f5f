//! Bridges between their ports: processing times that differ from frame to frame, and shared memory.

use crate::common::*;
use proptest::prelude::*;
use tsn_plan::{Buffer, Destination, Further, Pattern, Plan, Point, Route, Size, Stage};

const MEGABIT_100: u64 = 100_000_000;

fn uniform(up_to_ns: u64) -> Option<Further> {
    Some(Further::Uniform { up_to_ns })
}

fn list(values_ns: &[u64], counts: &[u64]) -> Option<Further> {
    Some(Further::List { values_ns: values_ns.to_vec(), counts: counts.to_vec() })
}

/// Delays over one bridge, less the least possible delay.
fn further_delays(further: Option<Further>, pattern: Pattern, size: Size) -> Vec<i64> {
    let mut net = Net::new(1_000_000_000);
    let path = net.line(3, 1_000, GIGABIT, 0);
    net.plan.nodes[1].further = further;
    net.stream("s", &path, 0, pattern, size);
    let ends = net.tap_ends(&path);
    let (sightings, _) = run(&net.plan);
    // 64 octets on two links, with the preamble on the second one, and 1 us.
    delays(&sightings, ends, 0).iter().map(|delay| delay - 512 - 576 - 1_000).collect()
}

#[test]
fn uniform_processing_fills_its_range() {
    let found = further_delays(uniform(4_000), periodic(100_000, 0), frame(64));
    assert_eq!(found.len(), 10_000);
    assert!(found.iter().all(|further| (0..=4_000).contains(further)));
    // Standard error of the mean: 4 us / sqrt(12 * 10 000) = 11.5 ns.
    let mean = found.iter().sum::<i64>() / 10_000;
    assert!((mean - 2_000).abs() < 4 * 12, "{mean}");
    assert!(found.iter().any(|further| *further < 10) && found.iter().any(|further| *further > 3_990));
}

#[test]
fn measured_processing_has_the_shares_of_its_table() {
    let share = |counts: &[u64]| {
        let found = further_delays(list(&[0, 1_500, 7_000], counts), periodic(100_000, 0), frame(64));
        [0, 1_500, 7_000].map(|value| found.iter().filter(|further| **further == value).count())
    };
    // Four standard deviations: sqrt(10 000 p (1 - p)) is at most 50.
    for (counts, expected) in [(&[][..], [3_333, 3_333, 3_333]), (&[1, 2, 1], [2_500, 5_000, 2_500])] {
        let found = share(counts);
        assert_eq!(found.iter().sum::<usize>(), 10_000, "nothing but the table's values");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.abs_diff(expected) < 200, "{found} of {expected}");
        }
    }
    assert_eq!(share(&[0, 7, 0]), [0, 10_000, 0]);
}

/// 0.8 ns for each octet, beside the values of a list.
#[test]
fn processing_grows_with_the_octets_of_a_frame() {
    for octets in [64, 1_000] {
        let further = |values_ns: &[u64]| Further::PerOctet {
            per_octet_ps: 800,
            most_octets: 1_000,
            values_ns: values_ns.to_vec(),
            counts: Vec::new(),
        };
        let delays =
            |values: &[u64]| further_delays(Some(further(values)), periodic(100_000, 0), frame(octets));
        let wire = (i64::from(octets) - 64) * 16;
        // 51.2 ns of 64 octets end between two ticks of the stamps.
        let own = i64::from(octets) * 800 / 1_000;
        assert!(delays(&[0]).iter().all(|delay| (own..=own + 1).contains(&(delay - wire))));
        assert!(delays(&[300, 500]).iter().all(|delay| [300, 301, 500, 501].contains(&(delay - wire - own))));
    }
}

/// A slow frame delays the frames behind it, and they leave directly after it.
#[test]
fn frames_of_one_way_keep_their_order() {
    let burst = Size::Units { octets: vec![180], most_per_frame: 18, overhead: 46 };
    let mut net = Net::new(100_000_000);
    let path = net.line(3, 1_000, GIGABIT, 0);
    net.plan.nodes[1].further = list(&[0, 20_000], &[3, 1]);
    net.stream("s", &path, 0, periodic(100_000, 0), burst);
    let rx = net.tap(net.port(2, 1), Stage::Rx, Point::End);
    let (sightings, _) = run(&net.plan);
    let order: Vec<u64> = sightings.iter().filter(|one| one.tap == rx).map(|one| one.seq).collect();
    assert_eq!(order, (0..10_000).collect::<Vec<_>>());
    // In a burst of ten, no frame before the first slow one waits, and all later ones are behind it.
    let at = stamps(&sightings, rx, 0);
    let mut late = 0;
    for burst in at.chunks(10) {
        let begun = burst[0] / 100_000 * 100_000;
        let further: Vec<i64> = burst
            .iter()
            .zip(0..)
            .map(|(at, n): (&i64, i64)| at - begun - n * 672 - 576 * 2 - 1_000)
            .collect();
        assert!(further.windows(2).all(|pair| pair[1] >= pair[0] - 672), "{further:?}");
        let slow = further.iter().position(|further| *further > 0).unwrap_or(10);
        assert!(further[..slow].iter().all(|further| *further == 0));
        if slow < 10 {
            late += 1;
            assert_eq!(further[slow], 20_000, "the first slow one waits for its own draw alone");
        }
    }
    // 1 - 0.75^10 = 0.944 of the bursts; four standard deviations are 29.
    assert!((late - 944_i64).abs() < 29, "{late}");
}

#[test]
fn a_table_of_one_value_is_a_constant() {
    let of = |processing_ns, further: Option<Further>| {
        let mut net = Net::new(10_000_000);
        let path = net.line(4, processing_ns, GIGABIT, 0);
        for node in &mut net.plan.nodes {
            node.further = further.clone();
        }
        net.stream("a", &path, 3, Pattern::Poisson { mean_interval_ps: 20_000_000 }, frame(500));
        net.stream("b", &path, 0, Pattern::Saturating { backlog: 3 }, frame(FULL));
        net.tap_ends(&path);
        run(&net.plan)
    };
    assert_eq!(of(3_000, None), of(1_000, list(&[2_000], &[])));
    assert_eq!(of(3_000, None), of(3_000, uniform(0)));
}

/// Random values belong to the port at which a frame arrives: traffic at other ports does not change them.
#[test]
fn draws_are_addressed() {
    let of = |others: bool| {
        let (mut net, path) = Net::row(10_000_000, 3);
        let (side, far) = (net.node("side", 0), net.node("far", 0));
        net.link(side, 1, GIGABIT, 0);
        net.link(1, far, GIGABIT, 0);
        net.plan.nodes[1].further = uniform(5_000);
        net.stream("s", &path, 0, periodic(100_000, 0), frame(64));
        if others {
            net.stream("t", &[side, 1, far], 0, periodic(10_000, 0), frame(64));
        }
        let ends = net.tap_ends(&path);
        delays(&run(&net.plan).0, ends, 0)
    };
    assert_eq!(of(true), of(false));
}

/// A bridge `1` with two slow ports to 2 and 3, and one burst from 0 for each node of `to`.
fn burst(to: &[u32], change: impl Fn(&mut Plan)) -> tsn_sim::RunCounters {
    let mut net = Net::new(1_000_000);
    for name in ["talker", "bridge", "one", "other"] {
        net.node(name, 0);
    }
    net.link(0, 1, 10 * GIGABIT, 0);
    net.link(1, 2, MEGABIT_100, 0);
    net.link(1, 3, MEGABIT_100, 0);
    for node in to {
        let size = Size::Units { octets: vec![1_472 * 40], most_per_frame: 1_472, overhead: 50 };
        net.stream(&format!("to {node}"), &[0, 1, *node], 0, periodic(10_000_000, 0), size);
    }
    change(&mut net.plan);
    let (_, counters) = run(&net.plan);
    counters
}

fn buffer(octets: u64, alpha_permille: Option<u32>) -> impl Fn(&mut Plan) {
    move |plan| plan.nodes[1].buffer = Some(Buffer { octets, alpha_permille })
}

/// Memory that a single class uses is a limit of that class.
#[test]
fn a_buffer_of_one_queue_is_a_limit_of_octets() {
    for octets in [1_521, 1_522, 10 * 1_522, 10 * 1_522 + 5, 1_000_000] {
        let mut shared = burst(&[2], buffer(octets, None));
        let limited = burst(&[2], |plan| plan.ports[2].classes[0].limit_octets = Some(octets));
        let own = shared.buffers.remove(0);
        assert_eq!(shared, limited);
        assert_eq!(own.dropped_frames, limited.streams[0].dropped_in_network);
        assert_eq!(own.dropped_octets, own.dropped_frames * 1_522);
        assert_eq!(own.most_octets, limited.ports[2].classes[0].most_octets);
        // The first frame is forwarded at once; no other frame leaves during the arrival of the burst.
        let room = (octets / 1_522 + 1).min(40);
        assert!(own.dropped_frames.abs_diff(40 - room) <= 1, "{} of {octets}", own.dropped_frames);
    }
}

/// Memory that one port uses is missing at the other one; the memory never holds more than its size.
#[test]
fn ports_share_their_buffer() {
    let room = 20 * 1_522;
    let alone = burst(&[2], buffer(room, None));
    let both = burst(&[2, 3], buffer(room, None));
    let found = &both.buffers[0];
    assert_eq!((found.node.as_str(), found.most_octets), ("bridge", room));
    // Two streams of one talker, the second behind the first: the first one takes the free memory.
    assert_eq!(both.streams[0].dropped_in_network, alone.streams[0].dropped_in_network);
    assert!(both.streams[1].dropped_in_network > alone.streams[0].dropped_in_network + 10);
    let most: u64 = [2, 4].map(|port: usize| both.ports[port].classes[0].most_octets).iter().sum();
    assert!(most >= room, "they need not peak together");
}

/// In the steady state of dynamic thresholds each of n overloaded queues holds alpha / (1 + n alpha) of the
/// memory.
#[test]
fn dynamic_thresholds_leave_room_for_others() {
    let room = 30 * 1_522;
    for (alpha, share) in [(500, 10), (1_000, 15), (2_000, 20)] {
        let one = burst(&[2], buffer(room, Some(alpha)));
        let found = one.ports[2].classes[0].most_octets / 1_522;
        assert!((share - 1..=share).contains(&found), "alpha {alpha}: {found} of {share}");
        let both = burst(&[2, 3], buffer(room, Some(alpha)));
        assert!(both.ports[4].classes[0].most_octets > 1_522, "alpha {alpha} leaves the other port nothing");
        assert!(both.buffers[0].most_octets < room);
    }
}

#[test]
fn what_is_not_modelled_is_refused() {
    let problem = |change: &dyn Fn(&mut Plan)| {
        let (mut net, path) = Net::row(1_000_000, 3);
        net.stream("s", &path, 0, Pattern::Saturating { backlog: 2 }, frame(64));
        change(&mut net.plan);
        net.plan.check().unwrap_err().to_string()
    };
    let buffered = |node: usize, octets, alpha_permille| {
        problem(&move |plan: &mut Plan| plan.nodes[node].buffer = Some(Buffer { octets, alpha_permille }))
    };
    let further =
        |further: Option<Further>| problem(&move |plan: &mut Plan| plan.nodes[1].further = further.clone());
    assert!(buffered(0, 10_000, None).contains("a talker that saturates"));
    assert!(buffered(1, 0, None).contains("more than 0"));
    assert!(buffered(1, 1, Some(0)).contains("more than 0"));
    assert!(further(uniform(u64::MAX)).contains("ten days"));
    assert!(further(list(&[], &[])).contains("lists 0"));
    assert!(further(list(&[1, u64::MAX], &[])).contains("ten days"));
    assert!(further(list(&[1, 2], &[1])).contains("1 counts of 2 values"));
    assert!(further(list(&[1], &[0])).contains("0 in all"));
}

fn any_further() -> impl Strategy<Value = Option<Further>> {
    prop_oneof![
        1 => Just(None),
        2 => (0..20_000u64).prop_map(uniform),
        2 => prop::collection::vec((0..20_000u64, 1..9u64), 1..5).prop_map(|pairs| {
            let (values_ns, counts) = pairs.into_iter().unzip();
            Some(Further::List { values_ns, counts })
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// In any plan: frames are conserved, the frames of a stream arrive in order, and none earlier than the
    /// least delay allows.
    #[test]
    fn processing_times_keep_order_everywhere(
        plan in random::plan(),
        further in prop::collection::vec(any_further(), 7),
        express in prop::option::of(any::<u8>()),
        cut in prop::option::of(64..600u32),
    ) {
        let mut plan = plan;
        for (node, further) in plan.nodes.iter_mut().zip(&further) {
            node.further = further.clone();
            node.cut_through_octets = cut;
        }
        if let Some(express) = express {
            for port in plan.ports.iter_mut().step_by(3) {
                port.classes.iter_mut().for_each(|class| class.cbs = None);
                port.preemption = Some(tsn_plan::Preemption { express, ..Default::default() });
            }
        }
        let (sightings, _) = run(&plan);
        let mut last = std::collections::HashMap::new();
        let mut ordered = sightings.clone();
        ordered.sort_by_key(|one| one.t_ns);
        for one in &ordered {
            if random::Everywhere::place(one.tap).1 == 3
                && let Some(before) = last.insert((one.tap, one.stream), one.seq)
            {
                prop_assert!(before < one.seq, "{one:?} after {before}");
            }
        }
    }

    /// In any plan without saturating talkers: memory stays within its size, frames are conserved, and a
    /// large memory changes nothing.
    #[test]
    fn buffers_hold_on_any_plan(
        plan in random::plan(),
        octets in 64..20_000u64,
        alpha_permille in prop::option::of(1..4_000u32),
    ) {
        let mut plan = plan;
        plan.streams.retain(|stream| !matches!(stream.pattern, Pattern::Saturating { .. }));
        let (without, counted) = run(&plan);
        let mut shared = |octets, alpha_permille| {
            for node in &mut plan.nodes {
                node.buffer = Some(Buffer { octets, alpha_permille });
            }
            run(&plan)
        };
        let (sightings, mut counters) = shared(1 << 40, None);
        prop_assert_eq!(sightings, without);
        counters.buffers.clear();
        prop_assert_eq!(counters, counted);
        let (_, counters) = shared(octets, alpha_permille);
        assert_conserved(&counters);
        for buffer in &counters.buffers {
            prop_assert!(buffer.most_octets <= octets);
        }
        let dropped: u64 = counters.buffers.iter().map(|buffer| buffer.dropped_frames).sum();
        let of_ports: u64 =
            counters.ports.iter().flat_map(|port| &port.classes).map(|class| class.dropped_frames).sum();
        prop_assert!(dropped <= of_ports);
    }
}

/// A tree: each copy of a multicast frame has its own processing time.
#[test]
fn copies_of_a_frame_draw_for_themselves() {
    let mut net = Net::new(1_000_000);
    for name in ["talker", "bridge", "one", "other"] {
        net.node(name, 0);
    }
    net.link(0, 1, GIGABIT, 0);
    net.link(1, 2, GIGABIT, 0);
    net.link(1, 3, GIGABIT, 0);
    net.plan.nodes[1].further = uniform(100_000);
    let route = [(0, None), (2, Some(0)), (4, Some(0))].map(|(port, parent)| Route { port, parent });
    let ends = vec![Destination { node: 2, route: 1 }, Destination { node: 3, route: 2 }];
    net.tree("s", 0, route.to_vec(), ends, 0, periodic(1_000_000, 0), frame(64));
    let taps = [3, 5].map(|port| net.tap(port, Stage::Rx, Point::End));
    let (sightings, _) = run(&net.plan);
    assert_ne!(stamps(&sightings, taps[0], 0), stamps(&sightings, taps[1], 0));
}
