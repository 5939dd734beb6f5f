//! Reports of the kernel about sent frames, on the socket's error queue: timestamps, or the cause of a drop.
//!
//! The kernel's documentation, networking/timestamping, 2.1; etf(8).

use super::control::{self, Plain, Room};
use super::socket::Socket;
use super::{clock, counted};
use std::mem::zeroed;
use std::os::fd::AsRawFd;

/// `SCM_TSTAMP_SCHED` of linux/errqueue.h; `SCM_TSTAMP_SND` is 0.
const SCHEDULED: u32 = 1;
/// `SO_EE_ORIGIN_TXTIME` of linux/errqueue.h.
const OF_LAUNCH: u8 = 6;
/// `SO_EE_CODE_TXTIME_MISSED` of linux/errqueue.h.
const MISSED: u8 = 2;

/// The kernel's report about a frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum SendReport {
    /// The frame was handed to the queueing discipline, on the kernel's UTC.
    Qdisc(i64),
    /// The frame was handed to the driver, on the kernel's UTC.
    Driver(i64),
    /// The frame left, on the clock of the hardware.
    Hardware(i64),
    /// The frame's launch time passed before it was sent.
    Missed,
    /// The queueing discipline does not accept the frame's launch time.
    Invalid,
}

impl Socket {
    /// The next report, and the number of the frame's octets that fit into `octets`. None if there is no report.
    ///
    /// Messages that report neither a timestamp nor a drop are skipped.
    pub fn next_report(&self, octets: &mut [u8]) -> Option<(SendReport, usize)> {
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
            if let Some(report) = error.and_then(|error| report_of(&error, stamps)) {
                return Some((report, length));
            }
        }
    }
}

fn report_of(error: &libc::sock_extended_err, stamps: Option<[libc::timespec; 3]>) -> Option<SendReport> {
    if error.ee_origin == OF_LAUNCH {
        return Some(if error.ee_code == MISSED { SendReport::Missed } else { SendReport::Invalid });
    }
    if error.ee_origin != libc::SO_EE_ORIGIN_TIMESTAMPING {
        return None;
    }
    let [software, _, hardware] = stamps?;
    let (software, hardware) = (clock::ns(software), clock::ns(hardware));
    match (error.ee_info, software, hardware) {
        (SCHEDULED, at, _) if at != 0 => Some(SendReport::Qdisc(at)),
        (0, _, at) if at != 0 => Some(SendReport::Hardware(at)),
        (0, at, _) if at != 0 => Some(SendReport::Driver(at)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_report_has_its_kind() {
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
        assert_eq!(report_of(&error(4, 0, 1), software), Some(SendReport::Qdisc(1_000_000_005)));
        assert_eq!(report_of(&error(4, 0, 0), software), Some(SendReport::Driver(1_000_000_005)));
        assert_eq!(report_of(&error(4, 0, 0), hardware), Some(SendReport::Hardware(2_000_000_005)));
        assert_eq!(report_of(&error(6, 2, 0), None), Some(SendReport::Missed));
        assert_eq!(report_of(&error(6, 1, 0), None), Some(SendReport::Invalid));
        assert_eq!(report_of(&error(2, 0, 0), software), None);
        assert_eq!(report_of(&error(4, 0, 1), Some([none, none, none])), None);
    }
}
