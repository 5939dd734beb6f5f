//! The journal of a replayed run, in random plans with every mechanism: it changes nothing, has every frame at every
//! port, and its instants are those of the taps.

use crate::common::*;
use proptest::prelude::*;
use std::collections::HashMap;
use std::io;
use tsn_observation::{ClockLine, ELIMINATED, Fragment, Passage, Sighting, Sink};
use tsn_plan::{Plan, Point, Stage};
use tsn_sim::{RunCounters, Simulation, unwatched};

#[derive(Default)]
struct Journal {
    sightings: Vec<Sighting>,
    passages: Vec<Passage>,
    lines: Vec<ClockLine>,
    fragments: Vec<Fragment>,
}

impl Sink for Journal {
    const PASSAGES: bool = true;

    fn sight(&mut self, sighting: Sighting) -> io::Result<()> {
        self.sightings.push(sighting);
        Ok(())
    }

    fn passage(&mut self, passage: Passage) -> io::Result<()> {
        self.passages.push(passage);
        Ok(())
    }

    fn fragment(&mut self, fragment: Fragment) -> io::Result<()> {
        self.fragments.push(fragment);
        Ok(())
    }

    fn clock_line(&mut self, line: ClockLine) -> io::Result<()> {
        self.lines.push(line);
        Ok(())
    }
}

fn journal(plan: &Plan) -> (Journal, RunCounters) {
    let mut found = Journal::default();
    let counters = Simulation::new(plan).unwrap().run(&mut found, &mut unwatched).unwrap();
    found.passages.sort_by_key(|one| one.number);
    (found, counters)
}

/// The instants of a passage are in order, and it begins where the passage before it ended.
fn follows(plan: &Plan, all: &[Passage], one: &Passage) {
    let software = [one.qdisc_ns, one.handed_ns, one.loaded_ns].into_iter().flatten();
    let after = [one.queued_ns, one.eligible_ns, one.start_ns, one.end_ns].into_iter().chain(one.arrived_ns);
    let instants: Vec<i64> = [one.came_ns].into_iter().chain(software).chain(after).collect();
    assert!(instants.is_sorted(), "{one:?}");
    let node = plan.ports[one.port as usize].node;
    let Some(before) = one.before.map(|number| all[number as usize]) else {
        let talks = plan.streams.get(one.stream as usize).is_none_or(|stream| stream.talker == node);
        return assert!(talks, "a path that does not begin at its talker: {one:?}");
    };
    assert_eq!((before.stream, before.seq), (one.stream, one.seq));
    assert_eq!(plan.ports[plan.ports[before.port as usize].peer as usize].node, node);
    let cuts = plan.nodes[node as usize].cut_through_octets.is_some();
    if plan.faults.is_empty() {
        let arrived = before.arrived_ns.unwrap_or(i64::MAX);
        assert!(if cuts { one.came_ns <= arrived } else { one.came_ns == arrived }, "{before:?} {one:?}");
        assert!(cuts || before.accepted, "{before:?} {one:?}");
    }
}

/// The mPackets of a frame are the frame, with a preamble each, and a check sequence each but for the last one's FCS.
fn fragments_are_whole(plan: &Plan, found: &Journal, counters: &RunCounters) {
    for own in found.fragments.chunk_by(|one, other| one.passage == other.passage) {
        let whole = &found.passages[own[0].passage as usize];
        assert_eq!((own[0].start_ns, own[own.len() - 1].end_ns), (whole.start_ns, whole.end_ns));
        assert!(own.len() > 1 && own.windows(2).all(|pair| pair[0].end_ns < pair[1].start_ns), "{own:?}");
        let octets = i64::from(whole.octets) + 12 * own.len() as i64 - 4;
        let rate = plan.ports[whole.port as usize].rate_bps as i128;
        let needed = (i128::from(octets) * 8_000_000_000 / rate) as i64;
        let sent: i64 = own.iter().map(|one| one.end_ns - one.start_ns).sum();
        assert!((sent - needed).abs() <= own.len() as i64 + 1, "{sent} {needed} {own:?}");
    }
    let interrupted = found.fragments.chunk_by(|one, other| one.passage == other.passage).count() as u64;
    let merging = counters.ports.iter().flat_map(|port| &port.preemption);
    assert_eq!(interrupted, merging.map(|own| own.fragmented_frames).sum::<u64>());
}

/// Stream, number and stamp of all frames at a kind of taps: as they were seen, and as the journal has them.
fn stamps_agree(
    plan: &Plan,
    found: &Journal,
    (stage, point): (Stage, Point),
    stamp: impl Fn(&Passage) -> Option<(u32, i64, bool)>,
) {
    let mut seen: HashMap<(u32, u32, u64), Vec<(i64, bool)>> = HashMap::new();
    // PTP messages have numbers of their own at taps.
    for one in found.sightings.iter().filter(|one| (one.stream as usize) < plan.streams.len()) {
        let tap = &plan.taps[usize::from(one.tap)];
        if tap.stage == stage && tap.point == point && tap.granularity_ns == 1 {
            let key = (tap.port, one.stream, one.seq);
            seen.entry(key).or_default().push((one.t_ns.unwrap(), one.copy & ELIMINATED == 0));
        }
    }
    let mut recorded: HashMap<(u32, u32, u64), Vec<(i64, bool)>> = HashMap::new();
    for one in found.passages.iter().filter(|one| (one.stream as usize) < plan.streams.len()) {
        if let Some((port, at, accepted)) = stamp(one)
            && plan.taps.iter().any(|tap| (tap.port, tap.stage, tap.point) == (port, stage, point))
        {
            recorded.entry((port, one.stream, one.seq)).or_default().push((at, accepted));
        }
    }
    for (key, stamps) in &mut seen {
        let own = recorded.get_mut(key).unwrap_or_else(|| panic!("{key:?} is not in the journal"));
        own.sort_unstable();
        stamps.sort_unstable();
        if plan.faults.is_empty() {
            assert_eq!(own, stamps, "{key:?} at {stage:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_journal_is_the_run(plan in anything::plan()) {
        let (sightings, counters) = run(&plan);
        let (found, again) = journal(&plan);
        prop_assert!(found.sightings == sightings && again == counters, "the journal changed the run");
        prop_assert_eq!(found.passages.len() as u64, counters.frame_hops);
        for (number, one) in found.passages.iter().enumerate() {
            prop_assert_eq!(one.number, number as u64);
            follows(&plan, &found.passages, one);
        }
        fragments_are_whole(&plan, &found, &counters);
        let nodes = if plan.clocks.is_some() { plan.nodes.len() } else { 0 };
        prop_assert!(found.lines.len() >= nodes && found.lines.is_empty() == (nodes == 0));
        prop_assert!(found.lines[..nodes].iter().enumerate().all(|(node, line)| line.node as usize == node));
        if plan.policing.is_empty() {
            let end = i64::try_from(counters.simulated_ns).unwrap();
            // Clocks may show more than the true end of the run.
            let sent = |one: &Passage| {
                (plan.clocks.is_some() || one.sent_clock_ns <= end).then_some((one.port, one.sent_clock_ns, true))
            };
            if plan.clocks.is_none() {
                stamps_agree(&plan, &found, (Stage::Tx, Point::Start), sent);
            }
            stamps_agree(&plan, &found, (Stage::Rx, Point::End), |one| {
                let peer = plan.ports[one.port as usize].peer;
                one.arrived_clock_ns.map(|at| (peer, at, one.accepted))
            });
        }
    }
}
