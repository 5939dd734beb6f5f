//! The totals of each stream, counted during a run.

/// The totals of one stream.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct StreamTotals {
    pub released: u64,
    pub replicated: u64,
    pub dropped_at_talker: u64,
    pub dropped_in_network: u64,
    pub lost_to_faults: u64,
    pub eliminated: u64,
    pub filtered: u64,
}
