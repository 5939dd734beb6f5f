//! Random plans with all mechanisms: each at any place, in any order, as long as the Plan stays valid.

use super::random::Everywhere;
use super::software::{Software, install, softwares};
use super::wrong::{Wrong, fault, wrongs};
use super::*;
use proptest::prelude::*;
use proptest::sample::Index;
use tsn_plan::{
    Active, Algorithm, Bmca, Buffer, Change, ClockFault, ClockQuality, Clocks, Delay, Fault, Further, Gptp,
    Identification, IdleSlope, Ieee1588, LatentErrors, Learning, MacOperation, Merge, NodeClock, Policing,
    Preemption, Recovery, Regeneration, Span, StreamFilter, StreamGate, StreamGateEntry, Wander,
};

/// A second path around one hop of a stream.
#[derive(Clone, Debug)]
pub struct Detour {
    stream: Index,
    hop: Index,
    rate: u64,
    /// The kind of path: none for a member stream, or a standby path with its times of use in us.
    stands_by: Option<(u64, u64)>,
    recovery: (Option<u32>, u64, bool, bool),
}

/// One mechanism without a place.
#[derive(Clone, Debug)]
pub enum Extra {
    Learn(u8, u64),
    Police(Vec<(Index, Policing)>),
    Cyclic(Index, u64),
    Regenerate(Index, [u8; 8]),
    Preempt(Vec<Option<(u8, u64, u64)>>),
    Hold(u8),
    /// By port: a server at so many percent of its rate and with this latency, or a transmit buffer of so many frames.
    Stage(Vec<Option<(bool, u32, u64)>>),
    Slopes(i64),
    Cut(Vec<Option<u32>>),
    Spread(Vec<Option<u64>>),
    Share(Vec<Option<(u64, Option<u32>)>>),
    Clocks(Vec<(i64, i64, u64, i64, bool)>),
    Gptp {
        kind: u8,
        transparent: u8,
        bmca: Option<Vec<u8>>,
        flags: [bool; 2],
        pcp: u8,
        wakeup_ns: u64,
    },
    Host(Vec<Option<Software>>),
    Wrong(Vec<Wrong>),
    Babble(Index, u64, u64),
    Answer {
        request: Index,
        listener: Index,
        pcp: u8,
        octets: u32,
        after_ns: u64,
        late: u64,
        start_ns: u64,
    },
}

fn detour() -> impl Strategy<Value = Detour> {
    let stands_by = prop::option::weighted(0.4, (1..2_000u64, 1..1_000u64));
    let recovery =
        (prop::option::weighted(0.8, 1..80u32), 100_000..3_000_000u64, any::<bool>(), any::<bool>());
    let rate = prop::sample::select(&[100_000_000, GIGABIT][..]);
    (any::<Index>(), any::<Index>(), rate, stands_by, recovery).prop_map(
        |(stream, hop, rate, stands_by, recovery)| Detour { stream, hop, rate, stands_by, recovery },
    )
}

