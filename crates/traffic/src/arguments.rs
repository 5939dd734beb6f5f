//! The command line.

use crate::Error;
use crate::system::socket::TxTime;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::str::FromStr;

/// The usage text.
pub const USAGE: &str = "expected
  talk PLAN --node N --port N=INTERFACE… --log FILE [--epoch NS | --epoch-from FILE] [--dilate D]
       [--sights FILE] [--untagged] [--udp ADDRESS] [--txtime strict|deadline] [--absolute] [--hardware]
       [--phc DEVICE] [--cpu N] [--priority N]
  listen [PLAN] --port N=INTERFACE… --log FILE [--epoch NS | --epoch-from FILE] [--dilate D]
       [--until NS] [--for NS] [--count N] [--sights FILE] [--ring KIB] [--wake] [--hardware] [--cpu N] [--priority N]
  replay CAPTURE --port 0=INTERFACE --log FILE [--epoch NS] [--dilate D] [--cpu N] [--priority N]
With --epoch-from - it says `armed` on standard output, and NS comes on standard input.
There are also agent, capture, probe, steps, sync and trdp, each of which prints its usage";

/// The task of the program.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// Send the frames of a Plan's node.
    Talk,
    /// Receive.
    Listen,
    /// Send the frames of a capture.
    Replay,
}

/// The parsed command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// The task.
    pub task: Task,
    /// The file of the Plan or of the capture.
    pub file: Option<PathBuf>,
    /// The talkers' node.
    pub node: Option<u32>,
    /// The Plan's zero on TAI; shortly after the start by default.
    pub epoch_ns: Option<i64>,
    /// The file in which the Plan's zero will be written once all programs are ready.
    pub epoch_from: Option<PathBuf>,
    /// Dilation: real ns per ns of the Plan.
    pub dilate: i64,
    /// Ports of the Plan with their interfaces.
    pub ports: Vec<(u32, String)>,
    /// The file for the counts of sent or received frames.
    pub log: PathBuf,
    /// The file for the sightings: when frames passed which stage.
    pub sights: Option<PathBuf>,
    /// The interface adds VLAN tags; frames are made without tags.
    pub untagged: bool,
    /// Send UDP to this address, in place of whole frames.
    pub udp: Option<Ipv4Addr>,
    /// Launch times of frames, instead of the Plan's mode.
    pub txtime: Option<TxTime>,
    /// The intended time in the payload is TAI, not the Plan's.
    pub absolute: bool,
    /// Request hardware timestamps.
    pub hardware: bool,
    /// The PTP hardware clock whose time talkers keep, in place of the system's.
    pub phc: Option<PathBuf>,
    /// The processor that the program runs on.
    pub cpu: Option<usize>,
    /// Priority under `SCHED_FIFO`; 0 for none.
    pub priority: i32,
    /// The end of listening, on TAI.
    pub until_ns: Option<i64>,
    /// The duration of listening, from the Plan's zero on.
    pub for_ns: Option<i64>,
    /// The number of frames of talkers after which listening ends.
    pub count: Option<u64>,
    /// Size of the ring in KiB.
    pub ring_kib: usize,
    /// Whether one call receives one frame, as in an ordinary listener, without a ring.
    pub wake: bool,
}

/// The default priority: talkers are in the middle of all processes that must be on time.
pub const PRIORITY: i32 = 50;
/// Half a second of 1 Gbit/s.
const RING_KIB: usize = 1 << 16;

impl Arguments {
    /// Reads `talk PLAN --node N …`.
    pub fn read(words: impl Iterator<Item = String>) -> Result<Self, Error> {
        let mut words = words.peekable();
        let usage = || Error::Usage(USAGE.into());
        let task = match words.next().as_deref() {
            Some("talk") => Task::Talk,
            Some("listen") => Task::Listen,
            Some("replay") => Task::Replay,
            _ => return Err(usage()),
        };
        let mut found = Self {
            task,
            file: words.next_if(|word| !word.starts_with("--")).map(PathBuf::from),
            node: None,
            epoch_ns: None,
            epoch_from: None,
            dilate: 1,
            ports: Vec::new(),
            log: PathBuf::new(),
            sights: None,
            untagged: false,
            udp: None,
            txtime: None,
            absolute: false,
            hardware: false,
            phc: None,
            cpu: None,
            priority: PRIORITY,
            until_ns: None,
            for_ns: None,
            count: None,
            ring_kib: RING_KIB,
            wake: false,
        };
        while let Some(option) = words.next() {
            match option.as_str() {
                "--untagged" => found.untagged = true,
                "--absolute" => found.absolute = true,
                "--hardware" => found.hardware = true,
                "--wake" => found.wake = true,
                _ => found.valued(&option, &words.next().ok_or_else(usage)?)?,
            }
        }
        let complete = !found.log.as_os_str().is_empty()
            && !found.ports.is_empty()
            && (found.file.is_some() || task == Task::Listen)
            && (found.node.is_some() || task != Task::Talk);
        if complete { Ok(found) } else { Err(usage()) }
    }

