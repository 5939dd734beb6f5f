//! How long bounds take: `bound_line [plan.json]`. Without a plan, 100 flows over a line of 8 nodes and 7 hops.

use std::time::Instant;
use tsn_bounds::bounds;
use tsn_plan::{
    Cbs, CbsLinux, Class, Destination, FORMAT, Node, NodeKind, Pattern, Plan, Port, Requirements, Route,
    Size, Stream,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plan = match std::env::args().nth(1) {
        Some(path) => Plan::read(&std::fs::read_to_string(path)?)?,
        None => line(8, 100),
    };
    plan.check()?;
    let mut micros: Vec<u128> = Vec::new();
    let mut found = bounds(&plan);
    for _ in 0..200 {
        let start = Instant::now();
        found = bounds(&plan);
        micros.push(start.elapsed().as_micros());
    }
    micros.sort_unstable();
    println!("flows                {:>8}", found.flows.len());
    println!("without a bound      {:>8}", found.flows.iter().filter(|flow| flow.upper_ps.is_none()).count());
    println!(
        "longest delay        {:>8} us",
        found.flows.iter().filter_map(|f| f.upper_ps).max().unwrap_or(0) / 1_000_000
    );
    println!("time, median         {:>8} us", micros[micros.len() / 2]);
    println!("time, most           {:>8} us", micros[micros.len() - 1]);
    Ok(())
}

/// Gigabit links; flows of different periods, sizes and classes, two of these with a shaper, from the first node to
/// the last.
fn line(nodes: u32, flows: u32) -> Plan {
    let mut plan = Plan {
        format: FORMAT.into(),
        name: "line".into(),
        variant: Default::default(),
        seed: 1,
        duration_ns: 1_000_000,
        drain_ns: 1_000_000,
        nodes: Vec::new(),
        ports: Vec::new(),
        streams: Vec::new(),
        faults: Vec::new(),
        policing: Vec::new(),
        taps: Vec::new(),
        clocks: None,
        hash: None,
    };
    for number in 0..nodes {
        let (name, ipv4) = (format!("n{number}"), format!("10.0.0.{number}"));
        plan.nodes.push(Node {
            name,
            kind: NodeKind::Host,
            processing_ns: 1_500,
            ipv4,
            cut_through_octets: None,
            further: None,
            buffer: None,
            learning: None,
            host: None,
        });
    }
    for left in 0..nodes - 1 {
        for (node, peer_node, peer) in [(left, left + 1, 2 * left + 1), (left + 1, left, 2 * left)] {
            let linux = CbsLinux { idleslope: 0, sendslope: 0, hicredit: 0, locredit: 0 };
            let cbs = |idle_slope_bps: i64, hi_credit_bits: i64| Cbs {
                idle_slope_bps,
                send_slope_bps: idle_slope_bps - 1_000_000_000,
                hi_credit_bits,
                lo_credit_bits: -12_336,
                linux: linux.clone(),
                runs_while_closed: false,
            };
            let mut classes = vec![Class::default(); 8];
            classes[5].cbs = Some(cbs(250_000_000, 20_000));
            classes[4].cbs = Some(cbs(250_000_000, 40_000));
            plan.ports.push(Port {
                name: format!("n{node} -> n{peer_node}"),
                node,
                peer,
                mac: format!("02:00:00:00:00:{peer:02x}"),
                rate_bps: 1_000_000_000,
                propagation_ps: 5_000,
                pcp_to_class: [0, 1, 2, 3, 4, 5, 6, 7],
                classes,
                gates: None,
                preemption: None,
                qdisc: None,
            });
        }
    }
    for number in 0..flows {
        let route: Vec<Route> =
            (0..nodes - 1).map(|hop| Route { port: 2 * hop, parent: hop.checked_sub(1) }).collect();
        let period_ns = [1_000_000, 2_000_000, 500_000, 5_000_000][number as usize % 4];
        plan.streams.push(Stream {
            name: format!("s{number}"),
            group: format!("s{number}"),
            talker: 0,
            pcp: [7, 5, 4, 3, 0][number as usize % 5],
            vid: Some(1),
            destination_mac: "02:00:00:00:ff:01".into(),
            destination_ipv4: "10.0.255.1".into(),
            udp_port: 5_000,
            type_of_service: 0,
            trdp: None,
            pattern: Pattern::Periodic { period_ns, offset_ns: 0, jitter_ns: 0 },
            size: Size::Frame { octets: 100 + 11 * number },
            start_ns: 0,
            stop_ns: 1_000_000,
            redundancy: None,
            flood: Vec::new(),
            socket: None,
            scheduled: None,
            answers: None,
            listeners: vec![Destination { node: nodes - 1, route: nodes - 2 }],
            route,
            requirements: Requirements::default(),
        });
    }
    plan
}