fn extras() -> impl Strategy<Value = Vec<Extra>> {
    let clock = (
        -500_000..500_000i64,
        -100_000_000..100_000_000i64,
        0..2_000_000u64,
        -300_000..300_000i64,
        any::<bool>(),
    );
    let gptp = (
        0..4u8,
        any::<u8>(),
        prop::option::of(prop::collection::vec(any::<u8>(), 12)),
        any::<[bool; 2]>(),
        0..8u8,
        0..20_000u64,
    );
    let memory = (1_000..20_000u64, prop::option::of(200..4_000u32));
    let advance = prop_oneof![Just(0), 0..3_000u64];
    let preempt = prop::option::of((any::<u8>(), advance.clone(), advance));
    let each = |share: f64, one: BoxedStrategy<Extra>| prop::option::weighted(share, one).boxed();
    let all = vec![
        each(0.35, (any::<u8>(), 50_000..3_000_000u64).prop_map(|(mask, ns)| Extra::Learn(mask, ns)).boxed()),
        each(0.3, super::policing::policing().prop_map(Extra::Police).boxed()),
        each(
            0.2,
            (any::<Index>(), 20_000..200_000u64).prop_map(|(node, ns)| Extra::Cyclic(node, ns)).boxed(),
        ),
        each(
            0.25,
            (any::<Index>(), prop::array::uniform8(0..8u8))
                .prop_map(|(at, map)| Extra::Regenerate(at, map))
                .boxed(),
        ),
        each(0.3, prop::collection::vec(preempt, 16).prop_map(Extra::Preempt).boxed()),
        each(0.6, any::<u8>().prop_map(Extra::Hold).boxed()),
        each(
            0.35,
            prop::collection::vec(prop::option::weighted(0.4, stage()), 16).prop_map(Extra::Stage).boxed(),
        ),
        each(0.5, (1_000_000..90_000_000i64).prop_map(Extra::Slopes).boxed()),
        each(0.3, prop::collection::vec(prop::option::of(18..1_000u32), 9).prop_map(Extra::Cut).boxed()),
        each(0.3, prop::collection::vec(prop::option::of(0..10_000u64), 9).prop_map(Extra::Spread).boxed()),
        each(0.3, prop::collection::vec(prop::option::of(memory), 9).prop_map(Extra::Share).boxed()),
        each(0.35, prop::collection::vec(clock, 9).prop_map(Extra::Clocks).boxed()),
        each(
            0.7,
            gptp.prop_map(|(kind, transparent, bmca, flags, pcp, wakeup_ns)| Extra::Gptp {
                kind,
                transparent,
                bmca,
                flags,
                pcp,
                wakeup_ns,
            })
            .boxed(),
        ),
        each(0.3, softwares().prop_map(Extra::Host).boxed()),
        each(0.4, wrongs(5).prop_map(Extra::Wrong).boxed()),
        each(
            0.2,
            (any::<Index>(), 0..1_500u64, 5_000..100_000u64)
                .prop_map(|(stream, from, every)| Extra::Babble(stream, from, every))
                .boxed(),
        ),
        each(0.3, answer()),
        each(0.3, answer()),
    ];
    all.prop_shuffle().prop_map(|all| all.into_iter().flatten().collect())
}

/// A server or a transmit buffer for a port; see [`staged`].
pub fn stage() -> impl Strategy<Value = (bool, u32, u64)> {
    (prop::bool::weighted(0.4), 2..6u32, 0..30_000u64)
}

/// Gives a port a server, in place of its classes, gates and shapers; or a transmit buffer.
pub fn staged(port: &mut Port, (serves, count, latency_ns): (bool, u32, u64)) {
    if !serves {
        port.transmit_buffer = Some(count);
        return;
    }
    let rate_bps = port.rate_bps / 6 * u64::from(count + 1);
    let classes = vec![Class { cbs: None, longest_wait_ns: None, ..port.classes[0].clone() }];
    let server = Some(tsn_plan::Server { rate_bps, latency_ns });
    *port = Port { server, classes, pcp_to_class: [0; 8], gates: None, preemption: None, ..port.clone() };
}

fn answer() -> BoxedStrategy<Extra> {
    let times = (
        prop_oneof![Just(0), 1..400_000u64],
        prop_oneof![Just(0), 1..60_000u64],
        prop_oneof![3 => Just(0), 1 => 1..1_500_000u64],
    );
    (any::<[Index; 2]>(), 0..8u8, 64..1_523u32, times)
        .prop_map(|([request, listener], pcp, octets, (after_ns, late, start_ns))| Extra::Answer {
            request,
            listener,
            pcp,
            octets,
            after_ns,
            late,
            start_ns,
        })
        .boxed()
}

