//! Control messages of a frame: launch times, timestamps, errors. cmsg(3).

use std::mem::{size_of, zeroed};

/// Space for all control messages that one frame may have, aligned as they must be.
pub type Room = [u64; 64];

/// Calls `each` with level, type and octets of every control message that a receiving call left in `header`.
///
/// # Safety
/// `header` must be as recvmsg(2) left it, and its buffer must be alive.
pub unsafe fn each(header: &libc::msghdr, mut each: impl FnMut(i32, i32, &[u8])) {
    // SAFETY: by the caller's promise the macros walk within the control buffer.
    let mut message = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !message.is_null() {
        // SAFETY: the kernel wrote a whole message here, whose length includes its header.
        unsafe {
            let octets = ((*message).cmsg_len as usize).saturating_sub(libc::CMSG_LEN(0) as usize);
            let data = std::slice::from_raw_parts(libc::CMSG_DATA(message), octets);
            each((*message).cmsg_level, (*message).cmsg_type, data);
            message = libc::CMSG_NXTHDR(header, message);
        }
    }
}

/// Puts one control message into `room` and links it from `header`.
pub fn put<T: Plain>(header: &mut libc::msghdr, room: &mut Room, level: i32, kind: i32, value: &T) {
    header.msg_control = room.as_mut_ptr().cast();
    let octets = size_of::<T>() as libc::c_uint;
    // SAFETY: the room is larger than one message of any `Plain` type, aligned for it, and alive.
    unsafe {
        header.msg_controllen = libc::CMSG_SPACE(octets) as _;
        let message = libc::CMSG_FIRSTHDR(header);
        if let Some(message) = message.as_mut() {
            message.cmsg_level = level;
            message.cmsg_type = kind;
            message.cmsg_len = libc::CMSG_LEN(octets) as _;
            libc::CMSG_DATA(message).cast::<T>().write_unaligned(*value);
        }
    }
}

/// Kernel structures for which all octets are valid.
///
/// # Safety
/// Every pattern of bits must be a value of the type, and the type must be smaller than 256 octets.
pub unsafe trait Plain: Copy {
    /// Reads a value that the kernel wrote; missing octets at the end are zero.
    fn read(octets: &[u8]) -> Self {
        // SAFETY: zero is a value; no more than the type's size is copied, from a live slice.
        unsafe {
            let mut value: Self = zeroed();
            let length = octets.len().min(size_of::<Self>());
            std::ptr::copy_nonoverlapping(octets.as_ptr(), (&raw mut value).cast::<u8>(), length);
            value
        }
    }
}

// SAFETY: integers, and structures of nothing else.
unsafe impl Plain for u64 {}
// SAFETY: as above.
unsafe impl Plain for [libc::timespec; 3] {}
// SAFETY: as above.
unsafe impl Plain for libc::sock_extended_err {}
// SAFETY: as above.
unsafe impl Plain for libc::tpacket_auxdata {}
