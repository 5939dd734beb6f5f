//! Credit-based shapers: spacing, bandwidth, and the bounds of the credit.

use crate::common::*;
use tsn_bridge::{Actions, EgressPort, Event, Frame};
use tsn_plan::{Pattern, Point, Stage};
use tsn_units::{Instant, Octets};

/// Frames of one burst leave at the pace of the idle slope: time on the wire times rate over idle slope.
#[test]
fn a_burst_is_spaced_by_the_idle_slope() {
    for (idle_slope, share) in [(500_000_000, 2), (250_000_000, 4), (100_000_000, 10), (8_000_000, 125)] {
        let (mut net, path) = Net::row(1_000_000, 2);
        let size = tsn_plan::Size::Units { octets: vec![14_000], most_per_frame: 1_400, overhead: 122 };
        net.stream("burst", &path, 5, periodic(1_000_000, 0), size);
        net.port_mut(0, 1).classes[5].cbs = Some(cbs(idle_slope, GIGABIT as i64, 0, -20_000));
        let tx = net.tap(0, Stage::Tx, Point::Start);
        let (sightings, _) = run(&net.plan);
        let starts = stamps(&sightings, tx, 0);
        let expected: Vec<i64> = (0..10).map(|n| BEFORE * 8 + n * FULL_NS * share).collect();
        assert_eq!(starts, expected, "{idle_slope} bit/s");
    }
}

/// A frame of 12,336 bit takes 12.336 us. At 100 Mbit/s and a send slope S it owes 12,336 S bit, at most the lowest
/// credit, and the next one starts when the idle slope has paid this.
#[test]
fn given_slopes_and_credits_are_obeyed() {
    let cases = [
        (-900, -11_103, FULL_NS * 10),
        // tc-cbs(8) cuts 1389.8 octets off to 1389: 0.024 us less. 12,336 at -0.9 are 11,102.4 bit.
        (-900, -11_102, FULL_NS + 111_020),
        (-900, -4_500, FULL_NS + 45_000),
        (-900, 0, FULL_NS),
        (-400, -20_000, FULL_NS + FULL_NS * 4),
        (-1_500, -20_000, FULL_NS + FULL_NS * 15),
    ];
    for (send_slope, low, spacing) in cases {
        let (mut net, path) = Net::row(1_000_000, 2);
        let size = tsn_plan::Size::Units { octets: vec![14_000], most_per_frame: 1_400, overhead: 122 };
        net.stream("burst", &path, 5, periodic(10_000_000, 0), size);
        let own = cbs(100_000_000, GIGABIT as i64, 0, low);
        let own = tsn_plan::Cbs { send_slope_bps: send_slope * 1_000_000, ..own };
        net.port_mut(0, 1).classes[5].cbs = Some(own);
        let tx = net.tap(0, Stage::Tx, Point::Start);
        net.plan.drain_ns = 3_000_000;
        let (sightings, _) = run(&net.plan);
        let expected: Vec<i64> = (0..10).map(|n| BEFORE * 8 + n * spacing).collect();
        assert_eq!(stamps(&sightings, tx, 0), expected, "{send_slope} Mbit/s, {low} bit");
    }
}

/// Two saturating classes: the shaped one gets its idle slope, counted with overhead, to within one frame.
#[test]
fn the_long_run_bandwidth_is_the_idle_slope() {
    for idle_slope in [10_000_000, 333_333_333, 750_000_000] {
        let (mut net, path) = Net::row(1_000_000_000, 2);
        net.stream("shaped", &path, 6, Pattern::Saturating { backlog: 3 }, frame(1_000));
        net.stream("bulk", &path, 0, Pattern::Saturating { backlog: 3 }, frame(FULL));
        // The credit that is gained during one full frame must not be clamped.
        let high = FULL_NS * idle_slope / 1_000_000_000 + 1;
        net.port_mut(0, 1).classes[6].cbs = Some(cbs(idle_slope, GIGABIT as i64, high, -20_000));
        let tx = net.tap(0, Stage::Tx, Point::Start);
        let (sightings, _) = run(&net.plan);
        let within = stamps(&sightings, tx, 0).iter().filter(|at| **at < 1_000_000_000).count() as i64;
        let bits = within * (1_000 + 20) * 8;
        let slack = (1_000 + 20) * 8 + high;
        assert!((bits - idle_slope).abs() <= slack, "{bits} bit sent in 1 s at {idle_slope} bit/s");
    }
}

#[derive(Copy, Clone, Debug)]
struct Packet(u32);

impl Frame for Packet {
    fn octets(&self) -> Octets {
        Octets(self.0)
    }
}

/// hiCredit = idleSlope * longest interference / rate; loCredit = sendSlope * longest frame / rate, without
/// clamping. IEEE 802.1Q-2022, L.1.
#[test]
fn credit_keeps_its_bounds_without_being_clamped_and_reaches_them() {
    let idle_slope = 400_000_000_i64;
    let mut net = Net::new(1);
    net.line(2, 0, GIGABIT, 0);
    let port = &mut net.plan.ports[0];
    port.classes[5].cbs = Some(cbs(idle_slope, GIGABIT as i64, 1 << 39, -(1 << 39)));
    let mut machine: EgressPort<Packet> = EgressPort::new(port);
    let mut actions = Actions::default();
    let mut wakes = Vec::new();
    let (mut highest, mut lowest) = (0, 0);
    let mut arrive = 0_i64;
    let longest = i128::from((FULL + 20) * 8);
    for _ in 0..20_000 {
        wakes.sort_unstable_by(|a: &Instant, b| b.cmp(a));
        let now = match wakes.last() {
            Some(wake) if wake.ps() < arrive => *wake,
            _ => Instant::from_ps(arrive),
        };
        let before = machine.credit(5, now).unwrap();
        if wakes.last() == Some(&now) {
            wakes.pop();
            machine.handle(now, Event::Wake, &mut actions);
        } else {
            // In turn: a shaped frame arrives just after the start of a full frame of a lower class; then
            // there are no frames.
            let class = if (arrive / 1_000).rem_euclid(2) == 0 { 0 } else { 5 };
            machine.handle(now, Event::Arrive { class, frame: Packet(FULL), more: false }, &mut actions);
            arrive += if class == 0 { 1_000 } else { 59_999_000 };
        }
        wakes.extend(actions.wake);
        // During a frame the machine already reports the credit at its end.
        let after = machine.credit(5, now).unwrap();
        (highest, lowest) = (highest.max(before).max(after), lowest.min(before).min(after));
    }
    let per_bit = 1_000_000_000_000;
    let bound = i128::from(idle_slope) * longest * per_bit / i128::from(GIGABIT);
    assert!(highest <= bound, "{highest} > {bound}");
    assert!(
        highest >= bound - i128::from(idle_slope) * 1_001,
        "the bound is met to the nanosecond: {highest}"
    );
    let least = i128::from(idle_slope - GIGABIT as i64) * longest * per_bit / i128::from(GIGABIT);
    assert!(lowest >= least, "{lowest} < {least}");
}
