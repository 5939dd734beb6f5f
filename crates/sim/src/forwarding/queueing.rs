//! How frames get from one port of a node to the queue of another, and the memory of the queues.

use crate::ids::{HopId, PortId};
use crate::kernel::event::Frame;
use crate::kernel::simulation::Simulation;
use crate::output::counters::BufferCounters;
use tsn_bridge::SharedBuffer;
use tsn_units::{Duration, Instant, Octets};

impl Simulation<'_> {
    /// When a frame that arrived over `port` reaches the queue of its next hop; `stored` is that time for a frame
    /// that is stored whole and takes the least processing time.
    #[cold]
    #[inline(never)]
    pub(crate) fn queue_arrival(
        &mut self,
        port: PortId,
        frame: Frame,
        next: HopId,
        stored: Instant,
    ) -> Instant {
        let earliest = stored - self.cut_short(port, frame, next);
        self.spread(port, frame, next, earliest)
    }

    /// When a frame with its last bit in at `arrival` reaches the queue of its next hop; `stored` means that the
    /// frame had to be whole.
    pub(crate) fn queued(
        &mut self,
        port: PortId,
        frame: Frame,
        next: HopId,
        arrival: Instant,
        stored: bool,
    ) -> Instant {
        let early = if stored { Duration::ZERO } else { self.early(port, frame, next) };
        let earliest = arrival + self.network.links[port].processing - early;
        self.spread(port, frame, next, earliest)
    }

    /// How much earlier than its last bit a frame reaches its next queue.
    pub(crate) fn early(&self, port: PortId, frame: Frame, next: HopId) -> Duration {
        if frame.octets() > self.network.links[port].cut_through {
            self.cut_short(port, frame, next)
        } else {
            Duration::ZERO
        }
    }

    /// Adds the additional processing time of the node.
    fn spread(&mut self, port: PortId, frame: Frame, next: HopId, earliest: Instant) -> Instant {
        let (egress, now) = (self.network.hops[next].port, self.now);
        match self.spreads.get_mut(port.index()) {
            Some(Some(spread)) => spread.pass(egress, frame.octets(), earliest, now),
            _ => earliest,
        }
    }

    /// How much earlier than its last bit a frame that arrived over `port` may reach the queue of its next hop.
    ///
    /// From then on it is treated as any other frame: while it waits, more of it comes in, and a link that is not
    /// faster than the ingress link never runs out of its octets.
    fn cut_short(&self, port: PortId, frame: Frame, next: HopId) -> Duration {
        let ingress = &self.plan.ports[port];
        let egress = &self.plan.ports[self.network.hops[next].port];
        // The priority on the ingress link decides whether the frame may be pre-empted there.
        let pcp = self.network.hops[frame.hop()].pcp;
        let cut = self.plan.octets_cut(frame.octets(), pcp, ingress, egress);
        let line = self.ports[port].line();
        // The difference of two times from the first bit on, so that both are rounded as every other time is.
        line.until_last_bit(Octets(frame.octets())) - line.until_last_bit(Octets(frame.octets() - cut))
    }

    /// Gives the ports of a node their shared memory.
    pub(crate) fn share_buffers(&mut self) {
        if self.plan.nodes.iter().all(|node| node.buffer.is_none()) {
            return;
        }
        let buffer = |node: &tsn_plan::Node| node.buffer.as_ref().map(SharedBuffer::new);
        self.buffers = self.plan.nodes.iter().map(buffer).collect();
        for (port, machine) in self.plan.ports.iter().zip(&mut self.ports) {
            if let Some(Some(buffer)) = self.buffers.get(port.node as usize) {
                machine.set_shared_buffer(buffer);
            }
        }
    }

    pub(crate) fn count_buffers(&self) -> Vec<BufferCounters> {
        let nodes = self.plan.nodes.iter().zip(&self.buffers);
        let count = |(node, buffer): (&tsn_plan::Node, &Option<SharedBuffer>)| {
            let tsn_bridge::BufferCounters { most_octets, dropped_frames, dropped_octets } =
                buffer.as_ref()?.counters();
            Some(BufferCounters { node: node.name.clone(), most_octets, dropped_frames, dropped_octets })
        };
        nodes.filter_map(count).collect()
    }
}
