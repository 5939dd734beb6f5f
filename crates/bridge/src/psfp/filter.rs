//! A stream filter: the maximum size of service data units, then the stream gate, meter and scheduler of its frames.
//!
//! IEEE 802.1Q-2022, 8.6.5.3.

use tsn_plan::StreamFilter;

/// The counters of a stream filter.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct FilterCounters {
    pub matching_frames: u64,
    /// Frames that passed the stream gate, or have none.
    pub passing_frames: u64,
    /// Frames that the stream gate dropped.
    pub not_passing_frames: u64,
    pub passing_sdu: u64,
    /// Frames that were too long, or came after a too long one.
    pub not_passing_sdu: u64,
    /// Frames that the flow meter dropped.
    pub red_frames: u64,
    /// Frames that the flow meter marked yellow.
    pub yellow_frames: u64,
}

/// One filter with its state.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    max_sdu: Option<u32>,
    block_oversize: bool,
    /// `StreamBlockedDueToOversizeFrame`.
    blocked: bool,
    pub gate: Option<usize>,
    pub meter: Option<usize>,
    pub scheduler: Option<usize>,
    pub counters: FilterCounters,
}

impl Filter {
    /// Whether a frame that was too long has blocked the stream.
    pub fn is_blocked(&self) -> bool {
        self.blocked
    }

    pub fn new(filter: &StreamFilter) -> Self {
        Self {
            max_sdu: filter.max_sdu_octets,
            block_oversize: filter.block_oversize,
            blocked: false,
            gate: filter.gate.map(|gate| gate as usize),
            meter: filter.meter.map(|meter| meter as usize),
            scheduler: filter.scheduler.map(|scheduler| scheduler as usize),
            counters: FilterCounters::default(),
        }
    }

    /// Whether a service data unit is short enough, and no earlier one has blocked the stream.
    pub fn takes(&mut self, sdu_octets: u32) -> bool {
        let short = self.max_sdu.is_none_or(|most| sdu_octets <= most);
        self.blocked |= self.block_oversize && !short;
        let takes = short && !self.blocked;
        if takes {
            self.counters.passing_sdu += 1;
        } else {
            self.counters.not_passing_sdu += 1;
        }
        takes
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A filter that lets everything pass.
    pub fn plain() -> StreamFilter {
        StreamFilter { name: "all".into(), ..StreamFilter::default() }
    }

    fn filter(max_sdu_octets: Option<u32>, block_oversize: bool) -> Filter {
        Filter::new(&StreamFilter { max_sdu_octets, block_oversize, ..plain() })
    }

    fn takes(mut filter: Filter, sdu_octets: [u32; 4]) -> ([bool; 4], u64, u64) {
        let takes = sdu_octets.map(|octets| filter.takes(octets));
        (takes, filter.counters.passing_sdu, filter.counters.not_passing_sdu)
    }

    #[test]
    fn a_data_unit_may_be_as_long_as_the_longest() {
        let sizes = [99, 100, 101, 50];
        assert_eq!(takes(filter(Some(100), false), sizes), ([true, true, false, true], 3, 1));
        assert_eq!(takes(filter(Some(100), true), sizes), ([true, true, false, false], 2, 2));
        assert_eq!(takes(filter(None, true), sizes), ([true; 4], 4, 0));
    }
}
