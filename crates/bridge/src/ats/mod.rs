//! Asynchronous traffic shaping: when frames become eligible for transmission.
//!
//! IEEE 802.1Q-2022, 8.6.5.6 and 8.6.11; Specht & Samii 2016.

mod scheduler;

pub use scheduler::{Eligibility, Schedulers};
