//! The few system calls for which there is no safe wrapper here. The project's only unsafe code.
//!
//! Every block gives the kernel pointers to live locals or buffers with their true lengths, and checks the result.
#![allow(unsafe_code)]

pub mod clock;
pub mod control;
pub mod device;
pub mod error_queue;
pub mod filter;
pub mod phc;
pub mod process;
pub mod receive;
pub mod ring;
pub mod socket;
pub mod wait;

use std::io;

/// The result -1 of a system call as an error.
fn checked(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The count that a socket call returns, or its error.
fn counted(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}
