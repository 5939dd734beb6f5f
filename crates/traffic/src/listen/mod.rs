//! Receives frames, and reports those that arrived, those that are missing, and those that the program was too slow
//! for.

mod arrivals;

use crate::Error;
use crate::arguments::Arguments;
use crate::epoch;
use crate::output::print_line;
use crate::system::receive::Statistics;
use crate::system::ring::Ring;
use crate::system::socket::Socket;
use crate::system::{clock, process};
use crate::timestamps::Sightings;
use arrivals::Arrivals;
use tsn_observation::{Legend, TapLegend};
use tsn_plan::Stage;

/// Octets of a frame that are examined.
const HEAD: usize = 2048;
/// Interval at which the end is checked.
const LOOK_MS: i32 = 20;
/// Buffer of a socket without a ring.
const ROOM: i32 = 1 << 24;

enum Source {
    Ring(Ring),
    Calls(Socket),
}

impl Source {
    fn socket(&self) -> &Socket {
        match self {
            Self::Ring(ring) => ring.socket(),
            Self::Calls(socket) => socket,
        }
    }
}

/// Listens on all given ports until the end.
///
/// Prints `listening` once it does, unless a file or standard input gives the Plan's zero: then [`epoch::wait`] says so.
pub fn listen(arguments: &Arguments) -> Result<(), Error> {
    let plan = crate::plan(arguments)?;
    if let Some(cpu) = arguments.cpu {
        process::pin(cpu).map_err(|error| Error::System("the processor", error))?;
    }
    let mut sources = Vec::new();
    for (port, interface) in &arguments.ports {
        let on_interface = |error| Error::Interface(interface.clone(), error);
        let source = if arguments.wake {
            let socket = Socket::listening(interface).map_err(on_interface)?;
            socket
                .room(ROOM.min(i32::try_from(arguments.ring_kib << 10).unwrap_or(ROOM)))
                .map_err(on_interface)?;
            Source::Calls(socket)
        } else {
            Source::Ring(Ring::open(interface, arguments.ring_kib << 10).map_err(on_interface)?)
        };
        sources.push((*port, interface.clone(), source, Statistics::default()));
    }
    let mut sights = match (&arguments.sights, &plan) {
        (None, _) => None,
        (Some(_), Some(plan)) => Some(Sightings::new(plan)),
        (Some(_), None) => Some(alone(&arguments.ports)),
    };
    for (port, interface, source, _) in &sources {
        let why = hardware(source.socket(), interface, arguments);
        if let (Some(sights), Some(why)) = (&mut sights, why) {
            sights.missing(*port, Stage::Rx, &why);
        }
    }
    let ahead_ns = clock::tai_ahead_ns().map_err(|error| Error::System("CLOCK_TAI", error))?;
    if arguments.priority > 0 {
        process::become_punctual(arguments.priority)
            .map_err(|error| Error::System("real-time scheduling", error))?;
    }
    let epoch_ns = epoch::given_epoch(arguments)?;
    let until_ns = arguments.until_ns.or_else(|| Some(epoch_ns?.saturating_add(arguments.for_ns?)));
    let mut arrivals = Arrivals::new(plan.as_ref(), sights, ahead_ns, epoch_ns, arguments.dilate);
    // Frames that arrived before are not counted.
    for (_, _, source, _) in &sources {
        let _ = source.socket().statistics();
    }
    if arguments.epoch_from.is_none() {
        print_line("listening")?;
    }
    let mut octets = vec![0; HEAD];
    while !over(arguments.count, until_ns, &arrivals)? {
        let mut idle = true;
        for (port, interface, source, counted) in &mut sources {
            let on_interface = |error| Error::Interface(interface.clone(), error);
            idle &= !take(source, *port, &mut octets, &mut arrivals).map_err(on_interface)?;
            let more = source.socket().statistics().map_err(on_interface)?;
            counted.frames += more.frames;
            counted.dropped += more.dropped;
        }
        if idle && let [(_, interface, source, _)] = sources.as_slice() {
            source.socket().wait(LOOK_MS).map_err(|error| Error::Interface(interface.clone(), error))?;
        } else if idle {
            let now = clock::now_ns().map_err(|error| Error::System("CLOCK_TAI", error))?;
            clock::sleep_until(now + 1_000_000).map_err(|error| Error::System("CLOCK_TAI", error))?;
        }
    }
    let interfaces = sources.into_iter().map(|(_, interface, _, counted)| (interface, counted)).collect();
    arrivals.finish(interfaces, arguments)
}

/// Takes all waiting frames; returns whether there was one.
fn take(source: &mut Source, port: u32, octets: &mut [u8], arrivals: &mut Arrivals) -> std::io::Result<bool> {
    match source {
        Source::Ring(ring) => {
            let now = clock::now_ns()?;
            Ok(ring.read(|octets, arrival| arrivals.received(port, octets, arrival, now)))
        }
        Source::Calls(socket) => {
            let mut some = false;
            while let Some(arrival) = socket.receive(octets)? {
                let now = clock::now_ns()?;
                some = true;
                arrivals.received(port, octets.get(..arrival.length).unwrap_or_default(), arrival, now);
                if process::end_requested() {
                    break;
                }
            }
            Ok(some)
        }
    }
}

fn over(count: Option<u64>, until_ns: Option<i64>, arrivals: &Arrivals) -> Result<bool, Error> {
    let now = clock::now_ns().map_err(|error| Error::System("CLOCK_TAI", error))?;
    Ok(process::end_requested()
        || until_ns.is_some_and(|until| now >= until)
        || count.is_some_and(|count| arrivals.frames() >= count))
}

/// Switches on hardware timestamps if they are requested; returns why there are none.
fn hardware(socket: &Socket, interface: &str, arguments: &Arguments) -> Option<String> {
    if !arguments.hardware {
        return Some("hardware timestamps were not requested".into());
    }
    match socket.stamps_of(interface) {
        Ok(stamps) if stamps.hardware_rx => socket
            .stamp_in_hardware(interface)
            .err()
            .map(|error| format!("{interface} does not switch its hardware stamps on: {error}")),
        _ => Some(format!("{interface} has no hardware stamps (ethtool -T: no hardware-receive)")),
    }
}

/// Three taps for each interface, if there is no Plan.
fn alone(ports: &[(u32, String)]) -> Sightings {
    let stages = [Stage::Rx, Stage::KernelRx, Stage::AppRx];
    let taps = ports.iter().flat_map(|(port, interface)| stages.map(|stage| (*port, interface, stage)));
    let legend = taps.clone().map(|(_, interface, stage)| TapLegend {
        name: format!("{interface} {}", stage.name()),
        node: interface.clone(),
        stage: stage.name().into(),
        clock: if stage == Stage::Rx { "phc" } else { "tai" }.into(),
        point: "end".into(),
        missing: None,
    });
    let legend = Legend { plan: None, taps: legend.collect(), streams: Vec::new() };
    Sightings::at(legend, taps.map(|(port, _, stage)| (port, stage)))
}
