//! What is modelled, but not together with everything else yet.

use crate::Plan;
use crate::check::Check;

impl Plan {
    /// Refuses what would be simulated wrongly, rather than simulating it.
    pub(crate) fn check_combinations(&self) -> Check {
        self.check_identification()
    }
}
