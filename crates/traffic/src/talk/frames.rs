//! Frames of talkers, and the sockets that send them.

use crate::Error;
use crate::arguments::Arguments;
use crate::system::socket::Socket;
use tsn_plan::Plan;
use tsn_wire::build::FrameSpec;

/// Octets of IPv4's and UDP's headers.
const IP_AND_UDP: usize = 28;

/// The socket of a port, which all its streams share.
pub fn open(plan: &Plan, port: u32, arguments: &Arguments, interface: &str) -> std::io::Result<Socket> {
    match arguments.udp {
        None => Socket::packet(interface),
        Some(to) => {
            let first = plan.streams.iter().find(|one| one.route.first().is_some_and(|hop| hop.port == port));
            Socket::udp(interface, to, first.map_or(0, |stream| stream.udp_port))
        }
    }
}

/// Builds a frame; returns how many of its octets the kernel adds by itself.
pub fn build(frame: &FrameSpec, arguments: &Arguments, octets: &mut Vec<u8>) -> Result<usize, Error> {
    let mut frame = *frame;
    if (arguments.untagged || arguments.udp.is_some()) && frame.tag.take().is_some() {
        frame.octets = frame.octets.saturating_sub(4);
    }
    tsn_wire::build::frame(&frame, octets)?;
    Ok(if arguments.udp.is_some() { tsn_wire::ethernet::HEADER + IP_AND_UDP } else { 0 })
}
