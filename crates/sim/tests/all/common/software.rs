//! Random software of hosts: latencies and queueing disciplines.

use proptest::prelude::*;
use serde_json::{Value, json};
use tsn_plan::Plan;

/// The latency of one stage.
pub fn latency() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({"kind": "constant", "ns": 0})),
        (0_u64..50_000).prop_map(|ns| json!({"kind": "constant", "ns": ns})),
        (0_u64..50_000, 0_u64..400_000)
            .prop_map(|(a, b)| json!({"kind": "uniform", "from_ns": a, "to_ns": a + b})),
        (1_u64..1_000).prop_map(|n| json!({"kind": "histogram", "ns": [1_000, 5_000, 300_000],
            "counts": [1_000, n, 3], "width_ns": 1_000})),
    ]
}

/// A latency for every stage, and one of two processors that hosts share, or none.
pub fn host() -> impl Strategy<Value = Value> {
    let names = ["wakeup", "send", "qdisc", "driver", "tx", "kernel_rx", "app_rx", "timer", "prepare"];
    let shared = ["turn", "finish"];
    let all = prop::collection::vec(latency(), names.len() + shared.len());
    (all, prop::option::of(0_u32..2)).prop_map(move |(all, processor)| {
        let mut host: Value = names.into_iter().chain(shared).zip(all).collect();
        match processor {
            Some(processor) => host["processor"] = processor.into(),
            None => shared.iter().for_each(|name| host[name] = Value::Null),
        }
        host
    })
}

/// A child queueing discipline of one class.
pub fn child() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({"kind": "pfifo", "limit_frames": 5})),
        (0_u64..400_000, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
            |(delta, deadline, offload, skip)| {
                json!({"kind": "etf", "delta_ns": delta, "deadline": deadline, "offload": offload,
                "skip_sock_check": skip})
            }
        ),
        Just(json!({"kind": "cbs", "idleslope": 77_777, "sendslope": -922_223, "hicredit": 155,
            "locredit": -1125, "limit_frames": 20})),
    ]
}

/// The software of one node, and the queueing disciplines and sockets of all its ports and talkers.
#[derive(Clone, Debug)]
pub struct Software {
    host: Value,
    child: Option<Value>,
    taprio: Option<&'static str>,
    advance: u64,
    txtime: bool,
    deadline: bool,
}

/// Software, or none, for each of seven nodes.
pub fn softwares() -> impl Strategy<Value = Vec<Option<Software>>> {
    let mode = prop_oneof![2 => Just(None), 1 => Just(Some("software")), 1 => Just(Some("txtime-assist"))];
    let socket = (0_u64..600_000, any::<bool>(), any::<bool>());
    let one = (host(), prop::option::of(child()), mode, socket).prop_map(
        |(host, child, taprio, (advance, txtime, deadline))| {
            let taprio = taprio.filter(|_| child.is_some());
            Software { host, child, taprio, advance, txtime, deadline }
        },
    );
    prop::collection::vec(prop::option::weighted(0.6, one), 7)
}

/// Tries a change, and reverts it if the Plan is not valid.
fn attempt(plan: &mut Plan, change: impl FnOnce(&mut Plan)) {
    let before = plan.clone();
    change(plan);
    if plan.check().is_err() {
        *plan = before;
    }
}

/// Adds software to nodes wherever the Plan stays valid.
pub fn install(plan: &mut Plan, softwares: &[Option<Software>]) {
    for (node, software) in softwares.iter().enumerate().take(plan.nodes.len()) {
        let Some(software) = software else { continue };
        attempt(plan, |plan| {
            plan.nodes[node].host = Some(serde_json::from_value(software.host.clone()).unwrap());
        });
        for port in 0..plan.ports.len() {
            if plan.ports[port].node as usize != node {
                continue;
            }
            let Some(child) = &software.child else { continue };
            let plain = json!({"kind": "pfifo", "limit_frames": 7});
            let child = if software.taprio == Some("software") { &plain } else { child };
            let taprio = software.taprio.map(|mode| {
                json!({"mode": mode, "txtime_delay_ns": 100_000, "base_time_ns": 200_000, "cycle_ns": 200_000,
                    "entries": [{"open": 0x55, "interval_ns": 100_000}, {"open": 0xff, "interval_ns": 100_000}]})
            });
            attempt(plan, |plan| {
                let children: Vec<&Value> = plan.ports[port].classes.iter().map(|_| child).collect();
                let qdisc = json!({"taprio": taprio, "children": children});
                plan.ports[port].qdisc = Some(serde_json::from_value(qdisc).unwrap());
            });
        }
        for stream in 0..plan.streams.len() {
            if plan.streams[stream].talker as usize == node {
                let Software { advance, txtime, deadline, .. } = software;
                let socket = json!({"advance_ns": advance, "txtime": txtime, "deadline": deadline});
                attempt(plan, |plan| {
                    plan.streams[stream].socket = Some(serde_json::from_value(socket).unwrap());
                });
            }
        }
    }
}
