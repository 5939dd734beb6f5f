//! What the kernel says of a frame that was sent, on the socket's error queue: its stamps, or why it was dropped.
//!
//! The kernel's documentation, networking/timestamping, 2.1; etf(8).

use super::control::{self, Plain, Room};
use super::socket::Socket;
use super::{clock, counted};
use std::mem::zeroed;
use std::os::fd::AsRawFd;

/// `SCM_TSTAMP_SCHED` of linux/errqueue.h; `SCM_TSTAMP_SND` is 0.
const SCHEDULED: u32 = 1;
/// `SO_EE_ORIGIN_TXTIME` of the same.
const OF_LAUNCH: u8 = 6;
/// `SO_EE_CODE_TXTIME_MISSED` of the same.
const MISSED: u8 = 2;

/// What happened to a frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was handed to the queueing discipline, on the kernel's UTC.
    Qdisc(i64),
    /// It was handed to the driver, on the kernel's UTC.
    Driver(i64),
    /// It left, on the clock of the hardware.
    Hardware(i64),
    /// Its launch time passed first.
    Missed,
    /// Its launch time was none that the queueing discipline takes.
    Invalid,
}

impl Socket {
    /// The next one, and as much of the frame as fits `octets`: how many octets. None where nothing waits.
    ///
    /// What is neither stamp nor drop is passed over.
    pub fn notice(&self, octets: &mut [u8]) -> Option<(Fate, usize)> {
        loop {
            let mut room: Room = [0; 64];
            let mut part = libc::iovec { iov_base: octets.as_mut_ptr().cast(), iov_len: octets.len() };
            // SAFETY: all of `msghdr` may be zero.
            let mut header: libc::msghdr = unsafe { zeroed() };
            header.msg_iov = &raw mut part;
            header.msg_iovlen = 1;
            header.msg_control = room.as_mut_ptr().cast();
            header.msg_controllen = size_of_val(&room) as _;
            let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
            // SAFETY: the header names live buffers with their true lengths.
            let length =
                counted(unsafe { libc::recvmsg(self.fd.as_raw_fd(), &raw mut header, flags) }).ok()?;
            let (mut stamps, mut error) = (None, None);
            // SAFETY: recvmsg has just filled the header, whose buffers are alive.
            unsafe {
                control::each(&header, |level, kind, data| match (level, kind) {
                    (libc::SOL_SOCKET, libc::SO_TIMESTAMPING) => {
                        stamps = Some(<[libc::timespec; 3]>::read(data));
                    }
                    (libc::SOL_PACKET, libc::PACKET_TX_TIMESTAMP) | (libc::SOL_IP, libc::IP_RECVERR) => {
                        error = Some(libc::sock_extended_err::read(data));
                    }
                    _ => {}
                });
            }
            if let Some(fate) = error.and_then(|error| fate(&error, stamps)) {
                return Some((fate, length));
            }
        }
    }
}

fn fate(error: &libc::sock_extended_err, stamps: Option<[libc::timespec; 3]>) -> Option<Fate> {
    if error.ee_origin == OF_LAUNCH {
        return Some(if error.ee_code == MISSED { Fate::Missed } else { Fate::Invalid });
    }
    if error.ee_origin != libc::SO_EE_ORIGIN_TIMESTAMPING {
        return None;
    }
    let [software, _, hardware] = stamps?;
    let (software, hardware) = (clock::ns(software), clock::ns(hardware));
    match (error.ee_info, software, hardware) {
        (SCHEDULED, at, _) if at != 0 => Some(Fate::Qdisc(at)),
        (0, _, at) if at != 0 => Some(Fate::Hardware(at)),
        (0, at, _) if at != 0 => Some(Fate::Driver(at)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fates_are_told_apart() {
        let error = |ee_origin, ee_code, ee_info| libc::sock_extended_err {
            ee_errno: 0,
            ee_origin,
            ee_type: 0,
            ee_code,
            ee_pad: 0,
            ee_info,
            ee_data: 0,
        };
        let at = |tv_sec| libc::timespec { tv_sec, tv_nsec: 5 };
        let none = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let (software, hardware) = (Some([at(1), none, none]), Some([none, none, at(2)]));
        assert_eq!(fate(&error(4, 0, 1), software), Some(Fate::Qdisc(1_000_000_005)));
        assert_eq!(fate(&error(4, 0, 0), software), Some(Fate::Driver(1_000_000_005)));
        assert_eq!(fate(&error(4, 0, 0), hardware), Some(Fate::Hardware(2_000_000_005)));
        assert_eq!(fate(&error(6, 2, 0), None), Some(Fate::Missed));
        assert_eq!(fate(&error(6, 1, 0), None), Some(Fate::Invalid));
        assert_eq!(fate(&error(2, 0, 0), software), None);
        assert_eq!(fate(&error(4, 0, 1), Some([none, none, none])), None);
    }
}
