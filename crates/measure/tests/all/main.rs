//! All tests of this crate in one program: one file links, and what tests share is compiled once.

mod captures;
mod hostile;
mod rtc_testbench;
mod run;
mod trdp;
