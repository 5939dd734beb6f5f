//! Frame pre-emption: the waits of express frames, the overhead of interruptions, and no lost frames.

use crate::common::random::plan;
use crate::common::*;
use proptest::prelude::*;
use tsn_plan::{Pattern, Plan, Point, Preemption, Stage};
use tsn_sim::RunCounters;

/// A frame that cannot be cut, its preamble and its gap: the longest wait of an express frame. OCORA 3.2.2.
const WORST: i64 = (123 + BEFORE + AFTER) * 8;
/// The overhead of every continuation on the wire: preamble, mCRC, gap.
const CONTINUATION: i64 = BEFORE + 4 + AFTER;

/// One link with express class 7, tapped at the sender (hand-over and first bits) and at the last bits in.
fn link(duration_ns: u64) -> (Net, [u16; 3]) {
    let mut net = Net::new(duration_ns);
    net.line(2, 0, GIGABIT, 0);
    net.plan.ports[0].preemption = Some(Preemption { express: 0x80, ..Preemption::default() });
    let taps = [(0, Stage::Send, Point::Start), (0, Stage::Tx, Point::Start), (1, Stage::Rx, Point::End)];
    let taps = taps.map(|(port, stage, point)| net.tap(port, stage, point));
    (net, taps)
}

fn merged(counters: &RunCounters) -> [u64; 3] {
    let merge = counters.ports[0].preemption.clone().unwrap();
    [merge.preemptions, merge.continuations, merge.fragmented_frames]
}

/// The first bit of an express frame that is released `offset` ns after a preemptable frame of `octets`
/// begins, the end of the preemptable frame, and the number of pre-emptions.
fn interrupted(octets: u32, offset: i64) -> (i64, i64, u64) {
    let (mut net, [_, tx, rx]) = link(1_000_000);
    net.stream("low", &[0, 1], 0, periodic(1_000_000, 1_000), frame(octets));
    net.stream("high", &[0, 1], 7, periodic(1_000_000, 1_000 + offset as u64), frame(64));
    let (sightings, counters) = run(&net.plan);
    let high = stamps(&sightings, tx, 1)[0] - BEFORE * 8 - 1_000;
    (high, stamps(&sightings, rx, 0)[0] - 1_000, merged(&counters)[0])
}

#[test]
fn a_frame_is_cut_where_both_parts_fill_a_packet() {
    let whole = |octets: i64| (BEFORE + octets) * 8;
    let express = (BEFORE + 64 + AFTER) * 8;
    // The frame is too short to be cut: the longest wait.
    assert_eq!(interrupted(123, 1), (WORST, whole(123), 0));
    // A frame of one octet more is cut in the middle, after 60 octets and an mCRC.
    let first = (BEFORE + 64 + AFTER) * 8;
    assert_eq!(interrupted(124, 1), (first, first + express + whole(64), 1));
    // A long frame is cut at once, after the octet that has begun; its rest follows.
    for offset in [800, 801, 807, 5_000] {
        let sent = (offset + 7) / 8;
        let cut = (sent + 4 + AFTER) * 8;
        let rest = BEFORE + i64::from(FULL) - sent;
        assert_eq!(interrupted(FULL, offset), (cut, cut + express + whole(rest), 1), "{offset}");
    }
    // Near the end: 64 octets are left, or one less.
    let at = |left: i64| whole(i64::from(FULL) - left);
    assert_eq!(interrupted(FULL, at(64)).2, 1);
    assert_eq!(
        interrupted(FULL, at(64) + 1),
        (whole(i64::from(FULL)) + AFTER * 8, whole(i64::from(FULL)), 0)
    );
}

/// At 5 us from the start of the long frame, an express frame of 64 octets takes 576 ns with its preamble;
/// the cut takes 128 ns before the express frame can begin.
#[test]
fn a_frame_is_not_cut_for_one_whose_window_is_over_by_then() {
    for (window, preemptions) in [(576 + 127, 0), (576 + 128, 1)] {
        let (mut net, [_, tx, rx]) = link(1_000_000);
        net.stream("low", &[0, 1], 0, periodic(1_000_000, 1_000), frame(FULL));
        net.stream("high", &[0, 1], 7, periodic(1_000_000, 6_000), frame(64));
        net.plan.ports[0].gates =
            gates(0, &[(0xff, 6_000 + window), (0x7f, 500_000), (0xff, 494_000 - window)]);
        let (sightings, counters) = run(&net.plan);
        assert_eq!(merged(&counters)[0], preemptions, "{window} ns");
        let (low, high) = (stamps(&sightings, rx, 0)[0], stamps(&sightings, tx, 1)[0] - BEFORE * 8);
        if preemptions == 0 {
            assert_eq!(low, 1_000 + (BEFORE + i64::from(FULL)) * 8, "in one piece");
            assert_eq!(high, 506_000 + window as i64, "in its next window");
        } else {
            assert_eq!(high, 6_128);
        }
    }
}

