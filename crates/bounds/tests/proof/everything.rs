//! Bounds together with every other mechanism: a bound that exists holds.

use crate::common::random::Everywhere;
use crate::common::run;
use crate::watch::{losses, queues, tap_everywhere, within};
use std::collections::HashMap;
use tsn_bounds::Bounds;
use tsn_observation::Sighting;
use tsn_plan::Plan;

/// The Plan with the promise that a run of it just keeps, if its nodes have clocks.
pub fn promising(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    let Some(clocks) = &mut plan.clocks else { return plan };
    clocks.within_ns = Some(1);
    let (_, counters) = run(&plan);
    let apart_ps = counters.clocks.map_or(0, |clocks| clocks.apart_ps);
    // Each clock is read to the picosecond below.
    plan.clocks.as_mut().unwrap().within_ns = Some((apart_ps as u64 + 1).div_ceil(1_000).max(1));
    plan
}

/// Compares what the clocks of talker and listener show with the bounds of the same taps.
fn stamped(plan: &Plan, sightings: &[Sighting]) -> Result<u64, String> {
    let found = tsn_bounds::bounds(plan);
    let ends =
        (0..).zip(&plan.streams).flat_map(|(number, one)| one.listeners.iter().map(move |end| (number, end)));
    let mut bounded = 0;
    for ((number, listener), flow) in ends.zip(&found.flows) {
        let stream: &tsn_plan::Stream = &plan.streams[number as usize];
        let mut roots = stream.route.iter().filter(|hop| hop.parent.is_none());
        let (Some(first), None) = (roots.next(), roots.next()) else { continue };
        let own = || sightings.iter().filter(|one| one.stream == number);
        let stamps = |stage: usize| -> HashMap<u64, i64> {
            own()
                .filter(|one| Everywhere::place(one.tap) == (first.port as usize, stage))
                .filter_map(|one| Some((one.seq, one.t_ns?)))
                .collect()
        };
        let (released, sent) = (stamps(0), stamps(1));
        let arrives = |tap| {
            let (port, place) = Everywhere::place(tap);
            place == 3 && plan.ports[port].node == listener.node
        };
        for one in own().filter(|one| arrives(one.tap)) {
            let (Some(at), Some(sent)) = (one.t_ns, sent.get(&one.seq)) else { continue };
            // Without an upper bound the lower one is that of true time.
            if let (Some(released), Some(_)) = (released.get(&one.seq), flow.release_upper_ps) {
                within(at - released, flow.release_lower_ps, flow.release_upper_ps)
                    .map_err(|text| format!("{} #{} from its release: {text}", flow.stream, one.seq))?;
            }
            let Some(upper) = flow.upper_ns else { continue };
            bounded += 1;
            if at - sent < flow.lower_ns || at - sent > upper {
                let limits = format!("{} to {upper}", flow.lower_ns);
                return Err(format!(
                    "{} #{}: {} ns are stamped, not {limits}",
                    flow.stream,
                    one.seq,
                    at - sent
                ));
            }
        }
    }
    Ok(bounded)
}

/// Compares every frame of a run with its bounds from its release; returns the number of frames with an upper
/// bound.
pub fn watch(plan: &Plan, bounds: &Bounds) -> Result<u64, String> {
    let mut plan = plan.clone();
    tap_everywhere(&mut plan);
    let (sightings, counters) = run(&plan);
    if plan.clocks.is_some() {
        losses(&plan, bounds, &counters, &sightings)?;
        queues(bounds, &counters, |_, _, _| ())?;
        return stamped(&plan, &sightings);
    }
    stamped(&plan, &sightings)?;
    let mut released: HashMap<(u32, u64), i64> = HashMap::new();
    for one in sightings.iter().filter(|one| Everywhere::place(one.tap).1 == 0) {
        let at = one.t_ns.unwrap_or(0);
        released.entry((one.stream, one.seq)).and_modify(|first| *first = at.min(*first)).or_insert(at);
    }
    let mut bounded = 0;
    let ends =
        (0..).zip(&plan.streams).flat_map(|(number, one)| one.listeners.iter().map(move |end| (number, end)));
    for ((number, listener), flow) in ends.zip(&bounds.flows) {
        for one in sightings.iter().filter(|one| one.stream == number) {
            let (port, place) = Everywhere::place(one.tap);
            let arrives = place == 3 && plan.ports[port].node == listener.node;
            let (true, Some(release)) = (arrives, released.get(&(number, one.seq))) else { continue };
            bounded += u64::from(flow.release_upper_ps.is_some());
            let taken = one.t_ns.unwrap_or(0) - release;
            within(taken, flow.release_lower_ps, flow.release_upper_ps)
                .map_err(|text| format!("{} #{} to {}: {text}", flow.stream, one.seq, flow.listener))?;
        }
    }
    losses(&plan, bounds, &counters, &sightings)?;
    queues(bounds, &counters, |_, _, _| ())?;
    Ok(bounded)
}
