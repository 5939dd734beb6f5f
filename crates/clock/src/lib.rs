//! Oscillators, servos, gPTP: how a node comes to its time.
//!
//! Pure state machines in integers: no clock is read, nothing is sent, no randomness is drawn but from the caller's
//! source. Three kinds of time do not mix: [`tsn_units::True`] is what no node can know, [`tsn_units::Free`] is a
//! node's oscillator counted, [`tsn_units::Local`] the clock that a servo steers. Between them one goes through a
//! [`tsn_units::ClockMap`]; a [`NodeClock`] holds a node's.
//!
//! gPTP (IEEE 802.1AS-2020) is an [`Instance`] per node: it is told what was received and sent and when, and writes
//! what it wants sent and how its clock is to be steered into the caller's list.

mod bmca;
mod end_to_end;
mod event;
mod instance;
mod median;
mod message;
mod node;
mod oscillator;
mod pdelay;
mod priority;
mod ptp_clock;
mod received_sync;
mod servo;
mod settings;
mod transparent;

pub use bmca::BestMaster;
pub use end_to_end::EndToEnd;
pub use event::{Input, Output, Timer};
pub use instance::Instance;
pub use message::{Announce, KINDS, Message, Origin, Profile, RateOffset};
pub use node::{NodeClock, Stamp};
pub use oscillator::{Change, Oscillator, Segment, Wander};
pub use pdelay::{LinkDelay, Pdelay};
pub use priority::{PortIdentity, PriorityVector, Role, SystemIdentity};
pub use ptp_clock::PtpClock;
pub use received_sync::ReceivedSync;
pub use servo::{Correction, PiParameters, PiServo};
pub use settings::{DelayMechanism, Roles, Settings};
pub use transparent::TransparentClock;
