//! All tests of this crate in one program: one file links, and what tests share is compiled once.

mod common;
mod parts;
mod port;
mod preemption;
mod slots;
mod stages;
