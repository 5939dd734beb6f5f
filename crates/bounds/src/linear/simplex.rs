//! The simplex method on a dense table, for multipliers that `Program` then verifies.
//!
//! Dantzig 1963. All limits are at least 0, so the origin is the first vertex.

/// Numbers below this count as 0.
const NOTHING: f64 = 1e-11;
/// Limits are made larger by about this much, each by a different amount: no two vertices coincide, so no vertex comes
/// again.
const APART: f64 = 1e-9;

/// A row with fewer columns than this part of all is subtracted column by column.
const SPARSE: usize = 4;

/// The table of a vertex: each row says what is left of a limit, or the value of a column that is not 0.
struct Table {
    rows: Vec<Vec<f64>>,
    limits: Vec<f64>,
    objective: Vec<f64>,
    /// Which column, or which row's rest, a place of the table stands for.
    across: Vec<Place>,
    down: Vec<Place>,
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Place {
    Column,
    Rest(usize),
}

/// The multipliers of rows `table * x <= limits` for the greatest `objective * x`; none without a greatest one, or if it
/// is `enough` or more.
pub(super) fn duals(
    rows: Vec<Vec<f64>>,
    limits: Vec<f64>,
    objective: Vec<f64>,
    enough: f64,
) -> Option<Vec<f64>> {
    let apart =
        |(place, limit): (usize, f64)| limit + APART * (1.0 + (place as f64 * 0.618_033_988_75).fract());
    let count = rows.len();
    let mut table = Table {
        across: vec![Place::Column; objective.len()],
        down: (0..count).map(Place::Rest).collect(),
        limits: limits.into_iter().enumerate().map(apart).collect(),
        rows,
        objective,
    };
    let mut reached = 0.0;
    for _ in 0..20 * (count + table.across.len()) {
        let Some(column) = table.entering() else { return Some(table.multipliers(count)) };
        let row = table.leaving(column)?;
        // It only grows from vertex to vertex.
        reached += table.objective[column] * table.limits[row] / table.rows[row][column];
        if reached >= enough {
            return None;
        }
        table.exchange(row, column);
    }
    None
}

impl Table {
    /// The column by which the objective grows most; none at the best vertex.
    fn entering(&self) -> Option<usize> {
        let gains = self.objective.iter().copied().enumerate().filter(|(_, gain)| *gain > NOTHING);
        gains.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(column, _)| column)
    }

    /// The row whose limit is reached first; none if no limit is.
    fn leaving(&self, column: usize) -> Option<usize> {
        let growing =
            self.rows.iter().zip(&self.limits).enumerate().filter(|(_, (row, _))| row[column] > NOTHING);
        let reached = growing.map(|(at, (row, limit))| (at, limit / row[column]));
        reached.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(row, _)| row)
    }

    fn exchange(&mut self, row: usize, column: usize) {
        let mut chosen = std::mem::take(&mut self.rows[row]);
        let pivot = chosen[column];
        chosen.iter_mut().for_each(|factor| *factor /= pivot);
        chosen[column] = 1.0 / pivot;
        let limit = self.limits[row] / pivot;
        let full: Vec<usize> = (0..chosen.len()).filter(|at| chosen[*at] != 0.0).collect();
        let sparse = full.len() < chosen.len() / SPARSE;
        let subtract = |line: &mut [f64]| {
            let factor = line[column];
            if factor == 0.0 {
                return 0.0;
            }
            if sparse {
                full.iter().for_each(|at| line[*at] -= factor * chosen[*at]);
            } else {
                line.iter_mut().zip(&chosen).for_each(|(own, other)| *own -= factor * other);
            }
            line[column] = -factor / pivot;
            factor
        };
        for (line, own) in self.rows.iter_mut().zip(&mut self.limits) {
            if !line.is_empty() {
                *own = (*own - subtract(line) * limit).max(0.0);
            }
        }
        subtract(&mut self.objective);
        self.rows[row] = chosen;
        self.limits[row] = limit;
        std::mem::swap(&mut self.across[column], &mut self.down[row]);
    }

    fn multipliers(&self, count: usize) -> Vec<f64> {
        let mut found = vec![0.0; count];
        for (place, gain) in self.across.iter().zip(&self.objective) {
            if let Place::Rest(row) = place {
                found[*row] = (-gain).max(0.0);
            }
        }
        found
    }
}
