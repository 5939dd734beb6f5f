//! Records received and sent frames of an interface, as `tcpdump -w` does, through a ring of memory.
//!
//! `tsnbench-traffic capture IFACE --file PATH` prints `capturing` once it records, and its counters at the end.

mod arguments;
mod drain;
mod file;
mod frame;

use crate::Error;
use crate::output::{print_line, print_message};
use crate::system::filter::Direction;
use crate::system::ring::Ring;
use crate::system::{clock, process};
use arguments::Arguments;
use file::Recording;
use serde::Serialize;
use std::io;

/// Interval at which the end is checked.
const LOOK_MS: i32 = 20;

/// The source of the frames' timestamps.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Stamps {
    Hardware,
    Software,
}

/// The last line on stdout.
#[derive(Serialize)]
struct Report {
    frames: u64,
    dropped: u64,
    missing_stamps: u64,
    stamps: Stamps,
}

/// Records until a signal, or the given time, ends the capture.
pub(crate) fn run(words: impl Iterator<Item = String>) -> Result<(), Error> {
    let arguments = Arguments::read(words)?;
    process::end_gently().map_err(|error| Error::System("signals", error))?;
    if let Some(cpu) = arguments.cpu {
        process::pin(cpu).map_err(|error| Error::System("the processor", error))?;
    }
    let on_interface = |error| Error::Interface(arguments.interface.clone(), error);
    let on_disk = |error| Error::File(arguments.file.clone(), error);
    let Arguments { direction, snap, ring_octets, .. } = arguments;
    let hardware = arguments.hardware && direction != Direction::Out;
    let mut ring =
        Ring::capture(&arguments.interface, ring_octets, direction, snap, hardware).map_err(on_interface)?;
    let (stamps, clock) = stamps(&arguments, &ring);
    let mut recording =
        Recording::create(&arguments.file, &arguments.interface, &clock, snap, stamps == Stamps::Hardware)
            .map_err(on_disk)?;
    print_line("capturing")?;
    let mut gone = None;
    while !over(&arguments)? {
        if ring.read(|octets, arrival| recording.take(octets, arrival)) {
            recording.fine().map_err(on_disk)?;
            continue;
        }
        if ring.socket().wait(LOOK_MS).map_err(on_interface)?
            && let Some(trouble) = ring.socket().trouble().map_err(on_interface)?
        {
            // An interface that is down may come up again.
            print_message(&format!("interface {}: {trouble}", arguments.interface));
        }
        // An interface that is gone does not return. The kernel reports only that it goes down, which comes first.
        if !ring.socket().has_interface().map_err(on_interface)? {
            gone = Some(io::Error::from_raw_os_error(libc::ENODEV));
            break;
        }
    }
    let dropped = drain::drain(&mut ring, &arguments.interface, &mut recording).map_err(on_interface)?;
    let (frames, missing_stamps) = (recording.frames(), recording.missing_stamps());
    recording.finish().map_err(on_disk)?;
    let report = Report { frames, dropped, missing_stamps, stamps };
    print_line(&serde_json::to_string(&report).map_err(|error| Error::System("stdout", error.into()))?)?;
    gone.map_or(Ok(()), |trouble| Err(on_interface(trouble)))
}

fn over(arguments: &Arguments) -> Result<bool, Error> {
    let now = clock::now_ns().map_err(|error| Error::System("CLOCK_TAI", error))?;
    Ok(process::end_requested() || arguments.until_ns.is_some_and(|until| now >= until))
}

/// The source of timestamps and the name of its clock; with a reason if it is not the requested one.
fn stamps(arguments: &Arguments, ring: &Ring) -> (Stamps, String) {
    let software = (Stamps::Software, "CLOCK_REALTIME".to_owned());
    if !arguments.hardware {
        return software;
    }
    let interface = &arguments.interface;
    let why = if arguments.direction == Direction::Out {
        "a capture has no hardware stamps of frames that leave".to_owned()
    } else {
        match ring.socket().stamps_of(interface) {
            Ok(found) if found.hardware_rx => match ring.socket().stamp_in_hardware(interface) {
                Ok(()) => {
                    let clock = found.phc.map_or_else(|| "PHC".to_owned(), |phc| format!("/dev/ptp{phc}"));
                    return (Stamps::Hardware, clock);
                }
                Err(error) => format!("it does not switch its hardware stamps on: {error}"),
            },
            _ => "it has no hardware stamps (ethtool -T: no hardware-receive)".to_owned(),
        }
    };
    print_message(&format!("interface {interface}: {why}; stamps are the kernel's"));
    software
}
