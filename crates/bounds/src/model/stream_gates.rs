//! The classes that stream gates choose for the frames of a flow, and when.
//!
//! IEEE 802.1Q-2022, 8.6.10: the internal priority value (IPV) of a list's entry chooses the queue.

use crate::curve::arrival::{self as arrivals, Stair};
use crate::curve::{Data, Ps, ps};
use crate::model::openings::Window;
use tsn_plan::{Plan, StreamGate};

/// When a stream gate puts frames into one class: spans of its cycle, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Turns {
    pub base: Ps,
    pub cycle: Ps,
    pub spans: Vec<Window>,
}

/// The stream gate of frames that arrive at a port; none if no filter leads to one.
pub(crate) fn gate_at(plan: &Plan, ingress: u32, stream: usize, pcp: u8) -> Option<&StreamGate> {
    let node = plan.ports[ingress as usize].node;
    let policing = plan.policing.iter().find(|policing| policing.node == node)?;
    let filter = policing.matching(ingress, stream as u32, pcp)?;
    policing.gates.get(policing.filters[filter].gate? as usize)
}

/// The frames of a flow in one turn; all instants are in true time, and repeat with the cycle.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The span of the first gate: its first instant, and the one after its last.
    pub begin: Ps,
    pub end: Ps,
    /// The first and the last instant at which one of the frames arrives here with its last bit.
    pub from: Ps,
    pub to: Ps,
    /// Most data of the frames.
    pub unit: Data,
}

/// The turns of a flow that come into one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chain {
    /// The hop behind the first gate, in its first class.
    pub since: usize,
    pub turns: Vec<Turn>,
}

/// A class that a stream gate puts frames into, and when it does, if that is known.
pub(crate) type Chosen = (u8, Option<Turns>);

/// The classes of frames of a flow that arrive at one of these ports with a priority there, and leave with `pcp`: one,
/// which is that of `pcp` if that is possible, and the others. Turns are known if all frames pass the same gate.
/// `classes`: those of the port that the frames leave by.
pub(crate) fn chosen(
    plan: &Plan,
    ingresses: &[(u32, u8)],
    (stream, pcp): (usize, u8),
    classes: &[u8; 8],
) -> (u8, Option<Turns>, Vec<Chosen>) {
    let of = |pcp: u8| classes[usize::from(pcp & 7)];
    let mut found: Vec<Chosen> = Vec::new();
    for (ingress, arrives_with) in ingresses {
        let gate = gate_at(plan, *ingress, stream, *arrives_with);
        // Where member streams get a priority of their own, that may choose the queue.
        if gate.is_none() || *arrives_with != pcp {
            found.push((of(pcp), None));
        }
        let Some(gate) = gate else { continue };
        for entry in gate.entries.iter().filter(|entry| entry.open) {
            let class = of(entry.ipv.unwrap_or(pcp));
            if found.iter().all(|(other, _)| *other != class) {
                // Clocks of nodes may make an entry longer than it says.
                let alone = ingresses.len() == 1 && plan.clocks.is_none();
                let chooses = |ipv: Option<u8>| of(ipv.unwrap_or(pcp)) == class;
                found.push((class, Turns::of(gate, chooses).filter(|_| alone)));
            }
        }
    }
    // At any time, if one of several gates does not choose; then in no turn.
    found.sort_by_key(|(class, turns)| (*class != of(pcp), *class, turns.is_some()));
    found.dedup_by_key(|(class, _)| *class);
    if found.is_empty() {
        return (of(pcp), None, found);
    }
    let (class, turns) = found.remove(0);
    (class, turns, found)
}

impl Turns {
    /// The spans in which a gate is open and `chooses` a class; none if it always does, or if times are too long.
    fn of(gate: &StreamGate, chooses: impl Fn(Option<u8>) -> bool) -> Option<Self> {
        let cycle = Some(ps(gate.cycle_ns)).filter(|cycle| *cycle < Ps::MAX / 8)?;
        let mut spans: Vec<Window> = Vec::new();
        let mut at = 0;
        for entry in &gate.entries {
            let to = at + ps(entry.interval_ns);
            if entry.open && chooses(entry.ipv) {
                match spans.last_mut() {
                    Some(last) if last.to == at => last.to = to,
                    _ => spans.push(Window { from: at, to }),
                }
            }
            at = to;
        }
        let always = spans.len() == 1 && spans[0].length() == cycle;
        let base = gate.base_time_ns.checked_mul(1_000)?;
        (!always && !spans.is_empty()).then_some(Self { base, cycle, spans })
    }

    /// The turns of frames that arrive here at any time, of which `all` are the arrivals; none if there are too many
    /// to count.
    pub fn begun(&self, all: &[Stair]) -> Option<Vec<Turn>> {
        let turn = |span: &Window| {
            let (begin, end) = (self.base.checked_add(span.from)?, self.base.checked_add(span.to)?);
            Some(Turn { begin, end, from: begin, to: end - 1, unit: most(span, all)? })
        };
        self.spans.iter().map(turn).collect()
    }

