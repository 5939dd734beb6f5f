//! The frames of one data unit.

use tsn_plan::Size;

/// Smallest frame; shorter ones are padded. IEEE 802.3-2022, 4.2.3.3.
const SMALLEST_FRAME: u32 = 64;

/// Octets of each frame, from destination address to FCS; `None` if they differ from period to period.
pub(crate) fn frames(size: &Size) -> Option<Vec<u32>> {
    let same =
        |octets: &[u32]| octets.first().copied().filter(|first| octets.iter().all(|other| other == first));
    match size {
        Size::Frame { octets } => Some(vec![*octets]),
        Size::List { octets } => Some(vec![same(octets)?]),
        Size::Units { octets, most_per_frame, overhead } => {
            let mut left = same(octets)?;
            let mut frames = Vec::new();
            loop {
                let part = left.min(*most_per_frame);
                frames.push(part.saturating_add(*overhead).max(SMALLEST_FRAME));
                left -= part;
                // A data unit without octets is still a frame.
                if left == 0 || part == 0 {
                    return Some(frames);
                }
            }
        }
    }
}
