//! The software of hosts in a run: threads, queueing disciplines, and frames between them.
//!
//! It exists only if the Plan has hosts with software. OCORA Fig. 9.

use crate::ids::{NodeId, PortId, StreamId};
use crate::kernel::event::Frame;
use crate::network::tables::Network;
use crate::output::counters::QdiscCounters;
use crate::policing::state::PolicingResult;
use crate::random::Draws;
use crate::slab::Slab;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use tsn_host::{
    Actions, Distribution, HostTime, Packet, Passage, Processor, Qdisc, SocketOptions, Takes, Thread,
};
use tsn_plan::{Pattern, Plan, Socket};
use tsn_units::{Duration, Instant};

/// A latency and its random stream.
#[derive(Debug)]
pub(crate) struct Latency {
    distribution: Distribution,
    draws: Draws,
}

impl Latency {
    fn new(plan: &Plan, distribution: Option<&tsn_plan::Distribution>, name: &str) -> Self {
        Self { distribution: Distribution::new(distribution), draws: Draws::new(plan.seed, name) }
    }

    pub fn draw(&mut self) -> Duration {
        self.distribution.draw(|bound| self.draws.below(bound))
    }
}

/// A talker's frame on its way to the queueing disciplines.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Sent {
    pub stream: StreamId,
    pub seq: u64,
    pub octets: u32,
    pub txtime: Option<HostTime>,
    /// When the timer of its thread expired.
    pub expired: Instant,
    /// On a shared processor in the time of its programs.
    pub passage: Passage,
}

/// A future event in software.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Pending {
    /// A talker's frame reaches its queueing disciplines.
    Enter(Sent),
    /// The kernel of a shared processor has received a frame that it forwards.
    Received { frame: Frame, ingress: PortId },
    /// A forwarded frame reaches a queueing discipline.
    Forwarded { frame: Frame },
    /// The timer of a port's queueing discipline expires.
    Timer { port: PortId },
    /// The queueing disciplines of a port run, because their timer has expired.
    Expired { port: PortId },
    /// All timers of programs that expire now on a shared processor are known.
    Programs { processor: usize },
    /// The next frame of a program of a shared processor reaches its queueing disciplines, unless it was interrupted.
    Program { processor: usize },
    /// A shared processor begins the next work of an interrupt, if it has none.
    Interrupt { processor: usize },
}

/// Work of an interrupt of a shared processor.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Work {
    /// The timer of a port's queueing disciplines has expired.
    Timer { port: PortId },
    /// A frame has arrived.
    Receive { frame: Frame, copy: u8, arrival: Instant, passed: PolicingResult, passage: Option<u64> },
    /// A frame that the kernel has received over `ingress` goes on to the queueing disciplines of its next port.
    Forward { frame: Frame, ingress: PortId },
}

/// A processor that hosts share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub processor: Processor<Work>,
    /// Frames of programs whose timers expire now.
    pub due: Vec<Sent>,
    /// Frames of programs, in the order in which they reach the queueing disciplines.
    pub sent: VecDeque<Sent>,
    /// Whether an event comes at the end of the work that is known.
    pub expects: bool,
    /// How long the processor has worked for the next work already.
    pub entered: Duration,
}

/// The thread and socket of one stream.
#[derive(Debug)]
pub(crate) struct Talking {
    /// Its thread, unless it shares a processor.
    pub thread: Thread,
    pub wakeup: Latency,
    pub turn: Latency,
    pub send: Latency,
    pub qdisc: Latency,
    pub prepare: Latency,
    pub socket: Socket,
}

impl Talking {
    /// How long the stages take for the next frame.
    pub fn takes(&mut self) -> Takes {
        Takes {
            wakeup: self.wakeup.draw(),
            turn: self.turn.draw(),
            send: self.send.draw(),
            qdisc: self.qdisc.draw(),
            prepare: self.prepare.draw(),
        }
    }

    /// The options of the stream's socket that the queueing discipline sees.
    pub fn options(&self) -> SocketOptions {
        let Socket { txtime, deadline, other_clock, .. } = self.socket;
        SocketOptions { txtime, deadline, other_clock }
    }
}

