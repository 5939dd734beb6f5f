//! Process data of version 2, for TSN: a short header, no topography counters, sent at the application's launch time.
//!
//! ```text
//!  octet  0          4         5      6                 8       12        16               20
//!        +----------+---------+------+-----------------+-------+---------+----------------+----------
//!        | sequence | version | type | data set length | comId | service | check sequence | data set
//!        +----------+---------+------+-----------------+-------+---------+----------------+----------
//! ```
//!
//! OCORA's report (Table 3) prints the header without the word `service`, with 16 octets. Deployed receivers accept 20
//! octets alone, so 16 octets are an option ([`Length::Sixteen`]). The octet of the version is at the place of version
//! 1's major version, so receivers can distinguish the two.

use crate::octets::{append_padded, number16, number32, padded};
use crate::{Error, check_sequence};

/// Octets of the header.
pub const HEADER: usize = 20;
/// Octets of the header as OCORA's report prints it.
pub const SHORT_HEADER: usize = 16;
/// Longest data set.
pub const LONGEST: usize = 1458;
/// The version.
pub const VERSION: u8 = 2;

/// Type of a data set.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// Plain data.
    #[default]
    Plain = 1,
    /// Data with a trailer of the safe data transmission.
    Safe = 2,
    /// Several safe parts.
    MultiSafe = 3,
    /// Reserved.
    Reserved = 4,
}

impl Kind {
    /// The type with the given number in a header.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Plain),
            2 => Some(Self::Safe),
            3 => Some(Self::MultiSafe),
            4 => Some(Self::Reserved),
            _ => None,
        }
    }
}

/// Length of the header.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Length {
    /// 20 octets, as deployed receivers accept.
    #[default]
    Twenty,
    /// 16 octets, as OCORA's report prints it.
    Sixteen,
}

impl Length {
    /// The length in octets.
    #[must_use]
    pub const fn octets(self) -> usize {
        match self {
            Self::Twenty => HEADER,
            Self::Sixteen => SHORT_HEADER,
        }
    }
}

/// The header.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Sequence number of the telegram: 0 at first, then one more for each telegram.
    pub sequence: u32,
    /// Type of the data set.
    pub kind: Kind,
    /// Octets of the data set, without padding.
    pub data_set_octets: u16,
    /// Communication identifier.
    pub com_id: u32,
    /// Service identifier; 0: none. A header of 16 octets has none.
    pub service_id: u32,
    /// Length of the header.
    pub length: Length,
}

impl Header {
    /// Reads a header of either length: 20 octets, unless the check sequence matches only 16.
    ///
    /// # Errors
    /// There are too few octets, or they are not such a header.
    pub fn parse(octets: &[u8]) -> Result<Self, Error> {
        let short = || Self::parse_as(Length::Sixteen, octets);
        match Self::parse_as(Length::Twenty, octets) {
            Err(error @ (Error::CheckSequence { .. } | Error::Size { .. })) => short().map_err(|_| error),
            found => found,
        }
    }

    /// Reads a header of the given length. The check sequence is checked first.
    ///
    /// # Errors
    /// There are too few octets, or they are not such a header.
    pub fn parse_as(length: Length, octets: &[u8]) -> Result<Self, Error> {
        let size = Error::Size {
            what: "process data of version 2",
            least: length.octets(),
            most: length.octets() + LONGEST,
            found: octets.len(),
        };
        match length {
            Length::Twenty => check_sequence::check::<HEADER>(octets.first_chunk().ok_or(size)?)?,
            Length::Sixteen => check_sequence::check::<SHORT_HEADER>(octets.first_chunk().ok_or(size)?)?,
        }
        let [version, kind] = crate::octets::at(octets, 4);
        if version != VERSION {
            return Err(Error::Version(version.into()));
        }
        let data_set_octets = number16(octets, 6);
        if usize::from(data_set_octets) > LONGEST {
            return Err(Error::DataSet { octets: data_set_octets.into(), most: LONGEST as u64 });
        }
        Ok(Self {
            sequence: number32(octets, 0),
            kind: Kind::from_number(kind).ok_or_else(|| Error::Kind(kind.into()))?,
            data_set_octets,
            com_id: number32(octets, 8),
            service_id: if length == Length::Twenty { number32(octets, 12) } else { 0 },
            length,
        })
    }