    /// The span that contains all arrivals of a turn.
    fn span_of(&self, turn: &Turn) -> Option<&Window> {
        let phase = (turn.from - self.base).rem_euclid(self.cycle);
        let last = phase.checked_add(turn.to - turn.from)?;
        self.spans.iter().find(|span| span.from <= phase && last < span.to)
    }

    /// Those of some turns that come into this class, whose flow has the arrivals `all` here.
    pub fn continued(&self, sent: &[Turn], all: &[Stair]) -> Option<Vec<Turn>> {
        let own = sent.iter().filter_map(|turn| Some((turn, self.span_of(turn)?)));
        own.map(|(turn, span)| Some(Turn { unit: turn.unit.min(most(span, all)?), ..*turn })).collect()
    }

    /// Whether a turn comes into this class as a whole.
    pub fn takes(&self, turn: &Turn) -> bool {
        self.span_of(turn).is_some()
    }
}

/// Most data of some arrivals within a span.
fn most(span: &Window, all: &[Stair]) -> Option<Data> {
    let data = |stair: &Stair| {
        // Both ends of the greatest time between two arrivals are within the span.
        let steps = (span.length() - 1).checked_add(stair.jitter)? / stair.period + 1;
        stair.unit.checked_mul(Data::from(steps))
    };
    all.iter().try_fold(0, |sum: Data, stair| sum.checked_add(data(stair)?))
}

impl Chain {
    /// The arrivals of all turns, whose frames may come into the queue closer to each other by `closer`.
    pub fn stair(&self, cycle: Ps, closer: Ps) -> Option<Stair> {
        let first = self.turns.iter().map(|turn| turn.from).min().unwrap_or(0);
        let last = self.turns.iter().map(|turn| turn.to).max().unwrap_or(0);
        let unit = self.turns.iter().try_fold(0, |sum: Data, turn| sum.checked_add(turn.unit))?;
        Some(Stair { unit, period: cycle, jitter: (last - first).checked_add(closer)? })
    }
}

