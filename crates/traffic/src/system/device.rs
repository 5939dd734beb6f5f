//! The timestamps that a device's driver supports, and switching on its hardware timestamps. ethtool(8) -T;
//! linux/net_tstamp.h.

use super::checked;
use super::socket::Socket;
use std::io;
use std::mem::zeroed;
use std::os::fd::AsRawFd;
use tsn_wire::Mac;

/// `SIOCETHTOOL` of linux/sockios.h.
const ETHTOOL: libc::Ioctl = 0x8946;
/// `ETHTOOL_GET_TS_INFO` of linux/ethtool.h.
const GET_TS_INFO: u32 = 0x41;

/// `struct ethtool_ts_info` of linux/ethtool.h.
#[repr(C)]
#[derive(Copy, Clone, Debug, Default)]
struct TsInfo {
    cmd: u32,
    so_timestamping: u32,
    phc_index: i32,
    tx_types: u32,
    tx_reserved: [u32; 3],
    rx_filters: u32,
    rx_reserved: [u32; 3],
}

/// The timestamps that a driver supports.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Stamps {
    /// When the driver takes a frame (`SOF_TIMESTAMPING_TX_SOFTWARE`).
    pub driver: bool,
    /// When a frame leaves, on the hardware's clock.
    pub hardware_tx: bool,
    /// When a frame arrives, on the hardware's clock.
    pub hardware_rx: bool,
    /// Number of the device's PTP clock.
    pub phc: Option<u32>,
}

impl Socket {
    /// The timestamps that the interface's driver supports.
    ///
    /// # Errors
    /// When there is no such interface, or its driver does not report them.
    pub fn stamps_of(&self, interface: &str) -> io::Result<Stamps> {
        let mut info = TsInfo { cmd: GET_TS_INFO, ..TsInfo::default() };
        let mut request = request(interface)?;
        request.ifr_ifru.ifru_data = (&raw mut info).cast();
        // SAFETY: the request names a live structure of the kernel's layout, which it fills.
        checked(unsafe { libc::ioctl(self.fd.as_raw_fd(), ETHTOOL, &raw mut request) })?;
        let has = |flag: libc::c_uint| info.so_timestamping & flag != 0;
        Ok(Stamps {
            driver: has(libc::SOF_TIMESTAMPING_TX_SOFTWARE),
            hardware_tx: has(libc::SOF_TIMESTAMPING_TX_HARDWARE),
            hardware_rx: has(libc::SOF_TIMESTAMPING_RX_HARDWARE),
            phc: u32::try_from(info.phc_index).ok(),
        })
    }

    /// The MAC address of the interface.
    ///
    /// # Errors
    /// When there is no such interface.
    pub fn address_of(&self, interface: &str) -> io::Result<Mac> {
        let mut request = request(interface)?;
        // SAFETY: the request is a live structure of the kernel's layout, which fills its address in; any octets are one.
        let address = unsafe {
            checked(libc::ioctl(self.fd.as_raw_fd(), libc::SIOCGIFHWADDR as libc::Ioctl, &raw mut request))?;
            request.ifr_ifru.ifru_hwaddr.sa_data
        };
        let [a, b, c, d, e, f, ..] = address.map(|octet| octet as u8);
        Ok(Mac([a, b, c, d, e, f]))
    }

    /// Switches on hardware timestamps of all received and sent frames.
    ///
    /// # Errors
    /// When the driver has no hardware timestamps, or without the capability `CAP_NET_ADMIN`.
    pub fn stamp_in_hardware(&self, interface: &str) -> io::Result<()> {
        let mut config = libc::hwtstamp_config {
            flags: 0,
            tx_type: libc::HWTSTAMP_TX_ON as libc::c_int,
            rx_filter: libc::HWTSTAMP_FILTER_ALL as libc::c_int,
        };
        let mut request = request(interface)?;
        request.ifr_ifru.ifru_data = (&raw mut config).cast();
        // SAFETY: the request names a live structure of the kernel's layout.
        checked(unsafe {
            libc::ioctl(self.fd.as_raw_fd(), libc::SIOCSHWTSTAMP as libc::Ioctl, &raw mut request)
        })
    }
}

fn request(interface: &str) -> io::Result<libc::ifreq> {
    // SAFETY: all of `ifreq` may be zero.
    let mut request: libc::ifreq = unsafe { zeroed() };
    if interface.len() >= request.ifr_name.len() {
        return Err(io::Error::from_raw_os_error(libc::ENODEV));
    }
    for (place, octet) in request.ifr_name.iter_mut().zip(interface.bytes()) {
        // Signed on x86-64, unsigned on Arm.
        *place = octet as libc::c_char;
    }
    Ok(request)
}
