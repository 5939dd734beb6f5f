//! Each part of a correct Plan is broken in turn; each time the checker finds the violation.

use crate::common::{plan, saturate};
use tsn_plan::{
    ClockFault, Destination, Plan, Policing, Regeneration, Route, Size, StreamFilter, StreamGate,
    StreamGateEntry,
};
use tsn_schedule::generators::{Family, Shape};
use tsn_schedule::{Effort, Limits, Link, Node, Problem, Stream, gate_lists, solve};
use tsn_verify::{Known, Unfit, Violation, verify};

fn good(queues: u8, margin_ps: i64) -> Plan {
    let family = Family {
        shape: Shape::Line,
        bridges: 4,
        streams: 40,
        stations: 2,
        queues,
        periods_ns: vec![250_000, 500_000],
        seed: 3,
        ..Family::default()
    };
    let mut problem = family.draw();
    problem.links.iter_mut().for_each(|link| link.margin_ps = margin_ps);
    of(&problem)
}

fn of(problem: &Problem) -> Plan {
    let outcome = solve(problem.clone(), &Effort::default()).unwrap();
    assert!(outcome.refused.is_empty());
    let lists: Vec<_> = gate_lists(problem, &outcome.placed).into_iter().map(Result::unwrap).collect();
    let mut plan = plan(problem, &outcome.placed, &lists, 1_000_000);
    saturate(&mut plan);
    plan.check().unwrap();
    assert_eq!(found(&plan), []);
    plan
}

fn found(plan: &Plan) -> Vec<Violation> {
    verify(plan, &Known::default()).violations
}

/// Two streams that leave a bridge over one link; the second one's frame arrives during the first one's
/// transmission and waits.
fn waiting() -> Plan {
    let station = Node { processing_ps: 0, forwards: false };
    let bridge = Node { processing_ps: 1_000_000, forwards: true };
    let mut links = Vec::new();
    for (from, to) in [(0, 3), (3, 0), (1, 3), (3, 1), (3, 2), (2, 3)] {
        links.push(Link {
            from,
            to,
            rate_bps: 1_000_000_000,
            propagation_ps: 0,
            margin_ps: 100_000,
            queues: 2,
            limits: Limits::default(),
        });
    }
    let stream = |talker| Stream {
        talker,
        listeners: vec![2],
        period_ns: 100_000,
        frames: vec![1_000],
        deadline_ns: 100_000,
        earliest_ns: 0,
        latest_ns: 0,
        tree: None,
        copies: 1,
        more_octets: Vec::new(),
        jitter_ns: None,
        queue: None,
    };
    let nodes = vec![station, station, station, bridge];
    of(&Problem { nodes, links, streams: vec![stream(0), stream(1)], granularity_ns: 1 })
}

