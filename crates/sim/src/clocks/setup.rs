//! The PTP machines of a Plan's nodes, and their first messages.

use crate::clocks::apart::Apart;
use crate::clocks::ptp_taps::PtpTaps;
use crate::clocks::role::{PtpRole, delay, profile};
use crate::clocks::state::{Command, Node, Pending, Timing};
use crate::ids::{NodeId, PortId, StreamId};
use crate::network::tables::Network;
use crate::random::Draws;
use crate::slab::Slab;
use tsn_clock::{
    Change, NodeClock, Oscillator, PiParameters, PiServo, Profile, Roles, Settings, SystemIdentity, Wander,
};
use tsn_plan::{Bmca, Clocks, Gptp, Plan, duration};
use tsn_units::{Duration, Frequency, Instant};

fn servo(gptp: &Gptp) -> PiParameters {
    gptp.servo.map_or_else(PiParameters::default, |it| PiParameters {
        proportional_scale: it.pi_proportional_scale,
        proportional_exponent: it.pi_proportional_exponent,
        proportional_norm_max: it.pi_proportional_norm_max,
        integral_scale: it.pi_integral_scale,
        integral_exponent: it.pi_integral_exponent,
        integral_norm_max: it.pi_integral_norm_max,
        first_step_threshold_ns: it.first_step_threshold_ns,
        step_threshold_ns: it.step_threshold_ns,
        max_frequency_ppb: it.max_frequency_ppb,
    })
}

/// The first Pdelay requests are sent within this time, so that time can soon be distributed.
const FIRST_PDELAY_WITHIN_PS: u64 = 10_000_000_000;

/// The configured roles of one node, and which of its ports take part.
#[derive(Clone, Debug, Default)]
struct Given {
    slave: Option<usize>,
    masters: Vec<usize>,
    ports: Vec<usize>,
    takes_part: bool,
}

fn elected(bmca: &Bmca, node: usize, ports: Vec<usize>, gptp: &Gptp) -> Roles {
    let quality = bmca.clocks.get(node).copied();
    let own = quality.map_or((255, 255, 255, u16::MAX, 255), |it| {
        (it.priority1, it.class, it.accuracy, it.variance, it.priority2)
    });
    let (priority1, class, accuracy, variance, priority2) = own;
    let times = |interval: u64, times: u8| duration(interval.saturating_mul(u64::from(times)));
    let sync_timeout = times(gptp.sync_interval_ns, bmca.sync_receipt_timeout);
    Roles::Elected {
        own: SystemIdentity { priority1, class, accuracy, variance, priority2, identity: node as u32 },
        ports,
        announce_timeout: times(bmca.announce_interval_ns, bmca.announce_receipt_timeout),
        sync_timeout: gptp.ieee_1588.is_none().then_some(sync_timeout),
    }
}

impl Timing {
    /// The clocks of a checked Plan; schedules their first events.
    pub fn new(plan: &Plan, clocks: &Clocks, network: &Network, commands: &mut Vec<Command>) -> Self {
        let mut nodes: Vec<Node> = clocks
            .nodes
            .iter()
            .zip(&plan.nodes)
            .map(|(clock, node)| new_node(plan.seed, &node.name, clock))
            .collect();
        let mut ports = Vec::with_capacity(plan.ports.len());
        for (number, port) in plan.ports.iter().enumerate() {
            let own = &mut nodes[port.node as usize].ports;
            ports.push((NodeId(port.node), own.len() as u32, PortId(port.peer)));
            own.push(PortId::at(number));
        }
        for (number, stream) in plan.streams.iter().enumerate() {
            nodes[stream.talker as usize].streams.push(StreamId::at(number));
        }
        let mut timing = Self {
            nodes,
            ports,
            gptp: clocks.gptp.clone(),
            profile: clocks.gptp.as_ref().map_or(Profile::default(), profile),
            faults: clocks.faults.clone(),
            apart: Apart::new(clocks),
            record: duration(clocks.record_ns),
            pending: Slab::default(),
            messages: Slab::default(),
            planned_releases: vec![None; plan.streams.len()],
            hops: network.timing.clone(),
            outputs: Vec::new(),
            taps: clocks.gptp.as_ref().is_some_and(|gptp| gptp.visible).then(|| Box::new(PtpTaps::new(plan))),
        };
        for node in 0..timing.nodes.len() as u32 {
            timing.frequency(NodeId(node), Instant::EPOCH, commands);
        }
        timing.schedule_at(Instant::EPOCH + timing.record, NodeId(0), Pending::Record, commands);
        if let Some(gptp) = &clocks.gptp {
            timing.begin(plan, gptp, commands);
        }
        timing.expect_faults(commands);
        timing
    }

