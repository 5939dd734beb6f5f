//! One frame of a path: where it was observed, and its stamps.

/// One frame of a path, with the stamps of its sightings.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Where the frame was sighted, and which stamps exist.
    pub flags: FrameFlags,
    /// The last tap that sighted the frame, as its position on the path.
    pub last_tap: u8,
    /// Octets from destination address to FCS.
    pub octets: u32,
    /// Stamp of handing over to the talker's queue.
    send_ns: i64,
    /// Stamp at the first tap.
    tx_ns: i64,
    /// Stamp at the last tap.
    rx_ns: i64,
}

/// The set of taps that sighted a frame, and of its stamps that exist.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameFlags(u8);

impl FrameFlags {
    /// Sighted at the first tap.
    pub const TX: Self = Self(1);
    /// Sighted at the last tap.
    pub const RX: Self = Self(2);
    /// Not a frame: the number is in the frame before it, too.
    pub const COVERED: Self = Self(32);
    const TX_STAMP: Self = Self(4);
    const RX_STAMP: Self = Self(8);
    const SEND_STAMP: Self = Self(16);

    /// Whether this set contains all of `other`.
    #[must_use]
    #[inline]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The union of both sets.
    #[must_use]
    #[inline]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn set(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl Frame {
    /// The stamp at the first tap.
    #[must_use]
    #[inline]
    pub fn tx(&self) -> Option<i64> {
        self.flags.has(FrameFlags::TX_STAMP).then_some(self.tx_ns)
    }

    /// The stamp at the last tap.
    #[must_use]
    #[inline]
    pub fn rx(&self) -> Option<i64> {
        self.flags.has(FrameFlags::RX_STAMP).then_some(self.rx_ns)
    }

    /// The stamp of handing over to the talker's queue.
    #[must_use]
    pub fn send(&self) -> Option<i64> {
        self.flags.has(FrameFlags::SEND_STAMP).then_some(self.send_ns)
    }

    /// This frame so many ns later.
    pub(crate) fn later(&self, ns: i64) -> Self {
        let later = |at: i64| at.saturating_add(ns);
        Self { send_ns: later(self.send_ns), tx_ns: later(self.tx_ns), rx_ns: later(self.rx_ns), ..*self }
    }

    /// Records that an earlier frame has this number, too.
    pub(crate) fn cover(&mut self) {
        self.flags.set(FrameFlags::COVERED);
    }

    /// Records the sighting at the first tap.
    #[inline]
    pub fn observe_tx(&mut self, t_ns: Option<i64>, octets: u32) {
        self.flags.set(FrameFlags::TX);
        self.octets = octets;
        if let Some(stamp) = t_ns {
            self.flags.set(FrameFlags::TX_STAMP);
            self.tx_ns = stamp;
        }
    }

    /// Records the sighting at the last tap.
    #[inline]
    pub fn observe_rx(&mut self, t_ns: Option<i64>, octets: u32) {
        self.flags.set(FrameFlags::RX);
        if !self.flags.has(FrameFlags::TX) {
            self.octets = octets;
        }
        if let Some(stamp) = t_ns {
            self.flags.set(FrameFlags::RX_STAMP);
            self.rx_ns = stamp;
        }
    }

    /// Records when the frame was handed over to the talker's queue.
    pub fn observe_send(&mut self, t_ns: Option<i64>) {
        if let Some(stamp) = t_ns {
            self.flags.set(FrameFlags::SEND_STAMP);
            self.send_ns = stamp;
        }
    }

    /// `t_rx − t_tx − offset`, where both stamps exist.
    #[must_use]
    #[inline]
    pub fn delay(&self, offset_ns: i64) -> Option<i64> {
        const BOTH: FrameFlags = FrameFlags::TX_STAMP.and(FrameFlags::RX_STAMP);
        if self.flags.has(BOTH) { self.rx_ns.checked_sub(self.tx_ns)?.checked_sub(offset_ns) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame that the first tap has not sighted has its octets from the last one.
    #[test]
    fn octets_are_those_of_the_first_tap() {
        let mut frame = Frame::default();
        frame.observe_rx(Some(5), 104);
        assert_eq!((frame.octets, frame.tx(), frame.rx(), frame.send()), (104, None, Some(5), None));
        let mut frame = Frame::default();
        frame.observe_send(Some(950));
        frame.observe_tx(Some(1_000), 100);
        frame.observe_rx(Some(1_001), 104);
        assert_eq!(
            (frame.octets, frame.tx(), frame.rx(), frame.send()),
            (100, Some(1_000), Some(1_001), Some(950))
        );
        assert_eq!(frame.delay(0), Some(1));
        let mut unstamped = Frame::default();
        unstamped.observe_tx(None, 64);
        unstamped.observe_rx(Some(5), 64);
        unstamped.observe_send(None);
        assert_eq!((unstamped.delay(0), unstamped.tx(), unstamped.send()), (None, None, None));
    }
}