#[test]
fn what_is_broken_is_found() {
    let broken = |change: &dyn Fn(&mut Plan), expected: &dyn Fn(&Violation) -> bool| {
        let mut plan = good(1, 50_000);
        change(&mut plan);
        let all = found(&plan);
        assert!(all.iter().any(expected), "{all:?}");
        assert!(all.iter().all(|violation| !violation.to_string().is_empty()));
    };
    broken(
        &|plan| {
            // An identical stream.
            let twin = plan.streams[0].clone();
            plan.streams.push(tsn_plan::Stream { name: "twin".into(), ..twin });
        },
        &|violation| matches!(violation, Violation::Meet { .. }),
    );
    broken(
        &|plan| {
            if let tsn_plan::Pattern::Periodic { offset_ns, .. } = &mut plan.streams[0].pattern {
                *offset_ns += 100_000;
            }
        },
        &|violation| matches!(violation, Violation::Closed { .. } | Violation::Meet { .. }),
    );
    broken(&|plan| plan.streams[0].scheduled.as_mut().unwrap().starts_ps[1][0] -= 1, &|violation| {
        matches!(violation, Violation::TooEarly { .. })
    });
    broken(&|plan| plan.streams[0].requirements.delay_ns = Some(1_000), &|violation| {
        matches!(violation, Violation::Deadline { stream: 0, .. })
    });
    broken(
        &|plan| {
            let limit = tsn_plan::Jitter { kind: "spread".into(), limit_ns: 99 };
            plan.streams[0].requirements.jitter.push(limit);
        },
        &|violation| matches!(violation, Violation::Jitter { jitter_ps: 100_000, .. }),
    );
    broken(
        &|plan| {
            let port = plan.streams[0].route[0].port as usize;
            plan.ports[port].gates.as_mut().unwrap().base_time_ns += 1;
        },
        &|violation| matches!(violation, Violation::Closed { .. } | Violation::OthersOpen { .. }),
    );
    broken(
        &|plan| {
            let port = plan.streams[0].route[0].port as usize;
            plan.ports[port].gates.as_mut().unwrap().entries.iter_mut().for_each(|entry| entry.open |= 1);
        },
        &|violation| matches!(violation, Violation::OthersOpen { class: 0, .. }),
    );
    broken(&|plan| plan.ports[plan.streams[0].route[0].port as usize].gates = None, &|violation| {
        matches!(violation, Violation::OthersOpen { .. })
    });
    broken(
        &|plan| plan.streams.iter_mut().filter(|own| own.scheduled.is_none()).for_each(|own| own.pcp = 7),
        &|violation| matches!(violation, Violation::SharedClass { .. }),
    );
    broken(&|plan| plan.streams[0].scheduled.as_mut().unwrap().margin_ps *= 20, &|violation| {
        matches!(violation, Violation::Closed { .. })
    });
    broken(
        &|plan| plan.ports.iter_mut().for_each(|port| port.classes[7].max_sdu_octets = Some(50)),
        &|violation| matches!(violation, Violation::TooLarge { .. }),
    );
    // A frame may arrive 50 ns early, and leave 50 ns late.
    let waits = |plan: &mut tsn_plan::Plan, most_ns| {
        plan.ports.iter_mut().for_each(|port| port.classes[7].longest_wait_ns = Some(most_ns));
    };
    broken(&|plan| waits(plan, 100), &|violation| {
        matches!(violation, Violation::Late { wait_ps: 100_000, most_ps: 100_000, .. })
    });
    broken(&|plan| plan.streams[0].size = Size::List { octets: vec![100, 200] }, &|violation| {
        matches!(violation, Violation::Unfit { reason: Unfit::Sizes, .. })
    });
    broken(
        &|plan| {
            plan.ports.iter_mut().filter_map(|port| port.gates.as_mut()).for_each(|own| own.unguarded = true)
        },
        &|violation| matches!(violation, Violation::UnfitPort { reason: Unfit::Gates, .. }),
    );
}

#[test]
fn frames_that_wait_are_kept_apart() {
    let plan = waiting();
    let late =
        (0..2).find(|number| plan.streams[*number].scheduled.as_ref().unwrap().starts_ps[1][0] > 10_000_000);
    let late = late.expect("one of them waits");
    // Both streams use the same queue.
    let mut shared = plan.clone();
    shared.streams[late].pcp = shared.streams[1 - late].pcp;
    assert!(found(&shared).iter().any(|violation| matches!(violation, Violation::SharedQueue { .. })));
    // The gate of the waiting frame opens a nanosecond early.
    let mut early = plan.clone();
    let port = early.streams[late].route[1].port as usize;
    let class = early.streams[late].pcp;
    let entries = &mut early.ports[port].gates.as_mut().unwrap().entries;
    let opens = (1..entries.len()).find(|at| entries[*at].open >> class & 1 == 1).unwrap();
    entries[opens - 1].interval_ns -= 1;
    entries[opens].interval_ns += 1;
    assert!(found(&early).iter().any(|violation| matches!(violation, Violation::GoesEarly { .. })));
}

#[test]
fn margins_cover_clocks() {
    let mut plan = good(1, 50_000);
    assert!(verify(&plan, &Known { clock_error_ps: Some(50_000) }).violations.is_empty());
    let clock = tsn_plan::NodeClock::default();
    let nodes = vec![clock; plan.nodes.len()];
    plan.clocks = Some(tsn_plan::Clocks {
        nodes,
        record_ns: 1_000_000,
        within_ns: None,
        gptp: None,
        faults: Vec::new(),
    });
    assert_eq!(found(&plan), []);
    let short = |plan: &Plan, known: Known| {
        verify(plan, &known).violations.iter().any(|violation| matches!(violation, Violation::Margin { .. }))
    };
    assert!(short(&plan, Known { clock_error_ps: Some(50_001) }));
    plan.clocks.as_mut().unwrap().nodes[0].offset_ns = 51;
    assert!(short(&plan, Known::default()));
    plan.clocks.as_mut().unwrap().nodes[0].offset_ns = 0;
    plan.clocks.as_mut().unwrap().nodes[0].deviation_ppt = 1_000_000;
    assert!(short(&plan, Known::default()));
    plan.clocks.as_mut().unwrap().nodes[0].deviation_ppt = 0;
    // Two clocks that are set apart, and one that is faster by 50 ppb for a second.
    let faults = |faults: &[ClockFault]| {
        let mut plan = plan.clone();
        plan.clocks.as_mut().unwrap().faults = faults.to_vec();
        short(&plan, Known::default())
    };
    let step = |node, by_ns| ClockFault::ClockStep { node, at_ns: 0, by_ns };
    let jump = |by_ppt| ClockFault::FrequencyJump { node: 0, from_ns: 0, until_ns: 1, by_ppt };
    let seconds = (plan.duration_ns + plan.drain_ns).div_ceil(1_000_000_000) as i64;
    assert!(!faults(&[step(0, 25), step(1, -25)]));
    assert!(faults(&[step(0, 25), step(1, -26)]));
    assert!(faults(&[step(0, 26), step(1, -25)]));
    assert_eq!([49_000, 50_001].map(|ps| faults(&[jump(ps / seconds)])), [false, true]);
    // A random walk has no end: the promise of the scenario counts.
    let clocks = plan.clocks.as_mut().unwrap();
    clocks.nodes[0].wander = Some(tsn_plan::Wander { most_ppt: 1, every_ns: 1_000_000 });
    assert!(verify(&plan, &Known::default()).margins_assumed);
    for (within_ns, misses) in [(50, false), (51, true)] {
        plan.clocks.as_mut().unwrap().within_ns = Some(within_ns);
        assert_eq!(short(&plan, Known::default()), misses);
        assert!(!verify(&plan, &Known::default()).margins_assumed);
    }
}

