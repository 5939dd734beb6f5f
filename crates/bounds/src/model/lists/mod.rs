//! The gate control lists of a port one after the other, as one list that the analysis follows.
//!
//! IEEE 802.1Q-2022, 8.6.9. Derived in `docs/concepts/bounds.md`.

mod either;
mod span;

pub(crate) use self::either::Wrong;
use self::either::replaced;
use self::span::Span;
use crate::curve::{Ps, Rate, ps};
use crate::model::gate_clock::GateClock;
use tsn_plan::{GateEntry, Gates, IdleSlope, Port, in_force};

/// Most entries of the lists together, and least cycles of each list that are followed.
const MOST_ENTRIES: usize = 1_024;
const LEAST_CYCLES: usize = 8;
/// Most cycles of one list that are followed.
const MOST_CYCLES: usize = 64;

/// The port from one of its lists on, with all later lists as one list. Of a list that is in force for long, only the
/// first and the last cycles are there.
#[derive(Clone, Debug)]
pub(crate) struct Later {
    pub port: Port,
    /// The same list with all gates open that may be open, where the port's list has those that are open for certain.
    pub possible: Option<Gates>,
    /// When the first of these lists comes into force, in ps.
    pub from: Ps,
    /// None if only one list is left.
    pub several: Option<Several>,
    /// Whether frames may still be on the link when their gate closes, or when a list is replaced.
    pub overruns: bool,
    /// Bit n: no list, of these and of those before, ever closes the gate of class n, or sets its idle slope.
    pub open: u8,
}

/// What several lists in one cycle stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Several {
    /// The last moment of the cycle at which waiting may begin: any later one is like one before it.
    pub begins: Ps,
    /// The longest busy period for which the cycles that are left stand for all.
    pub trusted: Ps,
    /// By list its begin in the cycle, and the idle slopes that it sets; empty if no list sets any.
    pub slopes: Vec<(Ps, Vec<IdleSlope>)>,
}

impl Several {
    /// From when on a class has which idle slope; empty if no list sets any. `own`: the slope that the class has
    /// without a list.
    pub fn slopes(&self, class: u8, own: Rate) -> Vec<(Ps, Rate)> {
        let mut found: Vec<_> =
            self.slopes.iter().map(|(from, set)| (*from, slope_of(set, class, own))).collect();
        found.dedup_by_key(|(_, slope)| *slope);
        found
    }
}

/// The idle slope of a class in the time of a list that sets these.
fn slope_of(set: &[IdleSlope], class: u8, own: Rate) -> Rate {
    set.iter().find(|one| one.class == class && one.bps != 0).map_or(own, |one| one.bps)
}

