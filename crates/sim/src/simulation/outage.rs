//! Faults that begin and end: nodes that are down, ports that obey a wrong list.

use super::{Frame, Instant, Simulation, Sink, What, bridge, io};
use crate::fault::instant;
use tsn_plan::{Fault, Pattern, Plan};

/// What is down, and when; which ports obey a wrong list.
#[derive(Clone, Debug, Default)]
pub(super) struct Outages {
    /// By node: from when, until when.
    down: Vec<Vec<(Instant, Instant)>>,
    /// By port: the fault that holds there now.
    disobeys: Vec<Option<u32>>,
}

impl Outages {
    /// Those of a Plan, if it has any.
    pub fn new(plan: &Plan) -> Option<Box<Self>> {
        let mut found = Self::default();
        for fault in &plan.faults {
            let (from, until) = fault.span_ns();
            match fault {
                Fault::NodeDown { node, .. } => {
                    found.down.resize(plan.nodes.len(), Vec::new());
                    found.down[*node as usize].push((instant(from), instant(until)));
                }
                Fault::Schedule { .. } => found.disobeys.resize(plan.ports.len(), None),
                _ => {}
            }
        }
        (!found.down.is_empty() || !found.disobeys.is_empty()).then(|| Box::new(found))
    }

    /// Whether a node is down at any time between two instants, both included.
    fn is_down(&self, node: u32, from: Instant, until: Instant) -> bool {
        let spans = self.down.get(node as usize);
        spans.is_some_and(|spans| spans.iter().any(|span| span.0 <= until && from < span.1))
    }
}

impl Simulation<'_> {
    /// Lets faults begin and end.
    pub(super) fn schedule_faults(&mut self) {
        for (number, fault) in self.plan.faults.iter().enumerate() {
            let (from, until) = fault.span_ns();
            let fault_number = number as u32;
            let node = match fault {
                Fault::Babble { stream, .. } => {
                    let node = self.plan.streams[*stream as usize].talker;
                    self.schedule(instant(from), node, What::Babble { fault: fault_number });
                    continue;
                }
                Fault::NodeDown { node, .. } => *node,
                Fault::Schedule { port, .. } => self.plan.ports[*port as usize].node,
                Fault::LinkDown { .. }
                | Fault::Loss { .. }
                | Fault::Delay { .. }
                | Fault::Duplicate { .. } => continue,
            };
            self.schedule(instant(from), node, What::Fault { fault: fault_number, begins: true });
            self.schedule(instant(until), node, What::Fault { fault: fault_number, begins: false });
        }
    }

    /// Whether a node is down at any time between two instants.
    pub(super) fn is_down(&self, node: u32, from: Instant, until: Instant) -> bool {
        self.outages.as_ref().is_some_and(|outages| outages.is_down(node, from, until))
    }

    /// Whether a node's talkers are silent now.
    #[inline]
    pub(super) fn is_silent(&self, node: u32) -> bool {
        self.outages.is_some() && self.is_down(node, self.now, self.now)
    }

    /// A frame leaves a port: whether a wrong list let it.
    pub(super) fn count_disobeying(&mut self, port: u32) {
        let outages = self.outages.as_ref();
        if let Some(Some(fault)) = outages.and_then(|outages| outages.disobeys.get(port as usize)) {
            self.struck[*fault as usize] += 1;
        }
    }

    /// A fault begins or ends.
    #[cold]
    #[inline(never)]
    pub(super) fn turn<S: Sink>(&mut self, fault: u32, begins: bool, sink: &mut S) -> io::Result<()> {
        let plan = self.plan;
        match plan.faults.get(fault as usize) {
            Some(Fault::NodeDown { node, .. }) => {
                self.flush(*node, fault);
                // Where two outages overlap, the end of one is not the end.
                if !begins && !self.is_silent(*node) {
                    self.specials.restart(*node);
                    return self.start_again(*node, sink);
                }
            }
            Some(Fault::Schedule { port, gates, .. }) => {
                let mut actions = bridge::Actions::default();
                let machine = &mut self.ports[*port as usize];
                if begins {
                    machine.disobey(self.now, gates.as_deref(), &mut actions);
                } else {
                    machine.obey(self.now, &mut actions);
                }
                if let Some(outages) = &mut self.outages {
                    outages.disobeys[*port as usize] = begins.then_some(fault);
                }
                if let Some(at) = actions.wake {
                    let node = self.network.links[*port as usize].node;
                    self.schedule(at, node, What::Wake { port: *port });
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// What waits in a node is lost.
    fn flush(&mut self, node: u32, fault: u32) {
        if let Some(hosts) = &mut self.hosts {
            hosts.restart(self.plan, node);
        }
        let ports = 0..self.ports.len() as u32;
        for port in ports.filter(|port| self.plan.ports[*port as usize].node == node) {
            let mut lost: Vec<Frame> = self.ports[port as usize].flush(self.now);
            if let Some(hosts) = &mut self.hosts {
                lost.append(&mut hosts.flush(port));
            }
            self.struck[fault as usize] += lost.len() as u64;
            for frame in lost {
                self.sources.left(port, frame);
                let stream = self.network.hops[frame.hop as usize].stream;
                if let Some(timing) =
                    self.timing.as_mut().filter(|_| stream as usize >= self.plan.streams.len())
                {
                    timing.dropped(frame);
                }
                self.lose(stream, port);
            }
        }
        self.flush_held(node, fault);
    }

    /// Talkers that wait for room to send have to be told that there is some.
    fn start_again<S: Sink>(&mut self, node: u32, sink: &mut S) -> io::Result<()> {
        for (number, stream) in self.plan.streams.iter().enumerate() {
            let saturates = matches!(stream.pattern, Pattern::Saturating { .. });
            if saturates && stream.talker == node && instant(stream.start_ns) <= self.now {
                let port = self.sources.start(number as u32);
                self.refill(port, sink)?;
            }
        }
        Ok(())
    }
}
