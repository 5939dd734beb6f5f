//! Reads the rows of a run as often as they come in the run.

use super::{Error, Reader};
use crate::Sighting;
use parquet::file::reader::ChunkReader;

/// Reads all sightings of a run in their order; rows that repeat come as often as in the run, or as in one that is
/// shorter or longer by whole periods: then they come `times` times after the first. Returns the number of sightings.
///
/// # Errors
/// The file ends early, or its columns differ in length.
pub fn read_all<R: ChunkReader + 'static>(
    reader: &mut Reader<R>,
    times: Option<u64>,
    mut each: impl FnMut(&Sighting),
) -> Result<u64, Error> {
    let repeats = reader.repeats().cloned();
    let mut batch = Vec::new();
    let Some(repeats) = repeats else {
        let mut rows = 0;
        while reader.read(&mut batch)? {
            rows += batch.len() as u64;
            batch.iter().for_each(&mut each);
        }
        return Ok(rows);
    };
    let times = times.unwrap_or(repeats.times);
    let behind = times.cast_signed() - repeats.times.cast_signed();
    let end = repeats.first_row + repeats.rows;
    let mut period = Vec::new();
    let mut row = 0;
    let again = |period: &[Sighting], each: &mut dyn FnMut(&Sighting)| {
        for number in 1..=times.cast_signed() {
            period.iter().for_each(|sighting| each(&repeats.later(*sighting, number)));
        }
    };
    while reader.read(&mut batch)? {
        for sighting in &batch {
            if row == end {
                again(&period, &mut each);
            }
            if row >= end {
                each(&repeats.later(*sighting, behind));
            } else {
                if row >= repeats.first_row {
                    period.push(*sighting);
                }
                each(sighting);
            }
            row += 1;
        }
    }
    if row <= end {
        again(&period, &mut each);
    }
    Ok(row + times * period.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::super::Writer;
    use super::*;
    use crate::{Legend, Repeats, Sink};

    fn sighting(seq: u64, t_ns: Option<i64>) -> Sighting {
        Sighting { tap: 0, stream: 0, seq, copy: 0, t_ns, octets: 64, pcp: 0, vid: 0 }
    }

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

    /// Two rows of a period that comes four times, with one row before and one behind; the second has no time.
    #[test]
    fn rows_come_as_often_as_in_the_run() {
        for (first_row, more) in [(1, &[(5_u64, Some(41_i64))][..]), (1, &[])] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("rows");
            let mut writer = Writer::create(&path, &Legend::default()).unwrap();
            let own = [(0, Some(5)), (1, Some(11)), (2, None)];
            // The row behind has the times of the whole run.
            let behind: Vec<_> = more.iter().map(|(seq, at)| (seq + 4, at.map(|at| at + 10))).collect();
            for (seq, t_ns) in own.iter().chain(&behind) {
                writer.sight(sighting(*seq, *t_ns)).unwrap();
            }
            writer.note_repeats(&repeats(first_row)).unwrap();
            writer.finish().unwrap();
            for (times, last) in [(None, 9), (Some(3), 9), (Some(0), 3), (Some(1), 5)] {
                let mut found = Vec::new();
                let rows =
                    read_all(&mut Reader::open(&path).unwrap(), times, |one| found.push(*one)).unwrap();
                assert_eq!(rows, found.len() as u64);
                let count = times.unwrap_or(3);
                let mut expected = vec![sighting(0, Some(5))];
                for number in 0..=count {
                    expected.push(sighting(1 + 2 * number, Some(11 + 10 * number as i64)));
                    expected.push(sighting(2 + 2 * number, None));
                }
                if !more.is_empty() {
                    expected.push(sighting(last, Some(51 - 10 * (3 - count as i64))));
                }
                assert_eq!(found, expected, "{times:?}");
            }
        }
    }
}
