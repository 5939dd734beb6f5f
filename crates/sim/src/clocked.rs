//! The part of a run that nodes' clocks take: what [`crate::timing`] wants done, done.

use crate::event::{Frame, What};
use crate::simulation::Simulation;
use crate::timing::{Passing, Timing, Todo};
use std::io;
use tsn_bridge as bridge;
use tsn_observation::{Sighting, Sink};
use tsn_plan::{Clocks, Point};
use tsn_units::Instant;

impl Simulation<'_> {
    /// Builds the clocks and lets every gate go by its node's.
    pub(crate) fn set_clocks(&mut self, clocks: &Clocks) {
        let mut todo = Vec::new();
        let timing = Timing::new(self.plan, clocks, &self.network, &mut todo);
        for (port, machine) in self.plan.ports.iter().zip(&mut self.ports) {
            // Nothing waits yet, so nothing follows.
            let mut actions = bridge::Actions::default();
            machine.set_gate_clock(Instant::EPOCH, *timing.clock(port.node), &mut actions);
        }
        self.timing = Some(Box::new(timing));
        for todo in todo {
            if let Todo::Schedule { at, node, number } = todo {
                self.schedule(at, node, What::Timing { number });
            }
        }
    }

    /// What a talker at `node` takes for now.
    #[inline]
    pub(crate) fn local(&self, node: u32) -> Instant {
        match &self.timing {
            None => self.now,
            Some(timing) => Instant::from_ps(timing.clock(node).there(self.now).ps()),
        }
    }

    /// A PTP message goes over a link.
    #[cold]
    #[inline(never)]
    pub(crate) fn transmit_timing<S: Sink>(
        &mut self,
        port: u32,
        frame: Frame,
        (first_bit, last_bit): (Instant, Instant),
        sink: &mut S,
    ) -> io::Result<()> {
        let link = self.network.links[port as usize];
        let (lost, late) = self.meets_fate(port, frame, first_bit, last_bit);
        let Some(timing) = &mut self.timing else { return Ok(()) };
        let mut todo = std::mem::take(&mut self.todo);
        let stamped = first_bit + link.until_timestamp_point;
        let passing = Passing { stamped, last_bit, propagation: link.propagation + late, lost };
        let seen = timing.sent(port, frame, passing, &mut todo);
        for todo in todo.drain(..) {
            if let Todo::Schedule { at, node, number } = todo {
                self.schedule(at, node, What::Timing { number });
            }
        }
        self.todo = todo;
        let Some((kind, seq, octets)) = seen else { return Ok(()) };
        self.sight_message(port, (frame, kind, seq, &octets), passing, sink)?;
        if let Some(timing) = &mut self.timing {
            timing.seen(octets);
        }
        Ok(())
    }

    /// Taps at both ends of a link see a PTP message.
    fn sight_message<S: Sink>(
        &self,
        port: u32,
        (frame, kind, seq, octets): (Frame, usize, u64, &[u8]),
        passing: Passing,
        sink: &mut S,
    ) -> io::Result<()> {
        let Some(timing) = &self.timing else { return Ok(()) };
        let link = self.network.links[port as usize];
        let hop = self.network.hops[frame.hop as usize];
        let Passing { stamped, last_bit, propagation, lost } = passing;
        let out = link.tx.of(&self.network.taps).iter().map(|tap| (tap, stamped, last_bit));
        let into = link.rx.of(&self.network.taps).iter().filter(|_| !lost);
        let into = into.map(|tap| (tap, stamped + propagation, last_bit + propagation));
        for (tap, start, end) in out.chain(into) {
            let at = match tap.point {
                Point::Start => start,
                Point::End => end,
            };
            if at <= self.end {
                let sighting = Sighting {
                    tap: tap.number,
                    stream: hop.stream + kind as u32,
                    seq,
                    copy: 0,
                    t_ns: Some(timing.clock(tap.node).there(at).ticked_ns(tap.granularity_ns)),
                    octets: frame.octets,
                    pcp: hop.pcp,
                    vid: 0,
                };
                sink.frame(sighting, octets)?;
            }
        }
        Ok(())
    }

    /// Something happens to clocks or PTP messages.
    #[cold]
    #[inline(never)]
    pub(crate) fn tell_timing<S: Sink>(&mut self, number: u64, sink: &mut S) -> io::Result<()> {
        let Some(timing) = &mut self.timing else { return Ok(()) };
        let mut todo = std::mem::take(&mut self.todo);
        timing.handle(number, self.now, &mut todo);
        for todo in todo.drain(..) {
            match todo {
                Todo::Schedule { at, node, number } => self.schedule(at, node, What::Timing { number }),
                Todo::Arrive(frame) => self.arrive(frame, false, sink)?,
                Todo::Changed { node } => self.clock_changed(node),
                Todo::Note(error) => sink.clock_error(error)?,
            }
        }
        self.todo = todo;
        Ok(())
    }

    /// Gates and talkers of a node go by its clock as it is now.
    #[cold]
    #[inline(never)]
    fn clock_changed(&mut self, node: u32) {
        let Some(timing) = &mut self.timing else { return };
        let mut releases = Vec::new();
        timing.rearm(node, self.now, &mut releases);
        let clock = *timing.clock(node);
        let ports = timing.ports(node).to_vec();
        self.set_timers(&ports);
        for (stream, at) in releases {
            self.schedule(at, node, What::Release { stream });
        }
        for port in ports {
            let mut actions = bridge::Actions::default();
            self.ports[port as usize].set_gate_clock(self.now, clock, &mut actions);
            if let Some(at) = actions.wake {
                self.schedule(at, node, What::Wake { port });
            }
        }
    }
}
