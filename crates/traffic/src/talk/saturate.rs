//! Talkers that always have frames waiting: each fills its own socket's buffer, in a thread of ordinary priority.
//!
//! A frame counts against its socket's buffer until it has left the port, and a call that sends waits for room. The
//! kernel wakes the thread when less than half of the buffer is used: with room for `2 × backlog - 1` frames, this is
//! when `backlog - 1` are left. So the queue contains about as many frames as the Plan requires, never runs empty,
//! and drops none.

use super::frames;
use crate::Error;
use crate::arguments::Arguments;
use crate::system::socket::Socket;
use crate::system::{clock, process};
use std::io;
use std::thread::JoinHandle;
use tsn_sim::live::Saturating;

/// Frames per call.
const BATCH: usize = 16;
/// A call returns after this time, so that the thread can check for the end.
const PATIENCE_US: i64 = 10_000;
/// Octets that the kernel counts for a frame in addition to its own, before it rounds up: space for headers and the
/// kernel's records.
const BESIDE: usize = 384;
const NOTES: usize = 256;

/// A running talker; at its end it returns how many frames it sent.
pub type Filling = (u32, JoinHandle<Result<u64, Error>>);

/// Begins all talkers.
pub fn begin(all: Vec<Saturating>, arguments: &Arguments, epoch_ns: i64) -> Result<Vec<Filling>, Error> {
    let mut begun = Vec::new();
    for talker in all {
        let Some((_, interface)) = arguments.ports.iter().find(|(port, _)| *port == talker.port) else {
            return Err(Error::Usage(format!("--port: no interface for port {}", talker.port)));
        };
        let on_interface = |error| Error::Interface(interface.clone(), error);
        let socket = match arguments.udp {
            None => Socket::packet(interface),
            Some(to) => Socket::udp(interface, to, talker.udp_port()),
        };
        let socket = socket.map_err(on_interface)?;
        socket.give_up_after(PATIENCE_US).map_err(on_interface)?;
        let number = talker.stream();
        let arguments = arguments.clone();
        let interface = interface.clone();
        let thread = std::thread::Builder::new()
            .spawn(move || fill(talker, socket, &arguments, epoch_ns, &interface))
            .map_err(|error| Error::System("a thread", error))?;
        begun.push((number, thread));
    }
    Ok(begun)
}

/// Waits for the end of all talkers; returns streams and frames.
pub fn end(begun: Vec<Filling>) -> Result<Vec<(u32, u64)>, Error> {
    let broken = |_| Error::System("a thread", io::Error::other("it broke off"));
    begun.into_iter().map(|(stream, thread)| Ok((stream, thread.join().map_err(broken)??))).collect()
}

fn fill(
    mut talker: Saturating,
    mut socket: Socket,
    arguments: &Arguments,
    epoch_ns: i64,
    interface: &str,
) -> Result<u64, Error> {
    let on_interface = |error| Error::Interface(interface.to_owned(), error);
    let clock = |error| Error::System("CLOCK_TAI", error);
    let at = |ns: i64| epoch_ns.saturating_add(ns.saturating_mul(arguments.dilate));
    let (from, to) = (at(talker.span_ns.0), at(talker.span_ns.1));
    clock::sleep_until(from).map_err(clock)?;
    let batch = BATCH.min(talker.backlog.max(1) as usize);
    let (mut ready, mut sent, mut room) = (Vec::with_capacity(batch), 0, 0);
    loop {
        let now = clock::now_ns().map_err(clock)?;
        if now >= to || process::end_requested() {
            return Ok(sent);
        }
        if let Some((_, until)) =
            talker.silent_ns.iter().find(|(from, until)| at(*from) <= now && now < at(*until))
        {
            clock::sleep_until(at(*until).min(to)).map_err(clock)?;
            continue;
        }
        while ready.len() < batch {
            let mut octets = Vec::new();
            let frame = talker.next_frame();
            let intended_ns =
                if arguments.absolute { now } else { (now - epoch_ns) / arguments.dilate.max(1) };
            let frame = tsn_wire::build::FrameSpec { intended_ns, ..frame };
            let skip = frames::build(&frame, arguments, &mut octets)?;
            octets.drain(..skip);
            if octets.len() > room {
                room = octets.len();
                let truesize = (room + BESIDE).next_power_of_two() + NOTES;
                let backlog = talker.backlog.max(1) as usize;
                let whole = truesize.saturating_mul(2 * backlog - 1);
                socket.buffer(i32::try_from(whole).unwrap_or(i32::MAX)).map_err(on_interface)?;
            }
            ready.push(octets);
        }
        match socket.send_many(talker.pcp, &ready) {
            Ok(count) => {
                sent += count as u64;
                ready.drain(..count.min(ready.len()));
            }
            Err(error)
                if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::ConnectionRefused) => {}
            // A queue of the kernel with a limit below the backlog is full: the frame is not lost, it is sent again.
            Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => std::thread::yield_now(),
            Err(error) => return Err(on_interface(error)),
        }
    }
}
