//! Checks that no two frames are on a link at once, and that a waiting frame shares its queue only with frames that
//! are certainly ahead of it.

use crate::passage::Passage;
use crate::{Report, Unfit, Violation};
use tsn_plan::Plan;

/// Limit of frames on one link; beyond it the link is not verified.
pub(crate) const MOST_FRAMES: i64 = 1 << 24;

/// The time span of one frame (or burst), extended by its margin on both sides.
pub(crate) struct Span<'a> {
    pub from: i64,
    pub until: i64,
    stream: u32,
    /// Number of the release: of the member streams' frames of one release, all but one are eliminated.
    release: i64,
    pub passage: &'a Passage,
    /// How much later the span is than the passage, ps.
    moved: i64,
}

/// Whether the frames of one span are certainly in the queue before those of another span, and have left when the
/// latter are planned to start.
///
/// IEEE 802.1Q-2022, 8.6.6. The second span's frames find the gate open, and the wire occupied until the first span's
/// frames have left. If those are missing, the second frames leave earlier, which their own time on the wire allows
/// for.
fn ahead(first: &Span<'_>, second: &Span<'_>) -> bool {
    let (a, b) = (first.passage, second.passage);
    let comes = second.moved + b.comes - b.comes_early - b.margin;
    a.stream != b.stream
        && a.class == b.class
        && !(a.copies || b.copies || b.held)
        && a.margin <= b.margin
        && first.moved + a.complete + a.margin < comes
        && (!a.held || first.moved + a.starts() <= comes)
        && first.moved + a.ends <= second.moved + b.starts()
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
        let wire = unroll(passages, cycle, |passage| (passage.starts() - passage.early, passage.ends));
        meetings(&wire, |a, b| {
            if ahead(a, b) || ahead(b, a) {
                return;
            }
            let (at_ps, until) = (a.from.max(b.from), a.until.min(b.until));
            let streams = [a.stream, b.stream];
            report.violations.push(Violation::Meet { port, streams, at_ps, overlap_ps: until - at_ps });
        });
        if !passages.iter().any(|passage| passage.waits()) {
            continue;
        }
        let queued = unroll(passages, cycle, |passage| (passage.comes - passage.comes_early, passage.ends));
        meetings(&queued, |a, b| {
            let class = a.passage.class;
            let waits = a.passage.waits() || b.passage.waits();
            if class == b.passage.class && waits && !ahead(a, b) && !ahead(b, a) {
                let (streams, at_ps) = ([a.stream, b.stream], a.from.max(b.from));
                report.violations.push(Violation::SharedQueue { port, class, streams, at_ps });
            }
        });
        for passage in passages.iter().filter(|passage| passage.follows()) {
            let kept = |other: &&&Passage| {
                // The other stream has a frame in each period of the passage, which leaves exactly at its start.
                let always = passage.period % other.period == 0;
                let moved = passage.starts() - other.ends;
                let (first, second) = (span(other, moved, 0), span(passage, 0, 0));
                always && moved.rem_euclid(other.period) == 0 && ahead(&first, &second)
            };
            if !passages.iter().any(|other| kept(&other)) {
                let (stream, class) = (passage.stream, passage.class);
                let at_ps = passage.comes - passage.comes_early - passage.margin;
                report.violations.push(Violation::GoesEarly { stream, port, class, at_ps });
            }
        }
    }
}

fn span(passage: &Passage, moved: i64, release: i64) -> Span<'_> {
    let (from, until) = (passage.starts() - passage.margin + moved, passage.ends + passage.margin + moved);
    Span { from, until, stream: passage.stream, release, passage, moved }
}

/// Every span of a cycle, sorted by start; spans that reach beyond the cycle's end appear twice.
pub(crate) fn unroll<'a>(
    passages: &[&'a Passage],
    cycle: i64,
    times: impl Fn(&Passage) -> (i64, i64),
) -> Vec<Span<'a>> {
    let mut spans = Vec::new();
    for passage in passages {
        let (from, until) = times(passage);
        let (from, until) = (from - passage.margin, until + passage.margin);
        for release in 0..cycle / passage.period {
            let begin = (from + release * passage.period).rem_euclid(cycle);
            let mut end = begin + (until - from);
            let begun = from;
            let mut push = |from, until| {
                let moved = from - begun;
                spans.push(Span { from, until, moved, ..span(passage, 0, release) });
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

/// Every pair of spans that overlap, apart from frames of one release of one stream.
fn meetings<'a>(spans: &[Span<'a>], mut found: impl FnMut(&Span<'a>, &Span<'a>)) {
    let mut open: Vec<&Span<'a>> = Vec::new();
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