/// A plan of up to 9 nodes, with taps everywhere; see [`Everywhere`].
pub fn plan() -> impl Strategy<Value = Plan> {
    let detours = prop_oneof![1 => Just(Vec::new()), 1 => prop::collection::vec(detour(), 1..3)];
    (random::plan(), detours, extras()).prop_map(|(mut plan, detours, extras)| {
        for one in &detours {
            attempt(&mut plan, |plan| go_around(plan, one));
        }
        // Mechanisms that need clocks are added after the clocks, and those that need pre-emption after
        // pre-emption: otherwise they would never be valid.
        for extra in &extras {
            add(&mut plan, extra);
        }
        for extra in extras.iter().filter(|one| matches!(one, Extra::Gptp { .. } | Extra::Hold(_))) {
            add(&mut plan, extra);
        }
        tap_software(&mut plan);
        plan
    })
}

/// Tries a change, and reverts it if the Plan is not valid.
fn attempt(plan: &mut Plan, change: impl FnOnce(&mut Plan)) {
    let before = plan.clone();
    change(plan);
    if plan.check().is_err() {
        *plan = before;
    }
}

fn add(plan: &mut Plan, extra: &Extra) {
    match extra {
        Extra::Learn(mask, ageing_ns) => learn(plan, *mask, *ageing_ns),
        Extra::Police(tables) => {
            for table in tables {
                attempt(plan, |plan| super::policing::add(plan, vec![table.clone()]));
            }
        }
        Extra::Cyclic(node, cycle_ns) => attempt(plan, |plan| cyclic(plan, *node, *cycle_ns)),
        Extra::Regenerate(at, pcp) => attempt(plan, |plan| {
            let port = at.index(plan.ports.len());
            let node = plan.ports[port].node;
            let table = Regeneration { port: port as u32, pcp: *pcp };
            match plan.policing.iter_mut().find(|policing| policing.node == node) {
                Some(own) => own.regeneration.push(table),
                None => {
                    plan.policing.push(Policing { node, regeneration: vec![table], ..Policing::default() })
                }
            }
        }),
        Extra::Preempt(masks) => {
            for (port, mask) in masks.iter().enumerate() {
                attempt(plan, |plan| {
                    if let (Some(port), Some((express, hold_advance_ns, release_advance_ns))) =
                        (plan.ports.get_mut(port), *mask)
                    {
                        port.preemption = Some(Preemption { express, hold_advance_ns, release_advance_ns });
                    }
                });
            }
        }
        Extra::Stage(stages) => {
            for (port, stage) in stages.iter().enumerate() {
                attempt(plan, |plan| {
                    if let (Some(port), Some(stage)) = (plan.ports.get_mut(port), *stage) {
                        staged(port, stage);
                    }
                });
            }
        }
        Extra::Hold(mask) => {
            for port in (0..plan.ports.len()).filter(|port| mask >> (port % 8) & 1 == 1) {
                attempt(plan, |plan| hold(&mut plan.ports[port]));
            }
        }
        Extra::Slopes(bps) => {
            for port in 0..plan.ports.len() {
                attempt(plan, |plan| slopes(&mut plan.ports[port], *bps));
            }
        }
        Extra::Cut(cuts) => each(plan, cuts, |node, octets| node.cut_through_octets = Some(octets)),
        Extra::Spread(spreads) => {
            each(plan, spreads, |node, up_to_ns| node.further = Some(Further::Uniform { up_to_ns }));
        }
        Extra::Share(memory) => each(plan, memory, |node, (octets, alpha_permille)| {
            node.buffer = Some(Buffer { octets, alpha_permille });
        }),
        Extra::Clocks(all) => attempt(plan, |plan| clocks(plan, all)),
        Extra::Gptp { .. } => attempt(plan, |plan| gptp(plan, extra)),
        Extra::Host(all) => install(plan, all),
        Extra::Wrong(all) => {
            let ports: Vec<u32> = (0..plan.ports.len() as u32).collect();
            for one in all {
                attempt(plan, |plan| plan.faults.push(fault(plan, &ports, one)));
            }
        }
        Extra::Babble(stream, from, every_ns) => attempt(plan, |plan| {
            let stream = stream.index(plan.streams.len().max(1)) as u32;
            let (from_ns, until_ns) = (from * 1_000, from * 1_000 + 300_000);
            plan.faults.push(Fault::Babble { stream, from_ns, until_ns, every_ns: *every_ns });
        }),
        Extra::Answer { request, listener, pcp, octets, after_ns, late, start_ns } => {
            // Only periodic streams may be answered.
            let is_periodic = |stream: &Stream| matches!(stream.pattern, Pattern::Periodic { .. });
            let all = plan.streams.iter();
            let periodic: Vec<usize> =
                (0..).zip(all).filter(|(_, stream)| is_periodic(stream)).map(|found| found.0).collect();
            if periodic.is_empty() {
                return;
            }
            let request = periodic[request.index(periodic.len())];
            attempt(plan, |plan| {
                let number = listener.index(plan.streams[request].listeners.len());
                let own = respond(plan, request, number, *pcp, frame(*octets), *after_ns);
                own.start_ns = *start_ns;
                if let Pattern::Periodic { jitter_ns, .. } = &mut own.pattern {
                    *jitter_ns = *late;
                }
            });
        }
    }
}

