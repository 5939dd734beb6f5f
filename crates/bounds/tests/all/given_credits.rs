//! Slopes and credits of shapers other than those that follow from the idle slope.
//!
//! Frames of class 3 have 10,000 bit on the wire of 1 Gbit/s and 100 Mbit/s reserved; a full frame of class 0 has 12,336.

use crate::common::*;
use tsn_bounds::bounds;
use tsn_plan::{Cbs, Pattern, Plan, Point, Stage};

const LAST_BIT: i64 = 1_238 * 8_000;

/// Four frames of class 3 at once beside a saturating class 0; and the tap of their departure.
fn shaped(change: impl Fn(&mut Cbs)) -> (Plan, u16) {
    let (mut net, path) = Net::row(1_000_000, 2);
    for number in 0..4 {
        net.stream(&format!("a{number}"), &path, 3, periodic(1_000_000, 0), frame(1_230));
    }
    net.stream("bulk", &path, 0, Pattern::Saturating { backlog: 2 }, frame(FULL));
    let mut own = cbs(100_000_000, GIGABIT as i64, 1_234, -9_000);
    change(&mut own);
    net.port_mut(path[0], path[1]).classes[3].cbs = Some(own);
    let tx = net.tap(0, Stage::Tx, Point::Start);
    (net.plan, tx)
}

/// The bound of a frame of class 3 behind three others, less its own time; in ps. No simulated one takes longer.
fn wait(change: impl Fn(&mut Cbs)) -> i64 {
    let (plan, tx) = shaped(change);
    let found = bounds(&plan).flows[3].hops[0].upper_ps.unwrap() - LAST_BIT;
    let starts = stamps(&run(&plan).0, tx, 3);
    let seen =
        starts.iter().enumerate().map(|(n, start)| start - n as i64 * 1_000_000 - BEFORE * 8).max().unwrap();
    assert!(seen > 20_000 && seen * 1_000 <= found, "{seen} ns of {found} ps");
    found
}

/// Equal, but for what is rounded up.
fn nearly(found: i64, right: i64) {
    assert!((0..100).contains(&(found - right)), "{found} for {right}");
}

/// Behind the frame in the way, which lets the class gather 1,234 bit, the idle slope serves.
#[test]
fn a_send_slope_changes_the_rate_that_is_served() {
    assert_eq!(wait(|_| ()), 12_336_000 + 300_000_000);
    // 30,000 bit at 100 / (100 + 400) of the link, behind 1,233.6 bit that 100 Mbit/s gain in 12.336 us.
    nearly(wait(|own| own.send_slope_bps = -400_000_000), 12_336_000 + 150_000_000);
    let steeper = |own: &mut Cbs| (own.send_slope_bps, own.lo_credit_bits) = (-1_400_000_000, -14_000);
    nearly(wait(steeper), 12_336_000 + 450_000_000);
}

/// Each frame takes 10 us, waits for at most 900 bit of credit (9 us), and for a full frame that has just begun.
#[test]
fn a_lowest_credit_gives_back_what_it_cuts_off() {
    nearly(wait(|own| own.lo_credit_bits = -900), 12_336_000 + 3 * (10_000_000 + 9_000_000 + 12_336_000));
    nearly(wait(|own| own.lo_credit_bits = 0), 12_336_000 + 3 * (10_000_000 + 12_336_000));
}

/// Of 1,233.6 bit that may gather before each frame of 10,000, 833.6 are lost: 108.336 us for each frame.
#[test]
fn a_highest_credit_loses_what_it_cuts_off() {
    nearly(wait(|own| own.hi_credit_bits = 400), 12_336_000 + 3 * 108_336_000);
}

/// The gate of class 3 is closed for 1 us, behind 9.904 us in which no frame fits, and between two lower frames: of the
/// 3,457.6 bit that 34.576 us give, 457.6 are lost for each frame.
#[test]
fn a_highest_credit_loses_what_gathers_beside_gates() {
    let found = |high: i64| {
        let (mut plan, _) = shaped(|own| own.hi_credit_bits = high);
        plan.ports[0].gates = gates(0, &[(0xff, 9_999_000), (0xf7, 1_000)]);
        bounds(&plan).flows[3].hops[0].upper_ps.unwrap() - LAST_BIT
    };
    nearly(found(3_500), 35_576_000 + 300_000_000);
    nearly(found(3_000), 35_576_000 + 3 * 104_576_000);
}

/// From a moment on at which class 3 could not start, it sends at most (R / K) (I t + debt), K being what a frame costs
/// at least: with half of the debt 450 + 100 in place of 900 + 100 Mbit/s.
#[test]
fn a_lower_class_waits_for_frames_whose_debt_was_cut_off() {
    let below = |low: i64| {
        let (mut plan, _) = shaped(|own| own.lo_credit_bits = low);
        plan.streams[0].pattern = Pattern::Saturating { backlog: 2 };
        plan.streams.truncate(4);
        plan.streams[1..].iter_mut().for_each(|victim| victim.pcp = 1);
        bounds(&plan).flows[3].hops[0].upper_ps.unwrap() - LAST_BIT
    };
    // Two frames of its own are ahead: u = 9 us + 0.1 u + 20 us.
    nearly(below(-9_000), 32_222_222);
    nearly(below(-20_000), 32_222_222);
    // u = (4.5 us + 0.1 u) / 0.55 + 20 us.
    nearly(below(-4_500), 34_444_444);
}
