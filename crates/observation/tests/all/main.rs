//! All tests of this crate in one program: one file links, and what tests share is compiled once.

mod parquet;
mod same_octets;
