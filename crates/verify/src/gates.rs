//! Checks of gates: open while a planned frame passes, closed while a planned frame waits, and closed for all other
//! traffic.

use crate::passage::Passage;
use crate::{Report, Unfit, Violation};
use std::collections::HashMap;
use std::sync::Arc;
use tsn_plan::{Gates, Plan, Port, Route, StreamFilter, duration};
use tsn_units::{BitRate, INTER_FRAME_GAP};

/// Limit of checks at one port; beyond it the port is not verified.
const MOST_LOOKS: i64 = 1 << 24;

/// A gate control list as the starts of its intervals within a cycle, ps.
#[derive(Debug)]
pub(crate) struct Table {
    base: i64,
    cycle: i64,
    /// The start of each entry, and the gates that are open from then on.
    entries: Vec<(i64, u8)>,
}

impl Table {
    pub(crate) fn new(gates: &Gates) -> Self {
        let mut begin = 0;
        let entries = gates.entries.iter().map(|entry| {
            let from = begin;
            begin += duration(entry.interval_ns).ps();
            (from, entry.open)
        });
        let entries = entries.collect();
        let cycle = duration(gates.cycle_ns).ps();
        Self { base: gates.base_time_ns.saturating_mul(1_000), cycle, entries }
    }

    /// Whether a class's gate is closed in `[from, until)`, and in every repetition by `period` until period and cycle
    /// repeat together.
    pub(crate) fn holds(&self, class: u8, period: i64, from: i64, until: i64) -> bool {
        let together = self.cycle / greatest_common_divisor(self.cycle, period);
        let open = |release: i64| {
            let moved = release * period;
            self.first(1 << class, true, from + moved, until + moved).is_some()
        };
        together <= MOST_LOOKS && !(0..together).any(open)
    }

    /// The time after which the list repeats, ps.
    pub(crate) fn cycle(&self) -> i64 {
        self.cycle
    }

    /// The first point from `from` on at which a class's gate stays open for `len`; none if it never does.
    pub(crate) fn fits(&self, class: u8, from: i64, len: i64) -> Option<i64> {
        let mut at = from;
        loop {
            at = self.first(1 << class, true, at, from + 2 * self.cycle)?;
            match self.first(1 << class, false, at, at + len) {
                None => return Some(at),
                Some(closes) => at = closes,
            }
        }
    }

    /// The first point in `[from, until)` at which the gates of some of `classes` are open (or closed).
    fn first(&self, classes: u8, open: bool, from: i64, until: i64) -> Option<i64> {
        let within = (from - self.base).rem_euclid(self.cycle);
        let mut place = self.entries.partition_point(|entry| entry.0 <= within) - 1;
        // The search begins with the cycle that contains `from`.
        let mut turn = from - within;
        loop {
            let (begin, gates) = self.entries[place];
            let at = turn + begin;
            if at >= until {
                return None;
            }
            let some = if open { gates & classes != 0 } else { !gates & classes != 0 };
            if some {
                return Some(at.max(from));
            }
            place += 1;
            if place == self.entries.len() {
                place = 0;
                turn += self.cycle;
            }
        }
    }
}

/// The traffic that shares a port with scheduled frames.
#[derive(Default)]
struct Others {
    /// Classes of scheduled frames, and classes of all other traffic.
    scheduled: u8,
    foreign: u8,
    /// By class: a stream that is not scheduled.
    streams: HashMap<u8, u32>,
    /// The class of PTP's messages, if the port sends any.
    ptp: Option<u8>,
}

/// `streams`: at least those that pass a port of one of the passages, by their places.
pub(crate) fn open(
    plan: &Plan,
    streams: impl Iterator<Item = u32>,
    tables: &[Option<Arc<Table>>],
    passages: &[Passage],
    report: &mut Report,
) {
    let others = others(plan, streams, passages);
    let mut told = vec![false; plan.ports.len()];
    for passage in passages {
        let (number, port) = (passage.port, &plan.ports[passage.port as usize]);
        let own = &others[number as usize];
        if !told[number as usize] {
            told[number as usize] = true;
            at_port(number, port, passage.stream, own, report);
        }
        let violations = &mut report.violations;
        look(port, tables[number as usize].as_deref(), own, passage, violations);
    }
}

/// Violations of a port that do not depend on the passage.
fn at_port(number: u32, port: &Port, scheduled: u32, own: &Others, report: &mut Report) {
    let unfit = |reason| Violation::UnfitPort { port: number, reason };
    if let Some(gates) = &port.gates {
        let late = gates.initial.is_some() && gates.base_time_ns > 0;
        if !gates.changes.is_empty() || gates.unguarded || late {
            report.violations.push(unfit(Unfit::Gates));
        }
    }
    if port.transmit_buffer.is_some() || port.server.is_some() {
        report.violations.push(unfit(Unfit::Buffered));
    }
    // An interrupted frame continues as soon as no express frame is sent, also behind the end of its window.
    let foreign = own.foreign & !own.scheduled;
    let express = port.preemption.as_ref().map_or(u8::MAX, |own| own.express);
    if foreign & express != 0 && foreign & !express != 0 {
        report.violations.push(unfit(Unfit::Preemption));
    }
    for class in (0..8).filter(|class| own.scheduled >> class & 1 == 1) {
        if port.classes.get(usize::from(class)).is_some_and(|own| own.cbs.is_some()) {
            report.violations.push(unfit(Unfit::Shaper));
        }
        if own.ptp == Some(class) {
            report.violations.push(Violation::PtpShares { port: number, class, scheduled });
        }
        if let Some(other) = own.streams.get(&class) {
            let shared = Violation::SharedClass { port: number, class, scheduled, other: *other };
            report.violations.push(shared);
        }
    }
}

