//! Rows that stand for many more: one period of a network that repeats.

use crate::Sighting;
use serde::{Deserialize, Serialize};

/// The part of a file's rows that repeats. The rows behind it already have the times and numbers of the whole run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeats {
    /// From when on every period is like the one before, ns.
    pub steady_from_ns: i64,
    /// The begin of the period whose rows repeat, ns.
    pub from_ns: i64,
    /// The period, ns.
    pub period_ns: i64,
    /// How often the rows come again, each time a period later.
    pub times: u64,
    /// The first row that repeats.
    pub first_row: u64,
    /// Number of rows that repeat.
    pub rows: u64,
    /// By stream: the number of the first frame that is released in the period.
    pub first: Vec<u64>,
    /// By stream: frames that are released in the period.
    pub frames: Vec<u64>,
}

impl Repeats {
    /// Reads the note of a file.
    ///
    /// # Errors
    /// The text is no such note, or it contradicts itself.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let found: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let most = i64::MAX.unsigned_abs() / 4;
        let span = u64::try_from(found.period_ns).ok().and_then(|period| period.checked_mul(found.times));
        let numbers = found.first.iter().zip(&found.frames).all(|(first, frames)| {
            let last = frames.checked_mul(found.times).and_then(|more| more.checked_add(*first));
            last.is_some_and(|last| last <= most)
        });
        let ends = found.first_row.checked_add(found.rows).is_some_and(|rows| rows <= most);
        let sane = found.period_ns > 0
            && span.is_some_and(|span| span <= most)
            && found.first.len() == found.frames.len()
            && numbers
            && ends
            && found.times.checked_mul(found.rows).is_some_and(|rows| rows <= most);
        if sane { Ok(found) } else { Err("its repeating rows contradict themselves".into()) }
    }

    /// A sighting as it would be this many periods later.
    #[must_use]
    pub fn later(&self, sighting: Sighting, periods: i64) -> Sighting {
        let frames = self.frames.get(sighting.stream as usize).copied().unwrap_or(0);
        Sighting {
            t_ns: sighting.t_ns.map(|at| at.saturating_add(self.period_ns.saturating_mul(periods))),
            seq: sighting.seq.saturating_add_signed(frames.cast_signed().saturating_mul(periods)),
            ..sighting
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeats(first_row: u64) -> Repeats {
        Repeats {
            steady_from_ns: 0,
            from_ns: 10,
            period_ns: 10,
            times: 3,
            first_row,
            rows: 2,
            first: vec![1],
            frames: vec![2],
        }
    }

    #[test]
    fn a_note_that_contradicts_itself_is_refused() {
        let text = serde_json::to_string(&repeats(1)).unwrap();
        assert_eq!(Repeats::read(&text), Ok(repeats(1)));
        for (from, to) in [
            ("\"period_ns\":10", "\"period_ns\":0"),
            ("\"times\":3", "\"times\":18446744073709551615"),
            ("\"first\":[1]", "\"first\":[]"),
            ("\"frames\":[2]", "\"frames\":[9223372036854775807]"),
            ("\"rows\":2", "\"rows\":18446744073709551615"),
        ] {
            assert!(text.contains(from), "{from}");
            assert!(Repeats::read(&text.replace(from, to)).is_err(), "{to}");
        }
        assert!(Repeats::read("{}").is_err());
    }
}
