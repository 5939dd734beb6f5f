//! The nodes' clocks in a run, and gPTP among them.
//!
//! Exists only where the Plan has clocks. The kernel asks it for maps between true and local time and hands it the
//! PTP messages that ports have sent; what follows comes back as [`Todo`]s for the kernel.

mod faults;
mod setup;
mod sighted;

use crate::event::Frame;
use crate::network::Network;
use crate::random::Draws;
use setup::{Part, new_node, profile};
use sighted::Sighted;
pub(crate) use sighted::legend;
use tsn_clock::{Input, Machine, Message, NodeClock, Oscillator, Output, Profile, Stamp, Watch};
use tsn_observation::ClockError;
use tsn_plan::{ClockFault, Clocks, Gptp, Plan};
use tsn_units::{ClockMap, Duration, Free, Frequency, Instant, Local, True};

/// First requests for a link's delay go out within this, so that time can be passed on soon.
const FIRST_PDELAY_WITHIN_PS: u64 = 10_000_000_000;

/// Something that will happen to clocks or messages.
#[derive(Clone, Debug)]
enum Due {
    /// A node's oscillator changes its pace.
    Oscillator { node: u32 },
    /// All errors are noted.
    Record,
    /// A node's next Sync.
    Sync { node: u32 },
    /// A node's next Announce.
    Announce { node: u32 },
    /// A time is over that a node's machine, if it is still the same, wanted to be told of.
    Watched { node: u32, watch: Watch, restarts: u32 },
    /// A fault begins or ends.
    Fault { number: u32, begins: bool },
    /// A port's next request.
    Pdelay { port: u32 },
    /// Software hands a message to a port.
    Send { port: u32, message: Message },
    /// A port has sent an event message, which passed the timestamp point at `at`.
    Sent { port: u32, message: Message, at: Instant },
    /// A port has received a message, which passed the timestamp point at `at`.
    Received { port: u32, message: Message, at: Instant },
}

/// What the kernel is to do.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Todo {
    /// Schedule [`crate::event::What::Timing`] with this number.
    Schedule { at: Instant, node: u32, number: u64 },
    /// Put a frame into its port's queue.
    Arrive(Frame),
    /// A node's clock has changed: its gates and talkers have to know.
    Changed { node: u32 },
    /// Hand over.
    Note(ClockError),
}

/// Numbered things that come and go.
#[derive(Debug)]
struct Slab<T> {
    things: Vec<Option<T>>,
    free: Vec<usize>,
}

impl<T> Slab<T> {
    const fn new() -> Self {
        Self { things: Vec::new(), free: Vec::new() }
    }

    fn put(&mut self, thing: T) -> u64 {
        match self.free.pop() {
            Some(place) => {
                self.things[place] = Some(thing);
                place as u64
            }
            None => {
                self.things.push(Some(thing));
                self.things.len() as u64 - 1
            }
        }
    }

    fn take(&mut self, number: u64) -> Option<T> {
        let thing = self.things.get_mut(number as usize)?.take();
        if thing.is_some() {
            self.free.push(number as usize);
        }
        thing
    }

    fn len(&self) -> usize {
        self.things.len() - self.free.len()
    }
}

/// When a stream's talker releases next: on its node's clock, and what that is in true time.
#[derive(Copy, Clone, Debug)]
struct Armed {
    local: Instant<Local>,
    at: Instant,
}

/// One node.
#[derive(Debug)]
struct Node {
    clock: NodeClock,
    oscillator: Oscillator,
    /// The oscillator's pace without jumps, and what jumps add to it.
    pace: Frequency,
    jump_ppt: i64,
    wander: Draws,
    stamp: Draws,
    jitter_ps: u64,
    wakeup: Draws,
    /// Its part in PTP, and the machine that plays it; that is gone while PTP is down.
    part: Option<Part>,
    machine: Option<Machine>,
    /// Whose time it follows, or followed last.
    root: Option<u32>,
    restarts: u32,
    /// Its ports, in the Plan's order: an instance counts them from 0.
    ports: Vec<u32>,
    streams: Vec<u32>,
}

