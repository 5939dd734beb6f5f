//! The event kernel: builds nodes from a Plan, runs them, hands over what taps sight.
//!
//! # The order of events
//!
//! Events are handled in one total order, whatever the machine: by
//! 1. time, in integer picoseconds;
//! 2. phase: at one instant, first everything that reaches a queue (a talker's release, a frame that comes out of
//!    a bridge's forwarding process), then everything that chooses among queues (a port free again, a gate that
//!    opens, credit that is back), then everything that happens to clocks and PTP messages;
//! 3. node, in the Plan's order;
//! 4. a counter per node, in the order in which events for this node were scheduled.
//!
//! So frames that arrive at the same instant are all chosen among, and of two in the same class the one that was
//! on its way first goes first.
//!
//! # Randomness
//!
//! A draw is addressed by the Plan's seed and a name such as `stream/camera/jitter` (see the module `random`). Adding a node
//! or a stream changes nobody else's draws.
//!
//! # What an event costs
//!
//! A frame-hop is one frame sent over one link. It takes one event (its arrival at the queue) and, where it had to
//! wait, one more (the choice). Delivery at a listener is computed when the last link's transmission begins, so it
//! is handed over ahead of time; what would arrive after the end of the run is not sighted and counts as still in
//! the network. Within one tap, sightings come in order of time.
//!
//! Where copies of a stream meet (FRER), where a filter matches, a bridge learns or software receives, each arrival is
//! an event of its own: what becomes of a frame depends on the order in which they arrive. These come before everything
//! else of their instant (a phase 0), and the frame is sighted there, so that at such a port stamps of other streams may
//! be handed over before an earlier frame's. Stages of a host's software are handed over as soon as they are known, in
//! order for each stream.
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
mod talkers;

pub use error::SimError;
pub use kernel::simulation::{Progress, Simulation, unwatched};
pub use output::counters::{
    ClassCounters, FaultCounters, FilterCounters, GateCounters, GroupCounters, InForce, PolicingCounters,
    PortCounters, QdiscCounters, RecoveryCounters, RunCounters, StreamCounters,
};
pub use output::record;
pub use talkers::live;
