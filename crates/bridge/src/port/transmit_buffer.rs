//! A transmit buffer behind transmission selection: frames that were selected wait in it for the link, in their order.
//! Priorities, gates and shapers no longer reach them.
//!
//! Hardware has such buffers (the FIFO of a MAC, the descriptors of a DMA engine) between IEEE 802.1Q-2022, 8.6.8 and
//! IEEE 802.3-2022, 4.2.8.

use super::{Actions, EgressPort, Event, Transmission};
use crate::Frame;
use std::collections::VecDeque;
use tsn_units::Instant;

/// The transmit buffer of one port.
#[derive(Clone, Debug)]
pub(super) struct TransmitBuffer<F> {
    /// Most frames in it, with the one that is sent.
    most: usize,
    /// The frames that wait for the link, each with its class.
    waiting: VecDeque<(F, u8)>,
}

impl<F> TransmitBuffer<F> {
    pub fn new(frames: u32) -> Self {
        Self { most: frames as usize, waiting: VecDeque::new() }
    }

    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Discards the frames that wait for the link.
    pub fn clear(&mut self) -> impl Iterator<Item = F> + '_ {
        self.waiting.drain(..).map(|(frame, _)| frame)
    }
}

impl<F: Frame> EgressPort<F> {
    /// [`EgressPort::handle`] of a port with a transmit buffer.
    pub(super) fn handle_buffered(&mut self, now: Instant, event: Event<F>) -> Actions<F> {
        let mut actions = Actions::default();
        let Some(mut buffer) = self.transmit_buffer.take() else { return actions };
        match event {
            Event::Arrive { class, frame, .. } => {
                if self.accept(now, class, frame, &mut actions).is_some() {
                    self.request_wake(now, &mut actions);
                }
            }
            Event::Wake if now == self.wake => {
                self.wake = Instant::MAX;
                let next = loop {
                    if self.free <= now {
                        self.send_first(now, &mut buffer, &mut actions);
                    }
                    let next = self.fill(now, &mut buffer);
                    // A frame that finds the link free is sent at once, and leaves room for one more.
                    if self.free > now || buffer.waiting.is_empty() {
                        break next;
                    }
                };
                let freed = if buffer.waiting.is_empty() { Instant::MAX } else { self.free };
                self.request_wake(next.min(freed), &mut actions);
            }
            Event::Wake => {}
        }
        self.transmit_buffer = Some(buffer);
        actions
    }

    /// Selects frames while the buffer has room; returns when the next one may be selected if there is still room.
    fn fill(&mut self, now: Instant, buffer: &mut TransmitBuffer<F>) -> Instant {
        loop {
            let sent = usize::from(self.free > now);
            if buffer.waiting.len() + sent >= buffer.most {
                return Instant::MAX;
            }
            match self.earliest_of(u8::MAX, now) {
                (class, start) if start <= now => {
                    let queue = &mut self.classes[usize::from(class)].queue;
                    let Some(frame) = queue.pop() else { return Instant::MAX };
                    if queue.is_empty() {
                        self.waiting &= !(1 << class);
                    }
                    self.charge(now, class, self.line.until_free(frame.octets()));
                    buffer.waiting.push_back((frame, class));
                }
                (_, start) => return start,
            }
        }
    }

    fn send_first(&mut self, now: Instant, buffer: &mut TransmitBuffer<F>, actions: &mut Actions<F>) {
        let Some((frame, class)) = buffer.waiting.pop_front() else { return };
        self.free = now + self.line.until_free(frame.octets());
        let last_bit = now + self.line.until_last_bit(frame.octets());
        if self.overruns(class, now, last_bit) {
            self.classes[usize::from(class)].queue.count_overrun();
        }
        actions.start = Some(Transmission { frame, class, first_bit: now, last_bit });
    }
}