    /// Sets the configured roles and schedules the first messages.
    pub(crate) fn begin(&mut self, plan: &Plan, gptp: &Gptp, commands: &mut Vec<Command>) {
        let interval = duration(gptp.sync_interval_ns);
        let mut given: Vec<Given> = vec![Given::default(); self.nodes.len()];
        let mut talking = Vec::new();
        if let Some(bmca) = &gptp.bmca {
            for port in &bmca.ports {
                let (node, place, _) = self.ports[*port as usize];
                given[node].ports.push(place as usize);
                given[node].takes_part = true;
                talking.push(PortId(*port));
            }
        } else {
            given[gptp.grandmaster as usize].takes_part = true;
            for slave in &gptp.slaves {
                let (node, place, peer) = self.ports[*slave as usize];
                let (parent, at_parent, _) = self.ports[peer];
                given[node].slave = Some(place as usize);
                given[node].ports.push(place as usize);
                given[node].takes_part = true;
                given[parent].masters.push(at_parent as usize);
                given[parent].ports.push(at_parent as usize);
                talking.extend([PortId(*slave), peer]);
            }
        }
        let mut syncing = Vec::new();
        for (number, (node, given)) in self.nodes.iter_mut().zip(given).enumerate() {
            if !given.takes_part {
                continue;
            }
            let ieee_1588 = gptp.ieee_1588.as_ref();
            let ports = node.ports.len();
            node.root = Some(NodeId(gptp.grandmaster));
            if ieee_1588.is_some_and(|it| it.transparent.contains(&(number as u32))) {
                node.role = Some(PtpRole::Transparent { delay: delay(gptp), ports, enabled: given.ports });
            } else {
                // In gPTP with configured roles all Sync messages begin at the grandmaster.
                if gptp.bmca.is_some() || ieee_1588.is_some() || number as u32 == gptp.grandmaster {
                    syncing.push(NodeId::at(number));
                }
                let roles = match &gptp.bmca {
                    Some(bmca) => elected(bmca, number, given.ports, gptp),
                    None => Roles::Given { slave: given.slave, masters: given.masters },
                };
                node.role = Some(PtpRole::Instance(Box::new(Settings {
                    identity: number as u32,
                    ports,
                    profile: profile(gptp),
                    delay: delay(gptp),
                    one_step: gptp.one_step,
                    roles,
                    servo: PiServo::new(servo(gptp), interval),
                })));
            }
            node.machine = node.role.as_ref().map(PtpRole::begin);
        }
        for port in talking {
            let name = format!("gptp/{}/pdelay", plan.ports[port].name);
            let first = Draws::new(plan.seed, &name).below(FIRST_PDELAY_WITHIN_PS);
            let node = self.ports[port].0;
            self.schedule_at(Instant::from_ps(first as i64), node, Pending::Pdelay { port }, commands);
        }
        for node in &syncing {
            self.schedule_at(Instant::EPOCH + interval, *node, Pending::Sync { node: *node }, commands);
        }
        if let Some(bmca) = &gptp.bmca {
            for node in syncing {
                // The nodes do not begin at one instant: each draws its first time within an interval.
                let name = format!("gptp/{}/announce", plan.nodes[node].name);
                let within = bmca.announce_interval_ns.saturating_mul(1_000).min(FIRST_PDELAY_WITHIN_PS);
                let first = Draws::new(plan.seed, &name).below(within.max(1));
                self.schedule_at(Instant::from_ps(first as i64), node, Pending::Announce { node }, commands);
            }
        }
    }
}

pub(crate) fn new_node(seed: u64, name: &str, clock: &tsn_plan::NodeClock) -> Node {
    let change = |change: &tsn_plan::Change| Change {
        at: Instant::EPOCH + duration(change.at_ns),
        ppt: change.deviation_ppt,
    };
    let wander = clock.wander.map(|it| Wander { most_ppt: it.most_ppt, every: duration(it.every_ns) });
    let changes = clock.changes.iter().map(change).collect();
    let draws = |what: &str| Draws::new(seed, &format!("clock/{name}/{what}"));
    Node {
        clock: NodeClock::new(Duration::from_ns(clock.offset_ns), i64::from(clock.granularity_ns)),
        oscillator: Oscillator::new(clock.deviation_ppt, changes, wander),
        frequency: Frequency::NOMINAL,
        jump_ppt: 0,
        wander: draws("wander"),
        stamp: draws("stamp"),
        jitter_ps: u64::from(clock.jitter_ns) * 1_000,
        wakeup: draws("wakeup"),
        role: None,
        machine: None,
        root: None,
        restarts: 0,
        ports: Vec::new(),
        streams: Vec::new(),
    }
}
