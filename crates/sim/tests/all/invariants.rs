//! Rules that hold in every run of every plan, checked by the taps alone.

use crate::common::random::Everywhere;
use crate::common::*;
use crate::gate_states::gates_at;
use proptest::prelude::*;
use std::collections::HashMap;
use tsn_observation::Sighting;
use tsn_plan::Plan;
use tsn_sim::RunCounters;

/// One frame at one egress port.
#[derive(Clone, Debug)]
struct Passage {
    /// Stream and sequence number, for messages about broken rules.
    #[allow(dead_code)]
    frame: (u32, u64),
    class: u8,
    octets: i64,
    /// The arrival in the queue, rounded down to ns.
    queued: i64,
    /// First bit of the preamble, and last bit of the FCS; none if the frame was dropped or still waits.
    sent: Option<(i64, i64)>,
}

/// All frames at each egress port, in the order of its taps.
fn passages(plan: &Plan, sightings: &[Sighting]) -> Vec<Vec<Passage>> {
    let mut ports: Vec<Vec<Passage>> = vec![Vec::new(); plan.ports.len()];
    let mut known: HashMap<(usize, u32, u64), usize> = HashMap::new();
    let mut queue = |ports: &mut Vec<Vec<Passage>>, port: usize, one: &Sighting, queued: i64| {
        let pcp = usize::from(plan.streams[one.stream as usize].pcp);
        known.insert((port, one.stream, one.seq), ports[port].len());
        ports[port].push(Passage {
            frame: (one.stream, one.seq),
            class: plan.ports[port].pcp_to_class[pcp],
            octets: i64::from(one.octets),
            queued,
            sent: None,
        });
    };
    for one in sightings {
        let (port, place) = Everywhere::place(one.tap);
        let t = one.t_ns.unwrap();
        match place {
            0 => queue(&mut ports, port, one, t),
            3 => {
                // The frame is forwarded from here along its route.
                let route = &plan.streams[one.stream as usize].route;
                let here = route.iter().position(|hop| plan.ports[hop.port as usize].peer as usize == port);
                let processing = plan.nodes[plan.ports[port].node as usize].processing_ns as i64;
                for hop in route.iter().filter(|hop| hop.parent == here.map(|place| place as u32)) {
                    queue(&mut ports, hop.port as usize, one, t + processing);
                }
            }
            _ => {}
        }
    }
    let octet_ns = |port: usize| 8_000_000_000 / plan.ports[port].rate_bps as i64;
    for one in sightings {
        let (port, place) = Everywhere::place(one.tap);
        if place != 1 && place != 2 {
            continue;
        }
        let passage = &mut ports[port][known[&(port, one.stream, one.seq)]];
        let t = one.t_ns.unwrap();
        if place == 1 {
            let first_bit = t - BEFORE * octet_ns(port);
            passage.sent = Some((first_bit, first_bit + (BEFORE + passage.octets) * octet_ns(port)));
        } else {
            assert_eq!(passage.sent.map(|sent| sent.1), Some(t), "a frame lasts as long as its octets");
        }
    }
    ports
}

/// No two frames overlap on a wire, with gaps.
fn frames_do_not_overlap(plan: &Plan, port: usize, passed: &[Passage]) {
    let octet_ns = 8_000_000_000 / plan.ports[port].rate_bps as i64;
    let mut sent: Vec<(i64, i64)> = passed.iter().filter_map(|one| one.sent).collect();
    sent.sort_unstable();
    for pair in sent.windows(2) {
        assert!(pair[1].0 >= pair[0].1 + AFTER * octet_ns, "port {port}: {pair:?}");
    }
}

/// Of two frames in one queue, the earlier one leaves first; no frame leaves before its arrival.
fn queues_are_first_in_first_out(port: usize, passed: &[Passage]) {
    for class in 0..8 {
        let mut last: Option<&Passage> = None;
        let mut sent: Vec<&Passage> =
            passed.iter().filter(|one| one.class == class && one.sent.is_some()).collect();
        sent.sort_by_key(|one| one.sent);
        for one in sent {
            assert!(one.queued <= one.sent.unwrap().0, "port {port}: {one:?} left before it came");
            if let Some(before) = last {
                assert!(before.queued <= one.queued, "port {port}: {one:?} was overtaken by {before:?}");
            }
            last = Some(one);
        }
    }
}

/// At a port without shaping, no frame starts while a frame of a higher class waits. IEEE 802.1Q-2022,
/// 8.6.8.1.
fn higher_classes_go_first(plan: &Plan, port: usize, passed: &[Passage]) {
    let shapes = &plan.ports[port];
    if shapes.gates.is_some() || shapes.classes.iter().any(|class| class.cbs.is_some()) {
        return;
    }
    for low in passed {
        let Some((start, _)) = low.sent else { continue };
        for high in passed.iter().filter(|one| one.class > low.class) {
            let waited = high.queued < start && high.sent.is_some_and(|sent| sent.0 > start);
            assert!(!waited, "port {port}: {low:?} went before {high:?}");
        }
    }
}

