//! Management messages: requests of a data set, and responses.
//!
//! IEEE 1588-2019, 13.3 (header), 15.4 (message), 15.5 (TLV).

use super::octets::Octets;

/// Octets of a GET message without data.
pub const GET_OCTETS: usize = 54;
/// `messageType` Management.
const MANAGEMENT: u8 = 0xd;
/// `controlField` of such messages.
const CONTROL: u8 = 4;
/// `logMessageInterval` of such messages.
const NO_INTERVAL: u8 = 0x7f;
/// `actionField` values.
const GET: u8 = 0;
const RESPONSE: u8 = 2;
/// `tlvType` values.
const TLV_MANAGEMENT: u16 = 1;
const TLV_ERROR: u16 = 2;
/// All ports of all clocks.
const EVERY_CLOCK: [u8; 8] = [0xff; 8];

/// Number of a data set: `managementId`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ManagementId(pub u16);

/// A request of a data set.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// `majorSdoId`: 0, or 1 for gPTP (IEEE 802.1AS).
    pub major_sdo_id: u8,
    /// `domainNumber`.
    pub domain: u8,
    /// `sequenceId`, which the answer repeats.
    pub sequence: u16,
    /// The requested port; none for the clock itself.
    pub port: Option<u16>,
    /// The requested data set.
    pub id: ManagementId,
}

impl Request {
    /// The octets of the message, sent from the port number `own`.
    pub fn octets(&self, own: u16) -> [u8; GET_OCTETS] {
        let mut octets = [0; GET_OCTETS];
        let mut put = |at: usize, field: &[u8]| {
            if let Some(place) = octets.get_mut(at..at + field.len()) {
                place.copy_from_slice(field);
            }
        };
        put(0, &[self.major_sdo_id << 4 | MANAGEMENT, 2]);
        put(2, &(GET_OCTETS as u16).to_be_bytes());
        put(4, &[self.domain]);
        put(28, &own.to_be_bytes());
        put(30, &self.sequence.to_be_bytes());
        put(32, &[CONTROL, NO_INTERVAL]);
        put(34, &EVERY_CLOCK);
        put(42, &self.port.unwrap_or(u16::MAX).to_be_bytes());
        // Boundary hops 0: no clock forwards the message.
        put(46, &[GET, 0]);
        put(48, &TLV_MANAGEMENT.to_be_bytes());
        // lengthField: the managementId alone.
        put(50, &2_u16.to_be_bytes());
        put(52, &self.id.0.to_be_bytes());
        octets
    }
}

/// A response.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Response<'a> {
    /// `majorSdoId`.
    pub major_sdo_id: u8,
    /// `domainNumber`.
    pub domain: u8,
    /// `sequenceId` of the request.
    pub sequence: u16,
    /// `targetPortIdentity`'s port: the port that sent the request.
    pub requested_by: u16,
    /// The data set.
    pub id: ManagementId,
    /// The octets of the data set, or `managementErrorId`.
    pub data: Result<&'a [u8], u16>,
}

impl<'a> Response<'a> {
    /// Reads a message; none if it is something else, or incomplete.
    pub fn parse(octets: &'a [u8]) -> Option<Self> {
        let mut header = Octets::new(octets);
        let [kind, version, length @ ..] = header.take::<4>()?;
        let length = usize::from(u16::from_be_bytes(length));
        if kind & 0xf != MANAGEMENT || version & 0xf != 2 || length > octets.len() {
            return None;
        }
        let domain = header.u8()?;
        header.skip(30 - 5)?;
        let sequence = header.u16()?;
        header.skip(42 - 32)?;
        let requested_by = header.u16()?;
        header.skip(2)?;
        if header.u8()? & 0xf != RESPONSE {
            return None;
        }
        header.skip(1)?;
        let (tlv, tlv_length) = (header.u16()?, usize::from(header.u16()?));
        let mut inside = Octets::new(octets.get(52..52 + tlv_length).filter(|_| 52 + tlv_length <= length)?);
        let (id, data) = match tlv {
            TLV_MANAGEMENT => (ManagementId(inside.u16()?), Ok(inside.rest())),
            TLV_ERROR => {
                let error = inside.u16()?;
                (ManagementId(inside.u16()?), Err(error))
            }
            _ => return None,
        };
        Some(Self { major_sdo_id: kind >> 4, domain, sequence, requested_by, id, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::samples::{SAMPLES, octets};

    #[test]
    fn a_request_is_these_octets() {
        let request =
            Request { major_sdo_id: 1, domain: 3, sequence: 5, port: Some(2), id: ManagementId(0x2004) };
        let expected = octets(
            "1d 02 0036 03 00 0000 0000000000000000 00000000 0000000000000000 6c4b 0005 04 7f \
             ffffffffffffffff 0002 00 00 00 00 0001 0002 2004",
        );
        assert_eq!(request.octets(0x6c4b).as_slice(), expected);
        let all = Request { port: None, ..request }.octets(1);
        assert_eq!(all[42..44], [0xff, 0xff]);
    }

    #[test]
    fn answers_of_ptp4l_are_read() {
        for (id, data, text) in SAMPLES {
            let octets = octets(text);
            let found = Response::parse(&octets).unwrap();
            assert_eq!(
                (found.major_sdo_id, found.domain, found.sequence, found.requested_by),
                (0, 0, 7, 0x6c4b)
            );
            assert_eq!(found.id, ManagementId(*id));
            assert_eq!(found.data.unwrap().len(), *data);
        }
    }

    #[test]
    fn a_refusal_is_one() {
        let text = "1d 02 003e 07 00 0000 0000000000000000 00000000 4ec0d7fffe201b22 0000 0009 04 7f \
                    0000000000000000 6c4b 00 00 02 00 0002 0008 0006 200f 00000000";
        let mut octets = octets(text);
        octets[3] = octets.len() as u8;
        let found = Response::parse(&octets).unwrap();
        assert_eq!((found.data, found.id, found.sequence), (Err(6), ManagementId(0x200f), 9));
        assert_eq!((found.major_sdo_id, found.domain), (1, 7));
    }

    #[test]
    fn what_breaks_off_or_is_something_else_is_none() {
        let whole = octets(SAMPLES[0].2);
        for length in 0..whole.len() {
            assert_eq!(Response::parse(&whole[..length]), None, "{length}");
        }
        // Type, version, length, action, TLV's type and length.
        for (at, octet) in [(0, 0x0b), (1, 1), (3, 0xff), (46, 0), (49, 3), (51, 0xff), (51, 1), (50, 0xff)] {
            let mut broken = whole.clone();
            broken[at] = octet;
            assert_eq!(Response::parse(&broken), None, "{at}");
        }
    }
}
