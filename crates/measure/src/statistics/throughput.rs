//! The rate of the frames that pass a tap.

/// The octets that passed a tap, and the time in which they passed.
#[derive(Copy, Clone, Debug, Default)]
pub struct Throughput {
    first: Option<(i64, u32)>,
    last_ns: i64,
    octets: u64,
}

impl Throughput {
    /// Adds a frame that passed the tap; without a stamp, only its octets.
    #[inline]
    pub(crate) fn pass(&mut self, t_ns: Option<i64>, octets: u32) {
        self.octets += u64::from(octets);
        let Some(stamp) = t_ns else { return };
        match self.first {
            None => (self.first, self.last_ns) = (Some((stamp, octets)), stamp),
            Some(_) => self.last_ns = self.last_ns.max(stamp),
        }
    }

    /// Bit/s of frames (destination address to FCS): all octets after the first frame, over the time from its
    /// timestamp to the last one.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "the last step")]
    pub fn rate_bps(&self) -> Option<f64> {
        let (stamp, octets) = self.first?;
        let span = self.last_ns.checked_sub(stamp).filter(|span| *span > 0)?;
        Some((self.octets - u64::from(octets)) as f64 * 8e9 / span as f64)
    }

    /// Adds so many times what `next` has more: the same run with one period more.
    pub(crate) fn extrapolate(&mut self, next: &Self, times: u64) {
        self.octets += next.octets.saturating_sub(self.octets).saturating_mul(times);
        let later = next.last_ns.saturating_sub(self.last_ns);
        self.last_ns =
            self.last_ns.saturating_add(later.saturating_mul(i64::try_from(times).unwrap_or(i64::MAX)));
    }

    /// Adds the frames at another tap.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.octets += other.octets;
        self.last_ns = match (self.first, other.first) {
            (Some(_), Some(_)) => self.last_ns.max(other.last_ns),
            (None, _) => other.last_ns,
            (_, None) => self.last_ns,
        };
        self.first = [self.first, other.first].into_iter().flatten().min();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(passed: &[(Option<i64>, u32)]) -> Throughput {
        let mut flow = Throughput::default();
        for (t_ns, octets) in passed {
            flow.pass(*t_ns, *octets);
        }
        flow
    }

    /// The rate counts the frames after the first one: the octets of the first frame came before its timestamp.
    #[test]
    fn a_rate_is_of_what_came_after_the_first_frame() {
        // 1,000 and 500 octets, 12,000 bit, in 12 us.
        assert_eq!(
            flow(&[(Some(7_000), 64), (Some(15_000), 1_000), (Some(19_000), 500)]).rate_bps(),
            Some(1e9)
        );
        // With another order of arrival, the span ends with the latest timestamp.
        assert_eq!(
            flow(&[(Some(7_000), 64), (Some(19_000), 1_000), (Some(15_000), 500)]).rate_bps(),
            Some(1e9)
        );
        assert_eq!(flow(&[(Some(7_000), 64)]).rate_bps(), None, "one frame has no rate");
        assert_eq!(
            flow(&[(Some(7_000), 64), (Some(7_000), 64)]).rate_bps(),
            None,
            "nor have two at one instant"
        );
        assert_eq!(flow(&[(None, 64), (None, 64)]).rate_bps(), None, "nor have frames without stamps");
    }

    #[test]
    fn a_rate_of_two_flows_is_of_what_came_after_the_first_frame_of_both() {
        let one = [(Some(1_000), 100), (Some(5_000), 400)];
        let other = [(Some(2_000), 300), (Some(9_000), 500)];
        for (first, second) in [(one, other), (other, one)] {
            let mut both = flow(&first);
            both.merge(&flow(&second));
            // 400, 300 and 500 octets, 9,600 bit, in 8 us.
            assert_eq!(both.rate_bps(), Some(1.2e9));
        }
        // A flow without a timestamp changes no time.
        let mut both = flow(&one);
        both.merge(&Throughput::default());
        assert_eq!(both.rate_bps(), Some(8e8));
        let mut both = Throughput::default();
        both.merge(&flow(&one));
        assert_eq!(both.rate_bps(), Some(8e8));
    }
}
