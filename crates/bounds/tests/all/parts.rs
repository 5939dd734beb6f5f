//! What worst cases are made of: each cause alone, by arithmetic; and that the parts add up.

use crate::closed_forms::{UNSCHEDULED, flow, wire};
use crate::common::*;
use proptest::prelude::*;
use tsn_bounds::{Cause, Parts, bounds, parts};
use tsn_plan::Plan;

fn parts_of(plan: &Plan, name: &str) -> Parts {
    let stream = plan.streams.iter().position(|stream| stream.name == name).unwrap();
    parts(plan, stream, 0).unwrap()
}

/// A cause's share at a port of the path.
fn share(found: &Parts, hop: usize, cause: Cause) -> i64 {
    found.hops[hop].parts.iter().filter(|part| part.cause == cause).map(|part| part.ps).sum()
}

/// Talkers at one bridge, whose frames leave by one port.
fn star(streams: &[(&str, u8, u32)]) -> Net {
    let mut net = Net::new(1_000_000);
    let [sink, bridge] = ["sink", "bridge"].map(|name| net.node(name, 2_000));
    net.link(bridge, sink, GIGABIT, 7_000);
    for (name, pcp, octets) in streams {
        let talker = net.node(&format!("of {name}"), 0);
        net.link(talker, bridge, GIGABIT, 0);
        net.stream(name, &[talker, bridge, sink], *pcp, UNSCHEDULED, frame(*octets));
    }
    net
}

#[test]
fn each_class_has_its_share() {
    let net = star(&[
        ("own", 5, 100),
        ("below", 2, 900),
        ("lowest", 0, 300),
        ("beside", 5, 400),
        ("above", 6, 500),
    ]);
    let found = parts_of(&net.plan, "own");
    assert_eq!(share(&found, 1, Cause::LowerClasses), wire(900));
    assert_eq!(share(&found, 1, Cause::HigherClasses), wire(500));
    assert_eq!(share(&found, 1, Cause::SameClass), wire(400));
    assert_eq!(share(&found, 1, Cause::Processing), 2_000_000);
    assert_eq!(share(&found, 1, Cause::Propagation), 7_000);
    assert_eq!(share(&found, 1, Cause::Transmission), (100 + BEFORE) * 8_000);
    assert_eq!(share(&found, 1, Cause::Own), 0);
    let lower = found.hops[1].parts.iter().find(|part| part.cause == Cause::LowerClasses).unwrap();
    assert_eq!((&lower.of[..], lower.streams), (&["below".to_owned(), "lowest".to_owned()][..], 2));
    let first = found.stamped.unwrap().first_ps;
    assert_eq!((first, found.first_link_ps), (Some(100 * 8_000), 100 * 8_000));
}

/// A window of 250 µs in each ms: a frame alone waits 750 µs for it, and until its last instants leave room no more.
#[test]
fn a_closed_gate_and_a_shaper_have_their_shares() {
    let mut net = star(&[("own", 5, 100)]);
    let (bridge, sink) = (1, 0);
    net.port_mut(bridge, sink).gates = gates(0, &[(1 << 5, 250_000), (!(1 << 5), 750_000)]);
    let gated = parts_of(&net.plan, "own");
    let waits = share(&gated, 1, Cause::Gates);
    assert!((750_000_000..752_000_000).contains(&waits), "{waits}");
    assert_eq!(share(&gated, 1, Cause::Shaper), 0);

    // Two frames at once at a tenth of the link: the second one waits for credit as long as nine of them take.
    let mut net = star(&[("own", 5, 100)]);
    net.plan.streams[0].size = tsn_plan::Size::Units { octets: vec![100], most_per_frame: 50, overhead: 50 };
    net.port_mut(bridge, sink).classes[5].cbs = Some(cbs(100_000_000, GIGABIT as i64, 100_000, -100_000));
    let shaped = parts_of(&net.plan, "own");
    assert!(share(&shaped, 1, Cause::Shaper) > 5 * wire(100), "{shaped:?}");
    assert_eq!(share(&shaped, 1, Cause::Gates), 0);
}

/// A burst that meets a frame at two ports of its path delays it once.
#[test]
fn what_happens_once_is_taken_off() {
    let mut net = Net::new(1_000_000);
    let path = net.line(6, 1_000, GIGABIT, 5_000);
    for name in ["own", "beside", "third"] {
        net.stream(name, &path, 6, periodic(1_000_000, 0), frame(FULL));
    }
    let found = parts_of(&net.plan, "own");
    assert!(found.release.unwrap().once_ps <= 0);
    adds_up(&net.plan);
}

/// The parts of every flow add up to its bounds.
fn adds_up(plan: &Plan) {
    let found = bounds(plan);
    let flows = plan.streams.iter().enumerate();
    let flows =
        flows.flat_map(|(stream, own)| (0..own.listeners.len()).map(move |listener| (stream, listener)));
    for (flow, (stream, listener)) in found.flows.iter().zip(flows) {
        let parts = parts(plan, stream, listener).unwrap();
        let sum = |from: usize| -> i64 {
            parts.hops.iter().skip(from).flat_map(|hop| &hop.parts).map(|part| part.ps).sum()
        };
        if let Some(whole) = parts.release {
            assert_eq!(Some(whole.total_ps), flow.release_upper_ps);
            assert_eq!(sum(0) + whole.besides_ps + whole.once_ps, whole.total_ps, "{}", flow.stream);
        }
        if let Some(whole) = parts.stamped {
            let first = whole.first_ps.unwrap();
            assert_eq!(Some(whole.total_ps), flow.upper_ps);
            assert_eq!(sum(1) + first + whole.besides_ps + whole.once_ps, whole.total_ps, "{}", flow.stream);
        }
        let bounded = flow.hops.iter().all(|hop| hop.upper_ps.is_some()) && flow.release_upper_ps.is_some();
        assert_eq!(parts.release.is_some(), bounded);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn parts_add_up(plan in random::plan()) {
        adds_up(&plan);
    }

    #[test]
    fn parts_add_up_with_every_mechanism(plan in anything::plan()) {
        adds_up(&plan);
    }
}

#[test]
fn flows_that_do_not_exist_have_no_parts() {
    let net = star(&[("own", 5, 100)]);
    assert_eq!((parts(&net.plan, 1, 0), parts(&net.plan, 0, 1)), (None, None));
    assert!(flow(&bounds(&net.plan), "own").release_upper_ps.is_some());
}
