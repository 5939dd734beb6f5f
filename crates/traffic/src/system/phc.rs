//! Offset of a PTP hardware clock from TAI. linux/ptp_clock.h: `PTP_SYS_OFFSET_EXTENDED`.

use super::checked;
use super::clock::{Clock, now_ns, tai_ahead_ns};
use std::fs::File;
use std::io;
use std::mem::zeroed;
use std::os::fd::AsRawFd;
use std::path::Path;

/// Number of readings between two readings of the system's clock; the narrowest pair is the most exact.
const TRIES: usize = 9;

/// The offset of a hardware clock from TAI, and its uncertainty.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PhcOffset {
    /// Hardware clock minus `CLOCK_TAI`.
    pub offset_ns: i64,
    /// Half of the time between the readings before and after.
    pub uncertainty_ns: i64,
}

impl PhcOffset {
    /// Reads the offset of the clock `/dev/ptp…`.
    ///
    /// # Errors
    /// When it cannot be opened or read.
    pub fn of(device: &Path) -> io::Result<Self> {
        let inside =
            |error: &io::Error| matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOTTY));
        let samples = match read_by_driver(&File::open(device)?) {
            Err(error) if inside(&error) => read_by_hand(&Clock::hardware(device)?)?,
            other => other?,
        };
        Self::narrowest(&samples).ok_or_else(|| io::Error::other("the clock gave no reading"))
    }

    /// The narrowest of readings of TAI, the hardware clock and TAI again.
    fn narrowest(samples: &[[i64; 3]]) -> Option<Self> {
        let best = samples.iter().filter(|[before, _, after]| before <= after);
        let [before, clock, after] = best.min_by_key(|[before, _, after]| after - before)?;
        let half = (after - before) / 2;
        // The uncertainty is rounded up.
        Some(Self { offset_ns: clock - (before + half), uncertainty_ns: after - before - half })
    }
}

/// Readings by the driver, which reads the system's clock right beside its own.
fn read_by_driver(device: &File) -> io::Result<Vec<[i64; 3]>> {
    // SAFETY: all of the structure may be zero, which stands for CLOCK_REALTIME.
    let mut request: libc::ptp_sys_offset_extended = unsafe { zeroed() };
    request.n_samples = TRIES as libc::c_uint;
    // SAFETY: the kernel fills a live structure of its own layout.
    checked(unsafe {
        libc::ioctl(device.as_raw_fd(), libc::PTP_SYS_OFFSET_EXTENDED as libc::Ioctl, &raw mut request)
    })?;
    let ahead_ns = tai_ahead_ns()?;
    let ns = |time: &libc::ptp_clock_time| {
        time.sec.saturating_mul(1_000_000_000).saturating_add(i64::from(time.nsec))
    };
    let sample = |[before, clock, after]: &[libc::ptp_clock_time; 3]| {
        [ns(before) + ahead_ns, ns(clock), ns(after) + ahead_ns]
    };
    Ok(request.ts.iter().take(TRIES).map(sample).collect())
}

fn read_by_hand(clock: &Clock) -> io::Result<Vec<[i64; 3]>> {
    (0..TRIES).map(|_| Ok([now_ns()?, clock.now_ns()?, now_ns()?])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrowest_pair_tells_and_signs_stay() {
        let of = |samples: &[[i64; 3]]| {
            PhcOffset::narrowest(samples).map(|found| (found.offset_ns, found.uncertainty_ns))
        };
        assert_eq!(of(&[[100, 5100, 300], [400, 5455, 510], [600, 9999, 900]]), Some((5000, 55)));
        assert_eq!(of(&[[1000, 900, 1101]]), Some((-150, 51)));
        // The system's clock was set back between its two readings.
        assert_eq!(of(&[[100, 5100, 90]]), None);
        assert_eq!(of(&[]), None);
    }
}
