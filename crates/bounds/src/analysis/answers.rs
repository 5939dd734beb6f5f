//! Streams that answer others: the time at which a request may arrive is the jitter of its answer.
//!
//! An answer is a periodic stream that begins with the earliest arrival of its request, and is late by the difference
//! to the latest one. That depends on the bound of the request, which may depend on the answer. So the analysis begins
//! without this jitter and repeats until it does not change. That state is a bound: assume a first frame that breaks
//! its bound. All frames before it kept theirs, so the requests arrived in time, and so the arrivals that this frame
//! met kept their curves.

use crate::analysis::flows::Silent;
use crate::analysis::network::memory::Memory;
use crate::analysis::network::{self, Last, Told};
use crate::reason::Reason;
use crate::report::{Bounds, FlowBounds};
use std::collections::HashMap;
use tsn_plan::{Answers, Fault, Pattern, Plan, Stream};

/// Number of rounds after which answers whose jitter still grows count as unlimited.
const MOST_ROUNDS: usize = 400;
/// ps in a ns.
const PS: i64 = 1_000;

/// The bounds of a checked Plan (see [`tsn_plan::Plan::check`]); `last` and `memory`: as in [`network::bounds`].
pub(crate) fn bounds(
    plan: &Plan,
    silent: Silent<'_>,
    mut last: Option<Last<'_>>,
    memory: Option<&Memory>,
) -> Bounds {
    if plan.streams.iter().all(|stream| stream.answers.is_none()) {
        return network::bounds(plan, silent, last, memory);
    }
    let timetable = |stream: &Stream| Stream { start_ns: start(plan, stream), ..stream.clone() };
    let mut assumed = Plan { streams: plan.streams.iter().map(timetable).collect(), ..plan.clone() };
    let mut unlimited: Vec<bool> =
        plan.streams.iter().map(|stream| stream.answers.is_some_and(|own| repeats(plan, own))).collect();
    let mut round = 0;
    loop {
        let mut now = Vec::new();
        let mut holds = |found: &[FlowBounds]| {
            now = released_by(plan, assumed.streams.clone(), &mut unlimited, found, round >= MOST_ROUNDS);
            let others =
                |from| plan.streams[..from].iter().map(|stream| stream.listeners.len()).sum::<usize>();
            let last = last.as_mut();
            if now != assumed.streams {
                return Told::Fails;
            }
            last.map_or(Told::Holds, |last| (last.holds)(&found[others(last.from)..]))
        };
        let mut found = network::bounds(
            &assumed,
            silent,
            Some(Last { from: 0, alone: false, holds: &mut holds }),
            memory,
        );
        if now == assumed.streams {
            name_reasons(plan, &unlimited, &mut found);
            return found;
        }
        assumed.streams = now;
        round += 1;
    }
}

/// The streams, with answers released as these bounds say that are found with the releases assumed before.
fn released_by(
    plan: &Plan,
    mut assumed: Vec<Stream>,
    unlimited: &mut [bool],
    found: &[FlowBounds],
    give_up: bool,
) -> Vec<Stream> {
    let arrivals: HashMap<(&str, &str), &FlowBounds> =
        found.iter().map(|flow| ((flow.stream.as_str(), flow.listener.as_str()), flow)).collect();
    for (number, stream) in plan.streams.iter().enumerate() {
        let Some(own) = stream.answers else { continue };
        let request = &assumed[own.stream as usize];
        let talker = plan.nodes[stream.talker as usize].name.as_str();
        let arrives = arrivals.get(&(request.name.as_str(), talker)).filter(|_| !unlimited[number]);
        // Each copy of a request that passes is answered.
        let once = |flow: &&FlowBounds| request.redundancy.is_none() || flow.most_arrivals == Some(1);
        let now =
            arrives.filter(|flow| once(flow)).and_then(|arrives| released(request, stream, own, arrives));
        let now = now.unwrap_or_else(|| endless(stream));
        let differs = now != assumed[number].pattern;
        unlimited[number] |= differs && give_up || !matches!(now, Pattern::Periodic { .. });
        assumed[number].pattern = now;
    }
    assumed
}

/// When a stream begins: with the first request of its chain, which a checked Plan has.
fn start(plan: &Plan, stream: &Stream) -> u64 {
    let mut first = stream;
    while let Some(own) = first.answers {
        first = &plan.streams[own.stream as usize];
    }
    first.start_ns
}

/// Whether a request may be answered more often than its period says: its talker babbles, or a fault repeats frames.
fn repeats(plan: &Plan, own: Answers) -> bool {
    let request = &plan.streams[own.stream as usize];
    plan.faults.iter().any(|fault| match fault {
        Fault::Babble { stream, .. } => *stream == own.stream,
        Fault::Duplicate { port, .. } => request.route.iter().any(|hop| hop.port == *port),
        _ => false,
    })
}

/// The releases of a stream that answers, by the arrivals of its request; none if these have no bound.
fn released(request: &Stream, stream: &Stream, own: Answers, arrives: &FlowBounds) -> Option<Pattern> {
    let Pattern::Periodic { period_ns, offset_ns, jitter_ns } = request.pattern else { return None };
    let Pattern::Periodic { jitter_ns: own_jitter_ns, .. } = stream.pattern else { return None };
    let early = u64::try_from(arrives.release_lower_ps.div_euclid(PS)).ok()?;
    let late = arrives.release_upper_ps?.checked_add(arrives.program_ps)?;
    let late = u64::try_from(late.checked_add(PS - 1)?.div_euclid(PS)).ok()?;
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

/// Says of answers without a bound that their request has none, or comes too often.
fn name_reasons(plan: &Plan, unlimited: &[bool], found: &mut Bounds) {
    let answered = |answer: &str| {
        let number = plan.streams.iter().position(|stream| stream.name == answer)?;
        let stream = plan.streams.get(number).filter(|_| unlimited[number])?;
        Some((stream, &plan.streams[stream.answers?.stream as usize]))
    };
    let reasons: HashMap<(String, String), Option<Reason>> = found
        .flows
        .iter()
        .map(|flow| ((flow.stream.clone(), flow.listener.clone()), flow.release_reason.clone()))
        .collect();
    let other = |answer: &str| {
        let (stream, request) = answered(answer)?;
        let talker = plan.nodes[stream.talker as usize].name.clone();
        let (stream, request) = (stream.name.clone(), request.name.clone());
        let Some(why) = reasons.get(&(request.clone(), talker)).cloned().flatten() else {
            return Some(Reason::AnswersAgain { stream, request });
        };
        let why = Some(why).filter(|why| !why.is_of_arrivals(&|stream| answered(stream).is_some()));
        Some(Reason::Answers { stream, request, why: why.map(Box::new) })
    };
    found.reasons_mut().for_each(|reason| reason.replace_arrivals(&other));
}
