//! How frames pass special hops: over lossy links, as copies, by ways that stand by.
//!
//! IEEE 802.1CB-2017, 7.

use super::{Event, Frame, Hop, Instant, Meeting, Simulation, Sink, What, bridge, io};
use crate::policing::Passed;
use tsn_observation::ELIMINATED;
use tsn_plan::Fault;

impl Simulation<'_> {
    /// A frame goes over a link that may lose it, or by which a copy goes.
    #[cold]
    #[inline(never)]
    pub(super) fn transmit_special<S: Sink>(
        &mut self,
        port: u32,
        hop: &Hop,
        transmission: &bridge::Transmission<Frame>,
        sink: &mut S,
    ) -> io::Result<()> {
        let link = self.network.links[port as usize];
        let bridge::Transmission { frame, first_bit, last_bit, .. } = *transmission;
        let timestamp_point = first_bit + link.until_timestamp_point;
        let arrival = last_bit + link.propagation;
        let copy = self.specials.copy(frame.hop);
        self.sight(link.tx, hop, (frame, copy), timestamp_point, last_bit, sink)?;
        if let Some(Some(impairment)) = self.impairments.get_mut(port as usize)
            && impairment.loses(self.now, arrival, frame.octets)
        {
            self.lose(hop.stream, port);
            return Ok(());
        }
        let meets = self.specials.meets(frame.hop);
        if meets.is_some_and(|meeting| meeting.recovery.is_some()) {
            // Which copy goes on depends on the order in which they arrive.
            self.schedule(arrival, link.peer, What::Meet(frame));
            return Ok(());
        }
        self.sight(link.rx, hop, (frame, copy), timestamp_point + link.propagation, arrival, sink)?;
        if self.specials.filtered(frame.hop).is_some() {
            // Filters have a memory, so that frames of different ports come to them in order.
            self.schedule(arrival, link.peer, What::Meet(frame));
            return Ok(());
        }
        let passed = Passed { yellow: self.specials.yellow(frame.hop), ..Passed::default() };
        self.go_on(meets, frame, arrival, passed);
        Ok(())
    }

    /// A frame arrives where filters are, or a copy where it meets others: the first one goes on, the others are taken out.
    #[cold]
    #[inline(never)]
    pub(super) fn meet<S: Sink>(&mut self, frame: Frame, sink: &mut S) -> io::Result<()> {
        let hop = self.network.hops[frame.hop as usize];
        let meets = self.specials.meets(frame.hop);
        let number = (frame.seq & 0xffff) as u16;
        let policed = self.police(frame);
        let recovery = meets.and_then(|meeting| Some((meeting.recovery?, meeting.way)));
        let Some((recovery, way)) = recovery else {
            if let Some(passed) = policed {
                self.go_on(meets, frame, self.now, passed);
            }
            return Ok(());
        };
        let recoveries = self.specials.recoveries.get_mut(recovery as usize).filter(|_| policed.is_some());
        let passes =
            recoveries.is_none_or(|recovery| recovery.machine.receive(self.now, way as usize, number));
        let copy = self.specials.copy(frame.hop) | if passes { 0 } else { ELIMINATED };
        let link = self.network.links[hop.port as usize];
        let line = *self.ports[hop.port as usize].line();
        let begun = self.now - line.until_last_bit(tsn_units::Octets(frame.octets));
        self.sight(link.rx, &hop, (frame, copy), begun + link.until_timestamp_point, self.now, sink)?;
        match policed {
            None => {}
            Some(passed) if passes => self.go_on(meets, frame, self.now, passed),
            Some(_) => self.tallies[hop.stream as usize].eliminated += 1,
        }
        Ok(())
    }

    /// A frame has arrived at the end of its hop: to listeners, and to the queues of the ways that forward.
    fn go_on(&mut self, meets: Option<Meeting>, frame: Frame, arrival: Instant, passed: Passed) {
        let leader = meets.map_or(frame.hop, |meeting| meeting.leader);
        let hop = self.network.hops[leader as usize];
        let link = self.network.links[hop.port as usize];
        let mut copies = 0_u64;
        for listener in hop.listeners.indices() {
            copies += 1;
            if arrival <= self.end {
                self.delivered[listener as usize] += 1;
            } else {
                self.late += 1;
            }
        }
        let queued = arrival + link.processing;
        let mut blocked = None;
        for branch in hop.branches.indices() {
            let next = self.network.branches[branch as usize];
            if self.specials.is_active(next, queued) {
                copies += 1;
                let octets = self.specials.octets(frame.octets, Some(frame.hop), next);
                let (next, eligible) = match &self.police {
                    None => (next, None),
                    Some(police) => {
                        (police.next(next, &passed), passed.eligible.map(|at| at + link.processing))
                    }
                };
                self.queue_at(queued, link.peer, Frame { hop: next, octets, ..frame }, eligible);
            } else {
                blocked = Some(self.network.hops[next as usize].port);
            }
        }
        match (copies, blocked) {
            (0, Some(port)) => self.lose(hop.stream, port),
            _ => self.tallies[hop.stream as usize].replicated += copies.saturating_sub(1),
        }
    }

    /// Hands one frame to those of the talker's ports that forward, each with its copy.
    #[cold]
    #[inline(never)]
    pub(super) fn emit_special<S: Sink>(
        &mut self,
        stream: u32,
        seq: u64,
        octets: u32,
        more: bool,
        sink: &mut S,
    ) -> io::Result<()> {
        self.tallies[stream as usize].released += 1;
        let mut copies = 0_u64;
        let mut blocked = None;
        for root in self.network.roots[stream as usize].indices() {
            let number = self.network.branches[root as usize];
            let hop = self.network.hops[number as usize];
            if !self.specials.is_active(number, self.now) {
                blocked = Some(hop.port);
                continue;
            }
            copies += 1;
            let frame = Frame { seq, hop: number, octets: self.specials.octets(octets, None, number) };
            let send = self.network.links[hop.port as usize].send;
            self.sight(send, &hop, (frame, self.specials.copy(number)), self.now, self.now, sink)?;
            self.arrive(frame, more, sink)?;
        }
        match (copies, blocked) {
            (0, Some(port)) => self.lose(stream, port),
            _ => self.tallies[stream as usize].replicated += copies.saturating_sub(1),
        }
        Ok(())
    }

    /// A babbling talker releases one data unit more, and will again.
    #[cold]
    #[inline(never)]
    pub(super) fn babble<S: Sink>(&mut self, fault: u32, event: &Event, sink: &mut S) -> io::Result<()> {
        let Some(Fault::Babble { stream, until_ns, every_ns, .. }) = self.plan.faults.get(fault as usize)
        else {
            return Ok(());
        };
        let (stream, until) = (*stream, *until_ns.min(&self.plan.duration_ns));
        if self.now >= crate::fault::instant(until) {
            return Ok(());
        }
        let every = tsn_units::Duration::from_ns(i64::try_from(*every_ns).unwrap_or(i64::MAX / 2_000));
        let node = self.plan.streams[stream as usize].talker;
        self.schedule(self.now + every, node, What::Babble { fault });
        self.send_unit(stream, event, sink)
    }

    fn lose(&mut self, stream: u32, port: u32) {
        self.faulted[port as usize] += 1;
        self.tallies[stream as usize].lost_to_faults += 1;
    }
}
