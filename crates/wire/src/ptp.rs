//! PTP messages over Ethernet.
//! IEEE 1588-2019, 13 and annex E; IEEE 802.1AS-2020, 10.6 and 11.4.

use crate::ethernet::{self, EtherType, Mac};

/// The smallest frame, without its FCS.
const SMALLEST: usize = 60;
/// Octets of the common header. IEEE 1588-2019, 13.3.
const HEADER: usize = 34;
/// Address that bridges do not forward: for gPTP, and for messages that measure the delay of a link.
const ONE_LINK: Mac = Mac([0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e]);
/// Address of all other messages of IEEE 1588.
const FORWARDED: Mac = Mac([0x01, 0x1b, 0x19, 0x00, 0x00, 0x00]);
/// Flag `ptpTimescale`.
const PTP_TIMESCALE: u8 = 0x08;
const TWO_STEP: u8 = 0x02;
/// Version 2.1.
const VERSION: u8 = 0x12;

/// A port of a clock: `clockIdentity` and `portNumber`.
pub type PortIdentity = ([u8; 8], u16);

/// The body of a message. Times in ns since the epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Sync, with its own time if it is one-step.
    Sync {
        /// `originTimestamp`; `None` if a Follow_Up carries the time.
        origin_ns: Option<i64>,
        /// The Follow_Up information TLV, which gPTP's one-step Sync carries.
        rate: Option<i32>,
    },
    /// Follow_Up, with gPTP's information TLV if `rate` (`cumulativeScaledRateOffset`) is given.
    FollowUp {
        /// `preciseOriginTimestamp`.
        origin_ns: i64,
        /// `cumulativeScaledRateOffset`, gPTP only.
        rate: Option<i32>,
    },
    /// Pdelay_Req: request to measure the delay of a link.
    PdelayReq,
    /// Pdelay_Resp: the receipt time of the request, and its sender.
    PdelayResp {
        /// `requestReceiptTimestamp`.
        received_ns: i64,
        /// `requestingPortIdentity`.
        to: PortIdentity,
    },
    /// Pdelay_Resp_Follow_Up: the time at which the response was sent.
    PdelayRespFollowUp {
        /// `responseOriginTimestamp`.
        sent_ns: i64,
        /// `requestingPortIdentity`.
        to: PortIdentity,
    },
    /// Delay_Req: request to measure the delay to the master.
    DelayReq,
    /// Delay_Resp: the receipt time of the request, and its sender.
    DelayResp {
        /// `receiveTimestamp`.
        received_ns: i64,
        /// `requestingPortIdentity`.
        to: PortIdentity,
    },
    /// Announce: the qualities of the best known grandmaster.
    Announce {
        /// `grandmasterPriority1`.
        priority1: u8,
        /// `clockClass`.
        class: u8,
        /// `clockAccuracy`.
        accuracy: u8,
        /// `offsetScaledLogVariance`.
        variance: u16,
        /// `grandmasterPriority2`.
        priority2: u8,
        /// `grandmasterIdentity`.
        grandmaster: [u8; 8],
        /// `stepsRemoved`.
        steps_removed: u16,
        /// The path trace TLV.
        path: Vec<[u8; 8]>,
    },
}

/// One message to build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Whether the message is gPTP's instead of IEEE 1588's own: sets `majorSdoId` and addresses.
    pub gptp: bool,
    /// The sender's MAC address.
    pub mac: Mac,
    /// Port of the message; differs from the sender's if a transparent clock forwards the message.
    pub source: PortIdentity,
    /// `sequenceId`.
    pub sequence: u16,
    /// `correctionField`, ps.
    pub correction_ps: i64,
    /// The body.
    pub body: Body,
}

impl Body {
    /// `messageType`, and version 1's `controlField`.
    fn kind(&self) -> (u8, u8) {
        match self {
            Self::Sync { .. } => (0x0, 0),
            Self::DelayReq => (0x1, 1),
            Self::PdelayReq => (0x2, 5),
            Self::PdelayResp { .. } => (0x3, 5),
            Self::FollowUp { .. } => (0x8, 2),
            Self::DelayResp { .. } => (0x9, 3),
            Self::PdelayRespFollowUp { .. } => (0xa, 5),
            Self::Announce { .. } => (0xb, 5),
        }
    }

