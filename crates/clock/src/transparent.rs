//! A transparent clock: messages pass, and what they carry of time is corrected by how long they were here.
//!
//! IEEE 1588-2019, 10.2 (end-to-end) and 10.3 (peer-to-peer). Its oscillator runs free (it is not syntonised).

use crate::{DelayMechanism, Input, Message, Origin, Output, Pdelay, PortIdentity, Stamp};
use std::collections::VecDeque;
use tsn_units::{Duration, Free, Instant};

/// How many messages may be inside or awaited at once.
const MOST: usize = 64;

/// Whose message, and which.
type Name = (PortIdentity, u16);

/// An event message that has come in.
#[derive(Clone, Debug)]
struct Passing {
    name: Name,
    /// By this port.
    port: usize,
    at: Instant<Free>,
    /// Delay of the link that it came by, where that is known link by link.
    link: Duration,
    /// For every port, when it left.
    left: Vec<Option<Instant<Free>>>,
    /// Its Follow_Up, where that has come before the Sync has left.
    follow_up: Option<Origin>,
    /// Ports whose Follow_Up has been sent.
    followed: Vec<bool>,
}

impl Passing {
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
    syncs: VecDeque<Passing>,
    requests: VecDeque<Passing>,
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

    /// Takes an input and appends what follows from it.
    pub fn handle(&mut self, input: Input, outputs: &mut Vec<Output>) {
        match input {
            Input::PdelayDue { port } if self.delay == DelayMechanism::PeerToPeer => {
                if let Some(asking) = self.pdelay.get_mut(port) {
                    let sequence = asking.ask();
                    outputs.push(Output::Send { port, message: Message::PdelayReq { sequence } });
                }
            }
            Input::Sent { port, message, at } => self.sent(port, message, at, outputs),
            Input::Received { port, message, at } => self.receive(port, message, at, outputs),
            _ => {}
        }
    }

    /// A one-step Sync is corrected as it leaves.
    #[must_use]
    pub fn departs(&mut self, message: Message, at: Stamp) -> Message {
        match message {
            Message::Sync { source, sequence, origin: Some(origin) } => {
                let inside = self.syncs.iter().find(|passing| passing.name == (source, sequence));
                let added = inside.map_or(Duration::ZERO, |passing| at.free - passing.at + passing.link);
                let origin = Origin { correction: origin.correction + added, ..origin };
                Message::Sync { source, sequence, origin: Some(origin) }
            }
            other => other,
        }
    }

    fn sent(&mut self, port: usize, message: Message, at: Stamp, outputs: &mut Vec<Output>) {
        let note = |passing: &mut VecDeque<Passing>, name: Name| {
            if let Some(left) = passing
                .iter_mut()
                .find(|passing| passing.name == name)
                .and_then(|passing| passing.left.get_mut(port))
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
                // Before its link's delay is known, nothing right could be said of what comes by it.
                if let Some(link) = link {
                    let passing = self.passing((source, sequence), port, at, link);
                    keep(&mut self.syncs, passing);
                    self.flood(port, &message, outputs);
                }
            }
            Message::FollowUp { source, sequence, origin } => {
                let name = (source, sequence);
                if let Some(passing) = self.syncs.iter_mut().find(|it| it.name == name && it.port == port) {
                    passing.follow_up = Some(origin);
                    self.follow_up(name, outputs);
                }
            }
            Message::DelayReq { source, sequence } => {
                let passing = self.passing((source, sequence), port, at, Duration::ZERO);
                keep(&mut self.requests, passing);
                self.flood(port, &message, outputs);
            }
            Message::DelayResp { to, sequence, received, correction } => {
                let inside = self.requests.iter().find(|passing| passing.name == (to, sequence));
                if let Some(passing) = inside
                    && let Some(residence) = passing.residence(port)
                {
                    let correction = correction + residence;
                    let message = Message::DelayResp { to, sequence, received, correction };
                    // Its other ports lead to nobody who asked.
                    outputs.push(Output::Send { port: passing.port, message });
                }
            }
            Message::Announce(_) => self.flood(port, &message, outputs),
        }
    }

    fn passing(&self, name: Name, port: usize, at: Stamp, link: Duration) -> Passing {
        let ports = self.enabled.len();
        let (left, followed) = (vec![None; ports], vec![false; ports]);
        Passing { name, port, at: at.free, link, left, follow_up: None, followed }
    }

    /// Out of all ports but the one that it came by.
    fn flood(&self, from: usize, message: &Message, outputs: &mut Vec<Output>) {
        for (port, enabled) in self.enabled.iter().enumerate() {
            if *enabled && port != from {
                outputs.push(Output::Send { port, message: message.clone() });
            }
        }
    }

    /// Follow_Ups of those ports whose Sync has left, when both are known.
    fn follow_up(&mut self, name: Name, outputs: &mut Vec<Output>) {
        let Some(passing) = self.syncs.iter_mut().find(|passing| passing.name == name) else { return };
        let Some(origin) = passing.follow_up else { return };
        for port in 0..passing.followed.len() {
            let (Some(residence), false) = (passing.residence(port), passing.followed[port]) else {
                continue;
            };
            passing.followed[port] = true;
            let correction = origin.correction + passing.link + residence;
            let (source, sequence) = name;
            let message = Message::FollowUp { source, sequence, origin: Origin { correction, ..origin } };
            outputs.push(Output::Send { port, message });
        }
    }
}

/// A message of the same name was another, long ago.
fn keep(passing: &mut VecDeque<Passing>, one: Passing) {
    passing.retain(|other| other.name != one.name);
    passing.push_back(one);
    if passing.len() > MOST {
        passing.pop_front();
    }
}