/// How a message passes a link.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Passing {
    /// When it passes the timestamp point on its way out.
    pub stamped: Instant,
    pub last_bit: Instant,
    pub propagation: Duration,
    pub lost: bool,
}

/// Every clock, every PTP instance.
#[derive(Debug)]
pub(crate) struct Timing {
    nodes: Vec<Node>,
    /// Of every port: its node, its place there, its peer.
    ports: Vec<(u32, u32, u32)>,
    gptp: Option<Gptp>,
    profile: Profile,
    faults: Vec<ClockFault>,
    record: Duration,
    due: Slab<Due>,
    /// Messages in queues.
    messages: Slab<Message>,
    armed: Vec<Option<Armed>>,
    /// For every port, the hop of its messages.
    hops: Vec<Option<u32>>,
    outputs: Vec<Output>,
    /// Where taps sight messages.
    sighted: Option<Box<Sighted>>,
}

fn ns(ns: u64) -> Duration {
    Duration::from_ns(i64::try_from(ns).unwrap_or(i64::MAX))
}

impl Timing {
    /// The clocks of a Plan whose consistency is proved, and what is due first.
    pub fn new(plan: &Plan, clocks: &Clocks, network: &Network, todo: &mut Vec<Todo>) -> Self {
        let mut nodes: Vec<Node> = clocks
            .nodes
            .iter()
            .zip(&plan.nodes)
            .map(|(clock, node)| new_node(plan.seed, &node.name, clock))
            .collect();
        let mut ports = Vec::with_capacity(plan.ports.len());
        for (number, port) in plan.ports.iter().enumerate() {
            let own = &mut nodes[port.node as usize].ports;
            ports.push((port.node, own.len() as u32, port.peer));
            own.push(number as u32);
        }
        for (number, stream) in plan.streams.iter().enumerate() {
            nodes[stream.talker as usize].streams.push(number as u32);
        }
        let mut timing = Self {
            nodes,
            ports,
            gptp: clocks.gptp.clone(),
            profile: clocks.gptp.as_ref().map_or(Profile::default(), profile),
            faults: clocks.faults.clone(),
            record: ns(clocks.record_ns),
            due: Slab::new(),
            messages: Slab::new(),
            armed: vec![None; plan.streams.len()],
            hops: network.timing.clone(),
            outputs: Vec::new(),
            sighted: clocks
                .gptp
                .as_ref()
                .is_some_and(|gptp| gptp.visible)
                .then(|| Box::new(Sighted::new(plan))),
        };
        for node in 0..timing.nodes.len() as u32 {
            timing.pace(node, Instant::EPOCH, todo);
        }
        timing.plan_at(Instant::EPOCH + timing.record, 0, Due::Record, todo);
        if let Some(gptp) = &clocks.gptp {
            timing.begin(plan, gptp, todo);
        }
        timing.expect_faults(todo);
        timing
    }

    /// A node's clock until the next change.
    #[inline]
    pub fn clock(&self, node: u32) -> &ClockMap<True, Local> {
        self.nodes[node as usize].clock.local()
    }

    /// What a node's oscillator counts, however its clock is steered.
    pub fn oscillator(&self, node: u32) -> &ClockMap<True, Free> {
        self.nodes[node as usize].clock.free()
    }

    /// A node's ports.
    pub fn ports(&self, node: u32) -> &[u32] {
        &self.nodes[node as usize].ports
    }

    /// A talker's next release, in its timetable's time, which is its node's: gives it in true time.
    #[cold]
    #[inline(never)]
    pub fn arm(&mut self, stream: u32, node: u32, timetable: Instant, now: Instant) -> Instant {
        let local = Instant::from_ps(timetable.ps());
        let at = self.clock(node).back(local).max(now);
        self.armed[stream as usize] = Some(Armed { local, at });
        at
    }

    /// Whether a release that comes now is meant, or has been put off or forward since.
    #[cold]
    #[inline(never)]
    pub fn releases(&mut self, stream: u32, now: Instant) -> bool {
        let armed = &mut self.armed[stream as usize];
        let meant = armed.is_some_and(|armed| armed.at == now);
        if meant {
            *armed = None;
        }
        meant
    }

