//! Counters of a run.

mod policing;

pub use policing::{FilterCounters, GroupCounters, PolicingCounters};

use crate::clocks::apart::Difference;
use crate::ids::NodeId;
use serde::Serialize;
use std::collections::BTreeMap;
use tsn_bridge::{Counters, MergeCounters};
use tsn_plan::{Gates, Plan, Schedule};

/// All counters of one run; `counters.json` of a run folder.
///
/// Frames are conserved, copies of multicast frames included: over all streams, released + replicated =
/// dropped at the talker + dropped in the network + lost to faults + eliminated + filtered + delivered + in the network at the
/// end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunCounters {
    /// Simulated time, ns.
    pub simulated_ns: u64,
    /// Number of handled events.
    pub events: u64,
    /// Number of frames sent over a link, summed over all links.
    pub frame_hops: u64,
    /// Whether the run was ended early.
    pub interrupted: bool,
    /// Frames in queues, in bridges and on wires at the end.
    pub in_network_at_end: u64,
    /// Counters of every port, in the Plan's order.
    pub ports: Vec<PortCounters>,
    /// Counters of every stream, in the Plan's order.
    pub streams: Vec<StreamCounters>,
    /// Counters of every place where member streams merge.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recoveries: Vec<RecoveryCounters>,
    /// Counters of every fault, in the Plan's order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultCounters>,
    /// The greatest difference of clocks, if the Plan promises one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clocks: Option<ClockCounters>,
    /// Counters of every node whose ports share memory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub buffers: Vec<BufferCounters>,
    /// Counters of every node that filters or shapes arriving frames, in the Plan's order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policing: Vec<PolicingCounters>,
}

impl RunCounters {
    /// Adds what one period counts, so many times: the difference of counters at its begin and its end. Greatest values
    /// stay, as they are the same in each period.
    pub(crate) fn extrapolate(&mut self, (before, after): (&Self, &Self), times: u64) {
        let (before, after) = (before.clone().numbers(), after.clone().numbers());
        let mut place = 0;
        self.each(&mut |number| {
            *number += (after[place] - before[place]) * times;
            place += 1;
        });
    }

    fn numbers(mut self) -> Vec<u64> {
        let mut found = Vec::new();
        self.each(&mut |number| found.push(*number));
        found
    }

    /// Calls `act` with each counter of a Plan without faults, clocks and queueing disciplines.
    fn each(&mut self, act: &mut impl FnMut(&mut u64)) {
        for number in [&mut self.simulated_ns, &mut self.events, &mut self.frame_hops] {
            act(number);
        }
        act(&mut self.in_network_at_end);
        for port in &mut self.ports {
            act(&mut port.dropped_faults);
            port.classes.iter_mut().for_each(|class| class.each(act));
        }
        self.streams.iter_mut().for_each(|stream| stream.each(act));
        self.recoveries.iter_mut().for_each(|recovery| recovery.each(act));
        for buffer in &mut self.buffers {
            for number in [&mut buffer.most_octets, &mut buffer.dropped_frames, &mut buffer.dropped_octets] {
                act(number);
            }
        }
        for policing in &mut self.policing {
            policing.filters.iter_mut().for_each(|filter| filter.each(act));
            policing.groups.iter_mut().for_each(|group| act(&mut group.discarded_frames));
        }
    }
}

/// The greatest difference of any two clocks from the first release on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClockCounters {
    /// ps.
    pub apart_ps: i64,
    /// The true time at which it was first reached, ns.
    pub at_ns: i64,
    /// The node whose clock was ahead.
    pub ahead: String,
    /// The node whose clock was behind.
    pub behind: String,
}

impl ClockCounters {
    pub(crate) fn new(plan: &Plan, most: Difference) -> Self {
        let name = |node: NodeId| plan.nodes[node].name.clone();
        let Difference { ps, at, ahead, behind } = most;
        Self { apart_ps: ps, at_ns: at.ticked_ns(1), ahead: name(ahead), behind: name(behind) }
    }
}

/// Counters of one fault.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FaultCounters {
    /// The kind of the fault, in the Plan's words.
    pub kind: &'static str,
    /// Frames and copies that the fault affected: lost, damaged, delayed, duplicated, added, or sent while their port
    /// used a wrong list. One frame may count for several faults.
    pub frames: u64,
}

/// Counters of the memory that the ports of one node share (see [`tsn_bridge::BufferCounters`]).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct BufferCounters {
    pub node: String,
    pub most_octets: u64,
    pub dropped_frames: u64,
    pub dropped_octets: u64,
}

