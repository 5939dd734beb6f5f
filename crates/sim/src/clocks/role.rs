//! The role of a node in PTP, from which its PTP clock is made at first and after every restart.

use tsn_clock::{DelayMechanism, Instance, Profile, PtpClock, Settings, TransparentClock};
use tsn_plan::{Delay, Gptp};

/// The PTP role of a node, as the Plan configures it.
#[derive(Clone, Debug)]
pub(crate) enum PtpRole {
    Instance(Box<Settings>),
    Transparent { delay: DelayMechanism, ports: usize, enabled: Vec<usize> },
}

impl PtpRole {
    pub fn begin(&self) -> PtpClock {
        match self {
            Self::Instance(settings) => PtpClock::Instance(Box::new(Instance::new((**settings).clone()))),
            Self::Transparent { delay, ports, enabled } => {
                PtpClock::Transparent(Box::new(TransparentClock::new(*delay, *ports, enabled)))
            }
        }
    }
}

pub(crate) fn profile(gptp: &Gptp) -> Profile {
    if gptp.ieee_1588.is_some() { Profile::Ieee1588 } else { Profile::TimeAware }
}

pub(crate) fn delay(gptp: &Gptp) -> DelayMechanism {
    match &gptp.ieee_1588 {
        Some(it) if it.delay == Delay::EndToEnd => DelayMechanism::EndToEnd,
        _ => DelayMechanism::PeerToPeer,
    }
}
