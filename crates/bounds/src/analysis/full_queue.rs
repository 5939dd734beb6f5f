//! A queue with a limit: a frame that is not dropped waits at most for a full queue, whatever the talkers do.
//!
//! IEEE 802.1Q-2022, 8.6.7. Derived in `docs/concepts/bounds.md`.

use crate::analysis::delay_and_backlog::DelayAndBacklog;
use crate::curve::{BIT, Curve, Data, ratio_up};
use crate::model::sizes::wire;
use crate::reason::Reason;
use crate::service::cbs::Credit;
use crate::service::class::Class;
use crate::service::{Service, services_at_any_time};
use tsn_units::PHY_OVERHEAD;

/// The full queue of one class, and its service from the arrival of the last frame on.
pub(crate) struct Full {
    data: Curve,
    services: Vec<Service>,
}

impl Full {
    pub fn of(
        class: &Class<'_>,
        credit: Option<&Credit>,
        unshaped_above: &dyn Fn() -> Result<Curve, Reason>,
        services: &Result<Vec<Service>, Reason>,
    ) -> Option<Self> {
        let data = Curve::affine(most(class)?, 0);
        let services = services_at_any_time(class, credit, unshaped_above, services).ok()?;
        Some(Self { data, services })
    }

    /// The waits of frames, from their arrival in the queue until they start.
    pub fn waits(&self) -> DelayAndBacklog<'_> {
        DelayAndBacklog::new(&self.data, 0, &self.services, 0, None)
    }
}

/// The most data that waits in the queue.
fn most(class: &Class<'_>) -> Option<Data> {
    if class.model.shares_memory {
        return None;
    }
    let own = &class.model.port.classes[usize::from(class.number)];
    let smallest = Data::from(class.smallest.max(1));
    let octets = own.limit_octets.and_then(|octets| {
        ratio_up(Data::from(octets) * 8 * BIT, smallest + Data::from(PHY_OVERHEAD.0), smallest)
    });
    let frames = own.limit_frames.map(|frames| Data::from(frames) * wire(class.largest));
    frames.into_iter().chain(octets).min()
}
