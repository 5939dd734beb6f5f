//! A PTP instance: an end station, a time-aware bridge, an ordinary or boundary clock, the grandmaster.
//!
//! IEEE 802.1AS-2020, 10.2 and 11.2; IEEE 1588-2019, 9.2. Roles are configured or elected.

use crate::event::TimerKind;
use crate::{
    BestMaster, DelayMechanism, EndToEnd, Input, Message, Origin, Output, Pdelay, PiServo, PortIdentity,
    PriorityVector, Profile, ReceivedSync, Role, Roles, Settings, Stamp, Timer,
};
use tsn_units::{Duration, Frequency};

/// One port of an instance.
#[derive(Clone, Debug, Default)]
struct Port {
    pdelay: Pdelay,
    end_to_end: EndToEnd,
    /// A Sync whose Follow_Up is due when it has left.
    sync_sent: Option<u16>,
    /// Number of received Announce messages.
    announces: u64,
    syncs: u64,
}

/// The time-aware part of one node.
#[derive(Clone, Debug)]
pub struct Instance {
    identity: u32,
    profile: Profile,
    delay: DelayMechanism,
    one_step: bool,
    ports: Vec<Port>,
    roles: Vec<Role>,
    slave: Option<usize>,
    /// The best master clock algorithm, and its two timeouts.
    elected: Option<(BestMaster, Duration, Option<Duration>)>,
    /// The port that this instance gets its time from.
    parent: Option<PortIdentity>,
    /// The priority vector that this instance announced last.
    announced: Option<PriorityVector>,
    servo: PiServo,
    sequence: u16,
    /// A Sync whose Follow_Up has not arrived.
    sync: Option<(PortIdentity, u16, Stamp)>,
    received: Option<ReceivedSync>,
}

