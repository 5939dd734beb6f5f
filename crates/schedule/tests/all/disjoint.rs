//! Random problems: no two placed frames conflict, checked pair by pair from the definition.

use proptest::prelude::*;
use tsn_schedule::generators::{Family, Shape};
use tsn_schedule::{Effort, Placed, Problem, solve};
use tsn_units::{BitRate, Octets, wire_time};

const fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Link, queue, period, arrival, and start and end on the wire, with margins.
struct Taken {
    link: u32,
    queue: u8,
    period: i64,
    comes: i64,
    starts: i64,
    ends: i64,
}

/// The times of every frame, by the definitions of the documentation.
fn taken(problem: &Problem, number: usize, placed: &Placed) -> Result<Vec<Taken>, TestCaseError> {
    let stream = &problem.streams[number];
    let offset = placed.offset_ns * 1_000;
    prop_assert!(placed.offset_ns % problem.granularity_ns == 0);
    prop_assert!((stream.earliest_ns..=stream.latest_ns).contains(&placed.offset_ns));
    let mut all = Vec::new();
    let mut last_bits: Vec<Vec<i64>> = Vec::new();
    let mut latest = 0;
    for (entry, start) in placed.tree.iter().zip(&placed.starts_ps) {
        let link = &problem.links[entry.link as usize];
        let ready: Vec<i64> = match entry.parent {
            None => vec![offset; stream.frames.len()],
            Some(parent) => {
                let node = problem.links[placed.tree[parent as usize].link as usize].to;
                let processing = problem.nodes[node as usize].processing_ps;
                last_bits[parent as usize].iter().map(|at| at + processing).collect()
            }
        };
        let start = offset + start;
        prop_assert!(start >= ready[0], "a frame leaves before it has come");
        prop_assert!(entry.parent.is_some() || start == offset, "the talker keeps a frame back");
        let mut free = start;
        let mut last = Vec::new();
        for (octets, ready) in stream.frames.iter().zip(&ready) {
            let begin = free.max(*ready);
            free = begin + wire_time(Octets(*octets), BitRate(link.rate_bps)).ps();
            last.push(begin + BitRate(link.rate_bps).time(Octets(octets + 8)).ps() + link.propagation_ps);
        }
        if stream.listeners.contains(&link.to) {
            latest = latest.max(last[last.len() - 1]);
        }
        last_bits.push(last);
        all.push(Taken {
            link: entry.link,
            queue: placed.queue,
            period: stream.period_ns * 1_000,
            comes: ready[0] - link.margin_ps,
            starts: start - link.margin_ps,
            ends: free + link.margin_ps,
        });
    }
    prop_assert_eq!(latest - offset, placed.delay_ps);
    prop_assert!(placed.delay_ps <= stream.deadline_ns * 1_000);
    Ok(all)
}

fn meet(a: (i64, i64), b: (i64, i64), common: i64) -> bool {
    let apart = (b.0 - a.0).rem_euclid(common);
    apart < a.1 - a.0 || common - apart < b.1 - b.0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn nothing_meets(
        shape in prop::sample::select(vec![
            Shape::Line, Shape::Ring, Shape::Tree, Shape::Mesh, Shape::Grid, Shape::Regular]),
        bridges in 2_u32..9,
        streams in 1_u32..60,
        queues in 1_u8..4,
        periods_ns in prop::sample::select(vec![
            vec![500_000_i64, 1_000_000], vec![100_000, 200_000, 400_000], vec![150_000, 250_000], vec![60_000]]),
        margin_ps in prop::sample::select(vec![0_i64, 100_000, 1_000_000]),
        granularity_ns in prop::sample::select(vec![1_i64, 10, 1_000]),
        several in 1_usize..4,
        slack in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let family = Family {
            shape, bridges, streams, queues, periods_ns, slack, stations: 2, octets: (64, 1_522), seed, ..Family::default()
        };
        let mut problem = family.draw();
        problem.granularity_ns = granularity_ns;
        for link in &mut problem.links {
            link.margin_ps = margin_ps;
        }
        for (number, stream) in problem.streams.iter_mut().enumerate() {
            if number % 3 == 0 {
                stream.frames = vec![stream.frames[0]; several];
            }
            if number % 4 == 0 {
                let other = (stream.listeners[0] + 1) % problem.nodes.len() as u32;
                if other != stream.talker && !problem.nodes[other as usize].forwards && other != stream.listeners[0] {
                    stream.listeners.push(other);
                }
            }
        }
        let outcome = solve(problem.clone(), &Effort { steps: 200, ..Effort::default() }).unwrap();
        let placed = outcome.placed.iter().filter(|placed| placed.is_some()).count();
        prop_assert_eq!(placed + outcome.refused.len(), problem.streams.len());
        let mut links: Vec<Vec<Taken>> = problem.links.iter().map(|_| Vec::new()).collect();
        for (number, placed) in outcome.placed.iter().enumerate() {
            let Some(placed) = placed else { continue };
            for one in taken(&problem, number, placed)? {
                for other in &links[one.link as usize] {
                    let common = gcd(one.period, other.period);
                    let wire = meet((one.starts, one.ends), (other.starts, other.ends), common);
                    prop_assert!(!wire, "two frames at once on link {}", one.link);
                    let queue = meet((one.comes, one.ends), (other.comes, other.ends), common);
                    prop_assert!(!queue || one.queue != other.queue, "two in a queue of link {}", one.link);
                }
                links[one.link as usize].push(one);
            }
        }
    }
}
