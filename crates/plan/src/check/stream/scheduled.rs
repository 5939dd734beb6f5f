//! Checks of the times that were planned for a stream.

use crate::check::{Check, ensure, time};
use crate::{Pattern, Plan, Stream};

impl Plan {
    pub(crate) fn check_scheduled(&self, stream: &Stream, path: impl Fn(&str) -> String) -> Check {
        let Some(own) = &stream.scheduled else { return Ok(()) };
        let path = |field: &str| path(&format!("scheduled.{field}"));
        ensure(
            matches!(stream.pattern, Pattern::Periodic { .. }),
            || path("starts_ps"),
            || "only periodic streams can be scheduled".into(),
        )?;
        ensure(
            !stream.any_phase,
            || path("starts_ps"),
            || "a stream that begins at any phase has none".into(),
        )?;
        let (known, entries) = (own.starts_ps.len(), stream.route.len());
        ensure(
            known == entries,
            || path("starts_ps"),
            || format!("{known} times for {entries} route entries"),
        )?;
        time(own.margin_ps / 1_000, || path("margin_ps"))?;
        for (place, entry) in own.behind.iter().enumerate() {
            ensure(
                (*entry as usize) < entries && own.behind[..place].iter().all(|before| before < entry),
                || path(&format!("behind[{place}]")),
                || format!("entries of the route, ascending; it has {entries}"),
            )?;
        }
        for (entry, starts) in own.starts_ps.iter().enumerate() {
            let path = || path(&format!("starts_ps[{entry}]"));
            ensure((1..=16).contains(&starts.len()), path, || "not 1 to 16 times".into())?;
            starts.iter().try_for_each(|ps| time(ps / 1_000, path))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::check::broken::{refuses, with};
    use serde_json::json;

    #[test]
    fn scheduled_times_are_checked() {
        let holds = with(&[(
            "/streams/0/scheduled",
            json!({"starts_ps": [[0], [5]], "margin_ps": 1, "behind": [0, 1]}),
        )]);
        refuses(
            &holds,
            &[
                (
                    "/streams/0/pattern",
                    json!({"kind": "poisson", "mean_interval_ps": 5_000}),
                    "streams[0].scheduled.starts_ps: only periodic streams can be scheduled",
                ),
                (
                    "/streams/0/any_phase",
                    json!(true),
                    "streams[0].scheduled.starts_ps: a stream that begins at any phase has none",
                ),
                (
                    "/streams/0/scheduled/starts_ps",
                    json!([[0]]),
                    "streams[0].scheduled.starts_ps: 1 times for 2 route entries",
                ),
                (
                    "/streams/0/scheduled/starts_ps/1",
                    json!([]),
                    "streams[0].scheduled.starts_ps[1]: not 1 to 16 times",
                ),
                (
                    "/streams/0/scheduled/starts_ps/1",
                    json!([864_000_000_000_001_000_u64]),
                    "streams[0].scheduled.starts_ps[1]: 864000000000001 ns is more than ten days",
                ),
                (
                    "/streams/0/scheduled/margin_ps",
                    json!(864_000_000_000_001_000_u64),
                    "streams[0].scheduled.margin_ps: 864000000000001 ns is more than ten days",
                ),
                (
                    "/streams/0/scheduled/behind",
                    json!([1, 0]),
                    "streams[0].scheduled.behind[1]: entries of the route, ascending; it has 2",
                ),
                (
                    "/streams/0/scheduled/behind",
                    json!([2]),
                    "streams[0].scheduled.behind[0]: entries of the route, ascending; it has 2",
                ),
            ],
        );
    }
}
