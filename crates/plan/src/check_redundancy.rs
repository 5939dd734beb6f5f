//! What must hold of streams with more than one way.

use crate::check::{Check, ensure, index, time};
use crate::{Algorithm, Pattern, Plan, Redundancy, Stream};

/// Most ways that may meet.
const MOST_WAYS: usize = 16;
/// Shortest period of a timer: the standard's are in ms.
const SHORTEST_TIMER_NS: u64 = 1_000_000;
/// Sequence numbers of an R-TAG. IEEE 802.1CB-2017, 7.4.3.2.
const SEQUENCE_SPACE: u32 = 1 << 16;

impl Plan {
    pub(crate) fn check_redundancy(
        &self,
        stream: &Stream,
        redundancy: &Redundancy,
        path: impl Fn(&str) -> String,
    ) -> Check {
        let entries = stream.route.len();
        let path = |field: &str| path(&format!("redundancy.{field}"));
        let Redundancy { copies, merges, active, recovery } = redundancy;
        ensure(
            copies.is_empty() || copies.len() == entries,
            || path("copies"),
            || format!("{} copies of {entries} route entries", copies.len()),
        )?;
        let most = *copies.iter().max().unwrap_or(&0);
        ensure(usize::from(most) <= MOST_WAYS, || path("copies"), || format!("more than {MOST_WAYS}"))?;
        let end = |entry: u32| {
            self.ports[self.ports[stream.route[entry as usize].port as usize].peer as usize].node
        };
        let mut merged = std::collections::HashSet::new();
        for (number, merge) in merges.iter().enumerate() {
            let path = || path(&format!("merges[{number}].from"));
            let ways = merge.from.len();
            ensure((2..=MOST_WAYS).contains(&ways), path, || format!("{ways} ways, not 2 to {MOST_WAYS}"))?;
            for (place, entry) in merge.from.iter().enumerate() {
                index(*entry, entries, path)?;
                ensure(merged.insert(*entry), path, || "an entry meets others twice".into())?;
                ensure(end(*entry) == end(merge.from[0]), path, || "they end at different nodes".into())?;
                let goes_on = stream.route.iter().any(|hop| hop.parent == Some(*entry))
                    || stream.listeners.iter().any(|listener| listener.route == *entry);
                ensure(goes_on == (place == 0), path, || {
                    "what follows must follow the first one, and only it".into()
                })?;
            }
        }
        for (number, one) in active.iter().enumerate() {
            let path = |field: &str| path(&format!("active[{number}].{field}"));
            index(one.route, entries, || path("route"))?;
            let at_talker = stream.route[one.route as usize].parent.is_none();
            let saturating = matches!(stream.pattern, Pattern::Saturating { .. });
            ensure(
                !(at_talker && saturating),
                || path("route"),
                || "a saturating talker's own port cannot stand by".into(),
            )?;
            let mut last = 0;
            for span in &one.spans {
                let holds = span.from_ns < span.until_ns && span.from_ns >= last;
                ensure(holds, || path("spans"), || "not ascending and apart".into())?;
                last = span.until_ns;
            }
        }
        let Some(recovery) = recovery else { return Ok(()) };
        time(recovery.reset_ns, || path("recovery.reset_ns"))?;
        ensure(recovery.reset_ns > 0, || path("recovery.reset_ns"), || "must be more than 0".into())?;
        if let Algorithm::Vector { history } = recovery.algorithm {
            ensure(
                (1..SEQUENCE_SPACE / 2).contains(&history),
                || path("recovery.algorithm.history"),
                || format!("{history} is not between 1 and {}", SEQUENCE_SPACE / 2 - 1),
            )?;
        }
        let Some(latent) = &recovery.latent else { return Ok(()) };
        for (timer, field) in [(latent.period_ns, "period_ns"), (latent.reset_ns, "reset_ns")] {
            let path = || path(&format!("recovery.latent.{field}"));
            time(timer, path)?;
            ensure(timer >= SHORTEST_TIMER_NS, path, || "is less than 1 ms".into())?;
        }
        Ok(())
    }
}
