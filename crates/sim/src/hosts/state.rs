//! The software of hosts in a run: threads, queueing disciplines, and frames on their way between.
//!
//! Exists only where the Plan has hosts with software. OCORA Fig. 9.

use crate::ids::{NodeId, PortId, StreamId};
use crate::kernel::event::Frame;
use crate::network::tables::Network;
use crate::output::counters::QdiscCounters;
use crate::random::Draws;
use crate::slab::Slab;
use std::collections::BTreeMap;
use tsn_host::{Actions, Distribution, HostTime, Packet, Qdisc, SocketOptions, Thread};
use tsn_plan::{Pattern, Plan, Socket};
use tsn_units::{Duration, Instant};

/// A latency and its draws.
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

/// Something that will happen in software.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Pending {
    /// A talker's frame is at its queueing disciplines.
    Enter { stream: StreamId, seq: u64, octets: u32, txtime: Option<HostTime> },
    /// A forwarded frame is at a queueing discipline.
    Forwarded { frame: Frame },
    /// The timer of a port's queueing discipline.
    Timer { port: PortId },
}

/// The thread and socket of one stream.
#[derive(Debug)]
pub(crate) struct Talking {
    pub thread: Thread,
    pub wakeup: Latency,
    pub send: Latency,
    pub qdisc: Latency,
    pub socket: Socket,
}

impl Talking {
    /// The options of the stream's socket that the queueing discipline sees.
    pub fn options(&self) -> SocketOptions {
        let Socket { txtime, deadline, other_clock, .. } = self.socket;
        SocketOptions { txtime, deadline, other_clock }
    }
}

/// A port of a host.
#[derive(Debug)]
pub(crate) struct HostPort {
    /// None: what comes goes to the driver.
    pub qdisc: Option<Qdisc<Frame>>,
    pub driver: Latency,
    pub tx: Latency,
    pub timer: Latency,
    pub forwarding: Latency,
    pub kernel_rx: Latency,
    /// For when the timer is set, and the number of its event.
    pub armed: Option<(HostTime, u32)>,
    /// How often in turn the timer fired, nothing went, and it was to fire again at once.
    pub in_vain: u32,
    /// When the last frame was at the driver: nothing overtakes.
    pub at_driver: Instant,
    /// By class, when the last frame was at the hardware's queue: nothing overtakes.
    pub at_hardware: [Instant; 8],
    /// By the port over which frames came, when the last one that is forwarded here was at the queueing discipline.
    pub at_qdisc: BTreeMap<PortId, Instant>,
    /// When the kernel had the last frame that it received.
    pub received: Instant,
}

/// A stream at a listener: its program, and when it had the frame before.
#[derive(Debug)]
pub(crate) struct Listening {
    pub app_rx: Latency,
    pub received: Instant,
}

/// All hosts with software.
#[derive(Debug)]
pub(crate) struct Hosts {
    /// By stream; none where its talker is no host, or saturates.
    pub talking: Vec<Option<Box<Talking>>>,
    /// By port.
    pub ports: Vec<Option<Box<HostPort>>>,
    /// By stream and node.
    pub listening: BTreeMap<(StreamId, NodeId), Listening>,
    pub pending: Slab<Pending>,
    /// Kept for its memory.
    pub actions: Actions<Frame>,
}

const NEVER: Instant = Instant::from_ps(i64::MIN);

impl Hosts {
    /// Reads the hosts off a Plan whose consistency is proved; marks hops that lead to hosts. None where there are none.
    pub fn new(plan: &Plan, network: &mut Network) -> Option<Box<Self>> {
        if plan.nodes.iter().all(|node| node.host.is_none()) {
            return None;
        }
        for hop in &mut network.hops {
            let peer = network.links[hop.port].peer;
            hop.special |= plan.nodes[peer].host.is_some() && !hop.timing;
        }
        let talking = plan.streams.iter().map(|stream| {
            let node = &plan.nodes[stream.talker as usize];
            let host = node.host.as_deref()?;
            if matches!(stream.pattern, Pattern::Saturating { .. }) {
                // Frames always wait in the hardware's queue: how long they take to get there shows nowhere.
                return None;
            }
            let latency = |of: &Option<tsn_plan::Distribution>, what: &str| {
                Latency::new(plan, of.as_ref(), &format!("stream/{}/{what}", stream.name))
            };
            Some(Box::new(Talking {
                thread: Thread::default(),
                wakeup: latency(&host.wakeup, "wakeup"),
                send: latency(&host.send, "send"),
                qdisc: latency(&host.qdisc, "qdisc"),
                socket: stream.socket.as_deref().cloned().unwrap_or_default(),
            }))
        });
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
        let (talking, ports) = (talking.collect(), ports.collect());
        let actions = Actions::default();
        Some(Box::new(Self { talking, ports, listening, pending: Slab::default(), actions }))
    }

    /// Whether a stream's talker is a thread of a host.
    #[inline]
    pub fn talks(&self, stream: StreamId) -> bool {
        self.talking.get(stream.index()).is_some_and(Option::is_some)
    }

    /// How many frames are in software.
    pub fn frames(&self) -> usize {
        let on_the_way =
            self.pending.iter().filter(|pending| !matches!(pending, Pending::Timer { .. })).count();
        let queued = |port: &HostPort| port.qdisc.as_ref().map_or(0, Qdisc::queued);
        on_the_way + self.ports.iter().flatten().map(|port| queued(port)).sum::<usize>()
    }

    /// A node is down, or up again: what waits in the queueing discipline of one of its ports is lost, and nothing is
    /// behind anything that was before.
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

    /// A node is down, or up again: the threads of its talkers and its listeners' programs begin anew.
    pub fn restart(&mut self, plan: &Plan, node: NodeId) {
        for (talking, stream) in self.talking.iter_mut().zip(&plan.streams) {
            if let Some(talking) = talking.as_mut().filter(|_| NodeId(stream.talker) == node) {
                talking.thread = Thread::default();
            }
        }
        for (_, listening) in self.listening.iter_mut().filter(|((_, at), _)| *at == node) {
            listening.received = NEVER;
        }
    }

    /// Whether a port belongs to a host.
    pub fn has(&self, port: PortId) -> bool {
        self.ports.get(port.index()).is_some_and(Option::is_some)
    }

    /// What a port's queueing disciplines counted.
    pub fn counters(&self, port: PortId) -> Option<QdiscCounters> {
        let port = self.ports.get(port.index())?.as_deref()?;
        port.qdisc.as_ref().map(|qdisc| QdiscCounters::new(qdisc.counters()))
    }

    /// A frame at a port's queueing discipline, or past it where there is none.
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
