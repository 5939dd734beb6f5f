//! Arrival curves: how much data of some flows can arrive within any span of time, both ends included.
//!
//! A periodic flow whose frames reach a queue within a window of `jitter` after their nominal times has at most
//! `unit * (floor((t + jitter) / period) + 1)`. The staircase is kept up to a horizon; after it the curve is its
//! tangent, the token bucket. Thiele & Ernst 2016, equation 1; Le Boudec & Thiran, section 1.2.

use crate::curve::{BIT, Curve, Data, LONGEST, Ps, Rate, Segment, ps};

/// Most data of a flow at one instant (1e9 Gbit); beyond it, numbers would overflow.
const MOST_AT_ONCE: Data = BIT << 60;
/// Number of steps of staircases that are kept for one curve; beyond them token buckets are exact enough.
const MOST_STEPS: i128 = 256;
/// Periods of flows that are looked for one after the other.
const FEW_PERIODS: usize = 8;

/// The arrivals of one periodic flow at a queue.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stair {
    /// Largest data unit.
    pub unit: Data,
    /// At least 1.
    pub period: Ps,
    /// Greatest delay of a unit's arrival after its earliest.
    pub jitter: Ps,
}

impl Stair {
    /// Most data that can arrive at one instant.
    fn burst(&self) -> Option<Data> {
        let burst = self.unit.checked_mul(Data::from(self.jitter / self.period + 1))?;
        (burst <= MOST_AT_ONCE).then_some(burst)
    }

    /// The token bucket at `t`, rounded up.
    pub fn bucket(&self, t: Ps) -> Option<Data> {
        let span = Data::from(t) + Data::from(self.jitter) + Data::from(self.period);
        crate::curve::ratio_up(self.unit, span, Data::from(self.period))
    }
}

/// The releases of a recording as periodic ones: the mean gap, rounded down, and by how much releases are ahead of it
/// or behind it.
pub(crate) fn recorded(gaps_ns: &[u64], cycle_ns: u64) -> (Ps, Ps) {
    let (count, cycle) = (gaps_ns.len().max(1) as Data, Data::from(ps(cycle_ns)));
    let (mut at, mut least, mut most) = (0, Data::MAX, Data::MIN);
    for (number, gap) in (0..).zip(gaps_ns) {
        at += Data::from(ps(*gap));
        let ahead: Data = number * cycle - at * count;
        (least, most) = (least.min(ahead), most.max(ahead));
    }
    let apart = most.saturating_sub(least).max(0);
    let jitter = Ps::try_from((apart + count - 1) / count).unwrap_or(LONGEST);
    (Ps::try_from(cycle / count).unwrap_or(LONGEST).max(1), jitter)
}

/// A sum of rates as an exact fraction, if one fits.
#[derive(Copy, Clone, Debug)]
struct Sum {
    whole: Data,
    above: u64,
    below: u64,
}

impl Sum {
    /// Adds a fraction below 1; false if the common denominator is too large.
    fn add(&mut self, above: u64, below: u64) -> bool {
        // Many periods are alike: then the denominator stays as it is.
        if above == 0 {
            return true;
        }
        let parts = match above.checked_mul(self.below) {
            Some(scaled) => (scaled % below == 0).then(|| scaled / below),
            None => {
                let (scaled, below) = (u128::from(above) * u128::from(self.below), u128::from(below));
                (scaled % below == 0).then(|| (scaled / below) as u64)
            }
        };
        if let Some(parts) = parts {
            self.add_parts(parts);
            return true;
        }
        let divisor = divisor(above, below);
        let (above, below) = (above / divisor, below / divisor);
        let common = (self.below / self::divisor(self.below, below)).checked_mul(below);
        let Some(common) = common.filter(|common| *common < 1 << 60) else { return false };
        (self.above, self.below) = (self.above * (common / self.below), common);
        self.add_parts(above * (common / below));
        true
    }

    /// Adds parts of the denominator.
    fn add_parts(&mut self, above: u64) {
        let sum = self.above + above;
        self.whole += Data::from(sum / self.below);
        self.above = sum % self.below;
    }
}

