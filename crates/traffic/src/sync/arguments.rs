//! The command line of `sync`.

use crate::Error;
use crate::arguments::{duration, number};
use std::path::PathBuf;

const USAGE: &str = "expected sync [--socket PATH] [--domain N] [--phc DEVICE]… [--every TIME] [--count N]";
/// The default path of ptp4l's socket.
const SOCKET: &str = "/var/run/ptp4l";
const EVERY_NS: i64 = 1_000_000_000;
/// Least interval of readings, as ptp4l has other work.
const LEAST_EVERY_NS: i64 = 10_000_000;

/// The command line of `sync`, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// ptp4l's socket.
    pub socket: PathBuf,
    /// `domainNumber`.
    pub domain: u8,
    /// PTP hardware clocks to compare with TAI.
    pub phcs: Vec<PathBuf>,
    /// Interval of readings.
    pub every_ns: i64,
    /// Number of readings; unlimited by default.
    pub count: Option<u64>,
}

impl Arguments {
    /// Reads `--socket PATH …`.
    pub fn read(mut words: impl Iterator<Item = String>) -> Result<Self, Error> {
        let usage = || Error::Usage(USAGE.into());
        let mut found =
            Self { socket: SOCKET.into(), domain: 0, phcs: Vec::new(), every_ns: EVERY_NS, count: None };
        while let Some(option) = words.next() {
            let value = words.next().ok_or_else(usage)?;
            match option.as_str() {
                "--socket" => found.socket = value.into(),
                "--domain" => found.domain = number(&option, &value)?,
                "--phc" => found.phcs.push(value.into()),
                "--every" => found.every_ns = duration(&option, &value)?,
                "--count" => found.count = Some(number(&option, &value)?),
                _ => return Err(usage()),
            }
        }
        if found.every_ns < LEAST_EVERY_NS {
            return Err(Error::Usage("--every: expected 10ms or more".into()));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line() {
        let read = |text: &str| Arguments::read(text.split_whitespace().map(str::to_owned));
        let found = read("").unwrap();
        assert_eq!(
            (found.socket, found.domain, found.every_ns, found.count),
            (SOCKET.into(), 0, EVERY_NS, None)
        );
        let found =
            read("--socket /a --domain 7 --phc /dev/ptp0 --phc /dev/ptp1 --every 250ms --count 3").unwrap();
        assert_eq!(
            (found.socket, found.domain, found.every_ns, found.count),
            ("/a".into(), 7, 250_000_000, Some(3))
        );
        assert_eq!(found.phcs.len(), 2);
        for bad in [
            "--socket",
            "/a",
            "--domain 256",
            "--domain -1",
            "--every 1",
            "--every 9ms",
            "--count x",
            "--what 1",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
