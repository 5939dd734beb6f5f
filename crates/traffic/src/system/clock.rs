//! Clocks and sleep. clock_gettime(2), clock_nanosleep(2).

use super::checked;
use std::io;

const SECOND_NS: i64 = 1_000_000_000;

/// What TAI says, in ns.
///
/// # Errors
/// When the kernel has no such clock.
pub fn now_ns() -> io::Result<i64> {
    read(libc::CLOCK_TAI)
}

/// TAI ahead of UTC: what the kernel was told, in whole seconds; its software stamps are UTC.
///
/// # Errors
/// When the kernel has no such clock.
pub fn tai_ahead_ns() -> io::Result<i64> {
    let difference = read(libc::CLOCK_TAI)? - read(libc::CLOCK_REALTIME)?;
    // Both are read one after the other.
    Ok((difference + SECOND_NS / 2).div_euclid(SECOND_NS) * SECOND_NS)
}

fn read(clock: libc::clockid_t) -> io::Result<i64> {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one timespec into a live local.
    checked(unsafe { libc::clock_gettime(clock, &raw mut now) })?;
    Ok(ns(now))
}

/// A timespec in ns.
pub fn ns(time: libc::timespec) -> i64 {
    time.tv_sec.saturating_mul(SECOND_NS).saturating_add(time.tv_nsec)
}

/// Sleeps until TAI says so.
///
/// # Errors
/// When the kernel cannot; a signal is no error, but ends the sleep when it asks for the end.
pub fn sleep_until(at_ns: i64) -> io::Result<()> {
    let at = libc::timespec { tv_sec: at_ns.div_euclid(SECOND_NS), tv_nsec: at_ns.rem_euclid(SECOND_NS) };
    loop {
        // SAFETY: the kernel reads one live timespec; nothing is written through the null pointer with an absolute time.
        let failed = unsafe {
            libc::clock_nanosleep(libc::CLOCK_TAI, libc::TIMER_ABSTIME, &raw const at, std::ptr::null_mut())
        };
        match failed {
            0 => return Ok(()),
            libc::EINTR if super::process::asked_to_end() => return Ok(()),
            libc::EINTR => {}
            other => return Err(io::Error::from_raw_os_error(other)),
        }
    }
}
