//! Whether a frame may be lost on its path, and the reason.

use crate::common::*;
use tsn_bounds::{Reason, bounds};
use tsn_plan::{Algorithm, Buffer, Fault, Plan, Policing, Size, StreamFilter};

/// Four frames of 480 octets, each of another talker, are in the queue `bridge -> sink` at once.
fn four(alter: impl FnOnce(&mut Plan)) -> Option<Reason> {
    let mut net = Net::new(1_000_000);
    let [sink, bridge] = ["sink", "bridge"].map(|name| net.node(name, 0));
    net.link(bridge, sink, GIGABIT, 0);
    for number in 0..4 {
        let talker = net.node(&format!("t{number}"), 0);
        net.link(talker, bridge, GIGABIT, 0);
        net.stream(&format!("f{number}"), &[talker, bridge, sink], 5, periodic(100_000, 0), frame(480));
    }
    alter(&mut net.plan);
    net.plan.check().unwrap();
    bounds(&net.plan).flows[0].loss_reason.clone()
}

fn there(why: Reason) -> Option<Reason> {
    Some(Reason::At { port: "bridge -> sink".into(), why: Box::new(why) })
}

#[test]
fn a_queue_has_to_have_room_for_more_than_its_bound() {
    assert_eq!(four(|_| ()), None);
    let frames = |most| four(|plan| plan.ports[0].classes[5].limit_frames = Some(most));
    assert_eq!((frames(4), frames(5)), (there(Reason::Overflow), None));
    let octets = |most| four(|plan| plan.ports[0].classes[5].limit_octets = Some(most));
    assert_eq!((octets(4 * 480), octets(4 * 480 + 1)), (there(Reason::Overflow), None));
    // The queue has room for the number of frames, but not for their octets.
    let both = four(|plan| {
        (plan.ports[0].classes[5].limit_frames, plan.ports[0].classes[5].limit_octets) =
            (Some(9), Some(1_000));
    });
    assert_eq!(both, there(Reason::Overflow));
    // The queue of another class.
    assert_eq!(four(|plan| plan.ports[0].classes[4].limit_frames = Some(1)), None);
    let another = four(|plan| {
        let low = tsn_plan::Stream { name: "low".into(), pcp: 4, ..plan.streams[3].clone() };
        plan.streams.push(low);
        plan.ports[0].classes[4].limit_frames = Some(1);
    });
    assert_eq!(another, None);
}

/// A queue that grows without end overflows only if it has a limit.
#[test]
fn an_overload_takes_frames_where_a_queue_is_limited() {
    let slow = |limit| {
        four(|plan| {
            plan.ports[0].rate_bps = 100_000_000;
            plan.ports[0].classes[5].limit_frames = limit;
        })
    };
    assert_eq!(slow(None), None);
    // Four frames of 4,000 bit in 100 us.
    assert_eq!(slow(Some(9)), there(Reason::Overload { coming_bps: 160_000_000, served_bps: 100_000_000 }));
}

/// Behind the port that lets too many frames wait, the next one may have no room for them either.
#[test]
fn a_queue_that_grows_before_is_named_first() {
    let named = |rate_bps| {
        let (mut net, path) = Net::row(1_000_000, 3);
        net.stream("s", &path, 5, periodic(100_000, 0), frame(1_232));
        for (port, limit) in [(0, 9), (2, 1)] {
            net.plan.ports[port].rate_bps = rate_bps;
            net.plan.ports[port].classes[5].limit_frames = Some(limit);
        }
        net.plan.check().unwrap();
        bounds(&net.plan).flows[0].loss_reason.clone()
    };
    let at = |port: &str, why| Some(Reason::At { port: port.into(), why: Box::new(why) });
    // 1,252 octets in 100 us.
    let grows = Reason::Overload { coming_bps: 100_160_000, served_bps: 100_000_000 };
    assert_eq!(named(100_000_000), at("n0 -> n1", grows));
    assert_eq!(named(1_000_000_000), at("n1 -> n2", Reason::Overflow));
}

