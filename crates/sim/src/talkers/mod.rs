//! Talkers: when streams release data units, in the simulator and live.

pub(crate) mod answers;
pub mod live;
pub(crate) mod saturating;
pub(crate) mod talker;
pub(crate) mod trace;
