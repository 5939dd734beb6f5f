//! The event kernel: builds nodes from a Plan, runs them, and records sightings at taps.
//!
//! # The order of events
//!
//! Events are handled in one total order that does not depend on the machine:
//! 1. time, in integer picoseconds;
//! 2. phase: at one instant, first all events at which a frame reaches a queue (a talker's release, a frame that
//!    leaves a bridge's forwarding process), then all events at which a port chooses among queues (the port is free
//!    again, a gate opens, credit is back), then all events of clocks and PTP messages;
//! 3. node, in the Plan's order;
//! 4. a counter per node, in the order in which events for this node were scheduled.
//!
//! So a port chooses among all frames that arrive at the same instant, and of two frames in one class the frame that
//! was under way first is sent first.
//!
//! # Randomness
//!
//! A draw is addressed by the Plan's seed and a name such as `stream/camera/jitter` (see the module `random`). A new
//! node or stream changes no draw of another one.
//!
//! # What an event costs
//!
//! A frame-hop is one frame sent over one link. A frame-hop takes one event (the arrival at the queue) and, if the
//! frame had to wait, a second one (the choice). Delivery at a listener is computed when the last link's transmission
//! begins, so it is reported ahead of time; a frame that would arrive after the end of the run is not reported and
//! counts as still in the network. Sightings of one tap are in order of time.
//!
//! Where member streams merge (FRER), a filter matches, a bridge learns or software receives, each arrival is an
//! event of its own, as the result depends on the order of arrivals. These events come before all others of their
//! instant (phase 0), and the frame is observed there, so that at such a port sightings of other streams may be
//! reported before the sighting of an earlier frame. Stages of a host's software are reported as soon as they are
//! known, in order for each stream.
//!
//! ```
//! # fn main() -> Result<(), tsn_sim::SimError> {
//! # let json = include_str!("../tests/plans/one-hop.json");
//! let plan = tsn_plan::Plan::read(json)?;
//! let mut sightings = Vec::new();
//! let counters = tsn_sim::Simulation::new(&plan)?.run(&mut sightings, &mut tsn_sim::unwatched)?;
//! assert_eq!(counters.streams[0].released, 10);
//! # Ok(())
//! # }
//! ```

mod clocks;
mod error;
mod faults;
mod forwarding;
mod hosts;
mod ids;
mod kernel;
mod logarithm;
mod network;
mod output;
mod policing;
mod random;
mod slab;
mod steady;
mod talkers;

pub use error::SimError;
pub use kernel::simulation::{Progress, Simulation, unwatched};
pub use output::counters::{
    ClassCounters, ClockCounters, FaultCounters, FilterCounters, GateCounters, GroupCounters, InForce,
    PolicingCounters, PortCounters, QdiscCounters, RecoveryCounters, RunCounters, StreamCounters,
};
pub use output::record;
pub use steady::{Found, Steady, expected_frame_hops, find as find_repetition};
pub use talkers::live;
