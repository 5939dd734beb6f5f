//! Every single failure of a link or a node, for the whole run and from some instant on: streams that survive it lose no
//! frame.

use crate::common::run;
use crate::watch::{arrivals, tap_everywhere};
use std::collections::BTreeSet;
use tsn_bounds::{Bounds, Reason, bounds};
use tsn_plan::{Fault, Plan, Survives};

/// The numbers of all runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    /// Streams that survive any failure.
    pub survive: u64,
    /// Streams without another path past some part.
    pub carried: u64,
    /// Runs of a stream with a failure on its path that it survived.
    pub runs: u64,
}

/// Requires that every stream survives any failure of a link or a node on its paths.
fn require(plan: &mut Plan) {
    for stream in &mut plan.streams {
        let ports = stream.route.iter().map(|hop| &plan.ports[hop.port as usize]);
        let links: BTreeSet<u32> = stream.route.iter().map(|hop| hop.port).collect();
        let nodes: BTreeSet<u32> =
            ports.flat_map(|port| [port.node, plan.ports[port.peer as usize].node]).collect();
        stream.requirements.survives = vec![Survives {
            failures: 1,
            links: links.into_iter().collect(),
            nodes: nodes.into_iter().collect(),
        }];
    }
}

/// Runs a plan with each failure; an error names the stream that should have survived it.
pub fn watch(plan: &Plan, from_ns: u64) -> Result<Found, String> {
    let mut plan = plan.clone();
    plan.faults.retain(|fault| !matches!(fault, Fault::LinkDown { .. }));
    require(&mut plan);
    let bounds = bounds(&plan);
    tap_everywhere(&mut plan);
    let reasons = bounds.flows.iter().map(|flow| flow.survives[0].reason.as_ref());
    let mut found = Found {
        survive: reasons.clone().filter(Option::is_none).count() as u64,
        carried: reasons.filter(|reason| matches!(reason, Some(Reason::Carries { .. }))).count() as u64,
        runs: 0,
    };
    let until_ns = plan.duration_ns + plan.drain_ns + 1;
    let links = (0..plan.ports.len() as u32).step_by(2).map(|port| {
        (format!("the link {}", plan.ports[port as usize].name.replace(" -> ", " -- ")), port, None)
    });
    let nodes = (0..plan.nodes.len() as u32)
        .map(|node| (format!("the node {}", plan.nodes[node as usize].name), 0, Some(node)));
    let parts: Vec<_> = links.chain(nodes).collect();
    for (name, port, node) in parts {
        for from_ns in [0, from_ns] {
            let mut failed = plan.clone();
            failed.faults.push(match node {
                None => Fault::LinkDown { port, from_ns, until_ns },
                Some(node) => Fault::NodeDown { node, from_ns, until_ns },
            });
            found.runs += compare(&failed, &bounds, &name, port, node)?;
        }
    }
    Ok(found)
}

/// Compares one run with the failures that streams survive; returns the number of streams that survived this one.
fn compare(plan: &Plan, bounds: &Bounds, name: &str, port: u32, node: Option<u32>) -> Result<u64, String> {
    let (sightings, counters) = run(plan);
    let mut survived = 0;
    for (number, (stream, flow)) in (0..).zip(plan.streams.iter().zip(&bounds.flows)) {
        let listener = &stream.listeners[0];
        if node.is_some_and(|node| [stream.talker, listener.node].contains(&node)) {
            continue;
        }
        let counted = &counters.streams[number as usize];
        let arrived = arrivals(plan, &sightings, number, listener).len() as u64;
        let missing = counted.released - arrived;
        match &flow.survives[0].reason {
            None if missing > counted.in_network_at_end => {
                return Err(format!("{} without {name}: {missing} frames are missing", stream.name));
            }
            None => {
                let passes = |own: u32| {
                    let ends = [own, plan.ports[own as usize].peer];
                    node.map_or(ends.contains(&port), |node| {
                        ends.iter().any(|end| plan.ports[*end as usize].node == node)
                    })
                };
                survived += u64::from(arrived > 0 && stream.route.iter().any(|hop| passes(hop.port)));
            }
            Some(Reason::Carries { parts, .. })
                if parts == name && plan.faults.last().unwrap().span_ns().0 == 0 =>
            {
                if arrived > 0 {
                    return Err(format!("{} without {name}: {arrived} frames arrive", stream.name));
                }
            }
            Some(_) => {}
        }
    }
    Ok(survived)
}
