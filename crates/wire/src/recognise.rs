//! Recognises the tool that sent a frame.
//!
//! Some tools mark every frame (tsnbench's own test payload, `send_udp`, RTC-Testbench, netlatency), and so do most
//! protocols with numbers of their own ([`counter`](crate::counter)). iperf3, FlexTest, RTP, and UADP at other ports do
//! not: they are recognised by counters in several frames of a flow ([`Evidence`]).

use crate::counter::counter;
use crate::dissect::{Dissected, Network};
pub use crate::format::Format;
use crate::payload::{flextest, iperf3, netlatency, rtc_testbench, rtp, send_udp, someip, uadp};
use crate::{Error, telegram};

/// The format of a frame whose tool marks every frame.
#[must_use]
pub fn marked(frame: &Dissected<'_>) -> Option<Format> {
    if frame.ports.is_some() {
        if telegram::test_payload(frame).is_ok() {
            return Some(Format::Tsnbench);
        }
        if telegram::process_data(frame).is_some() {
            return Some(Format::Trdp);
        }
        if send_udp::Repr::parse(frame.payload).is_ok() {
            return Some(Format::SendUdp);
        }
    }
    if let Some(found) = counter(frame) {
        return Some(found.format);
    }
    match frame.ether_type {
        rtc_testbench::ETHER_TYPE if !may_be_uadp(frame) => {
            rtc_testbench::Repr::parse(frame.payload).ok().map(|_| Format::RtcTestbench)
        }
        netlatency::ETHER_TYPE => netlatency::Repr::parse(frame.payload).ok().map(|_| Format::Netlatency),
        _ => None,
    }
}

/// Whether the capture cut a frame before the octets that tell whether it is a message of UADP.
fn may_be_uadp(frame: &Dissected<'_>) -> bool {
    frame.uncaptured > 0 && matches!(uadp::Repr::parse(frame.payload), Err(Error::Truncated { .. }))
}

/// The number of the stream, of a tool that counts its streams in frames without IP.
#[must_use]
pub fn stream_number(frame: &Dissected<'_>) -> Option<u8> {
    match frame.ether_type {
        netlatency::ETHER_TYPE => netlatency::Repr::parse(frame.payload).ok().map(|found| found.stream),
        _ => None,
    }
}

/// Evidence of the tool in the frames of one UDP flow, in order.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    last: Option<Seen>,
    steps: u32,
    narrow: Counted,
    wide: Counted,
    rtp: u32,
    uadp: u32,
    flextest: u32,
    next_id: u32,
}

/// How often an iperf3 counter and its clock advanced together, and how often the clock did not stand still.
#[derive(Copy, Clone, Debug, Default)]
struct Counted {
    steps: u32,
    later: u32,
}

/// The fields that are compared from frame to frame.
#[derive(Copy, Clone, Debug)]
struct Seen {
    narrow: Option<iperf3::Repr>,
    wide: Option<iperf3::Repr>,
    rtp: Option<rtp::Repr>,
    uadp: Option<uadp::Repr>,
    id: Option<u16>,
}

/// First port that a user's program may have: fields of NTP, NetBIOS and others below it look like those of iperf3, RTP
/// and UADP.
const FIRST_USER_PORT: u16 = 1024;

/// Largest step of a counter from one frame to the next (frames may be missing).
const LARGEST_STEP: u64 = 1000;

impl Evidence {
    /// Adds the next frame of the flow. One that the capture cut shows less: every flow of a host that counts its IPv4
    /// identifications looks like FlexTest's then, and a SOME/IP message without the end of its header like iperf3's.
    pub fn see(&mut self, frame: &Dissected<'_>) {
        let whole = frame.uncaptured == 0;
        if !whole && frame.payload.len() < someip::HEADER {
            return;
        }
        let id = match frame.network {
            Network::Ipv4 { id, .. } if whole && frame.source().is_some() => {
                flextest::Repr::parse(frame.payload).ok().map(|_| id)
            }
            _ => None,
        };
        let user = frame.ports.is_some_and(|(from, to)| from.min(to) >= FIRST_USER_PORT);
        let iperf3 = |wide| iperf3::Repr::parse(frame.payload, wide).ok().filter(|_| user);
        let uadp = uadp::Repr::parse(frame.payload).ok().filter(|_| user);
        let now = Seen {
            narrow: iperf3(false),
            wide: iperf3(true),
            rtp: rtp::Repr::parse(frame.payload).ok().filter(|_| user),
            uadp,
            id,
        };
        if let Some(last) = self.last.replace(now) {
            self.steps += 1;
            self.narrow.see(last.narrow, now.narrow);
            self.wide.see(last.wide, now.wide);
            let rtp = last.rtp.zip(now.rtp).filter(|(last, now)| last.source == now.source);
            self.rtp += u32::from(rtp.is_some_and(|(last, now)| advances(last.number, now.number)));
            let uadp = last.uadp.zip(now.uadp).filter(|(last, now)| {
                (last.publisher, last.group, last.writer) == (now.publisher, now.group, now.writer)
            });
            self.uadp += u32::from(uadp.is_some_and(|(last, now)| advances(last.number, now.number)));
            let step = last.id.zip(id).map(|(last, id)| u64::from(id.wrapping_sub(last)));
            self.flextest += u32::from(step.is_some_and(|step| (1..=LARGEST_STEP).contains(&step)));
            self.next_id += u32::from(step == Some(1));
        }
    }

