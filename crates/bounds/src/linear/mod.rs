//! Linear programmes whose result is certain: a solver in floating point suggests the multipliers of the dual, and the
//! bound that follows from them is computed in integers.
//!
//! Weak duality: multipliers of at least 0, whose sum of rows is in each column at least the objective, make the sum of
//! their limits an upper bound. Bad multipliers make a bound worse or give none, and never a wrong one. Neumaier &
//! Shcherbina, Safe bounds in linear and mixed-integer linear programming, 2004.

mod simplex;

use self::simplex::Best;
use crate::curve::{Data, Ps};

/// Multipliers are counted in units of 2^-72.
const FINE: u32 = 72;
/// What the solver adds to each column of the objective, so that rounding leaves the multipliers valid; the next one, if
/// that was too little.
const MARGINS: [f64; 3] = [1e-9, 1e-6, 1e-4];

/// The part of `enough` at which the solver stops: its numbers are rounded, and what is gained by less does not count.
const NEARLY: f64 = 1.0 - 1e-6;
/// The part of `enough` which a programme with further rows has to reach, so that it is certain that the solver stops.
const CERTAINLY: f64 = 1.0 - 5e-7;

/// `terms <= limit + factor * parameter`, in the unit of the row: ps, or 1e-12 bit.
#[derive(Clone, Debug)]
struct Row {
    terms: Vec<(usize, Data)>,
    limit: Data,
    varies: Option<(usize, Data)>,
}

/// Columns of at least 0, and rows with limits of at least 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    rows: Vec<Row>,
    /// The size of each column for the solver.
    scales: Vec<f64>,
}

/// A programme as the solver gets it, with columns and rows of about 1.
struct Scaled {
    columns: Vec<Vec<f64>>,
    limits: Vec<f64>,
    objective: Vec<f64>,
    /// By row, what it was divided by.
    sizes: Vec<f64>,
}

/// An upper bound of one column, for any values of the parameters: valid multipliers, summed up.
#[derive(Clone, Debug)]
pub(crate) struct Proved {
    limit: Data,
    /// By parameter.
    varies: Vec<Data>,
}

impl Proved {
    /// The bound of the column and a constant together.
    pub fn plus(self, constant: Ps) -> Self {
        Self { limit: self.limit.saturating_add(Data::from(constant) << FINE), ..self }
    }

    /// The bound for these values of the parameters, rounded up.
    pub fn most(&self, parameters: &[Data]) -> Option<Ps> {
        let sum = self.varies.iter().zip(parameters).try_fold(self.limit, |sum, (multiplier, value)| {
            sum.checked_add(multiplier.checked_mul(*value)?)
        });
        Ps::try_from(sum?.checked_add((1 << FINE) - 1)? >> FINE).ok()
    }
}

impl Program {
    /// A new column whose values are of about this size.
    pub fn column(&mut self, scale: f64) -> usize {
        self.scales.push(scale.max(1.0));
        self.scales.len() - 1
    }

    /// Several terms of one column count together.
    pub fn row(&mut self, terms: Vec<(usize, Data)>, limit: Data, varies: Option<(usize, Data)>) {
        self.rows.push(Row { terms, limit, varies });
    }

    /// Rows by columns.
    pub fn size(&self) -> usize {
        self.rows.len() * self.scales.len()
    }

    /// A bound of a column that is the least one for these parameters; none if the solver finds none below `enough`.
    pub fn bound(&self, column: usize, parameters: &[Data], enough: Ps) -> Option<Proved> {
        let verified = |best: &Best, sizes: &[f64]| {
            let unit = self.scales[column] * (1_i128 << FINE) as f64;
            let whole = |(dual, size): (&f64, &f64)| (dual * unit / size) as Data;
            let duals: Vec<Data> = best.multipliers.iter().zip(sizes).map(whole).collect();
            self.verified(column, &duals, parameters.len())
        };
        let enough = enough as f64 * NEARLY / self.scales[column];
        for margin in MARGINS {
            let Scaled { columns, limits, objective, sizes } = self.scaled(column, parameters, margin);
            let best = simplex::best(columns, limits, objective, enough)?;
            if let Some(found) = verified(&best, &sizes) {
                return Some(found);
            }
            let Scaled { columns, objective, .. } = self.scaled(column, parameters, margin);
            if let Some(found) = best.refined(&columns, &objective).and_then(|best| verified(&best, &sizes)) {
                return Some(found);
            }
        }
        None
    }

