//! How frames pass hops with extras: over impaired links, as member streams, over standby paths.
//!
//! IEEE 802.1CB-2017, 7.

use crate::faults::impairment::{Damage, LinkTransit, instant};
use crate::ids::{HopId, NodeId, PortId, StreamId};
use crate::kernel::event::{EventKind, Frame};
use crate::kernel::simulation::Simulation;
use crate::network::hop_extras::MergePoint;
use crate::network::tables::Hop;
use crate::policing::state::PolicingResult;
use std::io;
use tsn_observation::{ELIMINATED, Sink};
use tsn_units::{Duration, Instant, Octets};

/// A frame at the end of a link.
#[derive(Copy, Clone, Debug)]
struct Arrival {
    frame: Frame,
    /// When the first bit of its preamble arrives.
    begun: Instant,
    /// When the last bit of its FCS arrives, or would.
    arrival: Instant,
    /// Number of octets that arrive.
    octets_in: u32,
}

impl Simulation<'_> {
    /// Transmits a frame over an impaired link, or over the link of a member stream.
    #[cold]
    #[inline(never)]
    pub(crate) fn transmit_with_extras<S: Sink>(
        &mut self,
        port: PortId,
        frame: Frame,
        (first_bit, last_bit): (Instant, Instant),
        sink: &mut S,
    ) -> io::Result<()> {
        let hop = &{ self.network.hops[frame.hop()] };
        self.leave_cyclic_queue(port, hop.class, frame, first_bit);
        let link = self.network.links[port];
        if S::PASSAGES {
            self.open_passage(port, frame, (first_bit, last_bit), sink)?;
        }
        if !frame.is_damaged() {
            let copy = self.hop_extras.copy(frame.hop());
            // A node makes no timestamps after it went down.
            let stamped =
                |at: Instant| if self.is_down(link.node, first_bit, at) { Instant::MAX } else { at };
            let (start, end) = (stamped(first_bit + link.until_timestamp_point), stamped(last_bit));
            self.sight(link.tx, hop, frame, copy, (start, end), sink)?;
        }
        let mut landing = Arrival {
            frame,
            begun: first_bit + link.propagation,
            arrival: last_bit + link.propagation,
            octets_in: frame.octets(),
        };
        self.count_disobeying(port);
        let Some(Some(impairment)) = self.impairments.get_mut(port.index()) else {
            return self.arrive_at_peer(port, hop, landing, sink);
        };
        let line = self.ports[port].line();
        let transit = LinkTransit {
            first: first_bit,
            first_in: landing.begun,
            last_in: landing.arrival,
            octets: frame.octets(),
            rate: line.rate().0,
            occupies: line.until_free(Octets(frame.octets())),
        };
        let outcome = impairment.apply(&transit, &mut self.affected);
        match outcome.damage {
            Damage::None => {}
            Damage::Lost => {
                self.lose(hop.stream, port);
                return self.close_passage(None, sink);
            }
            Damage::Damaged(octets) => {
                landing.frame = frame.damaged();
                landing.octets_in = octets;
            }
        }
        landing.begun += outcome.extra_delay;
        landing.arrival += outcome.extra_delay;
        self.arrive_at_peer(port, hop, landing, sink)?;
        if let Some(after) = outcome.duplicate_after {
            self.stream_totals[hop.stream].replicated += 1;
            landing.begun += after;
            landing.arrival += after;
            self.arrive_at_peer(port, hop, landing, sink)?;
        }
        Ok(())
    }

    /// Handles the arrival of a frame at the other end of a link, now or later.
    fn arrive_at_peer<S: Sink>(
        &mut self,
        port: PortId,
        hop: &Hop,
        landing: Arrival,
        sink: &mut S,
    ) -> io::Result<()> {
        let Arrival { frame, begun, arrival, .. } = landing;
        let link = self.network.links[port];
        let merge_point = self.hop_extras.merge_point(frame.hop());
        // Frames on the wire at the outage are cut; a frame that a delay fault held back also arrives at a node that
        // is down.
        if self.is_down(link.peer, arrival, arrival) {
            self.lose(hop.stream, port);
            return self.close_passage(None, sink);
        }
        if frame.is_damaged() {
            self.forward_damaged(merge_point, &landing);
            return self.close_passage(None, sink);
        }
        let learns = self.learning.as_ref().is_some_and(|learning| learning.learns_from(frame.hop()));
        let filtered = self.hop_extras.filtered(frame.hop()).is_some();
        let copies = merge_point.is_some_and(|meeting| meeting.recovery.is_some());
        let answered = self.answers.as_ref().is_some_and(|answers| answers.has(hop.stream, link.peer));
        if filtered || learns || copies || answered || self.is_received(port) {
            // Elimination, learning, filters, software and answers depend on the order in which frames arrive.
            if begun + self.ports[port].line().until_last_bit(Octets(frame.octets())) != arrival {
                self.hop_extras.remember_first_bit(frame, arrival, begun);
            }
            self.land_later(frame, arrival);
            self.schedule(arrival, link.peer, EventKind::Ingress(frame));
            return Ok(());
        }
        let copy = self.hop_extras.copy(frame.hop());
        self.sight(link.rx, hop, frame, copy, (begun + link.until_timestamp_point, arrival), sink)?;
        self.close_passage(Some(arrival), sink)?;
        let passed =
            PolicingResult { yellow: self.hop_extras.yellow(frame.hop()), ..PolicingResult::default() };
        self.forward_received(merge_point, frame, (arrival, arrival), false, passed);
        Ok(())
    }

    /// Handles a frame that arrives at a filter or a merge point: there the first copy passes, the others are
    /// eliminated.
    #[cold]
    #[inline(never)]
    pub(crate) fn ingress<S: Sink>(&mut self, frame: Frame, sink: &mut S) -> io::Result<()> {
        let hop = self.network.hops[frame.hop()];
        let merge_point = self.hop_extras.merge_point(frame.hop());
        let number = (frame.seq & 0xffff) as u16;
        let policed = self.apply_filters(frame);
        // The timers of a recovery function run on its node's clock.
        let now = self.clock_of(self.network.links[hop.port].peer, self.now);
        let recovery = merge_point.and_then(|meeting| Some((meeting.recovery?, meeting.path)));
        let recovery = recovery.filter(|_| policed.is_some());
        let passes = recovery.is_none_or(|(recovery, path)| {
            let recoveries = self.hop_extras.recoveries.get_mut(recovery as usize);
            recoveries.is_none_or(|recovery| recovery.machine.receive(now, path as usize, number))
        });
        let copy = self.hop_extras.copy(frame.hop()) | if passes { 0 } else { ELIMINATED };
        let link = self.network.links[hop.port];
        let line = *self.ports[hop.port].line();
        let begun = self.hop_extras.take_first_bit(frame, self.now);
        let begun = begun.unwrap_or_else(|| self.now - line.until_last_bit(Octets(frame.octets())));
        self.sight(link.rx, &hop, frame, copy, (begun + link.until_timestamp_point, self.now), sink)?;
        self.landed(frame, passes && policed.is_some(), sink)?;
        // Bridges learn before stream filters apply (8.7), so they also learn from dropped frames.
        if let Some(learning) = &mut self.learning {
            learning.learn(frame.hop(), self.now);
        }
        match policed {
            None => {}
            // Filters, meters and elimination need the whole frame.
            Some(passed) if passes => self.take_in_turn(&hop, (frame, copy), passed, sink)?,
            Some(_) => self.stream_totals[hop.stream].eliminated += 1,
        }
        Ok(())
    }

    /// A node takes a frame that arrived at `arrival`: its software receives it, answers it, and forwards it.
    pub(crate) fn take<S: Sink>(
        &mut self,
        hop: &Hop,
        (frame, copy): (Frame, u8),
        arrival: Instant,
        passed: PolicingResult,
        sink: &mut S,
    ) -> io::Result<()> {
        let merge_point = self.hop_extras.merge_point(frame.hop());
        let (ready, program) = self.receive(hop, merge_point, (frame, copy), sink)?;
        self.answer((hop.stream, frame.seq), self.network.links[hop.port].peer, program);
        self.forward_received(merge_point, frame, (arrival, ready), true, passed);
        Ok(())
    }

    /// Releases the answers to a frame that the program of a node has received at `at`.
    fn answer(&mut self, (request, seq): (StreamId, u64), node: NodeId, at: Instant) {
        let Some(mut answers) = self.answers.take() else { return };
        let due: Vec<_> = answers.released(request, node, at).collect();
        for (stream, released) in due {
            let own = &self.plan.streams[stream];
            let stop = instant(own.stop_ns.min(self.plan.duration_ns));
            if (instant(own.start_ns)..stop).contains(&released) {
                answers.expect(stream, released, seq);
                self.schedule(released, node, EventKind::Release { stream });
            }
        }
        self.answers = Some(answers);
    }

    /// Forwards a frame that has arrived at the end of its hop: to listeners, and to the queues of the next hops. The
    /// frame can be forwarded from `ready` on.
    fn forward_received(
        &mut self,
        merge_point: Option<MergePoint>,
        frame: Frame,
        (arrival, ready): (Instant, Instant),
        stored: bool,
        passed: PolicingResult,
    ) {
        let leading_hop = merge_point.map_or(frame.hop(), |meeting| meeting.leading_hop);
        let hop = self.network.hops[leading_hop];
        let ingress = self.network.hops[frame.hop()].port;
        let link = self.network.links[ingress];
        let mut copies = 0_u64;
        for listener in hop.listeners.indices() {
            copies += 1;
            if arrival <= self.end {
                self.delivered[listener as usize] += 1;
            } else {
                self.late += 1;
            }
        }
        let mut blocked = None;
        for branch in hop.branches.indices() {
            let next = self.network.branches[branch as usize];
            if self.learning.as_ref().is_some_and(|learning| learning.filters(next, arrival)) {
                continue;
            }
            let queued = self.queued(ingress, frame, next, ready, stored);
            if self.is_down(link.peer, arrival.min(queued), queued) {
                blocked = Some(ingress);
            } else if self.hop_extras.is_active(next, queued) {
                copies += 1;
                let octets = self.hop_extras.octets(frame.octets(), Some(frame.hop()), next);
                let next = self.policing.as_ref().map_or(next, |policing| policing.next(next, &passed));
                let came = frame;
                let frame = Frame::new(frame.seq, next, octets);
                let held = passed.eligible.map(|_| queued);
                self.note_forwarded((ingress, came), frame, (arrival, stored), held);
                if passed.ipv.is_some() {
                    self.enter_cyclic_queue(frame, queued);
                }
                match passed.eligible {
                    None => self.forward((ingress, queued), link.peer, frame),
                    Some(at) => self.queue_at(queued, link.peer, frame, Some(at + link.processing)),
                }
            } else {
                blocked = Some(self.network.hops[next].port);
            }
        }
        match (copies, blocked) {
            (0, Some(port)) => self.lose(hop.stream, port),
            // The frame was flooded to a station that is no listener, or to a bridge that has learned another port.
            (0, None) => self.stream_totals[hop.stream].filtered += 1,
            _ => self.stream_totals[hop.stream].replicated += copies - 1,
        }
    }

    /// Handles a damaged frame: a node that stores it drops it. A cut-through node that has begun to forward it also
    /// forwards the rest that arrives, and the receiver finds the damage by the check sequence.
    fn forward_damaged(&mut self, merge_point: Option<MergePoint>, landing: &Arrival) {
        let Arrival { frame, arrival, octets_in, .. } = *landing;
        let own = self.network.hops[frame.hop()];
        let hop = self.network.hops[merge_point.map_or(frame.hop(), |meeting| meeting.leading_hop)];
        let link = self.network.links[own.port];
        let mut copies = 0_u64;
        // Filters and merge points take whole frames only.
        let stored = self.hop_extras.filtered(frame.hop()).is_some();
        if !stored && merge_point.is_none_or(|meeting| meeting.recovery.is_none()) {
            for branch in hop.branches.indices() {
                let next = self.network.branches[branch as usize];
                if self.learning.as_ref().is_some_and(|learning| learning.filters(next, arrival)) {
                    continue;
                }
                let queued = self.queued(own.port, frame, next, arrival, false);
                // The octets that the forwarding decision needs must have arrived.
                let decides = self.octets_before(own.port, frame, next);
                if decides.is_some_and(|octets| octets <= octets_in)
                    && !self.is_down(link.peer, arrival.min(queued), queued)
                    && self.hop_extras.is_active(next, queued)
                {
                    copies += 1;
                    let octets = self.hop_extras.octets(octets_in, Some(frame.hop()), next).max(1);
                    let next = Frame::new(frame.seq, next, octets);
                    self.note_forwarded((own.port, frame), next, (arrival, false), None);
                    self.schedule(queued, link.peer, EventKind::Arrive(next));
                }
            }
        }
        if copies == 0 {
            self.lose(own.stream, own.port);
        } else {
            self.stream_totals[own.stream].replicated += copies - 1;
        }
    }

    /// The number of octets after which a frame is forwarded to its next queue; none if it is stored whole.
    fn octets_before(&self, ingress: PortId, frame: Frame, next: HopId) -> Option<u32> {
        let node = self.network.links[ingress].peer;
        let after = self.plan.nodes[node].cut_through_octets;
        after.filter(|_| self.early(ingress, frame, next) > Duration::ZERO)
    }

    /// Hands one frame to those of the talker's ports that forward, each with its member stream.
    #[cold]
    #[inline(never)]
    pub(crate) fn emit_with_extras<S: Sink>(
        &mut self,
        stream: StreamId,
        seq: u64,
        octets: u32,
        more: bool,
        sink: &mut S,
    ) -> io::Result<()> {
        self.stream_totals[stream].released += 1;
        let mut copies = 0_u64;
        let mut blocked = None;
        for root in self.network.roots[stream].indices() {
            let number = self.network.branches[root as usize];
            let hop = self.network.hops[number];
            if !self.hop_extras.is_active(number, self.now) {
                blocked = Some(hop.port);
                continue;
            }
            copies += 1;
            let frame = Frame::new(seq, number, self.hop_extras.octets(octets, None, number));
            let send = self.network.links[hop.port].send;
            self.sight(send, &hop, frame, self.hop_extras.copy(number), (self.now, self.now), sink)?;
            self.arrive(frame, more, sink)?;
        }
        match (copies, blocked) {
            (0, Some(port)) => self.lose(stream, port),
            _ => self.stream_totals[stream].replicated += copies.saturating_sub(1),
        }
        Ok(())
    }
}
