//! Sends probes.

use super::frame::{Id, build};
use crate::Error;
use crate::system::socket::Socket;
use std::io;
use std::thread::sleep;
use std::time::Duration;

/// Between two probes.
const PAUSE: Duration = Duration::from_millis(20);

/// Sends `count` probes.
pub fn send(interface: &str, id: &Id, count: u32) -> Result<(), Error> {
    let on_interface = |error: io::Error| Error::Interface(interface.to_owned(), error);
    let mut socket = Socket::packet(interface).map_err(on_interface)?;
    let octets = build(socket.address_of(interface).map_err(on_interface)?, id);
    for number in 0..count {
        if number > 0 {
            sleep(PAUSE);
        }
        socket.send(0, &octets, None).map_err(on_interface)?;
    }
    Ok(())
}