/// The long-run rate of some flows, rounded up once.
pub(crate) fn rate(stairs: &[Stair]) -> Rate {
    let mut sum = Sum { whole: 0, above: 0, below: 1 };
    // Flows have few periods: what is left is added for each of them first, which takes no division.
    let mut left: Vec<(u64, u64)> = Vec::new();
    for stair in stairs {
        let (whole, above) = quotient(stair.unit, stair.period);
        sum.whole += whole;
        let period = stair.period.unsigned_abs();
        match left.iter_mut().take(FEW_PERIODS).find(|(of, _)| *of == period) {
            Some((_, all)) if *all >= period - above => {
                *all -= period - above;
                sum.whole += 1;
            }
            Some((_, all)) => *all += above,
            None => left.push((period, above)),
        }
    }
    for (period, above) in left {
        if !sum.add(above, period) {
            sum.whole += 1;
        }
    }
    Rate::try_from(sum.whole + Data::from(sum.above > 0)).unwrap_or(Rate::MAX)
}

/// An amount by a period, and what is left. Nearly all amounts fit into 64 bits, where divisions are faster.
fn quotient(unit: Data, period: Ps) -> (Data, u64) {
    match u64::try_from(unit) {
        Ok(unit) => (Data::from(unit / period.unsigned_abs()), unit % period.unsigned_abs()),
        Err(_) => (unit / Data::from(period), (unit % Data::from(period)) as u64),
    }
}

/// The greatest common divisor, without divisions (Stein 1967); 1 of two zeros.
fn divisor(mut a: u64, mut b: u64) -> u64 {
    if a == 0 || b == 0 {
        return (a | b).max(1);
    }
    let twos = (a | b).trailing_zeros();
    a >>= a.trailing_zeros();
    while b != 0 {
        b >>= b.trailing_zeros();
        (a, b) = (a.min(b), a.abs_diff(b));
    }
    a << twos
}

/// How long to keep steps, so that there are not too many: at most `wanted`.
pub(crate) fn horizon(stairs: &[Stair], wanted: Ps) -> Ps {
    // Steps within t: t times the sum of all 1 / period, here in 1e-18 / ps.
    let pace: i128 =
        stairs.iter().map(|stair| 1_000_000_000_000_000_000 / i128::from(stair.period) + 1).sum();
    let affordable = MOST_STEPS * 1_000_000_000_000_000_000 / pace.max(1);
    wanted.min(Ps::try_from(affordable).unwrap_or(Ps::MAX)).max(1)
}

