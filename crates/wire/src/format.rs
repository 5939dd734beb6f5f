//! Formats of frames with numbers: their names, and what their numbers mean.

use crate::redundancy::Scheme;

/// The format of a frame; it determines where the frame has its number.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// tsnbench's own test payload.
    Tsnbench,
    /// RTC-Testbench.
    RtcTestbench,
    /// netlatency.
    Netlatency,
    /// EnGINE's `send_udp`.
    SendUdp,
    /// iperf3 over UDP, 32-bit counters.
    Iperf3,
    /// iperf3 over UDP, 64-bit counters.
    Iperf3Wide,
    /// TSN-FlexTest: IPv4 identification and source address.
    FlexTest,
    /// TRDP process data: the telegram's sequence counter.
    Trdp,
    /// IEEE 1722 (AVTP): `sequence_num`.
    Avtp,
    /// PROFINET RT and IRT: cycle counter.
    Profinet,
    /// OPC UA PubSub in UADP.
    Uadp,
    /// SOME/IP: session.
    SomeIp,
    /// RTPS (DDS): number of the writer.
    Rtps,
    /// IEC 61850 Sampled Values: `smpCnt`.
    SampledValues,
    /// IEC 61850 GOOSE: `stNum` (upper 32 bits) and `sqNum`.
    Goose,
    /// EtherNet/IP class 0 and 1: number in the connection.
    EthernetIp,
    /// EtherCAT: index of the first datagram.
    EtherCat,
    /// RTP.
    Rtp,
    /// PTP: `sequenceId` of a type of message.
    Ptp,
    /// Unknown tool: frames are identified by the number that their copies share.
    Copies(Scheme),
    /// Unknown tool: frames are identified by a hash of the octets that do not change on the path.
    Unknown,
}

impl Format {
    /// Name of the format for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tsnbench => "tsnbench",
            Self::RtcTestbench => "RTC-Testbench",
            Self::Netlatency => "netlatency",
            Self::SendUdp => "send_udp",
            Self::Iperf3 => "iperf3",
            Self::Iperf3Wide => "iperf3, 64-bit counters",
            Self::FlexTest => "IPv4 id and source MAC (FlexTest)",
            Self::Trdp => "TRDP process data",
            Self::Avtp => "IEEE 1722 (AVTP)",
            Self::Profinet => "PROFINET RT",
            Self::Uadp => "OPC UA PubSub (UADP)",
            Self::SomeIp => "SOME/IP",
            Self::Rtps => "RTPS (DDS)",
            Self::SampledValues => "Sampled Values",
            Self::Goose => "GOOSE",
            Self::EthernetIp => "EtherNet/IP",
            Self::EtherCat => "EtherCAT",
            Self::Rtp => "RTP",
            Self::Ptp => "PTP",
            Self::Copies(scheme) => scheme.name(),
            Self::Unknown => "hash of the invariant bytes",
        }
    }

    /// The tool's short name in names of streams; `None` if the stream is named by its addresses alone.
    #[must_use]
    pub const fn label(self) -> Option<&'static str> {
        match self {
            Self::Tsnbench => Some("tsnbench"),
            Self::RtcTestbench => Some("rtc"),
            Self::Netlatency => Some("netlatency"),
            Self::SendUdp => Some("send_udp"),
            Self::Iperf3 | Self::Iperf3Wide => Some("iperf3"),
            Self::Trdp => Some("trdp"),
            Self::Rtp => Some("rtp"),
            Self::Uadp => Some("uadp"),
            _ => None,
        }
    }

    /// Whether the numbers are the talker's own sequence, so that a gap is a frame that was never sent.
    ///
    /// A host may skip IPv4 identifications, a hash is not a sequence number, and HSR and PRP number all frames of a
    /// source. [`Format::is_doubtful`] tells where frames have to show it.
    #[must_use]
    pub const fn is_sequence(self) -> bool {
        !matches!(self, Self::FlexTest | Self::Unknown | Self::Copies(Scheme::Hsr | Scheme::Prp))
    }

    /// Whether only most of the frames can show that the numbers count the frames of one stream: sessions of SOME/IP may
    /// count the calls of a client, a master chooses the indices of EtherCAT, and PTP's responses repeat those of
    /// requests.
    #[must_use]
    pub const fn is_doubtful(self) -> bool {
        matches!(self, Self::SomeIp | Self::EtherCat | Self::Ptp | Self::Copies(_))
    }

    /// Whether the distance of two numbers has to be learned from the frames.
    #[must_use]
    pub const fn has_steps(self) -> bool {
        matches!(self, Self::Profinet | Self::SampledValues | Self::EtherCat)
    }

    /// The number after which numbers begin again with 0; 0 stands for 2^64.
    ///
    /// The samples of Sampled Values begin again every second: how many there are is learned from the frames.
    #[must_use]
    pub const fn modulus(self) -> u64 {
        match self {
            Self::Tsnbench => 1 << 48,
            Self::RtcTestbench | Self::Iperf3Wide | Self::Unknown | Self::Rtps | Self::Goose => 0,
            Self::Netlatency | Self::SendUdp | Self::Iperf3 | Self::Trdp | Self::EthernetIp => 1 << 32,
            Self::SomeIp => (1 << 16) - 1,
            Self::FlexTest
            | Self::Profinet
            | Self::Uadp
            | Self::SampledValues
            | Self::Rtp
            | Self::Ptp
            | Self::Copies(_) => 1 << 16,
            Self::Avtp | Self::EtherCat => 1 << 8,
        }
    }
}
