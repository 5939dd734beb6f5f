//! Checks of a Plan that differs little from one that was checked.

use crate::check::{Check, ensure};
use crate::{Plan, Stream};
use std::collections::HashSet;

impl Plan {
    /// The check of [`Plan::check`] if all but the gates of these ports, these streams, the taps, and streams that left
    /// is as in a Plan that was checked.
    ///
    /// # Errors
    /// As [`Plan::check`].
    pub fn check_beside(&self, ports: &[usize], streams: &[usize]) -> Check {
        // Other streams do not depend on each other, nor on gates.
        let alone = |own: &Stream| own.answers.is_none() && own.redundancy.is_none() && own.flood.is_empty();
        let plain = self.faults.is_empty() && self.policing.is_empty() && self.clocks.is_none();
        let simple = self.nodes.iter().all(|node| node.host.is_none() && node.further.is_none());
        if !plain || !simple || !self.streams.iter().all(alone) {
            return self.check();
        }
        for number in ports {
            self.check_port(*number, &self.ports[*number])?;
        }
        let mut names: HashSet<&str> = HashSet::new();
        for number in streams {
            let stream = &self.streams[*number];
            self.check_stream(*number, stream)?;
            let again = || format!("{:?} is used twice", stream.name);
            ensure(names.insert(&stream.name), || format!("streams[{number}].name"), again)?;
        }
        let same = |own: &Stream| names.contains(own.name.as_str());
        if self.streams.iter().filter(|own| same(own)).count() > names.len() {
            return self.check();
        }
        self.check_taps()
    }
}

#[cfg(test)]
mod tests {
    use crate::Plan;
    use crate::check::broken::plan;

    #[test]
    fn what_differs_is_checked_as_everything_is() {
        let right: Plan = serde_json::from_value(plan()).unwrap();
        right.check_beside(&[], &[0]).unwrap();
        let both = |wrong: &Plan, ports: &[usize], streams: &[usize]| {
            let found = wrong.check_beside(ports, streams).unwrap_err().to_string();
            assert_eq!(found, wrong.check().unwrap_err().to_string());
        };
        let mut wrong = right.clone();
        wrong.streams.push(wrong.streams[0].clone());
        both(&wrong, &[], &[wrong.streams.len() - 1]);
        let mut wrong = right.clone();
        wrong.streams[0].pcp = 9;
        both(&wrong, &[], &[0]);
        let mut wrong = right.clone();
        wrong.taps[0].port = 99;
        both(&wrong, &[], &[]);
        let mut wrong = right;
        wrong.ports[0].rate_bps = 1;
        both(&wrong, &[0], &[]);
    }
}
