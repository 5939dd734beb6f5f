//! Sockets that send: whole frames or UDP, with a priority, a launch time, and timestamps of each stage. packet(7),
//! udp(7).

use super::{checked, control, counted};
use std::ffi::CString;
use std::io;
use std::mem::{size_of, zeroed};
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixDatagram;

/// Whether a launch time is exact or a deadline. etf(8).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TxTime {
    /// The frame leaves at its launch time, not before and not after.
    Strict,
    /// The frame leaves as soon as possible, not after its launch time.
    Deadline,
}

/// A socket on one interface.
#[derive(Debug)]
pub struct Socket {
    pub(super) fd: OwnedFd,
    priority: Option<u8>,
}

impl Socket {
    /// Sends whole Ethernet frames; receives nothing.
    ///
    /// # Errors
    /// When there is no such interface, or without the capability `CAP_NET_RAW`.
    pub fn packet(interface: &str) -> io::Result<Self> {
        let socket = Self::closed_packet()?;
        socket.bind(interface, 0)?;
        Ok(socket)
    }

    /// Sends UDP from the interface to one address. The kernel sets `DSCP` and header.
    ///
    /// # Errors
    /// When there is no route to the address.
    pub fn udp(interface: &str, to: Ipv4Addr, port: u16) -> io::Result<Self> {
        let socket =
            Self { fd: UdpSocket::bind(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0))?.into(), priority: None };
        let name = CString::new(interface)?;
        let name = name.as_bytes_with_nul();
        // SAFETY: the kernel reads exactly the length that it is told, from a live buffer.
        checked(unsafe {
            libc::setsockopt(
                socket.fd.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_BINDTODEVICE,
                name.as_ptr().cast(),
                name.len() as libc::socklen_t,
            )
        })?;
        let udp = UdpSocket::from(socket.fd);
        udp.set_broadcast(true)?;
        udp.connect(SocketAddrV4::new(to, port))?;
        Ok(Self { fd: udp.into(), priority: None })
    }

    /// Sends UDP from an address of the interface to any address, with this type of service and time to live.
    ///
    /// # Errors
    /// When there is no such interface or address.
    pub fn datagrams(interface: &str, from: Ipv4Addr, type_of_service: u8, ttl: u8) -> io::Result<Self> {
        let udp = UdpSocket::bind(SocketAddrV4::new(from, 0))?;
        udp.set_ttl(ttl.into())?;
        udp.set_multicast_ttl_v4(ttl.into())?;
        let socket = Self { fd: udp.into(), priority: None };
        let index = i32::try_from(index(interface)?).map_err(io::Error::other)?;
        let any = libc::in_addr { s_addr: 0 };
        let group = libc::ip_mreqn { imr_multiaddr: any, imr_address: any, imr_ifindex: index };
        socket.set(libc::IPPROTO_IP, libc::IP_MULTICAST_IF, &group)?;
        // This option also sets the priority, so it comes before the telegram's own priority.
        socket.set(libc::IPPROTO_IP, libc::IP_TOS, &libc::c_int::from(type_of_service))?;
        Ok(socket)
    }

    /// A socket for requests to drivers; it neither sends nor receives.
    ///
    /// # Errors
    /// When the kernel has no socket left.
    pub fn unbound() -> io::Result<Self> {
        Ok(Self { fd: UnixDatagram::unbound()?.into(), priority: None })
    }

    /// A packet socket that is bound to nothing yet.
    pub(super) fn closed_packet() -> io::Result<Self> {
        // SAFETY: no pointers; what comes back is checked before it becomes an owned descriptor.
        let fd = unsafe {
            let fd = libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(fd)
        };
        Ok(Self { fd, priority: None })
    }

    /// Binds the socket to an interface, to receive frames of `protocol` (an `EtherType`, or 0 for none).
    pub(super) fn bind(&self, interface: &str, protocol: u16) -> io::Result<()> {
        let index = index(interface)?;
        // SAFETY: all of `sockaddr_ll` may be zero; the kernel reads exactly the size that it is told.
        checked(unsafe {
            let mut address: libc::sockaddr_ll = zeroed();
            address.sll_family = libc::AF_PACKET as u16;
            address.sll_protocol = protocol.to_be();
            address.sll_ifindex = i32::try_from(index).map_err(io::Error::other)?;
            libc::bind(
                self.fd.as_raw_fd(),
                (&raw const address).cast(),
                size_of::<libc::sockaddr_ll>() as libc::socklen_t,
            )
        })
    }

    /// Sets an option that is one value.
    pub(super) fn set<T: Copy>(&self, level: libc::c_int, option: libc::c_int, value: &T) -> io::Result<()> {
        // SAFETY: the kernel reads exactly the size that it is told, from a live value.
        checked(unsafe {
            libc::setsockopt(
                self.fd.as_raw_fd(),
                level,
                option,
                std::ptr::from_ref(value).cast(),
                size_of::<T>() as libc::socklen_t,
            )
        })
    }

    /// Sets how many octets of frames, as the kernel counts them, may wait before a call that sends blocks.
    ///
    /// # Errors
    /// When the kernel refuses the option.
    pub fn buffer(&self, octets: i32) -> io::Result<()> {
        // The kernel doubles the requested size.
        self.set(libc::SOL_SOCKET, libc::SO_SNDBUF, &(octets / 2))
    }

    /// Sets how long a call that sends may block.
    ///
    /// # Errors
    /// When the kernel refuses the option.
    pub fn give_up_after(&self, us: i64) -> io::Result<()> {
        let limit = libc::timeval { tv_sec: us / 1_000_000, tv_usec: us % 1_000_000 };
        self.set(libc::SOL_SOCKET, libc::SO_SNDTIMEO, &limit)
    }

    /// Every frame will carry a launch time on TAI; frames that miss it are reported.
    ///
    /// # Errors
    /// When the kernel refuses the option.
    pub fn want_launch_times(&self, mode: TxTime, clock_is_tai: bool) -> io::Result<()> {
        let mut flags = libc::SOF_TXTIME_REPORT_ERRORS;
        if mode == TxTime::Deadline {
            flags |= libc::SOF_TXTIME_DEADLINE_MODE;
        }
        let clockid = if clock_is_tai { libc::CLOCK_TAI } else { libc::CLOCK_MONOTONIC };
        self.set(libc::SOL_SOCKET, libc::SO_TXTIME, &libc::sock_txtime { clockid, flags: flags as _ })
    }

    /// Requests the timestamps of sent frames: before the queueing discipline, at the driver, and from the hardware
    /// if `hardware`.
    ///
    /// # Errors
    /// When the kernel refuses the option.
    pub fn want_stamps(&self, hardware: bool) -> io::Result<()> {
        let mut flags = libc::SOF_TIMESTAMPING_TX_SCHED
            | libc::SOF_TIMESTAMPING_TX_SOFTWARE
            | libc::SOF_TIMESTAMPING_SOFTWARE;
        if hardware {
            // Without OPT_TX_SWHW a frame with a hardware timestamp has no software timestamp.
            flags |= libc::SOF_TIMESTAMPING_TX_HARDWARE
                | libc::SOF_TIMESTAMPING_RAW_HARDWARE
                | libc::SOF_TIMESTAMPING_OPT_TX_SWHW;
        }
        // The kernel drops timestamps without a word where they find no room.
        self.make_room()?;
        self.set(libc::SOL_SOCKET, libc::SO_TIMESTAMPING, &flags)
    }

    /// Gives datagrams and reports that wait the room of [`WAITING`]. Only a privileged program may exceed the
    /// kernel's usual limit.
    fn make_room(&self) -> io::Result<()> {
        self.set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &WAITING)
            .or_else(|_| self.set(libc::SOL_SOCKET, libc::SO_RCVBUF, &WAITING))
    }

    /// Sets the class of frames for queueing disciplines (`SO_PRIORITY`).
    fn prioritise(&mut self, priority: u8) -> io::Result<()> {
        if self.priority != Some(priority) {
            self.set(libc::SOL_SOCKET, libc::SO_PRIORITY, &libc::c_int::from(priority))?;
            self.priority = Some(priority);
        }
        Ok(())
    }

    /// Sends one frame, with a launch time on TAI if one is given.
    ///
    /// # Errors
    /// When the kernel reports an error; `ENOBUFS` if the queue is full.
    pub fn send(&mut self, priority: u8, octets: &[u8], launch_ns: Option<u64>) -> io::Result<()> {
        self.send_message(priority, octets, None, launch_ns)
    }

    /// Sends one datagram to an address; see [`Self::send`].
    ///
    /// # Errors
    /// When the kernel reports an error.
    pub fn send_to(
        &mut self,
        priority: u8,
        octets: &[u8],
        to: SocketAddrV4,
        launch_ns: Option<u64>,
    ) -> io::Result<()> {
        self.send_message(priority, octets, Some(to), launch_ns)
    }

    fn send_message(
        &mut self,
        priority: u8,
        octets: &[u8],
        to: Option<SocketAddrV4>,
        launch_ns: Option<u64>,
    ) -> io::Result<()> {
        self.prioritise(priority)?;
        let mut address = to.map(address_of);
        let mut part = libc::iovec { iov_base: octets.as_ptr().cast_mut().cast(), iov_len: octets.len() };
        // SAFETY: all of `msghdr` may be zero.
        let mut header: libc::msghdr = unsafe { zeroed() };
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        if let Some(address) = &mut address {
            header.msg_name = std::ptr::from_mut(address).cast();
            header.msg_namelen = size_of::<libc::sockaddr_in>() as libc::socklen_t;
        }
        let mut room: control::Room = [0; 64];
        if let Some(launch_ns) = launch_ns {
            control::put(&mut header, &mut room, libc::SOL_SOCKET, libc::SCM_TXTIME, &launch_ns);
        }
        loop {
            // SAFETY: the header names live buffers with their lengths; the kernel only reads them.
            match counted(unsafe { libc::sendmsg(self.fd.as_raw_fd(), &raw const header, 0) }) {
                // An earlier datagram was refused, and this call reported that instead of sending; now it sends.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                done => return done.map(|_| ()),
            }
        }
    }

    /// Sends frames in one call, as many as possible within [`Self::give_up_after`]; returns how many. sendmmsg(2).
    ///
    /// # Errors
    /// When the kernel reports an error for the first frame.
    pub fn send_many(&mut self, priority: u8, frames: &[Vec<u8>]) -> io::Result<usize> {
        self.prioritise(priority)?;
        let mut parts: Vec<libc::iovec> = frames
            .iter()
            .map(|frame| libc::iovec { iov_base: frame.as_ptr().cast_mut().cast(), iov_len: frame.len() })
            .collect();
        let mut headers: Vec<libc::mmsghdr> = parts
            .iter_mut()
            .map(|part| {
                // SAFETY: all of `mmsghdr` may be zero.
                let mut header: libc::mmsghdr = unsafe { zeroed() };
                header.msg_hdr.msg_iov = part;
                header.msg_hdr.msg_iovlen = 1;
                header
            })
            .collect();
        let count = libc::c_uint::try_from(headers.len()).map_err(io::Error::other)?;
        // SAFETY: the headers name live parts, which name live frames; the kernel writes only the headers' lengths.
        let sent = unsafe { libc::sendmmsg(self.fd.as_raw_fd(), headers.as_mut_ptr(), count, 0) };
        counted(sent as isize)
    }
}

