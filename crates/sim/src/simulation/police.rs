//! How frames pass the filters of the node that they come to, and wait until they are eligible.
//!
//! IEEE 802.1Q-2022, 8.6.5 and 8.6.11.

use super::{Event, Frame, Hop, Simulation, Sink, What, io};
use crate::policing::{Held, Passed};
use tsn_bridge::psfp::{Received, Verdict};
use tsn_units::{Instant, Octets};

/// What of a frame is no service data unit: addresses, type and FCS; and, where it has one, its VLAN tag.
const HEADER: u32 = 18;
const TAG: u32 = 4;

impl Simulation<'_> {
    /// What becomes of a frame at the end of its hop: none where it is dropped, which is then counted.
    pub(super) fn police(&mut self, frame: Frame) -> Option<Passed> {
        let yellow = self.specials.yellow(frame.hop);
        let (Some(filtered), Some(police)) = (self.specials.filtered(frame.hop), &mut self.police) else {
            return Some(Passed { yellow, ..Passed::default() });
        };
        let hop = self.network.hops[frame.hop as usize];
        let node = self.network.links[hop.port as usize].peer;
        let local = match &self.timing {
            None => Instant::from_ps(self.now.ps()),
            Some(timing) => timing.clock(node).there(self.now),
        };
        let oscillator = self.timing.as_ref().map(|timing| *timing.oscillator(node));
        // Rates are the oscillator's: no step of the clock fills or empties a bucket.
        let counted =
            oscillator.map_or(self.now, |oscillator| Instant::from_ps(oscillator.there(self.now).ps()));
        let at = |eligible: Instant| match oscillator {
            Some(oscillator) if eligible > counted => {
                oscillator.back(Instant::from_ps(eligible.ps())).max(self.now)
            }
            _ => eligible.max(self.now),
        };
        let header = HEADER + if hop.vid == 0 { 0 } else { TAG };
        let received =
            Received { octets: frame.octets, sdu_octets: frame.octets.saturating_sub(header), yellow };
        let table = police.tables.get_mut(filtered.table as usize)?;
        match table.receive(counted, local, filtered.filter as usize, received) {
            Verdict::Pass { ipv, yellow, eligible } => {
                Some(Passed { ipv, yellow, eligible: eligible.map(at) })
            }
            Verdict::Drop => {
                self.tallies[hop.stream as usize].dropped_in_network += 1;
                None
            }
        }
    }

    /// A frame will be in a queue that a stream gate has chosen.
    pub(super) fn note_turn(&mut self, frame: Frame, queued: Instant) {
        let hop = self.network.hops[frame.hop as usize];
        let at = self.shown(self.network.links[hop.port as usize].node, queued);
        if let Some(police) = &mut self.police {
            police.turns.queue(frame.hop, frame.seq, at);
        }
    }

    /// A frame leaves by a port, from such a queue or another.
    pub(super) fn take_turn(&mut self, port: u32, class: u8, frame: Frame, first_bit: Instant) {
        if self.police.is_none() {
            return;
        }
        let at = self.shown(self.network.links[port as usize].node, first_bit);
        if let Some(police) = &mut self.police {
            police.turns.leave(self.plan, (frame.hop, frame.seq), (port, class), at);
        }
    }

    /// What a node's clock shows at a moment.
    fn shown(&self, node: u32, at: Instant) -> Instant {
        match &self.timing {
            None => at,
            Some(timing) => Instant::from_ps(timing.clock(node).there(at).ps()),
        }
    }

    /// A frame goes to its queue, where it may have to wait until it is eligible.
    pub(super) fn queue_at(&mut self, queued: Instant, node: u32, frame: Frame, eligible: Option<Instant>) {
        match (eligible, &mut self.police) {
            (Some(eligible), Some(police)) => {
                let place = police.hold(Held { frame, eligible, queued: false });
                self.schedule(queued, node, What::Hold { place });
            }
            _ => self.schedule(queued, node, What::Arrive(frame)),
        }
    }

    /// A frame reaches its queue, to wait there until it is eligible: it takes room from now on.
    #[cold]
    #[inline(never)]
    pub(super) fn hold<S: Sink>(&mut self, place: u32, event: &Event, sink: &mut S) -> io::Result<()> {
        let Some(Held { frame, eligible, .. }) = self.police.as_mut().and_then(|police| police.reach(place))
        else {
            return Ok(());
        };
        let hop = self.network.hops[frame.hop as usize];
        if !self.ports[hop.port as usize].hold(hop.class, Octets(frame.octets)) {
            if let Some(police) = &mut self.police {
                police.release(place);
            }
            self.count_drop(frame);
            return Ok(());
        }
        if eligible <= self.now {
            return self.become_eligible(place, event, sink);
        }
        let node = self.network.links[hop.port as usize].node;
        self.schedule(eligible, node, What::Eligible { place });
        Ok(())
    }

    /// A node is switched off: what waits in it and is not eligible yet is lost, too.
    pub(super) fn flush_held(&mut self, node: u32, fault: u32) {
        let (network, links) = (&self.network.hops, &self.network.links);
        let port_of = |frame: &Frame| network[frame.hop as usize].port;
        let here = |frame: &Frame| links[port_of(frame) as usize].node == node;
        let Some(lost) = self.police.as_mut().map(|police| police.flush(here)) else { return };
        self.struck[fault as usize] += lost.len() as u64;
        for frame in lost {
            let Hop { stream, port, .. } = self.network.hops[frame.hop as usize];
            self.lose(stream, port);
        }
    }

    /// A frame that waited may be selected now. Those of a class become eligible in the order of their eligibility times,
    /// so that first in, first out is the order that ATS transmission selection asks for (8.6.8.5).
    #[cold]
    #[inline(never)]
    pub(super) fn become_eligible<S: Sink>(
        &mut self,
        place: u32,
        event: &Event,
        sink: &mut S,
    ) -> io::Result<()> {
        let Some(Held { frame, .. }) = self.police.as_mut().and_then(|police| police.release(place)) else {
            return Ok(());
        };
        let hop = self.network.hops[frame.hop as usize];
        self.ports[hop.port as usize].let_go(hop.class, Octets(frame.octets));
        let more = self.calendar.goes_on(event);
        self.arrive(frame, more, sink)
    }
}
