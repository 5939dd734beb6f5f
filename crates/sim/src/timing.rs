//! The nodes' clocks in a run, and gPTP among them.
//!
//! Exists only where the Plan has clocks. The kernel asks it for maps between true and local time and hands it the
//! PTP messages that ports have sent; what follows comes back as [`Todo`]s for the kernel.

use crate::event::Frame;
use crate::network::Network;
use crate::random::Draws;
use tsn_clock::{
    Change, Input, Instance, Message, NodeClock, Oscillator, Output, PiParameters, PiServo, Stamp, Wander,
};
use tsn_observation::ClockError;
use tsn_plan::{Clocks, Gptp, Plan};
use tsn_units::{ClockMap, Duration, Instant, Local, True};

/// First requests for a link's delay go out within this, so that time can be passed on soon.
const FIRST_PDELAY_WITHIN_PS: u64 = 10_000_000_000;

/// Something that will happen to clocks or messages.
#[derive(Copy, Clone, Debug)]
enum Due {
    /// A node's oscillator changes its pace.
    Oscillator { node: u32 },
    /// All errors are noted.
    Record,
    /// The grandmaster's next Sync.
    Sync,
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
    wander: Draws,
    stamp: Draws,
    jitter_ps: u64,
    wakeup: Draws,
    instance: Option<Instance>,
    /// Its ports, in the Plan's order: an instance counts them from 0.
    ports: Vec<u32>,
    streams: Vec<u32>,
}