/// A frame waits for three others of 4 us each, and is dropped if that is its longest time.
#[test]
fn a_frame_has_to_wait_for_less_than_the_longest_time() {
    let longest = |class: usize, ns| four(|plan| plan.ports[0].classes[class].longest_wait_ns = Some(ns));
    assert_eq!((longest(5, 12_000), longest(5, 12_001)), (there(Reason::DelayExceeded), None));
    assert_eq!(longest(4, 1), None);
    let slow = four(|plan| {
        plan.ports[0].rate_bps = 100_000_000;
        plan.ports[0].classes[5].longest_wait_ns = Some(1_000_000);
    });
    assert_eq!(slow, there(Reason::Overload { coming_bps: 160_000_000, served_bps: 100_000_000 }));
}

/// A frame of 480 octets has 458 octets of service data unit.
#[test]
fn a_frame_has_to_fit_its_class_and_a_window() {
    let most = |octets| four(|plan| plan.ports[0].classes[5].max_sdu_octets = Some(octets));
    assert_eq!(
        (most(458), most(457), most(456)),
        (None, there(Reason::OverMaxSdu), there(Reason::OverMaxSdu))
    );
    // 488 octets with preamble take 3,904 ns.
    let window = |ns, sizes: Option<&[u32]>| {
        four(|plan| {
            plan.ports[0].gates = gates(0, &[(0x20, ns), (0, 1_000)]);
            if let Some(octets) = sizes {
                plan.streams[0].size = Size::List { octets: octets.to_vec() };
            }
        })
    };
    assert_eq!((window(3_904, None), window(3_903, None)), (None, there(Reason::Dropped)));
    // The largest of all sizes counts.
    assert_eq!(window(3_904, Some(&[100, 480])), None);
    assert_eq!(window(3_903, Some(&[100, 480])), there(Reason::Dropped));
}

#[test]
fn what_is_not_known_may_lose_frames() {
    // A list that begins late has room for these frames in the end, or not.
    let initial = |open_ns| {
        four(|plan| {
            plan.ports[0].gates = gates(0, &[(0x20, open_ns), (0, 50_000)]);
            plan.ports[0].gates.as_mut().unwrap().initial = Some(0);
        })
    };
    assert_eq!((initial(50_000), initial(3_903)), (None, there(Reason::Dropped)));
    let buffer = four(|plan| plan.nodes[1].buffer = Some(Buffer { octets: 1_000_000, alpha_permille: None }));
    assert_eq!(buffer, there(Reason::Buffer));
}

/// Ports 0 and 1 are the link `bridge - sink`, 2 and 3 the link of the flow's talker, 4 and 5 that of another one.
#[test]
fn faults_take_frames_of_the_flows_that_they_reach() {
    let fault = |fault| four(|plan| plan.faults.push(fault));
    let (from_ns, until_ns) = (0, 1_000);
    let model = tsn_plan::LossModel::Bernoulli { loss_ppm: 1 };
    let first = |why: Reason| Some(Reason::At { port: "t0 -> bridge".into(), why: Box::new(why) });
    for (port, found) in [
        (0, there(Reason::Taken)),
        (1, there(Reason::Taken)),
        (2, first(Reason::Taken)),
        (3, first(Reason::Taken)),
        (4, None),
        (5, None),
    ] {
        assert_eq!(fault(Fault::LinkDown { port, from_ns, until_ns }), found, "{port}");
        // Only frames that leave by the port are lost.
        let lost = fault(Fault::Loss { port, from_ns, until_ns, model });
        assert_eq!(lost, found.filter(|_| port % 2 == 0), "{port}");
    }
    let down = |node| fault(Fault::NodeDown { node, from_ns, until_ns });
    assert_eq!(
        [down(0), down(1), down(2), down(3)],
        [there(Reason::Taken), there(Reason::Taken), first(Reason::Taken), None]
    );
    let wrong = |port| fault(Fault::Schedule { port, from_ns, until_ns, gates: None });
    assert_eq!((wrong(0), wrong(4)), (None, None));
    assert_eq!(fault(Fault::Babble { stream: 3, from_ns, until_ns, every_ns: 1_000_000 }), None);
}