/// Changes one node after the other, wherever there is a value.
fn each<T: Copy>(plan: &mut Plan, all: &[Option<T>], change: impl Fn(&mut Node, T)) {
    for (number, one) in all.iter().enumerate().take(plan.nodes.len()) {
        if let Some(one) = one {
            attempt(plan, |plan| change(&mut plan.nodes[number], *one));
        }
    }
}

/// Another node beside a hop, over which frames are sent in addition or instead.
fn go_around(plan: &mut Plan, detour: &Detour) {
    if plan.streams.is_empty() {
        return;
    }
    let stream = detour.stream.index(plan.streams.len());
    let hop = detour.hop.index(plan.streams[stream].route.len());
    let port = plan.streams[stream].route[hop].port as usize;
    let (from, to) = (plan.ports[port].node, plan.ports[plan.ports[port].peer as usize].node);
    let mut net = Net { plan: plan.clone() };
    let by = net.node(&format!("by{}", plan.nodes.len()), 500);
    let first = net.link(from, by, detour.rate, 50_000);
    let second = net.link(by, to, detour.rate, 50_000);
    (first..second + 2).for_each(|port| Everywhere::tap(&mut net, port));
    *plan = net.plan;
    let duration = plan.duration_ns;
    let stream = &mut plan.streams[stream];
    let others = stream.route.len() as u32;
    let parent = stream.route[hop].parent;
    stream.route.push(Route { port: first, parent });
    stream.route.push(Route { port: second, parent: Some(others) });
    let new = stream.redundancy.is_none();
    let own = stream.redundancy.get_or_insert_default();
    own.merges.push(Merge { from: vec![hop as u32, others + 1] });
    if let Some((from_us, length_us)) = detour.stands_by {
        let (from_ns, until_ns) = (from_us * 1_000, (from_us + length_us) * 1_000);
        let main =
            vec![Span { from_ns: 0, until_ns: from_ns }, Span { from_ns: until_ns, until_ns: duration * 2 }];
        own.active.push(Active { route: hop as u32, spans: main });
        own.active.push(Active { route: others, spans: vec![Span { from_ns, until_ns }] });
        if !own.copies.is_empty() {
            own.copies.resize(others as usize + 2, 0);
        }
        return;
    }
    own.copies.resize(others as usize + 2, 0);
    own.copies[hop] = 1;
    own.copies[others as usize] = 2;
    own.copies[others as usize + 1] = 2;
    let (history, reset_ns, individual, latent) = detour.recovery;
    if new || own.recovery.is_none() {
        own.recovery = Some(Recovery {
            identification: Identification::Null,
            algorithm: history.map_or(Algorithm::Match, |history| Algorithm::Vector { history }),
            reset_ns,
            individual,
            latent: latent.then_some(LatentErrors {
                period_ns: 1_000_000,
                reset_ns: 2_000_000,
                difference: 3,
            }),
        });
    }
}