    /// The format that agrees with nine of ten steps; needs at least two frames.
    ///
    /// A host counts the IPv4 identifications of all its packets. They number the frames of one flow only if most of
    /// the flow's identifications are consecutive.
    #[must_use]
    pub fn format(&self) -> Format {
        let agree = |steps: u32| self.steps > 0 && steps * 10 >= self.steps * 9;
        // Packets of one burst may have the same time.
        let counts = |found: Counted| agree(found.steps) && found.later * 2 >= found.steps;
        if counts(self.narrow) {
            Format::Iperf3
        } else if counts(self.wide) {
            Format::Iperf3Wide
        } else if agree(self.rtp) {
            Format::Rtp
        } else if agree(self.uadp) {
            Format::Uadp
        } else if agree(self.flextest) && self.next_id * 2 > self.steps {
            Format::FlexTest
        } else {
            Format::Unknown
        }
    }
}

/// Whether a number of 16 bits has advanced.
fn advances(last: u16, now: u16) -> bool {
    (1..=LARGEST_STEP).contains(&u64::from(now.wrapping_sub(last)))
}

impl Counted {
    /// Adds the step from one packet to the next.
    fn see(&mut self, last: Option<iperf3::Repr>, now: Option<iperf3::Repr>) {
        let Some((last, now)) = last.zip(now) else { return };
        let times = [last, now].map(|one| (one.seconds, one.microseconds));
        let counts = (1..=LARGEST_STEP).contains(&now.counter.wrapping_sub(last.counter));
        if counts && times[0] <= times[1] && now.seconds - last.seconds < 60 {
            self.steps += 1;
            self.later += u32::from(times[0] < times[1]);
        }
    }
}

