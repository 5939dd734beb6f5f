//! Process data of version 1: pushed by the publisher, or requested and replied. IEC 61375-2-3, Annex A.
//!
//! ```text
//!  octet  0          4         6      8       12           16             20                24
//!        +----------+---------+------+-------+------------+--------------+-----------------+
//!        | sequence | version | type | comId | etbTopoCnt | opTrnTopoCnt | data set length |
//!        +----------+---------+------+-------+------------+--------------+-----------------+
//!        | service  | replyComId    | replyIpAddress     | check sequence | data set, padded
//!        +----------+---------------+--------------------+----------------+------------------
//!         24         28              32                   36               40
//! ```

use crate::octets::{append_padded, at, number16, number32, padded};
use crate::{Error, check_sequence};

/// Octets of the header.
pub const HEADER: usize = 40;
/// Longest data set.
pub const LONGEST: usize = 1432;
/// The version of telegrams that this crate writes.
pub const VERSION: u16 = 0x0100;
/// Version 1 with a service identifier; receivers of version 1 accept it.
pub const VERSION_WITH_SERVICE: u16 = 0x0101;
/// The part of a version that receivers compare.
pub(crate) const MAJOR: u16 = 0xff00;

/// Type of a telegram of process data.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u16)]
pub enum Kind {
    /// `Pd`: push, sent in every cycle.
    #[default]
    Push = 0x5064,
    /// `Pp`: reply to a request.
    Reply = 0x5070,
    /// `Pr`: request of a telegram.
    Request = 0x5072,
    /// `Pe`: an error.
    Error = 0x5065,
}

impl Kind {
    /// The type with the given number in a header.
    #[must_use]
    pub const fn from_number(number: u16) -> Option<Self> {
        match number {
            0x5064 => Some(Self::Push),
            0x5070 => Some(Self::Reply),
            0x5072 => Some(Self::Request),
            0x5065 => Some(Self::Error),
            _ => None,
        }
    }
}

/// The header of process data.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Sequence number of the telegram: 0 at first, then one more for each telegram.
    pub sequence: u32,
    /// Protocol version.
    pub version: u16,
    /// Type of the telegram.
    pub kind: Kind,
    /// Communication identifier.
    pub com_id: u32,
    /// Topography counter of the Ethernet train backbone; 0 within a consist.
    pub etb_topo_count: u32,
    /// Topography counter of the operational train; 0: none.
    pub op_trn_topo_count: u32,
    /// Octets of the data set, without padding.
    pub data_set_octets: u32,
    /// Service identifier; 0: none.
    pub service_id: u32,
    /// In a request: the communication identifier of the requested telegram.
    pub reply_com_id: u32,
    /// In a request: the destination of the reply; 0.0.0.0 stands for the requester.
    pub reply_address: [u8; 4],
}

impl Default for Header {
    fn default() -> Self {
        Self {
            sequence: 0,
            version: VERSION,
            kind: Kind::Push,
            com_id: 0,
            etb_topo_count: 0,
            op_trn_topo_count: 0,
            data_set_octets: 0,
            service_id: 0,
            reply_com_id: 0,
            reply_address: [0; 4],
        }
    }
}

impl Header {
    /// Reads a header. The check sequence is checked first.
    ///
    /// # Errors
    /// There are too few octets, or they are not such a header.
    pub fn parse(octets: &[u8]) -> Result<Self, Error> {
        let header: &[u8; HEADER] = octets.first_chunk().ok_or(Error::Size {
            what: "process data",
            least: HEADER,
            most: HEADER + LONGEST,
            found: octets.len(),
        })?;
        check_sequence::check(header)?;
        let version = number16(header, 4);
        if version & MAJOR != VERSION & MAJOR {
            return Err(Error::Version(version));
        }
        let data_set_octets = number32(header, 20);
        if data_set_octets as usize > LONGEST {
            return Err(Error::DataSet { octets: data_set_octets.into(), most: LONGEST as u64 });
        }
        let kind = number16(header, 6);
        Ok(Self {
            sequence: number32(header, 0),
            version,
            kind: Kind::from_number(kind).ok_or(Error::Kind(kind))?,
            com_id: number32(header, 8),
            etb_topo_count: number32(header, 12),
            op_trn_topo_count: number32(header, 16),
            data_set_octets,
            service_id: number32(header, 24),
            reply_com_id: number32(header, 28),
            reply_address: at(header, 32),
        })
    }

