//! Checks of talkers that conform to a token bucket.

use crate::check::{Check, ensure, time};
use crate::{Plan, Stream};

/// Most octets of a burst.
const LARGEST_BURST: u64 = 1 << 32;

impl Plan {
    /// The bucket must hold a frame of the one size that the stream has, and gain it in reasonable time.
    pub(crate) fn check_token_bucket(
        stream: &Stream,
        burst_octets: u64,
        rate_bps: u64,
        path: &impl Fn(&str) -> String,
    ) -> Check {
        ensure(
            (1..=1_000_000_000_000).contains(&rate_bps),
            || path("pattern.rate_bps"),
            || format!("{rate_bps} is not between 1 and 10^12 bit/s"),
        )?;
        ensure(
            burst_octets <= LARGEST_BURST,
            || path("pattern.burst_octets"),
            || format!("{burst_octets} is more than {LARGEST_BURST}"),
        )?;
        let bucket = stream.token_bucket();
        ensure(bucket.is_some(), || path("size"), || "a token bucket needs frames of one size".into())?;
        let Some(bucket) = bucket else { return Ok(()) };
        ensure(
            bucket.earliest_ps(0) == 0,
            || path("pattern.burst_octets"),
            || format!("{burst_octets} octets hold no frame on the link, with 20 octets around it"),
        )?;
        time(bucket.period_ps().unsigned_abs() / 1_000, || path("pattern.rate_bps"))
    }
}

#[cfg(test)]
mod tests {
    use crate::check::broken::{refuses, with};
    use serde_json::json;

    #[test]
    fn token_buckets_are_checked() {
        let bucket =
            |burst: u64, rate: u64| json!({"kind": "token-bucket", "burst_octets": burst, "rate_bps": rate});
        let holds = with(&[
            ("/streams/0/pattern", bucket(1_000, 1_000_000)),
            ("/streams/0/size", json!({"kind": "frame", "octets": 980})),
        ]);
        refuses(
            &holds,
            &[
                (
                    "/streams/0/pattern",
                    bucket(999, 1_000),
                    "streams[0].pattern.burst_octets: 999 octets hold no frame on the link, with 20 octets around it",
                ),
                (
                    "/streams/0/pattern",
                    bucket(1_000, 0),
                    "streams[0].pattern.rate_bps: 0 is not between 1 and 10^12 bit/s",
                ),
                (
                    "/streams/0/pattern",
                    bucket(4_294_967_297, 1),
                    "streams[0].pattern.burst_octets: 4294967297 is more than 4294967296",
                ),
                (
                    "/streams/0/size",
                    json!({"kind": "list", "octets": [64, 128]}),
                    "streams[0].size: a token bucket needs frames of one size",
                ),
            ],
        );
    }
}
