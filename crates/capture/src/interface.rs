//! The interfaces of one capture file: each is a tap of its own.
//!
//! pcapng describes interfaces (draft-ietf-opsawg-pcapng, section 4.2); the second Linux cooked header, which captures
//! on `any` have, contains the index of the interface of every frame. Neither says what made the timestamps.

use std::fmt;
use tsn_wire::link::Link;

/// Place of the interface's index in the second Linux cooked header.
const INDEX_AT: std::ops::Range<usize> = 4..8;

/// Which interface of a file: the same in every section of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InterfaceId {
    /// `if_name`, or else `if_description`.
    pub name: Option<String>,
    /// How many interfaces of its section have this name before it.
    pub before: u32,
    /// The index in the frames of a Linux cooked capture.
    pub index: Option<u32>,
}

impl fmt::Display for InterfaceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.name, self.index, self.before) {
            (Some(name), Some(index), 0) => write!(f, "{name} index {index}"),
            (None, Some(index), 0) => write!(f, "index {index}"),
            (Some(name), None, 0) => f.write_str(name),
            (None, None, before) => write!(f, "interface {before}"),
            (_, index, before) => {
                let first = Self { name: self.name.clone(), before: 0, index };
                write!(f, "{first} #{}", before + 1)
            }
        }
    }
}

/// The index of the interface that a frame of a Linux cooked capture names.
pub(crate) fn index_of(link: Result<Link, i32>, octets: &[u8]) -> Option<u32> {
    if link != Ok(Link::LinuxCooked2) {
        return None;
    }
    octets.get(INDEX_AT).and_then(|octets| octets.try_into().ok()).map(u32::from_be_bytes)
}