/// Counters of one sequence recovery function (see [`tsn_bridge::frer::RecoveryCounters`]).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct RecoveryCounters {
    pub stream: String,
    pub node: String,
    pub passed: u64,
    pub discarded: u64,
    pub rogue: u64,
    pub individual: u64,
    pub out_of_order: u64,
    pub lost: u64,
    pub resets: u64,
    pub latent_errors: u64,
}

impl RecoveryCounters {
    fn each(&mut self, act: &mut impl FnMut(&mut u64)) {
        let Self { passed, discarded, rogue, individual, out_of_order, lost, resets, latent_errors, .. } =
            self;
        for number in [passed, discarded, rogue, individual, out_of_order, lost, resets, latent_errors] {
            act(number);
        }
    }

    pub(crate) fn new(stream: &str, node: &str, counters: tsn_bridge::frer::RecoveryCounters) -> Self {
        let tsn_bridge::frer::RecoveryCounters { passed, discarded, rogue, individual, .. } = counters;
        let tsn_bridge::frer::RecoveryCounters { out_of_order, lost, resets, latent_errors, .. } = counters;
        let (stream, node) = (stream.into(), node.into());
        Self { stream, node, passed, discarded, rogue, individual, out_of_order, lost, resets, latent_errors }
    }
}

fn none(count: &u64) -> bool {
    *count == 0
}

/// Counters of one port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PortCounters {
    /// The name of the port.
    pub port: String,
    /// Frames that left here and were lost to faults, or that were to leave while the port did not forward.
    pub dropped_faults: u64,
    /// Counters of the port's classes, lowest first.
    pub classes: Vec<ClassCounters>,
    /// Counters of pre-emption, if the port has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preemption: Option<PreemptionCounters>,
    /// Which gate control list was in force when, if the port has several or one that begins late.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gates: Option<GateCounters>,
    /// Counters of the kernel's queueing disciplines, if the port has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qdisc: Option<QdiscCounters>,
}

/// The gate control lists of one port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GateCounters {
    /// How often a list was requested with a base time in the past, while another one ran (`ConfigChangeError`).
    pub config_change_errors: u64,
    /// The lists in force, in order of time.
    pub in_force: Vec<InForce>,
}

/// One list and when it came into force.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InForce {
    /// On the clock of the port's node, ns; none for the list at the begin.
    pub from_ns: Option<i64>,
    /// `initial`, `list` or `extended`: the last states of a list, which make its last cycle longer.
    pub schedule: &'static str,
    /// The index of the list among those of the port.
    pub list: Option<usize>,
}

impl GateCounters {
    /// The lists of one port that come into force until `until_ns`; none if one list is in force from the begin.
    #[must_use]
    pub fn new(gates: &Gates, until_ns: i64) -> Option<Self> {
        if gates.initial.is_none() && gates.changes.is_empty() {
            return None;
        }
        let (schedules, _) = tsn_plan::in_force(gates);
        let mut asked = gates.clone();
        // Changes after the end of the run are not counted.
        asked.changes.retain(|change| change.at_ns <= until_ns);
        let (_, config_change_errors) = tsn_plan::in_force(&asked);
        let in_force = schedules.into_iter().filter(|one| one.from_ns <= until_ns).map(|one| {
            let (schedule, list) = match one.schedule {
                Schedule::Initial => ("initial", None),
                Schedule::List(list) => ("list", Some(list)),
                Schedule::Extended(list) => ("extended", Some(list)),
            };
            InForce { from_ns: Some(one.from_ns).filter(|from| *from != i64::MIN), schedule, list }
        });
        Some(Self { config_change_errors, in_force: in_force.collect() })
    }
}

/// The queueing disciplines of one port: frames, and drops by cause (see [`tsn_host::DropCause`]).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct QdiscCounters {
    pub enqueued: u64,
    pub handed: u64,
    pub dropped_socket: u64,
    pub dropped_late: u64,
    pub dropped_expired: u64,
    pub dropped_window: u64,
    pub dropped_full: u64,
}

impl QdiscCounters {
    pub(crate) fn new(counters: &tsn_host::Counters) -> Self {
        let tsn_host::Counters { enqueued, handed, socket, late, expired, window, full } = *counters;
        Self {
            enqueued,
            handed,
            dropped_socket: socket,
            dropped_late: late,
            dropped_expired: expired,
            dropped_window: window,
            dropped_full: full,
        }
    }
}

/// Frame pre-emption at one port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct PreemptionCounters {
    /// How often an express frame cut a preemptable one.
    pub preemptions: u64,
    /// Number of fragments that continued a frame.
    pub continuations: u64,
    /// Frames that were sent in more than one fragment.
    pub fragmented_frames: u64,
    /// How often a preemptable frame was cut because a gate entry held it.
    #[serde(skip_serializing_if = "none")]
    pub holds: u64,
}

