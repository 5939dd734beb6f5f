//! How many frames per second two captures become measures at:
//! `cargo run --release -p tsn-measure --example pair_speed [million frames] [streams] [octets]`.
//!
//! Writes two pcap files to the temporary folder (captured as 96 octets per frame, as one would with a snap length), then
//! measures them, on one thread.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;
use tsn_measure::captures::{Options, measure};
use tsn_wire::build::{FrameSpec, frame};
use tsn_wire::{Mac, Tag};

/// Octets kept of each frame.
const SNAP: usize = 96;

/// A nanosecond pcap file.
struct Pcap(BufWriter<File>);

impl Pcap {
    fn create(path: &Path) -> std::io::Result<Self> {
        let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
        for word in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, SNAP as u32, 1] {
            file.write_all(&word.to_le_bytes())?;
        }
        Ok(Self(file))
    }

    fn frame(&mut self, t_ns: u64, octets: &[u8]) -> std::io::Result<()> {
        let kept = &octets[..octets.len().min(SNAP)];
        let words = [t_ns / 1_000_000_000, t_ns % 1_000_000_000, kept.len() as u64, octets.len() as u64];
        for word in words {
            self.0.write_all(&(word as u32).to_le_bytes())?;
        }
        self.0.write_all(kept)
    }
}

fn write(folder: &Path, frames: u64, streams: u64, octets: u32) -> std::io::Result<[PathBuf; 2]> {
    let paths =
        ["tx", "rx"].map(|side| folder.join(format!("tsnbench-pair-{side}-{}.pcap", std::process::id())));
    let (mut tx, mut rx) = (Pcap::create(&paths[0])?, Pcap::create(&paths[1])?);
    let mut bytes = Vec::new();
    let mut noise = 1_u64;
    for number in 0..frames {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let stream = number % streams;
        let spec = FrameSpec {
            destination: Mac([2, 0, 0, 0, 0, 1]),
            source: Mac([2, 0, 0, 0, 1, stream as u8]),
            tag: Some(Tag { pcp: 6, dei: false, vid: 100 }),
            ipv4_source: [10, 0, 0, 2],
            ipv4_destination: [10, 0, 0, 1],
            udp_port: 5001,
            octets,
            stream: stream as u32,
            seq: number / streams,
            intended_ns: 0,
            type_of_service: 0,
            telegram: None,
        };
        frame(&spec, &mut bytes).map_err(std::io::Error::other)?;
        let sent = 1_700_000_000_000_000_000 + number * 1000 + (noise >> 58);
        tx.frame(sent, &bytes)?;
        // One in a thousand is lost; delays spread over 8 us.
        if noise >> 32 & 1023 != 0 {
            rx.frame(sent + 20_000 + (noise >> 51), &bytes)?;
        }
    }
    tx.0.flush()?;
    rx.0.flush()?;
    Ok(paths)
}

/// The most memory that this process has had, as the kernel counts it.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "unknown".into(), |text| text.trim().to_owned())
}

/// How long this thread has run, as the kernel counts it.
fn processor_ns() -> Option<u64> {
    std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let mut next = |otherwise: u64| numbers.next().transpose().map(|number| number.unwrap_or(otherwise));
    let (millions, streams, octets) = (next(5)?, next(4)?, next(256)?);
    let frames = millions * 1_000_000;
    let [tx, rx] = write(&std::env::temp_dir(), frames, streams.clamp(1, 256), u32::try_from(octets)?)?;
    let (begun, busy) = (Instant::now(), processor_ns());
    let measures = measure(std::slice::from_ref(&tx), std::slice::from_ref(&rx), &Options::default(), None)?;
    let elapsed = begun.elapsed().as_secs_f64();
    // On a machine that does other things too, the processor's own account says more than the clock on the wall.
    let took = processor_ns().zip(busy).map_or(elapsed, |(after, before)| (after - before) as f64 / 1e9);
    let (sent, received) = measures
        .paths
        .iter()
        .fold((0, 0), |(sent, received), path| (sent + path.count.sent, received + path.count.received));
    println!("frames        {sent} sent, {received} received, {} streams", measures.paths.len());
    println!("time          {took:.3} s of one processor, {elapsed:.3} s elapsed");
    println!("frames        {:.2} million per second (each seen twice)", sent as f64 / took / 1e6);
    println!("sightings     {:.2} million per second", (sent + received) as f64 / took / 1e6);
    println!("peak memory   {}", peak_memory());
    std::fs::remove_file(tx)?;
    std::fs::remove_file(rx)?;
    Ok(())
}
