//! Sends a capture's frames as they are, at the pace at which they were captured.

use super::log::Log;
use crate::Error;
use crate::arguments::Arguments;
use crate::epoch;
use crate::system::socket::Socket;
use crate::system::{clock, process};
use tsn_capture::Reader;
use tsn_wire::link::Link;

/// How long before a frame's time the thread stops to sleep, in ns.
const EARLY_NS: i64 = 60_000;
/// Octets of a tag, by which the largest frame may be longer.
const LEAST: usize = 14;

/// Sends the capture's frames, beginning with its first timestamp.
pub fn replay(arguments: &Arguments) -> Result<(), Error> {
    let path = arguments.file.clone().unwrap_or_default();
    let broken = |what: String| Error::Capture(path.clone(), what);
    let mut reader = Reader::open(&path).map_err(|error| broken(error.to_string()))?;
    let Some((_, interface)) = arguments.ports.first() else {
        return Err(Error::Usage("--port: expected 0=INTERFACE".into()));
    };
    let mut socket = Socket::packet(interface).map_err(|error| Error::Interface(interface.clone(), error))?;
    let mut log = Log::new(1);
    if let Some(cpu) = arguments.cpu {
        process::pin(cpu).map_err(|error| Error::System("the processor", error))?;
    }
    let epoch_ns = epoch::epoch(arguments)?;
    if arguments.priority > 0 {
        process::become_punctual(arguments.priority)
            .map_err(|error| Error::System("real-time scheduling", error))?;
    }
    let clock = |error| Error::System("CLOCK_TAI", error);
    let mut first = None;
    while let Some(packet) = reader.read().map_err(|error| broken(error.to_string()))? {
        if packet.link != Link::Ethernet {
            return Err(broken("its frames are not Ethernet's".into()));
        }
        if packet.octets.len() < packet.original as usize || packet.octets.len() < LEAST {
            return Err(broken(format!("a frame of {} octets is not captured whole", packet.original)));
        }
        let t_ns = packet.t_ns.ok_or_else(|| broken("a frame has no stamp".into()))?;
        let from = *first.get_or_insert(t_ns);
        let due = epoch_ns.saturating_add(t_ns.saturating_sub(from).saturating_mul(arguments.dilate));
        let mut now = clock::now_ns().map_err(clock)?;
        if now < due - EARLY_NS {
            clock::sleep_until(due - EARLY_NS).map_err(clock)?;
        }
        while now < due && !process::end_requested() {
            now = clock::now_ns().map_err(clock)?;
        }
        if process::end_requested() {
            break;
        }
        let sent = socket.send(0, packet.octets, None);
        log.sent(0, now - due, sent.is_ok());
    }
    log.write(&arguments.log).map_err(|error| Error::File(arguments.log.clone(), error))
}
