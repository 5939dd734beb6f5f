//! The nodes' clocks in a run, and gPTP among them.
//!
//! It exists only if the Plan has clocks. The kernel asks it for maps between true and local time and reports the PTP
//! messages that ports have sent; it answers with [`Command`]s for the kernel.

use crate::clocks::apart::Apart;
use crate::clocks::ptp_taps::PtpTaps;
use crate::clocks::role::PtpRole;
use crate::ids::{FaultId, HopId, NodeId, PortId, StreamId};
use crate::kernel::event::Frame;
use crate::random::Draws;
use crate::slab::Slab;
use tsn_clock::{Input, Message, NodeClock, Oscillator, Output, Profile, PtpClock, Stamp, Timer};
use tsn_observation::ClockError;
use tsn_plan::{ClockFault, Gptp, duration};
use tsn_units::{ClockMap, Duration, Free, Frequency, Instant, Local, True};

/// A future event of clocks or messages.
#[derive(Clone, Debug)]
pub(crate) enum Pending {
    /// A node's oscillator changes its frequency.
    Oscillator { node: NodeId },
    /// The errors of all clocks are recorded.
    Record,
    /// A node sends its next Sync.
    Sync { node: NodeId },
    /// A node sends its next Announce.
    Announce { node: NodeId },
    /// A timer of a PTP clock expires, unless it has been restarted since.
    TimerExpired { node: NodeId, timer: Timer, restarts: u32 },
    /// A fault begins or ends.
    Fault { number: FaultId, begins: bool },
    /// A port sends its next Pdelay request.
    Pdelay { port: PortId },
    /// Software hands a message to a port.
    Send { port: PortId, message: Message },
    /// A port has sent an event message, which passed the timestamp point at `at`.
    Sent { port: PortId, message: Message, at: Instant },
    /// A port has received a message, which passed the timestamp point at `at`.
    Received { port: PortId, message: Message, at: Instant },
}

/// A command to the kernel.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Command {
    /// Schedule [`crate::kernel::event::EventKind::Timing`] with this number.
    Schedule { at: Instant, node: NodeId, number: u32 },
    /// Put a frame into its port's queue.
    Arrive(Frame),
    /// A node's clock has changed: the kernel informs its gates and talkers.
    Changed { node: NodeId },
    /// Record the error of a clock.
    Record(ClockError),
}

/// The next release of a stream's talker: on its node's clock, and in true time.
#[derive(Copy, Clone, Debug)]
pub(crate) struct PlannedRelease {
    local: Instant<Local>,
    at: Instant,
}

/// The clock, the oscillator and the PTP role of one node.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) clock: NodeClock,
    pub(crate) oscillator: Oscillator,
    /// The oscillator's frequency without jumps, and the sum of jumps.
    pub(crate) frequency: Frequency,
    pub(crate) jump_ppt: i64,
    pub(crate) wander: Draws,
    pub(crate) stamp: Draws,
    pub(crate) jitter_ps: u64,
    pub(crate) wakeup: Draws,
    /// The role in PTP, and the clock that has it; none while PTP is down.
    pub(crate) role: Option<PtpRole>,
    pub(crate) machine: Option<PtpClock>,
    /// The grandmaster that the node follows, or followed last.
    pub(crate) root: Option<NodeId>,
    pub(crate) restarts: u32,
    /// The node's ports, in the Plan's order: a PTP instance counts them from 0.
    pub(crate) ports: Vec<PortId>,
    pub(crate) streams: Vec<StreamId>,
}

/// The timestamps of a message on a link.
#[derive(Copy, Clone, Debug)]
pub(crate) struct InTransit {
    /// When the message passes the timestamp point at the sending port.
    pub stamped: Instant,
    pub last_bit: Instant,
    pub propagation: Duration,
    pub lost: bool,
}

/// Every clock, every PTP instance.
#[derive(Debug)]
pub(crate) struct Timing {
    pub(crate) nodes: Vec<Node>,
    /// For every port: its node, its index there, its peer.
    pub(crate) ports: Vec<(NodeId, u32, PortId)>,
    pub(crate) gptp: Option<Gptp>,
    pub(crate) profile: Profile,
    pub(crate) faults: Vec<ClockFault>,
    pub(crate) apart: Apart,
    pub(crate) record: Duration,
    pub(crate) pending: Slab<Pending>,
    /// Messages in queues.
    pub(crate) messages: Slab<Message>,
    pub(crate) planned_releases: Vec<Option<PlannedRelease>>,
    /// For every port, the hop of its messages.
    pub(crate) hops: Vec<Option<HopId>>,
    pub(crate) outputs: Vec<Output>,
    /// The taps of PTP messages, if there are any.
    pub(crate) taps: Option<Box<PtpTaps>>,
}

impl Timing {
    /// The clock of a node until its next change.
    #[inline]
    pub fn clock(&self, node: NodeId) -> &ClockMap<True, Local> {
        self.nodes[node].clock.local()
    }

    /// The time that a node's oscillator counts, without the adjustments of its clock.
    pub fn oscillator(&self, node: NodeId) -> &ClockMap<True, Free> {
        self.nodes[node].clock.free()
    }

