//! What is counted of each stream while a run goes on.

/// What is counted per stream.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Tally {
    pub released: u64,
    pub replicated: u64,
    pub dropped_at_talker: u64,
    pub dropped_in_network: u64,
    pub lost_to_faults: u64,
    pub eliminated: u64,
    pub filtered: u64,
}