/// One message of PTP takes a window of the schedule, and each later frame leaves in the window of the next one.
#[test]
fn ptp_has_another_class_at_the_ports_that_its_messages_leave_by() {
    let mut plan = good(1, 50_000);
    let clock = tsn_plan::NodeClock::default();
    let nodes = vec![clock; plan.nodes.len()];
    let port = plan.streams[0].route[0].port;
    let (class, elsewhere) = (plan.streams[0].pcp, plan.ports.len() as u32 - 1);
    let gptp = |pcp: u8, slave: u32| {
        let text = serde_json::json!({
            "grandmaster": 0, "slaves": [slave], "sync_interval_ns": 125_000_000,
            "pdelay_interval_ns": 1_000_000_000, "pcp": pcp, "wakeup_ns": 0,
        });
        Some(serde_json::from_value(text).unwrap())
    };
    let used = |number: u32| {
        let pair = [number, plan.ports[number as usize].peer];
        plan.streams
            .iter()
            .filter(|own| own.scheduled.is_some())
            .any(|own| own.route.iter().any(|hop| pair.contains(&hop.port)))
    };
    let unused = (0..=elsewhere).find(|number| !used(*number));
    let mut shares = |pcp: u8, slave: u32| {
        let (nodes, gptp) = (nodes.clone(), gptp(pcp, slave));
        plan.clocks =
            Some(tsn_plan::Clocks { nodes, record_ns: 1_000_000, within_ns: None, gptp, faults: Vec::new() });
        found(&plan).iter().any(|violation| matches!(violation, Violation::PtpShares { .. }))
    };
    assert!(shares(class, port));
    assert!(!shares(class - 1, port));
    if let Some(unused) = unused {
        assert!(!shares(class, unused));
    }
}

/// A talker of another class may babble, and its frames may come late or twice: gates keep them away.
#[test]
fn faults_of_other_traffic_leave_the_proof() {
    let plan = good(1, 50_000);
    let other = plan.streams.iter().position(|own| own.scheduled.is_none()).unwrap() as u32;
    let delays = |fault: tsn_plan::Fault| {
        let mut plan = plan.clone();
        plan.faults.push(fault);
        verify(&plan, &Known { clock_error_ps: Some(0) }).delays.len()
    };
    let (from_ns, until_ns) = (0, 1_000_000);
    let babble = |stream| tsn_plan::Fault::Babble { stream, from_ns, until_ns, every_ns: 10_000 };
    let twice = |port| tsn_plan::Fault::Duplicate { port, from_ns, until_ns, share_ppm: 1, after_ns: 10 };
    let proved = verify(&plan, &Known { clock_error_ps: Some(0) }).delays.len();
    assert!(proved > 0);
    assert_eq!((delays(babble(other)), delays(babble(0))), (proved, 0));
    let scheduled = |port: u32| {
        let mut own = plan.streams.iter().filter(|own| own.scheduled.is_some());
        own.any(|own| own.route.iter().any(|hop| hop.port == port))
    };
    for port in 0..plan.ports.len() as u32 {
        assert_eq!(delays(twice(port)), if scheduled(port) { 0 } else { proved }, "{port}");
    }
}

