//! A PTP instance: an end station, a time-aware bridge or the grandmaster.
//!
//! IEEE 802.1AS-2020, 10.2 and 11.2. Roles are given, not elected.

use crate::{Correction, Message, Pdelay, PiServo, Received, Stamp};
use tsn_units::{Frequency, Instant, Local};

/// What an instance is told.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Input {
    /// Time for the grandmaster's next Sync.
    SyncDue,
    /// Time for a port's next request.
    PdelayDue {
        /// The port.
        port: usize,
    },
    /// An event message has left a port.
    Sent {
        /// The port.
        port: usize,
        /// What it was.
        message: Message,
        /// When it passed the timestamp point.
        at: Stamp,
    },
    /// A message has arrived at a port.
    Received {
        /// The port.
        port: usize,
        /// What it is.
        message: Message,
        /// When it passed the timestamp point.
        at: Stamp,
    },
}

/// What an instance wants done.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Output {
    /// Send; when an event message has left, tell [`Input::Sent`].
    Send {
        /// By which port.
        port: usize,
        /// What.
        message: Message,
    },
    /// Steer the node's clock.
    Correct(Correction),
}

/// One port of an instance.
#[derive(Clone, Debug, Default)]
struct Port {
    /// It passes time on.
    master: bool,
    pdelay: Pdelay,
    /// A Sync that is to be followed up when it has left.
    sync_sent: Option<u16>,
}

/// The time-aware part of one node.
#[derive(Clone, Debug)]
pub struct Instance {
    ports: Vec<Port>,
    /// The port towards the grandmaster; none at the grandmaster.
    slave: Option<usize>,
    servo: PiServo,
    sequence: u16,
    /// A Sync whose Follow_Up has not come.
    sync: Option<(u16, Stamp)>,
    received: Option<Received>,
}

impl Instance {
    /// An instance with a role per port: `slave` leads towards the grandmaster, `masters` away from it.
    #[must_use]
    pub fn new(ports: usize, slave: Option<usize>, masters: &[usize], servo: PiServo) -> Self {
        let port = |number| Port { master: masters.contains(&number), ..Port::default() };
        Self {
            ports: (0..ports).map(port).collect(),
            slave: slave.filter(|port| *port < ports),
            servo,
            sequence: 0,
            sync: None,
            received: None,
        }
    }

    /// Takes an input and appends what follows from it; ports that it does not have are ignored.
    pub fn handle(&mut self, input: Input, outputs: &mut Vec<Output>) {
        match input {
            Input::SyncDue => {
                self.sequence = self.sequence.wrapping_add(1);
                self.send_syncs(self.sequence, outputs);
            }
            Input::PdelayDue { port } => {
                if let Some(asking) = self.ports.get_mut(port) {
                    let sequence = asking.pdelay.ask();
                    outputs.push(Output::Send { port, message: Message::PdelayReq { sequence } });
                }
            }
            Input::Sent { port, message, at } => self.sent(port, message, at, outputs),
            Input::Received { port, message, at } => self.receive(port, message, at, outputs),
        }
    }

    fn send_syncs(&mut self, sequence: u16, outputs: &mut Vec<Output>) {
        for (number, port) in self.ports.iter_mut().enumerate().filter(|(_, port)| port.master) {
            port.sync_sent = Some(sequence);
            outputs.push(Output::Send { port: number, message: Message::Sync { sequence } });
        }
    }

    fn sent(&mut self, number: usize, message: Message, at: Stamp, outputs: &mut Vec<Output>) {
        let Some(port) = self.ports.get_mut(number) else { return };
        let follow_up = match message {
            Message::PdelayReq { sequence } => {
                port.pdelay.request_sent(sequence, at.free);
                return;
            }
            Message::PdelayResp { sequence, .. } => Message::PdelayRespFollowUp { sequence, sent: at.free },
            Message::Sync { sequence } if port.sync_sent == Some(sequence) => {
                port.sync_sent = None;
                match (self.slave, &self.received) {
                    (None, _) => grandmasters(sequence, at.local),
                    (Some(_), Some(received)) if received.sequence == sequence => received.follow_up(at),
                    _ => return,
                }
            }
            _ => return,
        };
        outputs.push(Output::Send { port: number, message: follow_up });
    }

    fn receive(&mut self, number: usize, message: Message, at: Stamp, outputs: &mut Vec<Output>) {
        let Some(port) = self.ports.get_mut(number) else { return };
        match message {
            Message::PdelayReq { sequence } => {
                let message = Message::PdelayResp { sequence, received: at.free };
                outputs.push(Output::Send { port: number, message });
            }
            Message::PdelayResp { sequence, received } => port.pdelay.response(sequence, received, at.free),
            Message::PdelayRespFollowUp { sequence, sent } => port.pdelay.follow_up(sequence, sent),
            Message::Sync { sequence } if self.slave == Some(number) => self.sync = Some((sequence, at)),
            Message::FollowUp { sequence, origin, correction, rate } if self.slave == Some(number) => {
                // Before its delay is known, a port is not fit for time (`asCapable`).
                let Some(delay) = port.pdelay.mean_link_delay() else { return };
                let Some((_, at)) = self.sync.take().filter(|(sync, _)| *sync == sequence) else { return };
                let upstream = Frequency::from(rate);
                let rate = upstream.times(port.pdelay.neighbour());
                let correction = correction + upstream.scale(delay);
                let received = Received { sequence, at, origin, correction, rate };
                self.received = Some(received);
                if let Some(correction) = self.servo.sample(received.offset(), at.local) {
                    outputs.push(Output::Correct(correction));
                }
                self.send_syncs(sequence, outputs);
            }
            Message::Sync { .. } | Message::FollowUp { .. } => {}
        }
    }
}

/// What follows a Sync of the grandmaster itself.
fn grandmasters(sequence: u16, origin: Instant<Local>) -> Message {
    Message::FollowUp {
        sequence,
        origin,
        correction: tsn_units::Duration::ZERO,
        rate: crate::RateOffset::default(),
    }
}
