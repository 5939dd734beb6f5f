//! The command line of `probe`.

use super::frame::Id;
use crate::Error;
use crate::arguments::{duration, number};

const USAGE: &str = "expected probe send INTERFACE ID [--count N] or probe listen INTERFACE… [--for TIME]";
/// Probes that are sent by default: one of them may be lost.
const COUNT: u32 = 3;
const MOST_COUNT: u32 = 1000;
const FOR_NS: i64 = 2_000_000_000;

/// The command line of `probe`, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arguments {
    /// Send probes.
    Send {
        /// The interface that sends.
        interface: String,
        /// The text of the probes.
        id: Id,
        /// Number of probes.
        count: u32,
    },
    /// Receive probes.
    Listen {
        /// The interfaces that receive.
        interfaces: Vec<String>,
        /// How long to receive.
        for_ns: i64,
    },
}

impl Arguments {
    /// Reads `send INTERFACE ID …` or `listen INTERFACE… …`.
    pub fn read(mut words: impl Iterator<Item = String>) -> Result<Self, Error> {
        let usage = || Error::Usage(USAGE.into());
        let task = words.next().ok_or_else(usage)?;
        let (mut named, mut count, mut for_ns) = (Vec::new(), None, None);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--count" => count = Some(number(&word, &words.next().ok_or_else(usage)?)?),
                "--for" => for_ns = Some(duration(&word, &words.next().ok_or_else(usage)?)?),
                option if option.starts_with('-') || option.is_empty() => return Err(usage()),
                _ => named.push(word),
            }
        }
        match (task.as_str(), named.as_slice(), count, for_ns) {
            ("send", [interface, id], count, None) => {
                let count = count.unwrap_or(COUNT);
                if !(1..=MOST_COUNT).contains(&count) {
                    return Err(Error::Usage(format!("--count: expected 1 to {MOST_COUNT}, found {count}")));
                }
                let wrong = |why| Error::Usage(format!("{id}: {why}"));
                Ok(Self::Send { interface: interface.clone(), id: id.parse().map_err(wrong)?, count })
            }
            ("listen", [_, ..], None, for_ns) => {
                Ok(Self::Listen { interfaces: named, for_ns: for_ns.unwrap_or(FOR_NS) })
            }
            _ => Err(usage()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line() {
        let read = |text: &str| Arguments::read(text.split_whitespace().map(str::to_owned));
        let id = |text: &str| text.parse::<Id>().unwrap();
        for (text, expected) in [
            ("send eth0 a:1", Arguments::Send { interface: "eth0".into(), id: id("a:1"), count: 3 }),
            ("send eth0 a --count 7", Arguments::Send { interface: "eth0".into(), id: id("a"), count: 7 }),
            (
                "listen eth0 eth1 --for 300ms",
                Arguments::Listen { interfaces: vec!["eth0".into(), "eth1".into()], for_ns: 300_000_000 },
            ),
            ("listen eth0", Arguments::Listen { interfaces: vec!["eth0".into()], for_ns: FOR_NS }),
        ] {
            assert_eq!(read(text).unwrap(), expected, "{text}");
        }
        for bad in [
            "",
            "send",
            "send eth0",
            "send eth0 a b",
            "send eth0 a/b",
            "send eth0 a --count 0",
            "send eth0 a --count 1001",
            "send eth0 a --for 2s",
            "listen",
            "listen eth0 --for 2",
            "listen eth0 --for",
            "listen eth0 --count 2",
            "shout eth0 a",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
