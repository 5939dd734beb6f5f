//! NetworkMessages of OPC UA PubSub in the UADP mapping: publisher, groups, writers and their sequence numbers.
//! OPC 10000-14, 7.2.4.
//!
//! ```text
//!  version and flags (8 bits: low nibble 1; publisher, group header, payload header, extended flags 1)
//!  extended flags 1 (type of the publisher, class, security, time, picoseconds, extended flags 2), extended flags 2
//!  publisher; class; group header (flags; writer group, version, message number, sequence number)
//!  payload header (count, writers); time; picoseconds; promoted fields; security header; sizes; data set messages
//! ```
//!
//! Little-endian. Numbers have 16 bits. The number of the group counts NetworkMessages; without it, the numbers
//! of the data set messages count those of their writers.

use crate::{Error, EtherType};

/// The type of NetworkMessages directly over Ethernet.
pub const ETHER_TYPE: EtherType = EtherType(0xb62c);
/// The registered UDP port.
pub const UDP_PORT: u16 = 4840;

/// The fields of a message.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Repr {
    /// The publisher: its number, or a hash of its name.
    pub publisher: u64,
    /// The writer group, if the message has it.
    pub group: Option<u16>,
    /// The first writer, if the number is its own or the message has no group.
    pub writer: Option<u16>,
    /// The number.
    pub number: u16,
}

/// Octets of a message that are read one after the other.
#[derive(Clone)]
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let missing = Error::Truncated { what: "a UADP message", needed: count, found: self.0.len() };
        let (taken, rest) = self.0.split_at_checked(count).ok_or(missing)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self, count: usize) -> Result<u64, Error> {
        Ok(self.take(count)?.iter().rev().fold(0, |sum, octet| sum << 8 | u64::from(*octet)))
    }

    fn short(&mut self) -> Result<u16, Error> {
        Ok((self.number(2)? & 0xffff) as u16)
    }
}

const fn has(flags: u64, bit: u32) -> bool {
    flags >> bit & 1 != 0
}

impl Repr {
    /// Reads the first number of a message.
    ///
    /// # Errors
    /// As for [`Repr::each`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let mut first = None;
        Self::each(bytes, |found| {
            first.get_or_insert(found);
        })?;
        first.ok_or(Error::Not("a numbered UADP message"))
    }

    /// Reads the number of the group, or else those of all data set messages. Returns whether data set messages follow
    /// behind the captured octets.
    ///
    /// # Errors
    /// The octets are not such a message of data, or it has no number, or it is encrypted before its number.
    pub fn each(bytes: &[u8], mut see: impl FnMut(Self)) -> Result<bool, Error> {
        let mut fields = Fields(bytes);
        let flags = fields.number(1)?;
        if flags & 15 != 1 {
            return Err(Error::Not("a UADP message of version 1"));
        }
        let first = if has(flags, 7) { fields.number(1)? } else { 0 };
        let second = if has(first, 7) { fields.number(1)? } else { 0 };
        let other = Error::Not("a UADP message of data sets");
        // Bit 0: a chunk; bits 2 to 4: the kind; the rest is reserved.
        if second & !2 != 0 || first & 7 > 4 {
            return Err(other);
        }
        let mut found = Self::default();
        if has(flags, 4) {
            found.publisher = publisher(first & 7, &mut fields)?;
        }
        if has(first, 3) {
            fields.take(16)?;
        }
        let group = if has(flags, 5) { fields.number(1)? } else { 0 };
        if group & 0xf0 != 0 {
            return Err(other);
        }
        found.group = if has(group, 0) { Some(fields.short()?) } else { None };
        fields.take(4 * usize::from(has(group, 1)) + 2 * usize::from(has(group, 2)))?;
        let counted = if has(group, 3) { Some(fields.short()?) } else { None };
        let mut writers: &[u8] = &[];
        if has(flags, 6) {
            let count = fields.number(1)?;
            if count == 0 {
                return Err(other);
            }
            writers = fields.take(2 * count as usize)?;
        }
        let writer =
            |place: usize| writers.as_chunks().0.get(place).map(|writer| u16::from_le_bytes(*writer));
        if let Some(number) = counted {
            let writer = writer(0).filter(|_| found.group.is_none());
            see(Self { number, writer, ..found });
            return Ok(false);
        }
        let messages = (writers.len() / 2).max(1);
        let Some(sizes) = data_set_sizes(&mut fields, first, second, messages)? else { return Err(other) };
        let number = data_set_number(&mut fields.clone())?.ok_or(other)?;
        see(Self { number, writer: writer(0), ..found });
        for (place, size) in (1..).zip(sizes.as_chunks().0) {
            if place == messages {
                break;
            }
            // The capture may have cut off the others.
            let next = fields.take(u16::from_le_bytes(*size).into());
            let Ok(number) = next.and_then(|_| data_set_number(&mut fields.clone())) else { return Ok(true) };
            if let Some(number) = number {
                see(Self { number, writer: writer(place), ..found });
            }
        }
        Ok(false)
    }
}