/// The arrivals of some flows together, step by step until `horizon`; none if they are too much to count.
pub(crate) fn sum(stairs: &[Stair], horizon: Ps) -> Option<Curve> {
    let mut steps: Vec<(Ps, Data)> = Vec::new();
    let (mut value, mut tail) = (0, 0);
    for stair in stairs {
        value += stair.burst()?;
        tail += stair.bucket(horizon)?;
        let mut next = (stair.jitter / stair.period + 1).checked_mul(stair.period)? - stair.jitter;
        while next < horizon {
            steps.push((next, stair.unit));
            next = next.checked_add(stair.period)?;
        }
    }
    steps.sort_unstable_by_key(|(at, _)| *at);
    let mut segments = vec![Segment { at: 0, value, slope: 0 }];
    for (at, unit) in steps {
        value += unit;
        match segments.last_mut() {
            Some(last) if last.at == at => last.value = value,
            _ => segments.push(Segment { at, value, slope: 0 }),
        }
    }
    segments.push(Segment { at: horizon, value: tail.max(value), slope: rate(stairs) });
    Some(Curve::of(segments))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_early_by_the_jitter() {
        let stair = Stair { unit: 100, period: 10, jitter: 13 };
        let curve = sum(&[stair], 40).unwrap();
        for t in 0..40 {
            assert_eq!(curve.value(t), 100 * Data::from((t + 13) / 10 + 1), "{t}");
        }
        for t in 40..200 {
            assert!(curve.value(t) >= 100 * Data::from((t + 13) / 10 + 1), "{t}");
        }
    }

    #[test]
    fn thirds_make_a_whole() {
        let third = Stair { unit: 1_000 * BIT, period: 3_000_000_000, jitter: 0 };
        assert_eq!(rate(&[third]), 333_334);
        assert_eq!(rate(&[third; 3]), 1_000_000);
    }

    /// 100 every 10, 13 early: at 40 the bucket holds 100 (40 + 13 + 10) / 10, and grows by 10 per ps.
    #[test]
    fn behind_the_steps_a_token_bucket_goes_on() {
        let stair = Stair { unit: 100, period: 10, jitter: 13 };
        let curve = sum(&[stair], 40).unwrap();
        assert_eq!([39, 40, 41, 140].map(|t| curve.value(t)), [600, 630, 640, 1_630]);
        // Two steps at one instant count together.
        let both = sum(&[stair, Stair { unit: 7, period: 20, jitter: 3 }], 40).unwrap();
        assert_eq!([6, 7, 16, 17].map(|t| both.value(t)), [207, 307, 307, 414]);
    }

    /// Fractions are added before they are rounded: 1/2 + 1/3 + 1/6 is a whole.
    #[test]
    fn rates_are_rounded_once() {
        let all = |parts: &[(Data, Ps)]| {
            let stairs: Vec<Stair> = parts
                .iter()
                .map(|(unit, period)| Stair { unit: *unit, period: *period, jitter: 0 })
                .collect();
            rate(&stairs)
        };
        for (parts, sum) in [
            (&[(1, 2), (1, 3)][..], 1),
            (&[(1, 2), (1, 3), (1, 6)], 1),
            (&[(1, 2), (2, 3)], 2),
            (&[(3, 4), (5, 6), (5, 12)], 2),
            (&[(3, 4), (5, 6), (6, 12)], 3),
            (&[(7, 2), (5, 3), (5, 6)], 6),
            (&[(7, 2), (7, 3)], 6),
            (&[(1, 2), (1, 4), (1, 8), (1, 8)], 1),
            // Flows of one period make wholes, and so do more periods than are looked for.
            (&[(2, 3), (2, 3), (1, 2), (2, 3)], 3),
            (&[(1, 2), (1, 3), (1, 5), (1, 7), (1, 11), (1, 13), (1, 17), (1, 19), (22, 23), (1, 23)], 3),
        ] {
            assert_eq!(all(parts), sum, "{parts:?}");
        }
        // Thirds of numbers beyond 32 bits; a fraction without a common denominator that fits is rounded up by
        // itself.
        let third = (1 << 40, 3 << 40);
        assert_eq!(all(&[third, third, third]), 1);
        assert_eq!(all(&[(1, 1 << 40), (1, (1 << 40) - 1)]), 2);
    }

    #[test]
    fn divisors_of_small_and_large_numbers() {
        for (a, b, common) in [(12, 18, 6), (18, 12, 6), (7, 0, 7), (0, 0, 1), (3 << 40, 2 << 40, 1 << 40)] {
            assert_eq!(divisor(a, b), common, "{a} {b}");
        }
    }

    /// 256 steps of 1 ns are 256 ns, less the rounding of the pace; two flows have as many in half of that.
    #[test]
    fn a_horizon_has_no_more_steps_than_are_kept() {
        let stair = Stair { unit: 1, period: 1_000, jitter: 0 };
        assert_eq!(horizon(&[stair], Ps::MAX), 255_999);
        assert_eq!(horizon(&[stair, stair], Ps::MAX), 127_999);
        assert_eq!(horizon(&[stair], 10_000), 10_000);
        assert_eq!(horizon(&[stair], 0), 1);
    }

    /// Releases at 10, 20, 90 ns of every 120: on average every 40, ahead of 0, 40, 80 by -10, 20, -10.
    #[test]
    fn a_recording_is_periodic_with_jitter() {
        assert_eq!(recorded(&[10, 10, 70], 120), (40_000, 30_000));
        assert_eq!(recorded(&[0], 7), (7_000, 0));
        // 100 ns / 3 is rounded down, and the jitter of 0, 0, 0 (ahead by 0, 33.3, 66.7) up.
        assert_eq!(recorded(&[0, 0, 0], 100), (33_333, 66_667));
    }
}
