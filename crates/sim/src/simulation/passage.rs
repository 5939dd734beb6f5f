//! How frames pass special hops: over lossy links, as copies, by ways that stand by.
//!
//! IEEE 802.1CB-2017, 7.

use super::{Event, Frame, Hop, Instant, Meeting, Simulation, Sink, What, io};
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
        frame: Frame,
        last_bit: Instant,
        sink: &mut S,
    ) -> io::Result<()> {
        let link = self.network.links[port as usize];
        let timestamp_point = self.now + link.until_timestamp_point;
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
        let ready = self.receive(port, hop, (frame, copy), arrival, sink)?;
        self.go_on(meets, frame, arrival, ready);
        Ok(())
    }

    /// A copy arrives where it meets others: the first one goes on, the others are taken out.
    #[cold]
    #[inline(never)]
    pub(super) fn meet<S: Sink>(&mut self, frame: Frame, sink: &mut S) -> io::Result<()> {
        let hop = self.network.hops[frame.hop as usize];
        let meets = self.specials.meets(frame.hop);
        let number = (frame.seq & 0xffff) as u16;
        let recovery = meets.and_then(|meeting| Some((meeting.recovery?, meeting.way)));
        let passes = recovery.is_none_or(|(recovery, way)| {
            let recoveries = self.specials.recoveries.get_mut(recovery as usize);
            recoveries.is_none_or(|recovery| recovery.machine.receive(self.now, way as usize, number))
        });
        let copy = self.specials.copy(frame.hop) | if passes { 0 } else { ELIMINATED };
        let link = self.network.links[hop.port as usize];
        let line = *self.ports[hop.port as usize].line();
        let begun = self.now - line.until_last_bit(tsn_units::Octets(frame.octets));
        self.sight(link.rx, &hop, (frame, copy), begun + link.until_timestamp_point, self.now, sink)?;
        if passes {
            let ready = self.receive(hop.port, &hop, (frame, copy), self.now, sink)?;
            self.go_on(meets, frame, self.now, ready);
        } else {
            self.tallies[hop.stream as usize].eliminated += 1;
        }
        Ok(())
    }

    /// A frame has arrived at the end of its hop: to listeners, and to the queues of the ways that forward.
    /// From `ready` on it can be forwarded.
    fn go_on(&mut self, meets: Option<Meeting>, frame: Frame, arrival: Instant, ready: Instant) {
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
        let queued = ready + link.processing;
        let mut blocked = None;
        for branch in hop.branches.indices() {
            let next = self.network.branches[branch as usize];
            if self.specials.is_active(next, queued) {
                copies += 1;
                let octets = self.specials.octets(frame.octets, Some(frame.hop), next);
                self.forward(queued, link.peer, Frame { hop: next, octets, ..frame });
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

    pub(super) fn lose(&mut self, stream: u32, port: u32) {
        self.faulted[port as usize] += 1;
        self.tallies[stream as usize].lost_to_faults += 1;
    }
}