impl PreemptionCounters {
    pub(crate) fn new(counters: MergeCounters) -> Self {
        let MergeCounters { preemptions, continuations, fragmented_frames, holds } = counters;
        Self { preemptions, continuations, fragmented_frames, holds }
    }
}

/// Counters of one class of a port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct ClassCounters {
    pub class: u8,
    pub enqueued_frames: u64,
    pub enqueued_octets: u64,
    pub dropped_frames: u64,
    pub dropped_octets: u64,
    /// Dropped frames that were larger than the class allows (`queueMaxSDU`).
    #[serde(skip_serializing_if = "none")]
    pub over_max_sdu_frames: u64,
    /// Dropped frames that had waited for the longest time of the queue; they count as enqueued, too.
    #[serde(skip_serializing_if = "none")]
    pub delay_exceeded_frames: u64,
    /// Frames that were still on the wire when the class's gate closed (`TransmissionOverrun`).
    #[serde(skip_serializing_if = "none")]
    pub transmission_overruns: u64,
    /// Frames of a cyclic queue that left after the first turn that followed their arrival, and so missed their
    /// cycle.
    #[serde(skip_serializing_if = "none")]
    pub late_frames: u64,
    pub sent_frames: u64,
    pub sent_octets: u64,
    pub most_frames: u64,
    pub most_octets: u64,
}

impl ClassCounters {
    fn each(&mut self, act: &mut impl FnMut(&mut u64)) {
        let Self { enqueued_frames, enqueued_octets, dropped_frames, dropped_octets, .. } = self;
        for number in [enqueued_frames, enqueued_octets, dropped_frames, dropped_octets] {
            act(number);
        }
        let Self { over_max_sdu_frames, delay_exceeded_frames, transmission_overruns, late_frames, .. } =
            self;
        for number in [over_max_sdu_frames, delay_exceeded_frames, transmission_overruns, late_frames] {
            act(number);
        }
        for number in
            [&mut self.sent_frames, &mut self.sent_octets, &mut self.most_frames, &mut self.most_octets]
        {
            act(number);
        }
    }

    pub(crate) fn new(class: usize, counters: &Counters) -> Self {
        let Counters { enqueued_frames, enqueued_octets, dropped_frames, dropped_octets, .. } = *counters;
        let Counters { over_max_sdu_frames, delay_exceeded_frames, transmission_overruns, .. } = *counters;
        let Counters { sent_frames, sent_octets, most_frames, most_octets, .. } = *counters;
        Self {
            class: class as u8,
            enqueued_frames,
            enqueued_octets,
            dropped_frames,
            dropped_octets,
            over_max_sdu_frames,
            delay_exceeded_frames,
            transmission_overruns,
            late_frames: 0,
            sent_frames,
            sent_octets,
            most_frames,
            most_octets,
        }
    }
}

/// Counters of one stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StreamCounters {
    /// The name of the stream.
    pub name: String,
    /// Frames that the talker released.
    pub released: u64,
    /// Copies made for multicast, without the frame itself.
    pub replicated: u64,
    /// Frames that the talker's own port dropped.
    pub dropped_at_talker: u64,
    /// Frames that ports on the path dropped.
    pub dropped_in_network: u64,
    /// Frames lost to faults: on a link that was cut or lossy, or at a bridge where no path forwarded.
    #[serde(skip_serializing_if = "none")]
    pub lost_to_faults: u64,
    /// Copies that sequence recovery eliminated (FRER).
    #[serde(skip_serializing_if = "none")]
    pub eliminated: u64,
    /// Flooded copies that a station without a listener dropped, or a bridge that has learned another port.
    #[serde(skip_serializing_if = "none")]
    pub filtered: u64,
    /// Frames and copies that were still under way at the end.
    #[serde(skip_serializing_if = "none")]
    pub in_network_at_end: u64,
    /// Frames that reached each listener.
    pub delivered: BTreeMap<String, u64>,
}

impl StreamCounters {
    fn each(&mut self, act: &mut impl FnMut(&mut u64)) {
        let Self { released, replicated, dropped_at_talker, dropped_in_network, .. } = self;
        for number in [released, replicated, dropped_at_talker, dropped_in_network] {
            act(number);
        }
        let Self { lost_to_faults, eliminated, filtered, in_network_at_end, .. } = self;
        for number in [lost_to_faults, eliminated, filtered, in_network_at_end] {
            act(number);
        }
        self.delivered.values_mut().for_each(act);
    }
}
