//! How frames pass special hops: over links that harm them, as copies, by ways that stand by.
//!
//! IEEE 802.1CB-2017, 7.

use crate::faults::impairment::{Harm, Passing};
use crate::ids::{HopId, PortId, StreamId};
use crate::kernel::event::{EventKind, Frame};
use crate::kernel::simulation::Simulation;
use crate::network::hop_extras::Meeting;
use crate::network::tables::Hop;
use crate::policing::state::Passed;
use std::io;
use tsn_bridge as bridge;
use tsn_observation::{ELIMINATED, Sink};
use tsn_units::{Duration, Instant, Octets};

/// A frame at the end of a link.
#[derive(Copy, Clone, Debug)]
struct Landing {
    frame: Frame,
    /// When the first bit of its preamble arrives.
    begun: Instant,
    /// When the last bit of its FCS arrives, or would.
    arrival: Instant,
    /// How many of its octets arrive.
    octets_in: u32,
}

impl Simulation<'_> {
    /// A frame goes over a link that may harm it, or by which a copy goes.
    #[cold]
    #[inline(never)]
    pub(crate) fn transmit_special<S: Sink>(
        &mut self,
        port: PortId,
        hop: &Hop,
        transmission: &bridge::Transmission<Frame>,
        sink: &mut S,
    ) -> io::Result<()> {
        let bridge::Transmission { frame, first_bit, last_bit, .. } = *transmission;
        self.take_turn(port, hop.class, frame, first_bit);
        let link = self.network.links[port];
        if !frame.is_damaged() {
            let copy = self.specials.copy(frame.hop);
            // Who goes down meanwhile stamps nothing after that.
            let stamped =
                |at: Instant| if self.is_down(link.node, first_bit, at) { Instant::MAX } else { at };
            let (start, end) = (stamped(first_bit + link.until_timestamp_point), stamped(last_bit));
            self.sight(link.tx, hop, (frame, copy), start, end, sink)?;
        }
        let mut landing = Landing {
            frame,
            begun: first_bit + link.propagation,
            arrival: last_bit + link.propagation,
            octets_in: frame.octets,
        };
        self.count_disobeying(port);
        let Some(Some(impairment)) = self.impairments.get_mut(port.index()) else {
            return self.land(port, hop, landing, sink);
        };
        let line = self.ports[port].line();
        let passing = Passing {
            first: first_bit,
            first_in: landing.begun,
            last_in: landing.arrival,
            octets: frame.octets,
            rate: line.rate().0,
            occupies: line.until_free(Octets(frame.octets)),
        };
        let fate = impairment.meet(&passing, &mut self.struck);
        match fate.harm {
            Harm::None => {}
            Harm::Lost => {
                self.lose(hop.stream, port);
                return Ok(());
            }
            Harm::Damaged(octets) => {
                landing.frame = frame.damaged();
                landing.octets_in = octets;
            }
        }
        landing.begun += fate.late;
        landing.arrival += fate.late;
        self.land(port, hop, landing, sink)?;
        if let Some(after) = fate.again {
            self.tallies[hop.stream].replicated += 1;
            landing.begun += after;
            landing.arrival += after;
            self.land(port, hop, landing, sink)?;
        }
        Ok(())
    }

    /// A frame arrives at the other end of a link, or will.
    fn land<S: Sink>(&mut self, port: PortId, hop: &Hop, landing: Landing, sink: &mut S) -> io::Result<()> {
        let Landing { frame, begun, arrival, .. } = landing;
        let link = self.network.links[port];
        let meets = self.specials.meets(frame.hop);
        // What was on the wire then was cut; what a delay held back comes to a node that is not there, too.
        if self.is_down(link.peer, arrival, arrival) {
            self.lose(hop.stream, port);
            return Ok(());
        }
        if frame.is_damaged() {
            self.go_on_damaged(meets, &landing);
            return Ok(());
        }
        let taught = self.learning.as_ref().is_some_and(|learning| learning.listens(frame.hop));
        let filtered = self.specials.filtered(frame.hop).is_some();
        let copies = meets.is_some_and(|meeting| meeting.recovery.is_some());
        if filtered || taught || copies || self.is_received(port) {
            // Which copy goes on, what a bridge or a filter knows, or what software does first depends on the order
            // in which frames arrive.
            if begun + self.ports[port].line().until_last_bit(Octets(frame.octets)) != arrival {
                self.specials.keep_begin(frame, arrival, begun);
            }
            self.schedule(arrival, link.peer, EventKind::Meet(frame));
            return Ok(());
        }
        let copy = self.specials.copy(frame.hop);
        self.sight(link.rx, hop, (frame, copy), begun + link.until_timestamp_point, arrival, sink)?;
        let passed = Passed { yellow: self.specials.yellow(frame.hop), ..Passed::default() };
        self.go_on(meets, frame, (arrival, arrival), false, passed);
        Ok(())
    }

    /// A frame arrives where filters are, or a copy where it meets others: the first one goes on, the others are taken out.
    #[cold]
    #[inline(never)]
    pub(crate) fn meet<S: Sink>(&mut self, frame: Frame, sink: &mut S) -> io::Result<()> {
        let hop = self.network.hops[frame.hop];
        let meets = self.specials.meets(frame.hop);
        let number = (frame.seq & 0xffff) as u16;
        let policed = self.police(frame);
        // Its timers go by its node's clock.
        let now = self.clock_of(self.network.links[hop.port].peer, self.now);
        let recovery = meets.and_then(|meeting| Some((meeting.recovery?, meeting.way)));
        let recovery = recovery.filter(|_| policed.is_some());
        let passes = recovery.is_none_or(|(recovery, way)| {
            let recoveries = self.specials.recoveries.get_mut(recovery as usize);
            recoveries.is_none_or(|recovery| recovery.machine.receive(now, way as usize, number))
        });
        let copy = self.specials.copy(frame.hop) | if passes { 0 } else { ELIMINATED };
        let link = self.network.links[hop.port];
        let line = *self.ports[hop.port].line();
        let begun = self.specials.take_begin(frame, self.now);
        let begun = begun.unwrap_or_else(|| self.now - line.until_last_bit(Octets(frame.octets)));
        self.sight(link.rx, &hop, (frame, copy), begun + link.until_timestamp_point, self.now, sink)?;
        // Learning comes before filters of streams (8.7): what they drop has taught, too.
        if let Some(learning) = &mut self.learning {
            learning.hear(frame.hop, self.now);
        }
        match policed {
            None => {}
            // Who filters, meters or eliminates has to have all of a frame.
            Some(passed) if passes => {
                let ready = self.receive(&hop, meets, (frame, copy), sink)?;
                self.go_on(meets, frame, (self.now, ready), true, passed);
            }
            Some(_) => self.tallies[hop.stream].eliminated += 1,
        }
        Ok(())
    }

    /// A frame has arrived at the end of its hop: to listeners, and to the queues of the ways that forward.
    /// From `ready` on it can be forwarded.
    fn go_on(
        &mut self,
        meets: Option<Meeting>,
        frame: Frame,
        (arrival, ready): (Instant, Instant),
        stored: bool,
        passed: Passed,
    ) {
        let leader = meets.map_or(frame.hop, |meeting| meeting.leader);
        let hop = self.network.hops[leader];
        let ingress = self.network.hops[frame.hop].port;
        let link = self.network.links[ingress];
        let mut copies = 0_u64;
        for listener in hop.listeners.indices() {
            copies += 1;
            if arrival <= self.end {
                self.delivered[listener as usize] += 1;
            } else {
                self.late += 1;
            }
        }
        let mut blocked = None;
        for branch in hop.branches.indices() {
            let next = self.network.branches[branch as usize];
            if self.learning.as_ref().is_some_and(|learning| learning.filters(next, arrival)) {
                continue;
            }
            let queued = self.queued(ingress, frame, next, ready, stored);
            if self.is_down(link.peer, arrival.min(queued), queued) {
                blocked = Some(ingress);
            } else if self.specials.is_active(next, queued) {
                copies += 1;
                let octets = self.specials.octets(frame.octets, Some(frame.hop), next);
                let next = self.police.as_ref().map_or(next, |police| police.next(next, &passed));
                let frame = Frame { hop: next, octets, ..frame };
                if passed.ipv.is_some() {
                    self.note_turn(frame, queued);
                }
                match passed.eligible {
                    None => self.forward((ingress, queued), link.peer, frame),
                    Some(at) => self.queue_at(queued, link.peer, frame, Some(at + link.processing)),
                }
            } else {
                blocked = Some(self.network.hops[next].port);
            }
        }
        match (copies, blocked) {
            (0, Some(port)) => self.lose(hop.stream, port),
            // Flooded to a station that it is not for, or to a bridge that knows that it should not have come.
            (0, None) => self.tallies[hop.stream].filtered += 1,
            _ => self.tallies[hop.stream].replicated += copies - 1,
        }
    }

    /// A frame that is not whole: who stores it drops it. Who has passed on a part of it by then goes on with what
    /// arrives, and whoever receives that knows it from the check sequence.
    fn go_on_damaged(&mut self, meets: Option<Meeting>, landing: &Landing) {
        let Landing { frame, arrival, octets_in, .. } = *landing;
        let own = self.network.hops[frame.hop];
        let hop = self.network.hops[meets.map_or(frame.hop, |meeting| meeting.leader)];
        let link = self.network.links[own.port];
        let mut copies = 0_u64;
        // Filters look at whole frames only, as those do who eliminate copies.
        let stored = self.specials.filtered(frame.hop).is_some();
        if !stored && meets.is_none_or(|meeting| meeting.recovery.is_none()) {
            for branch in hop.branches.indices() {
                let next = self.network.branches[branch as usize];
                if self.learning.as_ref().is_some_and(|learning| learning.filters(next, arrival)) {
                    continue;
                }
                let queued = self.queued(own.port, frame, next, arrival, false);
                // What its next queue decides by has to be in.
                let decides = self.octets_before(own.port, frame, next);
                if decides.is_some_and(|octets| octets <= octets_in)
                    && !self.is_down(link.peer, arrival.min(queued), queued)
                    && self.specials.is_active(next, queued)
                {
                    copies += 1;
                    let octets = self.specials.octets(octets_in, Some(frame.hop), next).max(1);
                    self.schedule(queued, link.peer, EventKind::Arrive(Frame { hop: next, octets, ..frame }));
                }
            }
        }
        if copies == 0 {
            self.lose(own.stream, own.port);
        } else {
            self.tallies[own.stream].replicated += copies - 1;
        }
    }

    /// After how many octets a frame goes to its next queue; none where that waits for all of them.
    fn octets_before(&self, ingress: PortId, frame: Frame, next: HopId) -> Option<u32> {
        let node = self.network.links[ingress].peer;
        let after = self.plan.nodes[node].cut_through_octets;
        after.filter(|_| self.early(ingress, frame, next) > Duration::ZERO)
    }

    /// Hands one frame to those of the talker's ports that forward, each with its copy.
    #[cold]
    #[inline(never)]
    pub(crate) fn emit_special<S: Sink>(
        &mut self,
        stream: StreamId,
        seq: u64,
        octets: u32,
        more: bool,
        sink: &mut S,
    ) -> io::Result<()> {
        self.tallies[stream].released += 1;
        let mut copies = 0_u64;
        let mut blocked = None;
        for root in self.network.roots[stream].indices() {
            let number = self.network.branches[root as usize];
            let hop = self.network.hops[number];
            if !self.specials.is_active(number, self.now) {
                blocked = Some(hop.port);
                continue;
            }
            copies += 1;
            let frame = Frame { seq, hop: number, octets: self.specials.octets(octets, None, number) };
            let send = self.network.links[hop.port].send;
            self.sight(send, &hop, (frame, self.specials.copy(number)), self.now, self.now, sink)?;
            self.arrive(frame, more, sink)?;
        }
        match (copies, blocked) {
            (0, Some(port)) => self.lose(stream, port),
            _ => self.tallies[stream].replicated += copies.saturating_sub(1),
        }
        Ok(())
    }
}
