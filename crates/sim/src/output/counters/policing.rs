//! Counters of the frames that nodes filter.
//!
//! IEEE 802.1Q-2022, 8.6.5.3.1 and 8.6.11.

use serde::Serialize;
use tsn_bridge::psfp::Psfp;
use tsn_plan::{Plan, Policing};

/// Counters of one node. A frame that the node drops counts as dropped in the network for its stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PolicingCounters {
    /// The name of the node.
    pub node: String,
    /// Counters of its stream filters, in their order.
    pub filters: Vec<FilterCounters>,
    /// Counters of its ATS scheduler groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupCounters>,
}

/// Counters of one stream filter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FilterCounters {
    /// The name of the filter.
    pub filter: String,
    /// Frames that matched the filter.
    pub matching_frames: u64,
    /// Frames within the maximum size.
    pub passing_sdu: u64,
    /// Frames that were too long, or came after a too long one that blocked the stream.
    pub not_passing_sdu: u64,
    /// Frames that the stream gate let pass.
    pub passing_frames: u64,
    /// Frames that the stream gate dropped.
    pub not_passing_frames: u64,
    /// Frames that the flow meter marked yellow.
    pub yellow_frames: u64,
    /// Frames that the flow meter dropped.
    pub red_frames: u64,
}

/// Counters of one ATS scheduler group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GroupCounters {
    /// The name of the group.
    pub group: String,
    /// Frames dropped because they would have stayed longer than the maximum residence time.
    pub discarded_frames: u64,
}

impl FilterCounters {
    pub(super) fn each(&mut self, act: &mut impl FnMut(&mut u64)) {
        let Self { matching_frames, passing_sdu, not_passing_sdu, passing_frames, .. } = self;
        for number in [matching_frames, passing_sdu, not_passing_sdu, passing_frames] {
            act(number);
        }
        let Self { not_passing_frames, yellow_frames, red_frames, .. } = self;
        for number in [not_passing_frames, yellow_frames, red_frames] {
            act(number);
        }
    }
}

impl PolicingCounters {
    pub(crate) fn new(plan: &Plan, policing: &Policing, table: &Psfp) -> Self {
        let filter = |(filter, counted): (&tsn_plan::StreamFilter, &tsn_bridge::psfp::FilterCounters)| {
            let tsn_bridge::psfp::FilterCounters { matching_frames, passing_sdu, not_passing_sdu, .. } =
                *counted;
            let tsn_bridge::psfp::FilterCounters { passing_frames, not_passing_frames, .. } = *counted;
            let tsn_bridge::psfp::FilterCounters { yellow_frames, red_frames, .. } = *counted;
            FilterCounters {
                filter: filter.name.clone(),
                matching_frames,
                passing_sdu,
                not_passing_sdu,
                passing_frames,
                not_passing_frames,
                yellow_frames,
                red_frames,
            }
        };
        let groups = policing.groups.iter().zip(table.discarded());
        Self {
            node: plan.nodes[policing.node as usize].name.clone(),
            filters: policing.filters.iter().zip(table.counters()).map(filter).collect(),
            groups: groups
                .map(|(group, discarded_frames)| GroupCounters {
                    group: group.name.clone(),
                    discarded_frames,
                })
                .collect(),
        }
    }
}
