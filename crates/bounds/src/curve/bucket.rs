//! Token buckets around curves.

use crate::curve::{Curve, Data, Ps, Rate};

impl Curve {
    /// The token bucket around the curve: burst and rate.
    pub fn bucket(&self) -> (Data, Rate) {
        let slope = self.tail().slope;
        (self.above(slope), slope)
    }

    /// How far the curve is above a line from 0 on whose slope is not below that of the tail.
    pub fn above(&self, slope: Rate) -> Data {
        let above = |at: Ps, value: Data| value - Data::from(slope) * Data::from(at);
        let burst = self
            .spans()
            .flat_map(|(s, end)| [Some(above(s.at, s.value)), end.map(|end| above(end, s.value_at(end)))])
            .flatten()
            .max();
        burst.unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::Segment;

    /// 30 at 10 are 20 more than 1 per ps until then; no other point is higher above that.
    #[test]
    fn the_token_bucket_around_a_curve_touches_its_highest_point() {
        let segment = |at, value, slope| Segment { at, value, slope };
        let curve = Curve::of(vec![segment(0, 1, 0), segment(10, 30, 0), segment(20, 32, 1)]);
        assert_eq!(curve.bucket(), (20, 1));
        // In a segment that rises faster, the end touches the bucket.
        let steep = Curve::of(vec![segment(0, 0, 5), segment(10, 40, 1)]);
        assert_eq!(steep.bucket(), (40, 1));
    }
}
