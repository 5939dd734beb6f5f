//! Bounds of streams that answer others, computed by hand.

use crate::common::*;
use tsn_bounds::{Bounds, FlowBounds, bounds};
use tsn_plan::{Fault, Pattern};

const US: i64 = 1_000_000;
/// One gigabit hop of 100 octets, with preamble, in ps.
const HOP: i64 = (BEFORE + 100) * 8_000;
/// Two hops and a node of 1 us.
const ARRIVES: i64 = 2 * HOP + US;

fn asked() -> Net {
    let mut net = Net::new(20_000_000);
    let path = net.line(3, 1_000, GIGABIT, 0);
    net.stream("request", &path, 6, periodic(1_000_000, 0), frame(100));
    respond(&mut net.plan, 0, 0, 6, frame(100), 50_000);
    net.plan.streams[1].name = "answer".into();
    net
}

fn flow<'a>(found: &'a Bounds, name: &str) -> &'a FlowBounds {
    found.flows.iter().find(|flow| flow.stream == name).unwrap()
}

#[test]
fn an_answer_alone_is_as_fast_as_its_request() {
    let found = bounds(&asked().plan);
    for name in ["request", "answer"] {
        let own = flow(&found, name);
        assert_eq!((own.release_lower_ps, own.release_upper_ps), (ARRIVES, Some(ARRIVES)), "{name}");
    }
}

/// The gates of n2 open for the answer at 500 us of each ms. The answer is in the queue 50 us after its
/// request arrived, whatever start and offset its own stream has, and waits for the rest of the time.
#[test]
fn an_answer_is_released_when_its_request_says() {
    for (start_ns, own_start_ns) in [(0, 0), (0, 450_000), (200_000, 0), (200_000, 3_333_333)] {
        let mut net = asked();
        net.plan.streams[0].start_ns = start_ns;
        net.plan.streams[1].start_ns = own_start_ns;
        net.port_mut(2, 1).gates = gates(0, &[(0, 500_000), (0x40, 100_000), (0, 400_000)]);
        let waits = 450 * US - ARRIVES - start_ns as i64 * 1_000;
        let own = bounds(&net.plan);
        let own = flow(&own, "answer");
        assert_eq!(own.release_upper_ps, Some(waits + ARRIVES), "{start_ns} {own_start_ns}");
    }
}

/// After a request that may be 3 ms late, four answers may be released at once: each of them delays a frame
/// of another stream.
#[test]
fn late_requests_are_answered_together() {
    for (jitter_ns, together) in [(0, 1), (999_999, 2), (3_000_000, 4)] {
        let mut net = asked();
        net.plan.streams[0].pattern = Pattern::Periodic { period_ns: 1_000_000, offset_ns: 0, jitter_ns };
        net.stream("beside", &[2, 1, 0], 6, periodic(1_000_003, 0), frame(100));
        let found = bounds(&net.plan);
        let waits = together * (BEFORE + 100 + AFTER) * 8_000;
        assert_eq!(flow(&found, "beside").release_upper_ps, Some(ARRIVES + waits), "{jitter_ns}");
    }
}

/// Delays add up along a chain: an answer may be as late as all streams before it together.
#[test]
fn a_chain_is_late_by_all_before_it() {
    let mut net = asked();
    net.plan.streams[0].pattern =
        Pattern::Periodic { period_ns: 1_000_000, offset_ns: 0, jitter_ns: 400_000 };
    let Pattern::Periodic { jitter_ns, .. } = &mut net.plan.streams[1].pattern else { unreachable!() };
    *jitter_ns = 400_000;
    respond(&mut net.plan, 1, 0, 6, frame(100), 0);
    let Pattern::Periodic { jitter_ns, .. } = &mut net.plan.streams[2].pattern else { unreachable!() };
    *jitter_ns = 400_000;
    net.stream("beside", &[0, 1], 3, periodic(1_000_003, 0), frame(100));
    let found = bounds(&net.plan);
    // An answer that is up to 1.2 ms late: two of its frames at once, and one frame of the request, which is
    // late by less than a period.
    let waits = 3 * (BEFORE + 100 + AFTER) * 8_000;
    assert_eq!(flow(&found, "beside").release_upper_ps, Some(HOP + waits));
    // Late by less than 1 ms in total: one frame of each.
    net.plan.streams[0].pattern =
        Pattern::Periodic { period_ns: 1_000_000, offset_ns: 0, jitter_ns: 150_000 };
    let found = bounds(&net.plan);
    let waits = 2 * (BEFORE + 100 + AFTER) * 8_000;
    assert_eq!(flow(&found, "beside").release_upper_ps, Some(HOP + waits));
}