/// The state of a host's port.
#[derive(Debug)]
pub(crate) struct HostPort {
    /// The queueing disciplines; without any, frames go to the driver at once.
    pub qdisc: Option<Qdisc<Frame>>,
    pub driver: Latency,
    pub tx: Latency,
    pub timer: Latency,
    pub forwarding: Latency,
    pub kernel_rx: Latency,
    pub finish: Latency,
    /// When the timer expires, and the number of its event.
    pub armed: Option<(HostTime, u32)>,
    /// How often in sequence the timer expired without a frame, and was set to the same instant.
    pub in_vain: u32,
    /// When the last frame reached the driver; frames do not overtake.
    pub at_driver: Instant,
    /// By class: when the last frame reached the hardware's queue; frames do not overtake.
    pub at_hardware: [Instant; 8],
    /// By ingress port: when the last frame that is forwarded here reached the queueing discipline.
    pub at_qdisc: BTreeMap<PortId, Instant>,
    /// When the kernel received the last frame.
    pub received: Instant,
}

/// A stream at a listener: its program, and when the program received the last frame.
#[derive(Debug)]
pub(crate) struct Listening {
    pub app_rx: Latency,
    pub received: Instant,
}

/// All hosts with software.
#[derive(Debug)]
pub(crate) struct Hosts {
    /// By stream; none if its talker is no host, or saturates.
    pub talking: Vec<Option<Box<Talking>>>,
    /// By node: the number of the processor that it shares.
    pub sharing: Vec<Option<usize>>,
    /// By node: programs with a lower number go first. Which one does is decided when they begin to sleep.
    pub turns: Vec<u64>,
    pub shared: Vec<Shared>,
    /// The ports of hosts, by port.
    pub ports: Vec<Option<Box<HostPort>>>,
    /// The listeners' programs by stream and node.
    pub listening: BTreeMap<(StreamId, NodeId), Listening>,
    pub pending: Slab<Pending>,
    /// Reused for its memory.
    pub actions: Actions<Frame>,
}

const NEVER: Instant = Instant::from_ps(i64::MIN);

impl Hosts {
    /// Reads the hosts of a checked Plan and marks the hops that lead to hosts. None if there are no hosts.
    pub fn new(plan: &Plan, network: &mut Network) -> Option<Box<Self>> {
        if plan.nodes.iter().all(|node| node.host.is_none()) {
            return None;
        }
        for hop in &mut network.hops {
            let peer = network.links[hop.port].peer;
            hop.special |= plan.nodes[peer].host.is_some() && !hop.timing;
        }
        let processor = |node: &tsn_plan::Node| node.host.as_deref().and_then(|host| host.processor);
        let numbers: BTreeSet<u32> = plan.nodes.iter().filter_map(processor).collect();
        let place = |number: u32| numbers.iter().position(|one| *one == number);
        let sharing = plan.nodes.iter().map(|node| processor(node).and_then(place)).collect();
        let shared = numbers.iter().map(|_| Shared::default()).collect();
        let turn = |name: &str| Draws::new(plan.seed, &format!("node/{name}/turn")).below(1 << 53);
        let turns = plan.nodes.iter().map(|node| processor(node).map_or(0, |_| turn(&node.name))).collect();
        let talking: Vec<_> = plan
            .streams
            .iter()
            .map(|stream| {
                let node = &plan.nodes[stream.talker as usize];
                let host = node.host.as_deref()?;
                if matches!(stream.pattern, Pattern::Saturating { .. }) {
                    // Frames always wait in the hardware's queue, so their time in software has no effect.
                    return None;
                }
                let latency = |of: &Option<tsn_plan::Distribution>, what: &str| {
                    Latency::new(plan, of.as_ref(), &format!("stream/{}/{what}", stream.name))
                };
                Some(Box::new(Talking {
                    thread: Thread::default(),
                    wakeup: latency(&host.wakeup, "wakeup"),
                    turn: latency(&host.turn, "turn"),
                    send: latency(&host.send, "send"),
                    qdisc: latency(&host.qdisc, "qdisc"),
                    prepare: latency(&host.prepare, "prepare"),
                    socket: stream.socket.as_deref().cloned().unwrap_or_default(),
                }))
            })
            .collect();
        let ports = plan.ports.iter().map(|port| {
            let host = plan.nodes[port.node as usize].host.as_deref()?;
            let latency = |of: &Option<tsn_plan::Distribution>, what: &str| {
                Latency::new(plan, of.as_ref(), &format!("port/{}/{what}", port.name))
            };
            Some(Box::new(HostPort {
                qdisc: port.qdisc.as_ref().map(|qdisc| Qdisc::new(port, qdisc)),
                driver: latency(&host.driver, "driver"),
                tx: latency(&host.tx, "tx"),
                timer: latency(&host.timer, "timer"),
                forwarding: latency(&host.qdisc, "forwarding"),
                kernel_rx: latency(&host.kernel_rx, "kernel-rx"),
                finish: latency(&host.finish, "finish"),
                armed: None,
                in_vain: 0,
                at_driver: NEVER,
                at_hardware: [NEVER; 8],
                at_qdisc: BTreeMap::new(),
                received: NEVER,
            }))
        });
        let mut listening = BTreeMap::new();
        for (number, stream) in plan.streams.iter().enumerate() {
            for listener in &stream.listeners {
                let node = &plan.nodes[listener.node as usize];
                let Some(host) = node.host.as_deref() else { continue };
                let name = format!("stream/{}/{}/app-rx", stream.name, node.name);
                let app_rx = Latency::new(plan, host.app_rx.as_ref(), &name);
                listening.insert(
                    (StreamId::at(number), NodeId(listener.node)),
                    Listening { app_rx, received: NEVER },
                );
            }
        }
        let (ports, actions) = (ports.collect(), Actions::default());
        let pending = Slab::default();
        Some(Box::new(Self { talking, sharing, turns, shared, ports, listening, pending, actions }))
    }

