//! A rate-latency server: one queue, whose frames leave at a rate of their own, each at most a latency after its
//! arrival if no other frame is before it.
//!
//! Le Boudec & Thiran, Network Calculus, 1.3.1 and 1.3.2.

use super::{Actions, EgressPort, Event, Transmission};
use crate::{Frame, Line};
use std::collections::VecDeque;
use tsn_plan::duration;
use tsn_units::{BitRate, Duration, Instant};

/// The server of one port.
#[derive(Clone, Debug)]
pub(super) struct Server {
    /// For how long each frame keeps the server busy.
    pace: Line,
    latency: Duration,
    /// When each waiting frame may be served, if the server is free.
    ready: VecDeque<Instant>,
}

impl Server {
    pub fn new(own: &tsn_plan::Server) -> Self {
        Self {
            pace: Line::new(BitRate(own.rate_bps)),
            latency: duration(own.latency_ns),
            ready: VecDeque::new(),
        }
    }

    /// All frames are gone.
    pub fn clear(&mut self) {
        self.ready.clear();
    }
}

impl<F: Frame> EgressPort<F> {
    /// [`EgressPort::handle`] of a port with a server.
    pub(super) fn handle_serving(&mut self, now: Instant, event: Event<F>) -> Actions<F> {
        let mut actions = Actions::default();
        let Some(mut server) = self.server.take() else { return actions };
        match event {
            Event::Arrive { class, frame, .. } => {
                self.accept(now, class, frame, &mut actions);
                if actions.dropped.is_none() {
                    server.ready.push_back(now + server.latency);
                }
            }
            Event::Wake if now == self.wake => {
                self.wake = Instant::MAX;
                if self.free <= now && server.ready.front().is_some_and(|ready| *ready <= now) {
                    self.serve(now, &mut server, &mut actions);
                }
            }
            Event::Wake => {}
        }
        if let Some(ready) = server.ready.front() {
            self.request_wake(self.free.max(*ready), &mut actions);
        }
        self.server = Some(server);
        actions
    }

    /// Sends the frame that waits longest. Its bits have the rate of the link; the server is busy for longer.
    fn serve(&mut self, now: Instant, server: &mut Server, actions: &mut Actions<F>) {
        let queue = &mut self.classes[0].queue;
        let Some(frame) = queue.pop() else { return };
        server.ready.pop_front();
        if queue.is_empty() {
            self.waiting = 0;
        }
        self.free = now + server.pace.until_free(frame.octets());
        let last_bit = now + self.line.until_last_bit(frame.octets());
        actions.start = Some(Transmission { frame, class: 0, first_bit: now, last_bit });
    }
}