/// Every clock, every PTP instance.
#[derive(Debug)]
pub(crate) struct Timing {
    nodes: Vec<Node>,
    /// Of every port: its node, its place there, its peer.
    ports: Vec<(u32, u32, u32)>,
    gptp: Option<Gptp>,
    record: Duration,
    due: Slab<Due>,
    /// Messages in queues.
    messages: Slab<Message>,
    armed: Vec<Option<Armed>>,
    /// For every port, the hop of its messages.
    hops: Vec<Option<u32>>,
    outputs: Vec<Output>,
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
            record: ns(clocks.record_ns),
            due: Slab::new(),
            messages: Slab::new(),
            armed: vec![None; plan.streams.len()],
            hops: network.timing.clone(),
            outputs: Vec::new(),
        };
        for node in 0..timing.nodes.len() as u32 {
            timing.pace(node, Instant::EPOCH, todo);
        }
        timing.plan_at(Instant::EPOCH + timing.record, 0, Due::Record, todo);
        if let Some(gptp) = &clocks.gptp {
            timing.begin(plan, gptp, todo);
        }
        timing
    }

    /// Roles as the Plan says, and first messages.
    fn begin(&mut self, plan: &Plan, gptp: &Gptp, todo: &mut Vec<Todo>) {
        let interval = ns(gptp.sync_interval_ns);
        let mut roles: Vec<(Option<usize>, Vec<usize>, bool)> =
            vec![(None, Vec::new(), false); self.nodes.len()];
        roles[gptp.grandmaster as usize].2 = true;
        let mut talking = Vec::new();
        for slave in &gptp.slaves {
            let (node, place, peer) = self.ports[*slave as usize];
            let (parent, at_parent, _) = self.ports[peer as usize];
            roles[node as usize].0 = Some(place as usize);
            roles[node as usize].2 = true;
            roles[parent as usize].1.push(at_parent as usize);
            talking.extend([*slave, peer]);
        }
        for (node, (slave, masters, takes_part)) in self.nodes.iter_mut().zip(roles) {
            let servo = PiServo::new(PiParameters::default(), interval);
            node.instance = takes_part.then(|| Instance::new(node.ports.len(), slave, &masters, servo));
        }
        for port in talking {
            let name = format!("gptp/{}/pdelay", plan.ports[port as usize].name);
            let first = Draws::new(plan.seed, &name).below(FIRST_PDELAY_WITHIN_PS);
            let node = self.ports[port as usize].0;
            self.plan_at(Instant::from_ps(first as i64), node, Due::Pdelay { port }, todo);
        }
        self.plan_at(Instant::EPOCH + interval, gptp.grandmaster, Due::Sync, todo);
    }

    /// A node's clock until the next change.
    #[inline]
    pub fn clock(&self, node: u32) -> &ClockMap<True, Local> {
        self.nodes[node as usize].clock.local()
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

    /// A port begins to send one of our messages; its peer will have it at `arrival`.
    pub fn sent(
        &mut self,
        port: u32,
        frame: Frame,
        stamped: Instant,
        last_bit: Instant,
        propagation: Duration,
        todo: &mut Vec<Todo>,
    ) {
        let Some(message) = self.messages.take(frame.seq) else { return };
        let (node, _, peer) = self.ports[port as usize];
        if message.is_event() {
            self.plan_at(last_bit, node, Due::Sent { port, message, at: stamped }, todo);
        }
        let at = stamped + propagation;
        let peers_node = self.ports[peer as usize].0;
        self.plan_at(last_bit + propagation, peers_node, Due::Received { port: peer, message, at }, todo);
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
            Due::Sync => {
                let Some((node, interval)) =
                    self.gptp.as_ref().map(|it| (it.grandmaster, it.sync_interval_ns))
                else {
                    return;
                };
                self.again(node, interval, now, due, todo);
                self.tell(node, Input::SyncDue, now, todo);
            }
            Due::Pdelay { port } => {
                let Some(interval) = self.gptp.as_ref().map(|it| it.pdelay_interval_ns) else { return };
                let (node, place, _) = self.ports[port as usize];
                self.again(node, interval, now, due, todo);
                self.tell(node, Input::PdelayDue { port: place as usize }, now, todo);
            }
            Due::Send { port, message } => {
                if let Some(hop) = self.hops[port as usize] {
                    let octets = message.frame().0;
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
        let Some(instance) = &mut node.instance else { return };
        let mut outputs = std::mem::take(&mut self.outputs);
        instance.handle(input, &mut outputs);
        for output in outputs.drain(..) {
            match output {
                Output::Send { port: place, message } => {
                    let node = &mut self.nodes[number as usize];
                    let wakeup_ns = self.gptp.as_ref().map_or(0, |gptp| gptp.wakeup_ns);
                    let late = node.wakeup.below(wakeup_ns.saturating_mul(1_000).saturating_add(1));
                    let port = node.ports[place];
                    self.plan_at(
                        now + Duration::from_ps(late as i64),
                        number,
                        Due::Send { port, message },
                        todo,
                    );
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
        node.clock.set_oscillator(now, segment.pace);
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
        let master =
            self.gptp.as_ref().map(|gptp| (gptp.grandmaster, self.clock(gptp.grandmaster).there(now)));
        for (number, node) in self.nodes.iter().enumerate() {
            let shown = node.clock.local().there(now);
            let follows = node.instance.is_some();
            todo.push(Todo::Note(ClockError {
                node: number as u32,
                t_ns: now.ticked_ns(1),
                error_ps: shown.ps() - now.ps(),
                offset_ps: master.filter(|_| follows).map(|(_, master)| (shown - master).ps()),
            }));
        }
    }

    fn plan_at(&mut self, at: Instant, node: u32, due: Due, todo: &mut Vec<Todo>) {
        let number = self.due.put(due);
        todo.push(Todo::Schedule { at, node, number });
    }
}

fn new_node(seed: u64, name: &str, clock: &tsn_plan::NodeClock) -> Node {
    let change = |change: &tsn_plan::Change| Change {
        at: Instant::EPOCH + ns(change.at_ns),
        ppt: change.deviation_ppt,
    };
    let wander = clock.wander.map(|it| Wander { most_ppt: it.most_ppt, every: ns(it.every_ns) });
    let changes = clock.changes.iter().map(change).collect();
    let draws = |what: &str| Draws::new(seed, &format!("clock/{name}/{what}"));
    Node {
        clock: NodeClock::new(Duration::from_ns(clock.offset_ns), i64::from(clock.granularity_ns)),
        oscillator: Oscillator::new(clock.deviation_ppt, changes, wander),
        wander: draws("wander"),
        stamp: draws("stamp"),
        jitter_ps: u64::from(clock.jitter_ns) * 1_000,
        wakeup: draws("wakeup"),
        instance: None,
        ports: Vec::new(),
        streams: Vec::new(),
    }
}
