//! Statistics over replications.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tsn_measure::replications::interval::{self, Interval};
use tsn_measure::replications::quantile::{self, Ratio};
use tsn_measure::replications::shares::{self, Method};
use tsn_measure::replications::stopping::{Quantity, Rule, State};
use tsn_measure::replications::warm_up;

/// Estimate, lower end, upper end, confidence, number of replications.
type Row = (f64, f64, f64, f64, usize);

/// Mean and number of samples of one replication.
type Estimate = (f64, u64);

fn row(found: Interval) -> Row {
    (found.estimate, found.low, found.high, found.confidence, found.replications)
}

fn ratio(part: u64, whole: u64) -> PyResult<Ratio> {
    Ratio::new(part, whole).ok_or_else(|| {
        PyValueError::new_err(format!("expected a probability between 0 and 1, found {part}/{whole}"))
    })
}

/// The mean over replications, from mean and number of samples of each.
#[pyfunction]
fn interval_of_mean(replications: Vec<Estimate>, confidence: f64) -> Option<Row> {
    interval::mean(&replications, confidence).map(row)
}

/// The interval around an estimate from all samples, by the estimates of the replications.
#[pyfunction]
fn interval_around(estimates: Vec<f64>, pooled: f64, confidence: f64) -> Option<Row> {
    interval::sectioned(&estimates, pooled, confidence).map(row)
}

/// The interval of the median of the replications' estimates, whatever their distribution.
#[pyfunction]
fn interval_free(estimates: Vec<f64>, confidence: f64) -> Option<Row> {
    interval::distribution_free(&estimates, confidence).map(row)
}

/// The mean difference `b - a` of paired replications.
#[pyfunction]
fn interval_of_difference(a: Vec<f64>, b: Vec<f64>, confidence: f64) -> Option<Row> {
    interval::paired(&a, &b, confidence).map(row)
}

/// The quantile `part/whole` of all samples of all replications.
#[pyfunction]
fn interval_of_quantile(
    py: Python<'_>,
    replications: Vec<Vec<i64>>,
    part: u64,
    whole: u64,
    confidence: f64,
) -> PyResult<Option<Row>> {
    let ratio = ratio(part, whole)?;
    Ok(py.detach(|| quantile::pooled(&replications, ratio, confidence)).map(row))
}

/// How many frames each replication needs for the quantile `part/whole`.
#[pyfunction]
fn frames_needed(part: u64, whole: u64) -> PyResult<u64> {
    Ok(ratio(part, whole)?.frames_needed())
}

/// The duration with which there are enough frames for the quantile; none if there are, or if there was no frame.
#[pyfunction]
fn duration_needed(part: u64, whole: u64, frames: u64, duration: u64) -> PyResult<Option<u64>> {
    Ok(ratio(part, whole)?.duration_needed(frames, duration))
}

/// The upper limit of the probability of an event that none of the replications had.
#[pyfunction]
fn probability_at_most(replications: usize, confidence: f64) -> Option<f64> {
    shares::at_most(replications, confidence)
}

/// The interval of Clopper and Pearson.
#[pyfunction]
fn clopper_pearson(hits: u64, trials: u64, confidence: f64) -> Option<(f64, f64)> {
    shares::clopper_pearson(hits, trials, confidence)
}

/// Lost and sent frames, the share that is lost, the method, and the limit of replications that lose any.
#[pyfunction]
fn loss_interval(
    replications: Vec<(u64, u64)>,
    confidence: f64,
) -> (u64, u64, Option<Row>, &'static str, Option<f64>) {
    let found = shares::losses(&replications, confidence);
    let method = match found.method {
        Method::ClopperPearson => "clopper-pearson",
        Method::SectionedT => "t",
        Method::NoneLost => "none-lost",
        Method::OneReplication => "one-replication",
        Method::NoneSent => "none-sent",
    };
    (found.lost, found.sent, found.share.map(row), method, found.replications_at_most)
}

/// How many of the first samples are warm-up, and whether the series settles in its first half.
#[pyfunction]
fn mser5(py: Python<'_>, series: Vec<i64>) -> (usize, bool) {
    let found = py.detach(|| warm_up::mser5(&series));
    (found.samples, found.settled)
}

/// State, replications, confidence of each interval, intervals. Each quantity: its relative half width, and estimate
/// and weight of each replication.
#[pyfunction]
fn stopping(
    least: usize,
    batch: usize,
    most: usize,
    confidence: f64,
    quantities: Vec<(f64, Vec<Option<Estimate>>)>,
) -> PyResult<(&'static str, usize, f64, Vec<Option<Row>>)> {
    let rule = Rule { least, batch, most, confidence };
    rule.check().map_err(PyValueError::new_err)?;
    let quantities: Vec<Quantity> =
        quantities.into_iter().map(|(relative, estimates)| Quantity { relative, estimates }).collect();
    let found = rule.decide(&quantities);
    let state = match found.state {
        State::Continue => "continue",
        State::Reached => "reached",
        State::NotReached => "not-reached",
    };
    Ok((
        state,
        found.replications,
        found.each,
        found.intervals.into_iter().map(|each| each.map(row)).collect(),
    ))
}

/// Adds this file's functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(interval_of_mean, module)?)?;
    module.add_function(wrap_pyfunction!(interval_around, module)?)?;
    module.add_function(wrap_pyfunction!(interval_free, module)?)?;
    module.add_function(wrap_pyfunction!(interval_of_difference, module)?)?;
    module.add_function(wrap_pyfunction!(interval_of_quantile, module)?)?;
    module.add_function(wrap_pyfunction!(frames_needed, module)?)?;
    module.add_function(wrap_pyfunction!(duration_needed, module)?)?;
    module.add_function(wrap_pyfunction!(probability_at_most, module)?)?;
    module.add_function(wrap_pyfunction!(clopper_pearson, module)?)?;
    module.add_function(wrap_pyfunction!(loss_interval, module)?)?;
    module.add_function(wrap_pyfunction!(mser5, module)?)?;
    module.add_function(wrap_pyfunction!(stopping, module)?)
}
