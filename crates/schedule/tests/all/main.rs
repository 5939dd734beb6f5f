//! All tests of this crate in one program: one file links, and what tests share is compiled once.

mod beside;
mod disjoint;
mod explain;
mod gates;
mod steps;
