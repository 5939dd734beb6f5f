//! A constant whole-second offset between two clocks: it is reported, and subtracted only on request.

use crate::statistics::distribution::Distribution;
use serde::Serialize;

const SECOND: i64 = 1_000_000_000;
/// TAI − UTC since 2017.
const TAI_MINUS_UTC: i64 = 37;

/// An offset between the clocks of the two sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Offset {
    /// The receiving clock minus the sending clock.
    pub seconds: i64,
    /// Whether it was subtracted from the delays.
    pub applied: bool,
    /// The sentence for reports.
    pub text: String,
}

/// Searches for an offset in the paths' delays, from which `applied_s` have been subtracted already.
pub(crate) fn find<'a>(
    delays: impl Iterator<Item = &'a Distribution>,
    applied_s: Option<i64>,
) -> Option<Offset> {
    let mut votes: Vec<(i64, u64)> = Vec::new();
    for delay in delays {
        let Some(seconds) = whole_seconds(delay) else { continue };
        match votes.iter_mut().find(|vote| vote.0 == seconds) {
            Some(vote) => vote.1 += delay.count(),
            None => votes.push((seconds, delay.count())),
        }
    }
    let found = votes.into_iter().max_by_key(|vote| vote.1).map_or(0, |vote| vote.0);
    match applied_s {
        Some(seconds) if found == 0 => Some(Offset { seconds, applied: true, text: taken_off(seconds) }),
        Some(seconds) => Some(Offset {
            seconds,
            applied: true,
            text: format!("{}; what is left still lies {found} s off", taken_off(seconds)),
        }),
        None if found == 0 => None,
        None => Some(Offset { seconds: found, applied: false, text: describe(found) }),
    }
}

/// The whole seconds that all delays have in common; 0 for none.
fn whole_seconds(delay: &Distribution) -> Option<i64> {
    let (min, max) = (delay.min()?.value, delay.max()?.value);
    let median = delay.quantile(1, 2)?;
    let seconds = (median.checked_add(SECOND / 2)?).div_euclid(SECOND);
    // Delays whose spread exceeds a second are no constant offset.
    let constant = max.checked_sub(min)? < SECOND;
    Some(if constant { seconds } else { 0 })
}

fn taken_off(seconds: i64) -> String {
    format!("{seconds} s were taken off every delay, as asked")
}

fn describe(seconds: i64) -> String {
    let side = if seconds > 0 { "ahead of" } else { "behind" };
    let why = match seconds {
        TAI_MINUS_UTC => " (TAI minus UTC: the receiving side shows TAI, the sending side UTC)",
        seconds if seconds == -TAI_MINUS_UTC => {
            " (TAI minus UTC: the sending side shows TAI, the receiving side UTC)"
        }
        _ => "",
    };
    format!(
        "the receiving clock is {} s {side} the sending clock{why}; not applied: delays include it until an offset of {seconds} s is given",
        seconds.abs()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(base: i64) -> Distribution {
        let mut found = Distribution::default();
        for seq in 0..100 {
            found.add(base + seq as i64 * 1000, seq, 0);
        }
        found
    }

    #[test]
    fn thirty_seven_seconds_have_a_name() {
        let found = find([&delays(37 * SECOND + 5000), &delays(37 * SECOND)].into_iter(), None).unwrap();
        assert_eq!((found.seconds, found.applied), (37, false));
        assert!(found.text.contains("TAI minus UTC: the receiving side shows TAI"), "{}", found.text);
        let found = find([&delays(-37 * SECOND + 5000)].into_iter(), None).unwrap();
        assert_eq!(found.seconds, -37);
        assert!(found.text.contains("the sending side shows TAI"), "{}", found.text);
    }

    #[test]
    fn ordinary_delays_are_no_offset() {
        assert_eq!(find([&delays(341)].into_iter(), None), None);
        assert_eq!(find([&delays(-2_000_000)].into_iter(), None), None, "clocks that are badly synchronised");
        let mut queue = delays(0);
        queue.add(5 * SECOND, 100, 0);
        assert_eq!(find([&queue].into_iter(), None), None);
        assert_eq!(find([&Distribution::default()].into_iter(), None), None);
    }

    /// A number of equal delays of whole seconds.
    fn seconds(seconds: i64, count: u64) -> Distribution {
        let mut found = Distribution::default();
        (0..count).for_each(|seq| found.add(seconds * SECOND, seq, 0));
        found
    }

    #[test]
    fn the_offset_of_most_frames_is_the_one_that_is_named() {
        // 37 s: 3 + 1 frames on two paths; 5 s: 3 frames on one.
        for order in [[(37, 3), (5, 3), (37, 1)], [(5, 3), (37, 3), (37, 1)]] {
            let paths = order.map(|(offset, count)| seconds(offset, count));
            assert_eq!(find(paths.iter(), None).unwrap().seconds, 37, "{order:?}");
        }
    }

    #[test]
    fn delays_that_spread_over_a_whole_second_are_no_offset() {
        let spread = |ns: i64| {
            let mut found = seconds(37, 1);
            found.add(37 * SECOND + ns, 1, 0);
            find([&found].into_iter(), None).map(|offset| offset.seconds)
        };
        assert_eq!((spread(SECOND - 1), spread(SECOND)), (Some(37), None));
    }

    #[test]
    fn words_say_which_clock_is_ahead_and_name_tai_only_where_it_fits() {
        let words = |offset| find([&seconds(offset, 1)].into_iter(), None).unwrap().text;
        assert!(words(37).contains("37 s ahead of the sending clock (TAI"), "{}", words(37));
        assert!(words(-37).contains("37 s behind the sending clock (TAI"), "{}", words(-37));
        assert!(words(5).contains("5 s ahead of the sending clock; not"), "{}", words(5));
        assert!(words(-5).contains("5 s behind the sending clock; not"), "{}", words(-5));
    }

    #[test]
    fn what_is_given_is_applied_and_what_is_left_is_named() {
        let found = find([&delays(400)].into_iter(), Some(37)).unwrap();
        assert_eq!(
            (found.seconds, found.applied, found.text.as_str()),
            (37, true, "37 s were taken off every delay, as asked")
        );
        let found = find([&delays(SECOND)].into_iter(), Some(37)).unwrap();
        assert!(found.text.ends_with("what is left still lies 1 s off"));
    }
}
