//! The delay along a path as a linear programme, in which the data of each flow count once.
//!
//! Derived in `docs/concepts/bounds.md`. Bouillard, Trade-off between accuracy and tractability of network calculus in
//! FIFO networks, 2022 (the instants and rows); Martin & Minet 2006 (whole frames from port to port).

use crate::curve::arrival::{self as arrivals, Stair};
use crate::curve::{Data, Ps, Rate, time_of};
use crate::linear::{Program, Proved};
use std::collections::BTreeMap;

/// Flows that come from one port (none: from a talker or a merge of paths), from the first to the last port of the tree
/// that they use.
pub(crate) type Stay = (usize, Option<usize>, usize);

/// The ports of a path, in which all queues keep the order of frames, and ports that feed them: a tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    /// First those of the path, from the first to the last one.
    pub ports: Vec<Step>,
    /// How many ports the path has.
    pub path: usize,
    pub stays: BTreeMap<Stay, Vec<Stair>>,
    /// Limits of links, burst and rate, by the port of the tree behind them and the number of the port before.
    pub lines: BTreeMap<(usize, usize), Line>,
    /// The flow of the tagged frame, which does not wait for itself.
    pub tagged: Stay,
    /// Flows of higher classes, by the first and the last port of the tree that they use: what they bring at each port.
    pub above: BTreeMap<(usize, usize), Vec<Above>>,
}

/// Flows of higher classes at one port, as a token bucket.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Above {
    pub burst: Data,
    pub rate: Rate,
    /// How much less than [`Passage::shortest`] they may need to the next port; 0 at the last one.
    pub early: Ps,
    /// As [`Passage::from_start`]; 0 at the last port.
    pub from_start: Ps,
}

/// The limit of a link.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Line {
    pub burst: Data,
    pub rate: Rate,
    /// The port of the tree before it, if it is one.
    pub from: Option<usize>,
}

/// One port of a tree.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// From any moment on at which waiting may begin, `rate * t - missing` is served within t.
    pub rate: Rate,
    pub missing: Data,
    /// The same for the class and those above together, where their flows are in [`Tree::above`].
    pub together: Option<(Rate, Data)>,
    /// The next port, and how frames go on to it; none at the last port of the path.
    pub next: Option<(usize, Passage)>,
}

/// The way of frames from one queue to the next.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Passage {
    /// The least time from queue to queue.
    pub shortest: Ps,
    /// The greatest time from the start of a frame until it is in the next queue.
    pub from_start: Ps,
    /// The greatest time from the last bit until the frame is in the next queue.
    pub processing: Ps,
    /// The greatest delay of all frames that go on until the last bit is out of the link, if it is bounded.
    pub slowest: Option<Ps>,
}

/// What a path leaves to the flows that use all of it: they begin `wait` after they arrived, and are served at `rate`.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Left {
    pub wait: Ps,
    pub rate: Rate,
    /// What these flows bring at once, as token buckets of at most this rate.
    pub burst: Data,
}

impl Left {
    /// The greatest time from the first queue until a frame starts at the last port.
    pub fn most(&self, frame: Data) -> Option<Ps> {
        self.wait.checked_add(time_of(self.burst - frame, self.rate)?)
    }
}

/// Programmes of this size are solved at once: there is little to save.
const LARGE: usize = 10_000;

/// The programme with its columns. All columns are spans of time before the start of the tagged frame at the last port,
/// moved on by the shortest time to that port, or amounts of data.
struct Written<'a> {
    tree: &'a Tree,
    program: Program,
    /// By port, and by each port from there to the last one: when waiting began there, as the frames at the first port
    /// see it; at the end: when the tagged frame arrived, in the same way.
    dates: Vec<Vec<usize>>,
    /// By stay and port: the data that arrived between the dates of that port and of the next one.
    amounts: Vec<(Stay, Vec<usize>)>,
    /// By stay of higher classes and port: the data that goes there before the first frame that counts at the next one.
    above: Vec<((usize, usize), Vec<usize>)>,
    /// Whether all dates of a port but the first one are one, for fewer columns and rows. This makes the greatest value of
    /// no column greater.
    few: bool,
}

impl Tree {
    /// The greatest time from the first queue until the tagged frame starts at the last port; none if the bounds of the
    /// ports count no burst twice, or if it is not less than `known`. Parameters: the delay of the tagged frame at each
    /// port, at the last one without its time on the link; and the frame.
    pub fn bound(&self, parameters: &[Data], known: Ps) -> Option<Proved> {
        if !self.counts_twice(&parameters[..self.path]) {
            return None;
        }
        let size = parameters[..self.path].iter().sum::<Data>() as f64;
        let moved =
            self.ports[..self.path].iter().filter_map(|step| step.next).map(|(_, next)| next.shortest).sum();
        let arrives = |written: &Written<'_>| written.dates[0].last().copied();
        let written = self.written(size, false)?;
        // Most programmes that gain nothing are known by the one with few dates, which takes a small part of the time.
        if written.program.size() > LARGE {
            let few = self.written(size, true)?;
            if !few.program.stays_below(arrives(&few)?, parameters, known - moved) {
                return None;
            }
        }
        Some(written.program.bound(arrives(&written)?, parameters, known - moved)?.plus(moved))
    }

