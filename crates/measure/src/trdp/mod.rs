//! TRDP in captures of one place: the counts of a subscriber at this place, the gaps between telegrams, and how
//! evenly they are spread over time.
//!
//! The telegrams of a stream have the same communication identifier, type, source and destination.
//! [`tsn_trdp::Subscription`] judges their sequence numbers, so that the counts are those of a receiver.

mod exchanges;

pub use exchanges::Exchange;

use self::exchanges::{Seen, Telegrams};
use crate::Error;
use crate::captures::capture_file::CaptureFile;
use crate::report::Source;
use crate::statistics::distribution::{Distribution, Stat};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::net::Ipv4Addr;
use tsn_trdp::{Counts, DEFAULT_TIME_OUT_NS, Subscription, Telegram};
use tsn_wire::dissect::{Dissected, Network, dissect};
use tsn_wire::telegram;

/// The format that this version writes.
pub const FORMAT: &str = "tsnbench-trdp/1";
/// The window in which telegrams are counted to judge how they are spread.
const WINDOW_NS: i64 = 10_000_000;
/// Most windows that are kept: a day of 10 ms.
const MOST_WINDOWS: i64 = 8_640_000;

/// Options of the caller.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Time-out of every subscription, ns; default 100 ms.
    pub time_out_ns: Option<i64>,
}

/// Everything about TRDP in a capture.
#[derive(Debug, Serialize)]
pub struct TrdpMeasures {
    /// [`FORMAT`].
    pub format: &'static str,
    /// The input.
    pub source: Source,
    /// Frames of any kind.
    pub frames: u64,
    /// Valid telegrams of process data.
    pub process_data: u64,
    /// Valid telegrams of message data, over UDP and over TCP.
    pub message_data: u64,
    /// Datagrams at TRDP's ports whose header has a wrong check sequence.
    pub check_errors: u64,
    /// Datagrams at TRDP's ports that are no telegrams for another reason.
    pub protocol_errors: u64,
    /// Octets of all data sets of process data.
    pub data_set_octets: u64,
    /// From the first telegram of process data to the last, ns.
    pub span_ns: Option<i64>,
    /// The time-out that was assumed, ns.
    pub time_out_ns: i64,
    /// How evenly process data is spread over time; none where the capture is shorter than a window.
    pub spreading: Option<Spreading>,
    /// One entry per stream, by communication identifier.
    pub streams: Vec<TrdpStream>,
    /// Requests of message data with their replies: one entry per caller, communication identifier and destination.
    pub exchanges: Vec<Exchange>,
}

/// Telegrams per window, in the whole windows from the first telegram on.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct Spreading {
    /// How long a window is.
    pub window_ns: i64,
    /// How many there are.
    pub windows: u64,
    /// Fewest telegrams in one.
    pub min: u64,
    /// Mean.
    pub mean: f64,
    /// Most telegrams in one.
    pub max: u64,
    /// Of the population.
    pub variance: f64,
}

/// One stream.
#[derive(Debug, Serialize)]
pub struct TrdpStream {
    /// How it is called.
    pub name: String,
    /// Communication identifier.
    pub com_id: u32,
    /// `Pd`, `Pp`, `Mr`, …
    pub kind: &'static str,
    /// Of the protocol: 1 or 2.
    pub version: u8,
    /// `udp` or `tcp`.
    pub transport: &'static str,
    /// Source address.
    pub source: Ipv4Addr,
    /// Destination address.
    pub destination: Ipv4Addr,
    /// Valid telegrams.
    pub telegrams: u64,
    /// Octets of the smallest and the largest data set.
    pub data_set_octets: [u32; 2],
    /// The first and the last number.
    pub sequence: [u32; 2],
    /// What a subscriber counts; none for message data, whose numbers count the repetitions of one request.
    pub subscription: Option<SubscriptionReport>,
    /// From one telegram to the next, ns; the first has none.
    pub interval: Option<Stat>,
}

/// [`Counts`] as they are written.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SubscriptionReport {
    /// Telegrams that were taken.
    pub taken: u64,
    /// Gaps in the numbers.
    pub gaps: u64,
    /// Telegrams that are missing in them.
    pub missed: u64,
    /// Ignored: the last number again.
    pub repeated: u64,
    /// Ignored: a lower number.
    pub old: u64,
    /// Publishers that began again.
    pub restarted: u64,
    /// Time-outs.
    pub time_outs: u64,
}

impl From<Counts> for SubscriptionReport {
    fn from(counts: Counts) -> Self {
        let Counts { taken, gaps, missed, repeated, old, restarted, time_outs, topography: _ } = counts;
        Self { taken, gaps, missed, repeated, old, restarted, time_outs }
    }
}

