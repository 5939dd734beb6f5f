//! Conversion of octets to numbers, and padding.

/// `N` octets from `at`, and zeros beyond the end; callers check the length beforehand.
pub(crate) fn at<const N: usize>(octets: &[u8], at: usize) -> [u8; N] {
    octets.get(at..at + N).and_then(|part| part.try_into().ok()).unwrap_or([0; N])
}

/// Two octets in network byte order.
pub(crate) fn number16(octets: &[u8], from: usize) -> u16 {
    u16::from_be_bytes(at(octets, from))
}

/// Four octets in network byte order.
pub(crate) fn number32(octets: &[u8], from: usize) -> u32 {
    u32::from_be_bytes(at(octets, from))
}

/// Octets of a data set with its padding: a multiple of four.
pub(crate) const fn padded(octets: usize) -> usize {
    octets.next_multiple_of(4)
}

/// Appends a data set and its padding.
pub(crate) fn append_padded(data_set: &[u8], into: &mut Vec<u8>) {
    into.extend_from_slice(data_set);
    into.resize(into.len() + padded(data_set.len()) - data_set.len(), 0);
}