    /// The programme; `size`: about the greatest date; `few`: with few dates.
    fn written(&self, size: f64, few: bool) -> Option<Written<'_>> {
        let rate = self.ports.iter().map(|step| step.rate).max()? as f64;
        let mut program = Program::default();
        let mut dates = |port: usize| {
            let (first, next) = (program.column(size), program.column(size));
            let further = 2..=self.depth(port);
            let further = further.map(|_| if few { next } else { program.column(size) });
            [first, next].into_iter().chain(further).collect()
        };
        let dates: Vec<Vec<usize>> = (0..self.ports.len()).map(&mut dates).collect();
        let mut columns = |stay: &Stay| (0..self.length(stay)).map(|_| program.column(size * rate)).collect();
        let amounts = self.stays.keys().map(|stay| (*stay, columns(stay))).collect();
        let length = |(begin, last): &(usize, usize)| self.length(&(*begin, None, *last));
        let mut columns = |stay| (0..length(stay)).map(|_| program.column(size * rate)).collect();
        let above = self.above.keys().map(|stay| (*stay, columns(stay))).collect();
        let mut written = Written { tree: self, program, dates, amounts, above, few };
        written.ports();
        written.flows()?;
        written.links();
        written.above();
        Some(written)
    }

    /// Joins flows with the same ports that come over several links. The rows of these links are left out, so that a
    /// bound may be greater.
    pub fn join(&mut self) {
        for ((begin, _, last), stairs) in std::mem::take(&mut self.stays) {
            self.stays.entry((begin, None, last)).or_default().extend(stairs);
        }
        self.tagged.1 = None;
        self.lines.retain(|_, line| line.from.is_some());
    }

    /// The ports from one to the last one, both included.
    pub fn along(&self, port: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(port), |at| self.ports[*at].next.map(|(next, _)| next))
    }

    /// How many ports there are from one to the last one, both included.
    fn depth(&self, port: usize) -> usize {
        self.along(port).count()
    }

    /// How many ports a flow uses.
    fn length(&self, (begin, _, last): &Stay) -> usize {
        self.depth(*begin) - self.depth(*last) + 1
    }

    /// Whether frames wait at several ports, so that a burst may count several times.
    fn counts_twice(&self, delays: &[Data]) -> bool {
        let waits = |(port, step): (usize, &Step)| {
            let passes = step.next.map_or(0, |(_, next)| next.from_start - next.processing);
            let delay =
                delays.get(port).copied().or(step.next.and_then(|(_, next)| next.slowest.map(Data::from)));
            let (rate, missing) = step.together.unwrap_or((step.rate, step.missing));
            let alone = time_of(missing, rate).unwrap_or(Ps::MAX).saturating_add(passes);
            delay.is_none_or(|delay| delay > Data::from(alone))
        };
        self.ports.iter().enumerate().filter(|own| waits(*own)).count() > 1
    }
}

