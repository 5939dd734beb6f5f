//! Reasons and their texts.

use tsn_schedule::generators::{Family, Shape};
use tsn_schedule::{Depth, Effort, Limits, Link, Node, Problem, Reason, Stream, explain, gate_lists, solve};

/// Stations 0 and 1, 2 and 3 at bridges 4 and 5: links 0 to 4, 2 to 4, 4 to 5, 5 to 1 and 5 to 3.
fn problem() -> Problem {
    let station = Node { processing_ps: 0, forwards: false };
    let bridge = Node { processing_ps: 2_000_000, forwards: true };
    let link = |(from, to)| Link {
        from,
        to,
        rate_bps: 100_000_000,
        propagation_ps: 50_000,
        margin_ps: 0,
        queues: 1,
        limits: Limits::default(),
    };
    let links = [(0, 4), (2, 4), (4, 5), (5, 1), (5, 3)].into_iter().map(link).collect();
    Problem {
        nodes: vec![station, station, station, station, bridge, bridge],
        links,
        streams: Vec::new(),
        granularity_ns: 1,
    }
}

fn stream(talker: u32, listener: u32, period_ns: i64, octets: u32) -> Stream {
    Stream {
        talker,
        listeners: vec![listener],
        period_ns,
        frames: vec![octets],
        deadline_ns: period_ns,
        earliest_ns: 0,
        latest_ns: period_ns - 1,
        tree: None,
        copies: 1,
        more_octets: Vec::new(),
        jitter_ns: None,
        queue: None,
    }
}

fn words(problem: &Problem) -> Vec<String> {
    let outcome = solve(problem.clone(), &Effort::default()).unwrap();
    let reasons = explain(problem, &outcome.refused, &Depth::default());
    let lists = gate_lists(problem, &outcome.placed).into_iter();
    let gates = lists.filter_map(|list| Some(Reason::Gates { refusal: list.err()? }));
    let json = serde_json::to_string(&reasons).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Reason>>(&json).unwrap(), reasons);
    reasons.into_iter().chain(gates).map(|reason| reason.to_string()).collect()
}

#[test]
fn certain_reasons_come_with_numbers() {
    let one = |change: &dyn Fn(&mut Problem)| {
        let mut own = problem();
        change(&mut own);
        own.check().unwrap();
        words(&own)
    };
    let found = [
        one(&|p| p.streams = vec![stream(1, 0, 1_000_000, 500)]),
        one(&|p| p.streams = vec![Stream { copies: 2, ..stream(0, 1, 1_000_000, 500) }]),
        one(&|p| {
            p.links[2].limits.longest_frame = 1_522;
            p.streams = vec![stream(0, 1, 1_000_000, 2_000)];
        }),
        one(&|p| p.streams = vec![Stream { deadline_ns: 1_000_000, ..stream(0, 1, 100_000, 1_500) }]),
        one(&|p| p.streams = vec![Stream { deadline_ns: 100_000, ..stream(0, 1, 1_000_000, 500) }]),
        one(&|p| p.streams = vec![Stream { deadline_ns: 4_000, ..stream(0, 1, 1_000_000, 500) }]),
        one(&|p| p.streams = vec![stream(0, 1, 250_000, 500), stream(2, 3, 300_000, 200)]),
        one(&|p| p.streams = vec![Stream { deadline_ns: 1_000_000, ..stream(0, 1, 250_000, 1_500) }; 3]),
        one(&|p| {
            p.streams =
                vec![stream(0, 1, 300_000, 480), stream(2, 3, 500_000, 480), stream(2, 1, 700_000, 480)]
        }),
        one(&|p| {
            p.links[0].limits.longest_cycle_ns = 1_000_000;
            p.streams = vec![stream(0, 1, 700_000, 100), stream(0, 3, 500_000, 100)];
        }),
    ];
    let found: Vec<String> = found.into_iter().map(|words| words.join("\n")).collect();
    if std::env::var_os("TSNBENCH_UPDATE").is_some() {
        std::fs::write("tests/words.txt", found.join("\n--\n") + "\n").unwrap();
    }
    let expected = std::fs::read_to_string("tests/words.txt").unwrap();
    assert_eq!(found.join("\n--\n") + "\n", expected);
}

#[test]
fn a_set_that_does_not_fit_is_small_and_does_not_fit() {
    let mut own = problem();
    // Equal periods; one link has more frames than fit beside a stream with a fixed release.
    own.streams = vec![stream(0, 1, 250_000, 1_200); 2];
    own.streams.push(Stream { earliest_ns: 50_000, latest_ns: 50_000, ..stream(2, 3, 250_000, 64) });
    own.streams.push(stream(2, 3, 250_000, 64));
    own.streams.push(Stream { latest_ns: 1_000, ..stream(2, 3, 250_000, 400) });
    let outcome = solve(own.clone(), &Effort::default()).unwrap();
    let reasons = explain(&own, &outcome.refused, &Depth::default());
    for reason in &reasons {
        let Reason::Conflict { stream, streams, .. } = reason else { continue };
        let part = streams.iter().chain([stream]).map(|number| own.streams[*number as usize].clone());
        let part = Problem { streams: part.collect(), ..own.clone() };
        assert!(!solve(part, &Effort::default()).unwrap().refused.is_empty());
    }
    assert!(matches!(reasons.last(), Some(Reason::Without { .. })), "{reasons:?}");
}

#[test]
fn what_is_refused_is_always_explained() {
    for seed in 0..12 {
        let family = Family {
            shape: [Shape::Line, Shape::Ring, Shape::Grid][seed as usize % 3],
            bridges: 6,
            streams: 300,
            stations: 2,
            octets: (200, 1_500),
            periods_ns: vec![100_000, 200_000, 400_000],
            seed,
            ..Family::default()
        };
        let problem = family.draw();
        let outcome = solve(problem.clone(), &Effort { steps: 20, ..Effort::default() }).unwrap();
        let depth = Depth { streams: 2, questions: 8, ..Depth::default() };
        let reasons = explain(&problem, &outcome.refused, &depth);
        assert_eq!(outcome.refused.is_empty(), reasons.is_empty());
        assert_eq!(reasons, explain(&problem, &outcome.refused, &depth));
        // The random problems use at most 90 % of every link, so no link can be a certain reason.
        assert!(!reasons.iter().any(|reason| matches!(reason, Reason::Link { .. })));
    }
}