/// Bridges that learn; frames to unknown addresses are flooded along the tree, as far as bridges learn.
fn learn(plan: &mut Plan, mask: u8, ageing_ns: u64) {
    for node in (0..plan.nodes.len()).filter(|node| mask >> (node % 8) & 1 == 1) {
        attempt(plan, |plan| {
            plan.nodes[node].kind = NodeKind::Bridge;
            plan.nodes[node].learning = Some(Learning { ageing_ns });
        });
    }
    for stream in 0..plan.streams.len() {
        attempt(plan, |plan| {
            let one = &plan.streams[stream];
            if one.listeners.len() != 1 || one.redundancy.is_some() {
                return;
            }
            let mut all = one.route.clone();
            let mut place = 0;
            while place < all.len() {
                let arrival = plan.ports[all[place].port as usize].peer;
                let node = plan.ports[arrival as usize].node;
                // Only ports of the tree: in a ring a flooded frame would circulate without end.
                let is_of_tree = |port: u32| {
                    let other = plan.ports[plan.ports[port as usize].peer as usize].node;
                    [node, other].iter().all(|node| !plan.nodes[*node as usize].name.starts_with("by"))
                };
                let known: Vec<u32> =
                    all.iter().filter(|hop| hop.parent == Some(place as u32)).map(|hop| hop.port).collect();
                if plan.nodes[node as usize].learning.is_some() {
                    for port in
                        (0..plan.ports.len() as u32).filter(|port| plan.ports[*port as usize].node == node)
                    {
                        if port != arrival && !known.contains(&port) && is_of_tree(port) {
                            all.push(Route { port, parent: Some(place as u32) });
                        }
                    }
                }
                place += 1;
            }
            let own = one.route.len();
            plan.streams[stream].flood = all.split_off(own);
        });
    }
}

/// Two queues in turn behind a node's ports (IEEE 802.1Q-2022, Annex T).
fn cyclic(plan: &mut Plan, node: Index, cycle_ns: u64) {
    let node = node.index(plan.nodes.len()) as u32;
    if plan.policing.iter().any(|policing| policing.node == node) {
        return;
    }
    let entry =
        |ipv| StreamGateEntry { open: true, ipv: Some(ipv), interval_ns: cycle_ns, octets_max: Some(8_000) };
    plan.policing.push(Policing {
        node,
        filters: vec![StreamFilter { gate: Some(0), ..super::policing::filter("cyclic") }],
        gates: vec![StreamGate {
            cycle_ns: 2 * cycle_ns,
            entries: vec![entry(5), entry(6)],
            ..StreamGate::default()
        }],
        ..Policing::default()
    });
    for port in plan.ports.iter_mut().filter(|port| port.node == node && port.classes.len() == 8) {
        port.gates = gates(0, &[(0xdf, cycle_ns), (0xbf, cycle_ns)]);
    }
}

/// The first entry of every list holds preemptable frames, the last one releases them.
fn hold(port: &mut Port) {
    let Some(gates) = &mut port.gates else { return };
    let lists = gates.changes.iter_mut().map(|change| &mut change.entries);
    for entries in std::iter::once(&mut gates.entries).chain(lists) {
        if let [first, .., last] = &mut entries[..] {
            (first.mac, last.mac) = (Some(MacOperation::Hold), Some(MacOperation::Release));
        }
    }
}

/// Every change of a list changes the idle slope of every shaper.
fn slopes(port: &mut Port, bps: i64) {
    let shaped = (0..8u8).zip(&port.classes).filter(|(_, class)| class.cbs.is_some());
    let slopes: Vec<IdleSlope> = shaped.map(|(class, _)| IdleSlope { class, bps }).collect();
    if let Some(gates) = &mut port.gates {
        gates.changes.iter_mut().for_each(|change| change.idle_slopes.clone_from(&slopes));
    }
}

