//! A ring of blocks that the kernel fills with frames: no call per frame. The kernel's documentation, packet_mmap.
//!
//! `TPACKET_V3`: a block belongs to the kernel until its status changes, and again after it has been put back.

use super::checked;
use super::filter::Direction;
use super::receive::{Arrival, EVERYTHING};
use super::socket::Socket;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// Octets of a block: hundreds of frames of ordinary size fit into it.
const BLOCK: usize = 1 << 18;
/// A block that is not full is handed over after this time, to a listener that reads the clock when it gets a frame.
const RETIRE_MS: u32 = 4;
/// The time after which a block of a capture is handed over although it is not full; it is long, as nobody waits for
/// it: few frames fill few blocks, and the reader may pause.
const CAPTURE_RETIRE_MS: u32 = 100;
/// `ETH_P_802_3` of linux/if_ether.h, which is the protocol of no frame.
const NOTHING: u16 = 1;

/// A socket and the memory that it shares with the kernel.
#[derive(Debug)]
pub struct Ring {
    socket: Socket,
    memory: NonNull<u8>,
    block: usize,
    blocks: usize,
    next: usize,
}

impl Ring {
    /// Receives all frames that arrive at the interface into a ring of this many octets, at least one block.
    ///
    /// # Errors
    /// When there is no such interface or memory, or without the capability `CAP_NET_RAW`.
    pub fn open(interface: &str, octets: usize) -> io::Result<Self> {
        let ring = Self::map(octets, RETIRE_MS, true)?;
        ring.socket.only_arrivals()?;
        ring.socket.bind(interface, EVERYTHING)?;
        Ok(ring)
    }

    /// Receives frames of both directions at the interface, also frames for others, with software timestamps unless
    /// `hardware`.
    ///
    /// Software timestamps are those that the kernel takes when it first sees a frame, not when it copies the frame.
    ///
    /// # Errors
    /// When there is no such interface or memory, or without the capability `CAP_NET_RAW`.
    pub fn capture(
        interface: &str,
        octets: usize,
        direction: Direction,
        snap: u32,
        hardware: bool,
    ) -> io::Result<Self> {
        let ring = Self::map(octets, CAPTURE_RETIRE_MS, hardware)?;
        ring.socket.set(libc::SOL_SOCKET, libc::SO_TIMESTAMPING, &libc::SOF_TIMESTAMPING_RX_SOFTWARE)?;
        ring.socket.take_only(direction, snap)?;
        ring.socket.bind(interface, EVERYTHING)?;
        ring.socket.also_for_others(interface)?;
        Ok(ring)
    }

    /// Stops the kernel from putting frames into the ring; frames in it can still be read.
    ///
    /// # Errors
    /// When the kernel reports an error.
    pub fn close(&self, interface: &str) -> io::Result<()> {
        self.socket.take_nothing()?;
        // Only a change of the protocol makes the kernel remove the socket from its list and wait for receptions that
        // still use the socket (synchronize_net). If the interface is gone, there are no such receptions.
        match self.socket.bind(interface, NOTHING) {
            Err(error) if error.raw_os_error() != Some(libc::ENODEV) => Err(error),
            _ => Ok(()),
        }
    }

    /// Maps memory that belongs to no interface yet.
    fn map(octets: usize, retire_ms: u32, hardware: bool) -> io::Result<Self> {
        // If the ring is smaller than a block, the block has the size of the ring.
        let block = BLOCK.min(octets.next_power_of_two()).max(1 << 12);
        let blocks = (octets / block).max(1);
        let number = |value: usize| u32::try_from(value).map_err(io::Error::other);
        let socket = Socket::closed_packet()?;
        socket.set(
            libc::SOL_PACKET,
            libc::PACKET_VERSION,
            &(libc::tpacket_versions::TPACKET_V3 as libc::c_int),
        )?;
        if hardware {
            socket.set(libc::SOL_PACKET, libc::PACKET_TIMESTAMP, &libc::SOF_TIMESTAMPING_RAW_HARDWARE)?;
        }
        let request = libc::tpacket_req3 {
            tp_block_size: number(block)?,
            tp_block_nr: number(blocks)?,
            tp_frame_size: 2048,
            tp_frame_nr: number(block / 2048 * blocks)?,
            tp_retire_blk_tov: retire_ms,
            tp_sizeof_priv: 0,
            tp_feature_req_word: 0,
        };
        socket.set(libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        // SAFETY: a new mapping of the length that was request for; where it lies is the kernel's choice.
        let memory = unsafe {
            let memory = libc::mmap(
                std::ptr::null_mut(),
                block * blocks,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                socket.fd.as_raw_fd(),
                0,
            );
            if memory == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            NonNull::new(memory.cast::<u8>()).ok_or_else(io::Error::last_os_error)?
        };
        Ok(Self { socket, memory, block, blocks, next: 0 })
    }

    /// The socket, to wait on and to read its counters.
    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Hands over the frames of the next block, if it is ready; returns whether it was.
    pub fn read(&mut self, mut each: impl FnMut(&[u8], Arrival)) -> bool {
        // SAFETY: within the mapping, aligned to a page; only the status is looked at, as both sides agreed, atomically.
        let (block, status) = unsafe {
            let block = self.memory.as_ptr().add(self.next * self.block).cast::<libc::tpacket_block_desc>();
            (block, AtomicU32::from_ptr(&raw mut (*block).hdr.bh1.block_status))
        };
        if status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            return false;
        }
        // SAFETY: the block is ours until the status is put back; the kernel has written whole headers and frames,
        // whose offsets stay within the block, which is checked all the same.
        unsafe {
            let start = block.cast::<u8>();
            let count = (*block).hdr.bh1.num_pkts;
            let mut at = (*block).hdr.bh1.offset_to_first_pkt as usize;
            for _ in 0..count {
                if at + size_of::<libc::tpacket3_hdr>() > self.block {
                    break;
                }
                let header = start.add(at).cast::<libc::tpacket3_hdr>().read_unaligned();
                let (from, length) = (at + usize::from(header.tp_mac), header.tp_snaplen as usize);
                if from + length > self.block {
                    break;
                }
                each(std::slice::from_raw_parts(start.add(from), length), arrival(&header));
                at += header.tp_next_offset as usize;
            }
        }
        status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % self.blocks;
        true
    }
}

fn arrival(header: &libc::tpacket3_hdr) -> Arrival {
    let at = i64::from(header.tp_sec) * 1_000_000_000 + i64::from(header.tp_nsec);
    let hardware = header.tp_status & libc::TP_STATUS_TS_RAW_HARDWARE != 0;
    let tagged = header.tp_status & libc::TP_STATUS_VLAN_VALID != 0;
    Arrival {
        length: header.tp_snaplen as usize,
        original: header.tp_len,
        kernel_ns: (!hardware).then_some(at),
        hardware_ns: hardware.then_some(at),
        tag: tagged.then_some((header.hv1.tp_vlan_tci & 0xffff) as u16),
        tag_protocol: header.hv1.tp_vlan_tpid,
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, whole, and nothing refers to it any more.
        let _ = checked(unsafe { libc::munmap(self.memory.as_ptr().cast(), self.block * self.blocks) });
    }
}