/// Frames that express frames of another class interrupt continue behind the end of their window.
#[test]
fn interrupted_frames_of_other_classes_are_not_followed() {
    let mut plan = good(1, 50_000);
    let other = plan.streams.iter().position(|own| own.scheduled.is_none()).unwrap();
    let low = tsn_plan::Stream { pcp: 1, ..plan.streams[other].clone() };
    plan.streams.push(low);
    let (class, high) = (plan.streams[0].pcp, plan.streams[other].pcp);
    let mut unfit = |express: u8| {
        for port in &mut plan.ports {
            port.preemption =
                Some(tsn_plan::Preemption { express, hold_advance_ns: 0, release_advance_ns: 0 });
        }
        found(&plan).iter().any(|one| matches!(one, Violation::UnfitPort { reason: Unfit::Preemption, .. }))
    };
    let (scheduled, both) = (1 << class, 1 << high | 1 << 1);
    let found = [scheduled, scheduled | 1 << 1, 1 << 1, scheduled | both, both, 0].map(&mut unfit);
    assert_eq!(found, [false, true, true, false, false, false]);
}

/// One frame of 1,000 octets arrives while another one is sent: one waits at a time.
#[test]
fn queues_have_room_for_the_frames_that_wait() {
    let room = |change: &dyn Fn(&mut tsn_plan::Class)| {
        let mut plan = waiting();
        let port = plan.ports.iter().position(|port| port.name.ends_with("n2")).unwrap();
        plan.ports[port].classes.iter_mut().for_each(change);
        let report = verify(&plan, &Known::default());
        assert_eq!(report.delays.len(), 2);
        report.delays.iter().all(|delay| delay.full.is_none())
    };
    assert!(room(&|_| ()));
    assert!(room(&|class| class.limit_frames = Some(1)));
    assert!(room(&|class| class.limit_octets = Some(1_000)));
    assert!(!room(&|class| class.limit_octets = Some(999)));
}

/// A node filters a stream that shares a link with scheduled ones: that breaks no proof, unless the stream gate chooses
/// their class. A filter or another priority for a scheduled stream does.
#[test]
fn filters_of_other_streams_break_no_proof() {
    let mut plan = good(1, 0);
    let across = |stream: &tsn_plan::Stream| {
        let then = *stream.route.get(1).filter(|_| stream.scheduled.is_some())?;
        Some((stream.route[then.parent? as usize], then))
    };
    let (scheduled, first, then) = plan
        .streams
        .iter()
        .enumerate()
        .find_map(|(number, stream)| across(stream).map(|(first, then)| (number, first, then)))
        .unwrap();
    let (ingress, node) = (plan.ports[first.port as usize].peer, plan.ports[then.port as usize].node);
    let to = plan.ports[plan.ports[then.port as usize].peer as usize].node;
    let other = plan
        .streams
        .iter()
        .position(|one| one.scheduled.is_none() && one.route[0].port == first.port)
        .unwrap();
    plan.streams[other].route.push(Route { port: then.port, parent: Some(0) });
    plan.streams[other].listeners = vec![Destination { node: to, route: 1 }];
    let entry = StreamGateEntry { open: true, ipv: None, interval_ns: 1_000, octets_max: None };
    let gate = StreamGate {
        base_time_ns: 0,
        cycle_ns: 1_000,
        entries: vec![entry],
        close_on_invalid_rx: false,
        close_on_octets_exceeded: false,
    };
    let filter = StreamFilter {
        name: "other".into(),
        ports: vec![ingress],
        streams: vec![other as u32],
        priority: None,
        max_sdu_octets: None,
        block_oversize: false,
        gate: Some(0),
        meter: None,
        scheduler: None,
    };
    plan.policing = vec![Policing { node, filters: vec![filter], gates: vec![gate], ..Policing::default() }];
    plan.check().unwrap();
    assert_eq!(found(&plan), []);
    plan.policing[0].gates[0].entries[0].ipv = Some(plan.streams[scheduled].pcp);
    assert!(found(&plan).iter().any(|one| matches!(one, Violation::SharedClass { .. })));
    plan.policing[0].gates[0].entries[0].ipv = None;
    let policed = |plan: &Plan| {
        found(plan).iter().any(|one| matches!(one, Violation::Unfit { reason: Unfit::Software, .. }))
    };
    plan.policing[0].filters[0].streams = vec![scheduled as u32];
    assert!(policed(&plan));
    plan.policing[0].filters.clear();
    plan.policing[0].regeneration = vec![Regeneration { port: ingress, pcp: [0, 1, 2, 3, 4, 5, 6, 7] }];
    assert_eq!(found(&plan), []);
    plan.policing[0].regeneration[0].pcp = [0; 8];
    assert!(policed(&plan));
}