    /// Whether a column stays below `enough` for these parameters. If it does not, [`Program::bound`] finds nothing for any
    /// programme whose values include those of this one.
    pub fn stays_below(&self, column: usize, parameters: &[Data], enough: Ps) -> bool {
        let Scaled { columns, limits, objective, .. } = self.scaled(column, parameters, MARGINS[0]);
        let enough = enough as f64 * CERTAINLY / self.scales[column];
        simplex::best(columns, limits, objective, enough).is_some()
    }

    /// The bound of a column by these multipliers; none if they prove none.
    fn verified(&self, column: usize, duals: &[Data], parameters: usize) -> Option<Proved> {
        let mut covered: Vec<Data> = vec![0; self.scales.len()];
        let mut found = Proved { limit: 0, varies: vec![0; parameters] };
        for (row, dual) in self.rows.iter().zip(duals).filter(|(_, dual)| **dual > 0) {
            for (term, factor) in &row.terms {
                covered[*term] = covered[*term].checked_add(factor.checked_mul(*dual)?)?;
            }
            found.limit = found.limit.checked_add(row.limit.checked_mul(*dual)?)?;
            if let Some((parameter, factor)) = row.varies {
                found.varies[parameter] = found.varies[parameter].checked_add(factor.checked_mul(*dual)?)?;
            }
        }
        let needed = |at: usize| if at == column { 1 << FINE } else { 0 };
        covered.iter().enumerate().all(|(at, sum)| *sum >= needed(at)).then_some(found)
    }

