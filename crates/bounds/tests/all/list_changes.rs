//! Gate control lists that replace each other, and gates before the first list.
//!
//! IEEE 802.1Q-2022, 8.6.9.

use crate::common::*;
use tsn_bounds::{Reason, bounds};
use tsn_plan::{Fault, Pattern, Plan};

const UNSCHEDULED: Pattern = Pattern::Periodic { period_ns: 1_000_003, offset_ns: 0, jitter_ns: 0 };
const LAST_BIT: i64 = 488 * 8_000;
/// Open for 50 of 100 us, then for 20 of them.
const FIRST: [(u8, u64); 2] = [(0x80, 50_000), (0, 50_000)];
const SECOND: [(u8, u64); 2] = [(0x80, 20_000), (0, 80_000)];

/// The greatest delay at a port of a stream that begins at `start`.
fn upper(start_ns: u64, alter: impl FnOnce(&mut Plan)) -> Result<i64, Reason> {
    let (mut net, path) = Net::row(3_000_000, 2);
    net.stream("s", &path, 7, UNSCHEDULED, frame(480)).start_ns = start_ns;
    net.plan.ports[0].gates = gates(0, &FIRST);
    alter(&mut net.plan);
    net.plan.check().unwrap();
    let hop = bounds(&net.plan).flows[0].hops[0].clone();
    hop.upper_ps.ok_or_else(|| hop.reason.unwrap())
}

fn changes(plan: &mut Plan, changes: &[(i64, &[(u8, u64)])]) {
    let gates = plan.ports[0].gates.as_mut().unwrap();
    gates.changes = changes.iter().map(|(base, list)| change(base - 500_000, *base, list)).collect();
}

#[test]
fn a_frame_may_wait_by_each_list_and_across_the_change() {
    let missed = |closed: i64| Ok(closed + 2 * LAST_BIT);
    assert_eq!(upper(0, |_| ()), missed(50_000_000));
    assert_eq!(upper(0, |plan| changes(plan, &[(1_000_000, &SECOND)])), missed(80_000_000));
    // The second list begins 40 us after the last window of the first one has closed, and its window 80 us later.
    let late: [(u8, u64); 2] = [(0, 80_000), (0x80, 20_000)];
    assert_eq!(upper(0, |plan| changes(plan, &[(990_000, &late)])), missed(120_000_000));
    // Whoever begins later never meets the first list.
    assert_eq!(upper(1_100_000, |plan| changes(plan, &[(1_000_000, &late)])), missed(80_000_000));
    let closed: [(u8, u64); 1] = [(0, 100_000)];
    let opens = |plan: &mut Plan| {
        plan.ports[0].gates = gates(0, &closed);
        changes(plan, &[(1_000_000, &SECOND)]);
    };
    assert_eq!(upper(1_100_000, opens), missed(80_000_000));
    // Whoever begins earlier may wait for the second list from the begin on.
    assert_eq!(upper(0, opens), Ok(1_000_000_000 + LAST_BIT));
    // A gate that never opens again.
    assert!(upper(0, |plan| changes(plan, &[(1_000_000, &closed)])).is_err());
}

#[test]
fn gates_may_be_closed_before_the_first_list() {
    let initial = |open| {
        move |plan: &mut Plan| {
            let gates = plan.ports[0].gates.as_mut().unwrap();
            (gates.initial, gates.base_time_ns) = (Some(open), 500_000);
        }
    };
    assert_eq!(upper(0, initial(0)), Ok(500_000_000 + LAST_BIT));
    assert_eq!(upper(0, initial(0xff)), Ok(50_000_000 + 2 * LAST_BIT));
    assert_eq!(upper(600_000, initial(0)), Ok(50_000_000 + 2 * LAST_BIT));
}

/// Closed gates for 400 us, or open ones, by a fault.
#[test]
fn a_wrong_list_is_one_for_some_time() {
    let wrong = |list: Option<&[(u8, u64)]>, own: bool| {
        upper(0, |plan| {
            if !own {
                plan.ports[0].gates = None;
            }
            let gates = list.and_then(|list| gates(0, list)).map(Box::new);
            plan.faults.push(Fault::Schedule { port: 0, from_ns: 1_000_000, until_ns: 1_400_000, gates });
        })
    };
    // The last start before the fault, 50 us and a frame before it, or 1 ps before it without a list.
    assert_eq!(wrong(Some(&[(0, 100_000)]), true), Ok(450_000_000 + 2 * LAST_BIT));
    assert_eq!(wrong(Some(&[(0, 100_000)]), false), Ok(400_000_000 + 2 * LAST_BIT));
    assert_eq!(wrong(None, true), Ok(50_000_000 + 2 * LAST_BIT));
    assert_eq!(wrong(None, false), Ok(LAST_BIT));
}

/// Frames that wait longer than the cycles that are followed have no bound, and neither do shapers.
#[test]
fn what_is_not_followed_is_said() {
    let shaped = |plan: &mut Plan| {
        changes(plan, &[(1_000_000, &SECOND)]);
        plan.ports[0].classes[7].cbs = Some(cbs(100_000_000, 1_000_000_000, 10_000, -10_000));
    };
    assert_eq!(upper(0, shaped), Err(Reason::Changes));
}
