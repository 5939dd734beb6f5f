//! Sizes of a stream's data units on the wire.
//!
//! IEEE 802.3-2022, 3.2.7 and 4.4.2: preamble, delimiter, frame and inter-frame gap.

use crate::curve::{BIT, Data, Ps, common_divisor};
use tsn_plan::{Port, Size};
use tsn_units::{BitRate, Octets, PHY_OVERHEAD, PREAMBLE, START_FRAME_DELIMITER};

/// Smallest frame; shorter ones are padded. IEEE 802.3-2022, 4.2.3.3.
const SMALLEST_FRAME: u32 = 64;

/// Octets of a frame that do not belong to its service data unit: header, VLAN tag and FCS.
pub(crate) const AROUND_SDU: u32 = 22;

/// Frames of one stream, in octets from destination address to FCS, and its largest data unit.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub smallest: u32,
    pub largest: u32,
    /// Greatest size of a data unit on the wire.
    pub unit: Data,
    /// Every frame's wire octets are a multiple of this.
    pub grain: u32,
}

/// The size of a frame on any wire, from preamble to inter-frame gap.
pub(crate) fn wire(octets: u32) -> Data {
    Data::from(u64::from(octets) + u64::from(PHY_OVERHEAD.0)) * 8 * BIT
}

/// Time from the first bit of the preamble to the last bit of the FCS.
pub(crate) fn until_last_bit(octets: u32, port: &Port) -> Ps {
    let octets = Octets(octets.saturating_add(PREAMBLE.0 + START_FRAME_DELIMITER.0));
    BitRate(port.rate_bps).time(octets).ps()
}

/// Time from the first bit of the preamble to the message timestamp point.
pub(crate) fn until_timestamp_point(port: &Port) -> Ps {
    until_last_bit(0, port)
}

impl Sizes {
    /// `tag`: octets that a tag adds to every frame, padding included.
    pub fn of(size: &Size, tag: u32) -> Self {
        match size {
            Size::Frame { octets } => {
                let octets = octets.saturating_add(tag);
                let grain = octets.saturating_add(PHY_OVERHEAD.0);
                Self { smallest: octets, largest: octets, unit: wire(octets), grain }
            }
            Size::List { octets } => {
                let all = || octets.iter().map(|octets| octets.saturating_add(tag));
                let most = all().max().unwrap_or(SMALLEST_FRAME);
                Self {
                    smallest: all().min().unwrap_or(SMALLEST_FRAME),
                    largest: most,
                    unit: wire(most),
                    grain: all().fold(0, |grain, octets| {
                        common_divisor(grain, octets.saturating_add(PHY_OVERHEAD.0))
                    }),
                }
            }
            Size::Units { octets, most_per_frame, overhead } => {
                Self::of_units(octets, *most_per_frame, *overhead, tag)
            }
        }
    }

    fn of_units(octets: &[u32], most_per_frame: u32, overhead: u32, tag: u32) -> Self {
        let most = most_per_frame.max(1);
        let frame = |application: u32| application.saturating_add(overhead).max(SMALLEST_FRAME) + tag;
        let mut sizes = Self { smallest: u32::MAX, largest: 0, unit: 0, grain: 0 };
        let mut take = |octets: u32| {
            sizes.smallest = sizes.smallest.min(octets);
            sizes.largest = sizes.largest.max(octets);
            sizes.grain = common_divisor(sizes.grain, octets.saturating_add(PHY_OVERHEAD.0));
        };
        for unit in octets {
            // An empty unit is still one frame.
            let full = unit.saturating_sub(1) / most;
            let last = unit - full * most;
            if full > 0 {
                take(frame(most));
            }
            take(frame(last));
            sizes.unit = sizes.unit.max(Data::from(full) * wire(frame(most)) + wire(frame(last)));
        }
        sizes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_cut_as_talkers_cut_them() {
        let units = |octets: &[u32]| {
            Sizes::of(&Size::Units { octets: octets.to_vec(), most_per_frame: 1000, overhead: 46 }, 0)
        };
        let bits = |octets: &[u32]| octets.iter().map(|octets| wire(*octets)).sum::<Data>();
        for (octets, smallest, largest, frames) in [
            (0, 64, 64, vec![64]),
            (1000, 1046, 1046, vec![1046]),
            (1001, 64, 1046, vec![1046, 64]),
            (2500, 546, 1046, vec![1046, 1046, 546]),
        ] {
            let found = units(&[octets]);
            assert_eq!((found.smallest, found.largest), (smallest, largest), "{octets}");
            assert_eq!(found.unit, bits(&frames), "{octets}");
        }
        // A padded frame keeps its padding under a tag.
        let tagged = Sizes::of(&Size::Units { octets: vec![0, 1001], most_per_frame: 1000, overhead: 46 }, 6);
        assert_eq!((tagged.smallest, tagged.largest), (70, 1_052));
        assert_eq!(tagged.unit, wire(1_052) + wire(70));
        let listed = Sizes::of(&Size::List { octets: vec![100, 64] }, 6);
        assert_eq!((listed.smallest, listed.largest, listed.unit), (70, 106, wire(106)));
        assert_eq!(units(&[1000, 2000]).grain, 1066);
        assert_eq!(units(&[1000, 500]).grain, 2);
    }
}