    /// The programme as the solver gets it, with columns and rows of about 1.
    fn scaled(&self, column: usize, parameters: &[Data], margin: f64) -> Scaled {
        let mut columns = vec![vec![0.0; self.rows.len()]; self.scales.len()];
        let mut limits = Vec::with_capacity(self.rows.len());
        let mut sizes = Vec::with_capacity(self.rows.len());
        let mut line = vec![0.0; self.scales.len()];
        for (number, row) in self.rows.iter().enumerate() {
            for (term, factor) in &row.terms {
                line[*term] += *factor as f64 * self.scales[*term];
            }
            let factors = row.terms.iter().map(|(term, _)| line[*term]);
            let size = factors.fold(f64::MIN_POSITIVE, |most: f64, factor| most.max(factor.abs()));
            for (term, _) in &row.terms {
                // A term that stands twice is taken once.
                let factor = std::mem::take(&mut line[*term]);
                if factor != 0.0 {
                    columns[*term][number] = factor / size;
                }
            }
            let varies = row.varies.map_or(0, |(parameter, factor)| factor * parameters[parameter]);
            limits.push(row.limit.saturating_add(varies).max(0) as f64 / size);
            sizes.push(size);
        }
        let objective = (0..self.scales.len()).map(|at| f64::from(at == column) + margin).collect();
        Scaled { columns, limits, objective, sizes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn most(program: &Program, column: usize) -> Option<Ps> {
        program.bound(column, &[], Ps::MAX)?.most(&[])
    }

    /// A bound is never below the exact value, and above it by no more than what rounding may take.
    fn assert_close(found: Option<Ps>, exact: Ps) {
        assert!(
            found.is_some_and(|found| (exact..=exact + 1 + exact / 10_000_000).contains(&found)),
            "{found:?}"
        );
    }

    /// 2 x + y <= 8 and x + 3 y <= 9 (in millions): x is at most 4, y at most 3, and at x = 3, y = 2 their sum is
    /// greatest.
    #[test]
    fn the_greatest_value_of_a_column() {
        let mut program = Program::default();
        let [x, y] = [1e6, 1e6].map(|scale| program.column(scale));
        program.row(vec![(x, 2), (y, 1)], 8_000_000, None);
        program.row(vec![(x, 1), (y, 3)], 9_000_000, None);
        assert_close(most(&program, x), 4_000_000);
        assert_close(most(&program, y), 3_000_000);
        // A column without a row has no bound.
        let both = program.column(4e6);
        assert_eq!(most(&program, both), None);
        program.row(vec![(both, 1), (x, -1), (y, -1)], 0, None);
        assert_close(most(&program, both), 5_000_000);
    }

    /// A third of 10 million is rounded up, and a term that stands twice in a row counts twice.
    #[test]
    fn bounds_are_rounded_up() {
        let mut program = Program::default();
        let x = program.column(1e6);
        program.row(vec![(x, 1), (x, 2)], 10_000_000, None);
        assert_close(most(&program, x), 3_333_334);
        assert_close(program.bound(x, &[], Ps::MAX).map(|found| found.plus(5)).unwrap().most(&[]), 3_333_339);
    }

    /// x <= 3 p and x <= 5 + q: what is best for p = 1 also holds for p = 2, where 5 would be less.
    #[test]
    fn a_bound_holds_for_other_parameters() {
        let mut program = Program::default();
        let x = program.column(1e6);
        program.row(vec![(x, 1)], 0, Some((0, 3)));
        program.row(vec![(x, 1)], 5_000_000, Some((1, 1)));
        let found = program.bound(x, &[1_000_000, 0], Ps::MAX).unwrap();
        for (parameters, exact) in [([1, 0], 3), ([2, 0], 6), ([2, 9], 6)] {
            assert_close(found.most(&parameters.map(|value| value * 1_000_000)), exact * 1_000_000);
        }
        assert_close(
            program.bound(x, &[2_000_000, 0], Ps::MAX).unwrap().most(&[2_000_000, -1_000_000]),
            4_000_000,
        );
    }

    /// x <= 4 million is found below 4.1 million, and not below 3.9 million.
    #[test]
    fn what_is_not_below_enough_is_not_found() {
        let mut program = Program::default();
        let [x, y] = [1e6, 1e6].map(|scale| program.column(scale));
        program.row(vec![(x, 2), (y, 1)], 8_000_000, None);
        let below = |enough: Ps| program.bound(x, &[], enough).and_then(|found| found.most(&[]));
        assert_close(below(4_100_000), 4_000_000);
        assert_eq!(below(3_900_000), None);
        assert!(program.stays_below(x, &[], 4_100_000) && !program.stays_below(x, &[], 3_900_000));
        // It has to be certain that the solver stops: 4 million is less than a part per million below this one.
        assert_eq!(below(4_000_003), None);
        assert!(program.stays_below(x, &[], 4_000_003) && !program.stays_below(x, &[], 4_000_001));
        assert_eq!(program.size(), 2);
    }

    /// x + y <= 8 and x - y <= 2: once each, half of both gives x <= 5. Too little of one, or less than nothing, proves
    /// nothing.
    #[test]
    fn multipliers_are_verified() {
        let mut program = Program::default();
        let [x, y] = [1.0, 1.0].map(|scale| program.column(scale));
        program.row(vec![(x, 1), (y, 1)], 8, None);
        program.row(vec![(x, 1), (y, -1)], 2, None);
        let half = 1 << (FINE - 1);
        let most = |duals: [Data; 2]| program.verified(x, &duals, 0).and_then(|found| found.most(&[]));
        assert_eq!(most([half, half]), Some(5));
        assert_eq!(most([half, half - 1]), None);
        assert_eq!(most([half - 1, half + 1]), None);
        assert_eq!(most([-half, 3 * half]), None);
        assert_eq!(most([half + 1, half]), Some(6));
    }

    /// Degenerate vertices, at which many rows meet, do not stop the solver: x_1 <= ... <= x_40 <= 7 million.
    #[test]
    fn many_rows_meet() {
        let mut program = Program::default();
        let columns: Vec<usize> = (0..40).map(|_| program.column(1e6)).collect();
        for pair in columns.windows(2) {
            program.row(vec![(pair[0], 1), (pair[1], -1)], 0, None);
        }
        program.row(vec![(columns[39], 1)], 7_000_000, None);
        assert_close(most(&program, columns[0]), 7_000_000);
    }

    /// Rates of 100 Gbit/s and times of seconds: a limit of 1e11 bit/s for 1 s.
    #[test]
    fn large_numbers_lose_nothing_that_counts() {
        let mut program = Program::default();
        let (time, data) = (program.column(1e12), program.column(1e23));
        program.row(vec![(time, 100_000_000_000), (data, -1)], 0, None);
        program.row(vec![(data, 1)], 100_000_000_000 * 1_000_000_000_000, None);
        let found = most(&program, time).unwrap();
        assert!((1_000_000_000_000..1_000_000_010_000).contains(&found), "{found}");
    }

    #[test]
    fn numbers_beyond_all_bounds_give_none() {
        let mut program = Program::default();
        let x = program.column(1.0);
        program.row(vec![(x, 1)], Data::MAX / 2, None);
        assert_eq!(most(&program, x), None);
    }
}
