//! The transport of message data: datagrams, or a connection in which telegrams follow each other.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream, UdpSocket};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::Duration;
use tsn_trdp::message_data::{self, Header};
use tsn_trdp::{MESSAGE_DATA_PORT, Telegram};

/// Octets of the longest datagram.
const LONGEST: usize = 65_536;
/// Time limit for setting up a connection.
const CONNECT: Duration = Duration::from_secs(1);

/// A received telegram.
#[derive(Debug)]
pub struct Message {
    pub header: Header,
    pub data_set: Vec<u8>,
    /// The sender of a datagram; none for a connection.
    pub from: Option<SocketAddrV4>,
}

/// The transport with its socket.
#[derive(Debug)]
enum Carrier {
    Datagrams(UdpSocket),
    Connection(TcpStream),
}

/// One side of a conversation.
#[derive(Debug)]
pub struct Conversation {
    carrier: Carrier,
    /// Received octets of a connection that are not yet a whole telegram.
    begun: Vec<u8>,
    /// Number of received messages that are not telegrams.
    pub errors: u64,
    /// The peer has ended the connection.
    pub ended: bool,
}

impl Conversation {
    fn new(carrier: Carrier) -> Self {
        Self { carrier, begun: Vec::new(), errors: 0, ended: false }
    }

    /// A conversation by datagrams from an address.
    pub fn datagrams(from: Ipv4Addr, look: Duration) -> io::Result<Self> {
        Self::over(UdpSocket::bind(SocketAddrV4::new(from, 0))?, look)
    }

    /// A conversation by the datagrams of a socket.
    pub fn over(socket: UdpSocket, look: Duration) -> io::Result<Self> {
        socket.set_read_timeout(Some(look))?;
        Ok(Self::new(Carrier::Datagrams(socket)))
    }

    /// A conversation by a connection to an address; the kernel chooses the address of this side by its routes.
    pub fn connection(to: Ipv4Addr, look: Duration) -> io::Result<Self> {
        let to = SocketAddr::V4(SocketAddrV4::new(to, MESSAGE_DATA_PORT));
        Self::accepted(TcpStream::connect_timeout(&to, CONNECT)?, look)
    }

    /// A conversation by an accepted connection.
    pub fn accepted(stream: TcpStream, look: Duration) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(look))?;
        stream.set_nodelay(true)?;
        Ok(Self::new(Carrier::Connection(stream)))
    }

    /// The socket, to wait for the next octets.
    pub fn socket(&self) -> BorrowedFd<'_> {
        match &self.carrier {
            Carrier::Datagrams(socket) => socket.as_fd(),
            Carrier::Connection(stream) => stream.as_fd(),
        }
    }

    /// Whether the peer has ended the connection; datagrams never end. Octets that have arrived can still be read.
    pub fn has_ended(&self) -> bool {
        let Carrier::Connection(stream) = &self.carrier else { return false };
        if self.ended || stream.set_nonblocking(true).is_err() {
            return true;
        }
        let ended = match stream.peek(&mut [0]) {
            Ok(octets) => octets == 0,
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        };
        stream.set_nonblocking(false).is_err() || ended
    }

    /// Sends to the port of message data at an address, or into the connection.
    pub fn send(&mut self, to: Ipv4Addr, header: &Header, data_set: &[u8]) -> io::Result<()> {
        self.send_to(SocketAddrV4::new(to, MESSAGE_DATA_PORT), header, data_set)
    }

    /// Sends to an address, or into the connection.
    pub fn send_to(&mut self, to: SocketAddrV4, header: &Header, data_set: &[u8]) -> io::Result<()> {
        let mut octets = Vec::new();
        header.emit(data_set, &mut octets).map_err(io::Error::other)?;
        match &mut self.carrier {
            Carrier::Datagrams(socket) => socket.send_to(&octets, to).map(|_| ()),
            Carrier::Connection(stream) => stream.write_all(&octets),
        }
    }

    /// The next telegram; none if none arrives within the time limit.
    pub fn next(&mut self) -> Option<Message> {
        if let Some(found) = self.whole() {
            return Some(found);
        }
        let mut octets = vec![0; LONGEST];
        match &mut self.carrier {
            Carrier::Datagrams(socket) => {
                let (length, from) = socket.recv_from(&mut octets).ok()?;
                let from = if let SocketAddr::V4(from) = from { Some(from) } else { None };
                match Telegram::parse(octets.get(..length)?) {
                    Ok(Telegram::MessageData(header, data_set)) => {
                        Some(Message { header, data_set: data_set.to_vec(), from })
                    }
                    _ => {
                        self.errors += 1;
                        None
                    }
                }
            }
            Carrier::Connection(stream) => {
                match stream.read(&mut octets) {
                    Ok(0) => self.ended = true,
                    Ok(length) => self.begun.extend_from_slice(octets.get(..length)?),
                    Err(error)
                        if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
                    Err(_) => self.ended = true,
                }
                self.whole()
            }
        }
    }

    /// Takes the first whole telegram out of a connection's octets; datagrams need no buffer.
    pub fn whole(&mut self) -> Option<Message> {
        if self.begun.len() < message_data::HEADER {
            return None;
        }
        let Ok(header) = Header::parse(&self.begun) else {
            // The begin of the next telegram is unknown.
            self.errors += 1;
            self.ended = true;
            self.begun.clear();
            return None;
        };
        let octets = header.data_set_octets as usize;
        let whole = message_data::octets(octets);
        if self.begun.len() < whole {
            return None;
        }
        let data_set = self.begun.get(message_data::HEADER..message_data::HEADER + octets)?.to_vec();
        self.begun.drain(..whole);
        Some(Message { header, data_set, from: None })
    }
}