    /// Appends the telegram: header, data set, padding. The header's length is that of the given data set.
    ///
    /// # Errors
    /// The data set is longer than 1458 octets.
    pub fn emit(&self, data_set: &[u8], into: &mut Vec<u8>) -> Result<(), Error> {
        let too_long = Error::DataSet { octets: data_set.len() as u64, most: LONGEST as u64 };
        let octets = u16::try_from(data_set.len()).map_err(|_| too_long.clone())?;
        if data_set.len() > LONGEST {
            return Err(too_long);
        }
        let from = into.len();
        into.extend_from_slice(&self.sequence.to_be_bytes());
        into.extend_from_slice(&[VERSION, self.kind as u8]);
        into.extend_from_slice(&octets.to_be_bytes());
        into.extend_from_slice(&self.com_id.to_be_bytes());
        if self.length == Length::Twenty {
            into.extend_from_slice(&self.service_id.to_be_bytes());
        }
        check_sequence::append(from, into);
        append_padded(data_set, into);
        Ok(())
    }
}

/// Octets of a telegram with this data set.
#[must_use]
pub const fn octets(length: Length, data_set: usize) -> usize {
    length.octets() + padded(data_set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_both_ways() {
        let header = Header { sequence: 0x0102_0304, com_id: 1000, data_set_octets: 3, ..Header::default() };
        let table: [(Header, &[u8]); 2] = [
            (header, b"\x01\x02\x03\x04\x02\x01\0\x03\0\0\x03\xe8\0\0\0\0"),
            (
                Header { length: Length::Sixteen, kind: Kind::Safe, ..header },
                b"\x01\x02\x03\x04\x02\x02\0\x03\0\0\x03\xe8",
            ),
        ];
        for (header, checked) in table {
            let mut written = Vec::new();
            header.emit(b"abc", &mut written).unwrap();
            let sequence = check_sequence::of(checked).to_le_bytes();
            assert_eq!(written, [checked, &sequence, b"abc\0"].concat());
            assert_eq!(written.len(), octets(header.length, 3));
            assert_eq!(Header::parse(&written), Ok(header));
            let other = if header.length == Length::Twenty { Length::Sixteen } else { Length::Twenty };
            assert!(Header::parse_as(other, &written).is_err(), "a strict receiver takes one length");
        }
    }

    #[test]
    fn every_kind_and_the_service_both_ways() {
        for (number, kind) in
            [Kind::Plain, Kind::Safe, Kind::MultiSafe, Kind::Reserved].into_iter().enumerate()
        {
            assert_eq!(kind as usize, number + 1);
            let header = Header { kind, service_id: 0x0102_0304, ..Header::default() };
            let mut written = Vec::new();
            header.emit(&[], &mut written).unwrap();
            assert_eq!(written[12..16], [1, 2, 3, 4]);
            assert_eq!(Header::parse(&written), Ok(header));
        }
    }

    #[test]
    fn a_short_header_may_be_all_of_a_telegram() {
        let header = Header { com_id: 9, length: Length::Sixteen, ..Header::default() };
        let mut written = Vec::new();
        header.emit(&[], &mut written).unwrap();
        assert_eq!(written.len(), SHORT_HEADER);
        assert_eq!(Header::parse(&written), Ok(header));
    }

    #[test]
    fn what_a_receiver_refuses() {
        let mut octets = Vec::new();
        Header::default().emit(&[0; LONGEST], &mut octets).unwrap();
        assert!(Header::parse(&octets).is_ok());
        assert!(Header::default().emit(&[0; LONGEST + 1], &mut octets).is_err());
        let changed = |change: fn(&mut Vec<u8>)| {
            let mut octets = octets[..HEADER - 4].to_vec();
            change(&mut octets);
            check_sequence::append(0, &mut octets);
            Header::parse(&octets)
        };
        assert_eq!(changed(|octets| octets[4] = 1), Err(Error::Version(1)));
        assert_eq!(changed(|octets| octets[5] = 5), Err(Error::Kind(5)));
        assert!(matches!(changed(|octets| octets[7] = 0xff), Err(Error::DataSet { .. })));
        octets[0] ^= 1;
        assert!(matches!(Header::parse(&octets), Err(Error::CheckSequence { .. })));
        assert!(matches!(Header::parse(&octets[..15]), Err(Error::Size { found: 15, .. })));
    }
}
