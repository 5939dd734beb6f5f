//! Passages of frames: how the kernel keeps the journal of a run that is replayed, and hands over passages.

use crate::ids::{NodeId, PortId};
use crate::kernel::event::Frame;
use crate::kernel::simulation::Simulation;
use crate::output::journal::Place;
use std::io;
use tsn_bridge as bridge;
use tsn_observation::{ClockLine, Expired, Fragment, Passage, Sink};
use tsn_units::Instant;

impl Simulation<'_> {
    /// Begins the journal, with the clocks of all nodes.
    pub(crate) fn begin_journal<S: Sink>(&mut self, sink: &mut S) -> io::Result<()> {
        self.journal = Some(Box::default());
        self.ports.iter_mut().for_each(bridge::EgressPort::keep_fragments);
        for node in 0..self.plan.nodes.len() {
            self.note_clock(NodeId::at(node), sink)?;
        }
        Ok(())
    }

    /// The clock of a node has changed.
    pub(crate) fn note_clock<S: Sink>(&self, node: NodeId, sink: &mut S) -> io::Result<()> {
        let Some(timing) = &self.timing else { return Ok(()) };
        let clock = timing.clock(node);
        sink.clock_line(ClockLine {
            node: node.0,
            from_ps: self.now.ps(),
            shows_ps: clock.forward(self.now).ps(),
            frequency: clock.frequency().units(),
        })
    }

    /// A frame reaches its queue, or becomes eligible in it.
    pub(crate) fn note_queued(&mut self, frame: Frame) {
        let now = self.now;
        if let Some(journal) = &mut self.journal {
            journal.queue(frame, now);
        }
    }

    /// A frame that arrived over `port`, with its last bit in at `arrival`, is on its way to the queue of `next`.
    pub(crate) fn note_forwarded(
        &mut self,
        (port, frame): (PortId, Frame),
        next: Frame,
        (arrival, stored): (Instant, bool),
        queued: Option<Instant>,
    ) {
        if self.journal.is_none() {
            return;
        }
        let came = if stored { arrival } else { arrival - self.early(port, frame, next.hop()) };
        if let Some(journal) = &mut self.journal {
            journal.expect(next, came, queued, false);
        }
    }

    /// A frame reaches a place in a host's software at `at`.
    pub(crate) fn note_in_software(&mut self, frame: Frame, place: Place, at: Instant) {
        let list =
            self.journal.as_mut().and_then(|journal| journal.waiting.get_mut(&(frame.hop(), frame.seq)));
        // Duplicates pass each place in their order.
        let mut places = list.into_iter().flatten().map(|one| &mut one.software[place as usize]);
        if let Some(time) = places.find(|time| time.is_none()) {
            *time = Some(at);
        }
    }

    /// A frame is dropped or lost between its arrival at a node and its transmission there.
    pub(crate) fn note_lost(&mut self, frame: Frame) {
        let now = self.now;
        if let Some(journal) = &mut self.journal {
            journal.forget(frame, now);
        }
    }

    /// A frame is dropped because it has waited for the longest time of its queue.
    pub(crate) fn note_expired<S: Sink>(
        &mut self,
        port: PortId,
        frame: Frame,
        sink: &mut S,
    ) -> io::Result<()> {
        let now = self.now;
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let queued = journal.leave(frame, now).queued.unwrap_or(now);
        sink.expired(Expired {
            port: port.0,
            stream: self.network.hops[frame.hop()].stream.0,
            seq: frame.number(),
            queued_ns: queued.ticked_ns(1),
            dropped_ns: now.ticked_ns(1),
        })
    }

    /// A frame begins to leave a port, or, if it can be interrupted, has left it.
    pub(crate) fn open_passage<S: Sink>(
        &mut self,
        port: PortId,
        frame: Frame,
        (first, last): (Instant, Instant),
        sink: &mut S,
    ) -> io::Result<()> {
        let link = self.network.links[port];
        let hop = self.network.hops[frame.hop()];
        let sent = self.clock_of(link.node, first + link.until_timestamp_point);
        let copy = self.hop_extras.copy(frame.hop());
        let fragments = self.ports[port].take_fragments();
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let waiting = journal.leave(frame, first);
        let ns = |at: Instant| at.ticked_ns(1);
        let queued = waiting.queued.unwrap_or(first);
        let passage = Passage {
            number: journal.passages,
            before: waiting.before,
            port: port.0,
            stream: hop.stream.0,
            seq: frame.number(),
            copy,
            octets: frame.octets(),
            class: hop.class,
            came_ns: ns(waiting.came),
            qdisc_ns: waiting.software[Place::Qdisc as usize].map(ns),
            handed_ns: waiting.software[Place::Handed as usize].map(ns),
            loaded_ns: waiting.software[Place::Loaded as usize].map(ns),
            queued_ns: ns(queued),
            eligible_ns: ns(waiting.eligible.unwrap_or(queued)),
            start_ns: ns(first),
            end_ns: ns(last),
            arrived_ns: None,
            accepted: false,
            sent_clock_ns: sent.ticked_ns(1),
            arrived_clock_ns: None,
        };
        journal.current = Some(passage.number);
        journal.passages += 1;
        journal.open = Some(passage);
        fragments.into_iter().try_for_each(|(start, end)| {
            let (start_ns, end_ns) = (ns(start), ns(end));
            sink.fragment(Fragment { passage: passage.number, start_ns, end_ns })
        })
    }

    /// The passage that was opened last ends with the arrival of the last bit at the next node; without one the frame
    /// is lost. A duplicate of the frame changes nothing.
    pub(crate) fn close_passage<S: Sink>(
        &mut self,
        arrival: Option<Instant>,
        sink: &mut S,
    ) -> io::Result<()> {
        if !S::PASSAGES {
            return Ok(());
        }
        let Some(passage) = self.journal.as_mut().and_then(|journal| journal.open.take()) else {
            return Ok(());
        };
        self.emit_passage(passage, arrival, arrival.is_some(), sink)
    }

    /// A passage at once: the frame arrives, and nothing else is decided there.
    #[cold]
    #[inline(never)]
    pub(crate) fn whole_passage<S: Sink>(
        &mut self,
        port: PortId,
        frame: Frame,
        span: (Instant, Instant),
        arrival: Option<Instant>,
        sink: &mut S,
    ) -> io::Result<()> {
        self.open_passage(port, frame, span, sink)?;
        self.close_passage(arrival, sink)
    }

    /// A frame, or its duplicate, will be handled when it arrives.
    pub(crate) fn land_later(&mut self, frame: Frame, arrival: Instant) {
        if let Some(journal) = &mut self.journal
            && let Some(number) = journal.current
        {
            let passage = journal.open.take();
            journal.landing.insert((frame.hop(), frame.seq, arrival), (number, passage));
        }
    }

    /// A frame has arrived where that matters: it is received, or dropped or eliminated.
    pub(crate) fn landed<S: Sink>(&mut self, frame: Frame, accepted: bool, sink: &mut S) -> io::Result<()> {
        if !S::PASSAGES {
            return Ok(());
        }
        let now = self.now;
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let found = journal.landing.remove(&(frame.hop(), frame.seq, now));
        journal.current = found.map(|(number, _)| number);
        match found {
            Some((_, Some(passage))) => self.emit_passage(passage, Some(now), accepted, sink),
            _ => Ok(()),
        }
    }

    /// At the end of the run, the frames that are still on their way to a place where arrivals matter.
    pub(crate) fn end_journal<S: Sink>(&mut self, sink: &mut S) -> io::Result<()> {
        let landing = self.journal.take().map(|journal| journal.landing).unwrap_or_default();
        let mut rest: Vec<Passage> = landing.into_values().filter_map(|(_, passage)| passage).collect();
        rest.sort_by_key(|passage| passage.number);
        rest.into_iter().try_for_each(|passage| self.emit_passage(passage, None, false, sink))
    }

    fn emit_passage<S: Sink>(
        &self,
        mut passage: Passage,
        arrival: Option<Instant>,
        accepted: bool,
        sink: &mut S,
    ) -> io::Result<()> {
        if let Some(at) = arrival.filter(|at| *at <= self.end) {
            let peer = self.network.links[PortId(passage.port)].peer;
            passage.arrived_ns = Some(at.ticked_ns(1));
            passage.arrived_clock_ns = Some(self.clock_of(peer, at).ticked_ns(1));
            passage.accepted = accepted;
        }
        sink.passage(passage)
    }
}
