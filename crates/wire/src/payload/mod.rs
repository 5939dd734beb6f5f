//! Payloads of test tools, which identify a frame in every capture.

pub mod flextest;
pub mod iperf3;
pub mod netlatency;
pub mod rtc_testbench;
pub mod send_udp;
pub mod tsnbench;

use crate::Error;

/// The first `N` octets of `bytes`, or an error.
fn head<'a, const N: usize>(what: &'static str, bytes: &'a [u8]) -> Result<&'a [u8; N], Error> {
    bytes.first_chunk().ok_or(Error::Truncated { what, needed: N, found: bytes.len() })
}

/// `N` octets from `at`; the caller has checked the length.
fn octets<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut found = [0; N];
    if let Some(part) = bytes.get(at..at + N) {
        found.copy_from_slice(part);
    }
    found
}
