//! A packet socket that hands over one frame per call, as to a listener's program. packet(7).

use super::control::{self, Plain, Room};
use super::socket::{Socket, index};
use super::{checked, clock, counted};
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::AsRawFd;

/// `ETH_P_ALL` of linux/if_ether.h.
pub const EVERYTHING: u16 = 3;

/// A received frame.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Octets in the buffer.
    pub length: usize,
    /// Octets of the frame, without FCS and the tag that the kernel took out.
    pub original: u32,
    /// Timestamp of the kernel, UTC.
    pub kernel_ns: Option<i64>,
    /// Timestamp of the hardware, on its own clock.
    pub hardware_ns: Option<i64>,
    /// Tag control information of the tag that the kernel took out of the frame.
    pub tag: Option<u16>,
    /// `EtherType` of that tag; 0 if the kernel does not tell it.
    pub tag_protocol: u16,
}

/// Number of received frames, and of frames without room, since the last call.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Received frames, including those without room.
    pub frames: u64,
    /// Frames without room.
    pub dropped: u64,
}

impl Socket {
    /// Receives all frames that arrive at the interface, with timestamps.
    ///
    /// # Errors
    /// When there is no such interface, or without the capability `CAP_NET_RAW`.
    pub fn listening(interface: &str) -> io::Result<Self> {
        Self::arrivals(interface, None)
    }

    /// Receives the arriving frames of one `EtherType`, also if the interface is a port of a bridge.
    ///
    /// # Errors
    /// When there is no such interface, or without the capability `CAP_NET_RAW`.
    pub fn hearing(interface: &str, protocol: u16) -> io::Result<Self> {
        Self::arrivals(interface, Some(protocol))
    }

    fn arrivals(interface: &str, protocol: Option<u16>) -> io::Result<Self> {
        let socket = Self::closed_packet()?;
        socket.set(libc::SOL_PACKET, libc::PACKET_AUXDATA, &1)?;
        let flags = libc::SOF_TIMESTAMPING_RX_SOFTWARE
            | libc::SOF_TIMESTAMPING_SOFTWARE
            | libc::SOF_TIMESTAMPING_RX_HARDWARE
            | libc::SOF_TIMESTAMPING_RAW_HARDWARE;
        socket.set(libc::SOL_SOCKET, libc::SO_TIMESTAMPING, &flags)?;
        socket.only_arrivals()?;
        if let Some(protocol) = protocol {
            // A socket for this protocol alone gets nothing from a bridge's port, as the bridge takes the frames
            // first.
            socket.take_protocol(protocol)?;
        }
        socket.bind(interface, EVERYTHING)?;
        Ok(socket)
    }

    /// Excludes frames that this machine sends.
    pub(super) fn only_arrivals(&self) -> io::Result<()> {
        self.set(libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1)
    }

    /// Includes frames with other destination addresses, as long as the socket lives.
    pub(super) fn also_for_others(&self, interface: &str) -> io::Result<()> {
        let request = libc::packet_mreq {
            mr_ifindex: i32::try_from(index(interface)?).map_err(io::Error::other)?,
            mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        self.set(libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &request)
    }

    /// The error of the socket since the last call: the interface went down, for example (`SO_ERROR`).
    ///
    /// # Errors
    /// When the kernel cannot read the option.
    pub fn trouble(&self) -> io::Result<Option<io::Error>> {
        let mut error: libc::c_int = 0;
        let mut octets = size_of::<libc::c_int>() as libc::socklen_t;
        // SAFETY: the kernel writes at most the size that it is told, into a live local.
        checked(unsafe {
            libc::getsockopt(
                self.fd.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_ERROR,
                (&raw mut error).cast(),
                &raw mut octets,
            )
        })?;
        Ok((error != 0).then(|| io::Error::from_raw_os_error(error)))
    }

    /// Whether the interface that the socket was bound to still exists. An interface of the same name that was made
    /// later, or one that was moved to another network namespace, is not it.
    ///
    /// # Errors
    /// When the kernel cannot read the address.
    pub fn has_interface(&self) -> io::Result<bool> {
        // SAFETY: all of `sockaddr_ll` may be zero.
        let mut address: libc::sockaddr_ll = unsafe { zeroed() };
        let mut octets = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: the kernel writes at most the size that it is told, into a live local.
        checked(unsafe {
            libc::getsockname(self.fd.as_raw_fd(), (&raw mut address).cast(), &raw mut octets)
        })?;
        // When a device is unregistered, the kernel sets the index of the sockets bound to it to -1.
        Ok(address.sll_ifindex > 0)
    }

    /// Sets how many octets may wait, as the kernel counts them.
    ///
    /// # Errors
    /// When the kernel refuses the option.
    pub fn room(&self, octets: i32) -> io::Result<()> {
        self.set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &(octets / 2))
    }

