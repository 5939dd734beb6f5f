//! The messages of PTP as streams that the analysis counts: each crosses one link, and is released by a timer, or by the
//! arrival or the departure of another one.
//!
//! IEEE 802.1AS-2020, 10.6 and 11.4; IEEE 1588-2019, 11 and 13. An election announces at any time, without a limit.

use crate::curve::{Ps, ps};
use crate::model::clocks::{fastest, shorter};
use crate::reason::Reason;
use crate::report::FlowBounds;
use tsn_plan::{Delay, Destination, Gptp, Pattern, Plan, Requirements, Route, Size, Stream};

/// Octets from destination address to FCS.
const SYNC: u32 = 64;
const DELAY_REQUEST: u32 = 64;
const DELAY_RESPONSE: u32 = 72;
const PEER_DELAY: u32 = 72;
/// A Follow_Up, or a one-step Sync, with the Follow_Up information TLV of gPTP.
const SYNC_WITH_INFORMATION: u32 = 94;
/// An Announce whose path trace TLV is as long as it can be.
const ANNOUNCE: u32 = 86 + 8 * 127;
/// ps in a ns.
const PS: i64 = 1_000;

/// Whether a stream stands for a message of PTP: no stream of a Plan is without an address.
pub(crate) fn is_message(stream: &Stream) -> bool {
    stream.destination_mac.is_empty()
}

/// What releases a message.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Release {
    /// A timer, with at least this time between two releases; ns.
    Timer(u64),
    /// The message with this number, which arrives at the node of the port, or has left it.
    After(usize),
    /// Anything: there is no limit.
    AnyTime,
}

#[derive(Clone, Debug)]
struct Message {
    kind: &'static str,
    port: u32,
    octets: u32,
    release: Release,
}

/// All messages of a Plan.
pub(crate) struct Messages<'a> {
    plan: &'a Plan,
    gptp: &'a Gptp,
    messages: Vec<Message>,
    /// By message, the assumed difference between its longest and its shortest time from the release to the last bit at
    /// the other end, ns; none if it has no limit.
    spreads: Vec<Option<u64>>,
    /// By message, why it had no bound when its spread got no limit.
    whys: Vec<Option<Reason>>,
}

impl<'a> Messages<'a> {
    pub fn of(plan: &'a Plan) -> Option<Self> {
        let gptp = plan.clocks.as_ref()?.gptp.as_ref()?;
        let mut found = Self { plan, gptp, messages: Vec::new(), spreads: Vec::new(), whys: Vec::new() };
        if let Some(bmca) = &gptp.bmca {
            for port in &bmca.ports {
                found.add("messages", *port, ANNOUNCE, Release::AnyTime);
            }
            return Some(found);
        }
        // By node, the Sync that reaches it, and the message with its time.
        let mut reached: Vec<Option<(usize, usize)>> = vec![None; plan.nodes.len()];
        for slave in &gptp.slaves {
            let master = plan.ports[*slave as usize].peer;
            reached[found.node(*slave)] = found.syncs(master, &reached);
            if found.end_to_end() {
                found.requests(*slave);
            } else {
                found.peer_delay(*slave);
                found.peer_delay(master);
            }
        }
        found.spreads = vec![Some(0); found.messages.len()];
        found.whys = vec![None; found.messages.len()];
        Some(found)
    }

    fn node(&self, port: u32) -> usize {
        self.plan.ports[port as usize].node as usize
    }

    fn end_to_end(&self) -> bool {
        self.gptp.ieee_1588.as_ref().is_some_and(|own| own.delay == Delay::EndToEnd)
    }

    fn transparent(&self, node: usize) -> bool {
        self.gptp.ieee_1588.as_ref().is_some_and(|own| own.transparent.contains(&(node as u32)))
    }

    fn add(&mut self, kind: &'static str, port: u32, octets: u32, release: Release) -> usize {
        self.messages.push(Message { kind, port, octets, release });
        self.messages.len() - 1
    }

