//! The software of hosts: how long it takes until frames are in the queue of the hardware, and until programs have them.
//!
//! OCORA Fig. 9; tc-etf(8).

use crate::curve::{LONGEST, Ps, ps};
use crate::model::clocks;
use crate::model::flow_hop::FlowHop;
use crate::model::ptp;
use crate::model::span::Span;
use crate::reason::Reason;
use tsn_plan::{ChildQdisc, Distribution, Host, Pattern, Plan, Port, Size, Stream};

/// Number of releases after which a thread that still falls behind counts as without a bound.
const MOST_RELEASES: usize = 10_000;

/// A value of each of these one after the other. Every distribution of a Plan is finite.
fn in_all<'a>(parts: impl IntoIterator<Item = &'a Option<Distribution>>) -> Span {
    parts.into_iter().flatten().map(range).fold(Span::default(), Span::and)
}

fn range(distribution: &Distribution) -> Span {
    let (least, most) = match distribution {
        Distribution::Constant { ns } => (*ns, *ns),
        Distribution::Uniform { from_ns, to_ns } => (*from_ns, *to_ns),
        Distribution::Histogram { ns, counts, width_ns } => {
            let mut drawn = ns.iter().zip(counts).filter(|(_, count)| **count > 0).map(|(ns, _)| *ns);
            let first = drawn.next().unwrap_or(0);
            (first, drawn.next_back().unwrap_or(first).saturating_add(*width_ns))
        }
    };
    Span { least: ps(least), most: ps(most) }
}

/// From the driver to the hardware. Frames that wait for earlier ones there wait no longer than these take.
fn driving(host: &Host) -> Span {
    in_all([&host.driver, &host.tx])
}

/// From the last bit in until a frame that a host forwards is in the next queue. Frames from one port to another keep
/// their order.
pub(crate) fn forwarding(host: &Host) -> Span {
    in_all([&host.kernel_rx, &host.qdisc]).and(driving(host))
}

/// From the last bit in until a listener's program has the frame.
pub(crate) fn receiving(host: &Host) -> Span {
    in_all([&host.kernel_rx, &host.app_rx])
}

/// Why the software of a node has no bound: it waits for all other work of its processor.
pub(crate) fn shared(plan: &Plan, node: u32) -> Option<Reason> {
    let node = &plan.nodes[node as usize];
    node.host.as_deref()?.processor.map(|_| Reason::Processor { node: node.name.clone() })
}

/// From a call of `send` until the frame is in the hardware's queue, at least.
pub(crate) fn least_after_send(plan: &Plan, stream: &Stream) -> Ps {
    talker(plan, stream).map_or(0, |host| in_all([&host.qdisc]).and(driving(host)).least)
}

/// The software of a stream's talker. Frames of a saturating stream wait in the hardware, and PTP does not use it.
fn talker<'a>(plan: &'a Plan, stream: &Stream) -> Option<&'a Host> {
    let passes = !matches!(stream.pattern, Pattern::Saturating { .. }) && !ptp::is_message(stream);
    plan.nodes[stream.talker as usize].host.as_deref().filter(|_| passes)
}

/// From the timer of a stream's program until its frames are in the queue of the hardware at the first hop, which is
/// `hop`. Nothing for streams of other nodes.
///
/// # Errors
/// Why there is no such bound.
pub(crate) fn sending(plan: &Plan, stream: &Stream, hop: &FlowHop) -> Result<Span, Reason> {
    let Some(host) = talker(plan, stream) else { return Ok(Span::default()) };
    if let Some(why) = shared(plan, stream.talker) {
        return Err(why);
    }
    let port = &plan.ports[hop.port];
    let strict = match child(port, hop.class) {
        Some(Child::Strict { delta, offload }) => Some((delta, offload)),
        _ => None,
    };
    let advance = stream.socket.as_ref().filter(|socket| socket.txtime).map(|socket| ps(socket.advance_ns));
    let own = in_all([&host.send, &host.qdisc]);
    let until_qdisc = match strict.zip(advance) {
        // A frame whose transmission time has passed is dropped. The discipline counts on the host's clock.
        Some(((delta, _), advance)) => {
            let until = |span: Ps| clocks::in_true_time_of(plan, stream.talker, span);
            Span {
                least: own.least.max(until(advance.saturating_sub(delta)).least),
                most: until(advance).most,
            }
        }
        None => {
            let timers = std::iter::once(hop.period).flatten().chain(hop.babbles.iter().copied());
            let timers: Vec<_> = timers.map(|period| (period, hop.latest.unwrap_or(0))).collect();
            let frames = i128::from(frames(&stream.size));
            match hop.period {
                // Its program may have any number of frames to send.
                None => Span { least: own.least, most: LONGEST },
                Some(_) => {
                    // What the thread does behind a frame delays the next one alone.
                    let behind = in_all([&host.prepare]).most;
                    let busy = Span { most: own.most.saturating_add(behind), ..own };
                    let found = thread(in_all([&host.wakeup]), busy, frames, &timers)
                        .ok_or_else(|| Reason::Busy { stream: stream.name.clone() })?;
                    Span { most: found.most - behind, ..found }
                }
            }
        }
    };
    let mut found = until_qdisc.and(driving(host));
    if let Some(((delta, true), advance)) = strict.zip(advance) {
        // The hardware keeps to the rate that the clock has when it gets the frame, at most `delta` before.
        let turns = clocks::turns(plan, stream.talker, delta);
        found.least = found.least.max(clocks::in_true_time_of(plan, stream.talker, advance).least - turns);
        found.most = found.most.saturating_add(turns);
    }
    Ok(found)
}