/// An address in the kernel's format.
fn address_of(to: SocketAddrV4) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: to.port().to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(to.ip().octets()) },
        sin_zero: [0; 8],
    }
}

/// Octets of datagrams that may wait at a port, as the kernel counts them: those of several dozen senders with the
/// longest datagrams, or the timestamps of several hundred frames.
const WAITING: i32 = 4 << 20;

/// A socket that receives UDP at a port, which other sockets may share.
///
/// # Errors
/// When another socket has the port exclusively.
pub fn bound_udp(port: u16) -> io::Result<UdpSocket> {
    // SAFETY: no pointers; what comes back is checked before it becomes an owned descriptor.
    let fd = unsafe {
        let fd = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        OwnedFd::from_raw_fd(fd)
    };
    let socket = Socket { fd, priority: None };
    socket.set(libc::SOL_SOCKET, libc::SO_REUSEADDR, &1_i32)?;
    socket.make_room()?;
    let address = address_of(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port));
    // SAFETY: the kernel reads exactly the size that it is told, from a live value.
    checked(unsafe {
        libc::bind(
            socket.fd.as_raw_fd(),
            (&raw const address).cast(),
            size_of::<libc::sockaddr_in>() as libc::socklen_t,
        )
    })?;
    Ok(socket.fd.into())
}

/// The number of an interface.
///
/// # Errors
/// When there is no interface of this name.
pub fn index(interface: &str) -> io::Result<u32> {
    let name = CString::new(interface)?;
    // SAFETY: `name` is a live string that ends with zero.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index),
    }
}
