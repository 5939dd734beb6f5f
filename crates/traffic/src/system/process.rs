//! What this process asks for itself: to be on time, a processor of its own, a gentle end.

use super::checked;
use std::io;
use std::mem::{size_of, zeroed};
use std::sync::atomic::{AtomicBool, Ordering};

static END: AtomicBool = AtomicBool::new(false);

/// First come, first served, before all ordinary processes, and never paged out. sched(7), mlockall(2).
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

/// From now on SIGINT and SIGTERM only ask for the end.
///
/// # Errors
/// Never on Linux.
pub fn end_gently() -> io::Result<()> {
    extern "C" fn ask(_signal: libc::c_int) {
        END.store(true, Ordering::Relaxed);
    }
    let handler: extern "C" fn(libc::c_int) = ask;
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: all of `sigaction` may be zero; the handler only stores into an atomic, which any signal handler may.
        checked(unsafe {
            let mut action: libc::sigaction = zeroed();
            action.sa_sigaction = handler as libc::sighandler_t;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut())
        })?;
    }
    Ok(())
}

/// Whether somebody has asked for the end.
pub fn asked_to_end() -> bool {
    END.load(Ordering::Relaxed)
}
