//! How frames pass the filters of the node that they arrive at, and wait until they are eligible.
//!
//! IEEE 802.1Q-2022, 8.6.5 and 8.6.11.

use crate::ids::{FaultId, NodeId, PortId};
use crate::kernel::event::{Event, EventKind, Frame};
use crate::kernel::simulation::Simulation;
use crate::network::tables::Hop;
use crate::policing::state::{Held, PolicingResult};
use std::io;
use tsn_bridge::psfp::{Received, Verdict};
use tsn_observation::Sink;
use tsn_units::{Free, Instant, Octets};

/// Octets of a frame outside of its service data unit: addresses, type and FCS; a VLAN tag is added if there is one.
const HEADER: u32 = 18;
const TAG: u32 = 4;

impl Simulation<'_> {
    /// Applies the filters at the end of a frame's hop; none if the frame is dropped, which is then counted.
    pub(crate) fn apply_filters(&mut self, frame: Frame) -> Option<PolicingResult> {
        let yellow = self.hop_extras.yellow(frame.hop());
        let (Some(filtered), Some(policing)) = (self.hop_extras.filtered(frame.hop()), &mut self.policing)
        else {
            return Some(PolicingResult { yellow, ..PolicingResult::default() });
        };
        let hop = self.network.hops[frame.hop()];
        let node = self.network.links[hop.port].peer;
        let local = match &self.timing {
            None => self.now.on_perfect_clock(),
            Some(timing) => timing.clock(node).forward(self.now),
        };
        // Rates follow the oscillator: a step of the clock does not fill or empty a bucket.
        let oscillator = self.timing.as_ref().map(|timing| *timing.oscillator(node));
        let counted =
            oscillator.map_or_else(|| self.now.on_perfect_clock(), |oscillator| oscillator.forward(self.now));
        let at = |eligible: Instant<Free>| match oscillator {
            Some(oscillator) if eligible > counted => oscillator.inverse(eligible).max(self.now),
            // The frame is eligible now. `eligible` is in the oscillator's time, which may be ahead of true time.
            Some(_) => self.now,
            None => eligible.of_perfect_clock().max(self.now),
        };
        let header = HEADER + if hop.vid == 0 { 0 } else { TAG };
        let received =
            Received { octets: frame.octets(), sdu_octets: frame.octets().saturating_sub(header), yellow };
        let table = policing.tables.get_mut(filtered.table as usize)?;
        match table.receive(counted, local, filtered.filter as usize, received) {
            Verdict::Pass { ipv, yellow, eligible } => {
                Some(PolicingResult { ipv, yellow, eligible: eligible.map(at) })
            }
            Verdict::Drop => {
                self.stream_totals[hop.stream].dropped_in_network += 1;
                None
            }
        }
    }

    /// Records a frame that will be in a queue that a stream gate has chosen.
    pub(crate) fn enter_cyclic_queue(&mut self, frame: Frame, queued: Instant) {
        let hop = self.network.hops[frame.hop()];
        let at = self.clock_of(self.network.links[hop.port].node, queued);
        if let Some(policing) = &mut self.policing {
            policing.cyclic_queues.queue(frame.hop(), frame.seq, at);
        }
    }

    /// Counts a frame that leaves by a port, from a cyclic queue or another one.
    pub(crate) fn leave_cyclic_queue(&mut self, port: PortId, class: u8, frame: Frame, first_bit: Instant) {
        if self.policing.is_none() {
            return;
        }
        let at = self.clock_of(self.network.links[port].node, first_bit);
        if let Some(policing) = &mut self.policing {
            policing.cyclic_queues.leave(self.plan, (frame.hop(), frame.seq), (port, class), at);
        }
    }

    /// Schedules a frame's arrival at its queue, where it may wait until it is eligible.
    pub(crate) fn queue_at(
        &mut self,
        queued: Instant,
        node: NodeId,
        frame: Frame,
        eligible: Option<Instant>,
    ) {
        match (eligible, &mut self.policing) {
            (Some(eligible), Some(policing)) => {
                let number = policing.held.put(Held { frame, eligible, queued: false });
                self.schedule(queued, node, EventKind::Hold { number });
            }
            _ => self.schedule(queued, node, EventKind::Arrive(frame)),
        }
    }

    /// Puts a frame into its queue before it is eligible: it takes room from now on.
    #[cold]
    #[inline(never)]
    pub(crate) fn queue_held<S: Sink>(&mut self, number: u32, event: &Event, sink: &mut S) -> io::Result<()> {
        let Some(Held { frame, eligible, .. }) =
            self.policing.as_mut().and_then(|policing| policing.mark_queued(number))
        else {
            return Ok(());
        };
        let hop = self.network.hops[frame.hop()];
        if !self.ports[hop.port].reserve(hop.class, Octets(frame.octets())) {
            if let Some(policing) = &mut self.policing {
                policing.held.take(number);
            }
            self.count_drop(frame);
            return Ok(());
        }
        if eligible <= self.now {
            return self.become_eligible(number, event, sink);
        }
        let node = self.network.links[hop.port].node;
        self.schedule(eligible, node, EventKind::Eligible { number });
        Ok(())
    }

    /// Drops the frames of a node that goes down which are not eligible yet.
    pub(crate) fn flush_held(&mut self, node: NodeId, fault: FaultId) {
        let (network, links) = (&self.network.hops, &self.network.links);
        let port_of = |frame: &Frame| network[frame.hop()].port;
        let here = |frame: &Frame| links[port_of(frame)].node == node;
        let Some(lost) = self.policing.as_mut().map(|policing| policing.flush(here)) else { return };
        self.affected[fault] += lost.len() as u64;
        for frame in lost {
            self.note_lost(frame);
            let Hop { stream, port, .. } = self.network.hops[frame.hop()];
            self.lose(stream, port);
        }
    }

    /// A waiting frame may be selected from now on. Frames of a class become eligible in the order of their
    /// eligibility times, so that first in, first out is the order that ATS transmission selection requires
    /// (8.6.8.5).
    #[cold]
    #[inline(never)]
    pub(crate) fn become_eligible<S: Sink>(
        &mut self,
        number: u32,
        event: &Event,
        sink: &mut S,
    ) -> io::Result<()> {
        let Some(Held { frame, .. }) = self.policing.as_mut().and_then(|policing| policing.held.take(number))
        else {
            return Ok(());
        };
        let hop = self.network.hops[frame.hop()];
        self.ports[hop.port].unreserve(hop.class, Octets(frame.octets()));
        let more = self.calendar.has_same_turn_next(event);
        self.arrive(frame, more, sink)
    }
}
