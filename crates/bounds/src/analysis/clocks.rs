//! Bounds where nodes have clocks of their own: the analysis is that of true time, and counts the messages of PTP.
//!
//! When a message is released may depend on the delay of another one, which depends on the messages. So the analysis
//! assumes the difference between the longest and the shortest delay of each message, and repeats with longer ones until
//! none is longer than assumed. That state is a bound: assume a first message that exceeds what is assumed of it. All
//! messages before it kept it, so the arrivals that this message met kept their curves.

use crate::analysis::answers;
use crate::model::clocks::{Known, in_true_time};
use crate::model::ptp::Messages;
use crate::reason::Reason;
use crate::report::Bounds;
use tsn_plan::{Plan, Stream};

/// Number of rounds after which messages whose spread still grows count as unlimited.
const MOST_ROUNDS: usize = 20;

/// The bounds of a checked Plan (see [`tsn_plan::Plan::check`]).
///
/// Delays are those that the clocks of talkers and listeners show; delays from the release, over a hop, and backlogs are
/// in true time.
#[must_use]
pub fn bounds(plan: &Plan) -> Bounds {
    let Some(known) = Known::of(plan) else { return answers::bounds(plan) };
    if uses_transparent(plan) {
        return answers::bounds(plan).without(&Reason::Transparent);
    }
    let plan = in_true_time(plan, known);
    let Some(mut messages) = Messages::of(&plan) else { return named(answers::bounds(&plan), &plan, known) };
    let flows: usize = plan.streams.iter().map(|stream| stream.listeners.len()).sum();
    let mut round = 0;
    loop {
        let mut found = answers::bounds(&messages.with_streams(&plan));
        if messages.hold(&found.flows[flows..], round >= MOST_ROUNDS) {
            found.flows.truncate(flows);
            return named(found, &plan, known);
        }
        round += 1;
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

/// Bounds with the promise that they rely on.
fn named(found: Bounds, plan: &Plan, known: Known) -> Bounds {
    let promised = plan.clocks.as_ref().and_then(|clocks| clocks.within_ns);
    Bounds { clocks_within_ns: promised.filter(|_| known != Known::RunFree), ..found }
}
