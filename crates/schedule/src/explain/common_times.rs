//! Sets of streams that collide on a link for all releases, found from periods and frame lengths alone.
//!
//! Streams `i` and `j` of one link do not overlap if and only if their intervals modulo `gcd(P_i, P_j)` do not
//! overlap. Suppose that this divisor divides some `g` for every two streams of a set. Modulo `g`, stream `i` occupies
//! its interval `g / gcd(P_i, g)` times. No two streams of the set share a point, because a point shared modulo `g` is
//! also shared modulo `gcd(P_i, P_j)`, since `gcd(P_i, P_j, g) = gcd(P_i, P_j)`. Therefore `sum L_i g / gcd(P_i, g) <=
//! g` must hold. For two streams and their divisor this is the condition of a pair; for all streams and the least
//! common multiple it is the load of the link.

use crate::periods::gcd;
use std::collections::{BTreeMap, BTreeSet};

/// The most distinct moduli that are tried. With fewer tries a set may be missed, but a found set is certain.
const MOST: usize = 64;

/// The need of one stream on a link: its number, the time of its frames, and its period; ps.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Need {
    pub stream: u32,
    pub takes: i64,
    pub period: i64,
}

/// The smallest modulus `g` that is too short, with the time that each stream of the set needs of it.
pub(crate) fn too_much(needs: &[Need]) -> Option<(i64, Vec<(u32, i64)>)> {
    let mut by_period: BTreeMap<i64, Vec<Need>> = BTreeMap::new();
    needs.iter().for_each(|need| by_period.entry(need.period).or_default().push(*need));
    let periods: Vec<i64> = by_period.keys().copied().collect();
    let mut moduli: BTreeSet<i64> = BTreeSet::new();
    for (place, one) in periods.iter().enumerate() {
        moduli.extend(periods[..place].iter().map(|other| gcd(*one, *other)));
        if moduli.len() > MOST {
            break;
        }
    }
    let pairs: Vec<i64> = moduli.iter().copied().take(MOST / 4).collect();
    for (place, one) in pairs.iter().enumerate() {
        moduli.extend(pairs[..place].iter().filter_map(|other| crate::periods::lcm(*one, *other)));
    }
    moduli.into_iter().take(2 * MOST).find_map(|modulus| Some((modulus, within(&by_period, modulus)?)))
}

/// A set of streams whose pairwise common divisors divide a modulus that is too short for the set.
fn within(by_period: &BTreeMap<i64, Vec<Need>>, modulus: i64) -> Option<Vec<(u32, i64)>> {
    let share = |need: &Need| need.takes.saturating_mul(modulus / gcd(need.period, modulus));
    // If a period does not divide the modulus, only one stream of this period can be in the set: the common divisor
    // of two would be the period itself.
    let mut classes: Vec<(i64, Vec<Need>)> = Vec::new();
    for (period, all) in by_period {
        let longest = all.iter().max_by_key(|need| need.takes).copied();
        let all = if modulus % period == 0 { all.clone() } else { longest.into_iter().collect() };
        classes.push((*period, all));
    }
    classes.sort_by_key(|(period, all)| {
        let weight = all.iter().fold(0_i64, |sum, need| sum.saturating_add(share(need)));
        (std::cmp::Reverse(weight), *period)
    });
    let mut chosen: Vec<(i64, Vec<Need>)> = Vec::new();
    for (period, all) in classes {
        if chosen.iter().all(|(other, _)| modulus % gcd(period, *other) == 0) {
            chosen.push((period, all));
        }
    }
    let mut set: Vec<(u32, i64)> =
        chosen.iter().flat_map(|(_, all)| all.iter().map(|need| (need.stream, share(need)))).collect();
    set.sort_by_key(|(stream, takes)| (std::cmp::Reverse(*takes), *stream));
    // The longest streams suffice for a proof: leave the others out.
    let mut sum = 0_i64;
    let enough = set.iter().position(|(_, takes)| {
        sum = sum.saturating_add(*takes);
        sum > modulus
    })?;
    set.truncate(enough + 1);
    (set.len() > 1).then_some(set)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn needs(all: &[(i64, i64)]) -> Vec<Need> {
        let one = |(stream, (takes, period)): (usize, &(i64, i64))| Need {
            stream: stream as u32,
            takes: *takes,
            period: *period,
        };
        all.iter().enumerate().map(one).collect()
    }

    #[test]
    fn three_that_fit_two_by_two_and_not_together() {
        let of = |takes| too_much(&needs(&[(takes, 300), (takes, 500), (takes, 700)]));
        assert_eq!(of(33), None);
        assert_eq!(of(34), Some((100, vec![(0, 34), (1, 34), (2, 34)])));
        // A pair of streams, and the load of a link.
        assert_eq!(too_much(&needs(&[(60, 300), (50, 500)])), Some((100, vec![(0, 60), (1, 50)])));
        assert_eq!(too_much(&needs(&[(50, 100), (60, 200)])), Some((100, vec![(1, 60), (0, 50)])));
        // gcd(12, 18) = gcd(18, 30) = 6: modulo 6 no two of the three streams overlap.
        assert_eq!(too_much(&needs(&[(2, 12), (2, 18), (2, 30)])), None);
        assert!(too_much(&needs(&[(2, 12), (2, 18), (3, 30)])).is_some());
    }

    /// Whether releases exist with which no two streams overlap, by trying all of them.
    fn exists(all: &[(i64, i64)], chosen: &mut Vec<i64>) -> bool {
        let Some((takes, period)) = all.get(chosen.len()) else { return true };
        for release in 0..*period {
            let apart = all.iter().zip(chosen.iter()).all(|((other, their_period), begun)| {
                let common = gcd(*period, *their_period);
                let later = (release - begun).rem_euclid(common);
                later >= *other && later + takes <= common
            });
            if apart {
                chosen.push(release);
                if exists(all, chosen) {
                    return true;
                }
                chosen.pop();
            }
        }
        false
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn what_is_said_to_be_too_much_has_no_schedule(
            all in prop::collection::vec((1_i64..5, prop::sample::select(vec![4_i64, 6, 8, 9, 10, 12, 15, 18])), 2..5),
        ) {
            if too_much(&needs(&all)).is_some() {
                let fits = all.iter().all(|(takes, period)| takes <= period) && exists(&all, &mut Vec::new());
                prop_assert!(!fits, "{:?}", all);
            }
        }
    }
}
