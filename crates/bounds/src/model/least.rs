//! The least time that frames spend behind a stream gate that chooses their queue: each waits for the gate of its class.
//!
//! IEEE 802.1Q-2022, 8.6.8.4 and annex T. Derived in `docs/concepts/bounds.md`.

use crate::curve::{LONGEST, Ps};
use crate::model::flow_hop::FlowHop;
use crate::model::openings::{Openings, Window};
use crate::model::stream_gates::Turns;
use tsn_plan::Plan;

/// Frames of one flow behind the first stream gate on their path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Least {
    /// The hop behind the gate.
    pub since: usize,
    /// The cycle of that gate; lists with other cycles meet it in any phase, and count as open.
    cycle: Ps,
    /// By span of the gate: the instant after its last one, and the earliest instant at which a frame of it, or of a
    /// later span, arrives at the end of this hop's link.
    spans: Vec<[Ps; 2]>,
}

impl Least {
    /// The least time from the last bit of a frame at the gate to its last bit at the end of this hop's link.
    pub fn time(&self) -> Ps {
        self.spans.iter().map(|[end, arrives]| arrives - end).min().unwrap_or(0)
    }
}

/// A hop in one of its classes, as the earliest departure needs it.
pub(crate) struct Way<'a> {
    pub hop: &'a FlowHop,
    pub openings: Option<&'a Openings>,
    /// The least part of a window in which a frame may start.
    pub needs: Ps,
    /// The least time from the last bit of a frame at the node until it is in the queue.
    pub queued: Ps,
}

impl Way<'_> {
    /// The earliest instant at the end of the link for frames that arrive at `at` or later, in every cycle of `lap`.
    fn leaves(&self, plan: &Plan, at: Ps, lap: Ps) -> Option<Ps> {
        let arrives = match &self.hop.turns {
            Some(turns) if lap % turns.cycle == 0 => next(turns, at)?,
            _ => at,
        };
        let port = &plan.ports[self.hop.port];
        let queued = arrives.checked_add(self.queued)?;
        let starts = match self.openings {
            Some(Openings::Windows { cycle, windows }) if lap % cycle == 0 => {
                let base = port.gates.as_ref()?.base_time_ns.checked_mul(1_000)?;
                opens(base, *cycle, windows, queued, self.needs)?
            }
            _ => queued,
        };
        starts.checked_add(self.hop.shortest).filter(|at| *at < LONGEST)
    }
}

/// The frames of a flow behind a hop, which has these classes; `before`: those before it.
pub(crate) fn least(
    plan: &Plan,
    number: usize,
    classes: &[Way<'_>],
    before: Option<&Least>,
) -> Option<Least> {
    let (since, cycle, spans) = match before {
        Some(before) => (before.since, before.cycle, before.spans.clone()),
        None => {
            let spans = classes.iter().try_fold(Vec::new(), |mut spans, class| {
                let turns = class.hop.turns.as_ref()?;
                spans.extend(turns.spans.iter().map(|span| [span.to, span.from].map(|at| turns.base + at)));
                Some(spans)
            });
            (number, classes.iter().find_map(|class| Some(class.hop.turns.as_ref()?.cycle))?, spans?)
        }
    };
    let leaves = |at: Ps| classes.iter().filter_map(|class| class.leaves(plan, at, cycle)).min();
    let spans: Option<Vec<[Ps; 2]>> =
        spans.into_iter().map(|[end, arrives]| Some([end, leaves(arrives)?])).collect();
    Some(Least { since, cycle, spans: spans? })
}

/// The first instant from `at` on at which a gate chooses a class.
fn next(turns: &Turns, at: Ps) -> Option<Ps> {
    let phase = (at - turns.base).rem_euclid(turns.cycle);
    let of = |span: &Window| if phase < span.to { phase.max(span.from) } else { span.from + turns.cycle };
    Some(at - phase + turns.spans.iter().map(of).min()?)
}

/// The first instant from `at` on at which a window has room for a frame.
fn opens(base: Ps, cycle: Ps, windows: &[Window], at: Ps, needs: Ps) -> Option<Ps> {
    let phase = (at - base).rem_euclid(cycle);
    let laps = windows.iter().flat_map(|window| [-cycle, 0, cycle].map(|by| window.moved(by)));
    let starts = laps.map(|window| (window.from.max(phase), window.to));
    let first = starts.filter(|(from, to)| from + needs <= *to).map(|(from, _)| from).min()?;
    Some(at - phase + first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_instant_of_a_span() {
        let spans = [(10, 20), (60, 80)].map(|(from, to)| Window { from, to }).to_vec();
        let turns = Turns { base: 5, cycle: 100, spans };
        let found = [0, 15, 24, 25, 84, 85, 110, -90].map(|at| next(&turns, at).unwrap());
        assert_eq!(found, [15, 15, 24, 65, 84, 115, 115, -85]);
    }

    /// Open from 10 to 30, and from 90 to 110; a frame needs 10.
    #[test]
    fn the_next_instant_of_a_window() {
        let windows = [(10, 30), (90, 110)].map(|(from, to)| Window { from, to });
        let found = [0, 5, 6, 25, 26, 100, 101, 106].map(|at| opens(5, 100, &windows, at, 10).unwrap());
        assert_eq!(found, [0, 5, 15, 25, 95, 100, 101, 115]);
        assert_eq!(opens(5, 100, &windows, 0, 21), None);
    }
}