    /// The least true time between two expiries of a timer of a port's node.
    fn timer(&self, port: u32, interval_ns: u64) -> Release {
        let node = self.node(port) as u32;
        let most = self.plan.clocks.as_ref().map_or(0, |clocks| fastest(self.plan, clocks, node));
        Release::Timer(shorter(interval_ns, most).max(1))
    }

    /// A Sync and its Follow_Up from a master port; the message whose arrival completes them.
    fn syncs(&mut self, port: u32, reached: &[Option<(usize, usize)>]) -> Option<(usize, usize)> {
        let node = self.node(port);
        let time_aware = self.gptp.ieee_1588.is_none();
        let with_information = if time_aware { SYNC_WITH_INFORMATION } else { SYNC };
        let own_time =
            if time_aware { node == self.gptp.grandmaster as usize } else { !self.transparent(node) };
        let (release, upstream) = if own_time {
            (self.timer(port, self.gptp.sync_interval_ns), None)
        } else {
            let (sync, complete) = reached[node]?;
            let by = if self.transparent(node) { sync } else { complete };
            (Release::After(by), Some(complete).filter(|_| self.transparent(node)))
        };
        let octets = if self.gptp.one_step { with_information } else { SYNC };
        let sync = self.add("sync", port, octets, release);
        if self.gptp.one_step {
            return Some((sync, sync));
        }
        let follow_up = self.add("follow-up", port, with_information, Release::After(sync));
        // A transparent clock sends it when the Sync has left and the Follow_Up has arrived: there are no more of them than
        // of both.
        if let Some(before) = upstream {
            self.add("follow-up", port, with_information, Release::After(before));
        }
        Some((sync, follow_up))
    }

    /// The measurement of a link's delay from one of its ends: the request, and both parts of the response.
    fn peer_delay(&mut self, port: u32) {
        let release = self.timer(port, self.gptp.pdelay_interval_ns);
        let peer = self.plan.ports[port as usize].peer;
        let request = self.add("pdelay-req", port, PEER_DELAY, release);
        let response = self.add("pdelay-resp", peer, PEER_DELAY, Release::After(request));
        self.add("pdelay-resp-follow-up", peer, PEER_DELAY, Release::After(response));
    }

    /// The requests of a slave port, which transparent clocks flood, and the responses.
    fn requests(&mut self, slave: u32) {
        if self.transparent(self.node(slave)) {
            return;
        }
        let release = self.timer(slave, self.gptp.pdelay_interval_ns);
        let request = self.add("delay-req", slave, DELAY_REQUEST, release);
        // Each with the ports by which its response returns, the last one first.
        let mut open = vec![(request, vec![self.plan.ports[slave as usize].peer])];
        while let Some((request, back)) = open.pop() {
            let Some(ingress) = back.last().copied() else { continue };
            let node = self.node(ingress);
            if !self.transparent(node) {
                if !self.gptp.slaves.contains(&ingress) {
                    back.iter().rev().fold(request, |before, port| {
                        self.add("delay-resp", *port, DELAY_RESPONSE, Release::After(before))
                    });
                }
                continue;
            }
            for port in self.taking_part(node).into_iter().filter(|port| *port != ingress) {
                let request = self.add("delay-req", port, DELAY_REQUEST, Release::After(request));
                let peer = self.plan.ports[port as usize].peer;
                open.push((request, back.iter().copied().chain([peer]).collect()));
            }
        }
    }

    /// The ports of a node that take part in PTP.
    fn taking_part(&self, node: usize) -> Vec<u32> {
        let both = |slave: &u32| [*slave, self.plan.ports[*slave as usize].peer];
        self.gptp.slaves.iter().flat_map(both).filter(|port| self.node(*port) == node).collect()
    }

    /// The Plan's streams and the messages, with the spreads that are assumed now.
    pub fn with_streams(&self, plan: &Plan) -> Plan {
        let all = self.messages.iter().zip(self.releases());
        let messages = all.map(|(message, release)| self.stream(message, release));
        Plan { streams: plan.streams.iter().cloned().chain(messages).collect(), ..plan.clone() }
    }