    /// After a change of a node's clock: the releases that come at other times than they would have.
    pub fn rearm(&mut self, node: u32, now: Instant, changed: &mut Vec<(u32, Instant)>) {
        let node = &self.nodes[node as usize];
        for stream in &node.streams {
            if let Some(armed) = &mut self.armed[*stream as usize] {
                let at = node.clock.local().back(armed.local).max(now);
                if at != armed.at {
                    armed.at = at;
                    changed.push((*stream, at));
                }
            }
        }
    }

    /// A port begins to send one of our messages; its peer will have it at `arrival`, if the link does not lose it.
    /// Gives its kind, number and octets where taps sight it.
    pub fn sent(
        &mut self,
        port: u32,
        frame: Frame,
        passing: Passing,
        todo: &mut Vec<Todo>,
    ) -> Option<(usize, u64, Vec<u8>)> {
        let message = self.messages.take(frame.seq)?;
        let Passing { stamped, last_bit, propagation, lost } = passing;
        let (node, _, peer) = self.ports[port as usize];
        let message = if matches!(message, Message::Sync { origin: Some(_), .. }) {
            let at = self.stamp(node, stamped);
            match &mut self.nodes[node as usize].machine {
                Some(machine) => machine.departs(message, at),
                None => message,
            }
        } else {
            message
        };
        let seen = if self.sighted.is_some() { self.see(port, &message) } else { None };
        if message.is_event() {
            let sent = Due::Sent { port, message: message.clone(), at: stamped };
            self.plan_at(last_bit, node, sent, todo);
        }
        if !lost {
            let at = stamped + propagation;
            let peers_node = self.ports[peer as usize].0;
            let received = Due::Received { port: peer, message, at };
            self.plan_at(last_bit + propagation, peers_node, received, todo);
        }
        seen
    }

    /// A port refused one of our messages.
    #[cold]
    #[inline(never)]
    pub fn dropped(&mut self, frame: Frame) {
        self.messages.take(frame.seq);
    }

    /// How many of our messages wait in queues.
    pub fn queued(&self) -> usize {
        self.messages.len()
    }

    /// What was scheduled under this number happens.
    pub fn handle(&mut self, number: u64, now: Instant, todo: &mut Vec<Todo>) {
        let Some(due) = self.due.take(number) else { return };
        match due {
            Due::Oscillator { node } => {
                self.pace(node, now, todo);
                todo.push(Todo::Changed { node });
            }
            Due::Record => {
                self.note(now, todo);
                self.plan_at(now + self.record, 0, Due::Record, todo);
            }
            Due::Sync { node } => {
                let Some(interval) = self.gptp.as_ref().map(|it| it.sync_interval_ns) else { return };
                self.again(node, interval, now, due, todo);
                self.tell(node, Input::SyncDue, now, todo);
            }
            Due::Announce { node } => {
                let bmca = self.gptp.as_ref().and_then(|it| it.bmca.as_ref());
                let Some(interval) = bmca.map(|it| it.announce_interval_ns) else { return };
                self.again(node, interval, now, due, todo);
                self.tell(node, Input::AnnounceDue, now, todo);
            }
            Due::Watched { node, watch, restarts } => {
                if self.nodes[node as usize].restarts == restarts {
                    self.tell(node, Input::Watched(watch), now, todo);
                }
            }
            Due::Fault { number, begins } => self.fault(number, begins, now, todo),
            Due::Pdelay { port } => {
                let Some(interval) = self.gptp.as_ref().map(|it| it.pdelay_interval_ns) else { return };
                let (node, place, _) = self.ports[port as usize];
                self.again(node, interval, now, due, todo);
                self.tell(node, Input::PdelayDue { port: place as usize }, now, todo);
            }
            Due::Send { port, message } => {
                if let Some(hop) = self.hops[port as usize] {
                    let octets = message.frame(self.profile).0;
                    todo.push(Todo::Arrive(Frame { seq: self.messages.put(message), hop, octets }));
                }
            }
            Due::Sent { port, message, at } => {
                let (node, place, _) = self.ports[port as usize];
                let at = self.stamp(node, at);
                self.tell(node, Input::Sent { port: place as usize, message, at }, now, todo);
            }
            Due::Received { port, message, at } => {
                let (node, place, _) = self.ports[port as usize];
                let at = self.stamp(node, at);
                self.tell(node, Input::Received { port: place as usize, message, at }, now, todo);
            }
        }
    }