/// Checks every release of a passage, until gates and releases repeat together.
fn look(
    port: &Port,
    table: Option<&Table>,
    own: &Others,
    passage: &Passage,
    violations: &mut Vec<Violation>,
) {
    let (stream, number, class) = (passage.stream, passage.port, passage.class);
    let foreign = own.foreign & !own.scheduled;
    let silence = BitRate(port.rate_bps).time(INTER_FRAME_GAP).ps();
    let Some(table) = table else {
        // Without gates, frames of every class may be sent at any time.
        if foreign != 0 {
            let class = foreign.trailing_zeros() as u8;
            let at_ps = passage.starts() - passage.margin - silence;
            violations.push(Violation::OthersOpen { stream, port: number, class, at_ps });
        }
        return;
    };
    let together = table.cycle / greatest_common_divisor(table.cycle, passage.period);
    if together * (passage.frames.len() as i64) > MOST_LOOKS {
        violations.push(Violation::UnfitPort { port: number, reason: Unfit::Cycle });
        return;
    }
    let bit = 1 << class;
    for release in 0..together {
        let moved = release * passage.period;
        for (start, end) in &passage.frames {
            // Frames that wait for their gate are sent when it opens, one after the other.
            let most = if passage.held { start - passage.starts() } else { passage.margin };
            let early = passage.margin.min(most) + passage.early;
            let (from, until) = (start - early + moved, end + passage.margin + moved);
            if let Some(at_ps) = table.first(bit, false, from, until) {
                violations.push(Violation::Closed { stream, port: number, class, at_ps });
                return;
            }
            let from = start - early - silence + moved;
            if let Some(at_ps) = table.first(foreign, true, from, start + passage.margin + moved + 1) {
                let class = foreign.trailing_zeros() as u8;
                violations.push(Violation::OthersOpen { stream, port: number, class, at_ps });
                return;
            }
        }
    }
}

/// By port: traffic that is not scheduled, i.e. other streams, and the messages of PTP.
fn others(plan: &Plan, streams: impl Iterator<Item = u32>, passages: &[Passage]) -> Vec<Others> {
    let mut all: Vec<Others> = plan.ports.iter().map(|_| Others::default()).collect();
    for passage in passages {
        all[passage.port as usize].scheduled |= 1 << passage.class;
    }
    let streams = streams.map(|number| (number, &plan.streams[number as usize]));
    for (number, stream) in streams.filter(|(_, stream)| stream.scheduled.is_none()) {
        for (hop, pcp) in stream.route.iter().chain(&stream.flood).zip(plan.priorities(stream)) {
            for pcp in chosen(plan, number, hop).into_iter().chain([pcp]) {
                let own = &mut all[hop.port as usize];
                let class = plan.ports[hop.port as usize].pcp_to_class[usize::from(pcp & 7)];
                own.foreign |= 1 << class;
                own.streams.insert(class, number);
            }
        }
    }
    if let Some(gptp) = plan.clocks.as_ref().and_then(|clocks| clocks.gptp.as_ref()) {
        let given = gptp.slaves.iter().flat_map(|slave| [*slave, plan.ports[*slave as usize].peer]);
        let elected = gptp.bmca.iter().flat_map(|bmca| bmca.ports.iter().copied());
        for number in given.chain(elected) {
            let class = plan.ports[number as usize].pcp_to_class[usize::from(gptp.pcp & 7)];
            all[number as usize].foreign |= 1 << class;
            all[number as usize].ptp = Some(class);
        }
    }
    all
}

/// The priorities that stream gates of a hop's node may give frames of a stream that leave there. IEEE 802.1Q-2022,
/// 8.6.5.4.
fn chosen(plan: &Plan, number: u32, hop: &Route) -> Vec<u8> {
    let node = plan.ports[hop.port as usize].node;
    let filters =
        plan.policing.iter().filter(|own| own.node == node && hop.parent.is_some()).flat_map(|own| {
            let applies =
                |filter: &&StreamFilter| filter.streams.is_empty() || filter.streams.contains(&number);
            own.filters.iter().filter(applies).filter_map(|filter| own.gates.get(filter.gate? as usize))
        });
    filters.flat_map(|gate| &gate.entries).filter_map(|entry| entry.ipv).collect()
}

fn greatest_common_divisor(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