    /// By message its jitter, with the spreads that are assumed now; none if one has no limit.
    pub fn jitters(&self) -> Option<Vec<Ps>> {
        self.releases().into_iter().map(|release| Some(ps(release?.1))).collect()
    }

    /// By message the period and the jitter of its releases, ns; none without a limit.
    fn releases(&self) -> Vec<Option<(u64, u64)>> {
        let mut releases: Vec<Option<(u64, u64)>> = Vec::with_capacity(self.messages.len());
        for message in &self.messages {
            let release = match message.release {
                Release::Timer(period_ns) => Some((period_ns, self.gptp.wakeup_ns)),
                Release::After(before) => {
                    releases[before].zip(self.spreads[before]).map(|((period_ns, jitter_ns), spread)| {
                        (period_ns, jitter_ns.saturating_add(spread).saturating_add(self.gptp.wakeup_ns))
                    })
                }
                Release::AnyTime => None,
            };
            releases.push(release);
        }
        releases
    }

    fn stream(&self, message: &Message, release: Option<(u64, u64)>) -> Stream {
        let port = &self.plan.ports[message.port as usize];
        let name = self.name(message);
        let peer = self.plan.ports[port.peer as usize].node;
        Stream {
            group: name.clone(),
            name,
            talker: port.node,
            pcp: self.gptp.pcp,
            vid: None,
            destination_mac: String::new(),
            destination_ipv4: String::new(),
            udp_port: 0,
            type_of_service: 0,
            trdp: None,
            pattern: match release {
                Some((period_ns, jitter_ns)) => Pattern::Periodic { period_ns, offset_ns: 0, jitter_ns },
                None => Pattern::Saturating { backlog: 1 },
            },
            any_phase: false,
            answers: None,
            size: Size::Frame { octets: message.octets },
            start_ns: 0,
            stop_ns: u64::MAX,
            route: vec![Route { port: message.port, parent: None }],
            redundancy: None,
            flood: Vec::new(),
            socket: None,
            listeners: vec![Destination { node: peer, route: 0 }],
            requirements: Requirements::default(),
            scheduled: None,
        }
    }

    fn name(&self, message: &Message) -> String {
        format!("ptp {} at {}", message.kind, self.plan.ports[message.port as usize].name)
    }

    /// Why a message has no limit: one that releases it, maybe through others, has no bound for a reason of its own.
    pub fn why(&self, name: &str) -> Option<Reason> {
        let of_message = |stream: &str| self.messages.iter().any(|message| self.name(message) == stream);
        let mut message = self.messages.iter().find(|message| self.name(message) == name)?;
        while let Release::After(before) = message.release {
            message = &self.messages[before];
            if let Some(why) = self.whys[before].clone().filter(|why| !why.is_of_arrivals(&of_message)) {
                return Some(Reason::Behind { stream: name.into(), why: Box::new(why) });
            }
        }
        None
    }

    /// Compares the assumed spreads with those that follow from them, `found`; true if none of them is longer than assumed,
    /// so that the assumption holds. Otherwise longer ones are assumed; with `give_up`, no limit.
    pub fn hold(&mut self, found: &[FlowBounds], give_up: bool) -> bool {
        let mut holds = true;
        for ((assumed, why), flow) in self.spreads.iter_mut().zip(&mut self.whys).zip(found) {
            let Some(before) = *assumed else { continue };
            let spread = flow.release_upper_ps.map(|upper| upper - flow.release_lower_ps);
            let spread = spread.and_then(|ps: Ps| u64::try_from((ps + PS - 1).div_euclid(PS)).ok());
            if spread.is_some_and(|spread| spread <= before) {
                continue;
            }
            holds = false;
            why.clone_from(&flow.release_reason);
            // More than it is now, as longer spreads of others make it grow.
            *assumed = spread.filter(|_| !give_up).map(|spread| spread.saturating_add(spread / 2));
        }
        holds
    }
}