impl Written<'_> {
    /// The data of a stay in some of its ports, from its first one on.
    fn data(&self, stay: usize, places: std::ops::Range<usize>, sign: Data) -> Vec<(usize, Data)> {
        let columns = &self.amounts[stay].1;
        columns.iter().take(places.end).skip(places.start).map(|at| (*at, sign)).collect()
    }

    /// The places from one on and before another one whose rows count: where most dates are one, those of the last one are
    /// the tightest of them.
    fn places(&self, from: usize, end: usize) -> std::ops::Range<usize> {
        if self.few { end - 1..end } else { from..end }
    }

    /// The place of a port among the ports of a stay; none if it does not use it.
    fn place(&self, stay: usize, port: usize) -> Option<usize> {
        let own = &self.amounts[stay].0;
        self.tree.along(own.0).take(self.tree.length(own)).position(|at| at == port)
    }

    /// The data of higher classes at a port.
    fn above_at(&self, port: usize) -> impl Iterator<Item = usize> + '_ {
        let here = move |((begin, _), columns): &'_ ((usize, usize), Vec<usize>)| {
            let place = self.tree.along(*begin).take(columns.len()).position(|at| at == port)?;
            Some(columns[place])
        };
        self.above.iter().filter_map(here)
    }

    /// Service at a port, of its class alone or of those above as well.
    fn served(&mut self, port: usize, (rate, missing): (Rate, Data), above: bool) {
        let (rate, mut limit) = (Data::from(rate), missing);
        let mut terms = vec![(self.dates[port][0], rate)];
        for stay in 0..self.amounts.len() {
            let place = self.place(stay, port);
            terms.extend(place.into_iter().flat_map(|place| self.data(stay, place..place + 1, -1)));
        }
        if above {
            terms.extend(self.above_at(port).map(|column| (column, -1)));
        }
        if let Some((after, next)) = self.tree.ports[port].next {
            terms.push((self.dates[after][0], -rate));
            limit += rate * Data::from(next.from_start - next.shortest);
        }
        self.program.row(terms, limit, None);
    }

    /// Service at each port, and the ways between them.
    fn ports(&mut self) {
        for (port, step) in self.tree.ports.iter().enumerate() {
            if let Some(together) = step.together {
                self.served(port, together, true);
            }
            self.served(port, (step.rate, step.missing), false);
            let Some((after, next)) = step.next else {
                self.program.row(vec![(self.dates[port][1], 1)], 0, Some((port, 1)));
                continue;
            };
            for place in std::iter::once(0).chain(self.places(1, self.dates[after].len())) {
                let (here, there) = (self.dates[port][place + 1], self.dates[after][place]);
                self.program.row(vec![(there, 1), (here, -1)], 0, None);
                let rest = Data::from(next.processing - next.shortest);
                let own = port < self.tree.path && place + 1 == self.dates[after].len();
                let (limit, tagged) = match next.slowest {
                    _ if own => (rest, Some((port, 1))),
                    Some(slowest) => (rest + Data::from(slowest), None),
                    None => continue,
                };
                self.program.row(vec![(here, 1), (there, -1)], limit, tagged);
            }
        }
    }

    /// The arrivals of flows, as token buckets, between any two dates of the port where they meet the tree.
    fn flows(&mut self) -> Option<()> {
        for (number, ((begin, before, last), stairs)) in self.tree.stays.iter().enumerate() {
            let rate = arrivals::rate(stairs);
            let burst = stairs.iter().map(|stair| stair.bucket(0)).sum::<Option<Data>>()?;
            let tagged = (*begin, *before, *last) == self.tree.tagged;
            let length = self.amounts[number].1.len();
            for from in 0..if self.few { length.min(2) } else { length } {
                for to in self.places(from + 1, length + 1) {
                    let data = self.data(number, from..to, 1);
                    self.arrivals(data, (*begin, from, to), (burst, rate), tagged);
                }
            }
        }
        Some(())
    }

    /// The arrivals over each link since waiting began behind it.
    fn links(&mut self) {
        for ((port, before), line) in &self.tree.lines {
            let on = |stay: &usize| match line.from {
                Some(from) => self.place(*stay, from).is_some(),
                None => self.amounts[*stay].0.0 == *port && self.amounts[*stay].0.1 == Some(*before),
            };
            let place = |stay: usize| Some((stay, self.place(stay, *port)?));
            let stays: Vec<(usize, usize)> = (0..self.amounts.len()).filter(on).filter_map(place).collect();
            let tagged = stays.iter().any(|(stay, _)| self.amounts[*stay].0 == self.tree.tagged);
            for to in self.places(1, self.dates[*port].len()) {
                let data =
                    stays.iter().flat_map(|(stay, place)| self.data(*stay, *place..place + to, 1)).collect();
                self.arrivals(data, (*port, 0, to), (line.burst, line.rate), tagged);
            }
        }
    }

    /// The arrivals of flows of higher classes: of those that count at ports from one to another, all have come to the
    /// first of these since waiting began there, and before it began behind the last one.
    fn above(&mut self) {
        for ((begin, _), columns) in &self.above {
            let ports: Vec<usize> = self.tree.along(*begin).take(columns.len()).collect();
            let own = &self.tree.above[&(*begin, ports[ports.len() - 1])];
            for (from, first) in own.iter().enumerate() {
                let rate = Data::from(first.rate);
                let mut early: Ps = 0;
                for to in from..columns.len() {
                    let mut data: Vec<(usize, Data)> =
                        columns[from..=to].iter().map(|column| (*column, 1)).collect();
                    data.push((self.dates[ports[from]][0], -rate));
                    let next = self.tree.ports[ports[to]].next;
                    data.extend(next.map(|(next, _)| (self.dates[next][0], rate)));
                    self.program.row(data, first.burst + rate * Data::from(early), None);
                    early += own[to].early;
                }
            }
        }
    }

    /// `data` arrives between two dates at a port. The tagged frame arrives at the last date, and does not wait for itself.
    fn arrivals(
        &mut self,
        mut data: Vec<(usize, Data)>,
        (port, from, to): (usize, usize, usize),
        (burst, rate): (Data, Rate),
        tagged: bool,
    ) {
        let (last, rate) = (self.dates[port].len() - 1, Data::from(rate));
        data.extend([(self.dates[port][from], -rate), (self.dates[port][to], rate)]);
        self.program.row(data, burst, (tagged && to == last).then_some((self.tree.path, -1)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A line of ports at 1 kbit/s with these delays of the tagged flow, and flows from one port to another with their
    /// bursts; one link before each port but the first one.
    fn line(delays: &[Ps], flows: &[(usize, usize, Data)]) -> Tree {
        let last = delays.len() - 1;
        let passage =
            |delay: Ps| Passage { shortest: 3, from_start: 5, processing: 1, slowest: Some(delay + 2) };
        let step = |(at, delay): (usize, &Ps)| Step {
            rate: 1_000,
            missing: 4_000,
            together: None,
            next: (at < last).then(|| (at + 1, passage(*delay))),
        };
        let mut tree = Tree {
            ports: delays.iter().enumerate().map(step).collect(),
            path: delays.len(),
            tagged: (0, None, last),
            lines: (1..=last)
                .map(|at| ((at, at - 1), Line { burst: 6_000, rate: 1_000, from: Some(at - 1) }))
                .collect(),
            ..Tree::default()
        };
        for (begin, end, burst) in flows.iter().chain([&(0, last, 9)]) {
            let (begin, end) = (*begin.min(end).min(&last), *end.max(begin).min(&last));
            let stair = Stair { unit: 1_000 * burst, period: 200, jitter: 0 };
            tree.stays.entry((begin, None, end)).or_default().push(stair);
        }
        tree
    }

    proptest! {
        /// The programme with few dates is the whole one with rows by which all dates of a port but the first one are one.
        #[test]
        fn few_dates_are_equal_dates(
            delays in prop::collection::vec(20..2_000_i64, 2..6),
            flows in prop::collection::vec((0..6_usize, 0..6_usize, 1..20_i128), 0..12),
        ) {
            let tree = line(&delays, &flows);
            let mut parameters: Vec<Data> = delays.iter().map(|delay| Data::from(*delay)).collect();
            parameters.push(2_000);
            let most = |written: &Written<'_>| {
                let found = written.program.bound(written.dates[0][delays.len()], &parameters, Ps::MAX);
                found.and_then(|found| found.most(&parameters)).unwrap()
            };
            let few = tree.written(100.0, true).unwrap();
            let mut whole = tree.written(100.0, false).unwrap();
            let (size, all) = (whole.program.size(), most(&whole));
            for dates in &whole.dates {
                for pair in dates[1..].windows(2) {
                    whole.program.row(vec![(pair[0], 1), (pair[1], -1)], 0, None);
                    whole.program.row(vec![(pair[1], 1), (pair[0], -1)], 0, None);
                }
            }
            prop_assert!((most(&few) - most(&whole)).abs() <= 1, "{} {}", most(&few), most(&whole));
            prop_assert!(most(&few) <= all + 1 && few.program.size() <= size);
        }
    }

    /// A frame that nothing of its classes delays may be late by 4 ps for `missing`, and by 4 ps until it is in the next
    /// queue: a burst counts twice where two ports have more than that.
    #[test]
    fn a_burst_counts_twice_if_frames_wait_at_two_ports() {
        let twice = |delays: &[Data]| line(&[20; 2], &[]).counts_twice(delays);
        assert!(twice(&[9, 5]) && !twice(&[8, 5]) && !twice(&[9, 4]));
        // Ports before the path have the delay of the slowest frame, 22 ps, or none.
        let mut tree = line(&[20; 2], &[]);
        assert!(tree.counts_twice(&[]));
        tree.ports[0].together = Some((1_000, 18_000));
        assert!(!tree.counts_twice(&[]) && tree.counts_twice(&[23, 5]));
    }

    /// Two links bring flows with the same ports, which count together; only the limit of a link within the tree is left.
    #[test]
    fn flows_of_several_links_are_joined() {
        let line = |from| Line { burst: 8, rate: 1, from };
        let mut tree = Tree {
            stays: [((0, Some(5), 1), vec![]), ((0, Some(6), 1), vec![]), ((1, None, 1), vec![])].into(),
            lines: [((0, 5), line(None)), ((0, 6), line(None)), ((1, 4), line(Some(0)))].into(),
            tagged: (0, Some(6), 1),
            ..Tree::default()
        };
        tree.join();
        assert_eq!(tree.stays.into_keys().collect::<Vec<_>>(), [(0, None, 1), (1, None, 1)]);
        assert_eq!(tree.lines.into_keys().collect::<Vec<_>>(), [(1, 4)]);
        assert_eq!(tree.tagged, (0, None, 1));
    }
}
