//! Reasons as sentences: the cause with its numbers, and the least change that is needed. Only a new plan can show
//! whether that change suffices.

use super::Reason;
use crate::gates::GateRefusal;
use std::fmt;

/// Picoseconds in a unit that people read: exact, because people copy these values into scenarios.
struct Time(i64);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (digits, unit) = match self.0.unsigned_abs() {
            0..1_000 => return write!(f, "{} ps", self.0),
            1_000..1_000_000 => (3_u32, "ns"),
            1_000_000..1_000_000_000 => (6, "us"),
            _ => (9, "ms"),
        };
        let worth = 10_i64.pow(digits);
        let (whole, part) = (self.0 / worth, self.0 % worth);
        if part == 0 {
            return write!(f, "{whole} {unit}");
        }
        let part = format!("{part:00$}", digits as usize);
        write!(f, "{whole}.{} {unit}", part.trim_end_matches('0'))
    }
}

/// Parts per million as percent.
struct Percent(i64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{} %", self.0 / 10_000, self.0 % 10_000 / 1_000)
    }
}

/// A list of numbers; of a long list the first eight.
struct Numbers<'a>(&'a [u32]);

impl fmt::Display for Numbers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<String> = self.0.iter().take(8).map(u32::to_string).collect();
        f.write_str(&shown.join(", "))?;
        match self.0.len().saturating_sub(shown.len()) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { stream, listener } => write!(
                f,
                "stream {stream} cannot reach node {listener}: no path of links and bridges leads there; connect them"
            ),
            Self::NotDisjoint { stream, copies } => write!(
                f,
                "stream {stream} needs {copies} paths without a link in common, and there are fewer; add links or ask for fewer copies"
            ),
            Self::Frame { stream, link, octets, most } => write!(
                f,
                "stream {stream} has frames of {octets} octets, and link {link} takes {most}; cut its data into frames of at most {most} octets"
            ),
            Self::Period { stream, link, needs_ps, period_ns } => write!(
                f,
                "stream {stream} occupies link {link} for {} in every {}; a longer period, less data or a faster link is needed",
                Time(*needs_ps),
                Time(period_ns * 1_000)
            ),
            Self::Deadline { stream, deadline_ns, smallest_ps, margin_ps, hops, rate_bps } => {
                let sum = |of: fn(&super::Hop) -> i64| Time(hops.iter().map(of).sum());
                write!(
                    f,
                    "stream {stream} needs at least {} over {} links ({} on wires, {} of propagation, {} in nodes, {} for clock errors), and its deadline is {}; without other streams it meets a deadline of {}",
                    Time(*smallest_ps),
                    hops.len(),
                    sum(|hop| hop.wire_ps),
                    sum(|hop| hop.propagation_ps),
                    sum(|hop| hop.before_ps),
                    Time(*margin_ps),
                    Time(deadline_ns * 1_000),
                    Time((smallest_ps + 999) / 1_000 * 1_000),
                )?;
                match rate_bps {
                    Some(rate) => {
                        write!(f, ", or its own deadline with {} Mbit/s on its links", rate / 1_000_000)
                    }
                    None => f.write_str(", and no faster link helps"),
                }
            }
            Self::Jitter { stream, limit_ns, spread_ps, margins_ps } => {
                let (limit, all) =
                    (Time(limit_ns * 1_000), Time((spread_ps + margins_ps + 999) / 1_000 * 1_000));
                write!(f, "the jitter limit of stream {stream} is {limit}, and ")?;
                match (*spread_ps, *margins_ps) {
                    (0, clocks) => write!(f, "clock errors alone make {}", Time(clocks))?,
                    (paths, 0) => write!(f, "the delays of its paths differ by {}", Time(paths))?,
                    (paths, clocks) => {
                        write!(
                            f,
                            "the delays of its paths differ by {}, to which clock errors add {}",
                            Time(paths),
                            Time(clocks)
                        )?;
                    }
                }
                write!(f, "; without other streams it keeps a jitter of {all}")
            }
            Self::Pair { link, streams: [a, b], needs_ps: [x, y], common_ps } => write!(
                f,
                "streams {a} and {b} must both take link {link}, for {} and {}, together more than {}, the greatest common divisor of their periods: they collide whatever their releases; periods with a larger common divisor or shorter frames are needed",
                Time(*x),
                Time(*y),
                Time(*common_ps)
            ),
            Self::Together { link, streams, needs_ps, common_ps } => {
                let modulus = Time(*common_ps);
                let times: Vec<String> = needs_ps.iter().take(8).map(|ps| Time(*ps).to_string()).collect();
                write!(
                    f,
                    "streams {} must all take link {link}: the greatest common divisor of each two of their periods divides {modulus}, so no two may overlap modulo {modulus}, and they need {} of that ({}): some collide whatever their releases; periods with larger common divisors or shorter frames are needed",
                    Numbers(streams),
                    Time(needs_ps.iter().sum()),
                    times.join(", "),
                )
            }
            Self::Link { link, ppm, streams } => {
                let most =
                    streams.iter().take(3).map(|own| format!("stream {} {}", own.stream, Percent(own.ppm)));
                let most = most.collect::<Vec<_>>().join(", ");
                write!(
                    f,
                    "link {link} would be occupied for {} of its time by {} streams that have no other path (most by {most}); a faster link, fewer streams or other paths are needed",
                    Percent(*ppm),
                    streams.len()
                )
            }
            Self::Gates { refusal } => refusal.fmt(f),
            Self::Conflict { stream, streams, minimal } => write!(
                f,
                "stream {stream} found no room beside {} {}; {}",
                if streams.len() == 1 { "stream" } else { "streams" },
                Numbers(streams),
                match streams.len() {
                    1 => "whether a schedule of both exists is not known",
                    _ if *minimal => "without any one of them it finds room",
                    _ => "a smaller set may be enough",
                }
            ),
            Self::Without { streams } => write!(
                f,
                "no schedule with all streams, but one without {} {}",
                if streams.len() == 1 { "stream" } else { "streams" },
                Numbers(streams)
            ),
        }
    }
}

impl fmt::Display for GateRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cycle { link, cycle_ns: Some(cycle_ns), longest_ns, granularity_ns } => write!(
                f,
                "the periods on link {link} have the common multiple {}, and its gates have cycles of at most {} in ticks of {granularity_ns} ns; periods with a smaller common multiple are needed",
                Time(cycle_ns * 1_000),
                Time(longest_ns * 1_000)
            ),
            Self::Cycle { link, cycle_ns: None, .. } => write!(
                f,
                "the common multiple of the periods on link {link} is too long for any cycle; periods with a smaller common multiple are needed"
            ),
            Self::Entries { link, needed, most } => write!(
                f,
                "link {link} needs {needed} gate entries and has {most}, and its windows cannot be joined because frames wait there; fewer streams on the link or a shorter cycle are needed"
            ),
            Self::Early { link, stream, shortest_interval_ns } => write!(
                f,
                "a window of link {link} with the shortest interval of its hardware ({shortest_interval_ns} ns) lets a frame of stream {stream} leave too early; a queue of its own, or hardware with a shorter interval, is needed"
            ),
        }
    }
}