/// The publisher by the type of its identifier; a name is hashed.
fn publisher(kind: u64, fields: &mut Fields<'_>) -> Result<u64, Error> {
    match kind {
        0..=3 => fields.number(1 << kind),
        _ => {
            let length = fields.number(4)?;
            let name = fields.take(usize::try_from(length).unwrap_or(usize::MAX))?;
            Ok(super::hash(name))
        }
    }
}

/// Goes to the first data set message; the sizes of all if there are several, none if they are encrypted.
fn data_set_sizes<'a>(
    fields: &mut Fields<'a>,
    first: u64,
    second: u64,
    messages: usize,
) -> Result<Option<&'a [u8]>, Error> {
    fields.take(8 * usize::from(has(first, 5)) + 2 * usize::from(has(first, 6)))?;
    if has(second, 1) {
        let length = fields.number(2)?;
        fields.take(length as usize)?;
    }
    if has(first, 4) {
        // Flags, token, length of the nonce, nonce, size of the footer.
        let security = fields.number(1)?;
        fields.take(4)?;
        let nonce = fields.number(1)?;
        fields.take(nonce as usize + 2 * usize::from(has(security, 2)))?;
        if has(security, 1) {
            return Ok(None);
        }
    }
    if messages == 1 {
        return Ok(Some(&[]));
    }
    fields.take(2 * messages).map(Some)
}

/// The number of a data set message, if it has one.
fn data_set_number(fields: &mut Fields<'_>) -> Result<Option<u16>, Error> {
    let flags = fields.number(1)?;
    if has(flags, 7) {
        fields.take(1)?;
    }
    Ok(if has(flags, 3) { Some(fields.short()?) } else { None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_the_groups_or_else_the_first_data_sets() {
        let table: [(&[u8], Repr); 5] = [
            // Publisher of 8 bits; group with version and number; one writer.
            (
                b"\x71\x2a\x0b\x05\0\x01\0\0\0\xff\xff\x01\x07\0data",
                Repr { publisher: 42, group: Some(5), writer: None, number: 0xffff },
            ),
            // Publisher of 16 bits; no group header; one writer; number in the data set message.
            (
                b"\xd1\x01\x2a\x01\x01\x07\0\x09\x34\x12",
                Repr { publisher: 0x012a, group: None, writer: Some(7), number: 0x1234 },
            ),
            // Publisher of 64 bits, time, two messages with sizes, second flags of the data set message.
            (
                b"\xd1\x23\x2a\0\0\0\0\0\0\x01\x02\x07\0\x08\0\x01\x02\x03\x04\x05\x06\x07\x08\x10\0\x10\0\x89\x01\x02\0",
                Repr { publisher: 42 | 1 << 56, group: None, writer: Some(7), number: 2 },
            ),
            // Publisher with a name; writer group without its identifier.
            (
                b"\xb1\x04\x02\0\0\0ab\x08\x05\0",
                Repr { publisher: super::super::hash(b"ab"), group: None, writer: None, number: 5 },
            ),
            // Without a publisher.
            (b"\x21\x09\x05\0\x06\0", Repr { publisher: 0, group: Some(5), writer: None, number: 6 }),
        ];
        for (bytes, repr) in table {
            assert_eq!(Repr::parse(bytes), Ok(repr), "{bytes:x?}");
        }
        // Numbers 5 of writer 7 and 9 of writer 8; the last one, of writer 9, has none. Publisher of 8 bits.
        let several = b"\x51\x2a\x03\x07\0\x08\0\x09\0\x04\0\x05\0\x01\0\x09\x05\0x\x89\x01\x09\0x\x01";
        let numbers = |bytes: &[u8]| {
            let mut found = Vec::new();
            Repr::each(bytes, |one| found.push((one.writer, one.number))).map(|go_on| (found, go_on))
        };
        assert_eq!(numbers(several), Ok((vec![(Some(7), 5), (Some(8), 9)], false)));
        assert_eq!(numbers(&several[..20]), Ok((vec![(Some(7), 5)], true)), "cut by the capture");
        let (bytes, _) = table[2];
        for length in 0..bytes.len() {
            assert!(Repr::parse(&bytes[..length]).is_err(), "cut to {length}");
        }
        for other in [
            &b"\x22\x09\x05\0\x06\0"[..],
            b"\x21\x19\x05\0\x06\0",
            b"\x81\x80\x01",
            b"\x91\x05\0\0\0\0\0",
            b"\x11\x05\x01\0\0",
        ] {
            assert!(Repr::parse(other).is_err(), "{other:x?}");
        }
    }
}
