//! Written observations are read back exactly; incomplete files are errors.

use bytes::Bytes;
use tsn_observation::parquet::{Error, Reader, Writer};
use tsn_observation::{Legend, Sighting, Sink, StreamLegend, TapLegend};

fn legend() -> Legend {
    Legend {
        plan: Some("sha".into()),
        taps: vec![TapLegend {
            name: "a -> b tx".into(),
            node: "a".into(),
            stage: "tx".into(),
            clock: "true".into(),
            point: "start".into(),
            missing: Some("no hardware stamps".into()),
        }],
        streams: vec![StreamLegend { name: "one.1".into(), group: "one".into() }],
    }
}

/// Rows at the edges of every column, then `count` ordinary ones.
fn rows(count: u64) -> Vec<Sighting> {
    let edge = |t_ns| Sighting {
        tap: u16::MAX,
        stream: u32::MAX,
        seq: u64::MAX,
        copy: u8::MAX,
        t_ns,
        octets: u32::MAX,
        pcp: 7,
        vid: 4094,
    };
    let ordinary = (0..count).map(|seq| Sighting {
        tap: (seq % 3) as u16,
        stream: (seq % 7) as u32,
        seq,
        copy: 0,
        t_ns: (seq % 5 != 0).then_some(seq as i64 * 1_000),
        octets: 64,
        pcp: 0,
        vid: 0,
    });
    [edge(None), edge(Some(i64::MAX)), edge(Some(i64::MIN)), edge(Some(0))]
        .into_iter()
        .chain(ordinary)
        .collect()
}

fn written(rows: &[Sighting]) -> Vec<u8> {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut writer = Writer::create(file.path(), &legend()).unwrap();
    for row in rows {
        writer.sight(*row).unwrap();
    }
    assert_eq!(writer.finish().unwrap(), rows.len() as u64);
    std::fs::read(file.path()).unwrap()
}

fn read(bytes: Vec<u8>) -> Result<(Legend, Vec<Sighting>), Error> {
    let mut reader = Reader::new(Bytes::from(bytes))?;
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    while reader.read(&mut batch)? {
        all.extend_from_slice(&batch);
    }
    Ok((reader.legend().clone(), all))
}

#[test]
fn what_goes_in_comes_out() {
    for count in [0, 1, 8_192, 200_000, 300_000] {
        let rows = rows(count);
        let (found, all) = read(written(&rows)).unwrap();
        assert_eq!(found, legend());
        assert_eq!(all, rows, "{count} rows");
    }
    assert_eq!(read(written(&[])).unwrap().1, []);
}

#[test]
fn the_same_rows_make_the_same_bytes() {
    assert_eq!(written(&rows(10_000)), written(&rows(10_000)));
}

#[test]
fn a_writer_that_is_dropped_leaves_a_readable_file() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut writer = Writer::create(file.path(), &legend()).unwrap();
    for row in rows(150_000) {
        writer.sight(row).unwrap();
    }
    drop(writer);
    assert_eq!(read(std::fs::read(file.path()).unwrap()).unwrap().1, rows(150_000));
}

#[test]
fn truncated_and_flipped_files_are_errors_or_rows_but_never_a_panic() {
    let whole = written(&rows(500));
    for length in 0..whole.len() {
        assert!(read(whole[..length].to_vec()).is_err(), "{length} of {} octets were read", whole.len());
    }
    for place in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[place] ^= 1 << (place % 8);
        let _ = read(flipped);
    }
}

#[test]
fn another_parquet_file_is_named_as_such() {
    use parquet::file::{properties::WriterProperties, writer::SerializedFileWriter};
    let schema = parquet::schema::parser::parse_message_type("message m { REQUIRED INT32 n; }").unwrap();
    let mut bytes = Vec::new();
    let properties = WriterProperties::builder().build();
    SerializedFileWriter::new(&mut bytes, schema.into(), properties.into()).unwrap().close().unwrap();
    let error = read(bytes).unwrap_err().to_string();
    assert_eq!(error, "not a file of observations: column 0 is not tap");
}

/// A disk with room for this many octets.
struct Full(usize);

impl std::io::Write for Full {
    fn write(&mut self, octets: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.checked_sub(octets.len()).ok_or_else(|| std::io::Error::from_raw_os_error(28))?;
        Ok(octets.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_error_of_a_full_disk_is_not_hidden_by_the_footer() {
    let whole = written(&rows(1000)).len();
    for room in [4, whole / 2, whole - 20] {
        let mut writer = Writer::new(Full(room), &legend()).unwrap();
        for row in rows(1000) {
            writer.sight(row).unwrap();
        }
        let error = writer.finish().unwrap_err();
        assert!(matches!(&error, Error::Io(error) if error.raw_os_error() == Some(28)), "{room}: {error}");
    }
}

/// A disk that is full for a moment: one write fails, and later ones succeed.
struct FullOnce<'a> {
    into: &'a mut Vec<u8>,
    fails_at: usize,
}

impl std::io::Write for FullOnce<'_> {
    fn write(&mut self, octets: &[u8]) -> std::io::Result<usize> {
        if self.into.len() >= self.fails_at {
            self.fails_at = usize::MAX;
            return Err(std::io::Error::from_raw_os_error(28));
        }
        self.into.extend_from_slice(octets);
        Ok(octets.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A file whose rows were lost on a full disk must not look complete, also if there is room for its footer.
#[test]
fn a_file_that_lost_rows_has_no_footer() {
    // Times without any order: each row group has about a megabyte.
    let noise = |row: u64| {
        let word = row.wrapping_mul(6_364_136_223_846_793_005);
        (word ^ word >> 29).wrapping_mul(1_442_695_040_888_963_407).cast_signed()
    };
    for (fails_at, lost) in [(5, true), (1_500_000, true), (usize::MAX, false)] {
        let mut octets = Vec::new();
        let mut writer = Writer::new(FullOnce { into: &mut octets, fails_at }, &legend()).unwrap();
        let rows = rows(300_000).into_iter().zip(0..);
        let failed = rows
            .map(|(row, number)| Sighting { t_ns: Some(noise(number)), ..row })
            .any(|row| writer.sight(row).is_err());
        assert_eq!(failed, lost);
        drop(writer);
        assert_eq!(read(octets).is_err(), lost, "{fails_at}");
    }
}
