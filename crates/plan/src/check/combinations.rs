//! Checks of combinations that are not modelled yet.

use crate::Plan;
use crate::check::Check;

impl Plan {
    /// Rejects combinations that would be simulated wrongly.
    pub(crate) fn check_combinations(&self) -> Check {
        self.check_identification()
    }
}
