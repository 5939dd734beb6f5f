//! Whether every window of a class sends all turns that wait for it (cyclic queuing and forwarding), and when.
//!
//! IEEE 802.1Q-2022, annex T. Derived in `docs/concepts/bounds.md`.

use crate::curve::arrival::Stair;
use crate::curve::deviation::Rises;
use crate::curve::{BIT, Curve, Data, Ps};
use crate::model::openings::{Openings, Window};
use crate::model::processing::Processing;
use crate::model::stream_gates::Turn;
use crate::service::class::Class;
use crate::service::{any_time, blocked};
use tsn_units::INTER_FRAME_GAP;

/// What the windows of a class send.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClassTurns {
    /// Most data that wait.
    pub backlog: Data,
    /// What is on the link within any span of time: by window.
    pub on_link: Vec<Stair>,
    /// By flow, its turns: the longest delay from the queue until the last bit is out, and each turn with the first and
    /// the last instant at which its frames leave.
    pub flows: Vec<Vec<(Ps, Turn)>>,
}

/// What the windows of a class send, if each one sends all turns that wait for it; none if that is not certain.
pub(crate) fn sent(class: &Class<'_>) -> Option<ClassTurns> {
    let (model, processing) = (class.model, class.model.processing);
    // A transmit buffer sends frames after their window, and a server has a time of its own.
    let behind = model.port.transmit_buffer.is_some() || model.server.is_some();
    let behind = behind || model.clock.is_some();
    let apart = behind
        || class.preemptable
        || class.shaped()
        || model.overruns
        || model.changes
        || class.replaced() > 0;
    let Openings::Windows { cycle, windows } = class.openings().ok()? else { return None };
    let base = model.port.gates.as_ref()?.base_time_ns.checked_mul(1_000)?;
    let queues = Queues { base, cycle: *cycle, windows, processing };
    let members = || class.hops.iter().filter(|hop| hop.sizes.is_some());
    if apart || !members().all(|hop| hop.turns.as_ref().is_some_and(|turns| turns.cycle == *cycle)) {
        return None;
    }
    let mut demand: Vec<Data> = vec![0; windows.len()];
    for hop in members() {
        for turn in &hop.chain.as_ref()?.turns {
            demand[queues.window(turn)?.0] += turn.unit;
        }
    }
    let needs = windows.iter().zip(&demand).map(|(window, demand)| needs(class, *cycle, window, *demand));
    let needs: Vec<Ps> = needs.collect::<Option<_>>()?;
    // On the link from the opening of a window until the gap of its last frame is over.
    let passes =
        |(unit, needs): (&Data, &Ps)| Stair { unit: *unit, period: *cycle, jitter: needs + model.gap() };
    let on_link = demand.iter().zip(&needs).map(passes).collect();
    let backlog = demand.iter().copied().max().unwrap_or(0);
    let mut found = ClassTurns { backlog, on_link, flows: Vec::new() };
    for hop in &class.hops {
        let chain = hop.chain.as_ref().filter(|_| hop.sizes.is_some());
        let leaves = |turn: &Turn| {
            let (number, opens) = queues.window(turn)?;
            let (from, to) = (opens, opens.checked_add(needs[number])?);
            Some((to - turn.from - processing.least, Turn { from, to, ..*turn }))
        };
        let turns: Option<Vec<(Ps, Turn)>> =
            chain.map_or(Some(Vec::new()), |own| own.turns.iter().map(leaves).collect());
        found.flows.push(turns?);
    }
    Some(found)
}

/// The queue of one class: when its gate is open, and how long frames take before they are in it.
struct Queues<'a> {
    base: Ps,
    cycle: Ps,
    windows: &'a [Window],
    processing: Processing,
}

impl Queues<'_> {
    /// The window that sends a turn, and the instant at which it opens: the first one after the turn is complete, if
    /// the gate is closed from its first frame on.
    fn window(&self, turn: &Turn) -> Option<(usize, Ps)> {
        let first = turn.from.checked_add(self.processing.least)?;
        let last = turn.to.checked_add(self.processing.most)?;
        let phase = (last - self.base).rem_euclid(self.cycle);
        let lap = last - phase;
        let of = |number: usize, by: Ps| (number, lap + by + self.windows[number].from);
        let (number, opens) = (-1..=1)
            .flat_map(|laps| (0..self.windows.len()).map(move |number| of(number, laps * self.cycle)))
            .filter(|(_, opens)| *opens > last)
            .min_by_key(|(_, opens)| *opens)?;
        let before = if number > 0 { number - 1 } else { self.windows.len() - 1 };
        let back = if number > 0 { 0 } else { self.cycle };
        let closed = opens - self.windows[number].from + self.windows[before].to - back;
        (closed <= first).then_some((number, opens))
    }
}

/// The time from the opening of a window until the last bit of all frames that wait for it has left; none if the window
/// may be too short for them.
fn needs(class: &Class<'_>, cycle: Ps, window: &Window, demand: Data) -> Option<Ps> {
    if demand == 0 {
        return Some(0);
    }
    let model = class.model;
    // When lower frames may begin does not matter: all that arrive before the window count.
    let (late, _) = blocked(class, window, window.to).ok()?;
    let rest = [Window { from: window.from + late, to: window.to }];
    let taken = any_time(class, Some((cycle, &rest))).ok()?;
    let service = Curve::affine(0, model.rate).sub(&taken);
    // The last frame has left before its inter-frame gap has.
    let data = demand - Data::from(INTER_FRAME_GAP.0) * 8 * BIT;
    let needs = Rises::of(&service).after(data)?.checked_add(late)?;
    (needs <= window.length()).then_some(needs)
}
