//! The state of a whole simulation at one instant.

use crate::ids::HopId;
use crate::kernel::event::{Event, EventKind, Frame};
use crate::kernel::simulation::Simulation;
use tsn_bridge::{State, StateTaker};
use tsn_plan::{R_TAG_OCTETS, Size};
use tsn_units::Instant;

/// Octets that tags add to a frame on its path.
const TAGS: u32 = 2 * R_TAG_OCTETS;

impl Simulation<'_> {
    /// The state before the events at `now`, of which all earlier ones are handled; or what has a state that cannot be
    /// taken.
    pub(super) fn state(&self, now: Instant) -> Result<State, &'static str> {
        let mut state = StateTaker::new(now);
        for talker in &self.talkers {
            talker.put_state(&mut state);
        }
        for port in &self.ports {
            if !port.put_state(&mut state, &mut |frame, state| self.put_frame(*frame, state)) {
                return Err("a port has parts whose state cannot be compared");
            }
        }
        let longest = self.longest_frame();
        if let Some(policing) = &self.policing {
            policing.tables.iter().for_each(|table| table.put_state(&mut state, longest));
            self.put_sorted(&mut state, policing.cyclic_queues.waiting());
        }
        for recovery in &self.hop_extras.recoveries {
            let next = (self.talkers[recovery.stream].number() & 0xffff) as u16;
            recovery.machine.put_state(&mut state, next);
        }
        self.put_sorted(&mut state, self.hop_extras.first_bits());
        self.put_events(&mut state)?;
        Ok(state.finish())
    }

    fn longest_frame(&self) -> u32 {
        let longest = self.plan.streams.iter().map(|stream| match &stream.size {
            Size::Frame { octets } => *octets,
            Size::List { octets } => octets.iter().copied().max().unwrap_or(0),
            Size::Units { most_per_frame, overhead, .. } => most_per_frame.saturating_add(*overhead),
        });
        longest.max().unwrap_or(0).saturating_add(TAGS)
    }

    fn put_frame(&self, frame: Frame, state: &mut StateTaker) {
        state.put(frame.hop().0);
        state.put(frame.octets());
        state.put(self.behind(frame.hop(), frame.seq));
    }

    /// How far a frame's number is behind that of its talker's next frame.
    fn behind(&self, hop: HopId, seq: u64) -> u64 {
        self.talkers[self.network.hops[hop].stream].number().wrapping_sub(seq)
    }

    /// Adds what is remembered of frames, in an order of its own.
    fn put_sorted(&self, state: &mut StateTaker, kept: impl Iterator<Item = (HopId, u64, [i64; 2])>) {
        let mut kept: Vec<_> = kept.map(|(hop, seq, times)| (hop.0, self.behind(hop, seq), times)).collect();
        kept.sort_unstable();
        state.put_length(kept.len());
        for (hop, behind, times) in kept {
            state.put(hop);
            state.put(behind);
            times.iter().for_each(|at| state.put(at - state.now().ps()));
        }
    }

    /// Adds the pending events in their order; their numbers at their nodes only order them.
    fn put_events(&self, state: &mut StateTaker) -> Result<(), &'static str> {
        let mut events: Vec<&Event> = self.calendar.iter().collect();
        events.sort_unstable_by_key(|event| event.key());
        state.put_length(events.len());
        for event in events {
            state.put_time(event.at());
            state.put(event.node());
            match event.kind() {
                EventKind::Arrive(frame) => {
                    state.put(0);
                    self.put_frame(frame, state);
                }
                EventKind::Ingress(frame) => {
                    state.put(1);
                    self.put_frame(frame, state);
                }
                EventKind::Release { stream } => {
                    state.put(2);
                    state.put(stream.0);
                }
                EventKind::Wake { port } => {
                    state.put(3);
                    state.put(port.0);
                }
                EventKind::Hold { number } | EventKind::Eligible { number } => {
                    let held = self.policing.as_ref().and_then(|policing| policing.held.get(number));
                    let held = held.ok_or("a frame waits that is not known")?;
                    state.put(4 + u8::from(held.queued));
                    state.put_time(held.eligible);
                    self.put_frame(held.frame, state);
                }
                _ => return Err("an event is ahead that does not come again"),
            }
        }
        Ok(())
    }
}