impl Instance {
    /// An instance that has neither sent nor received any message.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let Settings { identity, ports, profile, delay, one_step, roles, servo } = settings;
        let mut instance = Self {
            identity,
            profile,
            delay,
            one_step,
            ports: vec![Port::default(); ports],
            roles: vec![Role::Disabled; ports],
            slave: None,
            elected: None,
            parent: None,
            announced: None,
            servo,
            sequence: 0,
            sync: None,
            received: None,
        };
        match roles {
            Roles::Given { slave, masters } => {
                instance.slave = slave.filter(|port| *port < ports);
                for (place, role) in instance.roles.iter_mut().enumerate() {
                    if instance.slave == Some(place) {
                        *role = Role::Slave;
                    } else if masters.contains(&place) {
                        *role = Role::Master;
                    }
                }
            }
            Roles::Elected { own, ports: enabled, announce_timeout, sync_timeout } => {
                let best = BestMaster::new(own, ports, &enabled);
                instance.elected = Some((best, announce_timeout, sync_timeout));
                instance.update_roles();
            }
        }
        instance
    }

    /// The node whose time this instance follows, if it is elected.
    #[must_use]
    pub fn grandmaster(&self) -> Option<u32> {
        self.elected.as_ref().map(|(best, ..)| best.grandmaster().identity)
    }

    /// The role of a port.
    #[must_use]
    pub fn role(&self, port: usize) -> Role {
        self.roles.get(port).copied().unwrap_or_default()
    }

    /// Handles an input and appends the resulting outputs; inputs of ports that do not exist are ignored.
    pub fn handle(&mut self, input: Input, outputs: &mut Vec<Output>) {
        match input {
            // A bridge of gPTP sends its Sync messages when one arrives at its slave port.
            Input::SyncDue if self.profile == Profile::TimeAware && self.slave.is_some() => {}
            Input::SyncDue => {
                self.sequence = self.sequence.wrapping_add(1);
                self.send_syncs(self.sequence, outputs);
            }
            Input::AnnounceDue => self.announce(outputs),
            Input::PdelayDue { port } => self.request_delay(port, outputs),
            Input::TimerExpired(timer) => self.timer_expired(timer, outputs),
            Input::Sent { port, message, at } => self.sent(port, &message, at, outputs),
            Input::Received { port, message, at } => self.receive(port, message, at, outputs),
        }
    }

    /// A message leaves now: fills in the time of a one-step Sync.
    #[must_use]
    pub fn on_departure(&mut self, message: Message, at: Stamp) -> Message {
        match message {
            Message::Sync { source, sequence, origin: Some(_) } => {
                let origin = self.origin(sequence, at).unwrap_or_default();
                Message::Sync { source, sequence, origin: Some(origin) }
            }
            other => other,
        }
    }

    fn announce(&mut self, outputs: &mut Vec<Output>) {
        let Some((best, ..)) = &self.elected else { return };
        for port in (0..self.ports.len()).filter(|port| best.role(*port) == Role::Master) {
            if let Some(announce) = best.announce(port) {
                outputs.push(Output::Send { port, message: Message::Announce(Box::new(announce)) });
            }
        }
    }

    fn request_delay(&mut self, port: usize, outputs: &mut Vec<Output>) {
        let is_slave = self.slave == Some(port);
        let Some(requester) = self.ports.get_mut(port) else { return };
        let message = match self.delay {
            DelayMechanism::PeerToPeer => Message::PdelayReq { sequence: requester.pdelay.new_request() },
            DelayMechanism::EndToEnd => match requester.end_to_end.new_request().filter(|_| is_slave) {
                Some(sequence) => {
                    Message::DelayReq { source: PortIdentity::at(self.identity, port), sequence }
                }
                None => return,
            },
        };
        outputs.push(Output::Send { port, message });
    }

    fn send_syncs(&mut self, sequence: u16, outputs: &mut Vec<Output>) {
        if self.elected.as_ref().is_some_and(|(best, ..)| best.announce(0).is_none()) {
            return;
        }
        let masters = self.roles.iter().enumerate().filter(|(_, role)| **role == Role::Master);
        for (number, _) in masters {
            if let Some(port) = self.ports.get_mut(number) {
                port.sync_sent = Some(sequence);
            }
            let source = PortIdentity::at(self.identity, number);
            let origin = self.one_step.then(Origin::default);
            outputs.push(Output::Send { port: number, message: Message::Sync { source, sequence, origin } });
        }
    }

    /// The origin timestamp of a Sync of this instance, as far as the instance knows it.
    fn origin(&self, sequence: u16, at: Stamp) -> Option<Origin> {
        match (self.profile, self.slave, &self.received) {
            (Profile::Ieee1588, ..) | (_, None, _) => Some(Origin { time: at.local, ..Origin::default() }),
            (_, Some(_), Some(received)) if received.sequence == sequence => Some(received.forwarded(at)),
            _ => None,
        }
    }

    fn sent(&mut self, number: usize, message: &Message, at: Stamp, outputs: &mut Vec<Output>) {
        let Some(port) = self.ports.get_mut(number) else { return };
        let follow_up = match message {
            Message::PdelayReq { sequence } => {
                port.pdelay.request_sent(*sequence, at.free);
                return;
            }
            Message::DelayReq { sequence, .. } => {
                port.end_to_end.request_sent(*sequence, at.free);
                return;
            }
            Message::PdelayResp { sequence, .. } => {
                Message::PdelayRespFollowUp { sequence: *sequence, sent: at.free }
            }
            Message::Sync { source, sequence, origin: None } if port.sync_sent == Some(*sequence) => {
                port.sync_sent = None;
                match self.origin(*sequence, at) {
                    Some(origin) => Message::FollowUp { source: *source, sequence: *sequence, origin },
                    None => return,
                }
            }
            _ => return,
        };
        outputs.push(Output::Send { port: number, message: follow_up });
    }

    fn receive(&mut self, number: usize, message: Message, at: Stamp, outputs: &mut Vec<Output>) {
        let role = self.role(number);
        let Some(port) = self.ports.get_mut(number) else { return };
        match message {
            Message::PdelayReq { sequence } => {
                let message = Message::PdelayResp { sequence, received: at.free };
                outputs.push(Output::Send { port: number, message });
            }
            Message::PdelayResp { sequence, received } => port.pdelay.response(sequence, received, at.free),
            Message::PdelayRespFollowUp { sequence, sent } => port.pdelay.follow_up(sequence, sent),
            Message::DelayReq { source, sequence } if role == Role::Master => {
                let (received, correction) = (at.local, Duration::ZERO);
                let message = Message::DelayResp { to: source, sequence, received, correction };
                outputs.push(Output::Send { port: number, message });
            }
            Message::DelayResp { to, sequence, received, correction }
                if to == PortIdentity::at(self.identity, number) =>
            {
                port.end_to_end.response(sequence, received - correction);
            }
            Message::Announce(announce) => self.receive_announce(number, &announce, outputs),
            Message::Sync { source, sequence, origin } if self.follows(number, source) => {
                self.restart_timer(number, TimerKind::Sync, outputs);
                match origin {
                    None => self.sync = Some((source, sequence, at)),
                    Some(origin) => self.synchronise(number, sequence, at, origin, outputs),
                }
            }
            Message::FollowUp { source, sequence, origin } if self.follows(number, source) => {
                let pending = self.sync.take_if(|(from, sync, _)| (*from, *sync) == (source, sequence));
                if let Some((.., at)) = pending {
                    self.synchronise(number, sequence, at, origin, outputs);
                }
            }
            Message::Sync { .. }
            | Message::FollowUp { .. }
            | Message::DelayReq { .. }
            | Message::DelayResp { .. } => {}
        }
    }

    /// Whether this instance follows the time of that source at this port.
    fn follows(&self, port: usize, source: PortIdentity) -> bool {
        let parent = self.elected.as_ref().map(|(best, ..)| best.parent(port));
        self.slave == Some(port) && parent.is_none_or(|parent| parent == Some(source))
    }

    /// Handles a complete Sync.
    fn synchronise(
        &mut self,
        number: usize,
        sequence: u16,
        at: Stamp,
        origin: Origin,
        outputs: &mut Vec<Output>,
    ) {
        let Some(port) = self.ports.get_mut(number) else { return };
        // A port without a known delay cannot transport time (`asCapable`).
        let (delay, neighbour) = match self.delay {
            DelayMechanism::PeerToPeer => (port.pdelay.mean_link_delay(), port.pdelay.neighbour_rate()),
            DelayMechanism::EndToEnd => {
                port.end_to_end.sync(origin.time + origin.correction, at);
                (port.end_to_end.mean_path_delay(), Frequency::NOMINAL)
            }
        };
        let Some(delay) = delay else { return };
        let upstream = Frequency::from(origin.rate);
        let rate = upstream.times(neighbour);
        let correction = origin.correction + upstream.scale(delay);
        let received = ReceivedSync { sequence, at, origin: origin.time, correction, rate };
        self.received = Some(received);
        if let Some(correction) = self.servo.sample(received.offset(), at.local) {
            outputs.push(Output::Correct(correction));
        }
        if self.profile == Profile::TimeAware {
            self.send_syncs(sequence, outputs);
        }
    }

    fn receive_announce(&mut self, port: usize, announce: &crate::Announce, outputs: &mut Vec<Output>) {
        let Some((best, ..)) = &mut self.elected else { return };
        if best.receive_announce(port, announce) {
            self.restart_timer(port, TimerKind::Announce, outputs);
            self.elect(outputs);
        }
    }

    /// Restarts the receipt timeout after a message.
    fn restart_timer(&mut self, number: usize, kind: TimerKind, outputs: &mut Vec<Output>) {
        let (Some((_, announce, sync)), Some(port)) = (&self.elected, self.ports.get_mut(number)) else {
            return;
        };
        let (count, after) = match kind {
            TimerKind::Announce => (&mut port.announces, Some(*announce)),
            TimerKind::Sync => (&mut port.syncs, *sync),
        };
        *count += 1;
        if let Some(after) = after {
            outputs.push(Output::StartTimer { timer: Timer { port: number, kind, count: *count }, after });
        }
    }

    fn timer_expired(&mut self, timer: Timer, outputs: &mut Vec<Output>) {
        let Some(port) = self.ports.get(timer.port) else { return };
        let count = match timer.kind {
            TimerKind::Announce => port.announces,
            TimerKind::Sync => port.syncs,
        };
        // A port that is no longer the slave port expects no Sync.
        let current = timer.kind == TimerKind::Announce || self.slave == Some(timer.port);
        if count == timer.count && current {
            if let Some((best, ..)) = &mut self.elected {
                best.announce_timeout(timer.port);
            }
            self.elect(outputs);
        }
    }

    /// Repeats the election. An instance with another grandmaster, or another path to it, announces that at once.
    fn elect(&mut self, outputs: &mut Vec<Output>) {
        let Some((best, ..)) = &mut self.elected else { return };
        best.select_roles();
        let announce = best.announce(0).map(|announce| announce.vector);
        let changed = announce != self.announced;
        self.announced = announce;
        self.update_roles();
        if changed {
            self.announce(outputs);
        }
    }

    fn update_roles(&mut self) {
        let Some((best, ..)) = &self.elected else { return };
        let slave = best.slave();
        let parent = slave.and_then(|port| best.parent(port));
        if (slave, parent) != (self.slave, self.parent) {
            (self.slave, self.parent) = (slave, parent);
            // Measurements against another master are not valid for this one.
            self.sync = None;
            self.received = None;
            if let Some(port) = slave.and_then(|port| self.ports.get_mut(port)) {
                port.end_to_end = EndToEnd::default();
            }
        }
        for (port, role) in self.roles.iter_mut().enumerate() {
            *role = best.role(port);
        }
    }
}
