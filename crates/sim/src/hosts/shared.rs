//! The processor that the software of several hosts shares: interrupts wait for each other, programs for both.

use crate::hosts::state::{Pending, Sent, Work};
use crate::ids::{NodeId, PortId};
use crate::kernel::event::Frame;
use crate::kernel::simulation::Simulation;
use crate::network::tables::Hop;
use crate::policing::state::PolicingResult;
use std::io;
use tsn_observation::Sink;
use tsn_units::{Duration, Instant};

impl Simulation<'_> {
    /// A node takes a frame that has arrived: at once, or when its shared processor has time.
    pub(crate) fn take_in_turn<S: Sink>(
        &mut self,
        hop: &Hop,
        (frame, copy): (Frame, u8),
        passed: PolicingResult,
        sink: &mut S,
    ) -> io::Result<()> {
        let (arrival, peer) = (self.now, PortId(self.plan.ports[hop.port].peer));
        let node = NodeId(self.plan.ports[peer].node);
        let passage = self.journal.as_ref().and_then(|journal| journal.current);
        let Some(own) = self.hosts.as_mut().and_then(|hosts| hosts.shared(node)) else {
            return self.take(hop, (frame, copy), arrival, passed, sink);
        };
        own.processor.received(Work::Receive { frame, copy, arrival, passed, passage });
        self.expect_interrupt(peer);
        Ok(())
    }

    /// An interrupt at a port: work waits. A processor without work of interrupts needs the lateness of a timer until it
    /// begins any, and what comes meanwhile may be first.
    pub(crate) fn expect_interrupt(&mut self, port: PortId) {
        let now = self.now;
        let Some(hosts) = &mut self.hosts else { return };
        let Some(number) = hosts.sharing[self.network.links[port].node.index()] else { return };
        let (Some(own), Some(port)) =
            (hosts.shared.get_mut(number), hosts.ports[port.index()].as_deref_mut())
        else {
            return;
        };
        if std::mem::replace(&mut own.expects, true) {
            return;
        }
        if own.processor.busy() <= now {
            own.entered = port.timer.draw();
            own.processor.work(now, now + own.entered);
        }
        let at = own.processor.busy().max(now);
        self.schedule_as_last(at, Pending::Interrupt { processor: number });
    }

    /// The event comes after those of all nodes at its instant: all timers and frames of the instant are known when
    /// the first of them is chosen.
    fn schedule_as_last(&mut self, at: Instant, pending: Pending) {
        self.schedule_host(at, NodeId::at(self.plan.nodes.len()), pending);
    }

    /// The timer of a talker's program has expired. Programs run in an order that is drawn once, and a program sends
    /// frames that are due together in the order of the streams.
    pub(crate) fn is_due(&mut self, node: NodeId, sent: Sent) {
        let Some(hosts) = &mut self.hosts else { return };
        let Some(number) = hosts.sharing[node.index()] else { return };
        let Some(own) = hosts.shared.get_mut(number) else { return };
        own.due.push(sent);
        if own.due.len() == 1 {
            self.schedule_as_last(self.now, Pending::Programs { processor: number });
        }
    }

    /// The programs of a processor that are due now run one after the other.
    pub(crate) fn run_programs(&mut self, number: usize) {
        let Some(hosts) = &mut self.hosts else { return };
        let mut due = std::mem::take(&mut hosts.shared[number].due);
        let talker = |sent: &Sent| NodeId(self.plan.streams[sent.stream].talker);
        due.sort_by_key(|sent| (hosts.turns[talker(sent).index()], talker(sent), sent.stream));
        for mut sent in due {
            let node = NodeId(self.plan.streams[sent.stream].talker);
            let Some(hosts) = &mut self.hosts else { return };
            let Some(talking) = hosts.talking[sent.stream.index()].as_deref_mut() else { continue };
            let takes = talking.takes();
            let own = &mut hosts.shared[number];
            sent.passage = own.processor.pass(self.now, node.0, takes);
            own.sent.push_back(sent);
            if own.sent.len() == 1 {
                self.expect_program(number);
            }
        }
    }

    /// Plans the event at which the next frame of a program reaches its queueing disciplines.
    fn expect_program(&mut self, number: usize) {
        let Some(hosts) = &mut self.hosts else { return };
        let own = &hosts.shared[number];
        if let Some(sent) = own.sent.front() {
            let (at, node) = (own.processor.at(sent.passage.qdisc), self.plan.streams[sent.stream].talker);
            self.schedule_host(at, NodeId(node), Pending::Program { processor: number });
        }
    }

    /// The next frame of a program is at the queueing disciplines, or the program was interrupted and goes on.
    pub(crate) fn run_program<S: Sink>(&mut self, number: usize, sink: &mut S) -> io::Result<()> {
        let Some(hosts) = &mut self.hosts else { return Ok(()) };
        let own = &mut hosts.shared[number];
        let Some(mut sent) = own.sent.front().copied() else { return Ok(()) };
        for stage in [&mut sent.passage.wakeup, &mut sent.passage.send, &mut sent.passage.qdisc] {
            *stage = own.processor.at(*stage);
        }
        if sent.passage.qdisc <= self.now {
            own.sent.pop_front();
            if self.calls(&sent, sink)? {
                self.enter(&sent, sink)?;
            }
        }
        self.expect_program(number);
        Ok(())
    }

    /// The processor begins the next work of an interrupt, unless it still has some.
    pub(crate) fn interrupt<S: Sink>(&mut self, number: usize, sink: &mut S) -> io::Result<()> {
        let now = self.now;
        let Some(own) = self.hosts.as_mut().and_then(|hosts| hosts.shared.get_mut(number)) else {
            return Ok(());
        };
        if own.processor.busy() > now {
            let at = own.processor.busy();
            self.schedule_as_last(at, Pending::Interrupt { processor: number });
            return Ok(());
        }
        let Some(work) = own.processor.take() else {
            own.expects = false;
            return Ok(());
        };
        match work {
            Work::Timer { port } => {
                let Some(hosts) = &mut self.hosts else { return Ok(()) };
                let own = &mut hosts.shared[number];
                // After a pause, the processor has needed the lateness of a timer to begin.
                let late = if own.entered > Duration::ZERO {
                    Duration::ZERO
                } else {
                    hosts.ports[port.index()].as_deref_mut().map_or(Duration::ZERO, |port| port.timer.draw())
                };
                let at = now + late;
                own.processor.work(now, at);
                self.schedule_host(at, self.network.links[port].node, Pending::Expired { port });
            }
            Work::Forward { frame, ingress } => {
                let node = self.network.links[self.network.hops[frame.hop()].port].node;
                self.forward((ingress, now), node, frame);
            }
            Work::Receive { frame, copy, arrival, passed, passage } => {
                let hop = self.network.hops[frame.hop()];
                let node = self.network.links[hop.port].peer;
                if self.is_down(node, arrival, now) {
                    self.lose(hop.stream, hop.port);
                } else {
                    if let Some(journal) = &mut self.journal {
                        journal.current = passage;
                    }
                    self.take(&hop, (frame, copy), arrival, passed, sink)?;
                }
            }
        }
        let Some(own) = self.hosts.as_mut().and_then(|hosts| hosts.shared.get_mut(number)) else {
            return Ok(());
        };
        // Only the first work after a pause has begun before, also if that was a frame that nobody takes.
        own.entered = Duration::ZERO;
        let at = own.processor.busy().max(now);
        self.schedule_as_last(at, Pending::Interrupt { processor: number });
        Ok(())
    }
}
