//! Messages of PTP as they are read: the common header, and the requester of a response.
//! IEEE 1588-2019, 13.3 to 13.13.
//!
//! ```text
//!  octet   0             1         2 .. 3   4        6 .. 7   8 .. 15      20 .. 29        30 .. 31     33
//!        +-------------+---------+--------+--------+--------+------------+---------------+------------+--------------+
//!        | sdo, type   | version | length | domain | flags  | correction | port identity | sequenceId | log interval |
//!        +-------------+---------+--------+--------+--------+------------+---------------+------------+--------------+
//! ```
//!
//! Big-endian. Every port numbers its messages of one type with 16 bits; a response has the number of its request.

use crate::Error;
use crate::payload::{head, octets};
use crate::ptp::PortIdentity;

/// The UDP ports of event and general messages. IEEE 1588-2019, annex C.
pub const UDP_PORTS: [u16; 2] = [319, 320];
/// Octets of the common header.
const HEADER: usize = 34;
/// Offset of the requester in a response.
const REQUESTER: usize = 44;
/// Offset of the time in a Sync or Follow_Up: seconds with 48 bits, nanoseconds with 32. IEEE 1588-2019, 5.3.3.
const ORIGIN: usize = 34;
/// The flag `twoStepFlag`, in octet 6. IEEE 1588-2019, 13.3.2.8.
const TWO_STEP: u8 = 0x02;
/// `logMessageInterval` of a message without an interval.
const NO_INTERVAL: i8 = 0x7f;

/// The fields of a message.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Repr {
    /// `messageType`.
    pub kind: u8,
    /// `majorSdoId`: 1 for gPTP.
    pub sdo: u8,
    /// `domainNumber`.
    pub domain: u8,
    /// `correctionField`, in 2^-16 ns.
    pub correction: i64,
    /// `sourcePortIdentity`.
    pub source: PortIdentity,
    /// `sequenceId`.
    pub sequence: u16,
    /// The interval in powers of two of a second, if the message has one.
    pub log_interval: Option<i8>,
    /// `requestingPortIdentity` of a response.
    pub requester: Option<PortIdentity>,
    /// The time of a Follow_Up, or of a Sync that needs none, ns.
    pub origin_ns: Option<i64>,
}

impl Repr {
    /// Reads a message.
    ///
    /// # Errors
    /// The octets are no message of version 2.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let found = head::<HEADER>("a PTP message", bytes)?;
        let kind = found[0] & 15;
        if found[1] & 15 != 2 || !matches!(kind, 0..=3 | 8..=13) {
            return Err(Error::Not("a PTP message of version 2"));
        }
        let log_interval = found[33].cast_signed();
        let requester = bytes.get(REQUESTER..REQUESTER + 10).filter(|_| matches!(kind, 0x3 | 0x9 | 0xa));
        let tells = kind == 0x8 || kind == 0x0 && found[6] & TWO_STEP == 0;
        Ok(Self {
            kind,
            sdo: found[0] >> 4,
            domain: found[4],
            correction: i64::from_be_bytes(octets(found, 8)),
            source: port(&found[20..30]),
            sequence: u16::from_be_bytes(octets(found, 30)),
            log_interval: Some(log_interval).filter(|interval| *interval != NO_INTERVAL),
            requester: requester.map(port),
            origin_ns: bytes.get(ORIGIN..ORIGIN + 10).filter(|_| tells).and_then(timestamp),
        })
    }

    /// The type in the standard's word.
    #[must_use]
    pub const fn kind_name(&self) -> &'static str {
        match self.kind {
            0x0 => "Sync",
            0x1 => "Delay_Req",
            0x2 => "Pdelay_Req",
            0x3 => "Pdelay_Resp",
            0x8 => "Follow_Up",
            0x9 => "Delay_Resp",
            0xa => "Pdelay_Resp_Follow_Up",
            0xb => "Announce",
            0xc => "Signaling",
            _ => "Management",
        }
    }

    /// The correction in ps, rounded down.
    #[must_use]
    pub fn correction_ps(&self) -> i64 {
        ((i128::from(self.correction) * 1_000) >> 16) as i64
    }
}

/// `None` for a time beyond 64 bits.
fn timestamp(bytes: &[u8]) -> Option<i64> {
    let seconds = i64::from(u16::from_be_bytes(octets(bytes, 0))) << 32
        | i64::from(u32::from_be_bytes(octets(bytes, 2)));
    let ns = i64::from(u32::from_be_bytes(octets(bytes, 6)));
    seconds.checked_mul(1_000_000_000)?.checked_add(ns)
}

fn port(bytes: &[u8]) -> PortIdentity {
    (octets(bytes, 0), u16::from_be_bytes(octets(bytes, 8)))
}

/// A port in text, as linuxptp writes it.
#[must_use]
pub fn port_text((identity, number): PortIdentity) -> String {
    let [a, b, c, d, e, f, g, h] = identity;
    format!("{a:02x}{b:02x}{c:02x}.{d:02x}{e:02x}.{f:02x}{g:02x}{h:02x}-{number}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mac;
    use crate::ptp::{Body, Repr as Built};

    #[test]
    fn times_are_read_of_messages_that_tell_one() {
        let source = ([0x02, 0, 0, 0xff, 0xfe, 0, 0, 7], 2);
        let told = 1_700_000_000_000_000_007;
        for (body, expected) in [
            (Body::Sync { origin_ns: None, rate: None }, None),
            (Body::Sync { origin_ns: Some(told), rate: None }, Some(told)),
            (Body::FollowUp { origin_ns: told, rate: Some(0) }, Some(told)),
            (Body::DelayReq, None),
        ] {
            let mut bytes = Vec::new();
            Built { gptp: true, mac: Mac([2; 6]), source, sequence: 1, correction_ps: 0, body }
                .emit(&mut bytes);
            assert_eq!(Repr::parse(&bytes[14..]).unwrap().origin_ns, expected);
        }
        assert_eq!(timestamp(&[0xff; 10]), None);
    }

    #[test]
    fn messages_come_apart_as_they_were_built() {
        let to = ([9; 8], 3);
        for (body, kind, requester) in [
            (Body::Sync { origin_ns: None, rate: None }, "Sync", None),
            (Body::PdelayReq, "Pdelay_Req", None),
            (Body::PdelayResp { received_ns: 1, to }, "Pdelay_Resp", Some(to)),
            (Body::DelayResp { received_ns: 1, to }, "Delay_Resp", Some(to)),
        ] {
            let source = ([0x02, 0, 0, 0xff, 0xfe, 0, 0, 7], 2);
            let (mac, sequence, correction_ps) = (Mac([2; 6]), 0xfffe, -1_500);
            let mut bytes = Vec::new();
            Built { gptp: true, mac, source, sequence, correction_ps, body }.emit(&mut bytes);
            bytes[14 + 33] = 0xfd;
            let found = Repr::parse(&bytes[14..]).unwrap();
            assert_eq!((found.kind_name(), found.requester, found.sequence), (kind, requester, 0xfffe));
            assert_eq!((found.source, found.sdo, found.domain, found.log_interval), (source, 1, 0, Some(-3)));
            assert_eq!(found.correction_ps(), -1_500);
            assert_eq!(port_text(found.source), "020000.fffe.000007-2");
            assert!(Repr::parse(&bytes[14..14 + 33]).is_err());
        }
        assert!(Repr::parse(&[0; 44]).is_err());
        assert!(Repr::parse(&[[4, 2].as_slice(), &[0; 42]].concat()).is_err(), "a reserved type");
    }
}
