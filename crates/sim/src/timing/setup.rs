//! The PTP machines of a Plan's nodes, and their first messages.

use super::{Due, FIRST_PDELAY_WITHIN_PS, Node, Timing, Todo, ns};
use crate::random::Draws;
use tsn_clock::{
    Change, DelayMechanism, Instance, Machine, NodeClock, Oscillator, PiParameters, PiServo, Profile, Roles,
    Settings, SystemIdentity, TransparentClock, Wander,
};
use tsn_plan::{Bmca, Delay, Gptp, Plan};
use tsn_units::{Duration, Frequency, Instant};

/// What a node's PTP begins as, at first and whenever it comes back.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Instance(Box<Settings>),
    Transparent { delay: DelayMechanism, ports: usize, enabled: Vec<usize> },
}

impl Part {
    pub fn begin(&self) -> Machine {
        match self {
            Self::Instance(settings) => Machine::Instance(Box::new(Instance::new((**settings).clone()))),
            Self::Transparent { delay, ports, enabled } => {
                Machine::Transparent(Box::new(TransparentClock::new(*delay, *ports, enabled)))
            }
        }
    }
}

pub(super) fn profile(gptp: &Gptp) -> Profile {
    if gptp.ieee_1588.is_some() { Profile::Ieee1588 } else { Profile::TimeAware }
}

fn delay(gptp: &Gptp) -> DelayMechanism {
    match &gptp.ieee_1588 {
        Some(it) if it.delay == Delay::EndToEnd => DelayMechanism::EndToEnd,
        _ => DelayMechanism::PeerToPeer,
    }
}

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

/// One node's roles as the Plan gives them, and which of its ports take part.
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
    let times = |interval: u64, times: u8| ns(interval.saturating_mul(u64::from(times)));
    let sync_timeout = times(gptp.sync_interval_ns, bmca.sync_receipt_timeout);
    Roles::Elected {
        own: SystemIdentity { priority1, class, accuracy, variance, priority2, identity: node as u32 },
        ports,
        announce_timeout: times(bmca.announce_interval_ns, bmca.announce_receipt_timeout),
        sync_timeout: gptp.ieee_1588.is_none().then_some(sync_timeout),
    }
}

impl Timing {
    /// Roles as the Plan says, and first messages.
    pub(super) fn begin(&mut self, plan: &Plan, gptp: &Gptp, todo: &mut Vec<Todo>) {
        let interval = ns(gptp.sync_interval_ns);
        let mut given: Vec<Given> = vec![Given::default(); self.nodes.len()];
        let mut talking = Vec::new();
        if let Some(bmca) = &gptp.bmca {
            for port in &bmca.ports {
                let (node, place, _) = self.ports[*port as usize];
                given[node as usize].ports.push(place as usize);
                given[node as usize].takes_part = true;
                talking.push(*port);
            }
        } else {
            given[gptp.grandmaster as usize].takes_part = true;
            for slave in &gptp.slaves {
                let (node, place, peer) = self.ports[*slave as usize];
                let (parent, at_parent, _) = self.ports[peer as usize];
                given[node as usize].slave = Some(place as usize);
                given[node as usize].ports.push(place as usize);
                given[node as usize].takes_part = true;
                given[parent as usize].masters.push(at_parent as usize);
                given[parent as usize].ports.push(at_parent as usize);
                talking.extend([*slave, peer]);
            }
        }
        let mut syncing = Vec::new();
        for (number, (node, given)) in self.nodes.iter_mut().zip(given).enumerate() {
            if !given.takes_part {
                continue;
            }
            let ieee_1588 = gptp.ieee_1588.as_ref();
            let ports = node.ports.len();
            node.root = Some(gptp.grandmaster);
            if ieee_1588.is_some_and(|it| it.transparent.contains(&(number as u32))) {
                node.part = Some(Part::Transparent { delay: delay(gptp), ports, enabled: given.ports });
            } else {
                // In gPTP with given roles all Sync messages begin at the grandmaster.
                if gptp.bmca.is_some() || ieee_1588.is_some() || number as u32 == gptp.grandmaster {
                    syncing.push(number as u32);
                }
                let roles = match &gptp.bmca {
                    Some(bmca) => elected(bmca, number, given.ports, gptp),
                    None => Roles::Given { slave: given.slave, masters: given.masters },
                };
                node.part = Some(Part::Instance(Box::new(Settings {
                    identity: number as u32,
                    ports,
                    profile: profile(gptp),
                    delay: delay(gptp),
                    one_step: gptp.one_step,
                    roles,
                    servo: PiServo::new(servo(gptp), interval),
                })));
            }
            node.machine = node.part.as_ref().map(Part::begin);
        }
        for port in talking {
            let name = format!("gptp/{}/pdelay", plan.ports[port as usize].name);
            let first = Draws::new(plan.seed, &name).below(FIRST_PDELAY_WITHIN_PS);
            let node = self.ports[port as usize].0;
            self.plan_at(Instant::from_ps(first as i64), node, Due::Pdelay { port }, todo);
        }
        for node in &syncing {
            self.plan_at(Instant::EPOCH + interval, *node, Due::Sync { node: *node }, todo);
        }
        if let Some(bmca) = &gptp.bmca {
            for node in syncing {
                // Not all at one instant: the first within an interval, each node's own draw.
                let name = format!("gptp/{}/announce", plan.nodes[node as usize].name);
                let within = bmca.announce_interval_ns.saturating_mul(1_000).min(FIRST_PDELAY_WITHIN_PS);
                let first = Draws::new(plan.seed, &name).below(within.max(1));
                self.plan_at(Instant::from_ps(first as i64), node, Due::Announce { node }, todo);
            }
        }
    }
}

pub(super) fn new_node(seed: u64, name: &str, clock: &tsn_plan::NodeClock) -> Node {
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
        pace: Frequency::SAME,
        jump_ppt: 0,
        wander: draws("wander"),
        stamp: draws("stamp"),
        jitter_ps: u64::from(clock.jitter_ns) * 1_000,
        wakeup: draws("wakeup"),
        part: None,
        machine: None,
        root: None,
        restarts: 0,
        ports: Vec::new(),
        streams: Vec::new(),
    }
}
