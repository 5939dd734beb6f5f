//! How long one row takes: `cargo run --release -p tsn-observation --example write_rows [million rows]`.

use std::time::Instant;
use tsn_observation::parquet::{Reader, Writer};
use tsn_observation::{Legend, Sighting, Sink, StreamLegend, TapLegend};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let millions: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(20);
    let path = std::env::temp_dir().join(format!("tsnbench-write-rows-{}.parquet", std::process::id()));
    let tap = |name: &str| TapLegend {
        name: name.into(),
        node: "node".into(),
        stage: "rx".into(),
        clock: "true".into(),
        point: "end".into(),
        missing: None,
    };
    let stream = |name: &str| StreamLegend { name: name.into(), group: name.into() };
    let legend = Legend {
        plan: None,
        taps: vec![tap("a"), tap("b")],
        streams: vec![stream("one"), stream("two"), stream("three")],
    };
    let rows = millions * 1_000_000;
    let begun = Instant::now();
    let mut writer = Writer::create(&path, &legend)?;
    let mut noise = 1_u64;
    for row in 0..rows {
        // Two taps, three streams, times with noise in the low bits: what a star's run looks like.
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let late = row % 2;
        writer.sight(Sighting {
            tap: late as u16,
            stream: (noise >> 62) as u32 % 3,
            seq: row / 6,
            copy: 0,
            t_ns: Some((row * 600 + late * 12_000 + (noise >> 54)) as i64),
            octets: if noise >> 63 == 0 { 1522 } else { 1518 },
            pcp: 6,
            vid: 100,
        })?;
    }
    let written = writer.finish()?;
    let wrote = begun.elapsed();
    let size = std::fs::metadata(&path)?.len();
    let begun = Instant::now();
    let mut reader = Reader::open(&path)?;
    let mut batch = Vec::new();
    let mut read = 0;
    while reader.read(&mut batch)? {
        read += batch.len() as u64;
    }
    let per_row = |took: std::time::Duration| took.as_secs_f64() * 1e9 / rows as f64;
    println!("rows      {written} written, {read} read");
    println!("write     {:.1} ns per row", per_row(wrote));
    println!("read      {:.1} ns per row", per_row(begun.elapsed()));
    println!("file      {:.2} octets per row", size as f64 / rows as f64);
    std::fs::remove_file(&path)?;
    Ok(())
}