    /// Appends the telegram: header, data set, padding. The header's length is that of the given data set.
    ///
    /// # Errors
    /// The data set is longer than 1432 octets.
    pub fn emit(&self, data_set: &[u8], into: &mut Vec<u8>) -> Result<(), Error> {
        let octets = u32::try_from(data_set.len()).unwrap_or(u32::MAX);
        if data_set.len() > LONGEST {
            return Err(Error::DataSet { octets: octets.into(), most: LONGEST as u64 });
        }
        let from = into.len();
        into.extend_from_slice(&self.sequence.to_be_bytes());
        into.extend_from_slice(&self.version.to_be_bytes());
        into.extend_from_slice(&(self.kind as u16).to_be_bytes());
        for number in [self.com_id, self.etb_topo_count, self.op_trn_topo_count, octets] {
            into.extend_from_slice(&number.to_be_bytes());
        }
        into.extend_from_slice(&self.service_id.to_be_bytes());
        into.extend_from_slice(&self.reply_com_id.to_be_bytes());
        into.extend_from_slice(&self.reply_address);
        check_sequence::append(from, into);
        append_padded(data_set, into);
        Ok(())
    }
}

/// Octets of a telegram with this data set.
#[must_use]
pub const fn octets(data_set: usize) -> usize {
    HEADER + padded(data_set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_both_ways() {
        let plain = Header { data_set_octets: 24, ..Header::default() };
        let request = Header {
            sequence: 7,
            kind: Kind::Request,
            version: VERSION_WITH_SERVICE,
            com_id: 0x0102_0304,
            etb_topo_count: 5,
            op_trn_topo_count: 6,
            service_id: 8,
            reply_com_id: 9,
            reply_address: [10, 0, 0, 1],
            data_set_octets: 0,
        };
        let table: [(Header, &[u8]); 3] = [
            (
                plain,
                b"\0\0\0\0\x01\0Pd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x18\0\0\0\0\0\0\0\0\0\0\0\0\xce\x48\x7a\xea",
            ),
            (
                Header { sequence: 1, ..plain },
                b"\0\0\0\x01\x01\0Pd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x18\0\0\0\0\0\0\0\0\0\0\0\0\x3d\xd8\x88\xdc",
            ),
            (
                request,
                b"\0\0\0\x07\x01\x01Pr\x01\x02\x03\x04\0\0\0\x05\0\0\0\x06\0\0\0\0\0\0\0\x08\0\0\0\x09\x0a\0\0\x01\
                  \xc7\x36\xcf\xcc",
            ),
        ];
        for (header, octets) in table {
            let mut written = Vec::new();
            header.emit(&[0; 24][..header.data_set_octets as usize], &mut written).unwrap();
            assert_eq!(&written[..HEADER], octets, "{header:?}: {:02x?}", &written[36..40]);
            assert_eq!(Header::parse(octets), Ok(header));
        }
    }

    #[test]
    fn what_a_receiver_refuses() {
        let whole = |change: fn(&mut Vec<u8>)| {
            let mut octets = Vec::new();
            Header { com_id: 1000, ..Header::default() }.emit(&[], &mut octets).unwrap();
            octets.truncate(HEADER - 4);
            change(&mut octets);
            check_sequence::append(0, &mut octets);
            Header::parse(&octets)
        };
        assert!(whole(|_| {}).is_ok());
        assert_eq!(whole(|octets| octets[4] = 3), Err(Error::Version(0x0300)));
        assert_eq!(whole(|octets| octets[7] = b'x'), Err(Error::Kind(0x5078)));
        assert_eq!(
            whole(|octets| octets[20..24].copy_from_slice(&1433_u32.to_be_bytes())),
            Err(Error::DataSet { octets: 1433, most: 1432 })
        );
        let mut octets = Vec::new();
        Header::default().emit(&[], &mut octets).unwrap();
        octets[8] ^= 1;
        assert!(matches!(Header::parse(&octets), Err(Error::CheckSequence { .. })));
        assert!(matches!(Header::parse(&octets[..39]), Err(Error::Size { found: 39, .. })));
        assert!(Header::default().emit(&[0; 1433], &mut octets).is_err());
    }

    #[test]
    fn every_kind_both_ways() {
        let kinds = [Kind::Push, Kind::Reply, Kind::Request, Kind::Error];
        for (kind, letters) in kinds.into_iter().zip([b"Pd", b"Pp", b"Pr", b"Pe"]) {
            assert_eq!((kind as u16).to_be_bytes(), *letters);
            assert_eq!(Kind::from_number(kind as u16), Some(kind));
        }
    }

    #[test]
    fn a_data_set_is_padded_and_says_its_length() {
        for (length, whole) in [(0, 40), (1, 44), (4, 44), (5, 48), (256, 296), (1432, 1472)] {
            let mut written = Vec::new();
            Header::default().emit(&vec![0xff; length], &mut written).unwrap();
            assert_eq!((written.len(), octets(length)), (whole, whole));
            assert_eq!(Header::parse(&written).unwrap().data_set_octets as usize, length);
            assert!(written[HEADER + length..].iter().all(|octet| *octet == 0));
        }
    }
}
