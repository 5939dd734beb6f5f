//! What must hold of the times that were planned for a stream.

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