    fn valued(&mut self, option: &str, value: &str) -> Result<(), Error> {
        match option {
            "--node" => self.node = Some(number(option, value)?),
            "--epoch" => self.epoch_ns = Some(number(option, value)?),
            "--epoch-from" => self.epoch_from = Some(value.into()),
            "--dilate" => self.dilate = number::<i64>(option, value)?.max(1),
            "--cpu" => self.cpu = Some(number(option, value)?),
            "--priority" => self.priority = number(option, value)?,
            "--until" => self.until_ns = Some(number(option, value)?),
            "--for" => self.for_ns = Some(number(option, value)?),
            "--count" => self.count = Some(number(option, value)?),
            "--ring" => self.ring_kib = number(option, value)?,
            "--udp" => {
                self.udp = Some(
                    value.parse().map_err(|_| Error::Usage(format!("{option}: expected an IPv4 address")))?,
                );
            }
            "--txtime" => {
                self.txtime = Some(match value {
                    "strict" => TxTime::Strict,
                    "deadline" => TxTime::Deadline,
                    _ => return Err(Error::Usage(format!("{option}: expected strict or deadline"))),
                });
            }
            "--port" => {
                let (port, interface) = value
                    .split_once('=')
                    .ok_or_else(|| Error::Usage(format!("{option}: expected N=INTERFACE")))?;
                self.ports.push((number(option, port)?, interface.to_owned()));
            }
            "--log" => self.log = value.into(),
            "--phc" => self.phc = Some(value.into()),
            "--sights" => self.sights = Some(value.into()),
            _ => return Err(Error::Usage(USAGE.into())),
        }
        Ok(())
    }
}

/// The number given for an option.
pub fn number<T: FromStr>(option: &str, value: &str) -> Result<T, Error> {
    value.parse().map_err(|_| Error::Usage(format!("{option}: expected a number, found {value}")))
}

/// A time with its unit, `2s` or `500ms`, in ns.
pub fn duration(option: &str, value: &str) -> Result<i64, Error> {
    let wrong = || Error::Usage(format!("{option}: expected a time such as 2s or 500ms, found {value}"));
    let digits = value.find(|sign: char| !sign.is_ascii_digit()).ok_or_else(wrong)?;
    let (number, unit) = value.split_at(digits);
    let unit_ns = match unit {
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "min" => 60_000_000_000,
        _ => return Err(wrong()),
    };
    number.parse::<i64>().ok().and_then(|number| number.checked_mul(unit_ns)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Arguments> {
        Arguments::read(text.split_whitespace().map(str::to_owned)).ok()
    }

    #[test]
    fn times_have_units() {
        let read = |text| duration("--for", text).ok();
        assert_eq!(
            [read("2s"), read("500ms"), read("0us")],
            [Some(2_000_000_000), Some(500_000_000), Some(0)]
        );
        assert_eq!(read("5min"), Some(300_000_000_000));
        for bad in ["", "2", "s", "-2s", "2 s", "2h", "2.5s", "99999999999s"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_is_missing_or_strange_is_refused() {
        let good = "talk plan.json --node 2 --epoch 5 --dilate 10 --port 0=p0 --port 3=p3 --log out";
        let found = read(good).unwrap();
        assert_eq!((found.node, found.epoch_ns, found.dilate), (Some(2), Some(5), 10));
        assert_eq!(found.ports, [(0, "p0".to_owned()), (3, "p3".to_owned())]);
        for bad in ["", "shout", "talk", "talk p --node x --epoch 1 --log l", "talk p --node 1 --log l"] {
            assert!(read(bad).is_none(), "{bad}");
        }
        for (old, new) in
            [("--port 0=p0", "--port p0"), ("--epoch 5", "--when 5"), ("out", ""), ("--log out", "--log")]
        {
            assert!(read(&good.replace(old, new)).is_none(), "{new}");
        }
        let ways =
            "--txtime deadline --udp 10.0.0.2 --untagged --absolute --cpu 1 --priority 0 --phc /dev/ptp3";
        let found = read(&format!("{good} {ways}")).unwrap();
        assert_eq!((found.txtime, found.cpu, found.priority), (Some(TxTime::Deadline), Some(1), 0));
        assert_eq!(found.phc, Some("/dev/ptp3".into()));
        assert!(found.untagged && found.absolute && found.udp.is_some());
        assert!(read(&format!("{good} --txtime late")).is_none());
        assert_eq!(read("listen --port 0=p0 --log out --ring 8 --wake").unwrap().file, None);
        assert!(read("replay --port 0=p0 --log out").is_none());
        let found = read("listen --port 0=p0 --log out --epoch-from zero --for 7").unwrap();
        assert_eq!((found.epoch_from, found.for_ns), (Some("zero".into()), Some(7)));
    }
}
