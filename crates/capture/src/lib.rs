//! Captures in and out: pcap and pcapng, every timestamp an exact integer of nanoseconds.

pub mod write;