#[test]
fn one_frame_is_interrupted_several_times_and_goes_on_in_turn() {
    let (mut net, [_, tx, rx]) = link(1_000_000);
    net.stream("low", &[0, 1], 0, periodic(1_000_000, 1_000), frame(FULL));
    for (number, offset) in [3_000, 5_000, 7_000].into_iter().enumerate() {
        net.stream(&format!("high{number}"), &[0, 1], 7, periodic(1_000_000, offset), frame(64));
    }
    let (sightings, counters) = run(&net.plan);
    assert_eq!(merged(&counters), [3, 3, 1]);
    let octets = BEFORE + i64::from(FULL) + 3 * (CONTINUATION + 64 + BEFORE + AFTER);
    assert_eq!(stamps(&sightings, rx, 0), [1_000 + octets * 8]);
    assert_eq!(stamps(&sightings, tx, 0), [1_000 + BEFORE * 8], "stamped at its first part");
    for (number, offset) in [3_000, 5_000, 7_000].into_iter().enumerate() {
        let wait = stamps(&sightings, tx, number as u32 + 1)[0] - BEFORE * 8 - offset;
        assert_eq!(wait, (4 + AFTER) * 8);
    }
}

/// OCORA 3.2.2: one express frame per ms against saturating frames of 1522 octets; at most 96 % can interrupt one.
#[test]
fn nearly_every_express_frame_interrupts_one_of_a_saturated_link() {
    let (mut net, [send, tx, rx]) = link(2_000_000_000);
    net.stream("bulk", &[0, 1], 0, Pattern::Saturating { backlog: 2 }, frame(FULL));
    let pattern = Pattern::Periodic { period_ns: 1_000_000, offset_ns: 0, jitter_ns: 200_000 };
    net.stream("high", &[0, 1], 7, pattern, frame(64));
    let (sightings, counters) = run(&net.plan);
    let [preemptions, continuations, _] = merged(&counters);
    let share = preemptions as f64 / counters.streams[1].released as f64;
    // The express frame is released at any instant of a frame and its gap; it cuts the frame if 64 octets are
    // left.
    let expected = (BEFORE + i64::from(FULL) - 64) as f64 / (BEFORE + i64::from(FULL) + AFTER) as f64;
    assert!((share - expected).abs() < 0.015 && share < 0.96, "{share}, not {expected}");
    let waits = delays(&sightings, (send, tx), 1).into_iter().map(|delay| delay - BEFORE * 8);
    assert!(waits.max().unwrap() <= WORST);
    // The link is never idle: every octet belongs to a frame, or to the overhead of an interruption.
    let sent = |class: usize| counters.ports[0].classes[class].sent_frames as i64;
    let overhead = continuations as i64 * CONTINUATION * 8;
    let busy = sent(0) * FULL_NS + sent(7) * (64 + BEFORE + AFTER) * 8 + overhead;
    let last = *stamps(&sightings, rx, 0).iter().max().unwrap() + AFTER * 8;
    assert_eq!(busy, last, "from the start of the run to the last gap");
}

/// Enables pre-emption at any ports of any plan.
fn merging() -> impl Strategy<Value = Plan> {
    (plan(), prop::collection::vec(prop::option::of(any::<u8>()), 14)).prop_map(|(mut plan, masks)| {
        for (port, mask) in plan.ports.iter_mut().zip(masks) {
            port.preemption = mask.map(|express| Preemption { express, ..Preemption::default() });
        }
        plan
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// With gates, shapers, limits, multicast and mixed rates: every frame is accounted for, express frames
    /// overlap with none, and preemptable frames take their own time and that of the frames that interrupt
    /// them.
    #[test]
    fn frames_share_no_wire(plan in merging()) {
        let (sightings, _) = run(&plan);
        for (number, port) in plan.ports.iter().enumerate() {
            let Some(own) = &port.preemption else { continue };
            let octet = 8_000_000_000 / port.rate_bps as i64;
            let tap = |point| plan.taps.iter().position(|tap| (tap.port as usize, tap.stage, tap.point) == (number, Stage::Tx, point)).unwrap();
            let at = |point| sightings.iter().filter(move |one| usize::from(one.tap) == tap(point));
            let mut sent: Vec<(i64, i64, i64, bool)> = Vec::new();
            for end in at(Point::End) {
                let Some(start) = at(Point::Start).find(|one| (one.stream, one.seq) == (end.stream, end.seq)) else { continue };
                let class = port.pcp_to_class[usize::from(plan.streams[end.stream as usize].pcp)];
                let start = start.t_ns.unwrap() - BEFORE * octet;
                sent.push((start, end.t_ns.unwrap() + AFTER * octet, i64::from(end.octets), own.express >> class & 1 == 1));
            }
            sent.sort_unstable();
            let whole = |octets: i64| (octets + BEFORE + AFTER) * octet;
            for (place, one) in sent.iter().enumerate() {
                let (start, end, octets, express) = *one;
                // The frames that were sent completely during this one.
                let within: Vec<_> = sent[place + 1..].iter().take_while(|other| other.0 < end).collect();
                prop_assert!(within.iter().all(|other| other.1 <= end && other.3), "port {number}: {one:?} {within:?}");
                prop_assert!(!express || within.is_empty(), "port {number}: {one:?} was interrupted");
                let others: i64 = within.iter().map(|other| whole(other.2)).sum();
                let extra = end - start - whole(octets) - others;
                let runs = within.iter().enumerate().filter(|(n, other)| *n == 0 || within[n - 1].1 < other.0).count() as i64;
                prop_assert_eq!(extra, runs * CONTINUATION * octet, "port {}: {:?} {:?}", number, one, within);
            }
        }
    }
}
