//! Faults with a begin and an end in the event loop: nodes that are down, ports that use a wrong list.

use crate::faults::impairment::{Damage, LinkTransit, instant};
use crate::ids::{FaultId, NodeId, PortId, StreamId};
use crate::kernel::event::{Event, EventKind, Frame};
use crate::kernel::simulation::Simulation;
use std::io;
use tsn_bridge as bridge;
use tsn_observation::Sink;
use tsn_plan::{Fault, Pattern, duration};
use tsn_units::{Duration, Instant, Octets};

impl Simulation<'_> {
    /// Schedules begins and ends of faults.
    pub(crate) fn schedule_faults(&mut self) {
        for (number, fault) in self.plan.faults.iter().enumerate() {
            let (from, until) = fault.span_ns();
            let number = FaultId::at(number);
            let node = match fault {
                Fault::Babble { stream, .. } => {
                    let node = self.plan.streams[*stream as usize].talker;
                    self.schedule(instant(from), NodeId(node), EventKind::Babble { fault: number });
                    continue;
                }
                Fault::NodeDown { node, .. } => *node,
                Fault::Schedule { port, .. } => self.plan.ports[*port as usize].node,
                // Faults of links have their effect when a frame is sent: see `impairment`.
                _ => continue,
            };
            self.schedule(instant(from), NodeId(node), EventKind::Fault { fault: number, begins: true });
            self.schedule(instant(until), NodeId(node), EventKind::Fault { fault: number, begins: false });
        }
    }

    /// Whether a node is down at any time between two instants.
    pub(crate) fn is_down(&self, node: NodeId, from: Instant, until: Instant) -> bool {
        self.outages.as_ref().is_some_and(|outages| outages.is_down(node, from, until))
    }

    /// Whether a node's talkers are silent now.
    #[inline]
    pub(crate) fn is_silent(&self, node: NodeId) -> bool {
        self.outages.is_some() && self.is_down(node, self.now, self.now)
    }

    /// Counts a frame that leaves a port because of a wrong list.
    pub(crate) fn count_disobeying(&mut self, port: PortId) {
        let outages = self.outages.as_ref();
        if let Some(Some(fault)) = outages.and_then(|outages| outages.disobeys.get(port.index())) {
            self.affected[*fault] += 1;
        }
    }

    /// A fault begins or ends.
    #[cold]
    #[inline(never)]
    pub(crate) fn turn<S: Sink>(&mut self, fault: FaultId, begins: bool, sink: &mut S) -> io::Result<()> {
        let plan = self.plan;
        match plan.faults.get(fault.index()) {
            Some(Fault::NodeDown { node, .. }) => {
                self.flush(NodeId(*node), fault);
                // If two outages overlap, the node stays down until both have ended.
                if !begins && !self.is_silent(NodeId(*node)) {
                    self.hop_extras.restart(NodeId(*node));
                    return self.start_again(NodeId(*node), sink);
                }
            }
            Some(Fault::Schedule { port, gates, .. }) => {
                let mut actions = bridge::Actions::default();
                let machine = &mut self.ports[*port as usize];
                if begins {
                    let node = NodeId(plan.ports[*port as usize].node);
                    let clock = self.timing.as_ref().map(|timing| *timing.clock(node));
                    machine.override_gates(self.now, gates.as_deref(), clock, &mut actions);
                } else {
                    machine.restore_gates(self.now, &mut actions);
                }
                if let Some(outages) = &mut self.outages {
                    outages.disobeys[*port as usize] = begins.then_some(fault);
                }
                if let Some(at) = actions.wake {
                    let node = self.network.links[*port as usize].node;
                    self.schedule(at, node, EventKind::Wake { port: PortId(*port) });
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Drops all frames that wait in a node.
    fn flush(&mut self, node: NodeId, fault: FaultId) {
        if let Some(hosts) = &mut self.hosts {
            hosts.restart(self.plan, node);
        }
        let ports = (0..self.ports.len()).map(PortId::at);
        for port in ports.filter(|port| NodeId(self.plan.ports[*port].node) == node) {
            let mut lost: Vec<Frame> = self.ports[port].flush(self.now);
            if let Some(hosts) = &mut self.hosts {
                lost.append(&mut hosts.flush(port));
            }
            self.affected[fault] += lost.len() as u64;
            for frame in lost {
                self.note_lost(frame);
                self.sources.left(port, frame);
                let stream = self.network.hops[frame.hop()].stream;
                if let Some(timing) =
                    self.timing.as_mut().filter(|_| stream.index() >= self.plan.streams.len())
                {
                    timing.dropped(frame);
                }
                self.lose(stream, port);
            }
        }
        self.flush_held(node, fault);
    }

    /// Refills the queues of talkers that wait for room.
    fn start_again<S: Sink>(&mut self, node: NodeId, sink: &mut S) -> io::Result<()> {
        for (number, stream) in self.plan.streams.iter().enumerate() {
            let saturates = matches!(stream.pattern, Pattern::Saturating { .. });
            if saturates && NodeId(stream.talker) == node && instant(stream.start_ns) <= self.now {
                let port = self.sources.start(StreamId::at(number));
                self.refill(port, sink)?;
            }
        }
        Ok(())
    }

    /// A babbling talker releases one more data unit, and schedules the next one.
    #[cold]
    #[inline(never)]
    pub(crate) fn babble<S: Sink>(&mut self, fault: FaultId, event: &Event, sink: &mut S) -> io::Result<()> {
        let Some(Fault::Babble { stream, until_ns, every_ns, .. }) = self.plan.faults.get(fault.index())
        else {
            return Ok(());
        };
        let (stream, until) = (*stream, *until_ns.min(&self.plan.duration_ns));
        if self.now >= instant(until) {
            return Ok(());
        }
        let every = duration(*every_ns);
        let node = self.plan.streams[stream as usize].talker;
        self.schedule(self.now + every, NodeId(node), EventKind::Babble { fault });
        if self.is_silent(NodeId(node)) {
            return Ok(());
        }
        self.affected[fault] += 1;
        self.send_unit(StreamId(stream), event, sink)
    }

    /// The effect of impairments on a PTP message: whether it is lost, and its additional delay. A duplicate is
    /// ignored, and a damaged message is lost.
    pub(crate) fn impair_message(
        &mut self,
        port: PortId,
        frame: Frame,
        first: Instant,
        last: Instant,
    ) -> (bool, Duration) {
        let Some(Some(impairment)) = self.impairments.get_mut(port.index()) else {
            return (false, Duration::ZERO);
        };
        let propagation = self.network.links[port].propagation;
        let line = self.ports[port].line();
        let transit = LinkTransit {
            first,
            first_in: first + propagation,
            last_in: last + propagation,
            octets: frame.octets(),
            rate: line.rate().0,
            occupies: line.until_free(Octets(frame.octets())),
        };
        let outcome = impairment.apply(&transit, &mut self.affected);
        let lost = outcome.damage != Damage::None;
        self.faulted[port] += u64::from(lost);
        (lost, outcome.extra_delay)
    }

    pub(crate) fn lose(&mut self, stream: StreamId, port: PortId) {
        self.faulted[port] += 1;
        self.stream_totals[stream].lost_to_faults += 1;
    }
}
