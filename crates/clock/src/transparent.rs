//! A transparent clock: messages pass, and their time is corrected by their residence time.
//!
//! IEEE 1588-2019, 10.2 (end-to-end) and 10.3 (peer-to-peer). Its oscillator runs free (it is not syntonised).

use crate::{DelayMechanism, Input, Message, Origin, Output, Pdelay, PortIdentity, Stamp};
use std::collections::VecDeque;
use tsn_units::{Duration, Free, Instant};

/// Most messages that are remembered; the oldest is forgotten.
const MAX_IN_TRANSIT: usize = 64;

/// The sender of a message, and its sequence number.
type MessageId = (PortIdentity, u16);

/// A received event message.
#[derive(Clone, Debug)]
struct InTransit {
    id: MessageId,
    /// The port that received it.
    port: usize,
    at: Instant<Free>,
    /// Delay of the link over which it arrived, if delays are measured for each link.
    link: Duration,
    /// For every port, when the message left.
    left: Vec<Option<Instant<Free>>>,
    /// The Follow_Up, if it has arrived before the Sync has left.
    follow_up: Option<Origin>,
    /// Ports whose Follow_Up has been sent.
    follow_up_sent: Vec<bool>,
}

impl InTransit {
    fn residence(&self, port: usize) -> Option<Duration> {
        Some(*self.left.get(port)?.as_ref()? - self.at)
    }
}

/// The clock of one bridge.
#[derive(Clone, Debug)]
pub struct TransparentClock {
    delay: DelayMechanism,
    /// For every port, whether it takes part.
    enabled: Vec<bool>,
    pdelay: Vec<Pdelay>,
    syncs: VecDeque<InTransit>,
    requests: VecDeque<InTransit>,
}

impl TransparentClock {
    /// A clock between the ports that `enabled` names.
    #[must_use]
    pub fn new(delay: DelayMechanism, ports: usize, enabled: &[usize]) -> Self {
        Self {
            delay,
            enabled: (0..ports).map(|port| enabled.contains(&port)).collect(),
            pdelay: vec![Pdelay::default(); ports],
            syncs: VecDeque::new(),
            requests: VecDeque::new(),
        }
    }

    /// Handles an input and appends the resulting outputs.
    pub fn handle(&mut self, input: Input, outputs: &mut Vec<Output>) {
        match input {
            Input::PdelayDue { port } if self.delay == DelayMechanism::PeerToPeer => {
                if let Some(requester) = self.pdelay.get_mut(port) {
                    let sequence = requester.new_request();
                    outputs.push(Output::Send { port, message: Message::PdelayReq { sequence } });
                }
            }
            Input::Sent { port, message, at } => self.sent(port, message, at, outputs),
            Input::Received { port, message, at } => self.receive(port, message, at, outputs),
            _ => {}
        }
    }

    /// Corrects a one-step Sync that leaves.
    #[must_use]
    pub fn on_departure(&mut self, message: Message, at: Stamp) -> Message {
        match message {
            Message::Sync { source, sequence, origin: Some(origin) } => {
                let inside = self.syncs.iter().find(|transit| transit.id == (source, sequence));
                let added = inside.map_or(Duration::ZERO, |transit| at.free - transit.at + transit.link);
                let origin = Origin { correction: origin.correction + added, ..origin };
                Message::Sync { source, sequence, origin: Some(origin) }
            }
            other => other,
        }
    }

    fn sent(&mut self, port: usize, message: Message, at: Stamp, outputs: &mut Vec<Output>) {
        let note = |transit: &mut VecDeque<InTransit>, id: MessageId| {
            if let Some(left) = transit
                .iter_mut()
                .find(|transit| transit.id == id)
                .and_then(|transit| transit.left.get_mut(port))
            {
                *left = Some(at.free);
            }
        };
        match message {
            Message::PdelayReq { sequence } => {
                if let Some(pdelay) = self.pdelay.get_mut(port) {
                    pdelay.request_sent(sequence, at.free);
                }
            }
            Message::PdelayResp { sequence, .. } => {
                let message = Message::PdelayRespFollowUp { sequence, sent: at.free };
                outputs.push(Output::Send { port, message });
            }
            Message::Sync { source, sequence, origin: None } => {
                note(&mut self.syncs, (source, sequence));
                self.follow_up((source, sequence), outputs);
            }
            Message::DelayReq { source, sequence } => note(&mut self.requests, (source, sequence)),
            _ => {}
        }
    }

