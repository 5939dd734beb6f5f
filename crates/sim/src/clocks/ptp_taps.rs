//! PTP messages as taps observe them: stream, number and octets.

use crate::ids::{NodeId, PortId};
use tsn_clock::{KINDS, Message, PortIdentity, Profile};
use tsn_observation::StreamLegend;
use tsn_plan::Plan;
use tsn_wire::Mac;
use tsn_wire::ptp::{Body, Repr, clock_identity};

/// The data that sightings of PTP messages need, if the Plan has taps for them.
#[derive(Debug)]
pub(crate) struct PtpTaps {
    /// The MAC address of every port.
    macs: Vec<Mac>,
    /// The clock identity of every node.
    identities: Vec<[u8; 8]>,
    /// Messages of each kind so far.
    counts: [u64; KINDS.len()],
    bytes: Vec<u8>,
}

/// The streams of PTP messages in the legend, after the Plan's own streams.
pub(crate) fn legend(plan: &Plan) -> impl Iterator<Item = StreamLegend> {
    let gptp = plan.clocks.as_ref().and_then(|clocks| clocks.gptp.as_ref());
    let kinds: &[&str] = if gptp.is_some_and(|gptp| gptp.visible) { &KINDS } else { &[] };
    kinds.iter().map(|kind| StreamLegend { name: format!("ptp/{kind}"), group: "ptp".into() })
}

impl PtpTaps {
    pub fn new(plan: &Plan) -> Self {
        let macs: Vec<Mac> =
            plan.ports.iter().map(|port| port.mac.parse::<Mac>().unwrap_or_default()).collect();
        let identity = |node: usize| {
            let first = plan.ports.iter().position(|port| port.node as usize == node);
            clock_identity(first.and_then(|port| macs.get(port).copied()).unwrap_or_default())
        };
        Self {
            identities: (0..plan.nodes.len()).map(identity).collect(),
            macs,
            counts: [0; KINDS.len()],
            bytes: Vec::new(),
        }
    }

    fn identity(&self, node: NodeId) -> [u8; 8] {
        self.identities.get(node.index()).copied().unwrap_or_default()
    }

    fn port(&self, port: PortIdentity) -> tsn_wire::ptp::PortIdentity {
        (self.identity(NodeId(port.clock)), port.port)
    }
}

impl PtpTaps {
    /// Observes a message that leaves by a port: returns its kind, its number among those of its kind, and its
    /// octets. `ports` contains, for every port, its node, its index there and its peer.
    pub(crate) fn see(
        &mut self,
        ports: &[(NodeId, u32, PortId)],
        profile: Profile,
        port: PortId,
        message: &Message,
    ) -> Option<(usize, u64, Vec<u8>)> {
        let (node, place, peer) = ports[port.index()];
        let (peers_node, peers_place, _) = ports[peer.index()];
        let gptp = profile == Profile::TimeAware;
        let kind = message.kind();
        let number = self.counts.get(kind).copied()?;
        self.counts[kind] += 1;
        let own = PortIdentity::at(node.0, place as usize);
        let asker = self.port(PortIdentity::at(peers_node.0, peers_place as usize));
        let ns = |ps: i64| ps.div_euclid(1_000);
        let (source, sequence, correction_ps, body) = match message {
            Message::Sync { source, sequence, origin } => {
                let rate = origin.filter(|_| gptp).map(|origin| origin.rate.0);
                let body = Body::Sync { origin_ns: origin.map(|origin| ns(origin.time.ps())), rate };
                (*source, *sequence, origin.map_or(0, |origin| origin.correction.ps()), body)
            }
            Message::FollowUp { source, sequence, origin } => {
                let rate = gptp.then_some(origin.rate.0);
                let body = Body::FollowUp { origin_ns: ns(origin.time.ps()), rate };
                (*source, *sequence, origin.correction.ps(), body)
            }
            Message::PdelayReq { sequence } => (own, *sequence, 0, Body::PdelayReq),
            Message::PdelayResp { sequence, received } => {
                (own, *sequence, 0, Body::PdelayResp { received_ns: ns(received.ps()), to: asker })
            }
            Message::PdelayRespFollowUp { sequence, sent } => {
                (own, *sequence, 0, Body::PdelayRespFollowUp { sent_ns: ns(sent.ps()), to: asker })
            }
            Message::DelayReq { source, sequence } => (*source, *sequence, 0, Body::DelayReq),
            Message::DelayResp { to, sequence, received, correction } => {
                let body = Body::DelayResp { received_ns: ns(received.ps()), to: self.port(*to) };
                (own, *sequence, correction.ps(), body)
            }
            Message::Announce(announce) => {
                let root = announce.vector.root;
                let body = Body::Announce {
                    priority1: root.priority1,
                    class: root.class,
                    accuracy: root.accuracy,
                    variance: root.variance,
                    priority2: root.priority2,
                    grandmaster: self.identity(NodeId(root.identity)),
                    steps_removed: announce.vector.steps_removed,
                    path: announce.path.iter().map(|node| self.identity(NodeId(*node))).collect(),
                };
                (announce.vector.source, (number & 0xffff) as u16, 0, body)
            }
        };
        let mac = self.macs.get(port.index()).copied().unwrap_or_default();
        let source = self.port(source);
        let repr = Repr { gptp, mac, source, sequence, correction_ps, body };
        let mut bytes = std::mem::take(&mut self.bytes);
        repr.emit(&mut bytes);
        Some((kind, number, bytes))
    }

    /// Keeps the memory of octets that [`Self::see`] returned.
    pub(crate) fn keep(&mut self, bytes: Vec<u8>) {
        self.bytes = bytes;
    }
}