    fn tell(&mut self, number: u32, input: Input, now: Instant, todo: &mut Vec<Todo>) {
        let Some(node) = self.nodes.get_mut(number as usize) else { return };
        let Some(machine) = &mut node.machine else { return };
        let mut outputs = std::mem::take(&mut self.outputs);
        machine.handle(input, &mut outputs);
        node.root = machine.grandmaster().or(node.root);
        let restarts = node.restarts;
        for output in outputs.drain(..) {
            match output {
                Output::Send { port: place, message } => {
                    let node = &mut self.nodes[number as usize];
                    let wakeup_ns = self.gptp.as_ref().map_or(0, |gptp| gptp.wakeup_ns);
                    let late = node.wakeup.below(wakeup_ns.saturating_mul(1_000).saturating_add(1));
                    let Some(port) = node.ports.get(place).copied() else { continue };
                    self.plan_at(
                        now + Duration::from_ps(late as i64),
                        number,
                        Due::Send { port, message },
                        todo,
                    );
                }
                Output::Watch { what: watch, after } => {
                    let clock = self.clock(number);
                    let at = clock.back(clock.there(now) + after).max(now);
                    self.plan_at(at, number, Due::Watched { node: number, watch, restarts }, todo);
                }
                Output::Correct(correction) => {
                    let clock = &mut self.nodes[number as usize].clock;
                    if let Some(step) = correction.step {
                        clock.step(step);
                    }
                    clock.adjust(now, correction.frequency);
                    todo.push(Todo::Changed { node: number });
                }
            }
        }
        self.outputs = outputs;
    }

    /// A node's oscillator runs on at its next pace.
    fn pace(&mut self, number: u32, now: Instant, todo: &mut Vec<Todo>) {
        let node = &mut self.nodes[number as usize];
        let draws = &mut node.wander;
        let segment = node.oscillator.segment(now, |bound| draws.below(bound));
        node.pace = segment.pace;
        let pace = if node.jump_ppt == 0 {
            segment.pace
        } else {
            segment.pace.times(Frequency::from_ppt(node.jump_ppt))
        };
        node.clock.set_oscillator(now, pace);
        if segment.until < Instant::MAX {
            self.plan_at(segment.until, number, Due::Oscillator { node: number }, todo);
        }
    }

    fn stamp(&mut self, node: u32, at: Instant) -> Stamp {
        let node = &mut self.nodes[node as usize];
        let jitter = if node.jitter_ps == 0 { 0 } else { node.stamp.below(node.jitter_ps + 1) };
        node.clock.stamp(at, Duration::from_ps(jitter as i64))
    }

    /// The same once more, an interval later on the node's clock.
    fn again(&mut self, node: u32, interval_ns: u64, now: Instant, due: Due, todo: &mut Vec<Todo>) {
        let clock = self.clock(node);
        let at = clock.back(clock.there(now) + ns(interval_ns));
        self.plan_at(at.max(now), node, due, todo);
    }

    fn note(&self, now: Instant, todo: &mut Vec<Todo>) {
        for (number, node) in self.nodes.iter().enumerate() {
            let shown = node.clock.local().there(now);
            let follows = match &node.part {
                Some(Part::Instance(_)) => node.root,
                Some(Part::Transparent { .. }) | None => None,
            };
            todo.push(Todo::Note(ClockError {
                node: number as u32,
                t_ns: now.ticked_ns(1),
                error_ps: shown.ps() - now.ps(),
                offset_ps: follows.map(|master| (shown - self.clock(master).there(now)).ps()),
            }));
        }
    }

    fn plan_at(&mut self, at: Instant, node: u32, due: Due, todo: &mut Vec<Todo>) {
        let number = self.due.put(due);
        todo.push(Todo::Schedule { at, node, number });
    }
}
