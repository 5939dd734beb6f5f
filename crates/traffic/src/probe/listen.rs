//! Receives probes on several interfaces at once.

use super::frame::{ETHERTYPE, Id, parse};
use crate::Error;
use crate::output::print_line;
use crate::system::socket::{Socket, index};
use crate::system::{clock, process};
use std::collections::BTreeSet;

/// Octets of a frame that are examined.
const HEAD: usize = 256;
/// Interval between two checks of an interface.
const LOOK_NS: i64 = 5_000_000;

/// Prints `INTERFACE ID` for each probe received, once per text.
pub fn listen(interfaces: &[String], for_ns: i64) -> Result<(), Error> {
    let mut sockets = Vec::new();
    for interface in interfaces {
        let on_interface = |error| Error::Interface(interface.clone(), error);
        sockets.push((interface, Socket::hearing(interface, ETHERTYPE).map_err(on_interface)?));
    }
    let now = || clock::now_ns().map_err(|error| Error::System("CLOCK_TAI", error));
    print_line("listening")?;
    let until = now()?.saturating_add(for_ns);
    let mut heard: BTreeSet<(&String, Id)> = BTreeSet::new();
    let mut octets = [0; HEAD];
    loop {
        // Probes that arrived before the end are also received if the program itself is late.
        let at = now()?;
        let over = process::end_requested() || at >= until;
        for (interface, socket) in &sockets {
            let on_interface = |error| Error::Interface((*interface).clone(), error);
            loop {
                match socket.receive(&mut octets) {
                    Ok(None) => break,
                    Ok(Some(arrival)) => {
                        let found = octets.get(..arrival.length).and_then(parse);
                        if let Some(id) = found.filter(|id| !heard.contains(&(*interface, id.clone()))) {
                            print_line(&format!("{interface} {}", id.text()))?;
                            heard.insert((interface, id));
                        }
                    }
                    // An interface that is down may come up again.
                    Err(_) if index(interface).is_ok() => break,
                    Err(error) => return Err(on_interface(error)),
                }
            }
        }
        if over {
            return Ok(());
        }
        clock::sleep_until(at.saturating_add(LOOK_NS).min(until))
            .map_err(|error| Error::System("CLOCK_TAI", error))?;
    }
}
