//! What is known of the gates of a port while either of two lists may be in force.
//!
//! A fault gives the port a wrong list for some time; by a clock, it is not known exactly when that begins and ends.

use super::span::Span;
use crate::model::gate_clock::GateClock;
use tsn_plan::{GateEntry, Gates, Schedule};

/// Most states of a list in a time in which another one may be in force, too; of more, only what is the same in all.
const MOST_PIECES: i64 = 128;

/// A list that a fault gives a port for some time; none for gates that are all open.
pub(crate) struct Wrong<'a> {
    pub from_ns: u64,
    pub until_ns: u64,
    pub gates: Option<&'a Gates>,
}

/// The lists with another one for some time; none if that changes. The port guards as it does by its own list. By a
/// clock, both lists may be in force around the instants of the change.
pub(super) fn replaced(
    spans: Vec<Span>,
    wrong: &Wrong<'_>,
    open: &Gates,
    clock: Option<&GateClock>,
) -> Option<Vec<Span>> {
    let gates = wrong.gates.unwrap_or(open);
    let schedule = if wrong.gates.is_some() { Schedule::List(0) } else { Schedule::Initial };
    if !gates.changes.is_empty() || (wrong.gates.is_some() && gates.initial.is_some()) {
        return None;
    }
    let around = |at: u64| {
        let at = i64::try_from(at).ok()?;
        Some(clock.map_or((at, at), |clock| clock.around(at)))
    };
    let ((first, from), (until, last)) = (around(wrong.from_ns)?, around(wrong.until_ns)?);
    // A clock may show less than 0.
    let other = Span { from: i64::MIN, ..Span::of(gates, schedule, 0, i64::MAX) };
    let always = |spans: &[Span]| spans.iter().fold(u8::MAX, |all, span| all & span.always());
    let begins = [(first, from, always(&spans)), (until, last, other.always())];
    // A wrong list may be in force for a shorter time than it is known when.
    let whole = [(first, last, other.always())];
    let changes = if from < until { &begins[..] } else { &whole };
    let mut found: Vec<Span> = spans.iter().filter_map(|span| span.within(i64::MIN, first)).collect();
    for (number, (begin, end, always)) in changes.iter().enumerate() {
        let to = Span::both(&spans, &other, (*begin, *end), *always, &mut found);
        let next = changes.get(number + 1).map_or(i64::MAX, |next| next.0);
        let own = if number + 1 < changes.len() { std::slice::from_ref(&other) } else { &spans[..] };
        found.extend(own.iter().filter_map(|span| span.within(to, next)));
    }
    Some(found)
}

/// What is known of all gates for some time.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Piece {
    lasts: i64,
    certain: u8,
    possible: u8,
}

/// The pieces of a time in which either list may be in force.
fn together(own: &[Piece], other: &[Piece]) -> Vec<Piece> {
    let (mut found, mut rest) = (Vec::new(), other.iter().copied());
    let mut next = rest.next();
    for piece in own {
        let mut left = piece.lasts;
        while let Some(also) = next.as_mut().filter(|_| left > 0) {
            let lasts = left.min(also.lasts);
            let (certain, possible) = (piece.certain & also.certain, piece.possible | also.possible);
            found.push(Piece { lasts, certain, possible });
            left -= lasts;
            also.lasts -= lasts;
            if also.lasts == 0 {
                next = rest.next();
            }
        }
    }
    found
}

impl Span {
    /// Adds a time in which any of the lists or the other one may be in force, and returns its end. Gates close for a
    /// moment at the end, unless they are `always` open in the list that is replaced: no frame starts shortly before they
    /// would close in it.
    fn both(spans: &[Self], other: &Self, (from, to): (i64, i64), always: u8, found: &mut Vec<Self>) -> i64 {
        let from = from.max(spans.first().map_or(from, |first| first.from));
        let end = if always == u8::MAX { to } else { to + 1 };
        if from >= end {
            return to;
        }
        let own: Vec<Piece> =
            spans.iter().filter_map(|span| span.within(from, end)).flat_map(|span| span.pieces()).collect();
        let other = Self { from, to: end, ..other.clone() }.pieces();
        let mut pieces = together(&own, &other);
        if let Some(last) = pieces.pop() {
            pieces.push(Piece { lasts: last.lasts - (end - to), ..last });
            pieces.push(Piece { lasts: end - to, certain: last.certain & always, ..last });
        }
        pieces.retain(|piece| piece.lasts > 0);
        let entry = |piece: &Piece| GateEntry {
            open: piece.certain,
            interval_ns: piece.lasts.unsigned_abs(),
            mac: None,
        };
        found.push(Self {
            from,
            to: end,
            without: 0,
            base: from,
            cycle: end - from,
            entries: pieces.iter().map(entry).collect(),
            possible: pieces.iter().map(|piece| piece.possible).collect(),
            slopes: Vec::new(),
        });
        end
    }

