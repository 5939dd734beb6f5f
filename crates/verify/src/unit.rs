//! The frames that arrive at a queue in every hyperperiod, and the interval of each arrival: frames of periodic
//! streams.

use crate::link::least_common_multiple;
use tsn_plan::{Further, Node, Pattern, Plan, Size, Stream, duration};
use tsn_units::{BitRate, INTER_FRAME_GAP, Octets, PREAMBLE, START_FRAME_DELIMITER};

/// Limit of frames of one hyperperiod in one queue; beyond it the queue is not verified.
pub(crate) const MOST_UNITS: usize = 2_000;

/// Smallest frame; shorter ones are padded. IEEE 802.3-2022, 4.2.3.3.
const SMALLEST_FRAME: u32 = 64;

/// One frame at one queue, repeated in every hyperperiod. Times in ps.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Unit {
    pub stream: u32,
    /// Its place among its stream's frames of a hyperperiod.
    pub turn: usize,
    /// Whether it stays behind the frames of its stream that were released before it, as on one path.
    pub ordered: bool,
    /// Earliest and latest arrival in the queue.
    pub first: i64,
    pub last: i64,
    /// Time on the wire from the first bit to the last bit.
    pub bits: i64,
    /// Time on the wire including the inter-frame gap.
    pub wire: i64,
    pub octets: u32,
    /// Octets of the shortest frame of the stream.
    pub least: u32,
    /// The frame's number within its data unit.
    pub part: usize,
}

/// The frames of the largest data unit.
pub(crate) fn largest(size: &Size) -> Vec<u32> {
    match size {
        Size::List { octets } => octets.iter().max().into_iter().copied().collect(),
        Size::Units { octets, most_per_frame, overhead } => {
            let most = octets.iter().max().into_iter().copied().collect();
            let whole = Size::Units { octets: most, most_per_frame: *most_per_frame, overhead: *overhead };
            crate::cut::frames(&whole).unwrap_or_default()
        }
        Size::Frame { octets } => vec![*octets],
    }
}

/// Octets of the shortest frame that a stream may send.
pub(crate) fn shortest(size: &Size) -> u32 {
    match size {
        Size::Frame { octets } => *octets,
        Size::List { octets } => octets.iter().min().copied().unwrap_or(0),
        // The last frame of a data unit may be the smallest that there is.
        Size::Units { overhead, .. } => (*overhead).max(SMALLEST_FRAME),
    }
}

/// Time on the wire from a frame's first bit to its last bit, ps.
pub(crate) fn on_wire(octets: u32, rate_bps: u64) -> i64 {
    BitRate(rate_bps).time(Octets(PREAMBLE.0 + START_FRAME_DELIMITER.0 + octets)).ps()
}

/// Time of the inter-frame gap, ps.
pub(crate) fn gap(rate_bps: u64) -> i64 {
    BitRate(rate_bps).time(INTER_FRAME_GAP).ps()
}

impl Unit {
    /// Whether it is certainly behind another frame of its stream; each with its hyperperiod.
    pub(crate) fn is_behind(&self, turn: i64, other: &Self, turn_of_other: i64) -> bool {
        self.stream == other.stream
            && self.ordered
            && other.ordered
            && (turn, self.turn) > (turn_of_other, other.turn)
    }

    /// The frame at a port with another rate.
    pub(crate) fn at(self, rate_bps: u64) -> Self {
        let wire = on_wire(self.octets + INTER_FRAME_GAP.0, rate_bps);
        Self { bits: on_wire(self.octets, rate_bps), wire, ..self }
    }
}

pub(crate) fn ps(ns: u64) -> Option<i64> {
    Some(duration(ns).ps()).filter(|ps| *ps < i64::MAX / 64)
}

/// Smallest and largest processing time of a node, from the last bit in to the queue, ps.
pub(crate) fn processing(node: &Node) -> Option<(i64, i64)> {
    let least = ps(node.processing_ns)?;
    let (low, high) = node.further.as_ref().map_or((0, 0), Further::range_ns);
    Some((least + ps(low)?, least + ps(high)?))
}

/// The hyperperiod: the least common multiple of all periods and gate cycles, ps.
pub(crate) fn hyperperiod(plan: &Plan) -> Option<i64> {
    let periods = plan.streams.iter().filter_map(|stream| match stream.pattern {
        Pattern::Periodic { period_ns, .. } => Some(period_ns),
        _ => None,
    });
    let cycles = plan.ports.iter().filter_map(|port| port.gates.as_ref().map(|gates| gates.cycle_ns));
    let most = periods.chain(cycles).try_fold(1, |all, ns| least_common_multiple(all, ps(ns.max(1))?));
    most.filter(|all| *all < i64::MAX / 64)
}

/// A stream's frames at its talker's queue over a hyperperiod, and when each data unit is released.
pub(crate) fn released(number: u32, stream: &Stream, hyper: i64) -> Option<(Vec<Unit>, Vec<i64>)> {
    let Pattern::Periodic { period_ns, offset_ns, jitter_ns } = stream.pattern else { return None };
    if stream.any_phase || stream.answers.is_some() {
        // Nothing says its phase; that of an answer depends on the arrivals of its request.
        return None;
    }
    let (period, jitter) = (ps(period_ns)?, ps(jitter_ns)?);
    let begin = ps(stream.start_ns)?.checked_add(ps(offset_ns)?)?.rem_euclid(period.max(1));
    let frames = largest(&stream.size);
    let exact = crate::cut::frames(&stream.size).is_some();
    let count = usize::try_from(hyper / period.max(1)).ok()?;
    if period == 0 || count.checked_mul(frames.len())? > MOST_UNITS {
        return None;
    }
    let mut units = Vec::new();
    let mut released = Vec::new();
    for nth in 0..count {
        let at = begin + i64::try_from(nth).ok()? * period;
        for (part, octets) in frames.iter().enumerate() {
            let (turn, first, last) = (units.len(), at, at + jitter);
            let least = if exact { *octets } else { shortest(&stream.size) };
            units.push(Unit {
                stream: number,
                turn,
                ordered: true,
                first,
                last,
                bits: 0,
                wire: 0,
                octets: *octets,
                least,
                part,
            });
            released.push(at);
        }
    }
    Some((units, released))
}
