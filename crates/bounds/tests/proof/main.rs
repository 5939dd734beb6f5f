//! The proof: no simulated frame exceeds its upper bound or undercuts its lower one, no queue its backlog.
//!
//! Plans are random with a fixed seed. Each is run with several patterns of releases: the random one, all at
//! once, and one in which all frames meet one flow at one port. `cargo test` runs a short set. The long one
//! prints the ratios of bounds and observed values: `BOUNDS_PLANS=3000 cargo test --release -p tsn-bounds
//! --test proof -- --ignored --nocapture`.

#[path = "../../../sim/tests/all/common/mod.rs"]
mod common;
mod cyclic;
mod draw;
mod everything;
mod failures;
mod loaded;
mod on_clocks;
mod paths;
mod pursue;
mod shaped;
mod slow;
mod watch;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::cell::RefCell;
use tsn_bounds::{Bounds, Memory, bounds, bounds_with};
use tsn_plan::{Pattern, Plan};
use watch::{Seen, watch};

fn runner(plans: u32) -> TestRunner {
    let seed: u64 = std::env::var("BOUNDS_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut octets = [0; 32];
    octets[..8].copy_from_slice(&seed.to_le_bytes());
    let config =
        Config { cases: plans, failure_persistence: None, max_shrink_iters: 400, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &octets))
}

thread_local! {
    static MEMORY: Memory = Memory::default();
}

/// The bounds are the same with what is known from plans before, which differ in releases, and from this one.
fn remembered(plan: &Plan, found: &Bounds) -> Result<(), TestCaseError> {
    for _ in 0..2 {
        let again = MEMORY.with(|memory| bounds_with(plan, memory));
        prop_assert_eq!(&again, found);
    }
    Ok(())
}

/// The same beside a plan in which streams leave and join again, and the gates of a port begin later.
fn beside(plan: &Plan) -> Result<(), TestCaseError> {
    // Others name streams by their numbers.
    let named = |plan: &Plan| plan.streams.iter().any(|stream| stream.answers.is_some());
    if plan.streams.len() < 2 || named(plan) || !(plan.faults.is_empty() && plan.policing.is_empty()) {
        return Ok(());
    }
    let mut plans = vec![plan.clone(); 4];
    plans[0].streams.remove(plan.streams.len() / 2);
    plans[1].streams.truncate(1);
    plans[2].streams.swap_remove(0);
    let gates = plans[3].ports.iter_mut().find_map(|port| port.gates.as_mut());
    gates.into_iter().for_each(|gates| gates.base_time_ns += 777);
    for plan in plans.iter().flat_map(|other| [other, plan]) {
        remembered(plan, &bounds(plan))?;
    }
    Ok(())
}

/// Releases for long delays: everything at once; and, for one flow and each of its ports, all frames there at
/// once, with those of the flow last.
fn releases(plan: &Plan, victim: usize) -> Vec<Plan> {
    let mut at_once = plan.clone();
    set_offsets(&mut at_once, |_| 0);
    let mut plans = vec![plan.clone(), at_once];
    let Some(stream) = plan.streams.get(victim % plan.streams.len().max(1)) else { return plans };
    let found = bounds(plan);
    for place in 0..stream.route.len() {
        let port = stream.route[place].port;
        let name = &plan.ports[port as usize].name;
        // The earliest arrival of each flow at that port: all hops before, and the processing of nodes.
        let early = |number: usize| -> Option<u64> {
            let one = &plan.streams[number];
            let flow = found
                .flows
                .iter()
                .find(|flow| flow.stream == one.name && flow.hops.iter().any(|hop| hop.port == *name))?;
            let before = flow.hops.iter().take_while(|hop| hop.port != *name);
            let nodes = before.clone().skip(1).chain(flow.hops.iter().filter(|hop| hop.port == *name));
            let processing: u64 = nodes
                .filter(|hop| hop.port != flow.hops[0].port)
                .filter_map(|hop| plan.ports.iter().find(|port| port.name == hop.port))
                .map(|port| plan.nodes[port.node as usize].processing_ns)
                .sum();
            Some(before.map(|hop| hop.lower_ps as u64 / 1_000).sum::<u64>() + processing)
        };
        let latest = (0..plan.streams.len()).filter_map(early).max().unwrap_or(0);
        let mut meeting = plan.clone();
        let victim = victim % plan.streams.len();
        set_offsets(&mut meeting, |number| {
            let last = u64::from(number == victim);
            500_000 + last + early(number).map_or(0, |early| latest - early)
        });
        plans.push(meeting);
    }
    plans
}

