//! Bounds where nodes have clocks of their own: the analysis is that of true time, and counts the messages of PTP.
//!
//! When a message is released may depend on the delay of another one, which depends on the messages. So the analysis
//! assumes the difference between the longest and the shortest delay of each message, and repeats with longer ones until
//! none is longer than assumed. That state is a bound: assume a first message that exceeds what is assumed of it. All
//! messages before it kept it, so the arrivals that this message met kept their curves.

use crate::analysis::answers;
use crate::analysis::flows::Silent;
use crate::analysis::network::memory::Memory;
use crate::analysis::network::{self, Last, Told};
use crate::curve::{LONGEST, Ps};
use crate::model::clocks::{Known, between_stamps, in_true_time};
use crate::model::ptp::Messages;
use crate::model::sizes::{Sizes, until_last_bit};
use crate::reason::Reason;
use crate::report::{Bounds, FlowBounds};
use tsn_plan::{Plan, R_TAG_OCTETS, Stream};

/// Number of rounds after which messages whose spread still grows count as unlimited.
const MOST_ROUNDS: usize = 20;

/// The bounds of a checked Plan (see [`tsn_plan::Plan::check`]).
///
/// Delays are those that the clocks of talkers and listeners show; delays over a hop and backlogs are in true time.
#[must_use]
pub fn bounds(plan: &Plan) -> Bounds {
    found(plan, &|_| false, None)
}

/// The bounds of [`bounds`], with what is known from Plans that were analysed before.
#[must_use]
pub fn bounds_with(plan: &Plan, memory: &Memory) -> Bounds {
    found(plan, &|_| false, Some(memory))
}

/// The bounds of [`bounds`] for the flows of the streams that are asked for, by their numbers, without hops; all ports
/// are analysed. The Plan has no clocks, and no stream of it answers another one. `memory`: as for [`bounds_with`].
#[must_use]
pub fn bounds_of(plan: &Plan, asked: &dyn Fn(u32) -> bool, memory: Option<&Memory>) -> Bounds {
    network::bounds_of(plan, asked, memory)
}

/// The lower bounds of [`bounds`] of a Plan without clocks, and why frames may be dropped, without an analysis: upper
/// bounds are none.
#[must_use]
pub fn lower_bounds(plan: &Plan) -> Bounds {
    network::lower_bounds(plan)
}

/// The bounds of a checked Plan as if some streams sent nothing.
pub(crate) fn bounds_without(plan: &Plan, silent: Silent<'_>) -> Bounds {
    found(plan, silent, None)
}

fn found(plan: &Plan, silent: Silent<'_>, memory: Option<&Memory>) -> Bounds {
    let Some(known) = Known::of(plan) else { return answers::bounds(plan, silent, None, memory) };
    if uses_transparent(plan) {
        return answers::bounds(
            plan,
            silent,
            Some(Last { from: 0, alone: false, holds: &mut |_| Told::Fails }),
            memory,
        )
        .without(&Reason::Transparent);
    }
    let plan = in_true_time(plan, known);
    let Some(mut messages) = Messages::of(&plan) else {
        return named(answers::bounds(&plan, silent, None, memory), &plan, known);
    };
    let flows: usize = plan.streams.iter().map(|stream| stream.listeners.len()).sum();
    // Without answers and software, only the jitters of messages differ from round to round.
    let alone = plan.streams.iter().all(|stream| stream.answers.is_none())
        && plan.nodes.iter().all(|node| node.host.is_none());
    let mut round = 0;
    loop {
        let mut holds = false;
        let with_messages = messages.with_streams(&plan);
        let mut hold = |found: &[FlowBounds]| {
            holds = messages.hold(found, round >= MOST_ROUNDS);
            if holds {
                return Told::Holds;
            }
            round += 1;
            messages.jitters().filter(|_| alone).map_or(Told::Fails, Told::Later)
        };
        let last = Last { from: plan.streams.len(), alone, holds: &mut hold };
        let mut found = answers::bounds(&with_messages, silent, Some(last), memory);
        if holds {
            found.flows.truncate(flows);
            found.reasons_mut().for_each(|reason| reason.replace_arrivals(&|stream| messages.why(stream)));
            return named(found, &plan, known);
        }
    }
}

/// Whether a talker, a listener or sequence recovery counts on the clock of a transparent clock's node.
fn uses_transparent(plan: &Plan) -> bool {
    let measures = |node: u32| plan.clocks.as_ref().is_some_and(|clocks| !clocks.keeps_time(node));
    let ends = |stream: &Stream| {
        let mut ends = stream.listeners.iter().map(|listener| listener.node).chain([stream.talker]);
        ends.any(measures) || stream.redundancy.is_some() && (0..plan.nodes.len() as u32).any(measures)
    };
    plan.streams.iter().any(ends)
}

/// Bounds with the promise that they rely on. Delays from the release become those that clocks show.
fn named(mut found: Bounds, plan: &Plan, known: Known) -> Bounds {
    let ends = plan.streams.iter().flat_map(|own| own.listeners.iter().map(move |listener| (own, listener)));
    for ((stream, listener), flow) in ends.zip(&mut found.flows) {
        let largest = Sizes::of(&stream.size, stream.redundancy.as_ref().map_or(0, |_| R_TAG_OCTETS)).largest;
        let passes = stream.route.iter().map(|hop| {
            let port = &plan.ports[hop.port as usize];
            until_last_bit(largest, port).saturating_add(Ps::try_from(port.propagation_ps).unwrap_or(LONGEST))
        });
        // The release is stamped when it happens.
        let passing = [0, passes.max().unwrap_or(0)];
        let between = |delay| between_stamps(plan, [stream.talker, listener.node], passing, delay);
        let lower = flow.release_lower_ps;
        flow.release_lower_ps = lower.saturating_add(between(lower).0);
        flow.release_upper_ps = flow.release_upper_ps.map(|upper| upper.saturating_add(between(upper).1));
    }
    found.clocks_within_ns =
        plan.clocks.as_ref().and_then(|clocks| clocks.within_ns).filter(|_| known != Known::RunFree);
    found
}
