//! Checks of a Plan that differs little from one that was checked.

use crate::Plan;
use crate::check::Check;

impl Plan {
    /// The check of [`Plan::check`] if all but the gates of these ports, these streams, the taps, and streams that left
    /// is as in a Plan that was checked. `alone`: whether no stream answers another one, has several paths, or floods;
    /// `is_unique`: whether one stream alone has a name.
    ///
    /// # Errors
    /// As [`Plan::check`].
    pub fn check_beside(
        &self,
        ports: &[usize],
        streams: &[usize],
        alone: bool,
        is_unique: impl Fn(&str) -> bool,
    ) -> Check {
        // Other streams do not depend on each other, nor on gates.
        let plain = self.faults.is_empty() && self.policing.is_empty() && self.clocks.is_none();
        let simple = self.nodes.iter().all(|node| node.host.is_none() && node.further.is_none());
        let names = streams.iter().all(|number| is_unique(&self.streams[*number].name));
        if !plain || !simple || !alone || !names {
            return self.check();
        }
        for number in ports {
            self.check_port(*number, &self.ports[*number])?;
        }
        for number in streams {
            self.check_stream(*number, &self.streams[*number])?;
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
        let unique =
            |plan: &Plan, name: &str| plan.streams.iter().filter(|own| own.name == name).count() == 1;
        right.check_beside(&[], &[0], true, |name| unique(&right, name)).unwrap();
        let both = |wrong: &Plan, ports: &[usize], streams: &[usize]| {
            let found = wrong.check_beside(ports, streams, true, |name| unique(wrong, name));
            let found = found.unwrap_err().to_string();
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