/// The common properties of a stream's telegrams.
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
struct Key {
    com_id: u32,
    kind: u16,
    tcp: bool,
    source: [u8; 4],
    destination: [u8; 4],
}

/// The state of a stream while its telegrams are read.
struct Stream {
    kind: &'static str,
    version: u8,
    telegrams: u64,
    data_set_octets: [u32; 2],
    sequence: [u32; 2],
    subscription: Option<Subscription>,
    last_ns: Option<i64>,
    interval: Distribution,
}

/// Everything so far.
#[derive(Default)]
pub(crate) struct Tally {
    streams: FxHashMap<Key, Stream>,
    process_data: u64,
    message_data: u64,
    check_errors: u64,
    protocol_errors: u64,
    data_set_octets: u64,
    /// Of process data.
    first_ns: Option<i64>,
    last_ns: Option<i64>,
    windows: Vec<u64>,
    without_time: u64,
    sessions: Telegrams,
}

/// The source of measures of TRDP, without its files.
pub(crate) fn source() -> Source {
    Source { kind: "captures", formats: vec!["TRDP".into()], ..Source::default() }
}

/// Measures the telegrams of captures; several files are read one after another. Sessions of message data are judged
/// in the order of time, so each of two files may have one direction.
///
/// # Errors
/// When a file cannot be read, or no telegram is in any of them.
pub fn measure<F: Clone + Into<CaptureFile>>(files: &[F], options: &Options) -> Result<TrdpMeasures, Error> {
    let time_out_ns = options.time_out_ns.unwrap_or(DEFAULT_TIME_OUT_NS);
    let mut source = source();
    let mut tally = Tally::default();
    for file in files.iter().cloned().map(Into::into) {
        let mut reader = file.open()?;
        let mut unreadable = 0;
        while let Some(packet) = reader.read().map_err(|error| file.failed(error))? {
            match dissect(packet.link, packet.octets, packet.original) {
                Ok(frame) => tally.see(packet.t_ns, &frame, time_out_ns),
                Err(_) => unreadable += 1,
            }
        }
        source.warnings.extend(reader.warning().map(|warning| format!("{file}: {warning}")));
        source.ignored.unreadable_frames += unreadable;
        source.files.push(file.source("one", reader.frames()));
    }
    tally.measures(source, time_out_ns)
}

impl Tally {
    /// The measures of the frames of `source`.
    ///
    /// # Errors
    /// There is no telegram among them.
    pub(crate) fn measures(self, mut source: Source, time_out_ns: i64) -> Result<TrdpMeasures, Error> {
        if self.without_time > 0 {
            source.warnings.push(format!("{} telegrams have no time", self.without_time));
        }
        if self.sessions.not_kept > 0 {
            let telegrams = self.sessions.not_kept;
            source
                .warnings
                .push(format!("{telegrams} telegrams of message data are above the limit of 4,194,304"));
        }
        if let [only] = &source.files[..]
            && only.frames == 0
        {
            return Err(Error::Nothing(format!("{} has no frame", only.path)));
        }
        if self.process_data + self.message_data + self.check_errors + self.protocol_errors == 0 {
            return Err(Error::Nothing(
                "no TRDP telegram (UDP port 17224 or 17225, TCP port 17225) in the capture".into(),
            ));
        }
        Ok(self.finish(source, time_out_ns))
    }

    pub(crate) fn see(&mut self, t_ns: Option<i64>, frame: &Dissected<'_>, time_out_ns: i64) {
        let Network::Ipv4 { source, destination, .. } = frame.network else { return };
        let (found, tcp) = match telegram::datagram(frame) {
            Some(Ok(found)) => (found, false),
            Some(Err(tsn_trdp::Error::CheckSequence { .. })) => {
                self.check_errors += 1;
                return;
            }
            Some(Err(_)) => {
                self.protocol_errors += 1;
                return;
            }
            None => match telegram::segment(frame) {
                Some(found) => (found, true),
                None => return,
            },
        };
        self.without_time += u64::from(t_ns.is_none());
        let cyclic = !matches!(found, Telegram::MessageData(..));
        if cyclic {
            self.process_data += 1;
            self.data_set_octets += u64::from(found.data_set_octets());
            self.spread(t_ns);
        } else {
            self.message_data += 1;
        }
        if let (Telegram::MessageData(header, _), Some(t_ns)) = (&found, t_ns) {
            self.sessions.see(Seen::new(t_ns, (source, destination), tcp, header));
        }
        let key = Key { com_id: found.com_id(), kind: found.kind_number(), tcp, source, destination };
        let octets = found.data_set_octets();
        let stream = self.streams.entry(key).or_insert_with(|| Stream {
            kind: found.kind_name(),
            version: if matches!(found, Telegram::Tsn(..)) { 2 } else { 1 },
            telegrams: 0,
            data_set_octets: [octets; 2],
            sequence: [found.sequence(); 2],
            subscription: cyclic.then(|| Subscription::new(Some(time_out_ns))),
            last_ns: None,
            interval: Distribution::default(),
        });
        stream.see(t_ns, source, &found);
    }

