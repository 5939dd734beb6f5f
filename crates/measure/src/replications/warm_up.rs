//! Warm-up: the first samples of a run that begins with empty queues.
//!
//! MSER-5: K. P. White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69(6),
//! 1997; the batches of five: Spratt, 1998.

/// Samples per batch.
const BATCH: usize = 5;

/// The point at which a series becomes stationary.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct WarmUp {
    /// How many of the first samples are deleted; at most half.
    pub samples: usize,
    /// Whether the least error lies before the middle of the series. If it does not, the series may not be stationary
    /// at all: the run was too short.
    pub settled: bool,
}

/// The warm-up of one series: the number of deleted batches with the least standard error of the mean of the batches
/// that stay. Of equal errors the shortest warm-up is taken, so a series without randomness has none.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "an error of an estimate")]
pub fn mser5(series: &[i64]) -> WarmUp {
    let batches: Vec<f64> = series
        .chunks_exact(BATCH)
        .map(|batch| batch.iter().map(|&value| value as f64).sum::<f64>() / BATCH as f64)
        .collect();
    // From the last batch to the first, so that each batch is looked at once (Welford's recurrence: the difference of
    // two large sums would lose digits).
    let (mut mean, mut squares) = (0.0, 0.0);
    let mut errors = vec![0.0; batches.len()];
    for (place, batch) in batches.iter().enumerate().rev() {
        let count = (batches.len() - place) as f64;
        let distance = batch - mean;
        mean += distance / count;
        squares += distance * (batch - mean);
        errors[place] = squares / (count * count);
    }
    // The error of the last few batches can be small by chance: they are not looked at.
    let half = batches.len() / 2;
    let candidates = errors.iter().take(half + 1).enumerate();
    let found = candidates.min_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(place, _)| place);
    WarmUp { samples: found * BATCH, settled: batches.len() >= 2 && found < half }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition in floats, batch by batch: the oracle.
    fn slowly(series: &[i64]) -> usize {
        let batches: Vec<f64> =
            series.chunks_exact(5).map(|batch| batch.iter().map(|&v| v as f64).sum::<f64>() / 5.0).collect();
        let error = |from: usize| {
            let kept = &batches[from..];
            let count = kept.len() as f64;
            let mean = kept.iter().sum::<f64>() / count;
            kept.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count * count)
        };
        (0..=batches.len() / 2).min_by(|&a, &b| error(a).total_cmp(&error(b))).unwrap_or(0) * 5
    }

    fn noise(state: &mut u64) -> i64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from(*state >> 54).unwrap()
    }

    #[test]
    fn a_queue_that_fills_is_cut_where_it_is_full() {
        let mut state = 7;
        let series: Vec<i64> =
            (0..1000).map(|n| if n < 200 { 100 * n } else { 20_000 } + noise(&mut state) / 2).collect();
        let found = mser5(&series);
        assert!((195..=215).contains(&found.samples), "{found:?}");
        assert!(found.settled);
    }

    #[test]
    fn the_least_error_is_the_one_of_the_definition() {
        let mut state = 1;
        for length in 0..300 {
            let series: Vec<i64> = (0..length).map(|n| noise(&mut state) + 4000 / (n + 1)).collect();
            assert_eq!(mser5(&series).samples, slowly(&series), "{length}");
        }
    }

    #[test]
    fn a_series_without_randomness_has_no_warm_up() {
        assert_eq!(mser5(&[12_000; 500]), WarmUp { samples: 0, settled: true });
        assert_eq!(mser5(&[]), WarmUp { samples: 0, settled: false });
    }

    #[test]
    fn a_series_that_grows_to_its_end_is_cut_in_half_and_not_settled() {
        let series: Vec<i64> = (0..100).collect();
        assert_eq!(mser5(&series), WarmUp { samples: 50, settled: false });
    }
}
