//! How frames get from one port of a node to the queue of another, and the memory where they wait.

use super::{Duration, Frame, Instant, Octets, Simulation};
use crate::counters::BufferCounters;
use tsn_bridge::SharedBuffer;

impl Simulation<'_> {
    /// When a frame that came over `port` is in the queue of its next hop, where a frame that is stored whole and takes
    /// the least time would be there at `stored`.
    #[cold]
    #[inline(never)]
    pub(super) fn reach(&mut self, port: u32, frame: Frame, next: u32, stored: Instant) -> Instant {
        let earliest = stored - self.cut_short(port, frame, next);
        self.spread(port, next, earliest)
    }

    /// The same for a frame whose last bit is in at `arrival`; `stored`: it had to be whole.
    pub(super) fn queued(
        &mut self,
        port: u32,
        frame: Frame,
        next: u32,
        arrival: Instant,
        stored: bool,
    ) -> Instant {
        let early = if stored { Duration::ZERO } else { self.early(port, frame, next) };
        let earliest = arrival + self.network.links[port as usize].processing - early;
        self.spread(port, next, earliest)
    }

    /// How much earlier than its last bit a frame goes to its next queue.
    pub(super) fn early(&self, port: u32, frame: Frame, next: u32) -> Duration {
        if frame.octets > self.network.links[port as usize].cut_through {
            self.cut_short(port, frame, next)
        } else {
            Duration::ZERO
        }
    }

    /// Puts off by what the node takes beyond its least time.
    fn spread(&mut self, port: u32, next: u32, earliest: Instant) -> Instant {
        let egress = self.network.hops[next as usize].port;
        match self.spreads.get_mut(port as usize) {
            Some(Some(spread)) => spread.pass(egress, earliest),
            _ => earliest,
        }
    }

    /// How much earlier than its last bit a frame that came over `port` may go to the queue of its next hop.
    ///
    /// From there it is like any other frame: what makes it wait only lets more of it come in, and a link that
    /// is not faster than the one it comes over never runs dry.
    fn cut_short(&self, port: u32, frame: Frame, next: u32) -> Duration {
        let ingress = &self.plan.ports[port as usize];
        let egress = &self.plan.ports[self.network.hops[next as usize].port as usize];
        // Whether it may be interrupted on its way in, its priority there says.
        let pcp = self.network.hops[frame.hop as usize].pcp;
        let cut = self.plan.octets_cut(frame.octets, pcp, ingress, egress);
        let line = self.ports[port as usize].line();
        // Both counted from the first bit, so that what is in is rounded as every other time is.
        line.until_last_bit(Octets(frame.octets)) - line.until_last_bit(Octets(frame.octets - cut))
    }

    /// Gives the ports of a node their common memory.
    pub(super) fn share_buffers(&mut self) {
        if self.plan.nodes.iter().all(|node| node.buffer.is_none()) {
            return;
        }
        let buffer = |node: &tsn_plan::Node| node.buffer.as_ref().map(SharedBuffer::new);
        self.buffers = self.plan.nodes.iter().map(buffer).collect();
        for (port, machine) in self.plan.ports.iter().zip(&mut self.ports) {
            if let Some(Some(buffer)) = self.buffers.get(port.node as usize) {
                machine.share(buffer);
            }
        }
    }

    pub(super) fn count_buffers(&self) -> Vec<BufferCounters> {
        let nodes = self.plan.nodes.iter().zip(&self.buffers);
        let count = |(node, buffer): (&tsn_plan::Node, &Option<SharedBuffer>)| {
            let tsn_bridge::BufferCounters { most_octets, dropped_frames, dropped_octets } =
                buffer.as_ref()?.counters();
            Some(BufferCounters { node: node.name.clone(), most_octets, dropped_frames, dropped_octets })
        };
        nodes.filter_map(count).collect()
    }
}
