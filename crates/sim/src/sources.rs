//! Saturating talkers: they produce on demand, when a frame leaves their port's queue, and cost no events.

use crate::event::Frame;
use crate::network::Network;
use crate::talker::Talker;
use tsn_bridge::EgressPort;
use tsn_units::{Instant, Octets};

/// One saturating talker.
#[derive(Clone, Debug)]
struct Source {
    stream: u32,
    /// Its first hop; where a talker has several ports, this one sets the pace.
    hop: u32,
    class: u8,
    backlog: u32,
    /// Frames in the queue. One that the port refuses for ever (it fits no window) stays counted, so that a talker
    /// whose frames can never go comes to rest.
    queued: u32,
    started: bool,
}

/// The saturating talkers of every port.
///
/// A full queue holds them back, as a full socket buffer would, instead of dropping: where the queue's limits are
/// tighter than their backlogs, they take turns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    /// By port; empty where no stream saturates.
    at: Vec<Vec<Source>>,
    /// By port: whose turn it is.
    turn: Vec<usize>,
    /// By stream: the port of its first hop.
    first_port: Vec<u32>,
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
            let hop = network.roots[stream].of(&network.branches).first().copied().unwrap_or(0);
            let port = network.hops[hop as usize].port;
            sources.first_port.push(port);
            if talker.backlog() > 0 {
                let class = network.hops[hop as usize].class;
                let backlog = talker.backlog();
                let source = Source { stream: stream as u32, hop, class, backlog, queued: 0, started: false };
                sources.at[port as usize].push(source);
            }
        }
        sources
    }

    /// A saturating stream starts; gives its port.
    pub fn start(&mut self, stream: u32) -> u32 {
        let port = self.first_port[stream as usize];
        for source in self.at[port as usize].iter_mut().filter(|source| source.stream == stream) {
            source.started = true;
        }
        port
    }

    /// A frame has left a queue of `port`; gives whether there are talkers to refill it.
    #[inline]
    pub fn left(&mut self, port: u32, frame: Frame) -> bool {
        match self.at.get_mut(port as usize) {
            None => false,
            Some(sources) => {
                if let Some(source) = sources.iter_mut().find(|source| source.hop == frame.hop) {
                    source.queued = source.queued.saturating_sub(1);
                }
                !sources.is_empty()
            }
        }
    }

    /// The stream that produces next at `port`, if any may.
    pub fn next(
        &mut self,
        port: u32,
        now: Instant,
        talkers: &mut [Talker],
        machine: &EgressPort<Frame>,
    ) -> Option<u32> {
        let turn = &mut self.turn[port as usize];
        let sources = &mut self.at[port as usize];
        for step in 0..sources.len() {
            let place = (*turn + step) % sources.len();
            let source = &mut sources[place];
            let talker = &mut talkers[source.stream as usize];
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
