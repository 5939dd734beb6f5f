//! The simplex method on a dense table, for multipliers that `Program` then verifies.
//!
//! Dantzig 1963. All limits are at least 0, so the origin is the first vertex.

/// Numbers below this count as 0.
const NOTHING: f64 = 1e-11;
/// Limits are made larger by about this much, each by a different amount: no two vertices coincide, so no vertex comes
/// again.
const APART: f64 = 1e-9;

/// Where fewer rows than this part of all change, they are changed one by one.
const SPARSE: usize = 3;

/// The table of a vertex: each row says what is left of a limit, or the value of a column that is not 0. It is kept by
/// columns, because a table has fewer columns than rows.
struct Table {
    columns: Vec<Vec<f64>>,
    limits: Vec<f64>,
    objective: Vec<f64>,
    /// Which column, or which row's rest, a place of the table stands for.
    across: Vec<Place>,
    down: Vec<Place>,
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Place {
    Column(usize),
    Rest(usize),
}

/// The best vertex.
pub(super) struct Best {
    /// By row.
    pub multipliers: Vec<f64>,
    /// The rows whose limits are reached there, and as many columns that are not 0.
    pub rows: Vec<usize>,
    pub columns: Vec<usize>,
}

/// The vertex with the greatest `objective * x` of those whose rows are within the limits, by `columns`; none without a
/// greatest one, or if that is `enough` or more.
pub(super) fn best(
    columns: Vec<Vec<f64>>,
    limits: Vec<f64>,
    objective: Vec<f64>,
    enough: f64,
) -> Option<Best> {
    let apart =
        |(place, limit): (usize, f64)| limit + APART * (1.0 + (place as f64 * 0.618_033_988_75).fract());
    let count = limits.len();
    let mut table = Table {
        across: (0..objective.len()).map(Place::Column).collect(),
        down: (0..count).map(Place::Rest).collect(),
        limits: limits.into_iter().enumerate().map(apart).collect(),
        columns,
        objective,
    };
    let mut reached = 0.0;
    for _ in 0..20 * (count + table.across.len()) {
        let Some(column) = table.entering() else { return Some(table.best(count)) };
        let row = table.leaving(column)?;
        // It only grows from vertex to vertex.
        reached += table.objective[column] * table.limits[row] / table.columns[column][row];
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
        let rows = self.columns[column].iter().zip(&self.limits).enumerate();
        let growing = rows.filter(|(_, (factor, _))| **factor > NOTHING);
        let reached = growing.map(|(at, (factor, limit))| (at, limit / factor));
        reached.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(row, _)| row)
    }

    fn exchange(&mut self, row: usize, column: usize) {
        let mut factors = std::mem::take(&mut self.columns[column]);
        let pivot = std::mem::replace(&mut factors[row], 0.0);
        let limit = self.limits[row] / pivot;
        for (own, factor) in self.limits.iter_mut().zip(&factors) {
            *own = (*own - factor * limit).max(0.0);
        }
        self.limits[row] = limit;
        let changed = factors.iter().filter(|factor| **factor != 0.0).count();
        let few = (changed < factors.len() / SPARSE).then(|| {
            let factors = factors.iter().copied().enumerate();
            factors.filter(|(_, factor)| *factor != 0.0).collect::<Vec<(usize, f64)>>()
        });
        let gain = self.objective[column];
        for (own, gains) in self.columns.iter_mut().zip(&mut self.objective) {
            if own.get(row).is_none_or(|chosen| *chosen == 0.0) {
                continue;
            }
            let chosen = own[row] / pivot;
            match &few {
                Some(few) => few.iter().for_each(|(at, factor)| own[*at] -= factor * chosen),
                None => own.iter_mut().zip(&factors).for_each(|(own, factor)| *own -= factor * chosen),
            }
            own[row] = chosen;
            *gains -= gain * chosen;
        }
        factors.iter_mut().for_each(|factor| *factor = -*factor / pivot);
        factors[row] = 1.0 / pivot;
        self.columns[column] = factors;
        self.objective[column] = -gain / pivot;
        std::mem::swap(&mut self.across[column], &mut self.down[row]);
    }

    fn best(&self, count: usize) -> Best {
        let mut multipliers = vec![0.0; count];
        let mut rows = Vec::new();
        for (place, gain) in self.across.iter().zip(&self.objective) {
            if let Place::Rest(row) = place {
                multipliers[*row] = (-gain).max(0.0);
                rows.push(*row);
            }
        }
        let column = |place: &Place| if let Place::Column(column) = place { Some(*column) } else { None };
        Best { multipliers, rows, columns: self.down.iter().filter_map(column).collect() }
    }
}

impl Best {
    /// Computes the multipliers anew from the rows and columns that meet at the vertex: what was rounded from exchange to
    /// exchange is gone.
    pub fn refined(mut self, columns: &[Vec<f64>], objective: &[f64]) -> Option<Self> {
        let equation = |column: &usize| -> Vec<f64> {
            self.rows.iter().map(|row| columns[*column][*row]).chain([objective[*column]]).collect()
        };
        let equations: Vec<Vec<f64>> = self.columns.iter().map(equation).collect();
        for (row, found) in self.rows.iter().zip(solved(equations)?) {
            self.multipliers[*row] = found.max(0.0);
        }
        Some(self)
    }
}

/// The solution of linear equations, each with its right side at the end; none if there is not exactly one.
fn solved(mut equations: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let count = equations.len();
    for at in 0..count {
        let largest =
            (at..count).max_by(|a, b| equations[*a][at].abs().total_cmp(&equations[*b][at].abs()))?;
        equations.swap(at, largest);
        let (done, rest) = equations.split_at_mut(at + 1);
        let chosen = &done[at];
        if chosen[at].abs() < NOTHING {
            return None;
        }
        for other in rest.iter_mut().filter(|other| other[at] != 0.0) {
            let factor = other[at] / chosen[at];
            other.iter_mut().zip(chosen).skip(at).for_each(|(own, one)| *own -= factor * one);
        }
    }
    let mut found = vec![0.0; count];
    for at in (0..count).rev() {
        let known: f64 = (at + 1..count).map(|other| equations[at][other] * found[other]).sum();
        found[at] = (equations[at][count] - known) / equations[at][at];
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2 y = 6, x + y + z = 6 and 3 x - z = 0, of which the first one has no x; and equations that say the same twice.
    #[test]
    fn equations_have_one_solution_or_none() {
        let equations = vec![vec![0.0, 2.0, 0.0, 6.0], vec![1.0, 1.0, 1.0, 6.0], vec![3.0, 0.0, -1.0, 0.0]];
        assert_eq!(solved(equations), Some(vec![0.75, 3.0, 2.25]));
        assert_eq!(solved(vec![vec![1.0, 2.0, 3.0], vec![2.0, 4.0, 6.0]]), None);
    }

    /// x + y <= 8, y <= 5 and x - y <= 2: x is greatest where the first and the last one meet, as half of both together.
    #[test]
    fn multipliers_follow_from_the_vertex_alone() {
        let columns = vec![vec![1.0, 0.0, 1.0], vec![1.0, 1.0, -1.0]];
        let objective = vec![1.0, 0.0];
        let mut found = best(columns.clone(), vec![8.0, 5.0, 2.0], objective.clone(), f64::MAX).unwrap();
        found.rows.sort_unstable();
        assert_eq!((&found.rows[..], found.columns.len()), (&[0, 2][..], 2));
        found.multipliers = vec![9.0, 0.0, -9.0];
        assert_eq!(found.refined(&columns, &objective).unwrap().multipliers, [0.5, 0.0, 0.5]);
    }
}