/// Every bit of every frame passes an open gate. IEEE 802.1Q-2022, 8.6.8.4.
fn gates_are_kept(plan: &Plan, port: usize, passed: &[Passage]) {
    let Some(gates) = &plan.ports[port].gates else { return };
    for one in passed {
        let Some((first, last)) = one.sent else { continue };
        // Without a guard only the begin of a frame must be at an open gate.
        let last = if gates.unguarded { first + 1 } else { last };
        // A step is shorter than every entry.
        for t in (first..last).step_by(500).chain([last - 1]) {
            let open = gates_at(gates, t);
            assert!(open >> one.class & 1 == 1, "port {port}: {one:?} met a closed gate at {t} ns");
        }
    }
}

/// From an empty start a shaper passes at most its idle slope, and the octets that highest and lowest credit
/// allow.
fn shapers_hold_back(plan: &Plan, port: usize, passed: &[Passage]) {
    for (class, cbs) in
        plan.ports[port].classes.iter().enumerate().filter_map(|(n, c)| Some((n, c.cbs.as_ref()?)))
    {
        let mut sent: Vec<(i64, i64)> = passed
            .iter()
            .filter(|one| usize::from(one.class) == class)
            .filter_map(|one| Some((one.sent?.0, (one.octets + BEFORE + AFTER) * 8)))
            .collect();
        sent.sort_unstable();
        for from in 0..sent.len() {
            let mut bits = 0;
            for (start, size) in &sent[from..] {
                // The time until the start of this frame, which may start with any credit that is not
                // negative.
                let time = i128::from(start - sent[from].0 + 1);
                let gained = i128::from(cbs.idle_slope_bps) * time / 1_000_000_000;
                let allowed = gained + i128::from(cbs.hi_credit_bits) + 1;
                assert!(i128::from(bits) <= allowed, "port {port}, class {class}: {bits} bit in {time} ns");
                bits += size;
            }
        }
    }
}

/// Counters agree with the taps.
fn counters_agree(plan: &Plan, counters: &RunCounters, ports: &[Vec<Passage>], sightings: &[Sighting]) {
    assert_conserved(counters);
    for (port, (counted, passed)) in counters.ports.iter().zip(ports).enumerate() {
        for class in &counted.classes {
            let here = passed.iter().filter(|one| one.class == class.class);
            let sent = here.clone().filter(|one| one.sent.is_some()).count() as u64;
            // A transmission that begins less than a delimiter before the end has no stamp.
            assert!((sent..=sent + 1).contains(&class.sent_frames), "{port}: {sent}, {class:?}");
            assert!(class.enqueued_frames >= class.sent_frames && class.most_frames <= class.enqueued_frames);
            if let Some(limit) = plan.ports[port].classes[usize::from(class.class)].limit_frames {
                assert!(class.most_frames <= u64::from(limit));
            }
        }
    }
    for (number, stream) in plan.streams.iter().enumerate() {
        let counted = &counters.streams[number];
        for listener in &stream.listeners {
            let last = plan.ports[stream.route[listener.route as usize].port as usize].peer as usize;
            let here =
                |one: &&Sighting| one.stream == number as u32 && Everywhere::place(one.tap) == (last, 3);
            let seen = sightings.iter().filter(here).count() as u64;
            let name = &plan.nodes[listener.node as usize].name;
            assert_eq!(counted.delivered[name], seen, "{} at {name}", stream.name);
        }
    }
}

/// The stamps of one tap are in order of time.
fn taps_are_in_order(sightings: &[Sighting]) {
    let mut last: HashMap<u16, i64> = HashMap::new();
    for one in sightings {
        let t = one.t_ns.unwrap();
        let before = last.insert(one.tap, t);
        assert!(before.is_none_or(|before| before <= t), "{one:?} after {before:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn every_run_keeps_the_rules(plan in random::plan()) {
        plan.check().unwrap();
        let (sightings, counters) = run(&plan);
        let ports = passages(&plan, &sightings);
        for (port, passed) in ports.iter().enumerate() {
            frames_do_not_overlap(&plan, port, passed);
            queues_are_first_in_first_out(port, passed);
            higher_classes_go_first(&plan, port, passed);
            gates_are_kept(&plan, port, passed);
            shapers_hold_back(&plan, port, passed);
        }
        taps_are_in_order(&sightings);
        counters_agree(&plan, &counters, &ports, &sightings);
        let again = run(&plan);
        prop_assert!(again.0 == sightings && again.1 == counters, "the same plan ran differently");
    }
}