    /// A node's ports.
    pub fn ports(&self, node: NodeId) -> &[PortId] {
        &self.nodes[node].ports
    }

    /// Plans a talker's next release on its node's clock; returns it in true time.
    #[cold]
    #[inline(never)]
    pub fn plan_release(
        &mut self,
        stream: StreamId,
        node: NodeId,
        timetable: Instant<Local>,
        now: Instant,
    ) -> Instant {
        let at = self.clock(node).inverse(timetable).max(now);
        self.planned_releases[stream] = Some(PlannedRelease { local: timetable, at });
        at
    }

    /// Whether this release event is still the planned one; if not, the release has been moved.
    #[cold]
    #[inline(never)]
    pub fn is_due(&mut self, stream: StreamId, now: Instant) -> bool {
        let planned = &mut self.planned_releases[stream];
        let due = planned.is_some_and(|planned| planned.at == now);
        if due {
            *planned = None;
            if !self.apart.begun {
                self.apart.begun = true;
                self.compare(now);
            }
        }
        due
    }

    /// Compares all clocks, before or after one of them changes.
    pub fn compare(&mut self, now: Instant) {
        let Self { apart, nodes, .. } = self;
        apart.compare(now, |node| nodes[node].clock.local().forward(now));
    }

    /// Collects the releases whose true time has changed with a node's clock.
    pub fn replan_releases(&mut self, node: NodeId, now: Instant, changed: &mut Vec<(StreamId, Instant)>) {
        let node = &self.nodes[node];
        for stream in &node.streams {
            if let Some(planned) = &mut self.planned_releases[*stream] {
                let at = node.clock.local().inverse(planned.local).max(now);
                if at != planned.at {
                    planned.at = at;
                    changed.push((*stream, at));
                }
            }
        }
    }

    /// A port begins to send a PTP message; its peer receives it at `arrival`, if the link does not lose it. Returns
    /// its kind, number and octets if taps observe it.
    pub fn sent(
        &mut self,
        port: PortId,
        frame: Frame,
        transit: InTransit,
        commands: &mut Vec<Command>,
    ) -> Option<(usize, u64, Vec<u8>)> {
        let message = self.messages.take(frame.seq as u32)?;
        let InTransit { stamped, last_bit, propagation, lost } = transit;
        let (node, _, peer) = self.ports[port];
        let message = if matches!(message, Message::Sync { origin: Some(_), .. }) {
            let at = self.stamp(node, stamped);
            match &mut self.nodes[node].machine {
                Some(machine) => machine.on_departure(message, at),
                None => message,
            }
        } else {
            message
        };
        let (ports, profile) = (&self.ports, self.profile);
        let seen = self.taps.as_mut().and_then(|taps| taps.see(ports, profile, port, &message));
        if message.is_event() {
            let sent = Pending::Sent { port, message: message.clone(), at: stamped };
            self.schedule_at(last_bit, node, sent, commands);
        }
        if !lost {
            let at = stamped + propagation;
            let peers_node = self.ports[peer].0;
            let received = Pending::Received { port: peer, message, at };
            self.schedule_at(last_bit + propagation, peers_node, received, commands);
        }
        seen
    }

    /// Keeps the memory of octets that [`Self::sent`] returned.
    pub fn seen(&mut self, octets: Vec<u8>) {
        if let Some(taps) = &mut self.taps {
            taps.keep(octets);
        }
    }

    /// A port dropped a PTP message.
    #[cold]
    #[inline(never)]
    pub fn dropped(&mut self, frame: Frame) {
        self.messages.take(frame.seq as u32);
    }

    /// Number of PTP messages in queues.
    pub fn queued(&self) -> usize {
        self.messages.len()
    }

    /// Handles the event with this number.
    pub fn handle(&mut self, number: u32, now: Instant, commands: &mut Vec<Command>) {
        let Some(pending) = self.pending.take(number) else { return };
        match pending {
            Pending::Oscillator { node } => {
                self.compare(now);
                self.frequency(node, now, commands);
                commands.push(Command::Changed { node });
            }
            Pending::Record => {
                self.record_errors(now, commands);
                self.schedule_at(now + self.record, NodeId(0), Pending::Record, commands);
            }
            Pending::Sync { node } => {
                let Some(interval) = self.gptp.as_ref().map(|it| it.sync_interval_ns) else { return };
                self.schedule_again(node, interval, now, pending, commands);
                self.deliver(node, Input::SyncDue, now, commands);
            }
            Pending::Announce { node } => {
                let bmca = self.gptp.as_ref().and_then(|it| it.bmca.as_ref());
                let Some(interval) = bmca.map(|it| it.announce_interval_ns) else { return };
                self.schedule_again(node, interval, now, pending, commands);
                self.deliver(node, Input::AnnounceDue, now, commands);
            }
            Pending::TimerExpired { node, timer, restarts } => {
                if self.nodes[node].restarts == restarts {
                    self.deliver(node, Input::TimerExpired(timer), now, commands);
                }
            }
            Pending::Fault { number, begins } => {
                self.compare(now);
                self.fault(number, begins, now, commands);
                self.compare(now);
            }
            Pending::Pdelay { port } => {
                let Some(interval) = self.gptp.as_ref().map(|it| it.pdelay_interval_ns) else { return };
                let (node, place, _) = self.ports[port];
                self.schedule_again(node, interval, now, pending, commands);
                self.deliver(node, Input::PdelayDue { port: place as usize }, now, commands);
            }
            Pending::Send { port, message } => {
                if let Some(hop) = self.hops[port] {
                    let octets = message.frame(self.profile).0;
                    let number = self.messages.put(message);
                    commands.push(Command::Arrive(Frame::new(u64::from(number), hop, octets)));
                }
            }
            Pending::Sent { port, message, at } => {
                let (node, place, _) = self.ports[port];
                let at = self.stamp(node, at);
                self.deliver(node, Input::Sent { port: place as usize, message, at }, now, commands);
            }
            Pending::Received { port, message, at } => {
                let (node, place, _) = self.ports[port];
                let at = self.stamp(node, at);
                self.deliver(node, Input::Received { port: place as usize, message, at }, now, commands);
            }
        }
    }