/// If a request has no bound, its answers may be released at any time.
#[test]
fn without_a_bound_of_the_request_there_is_none() {
    let mut net = asked();
    net.stream("flood", &[0, 1], 7, Pattern::Saturating { backlog: 2 }, frame(FULL));
    let found = bounds(&net.plan);
    assert_eq!(flow(&found, "request").release_upper_ps, None);
    assert_eq!(flow(&found, "answer").release_upper_ps, None);
    let reason = flow(&found, "answer").release_reason.as_ref().unwrap().to_string();
    assert!(reason.contains("request"), "{reason}");
}

/// The path over `y` takes 250 us longer: requests are answered that much apart, and once only if sequence recovery
/// remembers their numbers for longer.
#[test]
fn a_request_over_several_paths_is_answered_once_if_one_copy_passes() {
    let found = |reset_ns: u64| {
        let mut plan = crate::common::wrong::two_paths([GIGABIT; 2], &[]);
        plan.nodes[3].processing_ns += 250_000;
        let own = plan.streams[0].redundancy.as_mut().unwrap();
        own.recovery.as_mut().unwrap().reset_ns = reset_ns;
        let request = bounds(&plan).flows[0].clone();
        // The answer goes back over `x`.
        respond(&mut plan, 0, 0, 3, frame(100), 50_000).name = "answer".into();
        let all = bounds(&plan);
        let own = flow(&all, "answer");
        (request, own.release_upper_ps.zip(Some(own.release_lower_ps)), own.release_reason.clone())
    };
    let (request, answer, _) = found(1_000_000);
    let apart = request.release_upper_ps.unwrap() - request.release_lower_ps;
    assert!(apart >= 250 * US);
    // Three more answers of the next 100 us each may be in front of the last one at the first port.
    let (upper, lower) = answer.unwrap();
    let together = 1 + apart / (100 * US);
    assert_eq!(upper - lower, (together - 1) * (BEFORE + 100 + AFTER) * 8_000);
    let (_, none, reason) = found(200_000);
    assert_eq!(none, None);
    assert!(reason.unwrap().to_string().contains("answers s"));
}

/// Each frame of a request that babbles, and each copy of one that a fault repeats, is answered. Other streams and
/// other ports do not matter.
#[test]
fn a_request_that_comes_more_often_is_answered_more_often() {
    let answered = |fault: fn(&Net) -> Fault| {
        let mut net = asked();
        net.stream("beside", &[0, 1], 6, periodic(1_000_003, 0), frame(100));
        net.plan.faults.push(fault(&net));
        flow(&bounds(&net.plan), "answer").release_upper_ps.is_some()
    };
    fn babble(stream: u32) -> Fault {
        Fault::Babble { stream, from_ns: 0, until_ns: 1_000_000, every_ns: 300_001 }
    }
    fn again(port: u32) -> Fault {
        Fault::Duplicate { port, from_ns: 0, until_ns: 1_000_000, share_ppm: 1_000_000, after_ns: 0 }
    }
    assert!(!answered(|_| babble(0)));
    assert!(answered(|_| babble(2)));
    assert!(!answered(|net| again(net.port(0, 1))));
    assert!(answered(|net| again(net.port(2, 1))));
}

/// Nine streams that answer each other, over one link and back. The i-th one is late by what the i before it wait. In a
/// period of 38.4 us nobody is late by a period, so five frames meet on the way there. In one of 19.2 us each round of the
/// analysis makes them wait longer: 4 frames of a twentieth of it, and (2 + 4 + 6 + 8) / 20 of the wait itself.
#[test]
fn delays_that_grow_around_a_chain_of_answers_have_no_bound() {
    let ninth = |period_ns: u64| {
        let (mut net, path) = Net::row(1_000_000, 2);
        net.stream("0", &path, 6, periodic(period_ns, 0), frame(100));
        for request in 0..8 {
            respond(&mut net.plan, request, 0, 6, frame(if request % 2 == 0 { 130 } else { 100 }), 0);
        }
        net.plan.check().unwrap();
        let found = bounds(&net.plan).flows[8].clone();
        (found.hops[0].upper_ps, found.release_reason.map(|reason| reason.to_string()))
    };
    assert_eq!(ninth(38_400), (Some(4 * (BEFORE + 100 + AFTER) * 8_000 + HOP), None));
    let third = "0 answered by 1 answered by 2";
    let why = format!("{third} answers 0 answered by 1, and the arrival of that has no bound");
    assert_eq!(ninth(19_200), (None, Some(why)));
}