    /// Waits until a frame is there, or `ms` have passed; returns whether there is one. A signal also ends the wait.
    ///
    /// # Errors
    /// When the kernel reports an error.
    pub fn wait(&self, ms: i32) -> io::Result<bool> {
        let mut request = libc::pollfd { fd: self.fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one live entry, as many as told.
        match checked(unsafe { libc::poll(&raw mut request, 1, ms) }) {
            Ok(()) => Ok(request.revents != 0),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The next frame; none if no frame waits.
    ///
    /// # Errors
    /// When the kernel reports an error: the interface is gone or down, for example.
    pub fn receive(&self, octets: &mut [u8]) -> io::Result<Option<Arrival>> {
        let mut room: Room = [0; 64];
        let mut part = libc::iovec { iov_base: octets.as_mut_ptr().cast(), iov_len: octets.len() };
        // SAFETY: all of `msghdr` may be zero.
        let mut header: libc::msghdr = unsafe { zeroed() };
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        header.msg_control = room.as_mut_ptr().cast();
        header.msg_controllen = size_of_val(&room) as _;
        let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
        // SAFETY: the header names live buffers with their true lengths.
        let original = match counted(unsafe { libc::recvmsg(self.fd.as_raw_fd(), &raw mut header, flags) }) {
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut arrival = Arrival {
            length: original.min(octets.len()),
            original: u32::try_from(original).unwrap_or(u32::MAX),
            ..Arrival::default()
        };
        // SAFETY: recvmsg has just filled the header, whose buffers are alive.
        unsafe {
            control::each(&header, |level, kind, data| match (level, kind) {
                (libc::SOL_SOCKET, libc::SO_TIMESTAMPING) => {
                    let [software, _, hardware] = <[libc::timespec; 3]>::read(data).map(clock::ns);
                    arrival.kernel_ns = (software != 0).then_some(software);
                    arrival.hardware_ns = (hardware != 0).then_some(hardware);
                }
                (libc::SOL_PACKET, libc::PACKET_AUXDATA) => {
                    let beside = libc::tpacket_auxdata::read(data);
                    let tagged = beside.tp_status & libc::TP_STATUS_VLAN_VALID != 0;
                    arrival.tag = tagged.then_some(beside.tp_vlan_tci);
                    arrival.tag_protocol = beside.tp_vlan_tpid;
                }
                _ => {}
            });
        }
        Ok(Some(arrival))
    }

    /// The kernel's counters since the last call (`PACKET_STATISTICS`).
    ///
    /// # Errors
    /// When the kernel cannot read the option.
    pub fn statistics(&self) -> io::Result<Statistics> {
        // SAFETY: all of `tpacket_stats_v3` may be zero; the kernel writes at most the size that it is told.
        let counted = unsafe {
            let mut counted: libc::tpacket_stats_v3 = zeroed();
            let mut octets = size_of::<libc::tpacket_stats_v3>() as libc::socklen_t;
            checked(libc::getsockopt(
                self.fd.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut counted).cast(),
                &raw mut octets,
            ))?;
            counted
        };
        Ok(Statistics { frames: counted.tp_packets.into(), dropped: counted.tp_drops.into() })
    }
}
