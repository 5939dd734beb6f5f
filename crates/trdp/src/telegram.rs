//! Telegrams of any kind, recognised as a receiver recognises them.

use crate::{Error, message_data, octets, process_data, tsn};

/// Kind of a telegram's header.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// Process data of version 1.
    ProcessData,
    /// Process data of version 2.
    Tsn,
    /// Message data.
    MessageData,
}

/// A telegram and its data set.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Telegram<'a> {
    /// Process data of version 1.
    ProcessData(process_data::Header, &'a [u8]),
    /// Process data of version 2.
    Tsn(tsn::Header, &'a [u8]),
    /// Message data.
    MessageData(message_data::Header, &'a [u8]),
}

impl<'a> Telegram<'a> {
    /// Reads a whole datagram, or a message of a TCP connection.
    ///
    /// # Errors
    /// The octets are not a telegram, or its data set is longer than the datagram.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, Error> {
        Self::parse_cut(datagram, datagram.len())
    }

    /// Reads a datagram of `length` octets of which a capture has the first ones: the data set may be incomplete.
    ///
    /// # Errors
    /// The octets are not a telegram, or the capture lacks part of the header.
    pub fn parse_cut(captured: &'a [u8], length: usize) -> Result<Self, Error> {
        let (header, most, what) = match family(captured) {
            Family::ProcessData => (process_data::HEADER, process_data::LONGEST, "process data"),
            Family::Tsn => (tsn::HEADER, tsn::LONGEST, "process data of version 2"),
            Family::MessageData => (message_data::HEADER, message_data::LONGEST, "message data"),
        };
        if length > header + octets::padded(most) {
            return Err(Error::Size { what, least: header, most: header + most, found: length });
        }
        let cut = |header: usize, octets: usize| {
            if octets > length.saturating_sub(header) {
                return Err(Error::DataSet {
                    octets: octets as u64,
                    most: length.saturating_sub(header) as u64,
                });
            }
            let after = captured.get(header..).unwrap_or_default();
            Ok(&after[..octets.min(after.len())])
        };
        match family(captured) {
            Family::ProcessData => {
                let found = process_data::Header::parse(captured)?;
                Ok(Self::ProcessData(found, cut(process_data::HEADER, found.data_set_octets as usize)?))
            }
            Family::Tsn => {
                let found = tsn::Header::parse(captured)?;
                Ok(Self::Tsn(found, cut(found.length.octets(), found.data_set_octets.into())?))
            }
            Family::MessageData => {
                let found = message_data::Header::parse(captured)?;
                Ok(Self::MessageData(found, cut(message_data::HEADER, found.data_set_octets as usize)?))
            }
        }
    }

    /// Sequence number of the telegram.
    #[must_use]
    pub const fn sequence(&self) -> u32 {
        match self {
            Self::ProcessData(header, _) => header.sequence,
            Self::Tsn(header, _) => header.sequence,
            Self::MessageData(header, _) => header.sequence,
        }
    }

    /// Communication identifier.
    #[must_use]
    pub const fn com_id(&self) -> u32 {
        match self {
            Self::ProcessData(header, _) => header.com_id,
            Self::Tsn(header, _) => header.com_id,
            Self::MessageData(header, _) => header.com_id,
        }
    }

    /// Octets of the data set, by the header.
    #[must_use]
    pub fn data_set_octets(&self) -> u32 {
        match self {
            Self::ProcessData(header, _) => header.data_set_octets,
            Self::Tsn(header, _) => header.data_set_octets.into(),
            Self::MessageData(header, _) => header.data_set_octets,
        }
    }

    /// The data set, or its captured part.
    #[must_use]
    pub const fn data_set(&self) -> &'a [u8] {
        match self {
            Self::ProcessData(_, data_set) | Self::Tsn(_, data_set) | Self::MessageData(_, data_set) => {
                data_set
            }
        }
    }

    /// Number of the telegram's type; types of different kinds have different numbers.
    #[must_use]
    pub const fn kind_number(&self) -> u16 {
        match self {
            Self::ProcessData(header, _) => header.kind as u16,
            Self::Tsn(header, _) => header.kind as u16,
            Self::MessageData(header, _) => header.kind as u16,
        }
    }

    /// Name of the type: `Pd`, `Mr`, or `TSN`.
    #[must_use]
    pub const fn kind_name(&self) -> &'static str {
        match self {
            Self::ProcessData(header, _) => match header.kind {
                process_data::Kind::Push => "Pd",
                process_data::Kind::Reply => "Pp",
                process_data::Kind::Request => "Pr",
                process_data::Kind::Error => "Pe",
            },
            Self::Tsn(header, _) => match header.kind {
                tsn::Kind::Plain => "TSN",
                tsn::Kind::Safe => "TSN SDT",
                tsn::Kind::MultiSafe => "TSN multi-SDT",
                tsn::Kind::Reserved => "TSN reserved",
            },
            Self::MessageData(header, _) => match header.kind {
                message_data::Kind::Notify => "Mn",
                message_data::Kind::Request => "Mr",
                message_data::Kind::Reply => "Mp",
                message_data::Kind::ReplyQuery => "Mq",
                message_data::Kind::Confirm => "Mc",
                message_data::Kind::Error => "Me",
            },
        }
    }
}

/// Version 2 has its version where version 1 has its major version; the types of message data begin with `M`.
fn family(octets: &[u8]) -> Family {
    match octets.get(4..7) {
        Some([tsn::VERSION, ..]) => Family::Tsn,
        Some([_, _, b'M']) => Family::MessageData,
        _ => Family::ProcessData,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_families_are_told_apart() {
        let mut octets = Vec::new();
        process_data::Header { com_id: 1, ..Default::default() }.emit(b"abcd", &mut octets).unwrap();
        assert!(matches!(Telegram::parse(&octets), Ok(Telegram::ProcessData(_, b"abcd"))));
        octets.clear();
        tsn::Header { com_id: 2, ..Default::default() }.emit(b"abc", &mut octets).unwrap();
        assert!(matches!(Telegram::parse(&octets), Ok(Telegram::Tsn(_, b"abc"))));
        octets.clear();
        message_data::Header { com_id: 3, ..Default::default() }.emit(b"ab", &mut octets).unwrap();
        let found = Telegram::parse(&octets).unwrap();
        assert_eq!((found.com_id(), found.kind_name(), found.data_set()), (3, "Mn", &b"ab"[..]));
    }

    #[test]
    fn a_data_set_is_inside_its_datagram() {
        let mut octets = Vec::new();
        process_data::Header::default().emit(&[7; 100], &mut octets).unwrap();
        assert_eq!(Telegram::parse(&octets[..120]), Err(Error::DataSet { octets: 100, most: 80 }));
        let cut = Telegram::parse_cut(&octets[..60], octets.len()).unwrap();
        assert_eq!((cut.data_set_octets(), cut.data_set().len()), (100, 20), "cut by the capture");
        octets.resize(1473, 0);
        assert!(matches!(Telegram::parse(&octets), Err(Error::Size { found: 1473, .. })));
    }
}
