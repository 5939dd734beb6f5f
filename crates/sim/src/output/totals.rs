//! The totals of a run: by stream, by port and class, and over all.

use crate::ids::{NodeId, PortId};
use crate::kernel::event::Frame;
use crate::kernel::simulation::Simulation;
use crate::network::tables::{Hop, Listener};
use crate::output::counters::{
    ClassCounters, ClockCounters, FaultCounters, GateCounters, PolicingCounters, PortCounters,
    PreemptionCounters, RecoveryCounters, RunCounters, StreamCounters,
};
use crate::output::stream_totals::StreamTotals;
use tsn_bridge::EgressPort;
use tsn_units::{Duration, Instant};

impl Simulation<'_> {
    /// Counts a frame that was dropped before it was in a queue.
    pub(crate) fn count_drop(&mut self, frame: Frame) {
        self.note_lost(frame);
        self.count_dropped(frame);
    }

    /// Counts a frame that was dropped.
    pub(crate) fn count_dropped(&mut self, frame: Frame) {
        let Hop { stream, at_talker, .. } = self.network.hops[frame.hop()];
        if let Some(timing) = self.timing.as_mut().filter(|_| stream.index() >= self.plan.streams.len()) {
            timing.dropped(frame);
        }
        let totals = &mut self.stream_totals[stream];
        if at_talker {
            totals.dropped_at_talker += 1;
        } else {
            totals.dropped_in_network += 1;
        }
    }

    pub(crate) fn count(&mut self, interrupted: bool) -> RunCounters {
        let mut queued: usize = self.ports.iter().map(EgressPort::queued).sum();
        queued += self.hosts.as_ref().map_or(0, |hosts| hosts.frames());
        // PTP messages belong to no stream.
        queued -= self.timing.as_ref().map_or(0, |timing| timing.queued());
        let mut streams: Vec<StreamCounters> =
            self.plan.streams.iter().zip(&self.stream_totals).map(named).collect();
        for (listener, delivered) in self.network.listeners.iter().zip(&self.delivered) {
            let Listener { stream, node } = *listener;
            let name = self.plan.nodes[node].name.clone();
            *streams[stream].delivered.entry(name).or_default() += delivered;
        }
        let hosts = self.hosts.as_deref();
        let port = |((port, machine), faulted): ((&tsn_plan::Port, &EgressPort<Frame>), &u64)| PortCounters {
            port: port.name.clone(),
            dropped_faults: *faulted,
            gates: None,
            qdisc: hosts.and_then(|hosts| hosts.counters(PortId(self.plan.ports[port.peer as usize].peer))),
            preemption: machine.merge_counters().map(PreemptionCounters::new),
            classes: machine
                .counters()
                .enumerate()
                .map(|(n, counters)| ClassCounters::new(n, counters))
                .collect(),
        };
        // Only streams with redundancy need this number: their frames may have several outcomes at once.
        for (stream, plan) in streams.iter_mut().zip(&self.plan.streams) {
            if plan.redundancy.is_some() {
                stream.in_network_at_end = (stream.released + stream.replicated)
                    .saturating_sub(stream.dropped_at_talker + stream.dropped_in_network)
                    .saturating_sub(stream.lost_to_faults + stream.eliminated + stream.filtered)
                    .saturating_sub(stream.delivered.values().sum());
            }
        }
        let mut ports: Vec<PortCounters> =
            self.plan.ports.iter().zip(&self.ports).zip(&self.faulted).map(port).collect();
        for (counters, port) in ports.iter_mut().zip(&self.plan.ports) {
            if let Some(gates) = &port.gates {
                counters.gates =
                    GateCounters::new(gates, self.clock_of(NodeId(port.node), self.now).ticked_ns(1));
            }
        }
        if let Some(policing) = &self.policing {
            for (counters, port) in ports.iter_mut().zip(0..) {
                for own in &mut counters.classes {
                    own.late_frames = policing.cyclic_queues.late(PortId(port), own.class);
                }
            }
        }
        if let Some(timing) = &mut self.timing {
            timing.compare(self.now);
        }
        let (now, timing) = (self.now, &self.timing);
        let held = self.policing.as_ref().map_or(0, |policing| policing.held.len() as u64);
        let policing = self.policing.as_ref().map_or_else(Vec::new, |policing| {
            let tables = self.plan.policing.iter().zip(&policing.tables);
            tables.map(|(policing, table)| PolicingCounters::new(self.plan, policing, table)).collect()
        });
        let recoveries = self.hop_extras.recoveries.iter_mut().map(|recovery| {
            let now = match timing {
                None => now.on_perfect_clock(),
                Some(timing) => timing.clock(recovery.node).forward(now),
            };
            let stream = &self.plan.streams[recovery.stream].name;
            let node = &self.plan.nodes[recovery.node].name;
            RecoveryCounters::new(stream, node, recovery.machine.counters(now))
        });
        let recoveries = recoveries.collect();
        let faults = self.plan.faults.iter().zip(&self.affected);
        let apart = timing.as_ref().and_then(|timing| timing.apart.most);
        RunCounters {
            recoveries,
            faults: faults
                .map(|(fault, frames)| FaultCounters { kind: fault.kind(), frames: *frames })
                .collect(),
            clocks: apart.map(|most| ClockCounters::new(self.plan, most)),
            buffers: self.count_buffers(),
            policing,
            simulated_ns: u64::try_from((self.now - Instant::EPOCH).max(Duration::ZERO).floor_ns())
                .unwrap_or(0),
            events: self.events,
            frame_hops: self.frame_hops,
            interrupted,
            in_network_at_end: queued as u64 + self.calendar.frames() + self.late + held,
            ports,
            streams,
        }
    }
}

fn named((stream, totals): (&tsn_plan::Stream, &StreamTotals)) -> StreamCounters {
    StreamCounters {
        name: stream.name.clone(),
        released: totals.released,
        replicated: totals.replicated,
        dropped_at_talker: totals.dropped_at_talker,
        dropped_in_network: totals.dropped_in_network,
        lost_to_faults: totals.lost_to_faults,
        eliminated: totals.eliminated,
        filtered: totals.filtered,
        in_network_at_end: 0,
        delivered: Default::default(),
    }
}