#[test]
fn filters_take_frames_of_the_flows_that_match() {
    let filter = StreamFilter { name: "own".into(), meter: Some(0), ..StreamFilter::default() };
    let meter =
        tsn_plan::FlowMeter { cir_bps: 1_000_000_000, cbs_octets: 10_000, ..tsn_plan::FlowMeter::default() };
    let at = |node, filter: &StreamFilter| {
        let table = Policing {
            node,
            filters: vec![filter.clone()],
            meters: vec![meter.clone()],
            ..Policing::default()
        };
        let told = four(|plan| plan.policing.push(table));
        told.map(|reason| reason.to_string())
    };
    let bridge =
        Some("at t0 -> bridge: filters, meters or schedulers of the plan may drop frames".to_string());
    let sink =
        Some("at bridge -> sink: filters, meters or schedulers of the plan may drop frames".to_string());
    assert_eq!([at(1, &filter), at(0, &filter), at(2, &filter)], [bridge.clone(), sink, None]);
    let own = |alter: &dyn Fn(&mut StreamFilter)| {
        let mut other = filter.clone();
        alter(&mut other);
        at(1, &other)
    };
    // Other ports, streams and priorities are not this flow's.
    for (port, reached) in [(3, true), (5, false)] {
        assert_eq!(own(&|filter| filter.ports = vec![port]).is_some(), reached, "{port}");
    }
    for (stream, reached) in [(0, true), (3, false)] {
        assert_eq!(own(&|filter| filter.streams = vec![stream]).is_some(), reached, "{stream}");
    }
    for (priority, reached) in [(5, true), (4, false)] {
        assert_eq!(own(&|filter| filter.priority = Some(priority)).is_some(), reached, "{priority}");
    }
    // A filter without functions drops nothing, nor does a limit that no frame exceeds.
    assert_eq!(own(&|filter| filter.meter = None), None);
    for (most, block, reached) in [(458, false, false), (457, false, true), (458, true, true)] {
        let limited = own(&|filter| {
            (filter.meter, filter.max_sdu_octets, filter.block_oversize) = (None, Some(most), block);
        });
        assert_eq!(limited.is_some(), reached, "{most} {block}");
    }
}

/// A stream of 800 octets every 100 us over two paths that meet at `m`, with another recovery function and other faults:
/// why no copy may arrive, and how often one may.
fn copies(rates: [u64; 2], alter: impl FnOnce(&mut Plan, &mut tsn_plan::Recovery)) -> (Option<Reason>, u32) {
    let mut plan = crate::common::wrong::two_paths(rates, &[]);
    let mut recovery = plan.streams[0].redundancy.as_ref().unwrap().recovery.clone().unwrap();
    alter(&mut plan, &mut recovery);
    plan.streams[0].redundancy.as_mut().unwrap().recovery = Some(recovery);
    plan.check().unwrap();
    let flow = &bounds(&plan).flows[0];
    (flow.loss_reason.clone(), flow.most_arrivals.unwrap())
}

fn at(place: &str, why: Reason) -> Option<Reason> {
    Some(Reason::At { port: place.into(), why: Box::new(why) })
}

const OVERLOAD: Reason = Reason::Overload { coming_bps: 66_080_000, served_bps: 10_000_000 };

