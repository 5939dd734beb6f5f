//! Preemptable frames that gate entries hold (`Set-And-Hold-MAC`): when they start, and how long they take.
//!
//! IEEE 802.1Q-2022, 8.6.8.4 and 12.30; IEEE 802.3-2022, clause 99.

use crate::curve::deviation::Rises;
use crate::curve::{Curve, Data, Ps, Rate, time_of};
use crate::model::openings::{Openings, Starts, Window};
use crate::model::sizes::{until_last_bit, wire};
use crate::reason::Reason;
use crate::service::class::{Class, Model};
use crate::service::laps::{Serving, Since};
use crate::service::{moments, preemption};

/// The time that the continuation of a frame costs.
pub(crate) fn continuation(model: &Model<'_>) -> Ps {
    time_of(preemption::CONTINUATION, model.rate).unwrap_or(0)
}

/// What holds cost the frames of a class within any span of time: each hold may cut one of them.
pub(crate) fn interruptions(class: &Class<'_>) -> Curve {
    let Some((cycle, released)) = class.held().filter(|_| class.interrupted) else { return Curve::zero() };
    let per_cycle = Data::try_from(released.len()).unwrap_or(0) * preemption::CONTINUATION;
    let slope = Rate::try_from(per_cycle / Data::from(cycle.max(1)) + 1).unwrap_or(Rate::MAX);
    Curve::affine(per_cycle, slope)
}

/// The spans in which the gate of a preemptable class is open and its frames are released, each with the last moment
/// at which its largest frame may start: the whole frame fits the gate's window; or a hold ends the span, and the
/// part that cannot be cut fits.
pub(crate) fn starts(
    class: &Class<'_>,
    openings: &Openings,
    cycle: Ps,
    released: &[Window],
) -> Vec<(Window, Ps)> {
    let port = class.model.port;
    let whole = class.model.needs(until_last_bit(class.largest, port));
    let least = class.model.needs(until_last_bit(preemption::uncut(class.largest), port));
    let (later, within) = class.model.uncertain(cycle);
    // Whether preemptable frames may be released again in a span.
    let again = |from: Ps, to: Ps| match &class.model.released {
        Some(Openings::Windows { windows, .. }) => {
            let all = windows.iter().flat_map(|own| [-cycle, 0, cycle].map(|by| own.from + by));
            all.into_iter().any(|at| at >= from && at < to)
        }
        _ => true,
    };
    let around = || [-cycle, 0, cycle].into_iter().flat_map(|by| released.iter().map(move |w| w.moved(by)));
    let gates: Vec<Window> = match openings {
        // A gate that never closes: one window of the length of all that is looked at.
        Openings::Always => vec![Window { from: -cycle, to: 3 * cycle }],
        Openings::Windows { windows, .. } => windows.iter().flat_map(|w| [w.moved(-cycle), *w]).collect(),
    };
    let mut spans: Vec<(Window, Ps)> = Vec::new();
    for gate in gates {
        for span in around() {
            let both = Window { from: gate.from.max(span.from), to: gate.to.min(span.to) };
            let cut = span.to + later <= gate.to && (openings.always() || !again(span.to, gate.to + within));
            let last = gate.to - if cut { least } else { whole };
            // At the moment of a hold, no frame starts.
            spans.push((both, last.min(both.to - 1)));
        }
    }
    let mut spans: Vec<(Window, Ps)> = spans
        .into_iter()
        .filter(|(span, last)| span.from <= *last && (0..cycle).contains(&span.from))
        .collect();
    spans.sort_unstable_by_key(|(span, _)| span.from);
    spans
}

/// Time from the first bit of a frame to its last one, at most: it may be held just after it began, and express frames
/// use at most `express` of the link meanwhile.
pub(crate) fn until_passed(
    class: &Class<'_>,
    (cycle, released): (Ps, &[Window]),
    octets: u32,
    express: &Curve,
) -> Result<Ps, Reason> {
    let (cost, own) = (continuation(class.model), wire(octets) - preemption::gap());
    let windows: Vec<Window> = released
        .iter()
        .map(|window| Window { to: window.to - cost, ..*window })
        .filter(|window| window.from < window.to)
        .collect();
    let count = windows.len();
    if count == 0 {
        return Err(Reason::NoWindow);
    }
    let none = || vec![0; count];
    let starts = Starts { cycle, windows, before: none(), late: none(), blocked: none() };
    let passed = |service: &Since| Rises::of(&service.curve().sub(express)).after(own);
    let services = moments(class, &starts, class.model.rate, Serving::Time);
    services.iter().map(passed).try_fold(0, |most, one| Some(most.max(one?))).ok_or(Reason::TooLarge)
}
