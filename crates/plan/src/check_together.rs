//! What is modelled, but not together with everything else yet.

use crate::Plan;
use crate::check::{Check, ensure};

impl Plan {
    /// Refuses what would be simulated wrongly, rather than simulating it.
    pub(crate) fn check_together(&self) -> Check {
        let beside = |what: &str, other: &str| format!("{what} beside {other} is not modelled yet");
        let clocks = self.clocks.is_some();
        let several = self.streams.iter().position(|stream| stream.redundancy.is_some());
        if clocks {
            let alone = "clocks of nodes";
            ensure(self.faults.is_empty(), || "faults[0]".into(), || beside("a fault", alone))?;
            ensure(
                several.is_none(),
                || format!("streams[{}].redundancy", several.unwrap_or_default()),
                || beside("a stream with several ways", alone),
            )?;
        }
        for (number, port) in self.ports.iter().enumerate() {
            let path = || format!("ports[{number}].preemption");
            ensure(!clocks || port.preemption.is_none(), path, || {
                beside("frame pre-emption", "clocks of nodes")
            })?;
        }
        self.check_identification()
    }
}
