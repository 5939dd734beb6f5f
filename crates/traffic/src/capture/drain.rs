//! The end of a capture: all frames that the kernel has taken get into the file.

use super::file::Recording;
use crate::system::ring::Ring;
use crate::system::socket::Socket;
use std::io;
use std::time::{Duration, Instant};

/// A block that is not full is handed over after 0.1 s; a busy machine may be later.
const PATIENCE: Duration = Duration::from_secs(2);

/// Stops the kernel and reads until all frames that it counted are there; returns how many had no room.
///
/// Frames that the kernel counted and that never arrived are lost, too.
pub fn drain(ring: &mut Ring, interface: &str, recording: &mut Recording) -> io::Result<u64> {
    ring.close(interface)?;
    let counted = ring.socket().statistics()?;
    let kept = counted.frames.saturating_sub(counted.dropped);
    let mut progress = Instant::now();
    while recording.frames() < kept && progress.elapsed() < PATIENCE {
        if ring.read(|octets, arrival| recording.take(octets, arrival)) {
            progress = Instant::now();
        } else {
            wait(ring.socket())?;
        }
    }
    Ok(counted.dropped + kept.saturating_sub(recording.frames()))
}

/// Waits 1 ms, or until there is another frame.
fn wait(socket: &Socket) -> io::Result<()> {
    // An error of the socket is taken first: with an error, the call would return at once.
    let _ = socket.trouble()?;
    socket.wait(1).map(|_| ())
}