/// 826 octets in 100 us are 66.08 Mbit/s.
#[test]
fn one_path_without_loss_is_enough() {
    let both = [GIGABIT; 2];
    assert_eq!(copies(both, |_, _| ()), (None, 1));
    let cut = |port| Fault::LinkDown { port, from_ns: 0, until_ns: 1_000 };
    let down =
        |ports: &[u32]| copies(both, |plan, _| plan.faults.extend(ports.iter().map(|port| cut(*port)))).0;
    assert_eq!([down(&[2]), down(&[8]), down(&[0])], [None, None, at("t -> s", Reason::Taken)]);
    let each = ["s -> x", "y -> m"].map(|port| at(port, Reason::Taken).unwrap());
    assert_eq!(down(&[2, 8]), Some(Reason::EveryPath(each.to_vec())));
    // One queue without room for a frame, or both; and the queue behind the merge.
    let full = |ports: &[usize]| {
        copies(both, |plan, _| {
            ports.iter().for_each(|port| plan.ports[*port].classes[3].limit_frames = Some(1))
        })
        .0
    };
    assert_eq!((full(&[2]), full(&[10])), (None, at("m -> l", Reason::Overflow)));
    let each = ["x -> m", "s -> y"].map(|port| at(port, Reason::Overflow).unwrap());
    assert_eq!(full(&[6, 4]), Some(Reason::EveryPath(each.to_vec())));
}

/// On the second path a frame takes 250 us longer at `y`: the copies of three frames may come between those of one.
#[test]
fn a_history_is_as_long_as_what_comes_between_two_copies() {
    let with = |history, reset_us: u64| {
        copies([GIGABIT; 2], |plan, recovery| {
            plan.nodes[3].processing_ns += 250_000;
            (recovery.algorithm, recovery.reset_ns) = (Algorithm::Vector { history }, reset_us * 1_000);
        })
    };
    let needs = |needed, history, reset| at("m", Reason::History { needed, history, reset });
    // All frames come by the first path in time: the function needs to know the last two.
    assert_eq!((with(2, 2_000_000), with(1, 2_000_000)), ((None, 1), (needs(2, 1, false), 1)));
    // A function that is reset within a period accepts the late copies: of each frame, and of the three after it.
    assert_eq!((with(6, 90), with(5, 90)), ((None, 2), (needs(6, 5, true), 2)));
    // The copies of the frame behind are 350 us apart from it.
    assert_eq!((with(64, 250), with(64, 251)), ((None, 2), (None, 1)));
    // Each path with a function of its own.
    let own = |history| {
        copies([GIGABIT; 2], |plan, recovery| {
            plan.nodes[3].processing_ns += 250_000;
            (recovery.algorithm, recovery.individual) = (Algorithm::Vector { history }, true);
        })
        .0
    };
    assert_eq!((own(2), own(1)), (None, needs(2, 1, false)));
    // A function that remembers the last number only accepts a late copy, too.
    let last = copies([GIGABIT; 2], |plan, recovery| {
        plan.nodes[3].processing_ns += 250_000;
        recovery.algorithm = Algorithm::Match;
    });
    assert_eq!(last, (None, 2));
}

/// If frames are lost on the fast path, those of the slow one are the first of their numbers.
#[test]
fn the_path_without_loss_decides_on_the_history() {
    let with = |history| {
        copies([GIGABIT; 2], |plan, recovery| {
            plan.nodes[3].processing_ns += 250_000;
            recovery.algorithm = Algorithm::Vector { history };
            plan.faults.push(Fault::LinkDown { port: 2, from_ns: 0, until_ns: 1_000 });
        })
        .0
    };
    assert_eq!((with(4), with(3)), (None, at("m", Reason::History { needed: 4, history: 3, reset: false })));
}

/// The second path is slower than the stream: when its copies arrive has no bound.
#[test]
fn a_path_without_a_bound_harms_only_where_numbers_are_forgotten() {
    let with = |reset_us: u64, duration_ms: u64| {
        copies([GIGABIT, 10_000_000], |plan, recovery| {
            (recovery.reset_ns, plan.duration_ns) = (reset_us * 1_000, duration_ms * 1_000_000);
            plan.drain_ns = 0;
        })
    };
    assert_eq!(with(2_000_000, 3), (None, 2));
    let (late, _) = with(100, 3);
    assert_eq!(late, at("m", at("s -> y", OVERLOAD).unwrap()));
    // After 6.55 s the numbers begin again.
    assert_eq!(with(2_000_000, 6_000).0, None);
    assert!(
        matches!(with(2_000_000, 7_000).0, Some(Reason::At { why, .. }) if matches!(*why, Reason::Repeats { .. }))
    );
}

