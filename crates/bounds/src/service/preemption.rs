//! Frames that interrupt others: how long an express frame waits for a preemptable one, and what interrupting costs.
//!
//! IEEE 802.3-2022, 99.4; IEEE 802.1Q-2022, 6.7.2; Thiele & Ernst 2016. The derivations are in `docs/concepts/bounds.md`.

use crate::curve::deviation::Rises;
use crate::curve::{BIT, Curve, Data, Ps, Rate, time_of};
use crate::model::sizes::wire;
use tsn_plan::Preemption;
use tsn_units::INTER_FRAME_GAP;

/// The longest frame, or rest of one, that cannot be cut in two mPackets of 64 octets. OCORA 3.2.2.
const UNCUT: u32 = 123;
/// Additional octets of a frame for each interruption: preamble and delimiter, mCRC, inter-frame gap.
pub(crate) const CONTINUATION: Data = 24 * 8 * BIT;

/// Whether frames of a class are never interrupted.
pub(crate) fn is_express(preemption: Option<&Preemption>, class: u8) -> bool {
    preemption.is_none_or(|own| own.express >> class & 1 == 1)
}

/// The longest part of a preemptable frame that an express one waits for.
pub(crate) fn uncut(octets: u32) -> u32 {
    octets.min(UNCUT)
}

pub(crate) fn can_be_cut(octets: u32) -> bool {
    octets > UNCUT
}

/// The cost of express frames for interrupted ones: every frame, of at least `smallest` octets, cuts another one.
pub(crate) fn with_continuations(express: &Curve, smallest: u32) -> Curve {
    express.add(&continuations(express, smallest))
}

/// The octets that the interruptions of frames cost, if every frame of `express`, of at least `smallest` octets, causes
/// one.
pub(crate) fn continuations(express: &Curve, smallest: u32) -> Curve {
    express.part(CONTINUATION / BIT, wire(smallest) / BIT)
}

/// Time from the start of a preemptable frame to the departure of its last bit, on a link of `rate` of which express
/// frames use at most `express`; none if they may use all of it.
pub(crate) fn until_last_bit(octets: u32, rate: Rate, express: &Curve) -> Option<Ps> {
    let own = wire(octets) - gap();
    if !can_be_cut(octets) {
        return time_of(own, rate);
    }
    Rises::of(&Curve::affine(0, rate).sub(express)).after(own)
}

/// The inter-frame gap as data.
pub(crate) fn gap() -> Data {
    Data::from(INTER_FRAME_GAP.0) * 8 * BIT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_express_frame_costs_24_octets_more() {
        let express = Curve::affine(3 * wire(64), 84 * 8_000);
        let found = with_continuations(&express, 64);
        assert_eq!(found.value(0), 3 * (wire(64) + 24 * 8 * BIT));
        assert_eq!(found.tail().slope, 108 * 8_000);
    }

    #[test]
    fn a_short_frame_is_not_interrupted() {
        let express = Curve::affine(wire(1_000), 0);
        let alone = |octets: i64| (octets + 8) * 8_000;
        assert_eq!(until_last_bit(123, 1_000_000_000, &express), Some(alone(123)));
        assert_eq!(until_last_bit(124, 1_000_000_000, &express), Some(alone(124) + 1_020 * 8_000));
    }
}
