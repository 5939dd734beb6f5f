//! Waits until one of several sockets can be read. poll(2).

use super::checked;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

/// Waits until one of the sockets can be read or has ended, or `ms` have passed; returns for each whether it is ready.
///
/// A signal also ends the wait.
///
/// # Errors
/// When the kernel reports an error.
pub fn readable(sockets: &[BorrowedFd<'_>], ms: i32) -> io::Result<Vec<bool>> {
    let mut requests: Vec<libc::pollfd> = sockets
        .iter()
        .map(|socket| libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLIN, revents: 0 })
        .collect();
    // SAFETY: live entries, as many as told.
    match checked(unsafe { libc::poll(requests.as_mut_ptr(), requests.len() as libc::nfds_t, ms) }) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ => Ok(requests.iter().map(|request| request.revents != 0).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::readable;
    use std::net::UdpSocket;
    use std::os::fd::AsFd as _;

    #[test]
    fn only_sockets_with_octets_are_ready() {
        let [first, second] = [0; 2].map(|_| UdpSocket::bind("127.0.0.1:0").expect("a port is free"));
        assert_eq!(readable(&[first.as_fd(), second.as_fd()], 1).expect("poll works"), [false, false]);
        first.send_to(&[1], second.local_addr().expect("it is bound")).expect("loopback works");
        assert_eq!(readable(&[first.as_fd(), second.as_fd()], 1000).expect("poll works"), [false, true]);
    }
}