#[test]
fn a_standby_path_that_nothing_needs_loses_nothing() {
    let with = |until_ns| {
        let mut plan = crate::common::wrong::two_paths([GIGABIT; 2], &[]);
        let spans = |from_ns, until_ns| vec![tsn_plan::Span { from_ns, until_ns }];
        let own = plan.streams[0].redundancy.as_mut().unwrap();
        (own.copies, own.recovery) = (Vec::new(), None);
        own.active = vec![
            tsn_plan::Active { route: 1, spans: spans(0, until_ns) },
            tsn_plan::Active { route: 2, spans: spans(until_ns, until_ns + 1_000_000) },
        ];
        plan.check().unwrap();
        let flow = &bounds(&plan).flows[0];
        (flow.loss_reason.clone(), flow.most_arrivals)
    };
    assert_eq!(with(1 << 40), (None, Some(1)));
    let each = ["s -> x", "s -> y"].map(|port| at(port, Reason::StandsBy).unwrap());
    assert_eq!(with(1_000_000), (Some(Reason::EveryPath(each.to_vec())), Some(1)));
}

/// The copies of the path without loss come 250 us after the earliest ones. On clocks of 1,000 ppm, the talker's 100 us may
/// take 0.1 us longer, and the reset time of 350.45 us is 0.35 us shorter. A function that is reset before needs a longer
/// history.
#[test]
fn a_slow_clock_makes_the_time_between_frames_longer() {
    let found = |ppm: i64, reset_ns: u64| {
        let alter = |plan: &mut Plan, recovery: &mut tsn_plan::Recovery| {
            plan.nodes[3].processing_ns += 250_000;
            (recovery.algorithm, recovery.reset_ns) = (Algorithm::Vector { history: 4 }, reset_ns);
            plan.faults.push(Fault::LinkDown { port: 2, from_ns: 0, until_ns: 1_000 });
            let clock = tsn_plan::NodeClock { deviation_ppt: ppm * 1_000_000, ..Default::default() };
            let nodes = vec![clock; plan.nodes.len()];
            plan.clocks = Some(tsn_plan::Clocks {
                nodes,
                record_ns: 1_000_000,
                within_ns: None,
                gptp: None,
                faults: vec![],
            });
        };
        copies([GIGABIT; 2], alter).0.is_none()
    };
    assert_eq!([350_000, 350_005].map(|reset_ns| found(0, reset_ns)), [false, true]);
    for ppm in [-1_000, 1_000] {
        assert_eq!([350_450, 350_460].map(|reset_ns| found(ppm, reset_ns)), [false, true]);
    }
}

/// A token bucket limits what a talker sends, not its silence; an answer to a request that is lost is never sent.
#[test]
fn a_function_may_be_reset_while_a_talker_is_silent() {
    let with = |history, pattern: fn(&mut Plan)| {
        copies([GIGABIT; 2], |plan, recovery| {
            plan.nodes[3].processing_ns += 250_000;
            recovery.algorithm = Algorithm::Vector { history };
            pattern(plan);
        })
        .0
    };
    // The same frames, as often as a bucket of 826 octets gains them.
    let bucket = |plan: &mut Plan| {
        plan.streams[0].pattern = tsn_plan::Pattern::TokenBucket { burst_octets: 826, rate_bps: 66_080_000 };
    };
    assert_eq!([2, 6].map(|history| with(history, |_| ())), [None, None]);
    let needs = at("m", Reason::History { needed: 6, history: 5, reset: true });
    assert_eq!((with(5, bucket), with(6, bucket)), (needs, None));
}