    /// Counts a telegram of process data in its window.
    fn spread(&mut self, t_ns: Option<i64>) {
        let Some(t_ns) = t_ns else { return };
        let first = *self.first_ns.get_or_insert(t_ns);
        self.last_ns = self.last_ns.max(Some(t_ns));
        let window = t_ns.saturating_sub(first).div_euclid(WINDOW_NS);
        if (0..MOST_WINDOWS).contains(&window) {
            let window = usize::try_from(window).unwrap_or_default();
            if self.windows.len() <= window {
                self.windows.resize(window + 1, 0);
            }
            self.windows[window] += 1;
        }
    }

    /// The whole windows: the last one that a telegram is in has not ended.
    fn spreading(&self) -> Option<Spreading> {
        let (_, whole) = self.windows.split_last()?;
        let (min, max) = (*whole.iter().min()?, *whole.iter().max()?);
        let count = whole.len() as u64;
        let sum: u128 = whole.iter().map(|telegrams| u128::from(*telegrams)).sum();
        let squares: u128 = whole.iter().map(|telegrams| u128::from(*telegrams).pow(2)).sum();
        #[expect(clippy::cast_precision_loss, reason = "the last step; everything before it is exact")]
        Some(Spreading {
            window_ns: WINDOW_NS,
            windows: count,
            min,
            mean: sum as f64 / count as f64,
            max,
            variance: (u128::from(count) * squares - sum * sum) as f64 / (count as f64).powi(2),
        })
    }

    fn finish(mut self, source: Source, time_out_ns: i64) -> TrdpMeasures {
        let spreading = self.spreading();
        let exchanges = std::mem::take(&mut self.sessions).finish();
        let end = self.last_ns;
        let mut streams: Vec<(Key, Stream)> = self.streams.drain().collect();
        streams.sort_by_key(|(key, _)| (key.com_id, key.kind, key.source, key.destination, key.tcp));
        TrdpMeasures {
            format: FORMAT,
            frames: source.files.iter().map(|file| file.frames).sum(),
            source,
            process_data: self.process_data,
            message_data: self.message_data,
            check_errors: self.check_errors,
            protocol_errors: self.protocol_errors,
            data_set_octets: self.data_set_octets,
            span_ns: end.zip(self.first_ns).map(|(last, first)| last.saturating_sub(first)),
            time_out_ns,
            spreading,
            exchanges,
            streams: streams.into_iter().map(|(key, stream)| stream.finish(key, end)).collect(),
        }
    }
}

impl Stream {
    fn see(&mut self, t_ns: Option<i64>, source: [u8; 4], telegram: &Telegram<'_>) {
        let octets = telegram.data_set_octets();
        self.data_set_octets = [self.data_set_octets[0].min(octets), self.data_set_octets[1].max(octets)];
        self.sequence[1] = telegram.sequence();
        if let Some(subscription) = &mut self.subscription {
            let at = t_ns.or(self.last_ns).unwrap_or_default();
            subscription.receive(at, (source, telegram.kind_number()), telegram.sequence());
        }
        if let Some(gap) = t_ns.zip(self.last_ns).map(|(now, last)| now.saturating_sub(last)) {
            self.interval.add(gap, self.telegrams, 0);
        }
        self.last_ns = t_ns.or(self.last_ns);
        self.telegrams += 1;
    }

    /// At `end_ns` the capture ended: a stream that has long stopped by then has timed out.
    fn finish(mut self, key: Key, end_ns: Option<i64>) -> TrdpStream {
        if let Some((subscription, end)) = self.subscription.as_mut().zip(end_ns) {
            subscription.look(end);
        }
        let (source, destination) = (Ipv4Addr::from(key.source), Ipv4Addr::from(key.destination));
        TrdpStream {
            name: format!("trdp {} {} {source} > {destination}", key.com_id, self.kind),
            com_id: key.com_id,
            kind: self.kind,
            version: self.version,
            transport: if key.tcp { "tcp" } else { "udp" },
            source,
            destination,
            telegrams: self.telegrams,
            data_set_octets: self.data_set_octets,
            sequence: self.sequence,
            subscription: self.subscription.map(|subscription| subscription.counts().into()),
            interval: self.interval.stat(),
        }
    }
}