    fn deliver(&mut self, number: NodeId, input: Input, now: Instant, commands: &mut Vec<Command>) {
        let Some(node) = self.nodes.get_mut(number.index()) else { return };
        let Some(machine) = &mut node.machine else { return };
        let mut outputs = std::mem::take(&mut self.outputs);
        machine.handle(input, &mut outputs);
        node.root = machine.grandmaster().map(NodeId).or(node.root);
        let restarts = node.restarts;
        for output in outputs.drain(..) {
            match output {
                Output::Send { port: place, message } => {
                    let node = &mut self.nodes[number];
                    let wakeup_ns = self.gptp.as_ref().map_or(0, |gptp| gptp.wakeup_ns);
                    let late = node.wakeup.below(wakeup_ns.saturating_mul(1_000).saturating_add(1));
                    let Some(port) = node.ports.get(place).copied() else { continue };
                    self.schedule_at(
                        now + Duration::from_ps(late as i64),
                        number,
                        Pending::Send { port, message },
                        commands,
                    );
                }
                Output::StartTimer { timer, after } => {
                    let clock = self.clock(number);
                    let at = clock.inverse(clock.forward(now) + after).max(now);
                    self.schedule_at(
                        at,
                        number,
                        Pending::TimerExpired { node: number, timer, restarts },
                        commands,
                    );
                }
                Output::Correct(correction) => {
                    self.compare(now);
                    let clock = &mut self.nodes[number].clock;
                    if let Some(step) = correction.step {
                        clock.step(step);
                    }
                    clock.adjust(now, correction.frequency);
                    self.compare(now);
                    commands.push(Command::Changed { node: number });
                }
            }
        }
        self.outputs = outputs;
    }

    /// Draws the next frequency of a node's oscillator.
    pub(crate) fn frequency(&mut self, number: NodeId, now: Instant, commands: &mut Vec<Command>) {
        let node = &mut self.nodes[number];
        let draws = &mut node.wander;
        let segment = node.oscillator.segment(now, |bound| draws.below(bound));
        node.frequency = segment.frequency;
        let frequency = if node.jump_ppt == 0 {
            segment.frequency
        } else {
            segment.frequency.times(Frequency::from_ppt(node.jump_ppt))
        };
        node.clock.set_oscillator(now, frequency);
        if segment.until < Instant::MAX {
            self.schedule_at(segment.until, number, Pending::Oscillator { node: number }, commands);
        }
    }

    fn stamp(&mut self, node: NodeId, at: Instant) -> Stamp {
        let node = &mut self.nodes[node];
        let jitter = if node.jitter_ps == 0 { 0 } else { node.stamp.below(node.jitter_ps + 1) };
        node.clock.stamp(at, Duration::from_ps(jitter as i64))
    }

    /// Schedules a pending event again, one interval later on the node's clock.
    fn schedule_again(
        &mut self,
        node: NodeId,
        interval_ns: u64,
        now: Instant,
        pending: Pending,
        commands: &mut Vec<Command>,
    ) {
        let clock = self.clock(node);
        let at = clock.inverse(clock.forward(now) + duration(interval_ns));
        self.schedule_at(at.max(now), node, pending, commands);
    }

    fn record_errors(&self, now: Instant, commands: &mut Vec<Command>) {
        for (number, node) in self.nodes.iter().enumerate() {
            let shown = node.clock.local().forward(now);
            let follows = match &node.role {
                Some(PtpRole::Instance(_)) => node.root,
                Some(PtpRole::Transparent { .. }) | None => None,
            };
            commands.push(Command::Record(ClockError {
                node: number as u32,
                t_ns: now.ticked_ns(1),
                error_ps: shown.ps() - now.ps(),
                offset_ps: follows.map(|master| (shown - self.clock(master).forward(now)).ps()),
            }));
        }
    }

    pub(crate) fn schedule_at(
        &mut self,
        at: Instant,
        node: NodeId,
        pending: Pending,
        commands: &mut Vec<Command>,
    ) {
        let number = self.pending.put(pending);
        commands.push(Command::Schedule { at, node, number });
    }
}