fn set_offsets(plan: &mut Plan, offset: impl Fn(usize) -> u64) {
    for (number, stream) in plan.streams.iter_mut().enumerate() {
        match &mut stream.pattern {
            Pattern::Periodic { offset_ns, .. } => *offset_ns = offset(number),
            Pattern::TokenBucket { .. } => stream.start_ns = offset(number),
            Pattern::Poisson { .. } | Pattern::Saturating { .. } | Pattern::Trace { .. } => {}
        }
    }
}

fn hold(plan: &Plan, seen: &mut Seen) -> Result<(), TestCaseError> {
    let found = bounds(plan);
    remembered(plan, &found)?;
    watch(plan, &found, seen).map_err(|text| TestCaseError::fail(format!("{text}\n{}", draw::text(plan))))
}

fn prove(plans: u32) -> Seen {
    let seen = RefCell::new(Seen::default());
    let outcome = runner(plans).run(&(draw::plan(), any::<u16>()), |(plan, victim)| {
        plan.check().map_err(|error| TestCaseError::fail(error.to_string()))?;
        beside(&plan)?;
        let mut whole = Seen::default();
        for plan in releases(&plan, usize::from(victim)) {
            hold(&plan, &mut whole)?;
        }
        seen.borrow_mut().take(whole);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    seen.into_inner()
}

#[test]
fn no_frame_exceeds_its_bounds() {
    let seen = prove(150);
    // A proof without frames would pass, too.
    assert!(seen.frames > 100_000, "{} frames", seen.frames);
    assert!(seen.ratios.len() > 300, "{} flows with a bound", seen.ratios.len());
    assert!(seen.lossless > 100 && seen.lost > 100, "{} without loss, {} lost", seen.lossless, seen.lost);
    println!("{seen}");
}

/// Nearly full classes, with releases that chase one flow; how many flows have less than the sum of their hops.
fn prove_loaded(plans: u32, drawn: impl Strategy<Value = Plan>) -> (Seen, usize) {
    let (seen, along) = (RefCell::new(Seen::default()), RefCell::new(0));
    let outcome = runner(plans).run(&(drawn, any::<u16>()), |(plan, victim)| {
        plan.check().map_err(|error| TestCaseError::fail(error.to_string()))?;
        *along.borrow_mut() += loaded::along(&bounds(&plan));
        let mut plans = releases(&plan, usize::from(victim));
        if !plan.streams.is_empty() {
            let victim = usize::from(victim) % plan.streams.len();
            plans.extend([0, 40, 70, 100].map(|share| loaded::chasing(&plan, victim, share)));
        }
        let mut whole = Seen::default();
        for plan in plans {
            hold(&plan, &mut whole)?;
        }
        seen.borrow_mut().take(whole);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    (seen.into_inner(), along.into_inner())
}

#[test]
fn no_frame_exceeds_its_bounds_in_full_classes() {
    let (seen, along) = prove_loaded(100, loaded::plan());
    assert!(seen.frames > 50_000 && along > 100, "{} frames, {along} flows", seen.frames);
    println!("{seen}{along} flows with less than the sum of their hops");
}

#[test]
fn no_frame_exceeds_its_bounds_below_higher_classes() {
    let (seen, along) = prove_loaded(100, loaded::plan_of(5..98, 12));
    assert!(seen.frames > 50_000 && along > 100, "{} frames, {along} flows", seen.frames);
    println!("{seen}{along} flows with less than the sum of their hops");
}

/// The simulator's random plans, with any gates and shapers, also unreasonable ones.
#[test]
fn no_frame_exceeds_its_bounds_in_senseless_plans() {
    let seen = RefCell::new(Seen::default());
    let outcome = runner(150).run(&common::random::plan(), |plan| {
        let mut one = Seen::default();
        hold(&plan, &mut one)?;
        seen.borrow_mut().take(one);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    assert!(seen.borrow().ratios.len() > 100, "{}", seen.borrow());
}

/// Together with every mechanism; most plans have a part for which there is no bound.
#[test]
fn no_frame_exceeds_its_bounds_beside_anything() {
    let plans = std::env::var("BOUNDS_PLANS").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000);
    let (bounded, promised) = (RefCell::new(0), RefCell::new(0));
    let outcome = runner(plans).run(&common::anything::plan(), |plan| {
        let plan = everything::promising(&plan);
        let limits = bounds(&plan);
        remembered(&plan, &limits)?;
        let found = everything::watch(&plan, &limits);
        let relies = limits.clocks_within_ns.is_some();
        *promised.borrow_mut() += if relies { *found.as_ref().unwrap_or(&0) } else { 0 };
        *bounded.borrow_mut() += found.map_err(|text| TestCaseError::fail(format!("{text}\n{plan:#?}")))?;
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    assert!(*bounded.borrow() > 1_000, "{} frames had a bound", bounded.borrow());
    assert!(*promised.borrow() > 500, "{} frames of them by a promise", promised.borrow());
    println!("{} frames had a bound, {} of them by a promise", bounded.borrow(), promised.borrow());
}

/// Several paths, babbling talkers, cut links; the ratios of bound and longest delay of every bounded flow, and the number
/// of streams that lose no frame.
fn prove_paths(plans: u32) -> (Vec<f64>, u64) {
    let (ratios, lossless) = (RefCell::new(Vec::new()), RefCell::new(0));
    let outcome = runner(plans).run(&paths::plan(), |plan| {
        plan.check().map_err(|error| TestCaseError::fail(error.to_string()))?;
        let mut at_once = plan.clone();
        set_offsets(&mut at_once, |_| 0);
        for plan in [plan, at_once] {
            let found = paths::watch(&plan, &bounds(&plan));
            let (found, whole) = found.map_err(|text| {
                let redundancy: Vec<_> = plan.streams.iter().map(|stream| &stream.redundancy).collect();
                let text = format!("{text}\n{}\n{redundancy:?}\n{:?}", draw::text(&plan), plan.faults);
                TestCaseError::fail(text)
            })?;
            ratios.borrow_mut().extend(found);
            *lossless.borrow_mut() += whole;
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    (ratios.into_inner(), lossless.into_inner())
}

#[test]
fn no_frame_exceeds_its_bounds_by_any_of_its_ways() {
    let (ratios, lossless) = prove_paths(200);
    assert!(ratios.len() > 300, "{} flows with a bound", ratios.len());
    assert!(lossless > 300, "{lossless} streams without loss");
}

/// Every failure of every link and node of rings.
fn prove_failures(plans: u32) -> failures::Found {
    let all = RefCell::new(failures::Found::default());
    let outcome = runner(plans).run(&(paths::plan(), 1..3_000_000u64), |(plan, from_ns)| {
        let found = failures::watch(&plan, from_ns);
        let found = found.map_err(|text| {
            let redundancy: Vec<_> = plan.streams.iter().map(|stream| &stream.redundancy).collect();
            TestCaseError::fail(format!("{text}\n{}\n{redundancy:?}\n{:?}", draw::text(&plan), plan.faults))
        })?;
        let mut all = all.borrow_mut();
        all.survive += found.survive;
        all.carried += found.carried;
        all.runs += found.runs;
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    all.into_inner()
}

#[test]
fn streams_survive_every_failure_that_they_are_told_to() {
    let found = prove_failures(40);
    assert!(found.survive > 20 && found.carried > 20 && found.runs > 200, "{found:?}");
}

/// Clocks of nodes: the ratios of bound and longest delay of every flow at each port with gates.
fn prove_on_clocks(plans: u32) -> Vec<f64> {
    let ratios = RefCell::new(Vec::new());
    let outcome =
        runner(plans).run(&(draw::plan(), on_clocks::on_clocks(), any::<u16>()), |(plan, own, victim)| {
            for mut plan in releases(&plan, usize::from(victim)) {
                on_clocks::add(&mut plan, &own).map_err(TestCaseError::fail)?;
                on_clocks::watch(&plan, &bounds(&plan), &mut ratios.borrow_mut()).map_err(|text| {
                    TestCaseError::fail(format!("{text}\n{}\n{:#?}", draw::text(&plan), plan.clocks))
                })?;
            }
            Ok(())
        });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    ratios.into_inner()
}

#[test]
fn no_frame_exceeds_its_bounds_on_clocks() {
    let ratios = prove_on_clocks(60);
    assert!(ratios.len() > 1_000, "{} flows at ports", ratios.len());
}

/// ATS schedulers at every bridge, in true time and on clocks: how many frames had a bound.
fn prove_shaped(plans: u32) -> [u64; 2] {
    let frames = RefCell::new([0; 2]);
    let clocks = prop::option::weighted(0.5, on_clocks::on_clocks());
    let drawn = (draw::plan(), shaped::schedulers(), clocks, any::<u16>());
    let outcome = runner(plans).run(&drawn, |(plan, own, clocks, victim)| {
        for mut plan in releases(&plan, usize::from(victim)) {
            shaped::add(&mut plan, &own);
            clocks.iter().try_for_each(|own| on_clocks::add(&mut plan, own)).map_err(TestCaseError::fail)?;
            plan.check().map_err(|error| TestCaseError::fail(error.to_string()))?;
            let found = everything::watch(&plan, &bounds(&plan)).map_err(|text| {
                TestCaseError::fail(format!(
                    "{text}\n{}\n{:#?}\n{:#?}",
                    draw::text(&plan),
                    plan.policing,
                    plan.clocks
                ))
            })?;
            frames.borrow_mut()[usize::from(clocks.is_some())] += found;
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    frames.into_inner()
}

#[test]
fn no_frame_exceeds_its_bounds_behind_schedulers() {
    let [plain, on_clocks] = prove_shaped(60);
    assert!(plain > 1_000 && on_clocks > 10_000, "{plain} {on_clocks}");
}

/// Schedulers by oscillators that are as far off as they may be: how many frames had a bound.
fn prove_slow(plans: u32) -> u64 {
    let frames = RefCell::new(0);
    let outcome = runner(plans).run(&slow::slow(), |own| {
        let plan = slow::plan(&own);
        plan.check().map_err(|error| TestCaseError::fail(error.to_string()))?;
        let found = everything::watch(&plan, &bounds(&plan));
        *frames.borrow_mut() += found.map_err(|text| TestCaseError::fail(format!("{text}\n{own:#?}")))?;
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    frames.into_inner()
}

#[test]
fn no_frame_exceeds_its_bounds_behind_slow_schedulers() {
    let frames = prove_slow(200);
    assert!(frames > 20_000, "{frames}");
}

/// How near to their bounds a search for offsets brings flows of lines and trees without jitter.
fn pursue_bounds(plans: u32, steps: usize, drawn: impl Strategy<Value = Plan>) -> Vec<pursue::Found> {
    let found = RefCell::new(Vec::new());
    let rng = RefCell::new(TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]));
    let outcome = runner(plans).run(&(drawn, any::<u16>()), |(mut plan, victim)| {
        loaded::without_jitter(&mut plan);
        let victim = usize::from(victim) % plan.streams.len().max(1);
        let ring = plan.ports.len() >= 2 * plan.nodes.len();
        if !plan.streams.is_empty() && !ring {
            let mut plans = releases(&plan, victim);
            plans.extend([0, 40, 70, 100].map(|share| loaded::chasing(&plan, victim, share)));
            let one = pursue::tightness(&plans, victim, steps, &mut rng.borrow_mut());
            found.borrow_mut().extend(one.map_err(TestCaseError::fail)?);
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    found.into_inner()
}

/// No frame is beyond its bound, and half of the flows come near to it.
#[test]
fn a_search_for_offsets_comes_near_to_the_bounds() {
    let mut found: Vec<f64> =
        pursue_bounds(30, 100, loaded::plan()).iter().map(|one| one.ratios[2]).collect();
    found.sort_by(f64::total_cmp);
    assert!(found.len() > 20 && found[found.len() / 2] > 0.9, "{found:?}");
}

fn many() -> u32 {
    std::env::var("BOUNDS_PLANS").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000)
}

#[test]
#[ignore = "long: set BOUNDS_PLANS"]
fn soak() {
    println!("{}", prove(many()));
}

#[test]
#[ignore = "long: set BOUNDS_PLANS"]
fn soak_loaded() {
    for others in [1, 12] {
        let (seen, along) = prove_loaded(many(), loaded::plan_of(5..98, others));
        println!("{seen}{along} flows with less than the sum of their hops");
    }
}

#[test]
#[ignore = "long: set BOUNDS_PLANS"]
fn soak_failures() {
    println!("{:?}", prove_failures(many()));
}

#[test]
#[ignore = "long: set BOUNDS_PLANS"]
fn soak_paths() {
    println!("{}", watch::quantiles("bound by delay from release", &prove_paths(many()).0));
}

#[test]
#[ignore = "long: set BOUNDS_PLANS"]
fn soak_pursued() {
    let loads = [
        ("50 to 97 %, one class", 50..98, 1),
        ("5 to 49 %, one class", 5..50, 1),
        ("three classes", 5..98, 12),
    ];
    for (name, load, others) in loads {
        let found = pursue_bounds(many(), 400, loaded::plan_of(load, others));
        for hops in [1, 3, 5] {
            for (number, kind) in pursue::KINDS.iter().enumerate() {
                let long = found.iter().filter(|one| one.hops >= hops);
                let ratios: Vec<f64> = long.map(|one| one.ratios[number]).collect();
                println!("{name}, {hops} hops or more: {}", watch::quantiles(kind, &ratios));
            }
        }
    }
}

#[test]
#[ignore = "long: set BOUNDS_PLANS"]
fn soak_on_clocks() {
    println!("{}", watch::quantiles("on clocks, bound by delay at a port", &prove_on_clocks(many())));
}

#[test]
#[ignore = "long: set BOUNDS_PLANS"]
fn soak_slow() {
    println!("frames with a bound behind slow schedulers: {}", prove_slow(many()));
}

#[test]
#[ignore = "long: set BOUNDS_PLANS"]
fn soak_shaped() {
    println!("frames with a bound behind schedulers, and on clocks: {:?}", prove_shaped(many()));
}
