//! The few calls to the kernel that have no safe wrapper here: packet sockets, absolute sleep, real-time scheduling.
//!
//! The project's only unsafe code. Every block hands the kernel pointers to live locals, and checks what it returns.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A packet socket on one interface, for sending whole Ethernet frames.
#[derive(Debug)]
pub struct PacketSocket {
    socket: OwnedFd,
    priority: Option<u8>,
}

impl PacketSocket {
    /// Opens it on the interface of this name. It receives nothing.
    ///
    /// # Errors
    /// When there is no such interface, or without the capability `CAP_NET_RAW`.
    pub fn open(interface: &str) -> io::Result<Self> {
        let name = CString::new(interface)?;
        // SAFETY: `name` is a live string that ends with zero.
        let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
        if index == 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: no pointers; what comes back is checked before it becomes an owned descriptor.
        let socket = unsafe {
            let fd = libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(fd)
        };
        // SAFETY: all of `sockaddr_ll` may be zero; the kernel reads exactly the size that it is told.
        let bound = unsafe {
            let mut address: libc::sockaddr_ll = zeroed();
            address.sll_family = libc::AF_PACKET as u16;
            address.sll_ifindex = i32::try_from(index).map_err(io::Error::other)?;
            libc::bind(
                socket.as_raw_fd(),
                (&raw const address).cast(),
                size_of::<libc::sockaddr_ll>() as libc::socklen_t,
            )
        };
        checked(bound)?;
        Ok(Self { socket, priority: None })
    }

    /// Sends a frame with a priority (`SO_PRIORITY`), which qdiscs map to a class.
    ///
    /// # Errors
    /// What the kernel says; `ENOBUFS` where the queue is full.
    pub fn send(&mut self, priority: u8, frame: &[u8]) -> io::Result<()> {
        if self.priority != Some(priority) {
            let value = libc::c_int::from(priority);
            // SAFETY: the kernel reads one integer from a live local.
            checked(unsafe {
                libc::setsockopt(
                    self.socket.as_raw_fd(),
                    libc::SOL_SOCKET,
                    libc::SO_PRIORITY,
                    (&raw const value).cast(),
                    size_of::<libc::c_int>() as libc::socklen_t,
                )
            })?;
            self.priority = Some(priority);
        }
        // SAFETY: the kernel reads `frame`, which lives, up to its length.
        let sent = unsafe { libc::send(self.socket.as_raw_fd(), frame.as_ptr().cast(), frame.len(), 0) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// What TAI says, in ns.
///
/// # Errors
/// When the kernel has no such clock.
pub fn now_ns() -> io::Result<i64> {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one timespec into a live local.
    checked(unsafe { libc::clock_gettime(libc::CLOCK_TAI, &raw mut now) })?;
    Ok(now.tv_sec * 1_000_000_000 + now.tv_nsec)
}

/// Sleeps until TAI says so.
///
/// # Errors
/// When the kernel cannot; a signal is no error.
pub fn sleep_until(at_ns: i64) -> io::Result<()> {
    let at =
        libc::timespec { tv_sec: at_ns.div_euclid(1_000_000_000), tv_nsec: at_ns.rem_euclid(1_000_000_000) };
    loop {
        // SAFETY: the kernel reads one live timespec; nothing is written through the null pointer with an absolute time.
        let failed = unsafe {
            libc::clock_nanosleep(libc::CLOCK_TAI, libc::TIMER_ABSTIME, &raw const at, std::ptr::null_mut())
        };
        match failed {
            0 => return Ok(()),
            libc::EINTR => {}
            other => return Err(io::Error::from_raw_os_error(other)),
        }
    }
}

/// First come, first served, before all ordinary processes, and never paged out.
///
/// # Errors
/// Without the capabilities `CAP_SYS_NICE` and `CAP_IPC_LOCK`.
pub fn become_punctual(priority: i32) -> io::Result<()> {
    // SAFETY: no pointers.
    checked(unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) })?;
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: the kernel reads one live parameter; 0 is this thread.
    checked(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) })
}

fn checked(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