/// The lists of a port that replace each other, from each of them on; none if the port has one list for ever, or if
/// the analysis does not follow its lists.
pub(crate) fn of(port: &Port, wrong: &[Wrong<'_>], clock: Option<&GateClock>) -> Option<Vec<Later>> {
    let open = Gates { initial: Some(u8::MAX), base_time_ns: i64::MAX, ..Gates::default() };
    let gates = port.gates.as_ref().or_else(|| (!wrong.is_empty()).then_some(&open))?;
    let one = gates.changes.is_empty() && gates.initial.is_none() && wrong.is_empty();
    let overruns = gates.unguarded || !wrong.is_empty();
    if one {
        return None;
    }
    let schedules = in_force(gates).0;
    let ends = |n: usize| schedules.get(n + 1).map_or(i64::MAX, |next| next.from_ns);
    let mut spans: Vec<Span> = (0..schedules.len())
        .filter(|n| ends(*n) > 0)
        .map(|n| Span::of(gates, schedules[n].schedule, schedules[n].from_ns, ends(n)))
        .collect();
    // A clock may show less than 0 at first.
    if let (Some(clock), Some(first)) = (clock, spans.first_mut().filter(|first| first.from == 0)) {
        first.from = clock.first.div_euclid(1_000);
    }
    for wrong in wrong {
        spans = replaced(spans, wrong, &open, clock)?;
    }
    let entries: usize = spans.iter().map(|span| span.entries.len()).sum();
    let cycles = (MOST_ENTRIES / entries.max(1)).min(MOST_CYCLES);
    if cycles < LEAST_CYCLES {
        return None;
    }
    spans.iter_mut().for_each(|span| span.shorten(cycles as i64));
    // Windows on a clock may end that much later.
    let closed = 1_000 + clock.map_or(0, |clock| clock.lead().unsigned_abs().div_ceil(1_000));
    let open = spans.iter().fold(u8::MAX, |all, span| all & span.open());
    let each = |first: usize| Some(Later { open, ..later(port, gates, overruns, &spans[first..], closed)? });
    (0..spans.len()).map(each).collect()
}

/// `closed`: for how long all gates that ever close are closed at the end.
fn later(port: &Port, gates: &Gates, overruns: bool, spans: &[Span], closed: u64) -> Option<Later> {
    let (first, last) = (spans.first()?, spans.last()?);
    let alone = Gates { changes: Vec::new(), initial: None, ..gates.clone() };
    let with = |gates: Gates, possible: Option<Gates>, several: Option<Several>| {
        let overruns = gates.unguarded || (overruns && several.is_some());
        let mut port = Port { gates: Some(gates), ..port.clone() };
        for (class, own) in (0..).zip(&mut port.classes) {
            if let Some(cbs) = own.cbs.as_mut().filter(|_| several.is_none()) {
                let idle = slope_of(&first.slopes, class, cbs.idle_slope_bps);
                cbs.send_slope_bps += idle - cbs.idle_slope_bps;
                cbs.idle_slope_bps = idle;
            }
        }
        Some(Later { port, possible, from: ps(first.from.max(0).unsigned_abs()), several, overruns, open: 0 })
    };
    if let ([only], false) = (spans, first.constant()) {
        let list = Gates {
            base_time_ns: only.base,
            cycle_ns: only.cycle.unsigned_abs(),
            entries: only.entries.clone(),
            ..alone
        };
        return with(list, None, None);
    }
    let holds = gates.holds();
    let gates = |states: &dyn Fn(&Span) -> Vec<GateEntry>| {
        let mut entries: Vec<GateEntry> = spans.iter().flat_map(states).collect();
        // The cycle ends with closed gates, so that no window goes on in the first list.
        let open = entries.iter().fold(u8::MAX, |all, entry| all & entry.open);
        entries.push(GateEntry { open, interval_ns: closed, mac: None });
        let cycle_ns = entries.iter().map(|entry| entry.interval_ns).sum();
        Gates { base_time_ns: first.from, cycle_ns, entries, ..alone.clone() }
    };
    let uncertain = spans.iter().any(|span| !span.possible.is_empty());
    let possible = uncertain.then(|| gates(&|span| span.possible().states(holds)));
    let before: i64 = spans[..spans.len() - 1].iter().map(Span::length).sum();
    let cycle = if last.constant() { 0 } else { last.cycle };
    let trusted = spans.iter().enumerate().filter_map(|(n, span)| span.trusted(n + 1 == spans.len())).min();
    let trusted = trusted.unwrap_or_else(|| last.length());
    let several = Several {
        begins: ps((before + 2 * cycle).unsigned_abs()),
        trusted: ps(u64::try_from(trusted).ok()?),
        slopes: if spans.iter().any(|span| !span.slopes.is_empty()) { begins(spans) } else { Vec::new() },
    };
    with(gates(&|span| span.states(holds)), possible, Some(several))
}

/// When each list begins in the cycle of all, and the idle slopes that it sets.
fn begins(spans: &[Span]) -> Vec<(Ps, Vec<IdleSlope>)> {
    let mut at: i64 = 0;
    let mut found = Vec::with_capacity(spans.len());
    for span in spans {
        found.push((ps(at.unsigned_abs()), span.slopes.clone()));
        at += span.length();
    }
    found
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::gate_clock::tests::CLOCK;
    use tsn_plan::{GateChange, MacOperation};

    fn entry(open: u8, interval_ns: u64) -> GateEntry {
        GateEntry { open, interval_ns, mac: None }
    }

    type Found = (Ps, Vec<(u8, u64)>, Option<Several>);

    fn several(begins: Ps, trusted: Ps) -> Option<Several> {
        Some(Several { begins, trusted, slopes: Vec::new() })
    }

    fn followed(gates: Gates) -> Option<Vec<Later>> {
        of(&Port { rate_bps: 1, gates: Some(gates), ..Port::default() }, &[], None)
    }

    fn found(gates: Gates) -> Vec<Found> {
        let entries = |port: &Port| {
            let entries = &port.gates.as_ref().unwrap().entries;
            entries.iter().map(|entry| (entry.open, entry.interval_ns)).collect()
        };
        followed(gates).unwrap().into_iter().map(|one| (one.from, entries(&one.port), one.several)).collect()
    }

    /// Closed until 50 ns, then a list of 100 ns until 250 ns, then one of 110 ns.
    #[test]
    fn lists_follow_each_other_in_one_cycle() {
        let change = GateChange {
            at_ns: 100,
            base_time_ns: 250,
            cycle_ns: 110,
            entries: vec![entry(1, 60), entry(2, 50)],
            ..GateChange::default()
        };
        let gates = Gates {
            base_time_ns: 50,
            cycle_ns: 100,
            entries: vec![entry(3, 70), entry(0, 30)],
            initial: Some(0),
            changes: vec![change],
            ..Gates::default()
        };
        let all = found(gates.clone());
        assert_eq!(all.iter().map(|one| one.0).collect::<Vec<_>>(), [0, 50_000, 250_000]);
        let begin = [(0, 50), (3, 70), (0, 30), (3, 70), (0, 30), (1, 60), (2, 50)];
        assert_eq!(all[0].1[..7], begin);
        assert_eq!(all[1].1[..4], begin[1..5]);
        // Two cycles of the last list are enough to begin in; 64 of them are there.
        assert_eq!(all[0].2, several(470_000, 6_710_000));
        assert_eq!((all[0].1.len(), all[0].1[133]), (134, (0, 1_000)));
        assert_eq!((all[2].1.len(), &all[2].2), (2, &None));
        // One list each: 1 us closed behind 64 cycles of the last one; or that one for ever, from its own base time on.
        let lists = followed(gates).unwrap().into_iter().map(|one| one.port.gates.unwrap());
        let lists: Vec<_> = lists.map(|own| (own.base_time_ns, own.cycle_ns, own.changes.len())).collect();
        let last = 64 * 110 + 1_000;
        assert_eq!(lists, [(0, 250 + last, 0), (50, 200 + last, 0), (250, 110, 0)]);
    }

    /// A list that is replaced when the run begins is never in force.
    #[test]
    fn lists_of_the_time_before_the_run_are_left_out() {
        let gates = Gates { initial: Some(0), ..list(&[(3, 70), (0, 30)]) };
        assert_eq!(found(gates), [(0, vec![(3, 70), (0, 30)], None)]);
    }

    /// A thousand entries are followed, with the one before the list, and 64 cycles; not less than 8 of them. The last 3
    /// stand for those that are left out.
    #[test]
    fn long_lists_are_followed_for_fewer_cycles() {
        let trusted = |entries: usize| {
            let list = list(&[(1, 10), (0, 10)].repeat(64)[..entries]);
            let gates = Gates { initial: Some(0), base_time_ns: 50, ..list };
            Some(followed(gates)?[0].several.as_ref()?.trusted / ps(10 * entries as u64))
        };
        for (entries, cycles) in [(15, Some(64)), (19, Some(51)), (127, Some(8)), (128, None)] {
            assert_eq!(trusted(entries), cycles.map(|cycles| cycles - 3), "{entries}");
        }
    }

    /// The state of holding at the begin of a list is that of its end, also where its last cycle is extended.
    #[test]
    fn holds_go_on_until_the_next_one_is_written() {
        let change = GateChange {
            base_time_ns: 230,
            cycle_ns: 100,
            entries: vec![entry(1, 60), entry(2, 40)],
            ..GateChange::default()
        };
        let mut gates =
            Gates { cycle_extension_ns: 50, changes: vec![change], ..list(&[(3, 20), (1, 50), (0, 30)]) };
        gates.entries[1].mac = Some(MacOperation::Release);
        gates.entries[2].mac = Some(MacOperation::Hold);
        let states = followed(gates).unwrap()[0].port.gates.clone().unwrap().entries;
        let held = states[..8].iter().map(|one| (one.interval_ns, one.mac == Some(MacOperation::Hold)));
        let cycle = [(20, true), (50, false), (30, true)];
        let expected = [&cycle[..], &cycle, &[(30, true), (60, false)]].concat();
        assert_eq!(held.collect::<Vec<_>>(), expected);
    }

    /// Closed for a millisecond; then a list is in force for a million cycles, and ends within one.
    #[test]
    fn of_a_long_time_whole_cycles_are_left_out() {
        let change = GateChange {
            at_ns: 2_000_000,
            base_time_ns: 101_000_030,
            cycle_ns: 100,
            entries: vec![entry(1, 100)],
            ..GateChange::default()
        };
        let gates = Gates {
            base_time_ns: 1_000_000,
            initial: Some(0),
            changes: vec![change],
            ..list(&[(3, 70), (0, 30)])
        };
        let all = found(gates);
        let first: u64 = all[0].1[1..130].iter().map(|entry| entry.1).sum();
        assert_eq!((first, all[0].1[0]), (6_430, (0, 1_000_000)));
        assert_eq!((all[0].1[129], all[0].1[130]), ((3, 30), (1, 64_000_000)));
        assert_eq!(all[0].2, several(1_006_430_000, 6_130_000));
    }

    /// The clock shows -7 us at first: the gates are closed for 7.05 us before the list. Behind the last list they are closed
    /// for 1 us and for what windows on the clock may end later, 6,000,609 ps.
    #[test]
    fn lists_on_a_clock_begin_earlier_and_end_later() {
        let gates = Gates { initial: Some(0), base_time_ns: 50, ..list(&[(3, 70), (0, 30)]) };
        let port = Port { rate_bps: 1, gates: Some(gates), ..Port::default() };
        let entries =
            |clock: Option<&GateClock>| of(&port, &[], clock).unwrap()[0].port.gates.clone().unwrap().entries;
        let ends = |found: Vec<GateEntry>| (found[0].interval_ns, found[found.len() - 1].interval_ns);
        assert_eq!(ends(entries(None)), (50, 1_000));
        assert_eq!(ends(entries(Some(&CLOCK))), (7_050, 1_000 + 6_001));
    }

    /// 100 Tbit/s: the longest frame takes 5,244 ps.
    fn beside(gates: Gates, wrong: &Gates, from_ns: u64, until_ns: u64) -> Option<Vec<Later>> {
        let port = Port { rate_bps: 100_000_000_000_000, gates: Some(gates), ..Port::default() };
        of(&port, &[Wrong { from_ns, until_ns, gates: Some(wrong) }], None)
    }

    pub fn list(entries: &[(u8, u64)]) -> Gates {
        let entries: Vec<GateEntry> = entries.iter().map(|(open, ns)| entry(*open, *ns)).collect();
        Gates { cycle_ns: entries.iter().map(|one| one.interval_ns).sum(), entries, ..Gates::default() }
    }

    #[test]
    fn a_wrong_list_takes_the_place_of_the_own_one() {
        let wrong = list(&[(0, 30), (1, 50), (0, 20)]);
        let all = beside(list(&[(3, 70), (0, 30)]), &wrong, 1_080, 1_180).unwrap();
        assert_eq!(
            all.iter().map(|one| one.from).collect::<Vec<_>>(),
            [0, 1_080_000, 1_081_000, 1_180_000, 1_181_000]
        );
        let entries = &all[0].port.gates.as_ref().unwrap().entries;
        let entries: Vec<(u8, u64)> = entries.iter().map(|entry| (entry.open, entry.interval_ns)).collect();
        assert_eq!(entries[..4], [(3, 70), (0, 30), (3, 70), (0, 30)]);
        // For 1 ns gates are closed that the list before closes at any time.
        let begins = [(3, 70), (0, 10), (0, 1), (0, 19), (0, 30), (1, 50), (0, 1), (0, 19), (3, 70)];
        assert_eq!(entries[20..29], begins);
        assert_eq!(all[0].possible.as_ref().unwrap().cycle_ns, all[0].port.gates.as_ref().unwrap().cycle_ns);
    }

    #[test]
    fn wrong_lists_that_change_are_not_followed() {
        let wrong = list(&[(0, 30), (1, 50), (0, 20)]);
        let followed = |wrong: &Gates| beside(list(&[(3, 70), (0, 30)]), wrong, 1_080, 1_180).is_some();
        assert!(followed(&wrong));
        assert!(!followed(&Gates { changes: vec![GateChange::default()], ..wrong.clone() }));
        assert!(!followed(&Gates { initial: Some(1), ..wrong }));
    }
}
