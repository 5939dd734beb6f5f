//! All tests of this crate in one program: one file links, and what tests share is compiled once.

mod chain;
mod parts;
