//! Clocks and PTP messages in the event loop: it executes the commands of [`crate::clocks::state`].

use crate::clocks::state::{Command, InTransit, Timing};
use crate::ids::{NodeId, PortId};
use crate::kernel::event::{EventKind, Frame};
use crate::kernel::simulation::Simulation;
use std::io;
use tsn_bridge as bridge;
use tsn_observation::{Sighting, Sink};
use tsn_plan::{Clocks, Point};
use tsn_units::{Instant, Local};

impl Simulation<'_> {
    /// Builds the clocks and gives every gate the clock of its node.
    pub(crate) fn set_clocks(&mut self, clocks: &Clocks) {
        let mut commands = Vec::new();
        let timing = Timing::new(self.plan, clocks, &self.network, &mut commands);
        for (port, machine) in self.plan.ports.iter().zip(&mut self.ports) {
            // No frame waits at the begin of the run, so the port requests no actions.
            let mut actions = bridge::Actions::default();
            machine.set_gate_clock(Instant::EPOCH, *timing.clock(NodeId(port.node)), &mut actions);
        }
        self.timing = Some(Box::new(timing));
        for command in commands {
            if let Command::Schedule { at, node, number } = command {
                self.schedule(at, node, EventKind::Timing { number });
            }
        }
    }

    /// The time that the clock of a node shows at a true instant. Without clocks in the Plan, it shows true time.
    #[inline]
    pub(crate) fn clock_of(&self, node: NodeId, at: Instant) -> Instant<Local> {
        match &self.timing {
            None => at.on_perfect_clock(),
            Some(timing) => timing.clock(node).forward(at),
        }
    }

    /// Transmits a PTP message over a link.
    #[cold]
    #[inline(never)]
    pub(crate) fn transmit_timing<S: Sink>(
        &mut self,
        port: PortId,
        frame: Frame,
        (first_bit, last_bit): (Instant, Instant),
        sink: &mut S,
    ) -> io::Result<()> {
        let link = self.network.links[port];
        let (lost, late) = self.impair_message(port, frame, first_bit, last_bit);
        if S::PASSAGES {
            let arrival = Some(last_bit + link.propagation + late).filter(|_| !lost);
            self.whole_passage(port, frame, (first_bit, last_bit), arrival, sink)?;
        }
        let Some(timing) = &mut self.timing else { return Ok(()) };
        let mut commands = std::mem::take(&mut self.commands);
        let stamped = first_bit + link.until_timestamp_point;
        let passing = InTransit { stamped, last_bit, propagation: link.propagation + late, lost };
        let seen = timing.sent(port, frame, passing, &mut commands);
        for command in commands.drain(..) {
            if let Command::Schedule { at, node, number } = command {
                self.schedule(at, node, EventKind::Timing { number });
            }
        }
        self.commands = commands;
        let Some((kind, seq, octets)) = seen else { return Ok(()) };
        self.sight_message(port, (frame, kind, seq, &octets), passing, sink)?;
        if let Some(timing) = &mut self.timing {
            timing.seen(octets);
        }
        Ok(())
    }

    /// Records a PTP message at the taps of both ends of a link.
    fn sight_message<S: Sink>(
        &self,
        port: PortId,
        (frame, kind, seq, octets): (Frame, usize, u64, &[u8]),
        passing: InTransit,
        sink: &mut S,
    ) -> io::Result<()> {
        let Some(timing) = &self.timing else { return Ok(()) };
        let link = self.network.links[port];
        let hop = self.network.hops[frame.hop()];
        let InTransit { stamped, last_bit, propagation, lost } = passing;
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
                    stream: hop.stream.0 + kind as u32,
                    seq,
                    copy: 0,
                    t_ns: Some(timing.clock(tap.node).forward(at).ticked_ns(tap.granularity_ns)),
                    octets: frame.octets(),
                    pcp: hop.pcp,
                    vid: 0,
                };
                sink.frame(sighting, octets)?;
            }
        }
        Ok(())
    }

    /// Handles an event of clocks or PTP messages.
    #[cold]
    #[inline(never)]
    pub(crate) fn tell_timing<S: Sink>(&mut self, number: u32, sink: &mut S) -> io::Result<()> {
        let Some(timing) = &mut self.timing else { return Ok(()) };
        let mut commands = std::mem::take(&mut self.commands);
        timing.handle(number, self.now, &mut commands);
        for command in commands.drain(..) {
            match command {
                Command::Schedule { at, node, number } => {
                    self.schedule(at, node, EventKind::Timing { number })
                }
                Command::Arrive(frame) => self.arrive(frame, false, sink)?,
                Command::Changed { node } => {
                    if S::PASSAGES {
                        self.note_clock(node, sink)?;
                    }
                    self.clock_changed(node);
                }
                Command::Record(error) => sink.clock_error(error)?,
            }
        }
        self.commands = commands;
        Ok(())
    }

    /// Informs gates and talkers of a node that its clock has changed.
    #[cold]
    #[inline(never)]
    fn clock_changed(&mut self, node: NodeId) {
        let Some(timing) = &mut self.timing else { return };
        let mut releases = Vec::new();
        timing.replan_releases(node, self.now, &mut releases);
        let clock = *timing.clock(node);
        let ports = timing.ports(node).to_vec();
        self.set_timers(&ports);
        for (stream, at) in releases {
            self.schedule(at, node, EventKind::Release { stream });
        }
        for port in ports {
            let mut actions = bridge::Actions::default();
            self.ports[port].set_gate_clock(self.now, clock, &mut actions);
            if let Some(at) = actions.wake {
                self.schedule(at, node, EventKind::Wake { port });
            }
        }
    }
}
