//! The counters of publications and subscriptions, as they are written.

use serde::Serialize;
use std::net::Ipv4Addr;

/// The counters of a publication or a request.
#[derive(Clone, Debug, Serialize)]
pub struct Published {
    /// Communication identifier.
    pub com_id: u32,
    /// The destination of the telegrams.
    pub to: Ipv4Addr,
    /// Telegrams that were handed over.
    pub sent: u64,
    /// Telegrams that the kernel refused.
    pub refused: u64,
    /// Delay from the intended time to the call that sends.
    pub late_ns: Option<Spread>,
    /// Telegrams whose launch time had passed.
    pub launch_times_missed: u64,
    /// Telegrams whose launch time the queueing discipline does not accept.
    pub launch_times_invalid: u64,
}

/// Least, mean and greatest value, ns.
#[derive(Copy, Clone, Debug, Serialize)]
pub struct Spread {
    least: i64,
    mean: i64,
    most: i64,
    #[serde(skip)]
    sum: i128,
    #[serde(skip)]
    count: i128,
}

impl Spread {
    /// Counts one more value.
    pub fn add(into: &mut Option<Self>, value: i64) {
        let one = into.get_or_insert(Self { least: value, mean: value, most: value, sum: 0, count: 0 });
        one.least = one.least.min(value);
        one.most = one.most.max(value);
        one.sum += i128::from(value);
        one.count += 1;
        one.mean = i64::try_from(one.sum / one.count).unwrap_or(i64::MAX);
    }
}
