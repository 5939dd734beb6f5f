//! Payloads that number their frames, which identifies a frame in every capture: of test tools, and of protocols.

pub mod avtp;
pub mod ethercat;
pub mod ethernet_ip;
pub mod flextest;
pub mod iec61850;
pub mod iperf3;
pub mod netlatency;
pub mod profinet;
pub mod rtc_testbench;
pub mod rtp;
pub mod rtps;
pub mod send_udp;
pub mod someip;
pub mod tsnbench;
pub mod uadp;

use crate::Error;

/// The first `N` octets of `bytes`, or an error.
pub(crate) fn head<'a, const N: usize>(what: &'static str, bytes: &'a [u8]) -> Result<&'a [u8; N], Error> {
    bytes.first_chunk().ok_or(Error::Truncated { what, needed: N, found: bytes.len() })
}

/// `N` octets from `at`, zeros where there are none.
pub(crate) fn octets<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut found = [0; N];
    if let Some(part) = bytes.get(at..at + N) {
        found.copy_from_slice(part);
    }
    found
}

/// A hash of a name, so that an identifier has a fixed length; not for secrets.
pub(crate) fn hash(name: &[u8]) -> u64 {
    name.iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, octet| (hash ^ u64::from(*octet)).wrapping_mul(0x0100_0000_01b3))
}
