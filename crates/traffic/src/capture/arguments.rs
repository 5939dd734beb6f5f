//! The command line of `capture`.

use crate::Error;
use crate::arguments::number;
use crate::system::filter::Direction;
use std::path::PathBuf;

const USAGE: &str = "expected capture INTERFACE --file PATH [--direction in|out|both] [--snap OCTETS] [--ring MIB] \
                     [--until NS] [--hardware] [--cpu N]";
/// Octets of a frame that suffice to identify it, whatever tags and headers it has.
const SNAP: u32 = 96;
/// Most octets of a frame that always fit into a block of the ring.
const MOST_SNAP: u32 = 1 << 16;
/// A third of a second of 1 Gbit/s whole, some seconds of heads.
const RING_MIB: usize = 32;
const MOST_RING_MIB: usize = 1 << 11;

/// The command line of `capture`, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// The interface.
    pub interface: String,
    /// The direction of the frames to record.
    pub direction: Direction,
    /// The capture's file.
    pub file: PathBuf,
    /// Octets that are kept of each frame.
    pub snap: u32,
    /// Octets of the ring.
    pub ring_octets: usize,
    /// The processor to run on.
    pub cpu: Option<usize>,
    /// The end of the capture, on TAI.
    pub until_ns: Option<i64>,
    /// Ask the hardware for stamps.
    pub hardware: bool,
}

impl Arguments {
    /// Reads `INTERFACE --file PATH …`.
    pub fn read(mut words: impl Iterator<Item = String>) -> Result<Self, Error> {
        let usage = || Error::Usage(USAGE.into());
        let interface = words.next().filter(|word| !word.starts_with('-') && !word.is_empty());
        let mut found = Self {
            interface: interface.ok_or_else(usage)?,
            direction: Direction::Both,
            file: PathBuf::new(),
            snap: SNAP,
            ring_octets: RING_MIB << 20,
            cpu: None,
            until_ns: None,
            hardware: false,
        };
        while let Some(option) = words.next() {
            if option == "--hardware" {
                found.hardware = true;
                continue;
            }
            let value = words.next().ok_or_else(usage)?;
            match option.as_str() {
                "--direction" => {
                    found.direction = match value.as_str() {
                        "in" => Direction::In,
                        "out" => Direction::Out,
                        "both" => Direction::Both,
                        _ => return Err(Error::Usage(format!("{option}: expected in, out or both"))),
                    }
                }
                "--file" => found.file = value.into(),
                "--snap" => found.snap = within(&option, number(&option, &value)?, 14, MOST_SNAP)?,
                "--ring" => {
                    found.ring_octets = within(&option, number(&option, &value)?, 1, MOST_RING_MIB)? << 20;
                }
                "--cpu" => found.cpu = Some(number(&option, &value)?),
                "--until" => found.until_ns = Some(number(&option, &value)?),
                _ => return Err(usage()),
            }
        }
        if found.file.as_os_str().is_empty() { Err(usage()) } else { Ok(found) }
    }
}

fn within<T: PartialOrd + std::fmt::Display>(option: &str, value: T, least: T, most: T) -> Result<T, Error> {
    if value < least || value > most {
        return Err(Error::Usage(format!("{option}: expected {least} to {most}, found {value}")));
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line() {
        let read = |text: &str| Arguments::read(text.split_whitespace().map(str::to_owned));
        let found = read("eth0 --file a.pcap").unwrap();
        assert_eq!((found.interface.as_str(), found.direction, found.snap), ("eth0", Direction::Both, 96));
        let all = "eth0 --direction out --file a --snap 2000 --ring 1 --cpu 1 --until -5 --hardware";
        let found = read(all).unwrap();
        assert_eq!((found.direction, found.snap, found.ring_octets), (Direction::Out, 2000, 1 << 20));
        assert_eq!((found.cpu, found.until_ns, found.hardware), (Some(1), Some(-5), true));
        for bad in [
            "",
            "--file a",
            "eth0",
            "eth0 --file",
            "eth0 eth1 --file a",
            "eth0 --file a --direction up",
            "eth0 --file a --snap 13",
            "eth0 --file a --snap 65537",
            "eth0 --file a --ring 0",
            "eth0 --file a --ring 2049",
            "eth0 --file a --ring 99999999999999999999",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
