//! Oscillators, servos and gPTP: how a node gets its time.
//!
//! Pure state machines in integers: no clock is read, nothing is sent, and random numbers come from the caller's
//! source. Three kinds of time do not mix: [`tsn_units::True`] is true time, which no node can read,
//! [`tsn_units::Free`] is the count of a node's oscillator, and [`tsn_units::Local`] is the clock that a servo
//! adjusts. A [`tsn_units::ClockMap`] converts between them; a [`NodeClock`] has the maps of a node.
//!
//! gPTP (IEEE 802.1AS-2020) is an [`Instance`] per node: the caller reports received and sent messages with their
//! times, and the instance writes messages to send and corrections of its clock into the caller's list.

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
