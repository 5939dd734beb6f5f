//! Frames of EtherCAT: the first datagram's command and index, and the working counters of all.
//! IEC 61158-4-12, 5.2 to 5.4 and IEC 61158-6-12.
//!
//! ```text
//!  octet   0 .. 1         2         3       4 .. 7    8 .. 9         10 .. 11
//!        +--------------+---------+-------+---------+--------------+-----------+--------+-----------------+
//!        | octets, type | command | index | address | octets, more | interrupt | data … | working counter | next …
//!        +--------------+---------+-------+---------+--------------+-----------+--------+-----------------+
//! ```
//!
//! Little-endian. The index has 8 bits; the master chooses it, the segment returns it. Every device that a datagram
//! addresses adds to its working counter. A frame that comes back has bit 1 of its source address set.

use super::{head, octets};
use crate::{Error, EtherType};

/// The type of these frames.
pub const ETHER_TYPE: EtherType = EtherType(0x88a4);
/// Datagrams that are looked at.
const MOST_DATAGRAMS: u32 = 128;

/// The fields of a frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Command of the first datagram.
    pub command: u8,
    /// Index of the first datagram.
    pub index: u8,
    /// Address of the first datagram.
    pub address: u32,
    /// How many datagrams follow, if the index of each is the one after that of the datagram before it; 0 otherwise.
    pub more: u32,
    /// Whether datagrams follow behind the captured octets.
    pub go_on: bool,
    /// Sum of the working counters of all datagrams that were captured.
    pub working_counter: u32,
}

impl Repr {
    /// Reads the octets after the `EtherType`.
    ///
    /// # Errors
    /// The octets are no frame with datagrams.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let found = head::<12>("an EtherCAT frame", bytes)?;
        // The highest four bits: type 1 has datagrams.
        if found[1] >> 4 != 1 || found[2] > 14 {
            return Err(Error::Not("an EtherCAT frame with datagrams"));
        }
        let (mut sum, mut datagrams): (u32, u32) = (0, 0);
        let (mut consecutive, mut go_on) = (true, true);
        let mut rest = &bytes[2..];
        for _ in 0..MOST_DATAGRAMS {
            let Some((datagram, after)) = rest.split_first_chunk::<10>() else { break };
            consecutive &= u32::from(datagram[1].wrapping_sub(found[3])) == datagrams;
            datagrams += 1;
            let size = u16::from_le_bytes(octets(datagram, 6));
            let data = usize::from(size & 0x07ff);
            go_on = size & 0x8000 != 0;
            let Some(counter) = after.get(data..data + 2) else { break };
            sum = sum.saturating_add(u32::from(u16::from_le_bytes(octets(counter, 0))));
            if !go_on {
                break;
            }
            rest = &after[data + 2..];
        }
        Ok(Self {
            command: found[2],
            index: found[3],
            address: u32::from_le_bytes(octets(found, 4)),
            more: if consecutive { datagrams.saturating_sub(1) } else { 0 },
            go_on: go_on && datagrams < MOST_DATAGRAMS,
            working_counter: sum,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn working_counters_of_all_datagrams_count() {
        let first = b"\x0c\xff\0\0\0\x01\x02\x80\0\0ab\x03\0";
        let second = b"\x07\x01\0\0\x10\x09\x01\0\0\0c\x04\0";
        let bytes = [b"\x1b\x10", &first[..], second].concat();
        let repr =
            Repr { command: 12, index: 255, address: 0x0100_0000, more: 0, go_on: false, working_counter: 7 };
        assert_eq!(Repr::parse(&bytes), Ok(repr));
        assert_eq!(
            Repr::parse(&bytes[..20]),
            Ok(Repr { go_on: true, working_counter: 3, ..repr }),
            "cut by the capture"
        );
        let mut next = bytes.clone();
        next[17] = 0;
        assert_eq!(Repr::parse(&next).map(|found| found.more), Ok(1), "index 0 follows 255");
        assert!(Repr::parse(&bytes[..11]).is_err());
        assert!(Repr::parse(&[b"\x1b\x40", &first[..]].concat()).is_err(), "a mailbox");
        assert!(Repr::parse(&[b"\x1b\x10\x0f", &first[1..]].concat()).is_err(), "no command");
    }
}
