//! The command line.

use crate::Error;
use std::path::PathBuf;

/// What to send, where and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// The Plan's file.
    pub plan: PathBuf,
    /// The talkers' node.
    pub node: u32,
    /// The Plan's zero on TAI.
    pub epoch_ns: i64,
    /// How many ns pass for one of the Plan.
    pub dilate: i64,
    /// Port of the Plan, and its interface.
    pub ports: Vec<(u32, String)>,
    /// Where to write what was sent.
    pub log: PathBuf,
}

impl Arguments {
    /// Reads `talk PLAN --node N …`.
    pub fn read(words: impl Iterator<Item = String>) -> Result<Self, Error> {
        let mut words = words;
        let usage = || {
            Error::Usage(
                "expected talk PLAN --node N --epoch NS [--dilate D] --port N=INTERFACE… --log FILE".into(),
            )
        };
        if words.next().as_deref() != Some("talk") {
            return Err(usage());
        }
        let plan = words.next().ok_or_else(usage)?.into();
        let (mut node, mut epoch_ns, mut dilate, mut ports, mut log) = (None, None, 1, Vec::new(), None);
        while let Some(option) = words.next() {
            let value = words.next().ok_or_else(usage)?;
            let number =
                || value.parse::<i64>().map_err(|_| Error::Usage(format!("{option}: expected a number")));
            match option.as_str() {
                "--node" => node = Some(value.parse().map_err(|_| usage())?),
                "--epoch" => epoch_ns = Some(number()?),
                "--dilate" => dilate = number()?.max(1),
                "--port" => {
                    let (port, interface) = value.split_once('=').ok_or_else(usage)?;
                    ports.push((port.parse().map_err(|_| usage())?, interface.to_owned()));
                }
                "--log" => log = Some(value.into()),
                _ => return Err(usage()),
            }
        }
        let (Some(node), Some(epoch_ns), Some(log)) = (node, epoch_ns, log) else { return Err(usage()) };
        Ok(Self { plan, node, epoch_ns, dilate, ports, log })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Arguments> {
        Arguments::read(text.split_whitespace().map(str::to_owned)).ok()
    }

    #[test]
    fn what_is_missing_or_strange_is_refused() {
        let good = "talk plan.json --node 2 --epoch 5 --dilate 10 --port 0=p0 --port 3=p3 --log out";
        let found = read(good).unwrap();
        assert_eq!((found.node, found.epoch_ns, found.dilate), (2, 5, 10));
        assert_eq!(found.ports, [(0, "p0".to_owned()), (3, "p3".to_owned())]);
        for bad in ["", "listen", "talk", "talk p --node x --epoch 1 --log l", "talk p --node 1 --log l"] {
            assert!(read(bad).is_none(), "{bad}");
        }
        for (old, new) in [("--port 0=p0", "--port p0"), ("--epoch 5", "--when 5"), ("out", "")] {
            assert!(read(&good.replace(old, new)).is_none(), "{new}");
        }
    }
}
