//! All tests of this crate in one program: one file links, and what tests share is compiled once.

mod common;
mod holds;
mod mutations;
mod shared;
mod windows;