    fn emit(&self, into: &mut Vec<u8>) {
        match self {
            Self::Sync { origin_ns, rate } => {
                timestamp(origin_ns.unwrap_or(0), into);
                rate.iter().for_each(|rate| information(*rate, into));
            }
            Self::FollowUp { origin_ns, rate } => {
                timestamp(*origin_ns, into);
                rate.iter().for_each(|rate| information(*rate, into));
            }
            Self::DelayReq => timestamp(0, into),
            Self::PdelayReq => into.extend_from_slice(&[0; 20]),
            Self::PdelayResp { received_ns: ns, to }
            | Self::PdelayRespFollowUp { sent_ns: ns, to }
            | Self::DelayResp { received_ns: ns, to } => {
                timestamp(*ns, into);
                port(*to, into);
            }
            Self::Announce {
                priority1,
                class,
                accuracy,
                variance,
                priority2,
                grandmaster,
                steps_removed,
                path,
            } => {
                timestamp(0, into);
                // currentUtcOffset is unknown; one octet is reserved.
                into.extend_from_slice(&[0, 0, 0, *priority1, *class, *accuracy]);
                into.extend_from_slice(&variance.to_be_bytes());
                into.push(*priority2);
                into.extend_from_slice(grandmaster);
                into.extend_from_slice(&steps_removed.to_be_bytes());
                // timeSource: internal oscillator.
                into.push(0xa0);
                let length = u16::try_from(8 * path.len()).unwrap_or(u16::MAX);
                into.extend_from_slice(&[0x00, 0x08]);
                into.extend_from_slice(&length.to_be_bytes());
                path.iter().for_each(|identity| into.extend_from_slice(identity));
            }
        }
    }
}

impl Repr {
    /// Replaces `into` with the frame, without its FCS: captures end before it.
    pub fn emit(&self, into: &mut Vec<u8>) {
        into.clear();
        let one_link =
            matches!(self.body, Body::PdelayReq | Body::PdelayResp { .. } | Body::PdelayRespFollowUp { .. });
        let destination = if self.gptp || one_link { ONE_LINK } else { FORWARDED };
        ethernet::Repr { destination, source: self.mac, tag: None, ether_type: EtherType::PTP }.emit(into);
        let start = into.len();
        let (kind, control) = self.body.kind();
        let two_step = matches!(self.body, Body::Sync { origin_ns: None, .. } | Body::PdelayResp { .. });
        into.push(u8::from(self.gptp) << 4 | kind);
        into.extend_from_slice(&[VERSION, 0, 0, 0, 0]);
        into.extend_from_slice(&[if two_step { TWO_STEP } else { 0 }, PTP_TIMESCALE]);
        // The field counts in 2^-16 ns.
        let correction = (i128::from(self.correction_ps) << 16).div_euclid(1_000) as i64;
        into.extend_from_slice(&correction.to_be_bytes());
        into.extend_from_slice(&[0; 4]);
        port(self.source, into);
        into.extend_from_slice(&self.sequence.to_be_bytes());
        // logMessageInterval is 0x7f in messages without an interval.
        into.extend_from_slice(&[control, 0x7f]);
        debug_assert_eq!(into.len(), start + HEADER);
        self.body.emit(into);
        let length = u16::try_from(into.len() - start).unwrap_or(u16::MAX);
        if let Some(place) = into.get_mut(start + 2..start + 4) {
            place.copy_from_slice(&length.to_be_bytes());
        }
        if into.len() < SMALLEST {
            into.resize(SMALLEST, 0);
        }
    }
}

fn port((identity, number): PortIdentity, into: &mut Vec<u8>) {
    into.extend_from_slice(&identity);
    into.extend_from_slice(&number.to_be_bytes());
}

/// Six octets of seconds, four of nanoseconds. IEEE 1588-2019, 5.3.3.
fn timestamp(ns: i64, into: &mut Vec<u8>) {
    let seconds = ns.div_euclid(1_000_000_000).to_be_bytes();
    into.extend_from_slice(&seconds[2..]);
    into.extend_from_slice(&(ns.rem_euclid(1_000_000_000) as u32).to_be_bytes());
}

