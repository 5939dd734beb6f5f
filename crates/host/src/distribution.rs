//! A latency that is drawn anew each time.

use tsn_units::Duration;

/// A distribution in the form that latencies are drawn from.
#[derive(Clone, Debug)]
pub enum Distribution {
    /// No time.
    None,
    /// Always the same.
    Constant(Duration),
    /// `count` picoseconds from `from` on, equally likely.
    Uniform {
        /// ps.
        from: u64,
        /// Number of values.
        count: u64,
    },
    /// Bins: where each begins in ps, and the cumulative count of values up to its end.
    Histogram {
        /// (ps, counts up to and with this bin).
        bins: Box<[(u64, u64)]>,
        /// Width of a bin in ps.
        width: u64,
    },
}

fn ps(ns: u64) -> u64 {
    ns.saturating_mul(1_000)
}

impl Distribution {
    /// Reads a distribution of a checked Plan.
    #[must_use]
    pub fn new(plan: Option<&tsn_plan::Distribution>) -> Self {
        match plan {
            None => Self::None,
            Some(tsn_plan::Distribution::Constant { ns }) => Self::Constant(duration(ps(*ns))),
            Some(tsn_plan::Distribution::Uniform { from_ns, to_ns }) => {
                let span = ps(to_ns.saturating_sub(*from_ns));
                Self::Uniform { from: ps(*from_ns), count: span.saturating_add(1) }
            }
            Some(tsn_plan::Distribution::Histogram { ns, counts, width_ns }) => {
                let mut met = 0_u64;
                let bins = ns.iter().zip(counts).map(|(ns, count)| {
                    met = met.saturating_add(*count);
                    (ps(*ns), met)
                });
                Self::Histogram { bins: bins.collect(), width: ps(*width_ns) }
            }
        }
    }

    /// One latency. `below(n)` draws uniformly from `0..n`.
    #[inline]
    pub fn draw(&self, mut below: impl FnMut(u64) -> u64) -> Duration {
        match self {
            Self::None => Duration::ZERO,
            Self::Constant(duration) => *duration,
            Self::Uniform { from, count } => duration(from.saturating_add(below(*count))),
            Self::Histogram { bins, width } => {
                let total = bins.last().map_or(0, |bin| bin.1);
                let drawn = below(total);
                let place = bins.partition_point(|bin| bin.1 <= drawn);
                let begin = bins.get(place).map_or(0, |bin| bin.0);
                let within = if *width > 0 { below(*width) } else { 0 };
                duration(begin.saturating_add(within))
            }
        }
    }
}

fn duration(ps: u64) -> Duration {
    Duration::from_ps(i64::try_from(ps).unwrap_or(i64::MAX))
}
