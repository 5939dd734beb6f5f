//! Message data: notifications, and requests with their replies and confirmations. IEC 61375-2-3, Annex A.
//!
//! ```text
//!  octet  0          4         6      8       12           16             20                24
//!        +----------+---------+------+-------+------------+--------------+-----------------+--------------+
//!        | sequence | version | type | comId | etbTopoCnt | opTrnTopoCnt | data set length | reply status |
//!        +----------+---------+------+-------+------------+--------------+-----------------+--------------+
//!        | session | reply time-out | source URI | destination URI | check sequence | data set, padded
//!        +---------+----------------+------------+-----------------+----------------+------------------
//!         28        44               48           80                112              116
//! ```

use crate::octets::{append_padded, at, number16, number32, padded};
use crate::process_data::{MAJOR, VERSION};
use crate::{Error, check_sequence};

/// Octets of the header.
pub const HEADER: usize = 116;
/// Longest data set.
pub const LONGEST: usize = 65_388;
/// Octets of a URI with the terminating zero.
pub const URI: usize = 32;

/// Type of a telegram of message data.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u16)]
pub enum Kind {
    /// `Mn`: a notification, which has no reply.
    #[default]
    Notify = 0x4d6e,
    /// `Mr`: a request, which expects a reply.
    Request = 0x4d72,
    /// `Mp`: a reply that needs no confirmation.
    Reply = 0x4d70,
    /// `Mq`: a reply that needs a confirmation.
    ReplyQuery = 0x4d71,
    /// `Mc`: a confirmation of a reply.
    Confirm = 0x4d63,
    /// `Me`: an error.
    Error = 0x4d65,
}

impl Kind {
    /// The type with the given number in a header.
    #[must_use]
    pub const fn from_number(number: u16) -> Option<Self> {
        match number {
            0x4d6e => Some(Self::Notify),
            0x4d72 => Some(Self::Request),
            0x4d70 => Some(Self::Reply),
            0x4d71 => Some(Self::ReplyQuery),
            0x4d63 => Some(Self::Confirm),
            0x4d65 => Some(Self::Error),
            _ => None,
        }
    }
}

/// User part of a URI: at most 31 characters, then zeros.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Uri([u8; URI]);

impl Uri {
    /// Converts text.
    ///
    /// # Errors
    /// The text has more than 31 characters, or characters that are not ASCII.
    pub fn new(text: &str) -> Result<Self, Error> {
        let mut octets = [0; URI];
        let room = octets.get_mut(..text.len()).filter(|_| text.len() < URI && text.is_ascii());
        room.ok_or(Error::Uri)?.copy_from_slice(text.as_bytes());
        Ok(Self(octets))
    }

    /// The text before the first zero; octets that are not ASCII are replaced.
    #[must_use]
    pub fn text(&self) -> String {
        let end = self.0.iter().position(|octet| *octet == 0).unwrap_or(URI);
        String::from_utf8_lossy(&self.0[..end]).into_owned()
    }
}

/// The header of message data.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Sequence number of the telegram; a repeated request has the next number.
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
    /// Status: below 0 an error, otherwise a value of the replier's own.
    pub reply_status: i32,
    /// Session: identifies the conversation.
    pub session: [u8; 16],
    /// Time that the sender waits for a reply, us; 0: for ever.
    pub reply_time_out_us: u32,
    /// URI of the sender.
    pub source_uri: Uri,
    /// URI of the receiver.
    pub destination_uri: Uri,
}