/// The arrivals with the lower rate; with the smaller burst, if the rates are equal.
pub(crate) fn less(one: Vec<Stair>, other: Stair) -> Vec<Stair> {
    let burst = |stairs: &[Stair]| -> Data {
        stairs.iter().map(|own| own.unit.saturating_mul(Data::from(own.jitter / own.period + 1))).sum()
    };
    let key = |stairs: &[Stair]| (arrivals::rate(stairs), burst(stairs));
    if key(&[other]) < key(&one) { vec![other] } else { one }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tsn_plan::StreamGateEntry;

    fn gate(entries: &[(bool, Option<u8>, u64)]) -> StreamGate {
        let entry = |(open, ipv, interval_ns): &(bool, Option<u8>, u64)| StreamGateEntry {
            open: *open,
            ipv: *ipv,
            interval_ns: *interval_ns,
            octets_max: None,
        };
        StreamGate {
            cycle_ns: entries.iter().map(|entry| entry.2).sum(),
            entries: entries.iter().map(entry).collect(),
            ..StreamGate::default()
        }
    }

    /// Entries that follow each other are one span; a closed one, and one of another queue, divide spans.
    #[test]
    fn the_turns_of_a_class() {
        let list = [
            (true, Some(6), 10),
            (true, Some(6), 20),
            (false, Some(6), 5),
            (true, None, 7),
            (true, Some(6), 8),
        ];
        let turns = Turns::of(&gate(&list), |ipv| ipv == Some(6)).unwrap();
        let span = |from: Ps, to: Ps| Window { from: from * 1_000, to: to * 1_000 };
        assert_eq!(turns, Turns { base: 0, cycle: 50_000, spans: vec![span(0, 30), span(42, 50)] });
        assert_eq!(Turns::of(&gate(&[(true, Some(6), 9)]), |_| true), None);
        assert_eq!(Turns::of(&gate(&[(false, Some(6), 9)]), |_| true), None);
    }

    /// A gate at ports 1 and 2 that chooses queue 5, then queue 6; or 5 at all times. Port 0 has none.
    #[test]
    fn the_classes_that_gates_choose() {
        let two = gate(&[(true, Some(5), 10), (true, Some(6), 10)]);
        let one = gate(&[(true, Some(5), 10)]);
        let plan = |gate: &StreamGate, clocks: bool| {
            let port = |node| tsn_plan::Port { node, ..tsn_plan::Port::default() };
            let filter = tsn_plan::StreamFilter { streams: vec![0], gate: Some(0), ..Default::default() };
            let policing = tsn_plan::Policing {
                node: 1,
                filters: vec![filter],
                gates: vec![gate.clone()],
                ..Default::default()
            };
            let all =
                tsn_plan::Clocks { nodes: vec![], record_ns: 1, within_ns: None, gptp: None, faults: vec![] };
            let clocks = clocks.then_some(all);
            Plan { ports: [0, 1, 1].map(port).to_vec(), policing: vec![policing], clocks, ..Plan::default() }
        };
        let found = |plan: &Plan, ingresses: &[(u32, u8)]| {
            let (class, turns, others) = chosen(plan, ingresses, (0, 6), &[0, 1, 2, 3, 4, 5, 6, 7]);
            let others = others.iter().map(|(class, turns)| (*class, turns.is_some())).collect::<Vec<_>>();
            (class, turns.is_some(), others)
        };
        let [followed, any, clocked] = [plan(&two, false), plan(&one, false), plan(&two, true)];
        for (plan, ingresses, expected) in [
            (&followed, &[(1, 6)][..], (6, true, vec![(5, true)])),
            // Frames of a port without a gate come at any time, as do those of several gates.
            (&followed, &[(0, 6)], (6, false, vec![])),
            (&followed, &[(1, 6), (2, 6)], (6, false, vec![(5, false)])),
            (&any, &[(0, 6), (1, 6)], (6, false, vec![(5, false)])),
            (&any, &[(1, 6)], (5, false, vec![])),
            // A priority of its own on the way to the gate may choose the queue.
            (&any, &[(1, 4)], (6, false, vec![(5, false)])),
            // Clocks make turns shorter or longer.
            (&clocked, &[(1, 6)], (6, false, vec![(5, false)])),
        ] {
            assert_eq!(found(plan, ingresses), expected, "{ingresses:?}");
        }
    }

    const US: Ps = 1_000_000;

    fn turns(base: Ps, spans: &[(Ps, Ps)]) -> Turns {
        let spans = spans.iter().map(|(from, to)| Window { from: *from, to: *to }).collect();
        Turns { base, cycle: 100 * US, spans }
    }

    /// A frame every 10 us that may be 3 us late: a span of 20 us has the arrivals of 19.999999 us, 3 of them; one of
    /// 7 us has one, one of 7.000001 us two, as 3 us early is 10 us.
    #[test]
    fn what_arrives_in_a_turn() {
        let own = Stair { unit: 100, period: 10 * US, jitter: 3 * US };
        let begun = |spans: &[(Ps, Ps)]| turns(5, spans).begun(&[own]).unwrap();
        let unit = |to: Ps| begun(&[(0, to)])[0].unit;
        assert_eq!([20 * US, 7 * US, 7 * US + 1].map(unit), [300, 100, 200]);
        // Of two spans the last arrival is at 50.000004 us, and the first at 0.000005 us; 1 us closer behind the gate.
        let chain = Chain { since: 0, turns: begun(&[(0, 7 * US), (30 * US, 50 * US)]) };
        let turn =
            |from: Ps, to: Ps, unit| Turn { begin: from + 5, end: to + 5, from: from + 5, to: to + 4, unit };
        assert_eq!(chain.turns, [turn(0, 7 * US, 100), turn(30 * US, 50 * US, 300)]);
        let stair = chain.stair(100 * US, US).unwrap();
        assert_eq!(stair, Stair { unit: 400, period: 100 * US, jitter: 51 * US - 1 });
    }

    /// A turn goes on if one span contains its first and its last arrival, in whichever cycle; then it has no more data
    /// than arrive in that span.
    #[test]
    fn a_turn_goes_on_as_a_whole() {
        let gate = turns(5, &[(10, 20), (60, 80)]);
        let turn = |from: Ps, to: Ps| Turn { begin: 0, end: 1, from, to, unit: 300 };
        for (from, to, taken) in [
            (15, 24, true),
            (14, 24, false),
            (15, 25, false),
            (65 + 300 * US, 84 + 300 * US, true),
            (65 - 300 * US, 84 - 300 * US, true),
            (20, 70, false),
            (15, 24 + 100 * US, false),
        ] {
            assert_eq!(gate.takes(&turn(from, to)), taken, "{from} {to}");
        }
        let all = [Stair { unit: 100, period: 10, jitter: 0 }];
        let found = gate.continued(&[turn(15, 24), turn(30, 31), turn(65, 84)], &all).unwrap();
        assert_eq!(found, [Turn { unit: 100, ..turn(15, 24) }, Turn { unit: 200, ..turn(65, 84) }]);
    }

    /// Of two arrivals the lower rate counts, then the smaller burst.
    #[test]
    fn the_lesser_arrivals() {
        let stair = |unit, period, jitter| Stair { unit: unit * crate::curve::BIT, period, jitter };
        let own = stair(1_000, 1_000, 5_000);
        for (other, lesser) in [
            (stair(900, 1_000, 9_000), true),
            (stair(1_100, 1_000, 0), false),
            (stair(2_000, 2_000, 2_000), true),
            (stair(2_000, 2_000, 4_000), false),
        ] {
            assert_eq!(less(vec![own], other) == vec![other], lesser, "{other:?}");
        }
    }
}
