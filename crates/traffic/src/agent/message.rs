//! Messages between controller and agent: a line of JSON, then as many octets as its `body` states.

use super::reservation::Holder;
use crate::system::clock;
use serde_json::{Value, json};
use std::io::{self, BufRead, Read, Write};
use std::sync::{Mutex, PoisonError};

/// Most octets of a header.
const LONGEST_HEADER: u64 = 1 << 20;
/// Most octets of a body.
const LONGEST_BODY: u64 = 1 << 28;

/// Standard output belongs to one message at a time.
static SPEAKING: Mutex<()> = Mutex::new(());

/// A received message.
#[derive(Debug)]
pub struct Message {
    pub header: Value,
    pub body: Vec<u8>,
}

/// Reads the next message; none at the end.
///
/// # Errors
/// When the input is not a message.
pub fn read(input: &mut impl BufRead) -> io::Result<Option<Message>> {
    let mut line = Vec::new();
    input.by_ref().take(LONGEST_HEADER).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    let broken = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    if line.pop() != Some(b'\n') {
        return Err(broken("a header without an end"));
    }
    let header: Value = serde_json::from_slice(&line).map_err(|error| broken(&error.to_string()))?;
    let length = header.get("body").and_then(Value::as_u64).unwrap_or(0);
    if length > LONGEST_BODY {
        return Err(broken("a body that is too long"));
    }
    let mut body = Vec::new();
    input.by_ref().take(length).read_to_end(&mut body)?;
    if body.len() as u64 != length {
        return Err(broken("a body without an end"));
    }
    Ok(Some(Message { header, body }))
}

/// Sends a message; if nobody reads it, it is lost.
pub fn print_line(mut header: Value, body: &[u8]) {
    if !body.is_empty() {
        header["body"] = body.len().into();
    }
    let _speaking = SPEAKING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{header}").and_then(|()| out.write_all(body)).and_then(|()| out.flush());
}

/// The present time on TAI; 0 if the kernel has no such clock.
pub fn now_ns() -> i64 {
    clock::now_ns().unwrap_or(0)
}

/// Reports that another controller holds the host.
pub fn held(holder: &Holder) {
    print_line(
        json!({"event": "held", "owner": holder.owner, "since_ns": holder.since_ns, "now_ns": now_ns()}),
        &[],
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(octets: &[u8]) -> io::Result<Option<Message>> {
        read(&mut io::BufReader::new(octets))
    }

    #[test]
    fn a_message_is_a_line_and_its_body() {
        let found = first(b"{\"id\":1,\"body\":3}\nabcrest").unwrap().unwrap();
        assert_eq!(found.header["id"], 1);
        assert_eq!(found.body, b"abc");
        assert!(first(b"").unwrap().is_none());
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        for bad in [&b"{"[..], b"{}", b"nothing\n", b"{\"body\":4}\nabc", b"{\"body\":99999999999}\n"] {
            assert!(first(bad).is_err(), "{bad:?}");
        }
    }
}