fn clocks(plan: &mut Plan, all: &[(i64, i64, u64, i64, bool)]) {
    let mut faults = Vec::new();
    let mut nodes = Vec::new();
    for (node, (offset_ns, deviation_ppt, at_ns, by_ns, goes_wrong)) in
        (0..plan.nodes.len() as u32).zip(all.iter().cycle().copied())
    {
        nodes.push(NodeClock {
            offset_ns,
            deviation_ppt,
            changes: vec![Change { at_ns, deviation_ppt: -deviation_ppt }],
            wander: goes_wrong.then_some(Wander { most_ppt: 1_000_000, every_ns: 300_000 }),
            granularity_ns: if goes_wrong { 8 } else { 1 },
            jitter_ns: if goes_wrong { 20 } else { 0 },
        });
        if goes_wrong && node % 3 == 0 {
            faults.push(ClockFault::ClockStep { node, at_ns, by_ns });
        } else if goes_wrong {
            let (from_ns, until_ns) = (at_ns, at_ns + 200_000);
            faults.push(ClockFault::FrequencyJump { node, from_ns, until_ns, by_ppt: by_ns * 1_000 });
        }
    }
    plan.clocks = Some(Clocks { nodes, record_ns: 500_000, within_ns: None, gptp: None, faults });
}

fn gptp(plan: &mut Plan, extra: &Extra) {
    let Extra::Gptp { kind, transparent, bmca, flags: [one_step, visible], pcp, wakeup_ns } = extra else {
        return;
    };
    let nodes = plan.nodes.len() as u32;
    // Each node is linked to one of the nodes before it.
    let slave = |node: u32| {
        let leads_back = |port: &Port| port.node == node && plan.ports[port.peer as usize].node < node;
        plan.ports.iter().position(leads_back).map(|port| port as u32)
    };
    let slaves: Vec<u32> = (1..nodes).filter_map(slave).collect();
    let transparent = (1..nodes).filter(|node| transparent >> (node % 8) & 1 == 1).collect();
    let delay = if *kind == 2 { Delay::EndToEnd } else { Delay::PeerToPeer };
    let bmca = bmca.as_ref().map(|all| Bmca {
        ports: (0..plan.ports.len() as u32).collect(),
        clocks: (0..nodes as usize)
            .map(|node| ClockQuality {
                priority1: if node == 0 { 1 } else { all[node % all.len()].max(2) },
                class: 248,
                accuracy: 0xfe,
                variance: 0xffff,
                priority2: 128,
            })
            .collect(),
        announce_interval_ns: 400_000,
        announce_receipt_timeout: 2,
        sync_receipt_timeout: 2,
    });
    let Some(clocks) = &mut plan.clocks else { return };
    clocks.gptp = Some(Gptp {
        grandmaster: 0,
        slaves: if bmca.is_some() { Vec::new() } else { slaves },
        sync_interval_ns: 200_000,
        pdelay_interval_ns: 300_000,
        pcp: *pcp,
        wakeup_ns: *wakeup_ns,
        ieee_1588: (*kind > 1).then_some(Ieee1588 { delay, transparent }),
        one_step: *one_step,
        visible: *visible,
        servo: None,
        bmca,
    });
    if *visible {
        clocks.faults.push(ClockFault::PtpDown { node: nodes - 1, from_ns: 500_000, until_ns: 1_500_000 });
    }
}

/// Taps in the software of hosts, after all other taps.
fn tap_software(plan: &mut Plan) {
    let mut net = Net { plan: plan.clone() };
    for port in 0..plan.ports.len() as u32 {
        if plan.nodes[plan.ports[port as usize].node as usize].host.is_some() {
            for stage in [Stage::Wakeup, Stage::Qdisc, Stage::Driver, Stage::KernelRx, Stage::AppRx] {
                net.tap(port, stage, Point::End);
            }
        }
    }
    attempt(plan, |plan| *plan = net.plan);
}
