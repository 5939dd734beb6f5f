//! Streams that answer others: the time at which a request may arrive is the jitter of its answer.
//!
//! An answer is a periodic stream that begins with the earliest arrival of its request, and is late by the difference
//! to the latest one. That depends on the bound of the request, which may depend on the answer. So the analysis begins
//! without this jitter and repeats until it does not change. That state is a bound: assume a first frame that breaks
//! its bound. All frames before it kept theirs, so the requests arrived in time, and so the arrivals that this frame
//! met kept their curves.

use crate::analysis::network;
use crate::reason::Reason;
use crate::report::Bounds;
use tsn_plan::{Answers, Fault, Pattern, Plan, Stream};

/// Number of rounds after which answers whose jitter still grows count as unlimited.
const MOST_ROUNDS: usize = 400;
const PS: i64 = 1_000;

/// The bounds of a checked Plan.
///
/// # Examples
/// See `tests/answers.rs`.
#[must_use]
pub fn bounds(plan: &Plan) -> Bounds {
    if plan.streams.iter().all(|stream| stream.answers.is_none()) {
        return network::bounds(plan);
    }
    let mut assumed = Plan { streams: plan.streams.iter().map(timetable).collect(), ..plan.clone() };
    let mut unlimited: Vec<bool> =
        plan.streams.iter().map(|stream| stream.answers.is_some_and(|own| many(plan, own))).collect();
    for round in 0.. {
        let mut found = network::bounds(&assumed);
        let mut rests = true;
        for (number, stream) in plan.streams.iter().enumerate() {
            let Some(own) = stream.answers else { continue };
            let now = if unlimited[number] { None } else { released(&assumed, stream, own, &found) };
            let now = now.unwrap_or_else(|| endless(stream));
            let grows = now != assumed.streams[number].pattern;
            unlimited[number] |= grows && round >= MOST_ROUNDS;
            unlimited[number] |= !matches!(now, Pattern::Periodic { .. });
            rests &= !grows;
            assumed.streams[number].pattern = now;
        }
        if rests {
            name_reasons(plan, &unlimited, &mut found);
            return found;
        }
    }
    network::bounds(&assumed)
}

/// A stream with the timetable that its answers would have if requests took no time.
fn timetable(stream: &Stream) -> Stream {
    Stream { answers: None, ..stream.clone() }
}

/// Whether a request may be answered more than once: its talker babbles, or copies of it may pass.
fn many(plan: &Plan, own: Answers) -> bool {
    let babbles = |fault: &Fault| matches!(fault, Fault::Babble { stream, .. } if *stream == own.stream);
    plan.streams[own.stream as usize].redundancy.is_some() || plan.faults.iter().any(babbles)
}

/// The releases of a stream that answers, by the bounds of its request; none if the request has no bound.
fn released(assumed: &Plan, stream: &Stream, own: Answers, found: &Bounds) -> Option<Pattern> {
    let request = &assumed.streams[own.stream as usize];
    let Pattern::Periodic { period_ns, offset_ns, jitter_ns } = request.pattern else { return None };
    let Pattern::Periodic { jitter_ns: own_jitter_ns, .. } = stream.pattern else { return None };
    let listener = &assumed.nodes[stream.talker as usize].name;
    let arrives =
        found.flows.iter().find(|flow| flow.stream == request.name && &flow.listener == listener)?;
    let early = u64::try_from(arrives.release_lower_ps.div_euclid(PS)).ok()?;
    let late = u64::try_from(arrives.release_upper_ps?.checked_add(PS - 1)?.div_euclid(PS)).ok()?;
    Some(Pattern::Periodic {
        period_ns,
        offset_ns: offset_ns.checked_add(early)?.checked_add(own.after_ns)?,
        jitter_ns: jitter_ns.checked_add(late.checked_sub(early)?)?.checked_add(own_jitter_ns)?,
    })
}

/// Releases without a limit.
fn endless(stream: &Stream) -> Pattern {
    match stream.pattern {
        Pattern::Periodic { period_ns, .. } => {
            Pattern::Poisson { mean_interval_ps: period_ns.saturating_mul(1_000) }
        }
        ref other => other.clone(),
    }
}

/// Says of answers without a bound that their request has none.
fn name_reasons(plan: &Plan, unlimited: &[bool], found: &mut Bounds) {
    for (stream, _) in plan.streams.iter().zip(unlimited).filter(|(_, unlimited)| **unlimited) {
        let Some(own) = stream.answers else { continue };
        let why = Reason::Answers { request: plan.streams[own.stream as usize].name.clone() };
        for flow in found.flows.iter_mut().filter(|flow| flow.stream == stream.name) {
            for reason in [&mut flow.reason, &mut flow.release_reason] {
                let own_arrivals = reason.as_ref().is_some_and(|reason| reason.is_arrivals_of(&stream.name));
                if own_arrivals {
                    *reason = Some(why.clone());
                }
            }
        }
    }
}
