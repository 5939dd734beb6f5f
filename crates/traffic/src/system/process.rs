//! Requests of this process for itself: real-time scheduling, a processor of its own, an orderly end.

use super::checked;
use std::fs::File;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

static END: AtomicBool = AtomicBool::new(false);

/// Schedules this process first in, first out, before all ordinary processes, and locks its memory. sched(7),
/// mlockall(2).
///
/// # Errors
/// Without the capabilities `CAP_SYS_NICE` and `CAP_IPC_LOCK`.
pub fn become_punctual(priority: i32) -> io::Result<()> {
    // SAFETY: no pointers.
    checked(unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) })?;
    // The function of this name fails with musl, which keeps to POSIX: its scheduling is of processes, not threads.
    // SAFETY: the kernel reads one live number (its `struct sched_param`); 0 is this thread.
    let done =
        unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_FIFO, &raw const priority) };
    checked(libc::c_int::try_from(done).unwrap_or(-1))
}

/// Runs this thread, and those it begins from now on, on one processor alone. sched_setaffinity(2).
///
/// # Errors
/// When there is no such processor for this process.
pub fn pin(processor: usize) -> io::Result<()> {
    if processor >= libc::CPU_SETSIZE as usize {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    // SAFETY: all of `cpu_set_t` may be zero, and the processor is within it.
    let set = unsafe {
        let mut set: libc::cpu_set_t = zeroed();
        libc::CPU_SET(processor, &mut set);
        set
    };
    // SAFETY: the kernel reads exactly the size that it is told; 0 is this thread.
    checked(unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) })
}

/// From now on SIGINT, SIGTERM and SIGHUP only request the end.
///
/// # Errors
/// Never on Linux.
pub fn end_gently() -> io::Result<()> {
    extern "C" fn ask(_signal: libc::c_int) {
        END.store(true, Ordering::Relaxed);
    }
    let handler: extern "C" fn(libc::c_int) = ask;
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: all of `sigaction` may be zero; the handler only stores into an atomic, which any signal handler may.
        checked(unsafe {
            let mut action: libc::sigaction = zeroed();
            action.sa_sigaction = handler as libc::sighandler_t;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut())
        })?;
    }
    Ok(())
}

/// Whether a signal has requested the end.
pub fn end_requested() -> bool {
    END.load(Ordering::Relaxed)
}

/// The kernel ends the program when the thread that started it ends, for whatever reason. prctl(2).
pub fn ends_with_us(command: &mut Command) {
    let parent = std::process::id();
    // SAFETY: between fork and exec only two calls are made that any signal handler may make.
    unsafe {
        command.pre_exec(move || {
            checked(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
            // The thread that started the program may have ended by now.
            if u32::try_from(libc::getppid()) == Ok(parent) {
                Ok(())
            } else {
                Err(io::ErrorKind::BrokenPipe.into())
            }
        });
    }
}

/// Sends a signal to the group of one of our children, which has not been waited for. kill(2).
///
/// A group that is gone gets no signal.
pub fn signal_group(first: u32, signal: i32) {
    if let Ok(group) = i32::try_from(first)
        && group > 1
    {
        // SAFETY: no pointers; a negative number means a group, and -1, which means all processes, is excluded.
        let _ = checked(unsafe { libc::kill(-group, signal) });
    }
}

/// A file in memory, which is gone when its last user closes it. memfd_create(2).
///
/// # Errors
/// When the process has too many files.
pub fn memory_file() -> io::Result<File> {
    // SAFETY: the kernel reads a string with an end; the descriptor is new, and nobody else's.
    unsafe {
        let descriptor = libc::memfd_create(c"tsnbench".as_ptr(), libc::MFD_CLOEXEC);
        checked(descriptor)?;
        Ok(File::from(OwnedFd::from_raw_fd(descriptor)))
    }
}
