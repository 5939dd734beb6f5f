//! What nodes counted of the frames that came in.
//!
//! IEEE 802.1Q-2022, 8.6.5.3.1 and 8.6.11.

use serde::Serialize;
use tsn_bridge::psfp::Psfp;
use tsn_plan::{Plan, Policing};

/// One node. What it drops counts as dropped in the network for the frame's stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PolicingCounters {
    /// Its name.
    pub node: String,
    /// Its stream filters, in their order.
    pub filters: Vec<FilterCounters>,
    /// Its ATS scheduler groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupCounters>,
}

/// One stream filter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FilterCounters {
    /// Its name.
    pub filter: String,
    /// Frames that matched it.
    pub matching_frames: u64,
    /// That were short enough.
    pub passing_sdu: u64,
    /// That were too long, or came after one that was and blocked the stream.
    pub not_passing_sdu: u64,
    /// That the stream gate let pass.
    pub passing_frames: u64,
    /// That it did not.
    pub not_passing_frames: u64,
    /// That the flow meter let pass marked.
    pub yellow_frames: u64,
    /// That it dropped.
    pub red_frames: u64,
}

/// One ATS scheduler group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GroupCounters {
    /// Its name.
    pub group: String,
    /// Frames that would have stayed longer than the maximum residence time.
    pub discarded_frames: u64,
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
