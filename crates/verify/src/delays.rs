//! Guaranteed delays of scheduled streams: the planned delay, plus the margin. A frame may arrive earlier because
//! frames ahead of it in a queue are missing.
//!
//! Nothing is analysed here: the proof has followed every frame along its path, and no other traffic can delay it.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use tsn_plan::{Destination, Plan, Point, Stage, Stream, Tap};
use tsn_units::{BitRate, Octets, PREAMBLE, START_FRAME_DELIMITER};

/// The smallest and the largest delay of one stream to one listener.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proven {
    /// Index of the stream.
    pub stream: u32,
    /// The listener's node.
    pub node: u32,
    /// Largest delay between the timestamps of the Plan's taps, ns. Timestamps are rounded as the taps round them.
    pub upper_ns: i64,
    /// Smallest delay between the timestamps of the Plan's taps, ns.
    pub lower_ns: i64,
    /// Largest delay between the timestamp points of the frame, without rounding, ps.
    pub upper_ps: i64,
    /// Smallest delay between the timestamp points of the frame, without rounding, ps.
    pub lower_ps: i64,
    /// Largest delay from the release to the last bit in, ps.
    pub release_upper_ps: i64,
    /// Smallest delay from the release to the last bit in, ps.
    pub release_lower_ps: i64,
    /// A port on the stream's paths whose queue may be full; none if all queues have room for all frames that may wait.
    pub full: Option<u32>,
    /// A port on the stream's paths at which one disturbed frame delays all later ones, because no window is spare; none
    /// if each queue drains.
    pub undrained: Option<u32>,
    /// Whether a queue on the stream's paths drops frames that wait for too long.
    pub drops_late: bool,
}

/// The points and ticks (ns) of the timestamps at the ends of links, by port; the first tap of several counts.
pub(crate) struct Stamps {
    pub(crate) tx: HashMap<u32, (Point, i64)>,
    pub(crate) rx: HashMap<u32, (Point, i64)>,
}

impl Stamps {
    /// Of taps in the order of the Plan.
    pub(crate) fn of<'a>(taps: impl DoubleEndedIterator<Item = &'a Tap> + Clone) -> Self {
        let at = |stage: Stage| {
            let taps = taps.clone().rev().filter(|tap| tap.stage == stage);
            taps.map(|tap| (tap.port, (tap.point, i64::from(tap.granularity_ns)))).collect()
        };
        Self { tx: at(Stage::Tx), rx: at(Stage::Rx) }
    }
}

/// The times of the frames of one release, ps.
pub(crate) struct Times<'a> {
    /// The release, which is common to all frames.
    pub release: i64,
    /// First and last bits out at each of the talker's ports, frame by frame.
    pub roots: &'a [&'a [(i64, i64)]],
    /// For each path: last bits in at the listener, frame by frame, and how much earlier they may be.
    pub paths: &'a [(&'a [i64], i64)],
}

/// The delays to one listener; `None` if no path leads to the listener.
pub(crate) fn proven(
    plan: &Plan,
    stamps: &Stamps,
    number: u32,
    stream: &Stream,
    listener: &Destination,
    times: &Times<'_>,
) -> Option<Proven> {
    let own = stream.scheduled.as_ref()?;
    let margin = i64::try_from(own.margin_ps).ok()?;
    let last = stream.route.get(listener.route as usize)?.port;
    let first = stream.route.first()?.port;
    let (tx_point, tx_tick) = stamps.tx.get(&first).copied().unwrap_or((Point::Start, 1));
    let peer = plan.ports[last as usize].peer;
    let (rx_point, rx_tick) = stamps.rx.get(&peer).copied().unwrap_or((Point::End, 1));
    let before = Octets(PREAMBLE.0 + START_FRAME_DELIMITER.0);
    let until_point = |port: u32| BitRate(plan.ports[port as usize].rate_bps).time(before).ps();
    // The talker's ports have timestamps of their own, so the delay is counted from the release.
    let root = match times.roots {
        [root] => Some(*root),
        _ => None,
    };
    let mut found = Proven { stream: number, node: listener.node, ..Proven::default() };
    let mut any = false;
    let frames = times
        .paths
        .iter()
        .flat_map(|(bits, early)| bits.iter().zip(0..).map(move |(bits, place)| (bits, place, early)));
    for (bits, place, early) in frames {
        let place: usize = place;
        let (begin, end) =
            root.and_then(|root| root.get(place)).copied().unwrap_or((times.release, times.release));
        let sent = match (root, tx_point) {
            (None, _) => begin,
            (Some(_), Point::Start) => begin + until_point(first),
            (Some(_), Point::End) => end,
        };
        let octets =
            times.roots.first().and_then(|root| root.get(place)).map_or(0, |(begin, end)| end - begin);
        let received = match rx_point {
            Point::End => *bits,
            Point::Start => bits - behind_point(plan, first, last, octets),
        };
        let (stamped, released) = (received - sent, bits - times.release);
        if !any {
            (found.upper_ps, found.lower_ps) = (stamped, stamped - early);
            (found.release_upper_ps, found.release_lower_ps) = (released, released - early);
            any = true;
        }
        found.upper_ps = found.upper_ps.max(stamped);
        found.lower_ps = found.lower_ps.min(stamped - early);
        found.release_upper_ps = found.release_upper_ps.max(released);
        found.release_lower_ps = found.release_lower_ps.min(released - early);
    }
    found.upper_ps += margin;
    found.lower_ps = (found.lower_ps - margin).max(0);
    found.release_upper_ps += margin;
    found.release_lower_ps = (found.release_lower_ps - margin).max(0);
    // A timestamp shows the last tick before the instant.
    let shown = |ps: i64| ps.div_euclid(1_000);
    found.upper_ns = shown(found.upper_ps + tx_tick * 1_000 - 1);
    found.lower_ns = (shown(found.lower_ps - rx_tick * 1_000) + 1).max(0);
    any.then_some(found)
}

/// Time on the last link from the timestamp point to the last bit, ps; the frame occupies the first link for `taken`
/// ps.
fn behind_point(plan: &Plan, first: u32, last: u32, taken: i64) -> i64 {
    let rate = |port: u32| i128::from(plan.ports[port as usize].rate_bps);
    let before = Octets(PREAMBLE.0 + START_FRAME_DELIMITER.0);
    let behind = i128::from(taken - BitRate(plan.ports[first as usize].rate_bps).time(before).ps());
    i64::try_from(behind * rate(first) / rate(last).max(1)).unwrap_or(0)
}
