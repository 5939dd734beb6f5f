//! Addressed randomness: a seed and a name make a random stream of their own.
//!
//! ChaCha8 with the seed (8 octets, little endian, then zeros) as its key and the 64-bit FNV-1a hash of the name as
//! its stream number. Both are fixed for ever: a Plan's draws are part of the meaning of its results.

use crate::logarithm::ln;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// One named random stream.
#[derive(Clone, Debug)]
pub struct Draws(ChaCha8Rng);

impl Draws {
    /// The random stream `name` of this seed.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut generator = ChaCha8Rng::from_seed(key);
        generator.set_stream(fnv1a(name.as_bytes()));
        Self(generator)
    }

    /// Uniform in `0..bound`; 0 for an empty range. The result is the product's upper half: its bias is below `bound`
    /// / 2^64.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Exponentially distributed with the given mean, in whole units.
    ///
    /// The logarithm is this crate's, not the platform's, so that every machine draws the same numbers.
    pub fn exponential(&mut self, mean: u64) -> u64 {
        const UNIT: f64 = 1.0 / (1u64 << 53) as f64;
        let uniform = ((self.0.next_u64() >> 11) + 1) as f64 * UNIT;
        (-ln(uniform) * mean as f64) as u64
    }
}

/// FNV-1a, 64 bits.
fn fnv1a(name: &[u8]) -> u64 {
    name.iter().fold(0xcbf2_9ce4_8422_2325, |hash, octet| {
        (hash ^ u64::from(*octet)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    /// If this changes, results of every random Plan change: it needs an entry in the changelog.
    #[test]
    fn draws_stay_as_they_are() {
        let mut draws = Draws::new(7, "stream/camera/jitter");
        let first: Vec<u64> = (0..4).map(|_| draws.below(1_000)).collect();
        let gaps: Vec<u64> = (0..4).map(|_| draws.exponential(1_000_000)).collect();
        assert_eq!(first, [92, 350, 288, 857]);
        assert_eq!(gaps, [4_528_164, 858_836, 1_746_196, 146_360]);
    }

    #[test]
    fn means_are_as_asked() {
        let mut draws = Draws::new(1, "test");
        let count = 200_000;
        let sum: u64 = (0..count).map(|_| draws.exponential(1_000_000)).sum();
        // Standard error of the mean: 1e6 / sqrt(2e5) = 2 236.
        assert!((sum / count).abs_diff(1_000_000) < 4 * 2_236, "{}", sum / count);
        let sum: u64 = (0..count).map(|_| draws.below(1_001)).sum();
        assert!((sum / count).abs_diff(500) <= 3, "{}", sum / count);
    }
}
