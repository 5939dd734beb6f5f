//! Errors that keep a simulation from starting or continuing.

/// Why a simulation cannot start or continue.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The plan cannot be used.
    #[error(transparent)]
    Plan(#[from] tsn_plan::PlanError),
    /// The Plan has more parts of one kind than the kernel's event order has room for.
    #[error("the plan has {found} {what}; the simulator takes at most {most}")]
    TooMany {
        /// The kind of the parts.
        what: &'static str,
        /// Number of these parts in the Plan.
        found: usize,
        /// Greatest possible number.
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
    /// The system's error of a file, if that is the cause.
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