    /// The states of a short time; those of a long one together.
    fn pieces(&self) -> Vec<Piece> {
        let possible = self.possible();
        if (self.length() / self.cycle).saturating_mul(self.entries.len() as i64) > MOST_PIECES {
            let any = possible.entries.iter().fold(0, |any, entry| any | entry.open);
            return vec![Piece { lasts: self.length(), certain: self.always(), possible: any }];
        }
        let both = self.states(false).into_iter().zip(possible.states(false));
        let piece = |(own, possible): (GateEntry, GateEntry)| Piece {
            lasts: own.interval_ns as i64,
            certain: own.open,
            possible: possible.open,
        };
        both.map(piece).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::lists::tests::list;

    /// 5 ps of a clock that is 1 us late are 3 us and 4 ps apart on both sides. A list of (3 for 10 us, 1 for 10 us), then one
    /// with (2 for 8 us, 0 for 8 us) from 30 to 62 us: between 26 and 36 us, and between 58 and 68 us, either one.
    #[test]
    fn by_a_clock_either_of_two_lists_is_in_force_for_some_time() {
        let clock = GateClock { apart: 2_500_000, steady: 0, own: 0, first: 0, ahead: 1_000_000 };
        let span = |gates: &Gates| Span::of(gates, Schedule::List(0), 0, i64::MAX);
        let own = span(&list(&[(3, 10_000), (1, 10_000)]));
        let wrong = list(&[(2, 8_000), (0, 8_000)]);
        let of = |from_ns: u64, until_ns: u64| {
            let wrong = Wrong { from_ns, until_ns, gates: Some(&wrong) };
            replaced(vec![own.clone()], &wrong, &Gates::default(), Some(&clock)).unwrap()
        };
        let found = of(30_000, 62_000);
        let times: Vec<_> = found.iter().map(|span| (span.from, span.to)).collect();
        // Rounded to the next nanosecond; and 1 ns in which gates are closed.
        assert_eq!(
            times,
            [(0, 25_999), (25_999, 36_002), (36_002, 57_999), (57_999, 68_002), (68_002, i64::MAX)]
        );
        let either = |span: &Span| -> Vec<(u64, u8, u8)> {
            let all = span.entries.iter().zip(&span.possible);
            all.map(|(entry, possible)| (entry.interval_ns, entry.open, *possible)).collect()
        };
        // Own: 3 from 20 to 30 us, then 1; the other one: 0 from 24 to 32 us, then 2.
        let begin = [(4_001, 0, 3), (2_000, 0, 1), (4_001, 0, 3), (1, 0, 3)];
        assert_eq!(either(&found[1]), begin);
        // Own: 1 from 50 to 60 us, then 3; the other one: 0 from 56 to 64 us, then 2. It closes every gate.
        assert_eq!(either(&found[3]), [(2_001, 0, 1), (4_000, 0, 3), (4_001, 2, 3), (1, 0, 3)]);
        assert!(
            found.iter().skip(1).step_by(2).all(|span| (span.base, span.cycle) == (span.from, span.length()))
        );
        // No gate of the list that is replaced ever closes: no moment is added in which gates are closed.
        let open = vec![span(&list(&[(255, 10_000)]))];
        let other = Wrong { from_ns: 30_000, until_ns: 62_000, gates: Some(&wrong) };
        let found = replaced(open, &other, &Gates::default(), Some(&clock)).unwrap();
        assert_eq!((found[1].from, found[1].to), (25_999, 36_001));
        assert_eq!(either(&found[1]), [(6_001, 0, 255), (4_001, 2, 255)]);
        // Both changes may be at any time of 10 us and a part.
        let short = of(30_000, 31_000);
        let times: Vec<_> = short.iter().map(|span| (span.from, span.to)).collect();
        assert_eq!(times, [(0, 25_999), (25_999, 37_002), (37_002, i64::MAX)]);
        assert_eq!(short[2].entries, own.entries);
        // 40 us behind, no time is left out before 0.
        let late = GateClock { ahead: -40_000_000, ..clock };
        let own = Span { from: -100_000, ..own.clone() };
        let wrong = Wrong { from_ns: 10_000, until_ns: 62_000, gates: Some(&wrong) };
        let found = replaced(vec![own], &wrong, &Gates::default(), Some(&late)).unwrap();
        let times: Vec<_> = found.iter().map(|span| (span.from, span.to)).collect();
        assert_eq!(times[1..4], [(-35_001, -24_998), (-24_998, 16_999), (16_999, 27_002)]);
    }

    /// 129 states: what is the same in all of them.
    #[test]
    fn of_many_states_in_a_time_only_what_they_share_is_known() {
        let span = Span { to: 2_000, ..Span::of(&list(&[(3, 10), (1, 10)]), Schedule::List(0), 0, i64::MAX) };
        let found = |length: i64| span.within(0, length).unwrap().pieces();
        assert_eq!(found(1_280).len(), 128);
        assert_eq!(found(1_300), [Piece { lasts: 1_300, certain: 1, possible: 3 }]);
    }
}
