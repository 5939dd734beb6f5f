//! The header's check sequence: the reflected CRC-32 of IEEE 802.3, over a header without its last four octets.
//! IEC 61375-2-3, Annex A.
//!
//! The check sequence is the only number of a header that is little-endian.

use crate::Error;

/// The reflected polynomial.
const POLYNOMIAL: u32 = 0xedb8_8320;
/// The remainders of all octets.
const TABLE: [u32; 256] = table();
/// Octets of the check sequence.
pub const OCTETS: usize = 4;

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut octet = 0;
    while octet < table.len() {
        let mut remainder = octet as u32;
        let mut bit = 0;
        while bit < 8 {
            remainder = if remainder & 1 == 1 { (remainder >> 1) ^ POLYNOMIAL } else { remainder >> 1 };
            bit += 1;
        }
        table[octet] = remainder;
        octet += 1;
    }
    table
}

/// The check sequence of the given octets.
#[must_use]
pub fn of(octets: &[u8]) -> u32 {
    let step = |sum: u32, octet: &u8| TABLE[((sum ^ u32::from(*octet)) & 0xff) as usize] ^ (sum >> 8);
    !octets.iter().fold(u32::MAX, step)
}

/// Checks a header that ends with its check sequence.
pub(crate) fn check<const N: usize>(header: &[u8; N]) -> Result<(), Error> {
    let (checked, sequence) = header.split_at(N - OCTETS);
    let found = u32::from_le_bytes(crate::octets::at(sequence, 0));
    let expected = of(checked);
    if found == expected { Ok(()) } else { Err(Error::CheckSequence { found, expected }) }
}

/// Appends the check sequence of the octets of `into` that begin at `from`.
pub(crate) fn append(from: usize, into: &mut Vec<u8>) {
    let sequence = of(into.get(from..).unwrap_or_default());
    into.extend_from_slice(&sequence.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_the_polynomial() {
        assert_eq!(of(b"123456789"), 0xcbf4_3926);
        assert_eq!(of(b""), 0);
    }
}
