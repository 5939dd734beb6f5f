//! No two frames on a link at once, and nobody in a queue beside one that waits.

use crate::walk::Passage;
use crate::{Report, Unfit, Violation};
use tsn_plan::Plan;

/// More frames of one link than this are not followed.
const MOST_FRAMES: i64 = 1 << 24;

/// One frame's (or burst's) time, early and late by its margin.
struct Span {
    from: i64,
    until: i64,
    stream: u32,
    /// Which release: the copies of one release are eliminated but for one.
    release: i64,
    class: u8,
    waits: bool,
}

pub(crate) fn apart(plan: &Plan, passages: &[Passage], report: &mut Report) {
    let mut by_port: Vec<Vec<&Passage>> = plan.ports.iter().map(|_| Vec::new()).collect();
    passages.iter().for_each(|passage| by_port[passage.port as usize].push(passage));
    for (port, passages) in by_port.iter().enumerate().filter(|(_, passages)| !passages.is_empty()) {
        let port = port as u32;
        let cycle = passages.iter().try_fold(1, |all, passage| least_common_multiple(all, passage.period));
        let frames = |cycle: i64| passages.iter().map(|passage| cycle / passage.period).sum::<i64>();
        let Some(cycle) = cycle.filter(|cycle| frames(*cycle) <= MOST_FRAMES) else {
            report.violations.push(Violation::UnfitPort { port, reason: Unfit::Cycle });
            continue;
        };
        report.frames += frames(cycle).unsigned_abs();
        let wire = unroll(passages, cycle, |passage| (passage.starts(), passage.ends));
        meetings(&wire, |a, b| {
            let (at_ps, until) = (a.from.max(b.from), a.until.min(b.until));
            let streams = [a.stream, b.stream];
            report.violations.push(Violation::Meet { port, streams, at_ps, overlap_ps: until - at_ps });
        });
        if !passages.iter().any(|passage| passage.waits()) {
            continue;
        }
        let queued = unroll(passages, cycle, |passage| (passage.comes, passage.ends));
        meetings(&queued, |a, b| {
            if a.class == b.class && (a.waits || b.waits) {
                let (streams, at_ps) = ([a.stream, b.stream], a.from.max(b.from));
                let shared = Violation::SharedQueue { port, class: a.class, streams, at_ps };
                report.violations.push(shared);
            }
        });
    }
}

/// Every span of a cycle, by its beginning; those that reach around its end come twice.
fn unroll(passages: &[&Passage], cycle: i64, times: impl Fn(&Passage) -> (i64, i64)) -> Vec<Span> {
    let mut spans = Vec::new();
    for passage in passages {
        let (from, until) = times(passage);
        let (from, until) = (from - passage.margin, until + passage.margin);
        for release in 0..cycle / passage.period {
            let begin = (from + release * passage.period).rem_euclid(cycle);
            let mut end = begin + (until - from);
            let mut push = |from, until| {
                let (stream, class, waits) = (passage.stream, passage.class, passage.waits());
                spans.push(Span { from, until, stream, release, class, waits });
            };
            push(begin, end);
            while end > cycle {
                end -= cycle;
                push(end - (until - from), end);
            }
        }
    }
    spans.sort_unstable_by_key(|span| (span.from, span.until, span.stream));
    spans
}

/// Every pair that shares a time, the copies of one frame apart.
fn meetings(spans: &[Span], mut found: impl FnMut(&Span, &Span)) {
    let mut open: Vec<&Span> = Vec::new();
    for span in spans {
        open.retain(|other| other.until > span.from);
        for other in &open {
            if (other.stream, other.release) != (span.stream, span.release) {
                found(other, span);
            }
        }
        open.push(span);
    }
}

pub(crate) fn least_common_multiple(a: i64, b: i64) -> Option<i64> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).checked_mul(b).filter(|all| *all < i64::MAX / 8)
}
