//! What must hold between the parts of a Plan, so that no backend has to ask again.

use crate::{Cbs, Pattern, Plan, PlanError, Port, Size, Stream};

/// Largest time that a Plan may name: ten days, far inside what picoseconds in 64 bits can hold.
const LONGEST_NS: u64 = 10 * 86_400 * 1_000_000_000;
/// Smallest frame: 64 octets untagged. IEEE 802.3-2022, 4.2.3.3.
const SMALLEST_FRAME: u32 = 64;
/// Largest frame that a Plan may name (jumbo).
const LARGEST_FRAME: u32 = 65_535;
/// What a bridge has to see of a frame before it can choose port and queue: addresses, VLAN tag and type.
const SMALLEST_CUT: u32 = 18;
/// Largest data unit that a Plan may name.
const LARGEST_UNIT: u32 = 1 << 30;

/// The problem of one part, or none.
pub(crate) type Check = Result<(), PlanError>;

pub(crate) fn ensure(holds: bool, path: impl FnOnce() -> String, problem: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(PlanError::Inconsistent { path: path(), problem: problem() }) }
}

pub(crate) fn index(value: u32, length: usize, path: impl FnOnce() -> String) -> Check {
    ensure((value as usize) < length, path, || format!("{value} is not the index of one of {length}"))
}

pub(crate) fn time(value: u64, path: impl FnOnce() -> String) -> Check {
    ensure(value <= LONGEST_NS, path, || format!("{value} ns is more than ten days"))
}

impl Plan {
    /// Proves that every reference points somewhere and every number makes sense.
    ///
    /// # Errors
    /// [`PlanError::Inconsistent`] with the path of the first contradiction.
    pub fn check(&self) -> Check {
        ensure(self.duration_ns > 0, || "duration_ns".into(), || "must be more than 0".into())?;
        time(self.duration_ns, || "duration_ns".into())?;
        time(self.drain_ns, || "drain_ns".into())?;
        for (number, node) in self.nodes.iter().enumerate() {
            time(node.processing_ns, || format!("nodes[{number}].processing_ns"))?;
            if let Some(octets) = node.cut_through_octets {
                ensure(
                    (SMALLEST_CUT..=LARGEST_FRAME).contains(&octets),
                    || format!("nodes[{number}].cut_through_octets"),
                    || format!("{octets} is not between {SMALLEST_CUT} and {LARGEST_FRAME}"),
                )?;
            }
        }
        for (number, port) in self.ports.iter().enumerate() {
            self.check_port(number, port)?;
        }
        let mut names = std::collections::HashSet::new();
        for (number, stream) in self.streams.iter().enumerate() {
            self.check_stream(number, stream)?;
            ensure(
                names.insert(stream.name.as_str()),
                || format!("streams[{number}].name"),
                || format!("{:?} is used twice", stream.name),
            )?;
        }
        for (number, fault) in self.faults.iter().enumerate() {
            self.check_fault(number, fault)?;
        }
        self.check_policing()?;
        for (number, tap) in self.taps.iter().enumerate() {
            let path = |field: &str| format!("taps[{number}].{field}");
            index(tap.port, self.ports.len(), || path("port"))?;
            let granularity = tap.granularity_ns;
            ensure(
                (1..=1_000_000_000).contains(&granularity),
                || path("granularity_ns"),
                || format!("{granularity} is not between 1 ns and 1 s"),
            )?;
        }
        if let Some(clocks) = &self.clocks {
            self.check_clocks(clocks)?;
        }
        self.check_hosts()?;
        ensure(self.taps.len() < 1 << 16, || "taps".into(), || "more than 65535".into())?;
        self.check_bridging()?;
        self.check_learning()?;
        self.check_together()
    }

    pub(crate) fn check_port(&self, number: usize, port: &Port) -> Check {
        let path = |field: &str| format!("ports[{number}].{field}");
        index(port.node, self.nodes.len(), || path("node"))?;
        index(port.peer, self.ports.len(), || path("peer"))?;
        ensure(
            self.ports[port.peer as usize].peer as usize == number && port.peer as usize != number,
            || path("peer"),
            || "the peer's peer is another port".into(),
        )?;
        ensure(
            (1_000_000..=1_000_000_000_000).contains(&port.rate_bps),
            || path("rate_bps"),
            || format!("{} bit/s is not between 1 Mbit/s and 1 Tbit/s", port.rate_bps),
        )?;
        time(port.propagation_ps / 1_000, || path("propagation_ps"))?;
        let classes = port.classes.len();
        ensure((1..=8).contains(&classes), || path("classes"), || format!("{classes} classes, not 1 to 8"))?;
        for (pcp, class) in port.pcp_to_class.iter().enumerate() {
            index(u32::from(*class), classes, || path(&format!("pcp_to_class[{pcp}]")))?;
        }
        for (class, cbs) in port.classes.iter().enumerate().filter_map(|(n, c)| Some((n, c.cbs.as_ref()?))) {
            let Cbs { idle_slope_bps, send_slope_bps, hi_credit_bits, lo_credit_bits, .. } = *cbs;
            ensure(
                idle_slope_bps > 0
                    && send_slope_bps < 0
                    && hi_credit_bits >= 0
                    && lo_credit_bits <= 0
                    && idle_slope_bps <= 1_000_000_000_000
                    && send_slope_bps >= -1_000_000_000_000
                    && hi_credit_bits <= 1 << 40
                    && lo_credit_bits >= -(1 << 40),
                || path(&format!("classes[{class}].cbs")),
                || "slopes or credits have the wrong sign or are out of range".into(),
            )?;
        }
        self.check_gates(number, port)
    }

