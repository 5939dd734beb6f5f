//! What test tools write into a frame so that its sightings can be told to be of the same frame.

pub mod tsnbench;