/// The time from a timer until the thread has handed the frame on, if it needs `own` for each frame, and `waking` more
/// after it slept; `timers`: period and jitter of releases, each of so many frames. None without a bound.
fn thread(waking: Span, own: Span, frames: i128, timers: &[(Ps, Ps)]) -> Option<Span> {
    let least = own.least;
    let rested = least.saturating_add(waking.least);
    let [waking, own] = [waking, own].map(|span| i128::from(span.most));
    let timers = || timers.iter().map(|(period, jitter)| (i128::from(*period).max(1), i128::from(*jitter)));
    // Released within a time, both ends included.
    let released =
        |within: i128| frames * timers().map(|(period, jitter)| (within + jitter) / period + 1).sum::<i128>();
    let next = |after: i128| {
        timers().map(|(period, jitter)| ((after + jitter) / period + 1) * period - jitter).min()
    };
    let (mut at, mut longest) = (0, 0);
    for round in 0..MOST_RELEASES {
        let done = waking + own * released(at);
        longest = longest.max(done - at);
        at = next(at)?;
        // A thread that is done before the next release sleeps again; one that is not takes that frame without waking.
        if done <= at {
            let least = if round == 0 { rested } else { least };
            return Some(Span { least, most: Ps::try_from(longest).ok()? });
        }
    }
    None
}

/// The most frames of one release.
fn frames(size: &Size) -> u32 {
    match size {
        Size::Frame { .. } | Size::List { .. } => 1,
        Size::Units { octets, most_per_frame, .. } => {
            octets.iter().map(|octets| octets.div_ceil((*most_per_frame).max(1))).max().unwrap_or(1).max(1)
        }
    }
}

/// The queueing discipline of a class, as far as it matters here.
enum Child {
    /// Hands on at once.
    Immediate,
    /// Holds each frame until so long before its transmission time; with `offload` the hardware holds it then.
    Strict { delta: Ps, offload: bool },
    /// Holds frames for a time that these bounds do not cover.
    Uncovered,
}

fn child(port: &Port, class: u8) -> Option<Child> {
    let qdisc = port.qdisc.as_ref()?;
    Some(match qdisc.children.get(usize::from(class))? {
        _ if qdisc.taprio.is_some() => Child::Uncovered,
        ChildQdisc::Cbs { .. } => Child::Uncovered,
        ChildQdisc::Etf { delta_ns, deadline: false, offload, .. } => {
            Child::Strict { delta: ps(*delta_ns), offload: *offload }
        }
        ChildQdisc::Pfifo { .. } | ChildQdisc::Etf { .. } => Child::Immediate,
    })
}

/// Why the queueing discipline of a class may drop frames.
pub(crate) fn dropped(port: &Port, class: u8) -> Option<Reason> {
    match port.qdisc.as_ref()?.children.get(usize::from(class))? {
        ChildQdisc::Etf { .. } => Some(Reason::TooLate),
        _ => child(port, class).filter(|child| matches!(child, Child::Uncovered)).map(|_| Reason::Qdisc),
    }
}

/// Why frames of a class have no bound at a port of a host.
pub(crate) fn not_covered(port: &Port, class: u8) -> Option<Reason> {
    child(port, class).filter(|child| matches!(child, Child::Uncovered)).map(|_| Reason::Qdisc)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread that wakes within 98 us and needs 5 us: alone, then a frame each 100 us, each 20 us, each 5 us.
    #[test]
    fn a_thread_that_wakes_late_makes_up_for_it() {
        let us = |us: Ps| us * 1_000_000;
        let span = |least: Ps, most: Ps| Span { least: us(least), most: us(most) };
        let (waking, own) = (span(10, 98), span(4, 5));
        let after = |period: Ps, frames: i128| thread(waking, own, frames, &[(us(period), 0)]);
        assert_eq!(after(200, 1), Some(span(14, 103)));
        // The frame behind it comes at 100 us, waits until 103, and then needs no wakeup: it may be ready 4 us later.
        assert_eq!(after(100, 1), Some(span(4, 103)));
        // Releases at 0, 20, 40, ...: done at 103, 108, 113, ..., so the first one waits longest.
        assert_eq!(after(20, 1), Some(span(4, 103)));
        // Three frames at once: the last one is done at 113.
        assert_eq!(after(200, 3), Some(span(14, 113)));
        // It is never done before the next release.
        assert_eq!(after(5, 1), None);
        // Each release is late by up to 50 us, so two may be as close as 30 us, and never at once.
        assert_eq!(thread(waking, span(4, 40), 1, &[(us(80), us(50))]), Some(span(4, 148)));
        // Two timers at once: 98 + 2 x 5.
        assert_eq!(thread(waking, own, 1, &[(us(200), 0), (us(300), 0)]), Some(span(14, 108)));
    }

    #[test]
    fn a_histogram_ends_with_the_last_bin_that_was_met() {
        let found =
            range(&Distribution::Histogram { ns: vec![1, 5, 9, 20], counts: vec![0, 3, 1, 0], width_ns: 2 });
        assert_eq!(found, Span { least: 5_000, most: 11_000 });
    }
}
