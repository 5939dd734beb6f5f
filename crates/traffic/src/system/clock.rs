//! Clocks and sleep. clock_gettime(2), clock_nanosleep(2).

use super::checked;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

const SECOND_NS: i64 = 1_000_000_000;
/// A hardware clock may be stepped or adjusted during a sleep: it is checked at this interval.
const LOOK_NS: i64 = 20_000_000;

/// The clock of a talker: TAI, or a PTP hardware clock that is synchronised to TAI.
#[derive(Debug, Default)]
pub struct Clock {
    hardware: Option<File>,
}

impl Clock {
    /// The hardware clock `/dev/ptp…`.
    ///
    /// # Errors
    /// When it cannot be opened or read.
    pub fn hardware(device: &Path) -> io::Result<Self> {
        let clock = Self { hardware: Some(File::open(device)?) };
        clock.now_ns()?;
        Ok(clock)
    }

    /// The time of the clock, in ns.
    ///
    /// # Errors
    /// When the kernel has no such clock, or the hardware is gone.
    pub fn now_ns(&self) -> io::Result<i64> {
        // linux/posix-timers.h: clocks of devices are numbered by their descriptors.
        read(self.hardware.as_ref().map_or(libc::CLOCK_TAI, |file| (!file.as_raw_fd() << 3) | 3))
    }

    /// Sleeps until the clock shows `at_ns`. There is no timer on a hardware clock, so the clock is read repeatedly.
    ///
    /// # Errors
    /// When the kernel reports an error; see [`sleep_until`].
    pub fn sleep_until(&self, at_ns: i64) -> io::Result<()> {
        if self.hardware.is_none() {
            return sleep_until(at_ns);
        }
        loop {
            let ahead_ns = at_ns.saturating_sub(self.now_ns()?);
            if ahead_ns <= 0 || super::process::end_requested() {
                return Ok(());
            }
            sleep_until(now_ns()?.saturating_add(ahead_ns.min(LOOK_NS)))?;
        }
    }
}

/// The time on TAI, in ns.
///
/// # Errors
/// When the kernel has no such clock.
pub fn now_ns() -> io::Result<i64> {
    read(libc::CLOCK_TAI)
}

/// The time on UTC, in ns; kernels use it for timestamps.
///
/// # Errors
/// When the kernel has no such clock.
pub fn utc_ns() -> io::Result<i64> {
    read(libc::CLOCK_REALTIME)
}

/// TAI minus UTC as set in the kernel, in whole seconds; the kernel's software timestamps are UTC.
///
/// # Errors
/// When the kernel has no such clock.
pub fn tai_ahead_ns() -> io::Result<i64> {
    let difference = read(libc::CLOCK_TAI)? - read(libc::CLOCK_REALTIME)?;
    // The two clocks are read one after the other, so the difference is a little too small or large: it is rounded.
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

/// Sleeps until the given time on TAI.
///
/// # Errors
/// When the kernel reports an error; a signal is none, but a signal to end also ends the sleep.
pub fn sleep_until(at_ns: i64) -> io::Result<()> {
    let at = libc::timespec { tv_sec: at_ns.div_euclid(SECOND_NS), tv_nsec: at_ns.rem_euclid(SECOND_NS) };
    loop {
        // SAFETY: the kernel reads one live timespec; nothing is written through the null pointer with an absolute time.
        let failed = unsafe {
            libc::clock_nanosleep(libc::CLOCK_TAI, libc::TIMER_ABSTIME, &raw const at, std::ptr::null_mut())
        };
        match failed {
            0 => return Ok(()),
            libc::EINTR if super::process::end_requested() => return Ok(()),
            libc::EINTR => {}
            other => return Err(io::Error::from_raw_os_error(other)),
        }
    }
}