    /// Whether a stream's talker is a thread of a host.
    #[inline]
    pub fn talks(&self, stream: StreamId) -> bool {
        self.talking.get(stream.index()).is_some_and(Option::is_some)
    }

    /// Number of frames in software.
    pub fn frames(&self) -> usize {
        let has_frame = |one: &&Pending| {
            matches!(one, Pending::Enter(_) | Pending::Received { .. } | Pending::Forwarded { .. })
        };
        let on_the_way = self.pending.iter().filter(has_frame).count();
        let waits = |one: &&Work| !matches!(one, Work::Timer { .. });
        let waiting = self
            .shared
            .iter()
            .map(|own| own.due.len() + own.sent.len() + own.processor.waiting().filter(waits).count());
        let queued = |port: &HostPort| port.qdisc.as_ref().map_or(0, Qdisc::queued);
        on_the_way
            + waiting.sum::<usize>()
            + self.ports.iter().flatten().map(|port| queued(port)).sum::<usize>()
    }

    /// Empties the queueing discipline of a port whose node goes down or comes up; returns its frames.
    pub fn flush(&mut self, port: PortId) -> Vec<Frame> {
        let Some(own) = self.ports.get_mut(port.index()).and_then(Option::as_deref_mut) else {
            return Vec::new();
        };
        own.armed = None;
        own.at_driver = NEVER;
        own.at_hardware = [NEVER; 8];
        own.at_qdisc.clear();
        own.received = NEVER;
        own.qdisc.as_mut().map_or_else(Vec::new, Qdisc::flush)
    }

    /// Restarts the threads of talkers and the programs of listeners of a node that goes down or comes up.
    pub fn restart(&mut self, plan: &Plan, node: NodeId) {
        // A shared processor goes on: it belongs to no node alone.
        for (talking, stream) in self.talking.iter_mut().zip(&plan.streams) {
            if let Some(talking) = talking.as_deref_mut().filter(|_| NodeId(stream.talker) == node) {
                talking.thread = Thread::default();
            }
        }
        for (_, listening) in self.listening.iter_mut().filter(|((_, at), _)| *at == node) {
            listening.received = NEVER;
        }
    }

    /// The processor that a node shares.
    pub fn shared(&mut self, node: NodeId) -> Option<&mut Shared> {
        let number = self.sharing.get(node.index()).copied().flatten()?;
        self.shared.get_mut(number)
    }

    /// Whether a port belongs to a host.
    pub fn has(&self, port: PortId) -> bool {
        self.ports.get(port.index()).is_some_and(Option::is_some)
    }

    /// The counters of a port's queueing disciplines.
    pub fn counters(&self, port: PortId) -> Option<QdiscCounters> {
        let port = self.ports.get(port.index())?.as_deref()?;
        port.qdisc.as_ref().map(|qdisc| QdiscCounters::new(qdisc.counters()))
    }

    /// Hands a frame to a port's queueing discipline, or past it if there is none.
    pub fn enqueue(&mut self, port: PortId, now: HostTime, packet: Packet<Frame>) -> Actions<Frame> {
        let mut actions = std::mem::take(&mut self.actions);
        let machine = self.ports.get_mut(port.index()).and_then(Option::as_deref_mut);
        match machine.and_then(|port| port.qdisc.as_mut()) {
            Some(qdisc) => qdisc.enqueue(now, packet, &mut actions),
            None => {
                let Packet { item, class, .. } = packet;
                actions.handed.push(tsn_host::Handed { item, class, launch: None });
            }
        }
        actions
    }
}
