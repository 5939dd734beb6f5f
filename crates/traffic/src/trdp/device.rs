//! The description of an end device, as its file has it: addresses as text, times in ns.

use serde::Deserialize;
use std::net::Ipv4Addr;
use tsn_trdp::{DEFAULT_QOS, DEFAULT_TIME_OUT_NS, PROCESS_DATA_PORT, TIME_TO_LIVE};

/// An end device.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// The interface that it uses.
    pub interface: String,
    /// The device's own address at this interface.
    pub address: Ipv4Addr,
    /// How long the device runs, ns; until all its work is done by default.
    #[serde(default)]
    pub for_ns: Option<i64>,
    /// Whether the device also accepts telegrams of version 2 with a header of 16 octets.
    #[serde(default)]
    pub short_headers: bool,
    /// Process data that the device publishes.
    #[serde(default)]
    pub publish: Vec<Publication>,
    /// Process data that the device requests.
    #[serde(default)]
    pub request: Vec<Publication>,
    /// Process data that the device subscribes.
    #[serde(default)]
    pub subscribe: Vec<Subscribed>,
    /// Message data that the device sends.
    #[serde(default)]
    pub call: Vec<Call>,
    /// Message data that the device answers.
    #[serde(default)]
    pub answer: Vec<Answer>,
}

/// When process data is sent.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Every period.
    #[default]
    Push,
    /// When it is requested.
    Pull,
    /// Every period, with version 2.
    Tsn,
}

/// Process data to publish, or (`reply_com_id`, `reply_to`) to request.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publication {
    /// Communication identifier.
    pub com_id: u32,
    /// A host or a multicast group. For pulled data: the destination, unless the request names another one.
    pub to: Ipv4Addr,
    /// The pattern of periodic data.
    #[serde(default)]
    pub pattern: Pattern,
    /// Time from one telegram to the next, ns.
    #[serde(default)]
    pub period_ns: i64,
    /// The first telegram is sent this much after a whole multiple of the period on TAI, ns.
    #[serde(default)]
    pub offset_ns: i64,
    /// Octets of the data set.
    #[serde(default)]
    pub octets: usize,
    /// Quality of service, 0 to 7: priority and type of service.
    #[serde(default = "qos")]
    pub qos: u8,
    /// Time to live.
    #[serde(default = "time_to_live")]
    pub ttl: u8,
    /// Number of telegrams; unlimited by default.
    #[serde(default)]
    pub count: Option<u64>,
    /// The data set is the last one received with this communication identifier.
    #[serde(default)]
    pub echo: Option<u32>,
    /// A header of version 2 with 16 octets instead of 20.
    #[serde(default)]
    pub short_header: bool,
    /// Launch times (`SO_TXTIME`): telegrams are made this much before them, ns.
    #[serde(default)]
    pub launch_ahead_ns: Option<i64>,
    /// Topography counters: of the train backbone, and of the operational train.
    #[serde(default)]
    pub topography: (u32, u32),
    /// Service identifier.
    #[serde(default)]
    pub service_id: u32,
    /// Requests only: the requested identifier; 0 means the request's own.
    #[serde(default)]
    pub reply_com_id: u32,
    /// Requests only: the destination of the reply; the requester by default.
    #[serde(default)]
    pub reply_to: Option<Ipv4Addr>,
    /// The destination's UDP port.
    #[serde(default = "process_data_port")]
    pub port: u16,
}

/// Process data to subscribe.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subscribed {
    /// Communication identifier.
    pub com_id: u32,
    /// The source, if only one is accepted.
    #[serde(default)]
    pub from: Option<Ipv4Addr>,
    /// The multicast group to join.
    #[serde(default)]
    pub group: Option<Ipv4Addr>,
    /// Time-out, ns; 0: none.
    #[serde(default = "time_out")]
    pub time_out_ns: i64,
    /// Topography counters; 0: any.
    #[serde(default)]
    pub topography: (u32, u32),
    /// Number of telegrams after which the subscription is done.
    #[serde(default)]
    pub count: Option<u64>,
}

/// The transport of message data.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// Datagrams.
    #[default]
    Udp,
    /// A connection.
    Tcp,
}

/// Message data to send.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// Communication identifier.
    pub com_id: u32,
    /// The replier.
    pub to: Ipv4Addr,
    /// Whether this is a notification, without a reply.
    #[serde(default)]
    pub notify: bool,
    /// The transport.
    #[serde(default)]
    pub transport: Transport,
    /// Octets of the data set.
    #[serde(default)]
    pub octets: usize,
    /// Time-out of the reply, ns.
    #[serde(default = "reply_time_out")]
    pub time_out_ns: i64,
    /// Number of calls, in sequence.
    #[serde(default = "one")]
    pub count: u64,
    /// Time from one call to the next, ns.
    #[serde(default)]
    pub period_ns: i64,
    /// Text of the source URI.
    #[serde(default)]
    pub source_uri: String,
    /// Text of the destination URI.
    #[serde(default)]
    pub destination_uri: String,
}

/// Message data to answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Communication identifier of requests and notifications.
    pub com_id: u32,
    /// Octets of the reply's data set.
    #[serde(default)]
    pub octets: usize,
    /// Whether the reply requests a confirmation (`Mq`).
    #[serde(default)]
    pub confirm: bool,
    /// Time-out of the confirmation, ns.
    #[serde(default = "reply_time_out")]
    pub time_out_ns: i64,
    /// Number of answers after which this is done.
    #[serde(default)]
    pub count: Option<u64>,
}

const fn qos() -> u8 {
    DEFAULT_QOS
}

const fn time_to_live() -> u8 {
    TIME_TO_LIVE
}

const fn time_out() -> i64 {
    DEFAULT_TIME_OUT_NS
}

const fn process_data_port() -> u16 {
    PROCESS_DATA_PORT
}

const fn reply_time_out() -> i64 {
    1_000_000_000
}

const fn one() -> u64 {
    1
}
