//! Saturating talkers: they release a frame when one leaves their port's queue, and cost no events.

use crate::ids::{HopId, PortId, StreamId};
use crate::kernel::event::Frame;
use crate::network::tables::Network;
use crate::talkers::talker::Talker;
use tsn_bridge::EgressPort;
use tsn_units::{Instant, Local, Octets};

/// One saturating talker.
#[derive(Clone, Debug)]
struct Source {
    stream: StreamId,
    /// The talker's first hop; if it has several ports, this one sets the pace.
    hop: HopId,
    class: u8,
    backlog: u32,
    /// Number of frames in the queue. A frame that the port refuses for ever (it fits no window) stays counted, so
    /// that a talker whose frames can never be sent stops.
    queued: u32,
    started: bool,
}

/// The saturating talkers of every port.
///
/// A full queue blocks them, as a full socket buffer would, and no frame is dropped: if the queue's limits are below
/// their backlogs, they take turns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    /// The talkers by port; empty if no stream saturates.
    at: Vec<Vec<Source>>,
    /// By port: the talker whose turn it is.
    turn: Vec<usize>,
    /// By stream: the port of its first hop.
    first_port: Vec<PortId>,
}

impl Sources {
    pub fn new(network: &Network, talkers: &[Talker]) -> Self {
        let mut sources = Self::default();
        if talkers.iter().all(|talker| talker.backlog() == 0) {
            return sources;
        }
        sources.at = vec![Vec::new(); network.links.len()];
        sources.turn = vec![0; network.links.len()];
        for (stream, talker) in talkers.iter().enumerate() {
            let hop = network.roots[stream].of(&network.branches).first().copied().unwrap_or(HopId(0));
            let port = network.hops[hop].port;
            sources.first_port.push(port);
            if talker.backlog() > 0 {
                let class = network.hops[hop].class;
                let backlog = talker.backlog();
                let source =
                    Source { stream: StreamId::at(stream), hop, class, backlog, queued: 0, started: false };
                sources.at[port].push(source);
            }
        }
        sources
    }

    /// Starts a saturating stream; returns its port.
    pub fn start(&mut self, stream: StreamId) -> PortId {
        let port = self.first_port[stream];
        for source in self.at[port].iter_mut().filter(|source| source.stream == stream) {
            source.started = true;
        }
        port
    }

    /// A frame has left a queue of `port`; returns whether there are talkers to refill it.
    #[inline]
    pub fn left(&mut self, port: PortId, frame: Frame) -> bool {
        match self.at.get_mut(port.index()) {
            None => false,
            Some(sources) => {
                if let Some(source) = sources.iter_mut().find(|source| source.hop == frame.hop()) {
                    source.queued = source.queued.saturating_sub(1);
                }
                !sources.is_empty()
            }
        }
    }

    /// The stream whose turn it is at `port`, if any stream may release.
    pub fn next(
        &mut self,
        port: PortId,
        now: Instant<Local>,
        talkers: &mut [Talker],
        machine: &EgressPort<Frame>,
    ) -> Option<StreamId> {
        let turn = &mut self.turn[port];
        let sources = &mut self.at[port];
        for step in 0..sources.len() {
            let place = (*turn + step) % sources.len();
            let source = &mut sources[place];
            let talker = &mut talkers[source.stream.index()];
            if source.started
                && source.queued < source.backlog
                && talker.talks(now)
                && machine.has_room(source.class, Octets(talker.next_size()))
            {
                source.queued += 1;
                *turn = place + 1;
                return Some(source.stream);
            }
        }
        None
    }
}
