//! All tests of this crate in one program: one file links, and what tests share is compiled once.

#[path = "../../../sim/tests/all/common/mod.rs"]
mod common;

mod along_paths;
mod answers;
mod ats;
mod clocks;
mod closed_forms;
mod cyclic_queues;
mod full_queues;
mod gates_on_clocks;
mod given_credits;
mod hold_release;
mod hosts;
mod list_changes;
mod losses;
mod moved_frames;
mod parts;
mod stages;
mod stamps_and_reasons;
mod token_buckets;
mod windows;