/// The number of a frame in its tool's format; `None` if the frame is too short or has another format.
///
/// RTC-Testbench's pair (cycle, frame in cycle) becomes one number if `frames_per_cycle` is known.
#[must_use]
pub fn number(format: Format, frame: &Dissected<'_>, frames_per_cycle: u32) -> Option<u64> {
    match format {
        Format::Tsnbench => telegram::test_payload(frame).ok().map(|payload| payload.seq),
        Format::RtcTestbench => {
            let payload = rtc_testbench::Repr::parse(frame.payload).ok()?;
            Some(u64::from(payload.cycle) * u64::from(frames_per_cycle) + u64::from(payload.frame))
        }
        Format::Netlatency => {
            netlatency::Repr::parse(frame.payload).ok().map(|payload| u64::from(payload.seq))
        }
        Format::SendUdp => send_udp::Repr::parse(frame.payload).ok().map(|payload| u64::from(payload.seq)),
        Format::Iperf3 => iperf3::Repr::parse(frame.payload, false).ok().map(|payload| payload.counter),
        Format::Iperf3Wide => iperf3::Repr::parse(frame.payload, true).ok().map(|payload| payload.counter),
        Format::Trdp => telegram::process_data(frame).map(|telegram| u64::from(telegram.sequence())),
        Format::FlexTest => match frame.network {
            Network::Ipv4 { id, .. } => Some(u64::from(id)),
            _ => None,
        },
        Format::Rtp => rtp::Repr::parse(frame.payload).ok().map(|packet| u64::from(packet.number)),
        Format::Uadp if frame.ports.is_some() => {
            uadp::Repr::parse(frame.payload).ok().map(|message| u64::from(message.number))
        }
        Format::Copies(scheme) => {
            frame.redundancy().filter(|found| found.scheme == scheme).map(|found| u64::from(found.number))
        }
        Format::Unknown => None,
        _ => counter(frame).filter(|found| found.format == format).map(|found| found.number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Link;
    use crate::{dissect::dissect, payload};
    use etherparse::{IpNumber, Ipv4Header, UdpHeader};

    /// An untagged UDP frame with this IPv4 identification and payload.
    fn udp(id: u16, payload: &[u8]) -> Vec<u8> {
        udp_to(5201, id, payload)
    }

    fn udp_to(port: u16, id: u16, payload: &[u8]) -> Vec<u8> {
        let mut ip =
            Ipv4Header::new(8 + payload.len() as u16, 64, IpNumber::UDP, [10, 0, 0, 1], [10, 0, 0, 2])
                .unwrap();
        ip.identification = id;
        let udp = UdpHeader::with_ipv4_checksum(40_000, port, &ip, payload).unwrap();
        let mut frame = b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x08\0".to_vec();
        frame.extend_from_slice(&ip.to_bytes());
        frame.extend_from_slice(&udp.to_bytes());
        frame.extend_from_slice(payload);
        frame
    }

    fn recognised(frames: impl IntoIterator<Item = Vec<u8>>) -> Format {
        let mut evidence = Evidence::default();
        for bytes in frames {
            let frame = dissect(Link::Ethernet, &bytes, bytes.len() as u32).unwrap();
            if let Some(format) = marked(&frame) {
                return format;
            }
            evidence.see(&frame);
        }
        evidence.format()
    }

    #[test]
    fn every_format_is_told_from_its_bytes() {
        let iperf = |wide: bool| {
            (1..20).map(move |counter| {
                let mut payload = Vec::new();
                payload::iperf3::Repr { seconds: 77, microseconds: counter as u32 * 100, counter }
                    .emit(wide, &mut payload);
                payload.resize(64, 0);
                udp(0, &payload)
            })
        };
        assert_eq!(recognised(iperf(false)), Format::Iperf3);
        assert_eq!(recognised(iperf(true)), Format::Iperf3Wide);
        assert_eq!(recognised(iperf(false).take(1)), Format::Unknown, "one frame proves nothing");
        // A client's requests of NTP (RFC 5905, 7.3): its root delay is no time, its root dispersion no counter.
        let ntp = (0..20_u32).map(|poll| {
            let mut payload = b"\x23\x02\x06\xe8".to_vec();
            payload.extend_from_slice(&1_024_u32.to_be_bytes());
            payload.extend_from_slice(&(700 + poll * 16).to_be_bytes());
            payload.resize(48, 0);
            udp_to(123, 0, &payload)
        });
        assert_eq!(recognised(ntp), Format::Unknown);
        // A tool that asks the network once a second: numbers that advance beside a time that does not.
        let asks = (0..20_u32).map(|n| {
            let payload =
                [&b"\x07\x03\0\x1e\0\0\0\x01\x80\0\0\0"[..], &(0x0040_9c24 + 4 * n).to_be_bytes(), &[7; 13]];
            udp_to(8995, 0, &payload.concat())
        });
        assert_eq!(recognised(asks), Format::Unknown);
        // Datagrams of NetBIOS (RFC 1002, 4.4.1) begin like messages of UADP.
        let netbios = (0..9_u16).map(|n| {
            let payload = [&b"\x11\x0a"[..], &(0x0dc7 + n).to_be_bytes(), &[0xc0; 80]].concat();
            udp_to(138, 0, &payload)
        });
        assert_eq!(recognised(netbios), Format::Unknown);
        let flextest = (65_530..65_560_u32).map(|id| udp(id as u16, &[0; 40]));
        assert_eq!(recognised(flextest), Format::FlexTest, "also across the wrap of the identification");
        let among_others = (0..30_u32).map(|n| udp((n * 14) as u16, &[0; 40]));
        assert_eq!(recognised(among_others), Format::Unknown, "a host that counts over all its flows");
        let mut payload = Vec::new();
        payload::send_udp::Repr { txtime_ns: 1, seq: 0, sent_ns: 2 }.emit(&mut payload);
        assert_eq!(recognised([udp(0, &payload)]), Format::SendUdp);
        payload.clear();
        payload::tsnbench::Repr { stream: 1, seq: 0, intended_ns: None }.emit(20, &mut payload);
        assert_eq!(recognised([udp(0, &payload)]), Format::Tsnbench);
        let ethernet = |ether_type: u16, payload: &[u8]| {
            [b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02", &ether_type.to_be_bytes()[..], payload].concat()
        };
        assert_eq!(recognised([ethernet(0xb62c, &[0; 50])]), Format::RtcTestbench);
        assert_eq!(recognised([ethernet(0x0808, b"\x01\x03\0\0\0\0\x40\x42\0\0\0\0")]), Format::Netlatency);
        assert_eq!(recognised((0..9).map(|_| udp(0, &[7; 40]))), Format::Unknown);
    }
}
