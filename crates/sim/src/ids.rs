//! Indices as types: the index of a port cannot select a node, and two indices in the wrong order do not compile.
//!
//! Each one is an index into the Plan's list of such things; a [`HopId`] is one into
//! [`crate::network::tables::Network::hops`].

use std::ops::{Index, IndexMut};

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        pub(crate) struct $name(pub u32);

        impl $name {
            /// The thing at this index of its list.
            #[inline]
            pub const fn at(place: usize) -> Self {
                Self(place as u32)
            }

            /// The index in the list.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl<T> Index<$name> for Vec<T> {
            type Output = T;

            #[inline]
            fn index(&self, id: $name) -> &T {
                &self.as_slice()[id.index()]
            }
        }

        impl<T> IndexMut<$name> for Vec<T> {
            #[inline]
            fn index_mut(&mut self, id: $name) -> &mut T {
                &mut self.as_mut_slice()[id.index()]
            }
        }
    )*};
}

ids! {
    /// A node of the Plan.
    NodeId;
    /// A port of the Plan: its egress, and the link behind it.
    PortId;
    /// A stream of the Plan; the index after the last one stands for PTP messages.
    StreamId;
    /// One entry of one stream's route: a link that its frames take.
    HopId;
    /// A fault of the Plan.
    FaultId;
}
