//! The writer's own encoder gives the octets of the crate `parquet`.

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{
    DeltaBinaryPackedEncoderOptions, EnabledStatistics, WriterProperties, WriterVersion,
};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;
use std::sync::Arc;
use tsn_observation::parquet::{LEGEND_KEY, Writer};
use tsn_observation::{Legend, Sighting, Sink};

const SCHEMA: &str = "message observations {
    REQUIRED INT32 tap (INTEGER(16,false));
    REQUIRED INT32 stream (INTEGER(32,false));
    REQUIRED INT64 seq (INTEGER(64,false));
    REQUIRED INT32 copy (INTEGER(8,false));
    OPTIONAL INT64 t_ns (INTEGER(64,true));
    REQUIRED INT32 octets (INTEGER(32,false));
    REQUIRED INT32 pcp (INTEGER(8,false));
    REQUIRED INT32 vid (INTEGER(16,false));
}";
const ROWS: usize = 1 << 17;

type Group<'a, 'b> = SerializedRowGroupWriter<'a, &'b mut Vec<u8>>;

fn column<T: DataType>(group: &mut Group<'_, '_>, values: &[T::T], levels: Option<&[i16]>) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, levels, None).unwrap();
    column.close().unwrap();
}

/// A file of the crate's own writer.
fn expected(rows: &[Sighting]) -> Vec<u8> {
    let legend = serde_json::to_string(&Legend::default()).unwrap();
    let properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_created_by(concat!("tsnbench ", env!("CARGO_PKG_VERSION")).into())
        .set_key_value_metadata(Some(vec![KeyValue::new(LEGEND_KEY.to_owned(), legend)]))
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::DELTA_BINARY_PACKED)
        .set_delta_binary_packed_encoder_options(DeltaBinaryPackedEncoderOptions::try_new(1024, 8).unwrap())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).unwrap()))
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_data_page_row_count_limit(ROWS)
        // A page of numbers without any order would be cut, which only makes the file longer.
        .set_data_page_size_limit(1 << 24)
        .set_write_batch_size(4096)
        .build();
    let mut octets = Vec::new();
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let mut file = SerializedFileWriter::new(&mut octets, schema, Arc::new(properties)).unwrap();
    for rows in rows.chunks(ROWS) {
        let narrow = |of: fn(&Sighting) -> i32| rows.iter().map(of).collect::<Vec<_>>();
        let wide = |of: fn(&Sighting) -> Option<i64>| rows.iter().filter_map(of).collect::<Vec<_>>();
        let levels: Vec<_> = rows.iter().map(|row| i16::from(row.t_ns.is_some())).collect();
        let mut group = file.next_row_group().unwrap();
        column::<Int32Type>(&mut group, &narrow(|row| row.tap.into()), None);
        column::<Int32Type>(&mut group, &narrow(|row| row.stream.cast_signed()), None);
        column::<Int64Type>(&mut group, &wide(|row| Some(row.seq.cast_signed())), None);
        column::<Int32Type>(&mut group, &narrow(|row| row.copy.into()), None);
        column::<Int64Type>(&mut group, &wide(|row| row.t_ns), Some(&levels));
        column::<Int32Type>(&mut group, &narrow(|row| row.octets.cast_signed()), None);
        column::<Int32Type>(&mut group, &narrow(|row| row.pcp.into()), None);
        column::<Int32Type>(&mut group, &narrow(|row| row.vid.into()), None);
        group.close().unwrap();
    }
    file.close().unwrap();
    octets
}

fn found(rows: &[Sighting]) -> Vec<u8> {
    let mut octets = Vec::new();
    let mut writer = Writer::new(&mut octets, &Legend::default()).unwrap();
    for row in rows {
        writer.sight(*row).unwrap();
    }
    writer.finish().unwrap();
    octets
}

prop_compose! {
    /// Rows whose numbers use as many bits as they can.
    fn any_row()(
        numbers in any::<(u16, u32, u64, u8)>(), t_ns in any::<i64>(), more in any::<(u32, u8, u16)>()
    ) -> Sighting {
        let ((tap, stream, seq, copy), (octets, pcp, vid)) = (numbers, more);
        Sighting { tap, stream, seq, copy, t_ns: Some(t_ns), octets, pcp, vid }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn of_any_numbers(rows in prop::collection::vec(any_row(), 0..2500)) {
        prop_assert!(found(&rows) == expected(&rows));
    }
}

/// Numbers as in a run: every width from 0 to 40 bits occurs, at the edges of blocks and row groups.
#[test]
fn of_runs_of_every_length() {
    for count in [0, 1, 2, 128, 129, 1023, 1024, 1025, 1026, 2049, ROWS - 1, ROWS, ROWS + 1, 2 * ROWS + 1025]
    {
        let rows: Vec<_> = (0..count as u64)
            .map(|row| {
                let noise = row.wrapping_mul(6_364_136_223_846_793_005) >> (24 + row / 300 % 40);
                Sighting {
                    tap: (row % 2) as u16,
                    stream: (noise % 3) as u32,
                    seq: row / 6,
                    copy: 0,
                    t_ns: Some((row * 600 + noise).cast_signed()),
                    octets: 64 + (noise % 1459) as u32,
                    pcp: 6,
                    vid: 100,
                }
            })
            .collect();
        assert!(found(&rows) == expected(&rows), "{count} rows");
    }
}

/// Without any timestamps, too.
#[test]
fn of_rows_without_timestamps() {
    let one = Sighting { tap: 1, stream: 2, seq: 3, copy: 0, t_ns: None, octets: 64, pcp: 0, vid: 0 };
    for count in [1, 9, 1500] {
        let rows = vec![one; count];
        assert!(found(&rows) == expected(&rows), "{count} rows");
    }
}
