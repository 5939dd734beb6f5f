//! Which frames the kernel hands to a packet socket, and how much of each: classic BPF. linux/filter.h, socket(7).

use super::socket::Socket;
use std::io;

/// Where a frame's `EtherType` is.
const PROTOCOL_AT: u32 = 12;
/// Nothing of this frame.
const NOTHING: libc::sock_filter = statement(libc::BPF_RET, 0);

/// Frames of which way.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Those that arrive.
    In,
    /// Those that this machine sends or forwards (`PACKET_OUTGOING`).
    Out,
    /// All of them.
    Both,
}

impl Socket {
    /// From now on the socket gets the frames of one direction, and `snap` octets of each.
    ///
    /// # Errors
    /// What the kernel says.
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
    /// What the kernel says.
    pub(super) fn take_protocol(&self, protocol: u16) -> io::Result<()> {
        let load = statement(libc::BPF_LD | libc::BPF_H | libc::BPF_ABS, PROTOCOL_AT);
        let take = statement(libc::BPF_RET, u32::MAX);
        self.attach(&mut [load, or_else_one_on(protocol.into()), take, NOTHING])
    }

    /// From now on the socket gets nothing more; what was taken stays in its ring.
    ///
    /// # Errors
    /// What the kernel says.
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

/// Goes on where what was loaded is `value`, and else leaves out one statement.
const fn or_else_one_on(value: u32) -> libc::sock_filter {
    libc::sock_filter { jf: 1, ..statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value) }
}