    fn check_stream(&self, number: usize, stream: &Stream) -> Check {
        let path = |field: &str| format!("streams[{number}].{field}");
        index(stream.talker, self.nodes.len(), || path("talker"))?;
        ensure(stream.pcp < 8, || path("pcp"), || format!("{} is not 0 to 7", stream.pcp))?;
        if let Some(vid) = stream.vid {
            ensure((1..=4094).contains(&vid), || path("vid"), || format!("{vid} is not 1 to 4094"))?;
        }
        time(stream.start_ns, || path("start_ns"))?;
        time(stream.stop_ns, || path("stop_ns"))?;
        match stream.pattern {
            Pattern::Trace { ref gaps_ns, cycle_ns, passes } => {
                Self::check_trace(gaps_ns, cycle_ns, passes, &path)?;
            }
            Pattern::Periodic { period_ns, offset_ns, jitter_ns } => {
                ensure(period_ns > 0, || path("pattern.period_ns"), || "must be more than 0".into())?;
                time(period_ns, || path("pattern.period_ns"))?;
                time(offset_ns, || path("pattern.offset_ns"))?;
                time(jitter_ns, || path("pattern.jitter_ns"))?;
            }
            Pattern::Poisson { mean_interval_ps } => {
                ensure(
                    mean_interval_ps >= 1_000,
                    || path("pattern.mean_interval_ps"),
                    || "must be at least 1 ns".into(),
                )?;
                time(mean_interval_ps / 1_000, || path("pattern.mean_interval_ps"))?;
            }
            Pattern::Saturating { backlog } => {
                ensure(backlog > 0, || path("pattern.backlog"), || "must be more than 0".into())?;
            }
        }
        let frame = |octets: u32, field: &str| {
            ensure(
                (SMALLEST_FRAME..=LARGEST_FRAME).contains(&octets),
                || path(field),
                || format!("a frame of {octets} octets is not between {SMALLEST_FRAME} and {LARGEST_FRAME}"),
            )
        };
        match &stream.size {
            Size::Frame { octets } => frame(*octets, "size.octets")?,
            Size::List { octets } => {
                Self::check_list(octets, &path)?;
                octets.iter().try_for_each(|octets| frame(*octets, "size.octets"))?;
            }
            Size::Units { octets, most_per_frame, overhead } => {
                ensure(!octets.is_empty(), || path("size.octets"), || "is empty".into())?;
                ensure(
                    octets.iter().all(|unit| *unit <= LARGEST_UNIT),
                    || path("size.octets"),
                    || format!("a data unit is larger than {LARGEST_UNIT} octets"),
                )?;
                ensure(*most_per_frame > 0, || path("size.most_per_frame"), || "must be more than 0".into())?;
                frame(most_per_frame.saturating_add(*overhead), "size.most_per_frame")?;
            }
        }
        self.check_scheduled(stream, path)?;
        self.check_route(stream, path)
    }

    fn check_route(&self, stream: &Stream, path: impl Fn(&str) -> String) -> Check {
        ensure(!stream.route.is_empty(), || path("route"), || "is empty".into())?;
        for (place, hop) in stream.route.iter().enumerate() {
            index(hop.port, self.ports.len(), || path(&format!("route[{place}].port")))?;
            let from = match hop.parent {
                None => stream.talker,
                Some(parent) => {
                    index(parent, place, || path(&format!("route[{place}].parent")))?;
                    let arrival = self.ports[stream.route[parent as usize].port as usize].peer;
                    self.ports[arrival as usize].node
                }
            };
            ensure(
                self.ports[hop.port as usize].node == from,
                || path(&format!("route[{place}]")),
                || "its port is on another node than the one where the frame then is".into(),
            )?;
        }
        ensure(!stream.listeners.is_empty(), || path("listeners"), || "is empty".into())?;
        for (place, listener) in stream.listeners.iter().enumerate() {
            index(listener.route, stream.route.len(), || path(&format!("listeners[{place}].route")))?;
            let last = &self.ports[stream.route[listener.route as usize].port as usize];
            ensure(
                self.ports[last.peer as usize].node == listener.node,
                || path(&format!("listeners[{place}].node")),
                || "its route ends at another node".into(),
            )?;
        }
        if let Some(redundancy) = &stream.redundancy {
            self.check_redundancy(stream, redundancy, &path)?;
            self.check_rewriting(stream, redundancy, &path)?;
        }
        Ok(())
    }
}
