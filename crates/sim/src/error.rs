//! Why a simulation cannot begin or go on.

/// Why a simulation cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The plan cannot be used.
    #[error(transparent)]
    Plan(#[from] tsn_plan::PlanError),
    /// More than the kernel's event order has room for.
    #[error("the plan has {found} {what}; the simulator takes at most {most}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// Observations or counters cannot be written.
    #[error("the run cannot be written: {0}")]
    Output(#[from] std::io::Error),
    /// The file of observations cannot be written.
    #[error("the run cannot be written: {0}")]
    Observations(#[from] tsn_observation::parquet::Error),
}

impl SimError {
    /// What the system said of a file, where that is why.
    #[must_use]
    pub fn disk(&self) -> Option<&std::io::Error> {
        match self {
            Self::Output(error) | Self::Observations(tsn_observation::parquet::Error::Io(error)) => {
                Some(error)
            }
            _ => None,
        }
    }
}