/// The Follow_Up information TLV. IEEE 802.1AS-2020, 11.4.4.3.
fn information(rate: i32, into: &mut Vec<u8>) {
    into.extend_from_slice(&[0x00, 0x03, 0x00, 0x1c, 0x00, 0x80, 0xc2, 0x00, 0x00, 0x01]);
    into.extend_from_slice(&rate.to_be_bytes());
    into.extend_from_slice(&[0; 18]);
}

/// A clock's identity from a MAC address. IEEE 802.1AS-2020, 8.5.2.2.
#[must_use]
pub fn clock_identity(mac: Mac) -> [u8; 8] {
    let [a, b, c, d, e, f] = mac.0;
    [a, b, c, 0xff, 0xfe, d, e, f]
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAC: Mac = Mac([0x02, 0, 0, 0, 0, 7]);

    fn built(gptp: bool, correction_ps: i64, body: Body) -> Vec<u8> {
        let mut bytes = vec![0xee; 5];
        let source = (clock_identity(MAC), 2);
        Repr { gptp, mac: MAC, source, sequence: 0x1234, correction_ps, body }.emit(&mut bytes);
        bytes
    }

    /// Octet by octet, against the tables of IEEE 802.1AS-2020, 10.6.2.1 and 11.4.4.
    #[test]
    fn a_follow_up_is_laid_out_as_the_standard_says() {
        let body = Body::FollowUp { origin_ns: 5_000_000_042, rate: Some(-2) };
        let bytes = built(true, 1_500, body);
        let mut expected = vec![0x01, 0x80, 0xc2, 0, 0, 0x0e, 0x02, 0, 0, 0, 0, 7, 0x88, 0xf7];
        expected.extend([0x18, 0x12, 0, 76, 0, 0, 0x00, 0x08]);
        // 1.5 ns.
        expected.extend([0, 0, 0, 0, 0, 1, 0x80, 0x00, 0, 0, 0, 0]);
        expected.extend([0x02, 0, 0, 0xff, 0xfe, 0, 0, 7, 0, 2, 0x12, 0x34, 2, 0x7f]);
        expected.extend([0, 0, 0, 0, 0, 5, 0, 0, 0, 42]);
        expected.extend([0x00, 0x03, 0x00, 0x1c, 0x00, 0x80, 0xc2, 0x00, 0x00, 0x01]);
        expected.extend([0xff, 0xff, 0xff, 0xfe]);
        expected.extend([0; 18]);
        assert_eq!(bytes, expected);
    }

    #[test]
    fn lengths_and_flags_are_those_of_their_kinds() {
        let to = ([0; 8], 1);
        let announce = Body::Announce {
            priority1: 246,
            class: 248,
            accuracy: 0xfe,
            variance: 0x436a,
            priority2: 248,
            grandmaster: [9; 8],
            steps_removed: 3,
            path: vec![[1; 8], [2; 8]],
        };
        for (body, kind, length, two_step) in [
            (Body::Sync { origin_ns: None, rate: None }, 0x10, 44, TWO_STEP),
            (Body::Sync { origin_ns: Some(1), rate: Some(0) }, 0x10, 76, 0),
            (Body::DelayReq, 0x11, 44, 0),
            (Body::PdelayReq, 0x12, 54, 0),
            (Body::PdelayResp { received_ns: 1, to }, 0x13, 54, TWO_STEP),
            (Body::DelayResp { received_ns: 1, to }, 0x19, 54, 0),
            (Body::PdelayRespFollowUp { sent_ns: 1, to }, 0x1a, 54, 0),
            (announce, 0x1b, 64 + 4 + 16, 0),
        ] {
            let bytes = built(true, 0, body);
            assert_eq!((bytes[14], bytes[17], bytes[20]), (kind, length, two_step));
            assert_eq!(bytes.len(), (14 + usize::from(length)).max(SMALLEST));
        }
        assert_eq!(built(false, 0, Body::DelayReq)[..6], FORWARDED.0);
        assert_eq!(built(false, 0, Body::PdelayReq)[..6], ONE_LINK.0);
    }
}
