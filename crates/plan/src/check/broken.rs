//! For tests of errors: a small valid Plan, and the errors after one value is changed.

use crate::Plan;
use serde_json::{Value, json};

/// A talker and a listener, node 0 and node 3, with a bridge on each of the two paths between them; one stream.
pub(crate) fn plan() -> Value {
    let node =
        |name: &str, kind: &str| json!({"name": name, "kind": kind, "processing_ns": 0, "ipv4": "10.0.0.1"});
    let port = |node: u32, peer: u32| {
        json!({
            "name": format!("port {peer}"), "node": node, "peer": peer, "mac": "02:00:00:00:00:01",
            "rate_bps": 1_000_000_000, "propagation_ps": 0, "pcp_to_class": [0, 1, 2, 3, 4, 5, 6, 7],
            "classes": [{}, {}, {}, {}, {}, {}, {}, {}],
        })
    };
    let nodes =
        [node("talker", "station"), node("a", "bridge"), node("b", "bridge"), node("listener", "station")];
    let ends = [0, 1, 0, 2, 1, 3, 2, 3];
    let ports: Vec<Value> = ends.into_iter().zip(0..).map(|(node, own)| port(node, own ^ 1)).collect();
    json!({
        "format": crate::FORMAT, "name": "broken", "seed": 1, "duration_ns": 1_000_000, "drain_ns": 0,
        "nodes": nodes, "ports": ports,
        "streams": [{
            "name": "camera", "group": "camera", "talker": 0, "pcp": 6, "vid": 1,
            "destination_mac": "02:00:00:00:01:00", "destination_ipv4": "10.0.0.2", "udp_port": 5_000,
            "pattern": {"kind": "periodic", "period_ns": 1_000, "offset_ns": 0, "jitter_ns": 0},
            "size": {"kind": "frame", "octets": 64}, "start_ns": 0, "stop_ns": 1_000_000,
            "route": [{"port": 0}, {"port": 4, "parent": 0}], "listeners": [{"node": 3, "route": 1}],
        }],
        "taps": [{"name": "tx", "port": 0, "stage": "tx", "point": "start", "granularity_ns": 1}],
    })
}

/// A Plan whose stream uses both paths, and whose listener eliminates duplicates.
pub(crate) fn redundant() -> Value {
    with(&[
        ("/streams/0/route/2", json!({"port": 2})),
        ("/streams/0/route/3", json!({"port": 6, "parent": 2})),
        (
            "/streams/0/redundancy",
            json!({
                "copies": [1, 1, 2, 2], "merges": [{"from": [1, 3]}],
                "active": [{"route": 0, "spans": [{"from_ns": 0, "until_ns": 5}, {"from_ns": 5, "until_ns": 9}]}],
                "recovery": {
                    "identification": "null", "algorithm": {"kind": "vector", "history": 16}, "reset_ns": 1_000,
                    "latent": {"period_ns": 1_000_000, "reset_ns": 1_000_000, "difference": 1},
                },
            }),
        ),
    ])
}

/// The small Plan with other values; an index after the last one of a list adds an entry.
pub(crate) fn with(changes: &[(&str, Value)]) -> Value {
    let mut plan = plan();
    changes.iter().for_each(|(place, value)| set(&mut plan, place, value.clone()));
    plan
}

/// Asserts that a Plan is valid, and which error each change alone causes: place, value, error.
pub(crate) fn refuses(holds: &Value, rows: &[(&str, Value, &str)]) {
    assert_eq!(problem(holds), "");
    for (place, value, expected) in rows {
        let mut plan = holds.clone();
        set(&mut plan, place, value.clone());
        assert_eq!(problem(&plan), *expected, "{place} = {value}");
    }
}

fn set(plan: &mut Value, place: &str, value: Value) {
    let (parent, key) = place.rsplit_once('/').unwrap();
    match plan.pointer_mut(parent) {
        Some(Value::Object(map)) => {
            map.insert(key.into(), value);
        }
        Some(Value::Array(list)) => {
            let at: usize = key.parse().unwrap();
            if at < list.len() { list[at] = value } else { list.push(value) }
        }
        _ => panic!("{place}: no such place"),
    }
}

fn problem(plan: &Value) -> String {
    Plan::read(&plan.to_string()).err().map_or_else(String::new, |error| error.to_string())
}