    fn receive(&mut self, port: usize, message: Message, at: Stamp, outputs: &mut Vec<Output>) {
        if !self.enabled.get(port).copied().unwrap_or(false) {
            return;
        }
        match message {
            Message::PdelayReq { sequence } => {
                let message = Message::PdelayResp { sequence, received: at.free };
                outputs.push(Output::Send { port, message });
            }
            Message::PdelayResp { sequence, received } => {
                if let Some(pdelay) = self.pdelay.get_mut(port) {
                    pdelay.response(sequence, received, at.free);
                }
            }
            Message::PdelayRespFollowUp { sequence, sent } => {
                if let Some(pdelay) = self.pdelay.get_mut(port) {
                    pdelay.follow_up(sequence, sent);
                }
            }
            Message::Sync { source, sequence, .. } => {
                let link = match self.delay {
                    DelayMechanism::EndToEnd => Some(Duration::ZERO),
                    DelayMechanism::PeerToPeer => self.pdelay.get(port).and_then(Pdelay::mean_link_delay),
                };
                // If the delay of the link is not yet known, the Sync cannot be corrected and is not forwarded.
                if let Some(link) = link {
                    let transit = self.transit((source, sequence), port, at, link);
                    remember(&mut self.syncs, transit);
                    self.flood(port, &message, outputs);
                }
            }
            Message::FollowUp { source, sequence, origin } => {
                let id = (source, sequence);
                if let Some(transit) = self.syncs.iter_mut().find(|it| it.id == id && it.port == port) {
                    transit.follow_up = Some(origin);
                    self.follow_up(id, outputs);
                }
            }
            Message::DelayReq { source, sequence } => {
                let transit = self.transit((source, sequence), port, at, Duration::ZERO);
                remember(&mut self.requests, transit);
                self.flood(port, &message, outputs);
            }
            Message::DelayResp { to, sequence, received, correction } => {
                let inside = self.requests.iter().find(|transit| transit.id == (to, sequence));
                if let Some(transit) = inside
                    && let Some(residence) = transit.residence(port)
                {
                    let correction = correction + residence;
                    let message = Message::DelayResp { to, sequence, received, correction };
                    // The response leaves only by the port at which the request arrived.
                    outputs.push(Output::Send { port: transit.port, message });
                }
            }
            Message::Announce(_) => self.flood(port, &message, outputs),
        }
    }

    fn transit(&self, id: MessageId, port: usize, at: Stamp, link: Duration) -> InTransit {
        let ports = self.enabled.len();
        let (left, follow_up_sent) = (vec![None; ports], vec![false; ports]);
        InTransit { id, port, at: at.free, link, left, follow_up: None, follow_up_sent }
    }

    /// Sends a message out of all ports except the one that received it.
    fn flood(&self, from: usize, message: &Message, outputs: &mut Vec<Output>) {
        for (port, enabled) in self.enabled.iter().enumerate() {
            if *enabled && port != from {
                outputs.push(Output::Send { port, message: message.clone() });
            }
        }
    }

    /// Sends the Follow_Up at those ports whose Sync has left, when both are known.
    fn follow_up(&mut self, id: MessageId, outputs: &mut Vec<Output>) {
        let Some(transit) = self.syncs.iter_mut().find(|transit| transit.id == id) else { return };
        let Some(origin) = transit.follow_up else { return };
        for port in 0..transit.follow_up_sent.len() {
            let (Some(residence), false) = (transit.residence(port), transit.follow_up_sent[port]) else {
                continue;
            };
            transit.follow_up_sent[port] = true;
            let correction = origin.correction + transit.link + residence;
            let (source, sequence) = id;
            let message = Message::FollowUp { source, sequence, origin: Origin { correction, ..origin } };
            outputs.push(Output::Send { port, message });
        }
    }
}

/// Remembers a message in transit. An earlier one with the same identity left long ago.
fn remember(transit: &mut VecDeque<InTransit>, one: InTransit) {
    transit.retain(|other| other.id != one.id);
    transit.push_back(one);
    if transit.len() > MAX_IN_TRANSIT {
        transit.pop_front();
    }
}