impl Default for Header {
    fn default() -> Self {
        Self {
            sequence: 0,
            version: VERSION,
            kind: Kind::Notify,
            com_id: 0,
            etb_topo_count: 0,
            op_trn_topo_count: 0,
            data_set_octets: 0,
            reply_status: 0,
            session: [0; 16],
            reply_time_out_us: 0,
            source_uri: Uri::default(),
            destination_uri: Uri::default(),
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
            what: "message data",
            least: HEADER,
            most: HEADER + LONGEST,
            found: octets.len(),
        })?;
        check_sequence::check(header)?;
        let version = number16(header, 4);
        if version & MAJOR != VERSION & MAJOR {
            return Err(Error::Version(version));
        }
        let kind = number16(header, 6);
        let data_set_octets = number32(header, 20);
        if data_set_octets as usize > LONGEST {
            return Err(Error::DataSet { octets: data_set_octets.into(), most: LONGEST as u64 });
        }
        Ok(Self {
            sequence: number32(header, 0),
            version,
            kind: Kind::from_number(kind).ok_or(Error::Kind(kind))?,
            com_id: number32(header, 8),
            etb_topo_count: number32(header, 12),
            op_trn_topo_count: number32(header, 16),
            data_set_octets,
            reply_status: i32::from_be_bytes(at(header, 24)),
            session: at(header, 28),
            reply_time_out_us: number32(header, 44),
            source_uri: Uri(at(header, 48)),
            destination_uri: Uri(at(header, 80)),
        })
    }

    /// Appends the telegram: header, data set, padding. The header's length is that of the given data set.
    ///
    /// # Errors
    /// The data set is longer than 65,388 octets.
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
        into.extend_from_slice(&self.reply_status.to_be_bytes());
        into.extend_from_slice(&self.session);
        into.extend_from_slice(&self.reply_time_out_us.to_be_bytes());
        into.extend_from_slice(&self.source_uri.0);
        into.extend_from_slice(&self.destination_uri.0);
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
    fn a_header_both_ways() {
        let header = Header {
            sequence: 3,
            kind: Kind::ReplyQuery,
            com_id: 2001,
            data_set_octets: 5,
            reply_status: -3,
            session: *b"0123456789abcdef",
            reply_time_out_us: 1_500_000,
            source_uri: Uri::new("caller").unwrap(),
            destination_uri: Uri::new("door.car1").unwrap(),
            ..Header::default()
        };
        let mut written = Vec::new();
        header.emit(b"hello", &mut written).unwrap();
        assert_eq!(written.len(), octets(5));
        assert_eq!(&written[..8], b"\0\0\0\x03\x01\0Mq");
        assert_eq!(&written[20..28], b"\0\0\0\x05\xff\xff\xff\xfd");
        assert_eq!(&written[28..56], b"0123456789abcdef\0\x16\xe3\x60caller\0\0");
        assert_eq!(&written[80..90], b"door.car1\0");
        assert_eq!(&written[112..116], &check_sequence::of(&written[..112]).to_le_bytes());
        assert_eq!(&written[116..], b"hello\0\0\0");
        assert_eq!(Header::parse(&written), Ok(header));
        assert_eq!(header.destination_uri.text(), "door.car1");
        written[30] ^= 1;
        assert!(matches!(Header::parse(&written), Err(Error::CheckSequence { .. })));
    }

    #[test]
    fn every_kind_both_ways() {
        let kinds = [Kind::Notify, Kind::Request, Kind::Reply, Kind::ReplyQuery, Kind::Confirm, Kind::Error];
        for (kind, letters) in kinds.into_iter().zip([b"Mn", b"Mr", b"Mp", b"Mq", b"Mc", b"Me"]) {
            assert_eq!((kind as u16).to_be_bytes(), *letters);
            assert_eq!(Kind::from_number(kind as u16), Some(kind));
        }
    }

    #[test]
    fn what_a_receiver_refuses() {
        let whole = |change: fn(&mut Vec<u8>)| {
            let mut octets = Vec::new();
            Header::default().emit(&[], &mut octets).unwrap();
            octets.truncate(HEADER - 4);
            change(&mut octets);
            check_sequence::append(0, &mut octets);
            Header::parse(&octets)
        };
        assert!(whole(|_| {}).is_ok());
        assert!(whole(|octets| octets[5] = 1).is_ok(), "a minor version");
        assert_eq!(whole(|octets| octets[4] = 3), Err(Error::Version(0x0300)));
        assert_eq!(whole(|octets| octets[7] = b'x'), Err(Error::Kind(0x4d78)));
        assert_eq!(
            whole(|octets| octets[20..24].copy_from_slice(&65_389_u32.to_be_bytes())),
            Err(Error::DataSet { octets: 65_389, most: 65_388 })
        );
        let mut octets = Vec::new();
        assert!(Header::default().emit(&vec![0; LONGEST], &mut octets).is_ok());
        assert!(Header::parse(&octets).is_ok());
        assert!(Header::default().emit(&vec![0; LONGEST + 1], &mut octets).is_err());
        assert!(matches!(Header::parse(&octets[..115]), Err(Error::Size { found: 115, .. })));
    }

    #[test]
    fn a_uri_has_room_for_31_characters() {
        assert_eq!(Uri::new(&"a".repeat(31)).unwrap().text().len(), 31);
        assert_eq!(Uri::new(&"a".repeat(32)), Err(Error::Uri));
        assert_eq!(Uri::new("tür"), Err(Error::Uri));
    }
}
