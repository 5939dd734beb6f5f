//! Filters of a packet socket: which frames the kernel hands over, and how many octets of each. Classic BPF;
//! linux/filter.h, socket(7).

use super::socket::Socket;
use std::io;

/// Offset of a frame's `EtherType`.
const PROTOCOL_AT: u32 = 12;
/// The kernel hands over nothing of this frame.
const NOTHING: libc::sock_filter = statement(libc::BPF_RET, 0);

/// The direction of frames at an interface.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Frames that arrive.
    In,
    /// Frames that this machine sends or forwards (`PACKET_OUTGOING`).
    Out,
    /// Frames of both directions.
    Both,
}

impl Socket {
    /// From now on the socket gets the frames of one direction, and `snap` octets of each.
    ///
    /// # Errors
    /// When the kernel refuses the filter.
    pub(super) fn take_only(&self, direction: Direction, snap: u32) -> io::Result<()> {
        let take = statement(libc::BPF_RET, snap);
        if direction == Direction::Out {
            let kind = libc::SKF_AD_OFF.wrapping_add(libc::SKF_AD_PKTTYPE).cast_unsigned();
            return self.attach(&mut [
                statement(libc::BPF_LD | libc::BPF_B | libc::BPF_ABS, kind),
                libc::sock_filter {
                    jf: 1,
                    ..statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, u32::from(libc::PACKET_OUTGOING))
                },
                take,
                statement(libc::BPF_RET, 0),
            ]);
        }
        if direction == Direction::In {
            self.only_arrivals()?;
        }
        self.attach(&mut [take])
    }

    /// From now on the socket gets frames of one `EtherType`, whole.
    ///
    /// # Errors
    /// When the kernel refuses the filter.
    pub(super) fn take_protocol(&self, protocol: u16) -> io::Result<()> {
        let load = statement(libc::BPF_LD | libc::BPF_H | libc::BPF_ABS, PROTOCOL_AT);
        let take = statement(libc::BPF_RET, u32::MAX);
        self.attach(&mut [load, or_else_one_on(protocol.into()), take, NOTHING])
    }

    /// From now on the socket gets no frame; frames that it took stay in its ring.
    ///
    /// # Errors
    /// When the kernel refuses the filter.
    pub(super) fn take_nothing(&self) -> io::Result<()> {
        self.attach(&mut [NOTHING])
    }

    fn attach(&self, program: &mut [libc::sock_filter]) -> io::Result<()> {
        let len = u16::try_from(program.len()).map_err(io::Error::other)?;
        let program = libc::sock_fprog { len, filter: program.as_mut_ptr() };
        self.set(libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)
    }
}

const fn statement(code: u32, k: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

/// Continues if the loaded value is `value`, and otherwise skips one statement.
const fn or_else_one_on(value: u32) -> libc::sock_filter {
    libc::sock_filter { jf: 1, ..statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value) }
}
