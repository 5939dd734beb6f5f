//! Whether a frame may be lost on its path, and the reason.

use crate::common::*;
use tsn_bounds::{Reason, bounds};
use tsn_plan::{Buffer, Fault, Plan, Policing, Size, StreamFilter};

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
    let initial = four(|plan| {
        plan.ports[0].gates = gates(0, &[(0x20, 50_000), (0, 50_000)]);
        plan.ports[0].gates.as_mut().unwrap().initial = Some(0);
    });
    assert_eq!(initial, there(Reason::Gates));
    let buffer = four(|plan| plan.nodes[1].buffer = Some(Buffer { octets: 1_000_000, alpha_permille: None }));
    assert_eq!(buffer, there(Reason::Buffer));
}

#[test]
fn faults_filters_and_copies_may_take_any_frame() {
    let fault = |fault| four(|plan| plan.faults.push(fault));
    assert_eq!(fault(Fault::LinkDown { port: 0, from_ns: 0, until_ns: 1 }), Some(Reason::Taken));
    assert_eq!(fault(Fault::Babble { stream: 3, from_ns: 0, until_ns: 1_000, every_ns: 1_000_000 }), None);
    let filter = StreamFilter {
        name: "all".into(),
        ports: Vec::new(),
        streams: Vec::new(),
        priority: None,
        max_sdu_octets: Some(1_500),
        block_oversize: false,
        gate: None,
        meter: None,
        scheduler: None,
    };
    let table = Policing { node: 1, filters: vec![filter], ..Policing::default() };
    assert_eq!(four(|plan| plan.policing.push(table)), Some(Reason::Filters));
    let copies = crate::common::wrong::two_paths([GIGABIT; 2], &[]);
    assert_eq!(bounds(&copies).flows[0].loss_reason, Some(Reason::Copies));
}
