//! Logs of live tools: a legend, then one record of 32 octets per sighting, little-endian.
//!
//! ```text
//!  tsnbench-sightings/1 LF, the legend as one line of JSON LF, then of each sighting
//!  tap u16 | pcp u8 | copy u8 | vid u16 | zero u16 | stream u32 | octets u32 | seq u64 | t i64 (ns)
//! ```
//!
//! The smallest i64 stands for a missing timestamp. Live tools have no time for Parquet; `tsnbench` converts their
//! logs.

use crate::{Legend, Sighting};
use std::io::{self, BufRead, Read, Write};

/// The first line of a log.
pub const MAGIC: &str = "tsnbench-sightings/1";
/// Octets of one record.
const OCTETS: usize = 32;
/// The value of a missing timestamp.
const MISSING: i64 = i64::MIN;

/// Writes a whole log.
///
/// # Errors
/// For example, the disk is full.
pub fn write<'a>(
    into: &mut impl Write,
    legend: &Legend,
    sightings: impl IntoIterator<Item = &'a Sighting>,
) -> io::Result<()> {
    writeln!(into, "{MAGIC}")?;
    serde_json::to_writer(&mut *into, legend)?;
    into.write_all(b"\n")?;
    for sighting in sightings {
        into.write_all(&record(sighting))?;
    }
    into.flush()
}

/// Reads a whole log.
///
/// # Errors
/// The file is not a log, or ends within a record.
pub fn read(from: &mut impl BufRead) -> io::Result<(Legend, Vec<Sighting>)> {
    let wrong =
        |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("not a log of sightings: {what}"));
    let mut line = String::new();
    // A legend contains taps and streams: a few hundred octets each.
    let mut head = from.take(1 << 26);
    head.read_line(&mut line)?;
    if line.trim_end() != MAGIC {
        return Err(wrong("another first line"));
    }
    line.clear();
    head.read_line(&mut line)?;
    if !line.ends_with('\n') {
        return Err(wrong("it ends inside its legend"));
    }
    let legend = serde_json::from_str(&line).map_err(|error| wrong(&error.to_string()))?;
    let mut rest = Vec::new();
    from.read_to_end(&mut rest)?;
    let (records, left) = rest.as_chunks::<OCTETS>();
    if !left.is_empty() {
        return Err(wrong("it ends inside a record"));
    }
    Ok((legend, records.iter().map(sighting).collect()))
}

fn record(sighting: &Sighting) -> [u8; OCTETS] {
    let mut octets = [0; OCTETS];
    let parts: [&[u8]; 9] = [
        &sighting.tap.to_le_bytes(),
        &[sighting.pcp],
        &[sighting.copy],
        &sighting.vid.to_le_bytes(),
        &[0, 0],
        &sighting.stream.to_le_bytes(),
        &sighting.octets.to_le_bytes(),
        &sighting.seq.to_le_bytes(),
        &sighting.t_ns.unwrap_or(MISSING).to_le_bytes(),
    ];
    let all = parts.into_iter().flatten();
    octets.iter_mut().zip(all).for_each(|(place, octet)| *place = *octet);
    octets
}

fn sighting(octets: &[u8; OCTETS]) -> Sighting {
    let [a, b, pcp, copy, c, d, _, _, rest @ ..] = *octets;
    let [s0, s1, s2, s3, o0, o1, o2, o3, rest @ ..] = rest;
    let [q0, q1, q2, q3, q4, q5, q6, q7, stamp @ ..] = rest;
    let t_ns = i64::from_le_bytes(stamp);
    Sighting {
        tap: u16::from_le_bytes([a, b]),
        stream: u32::from_le_bytes([s0, s1, s2, s3]),
        seq: u64::from_le_bytes([q0, q1, q2, q3, q4, q5, q6, q7]),
        copy,
        t_ns: (t_ns != MISSING).then_some(t_ns),
        octets: u32::from_le_bytes([o0, o1, o2, o3]),
        pcp,
        vid: u16::from_le_bytes([c, d]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Sighting = Sighting {
        tap: 0x0102,
        stream: 0x0304_0506,
        seq: 0x0708_090a_0b0c_0d0e,
        copy: 2,
        t_ns: Some(-3),
        octets: 1522,
        pcp: 7,
        vid: 100,
    };

    #[test]
    fn a_record_octet_by_octet() {
        let expected = [
            2, 1, 7, 2, 100, 0, 0, 0, 6, 5, 4, 3, 0xf2, 5, 0, 0, 14, 13, 12, 11, 10, 9, 8, 7, 0xfd, 255, 255,
            255, 255, 255, 255, 255,
        ];
        assert_eq!(record(&ONE), expected);
        assert_eq!(sighting(&expected), ONE);
    }

    #[test]
    fn what_is_written_is_read_and_all_else_refused() {
        let all = [ONE, Sighting { t_ns: None, ..ONE }];
        let mut octets = Vec::new();
        write(&mut octets, &Legend::default(), &all).unwrap();
        assert_eq!(read(&mut octets.as_slice()).unwrap(), (Legend::default(), all.to_vec()));
        assert!(read(&mut &octets[..octets.len() - 1]).is_err());
        for end in 0..octets.len() - 64 {
            assert!(read(&mut &octets[..end]).is_err(), "{end}");
        }
    }
}
