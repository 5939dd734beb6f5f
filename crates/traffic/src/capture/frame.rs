//! A frame as it was on the wire: the kernel takes a VLAN tag out, and this module puts it back.
//!
//! IEEE 802.1Q-2022, 9.4.

use crate::system::receive::Arrival;

/// Octets of two addresses, behind which the tag is.
const ADDRESSES: usize = 12;
const TAG: u32 = 4;
/// `EtherType` of a customer's tag, if the kernel does not tell it.
const C_TAG: u16 = 0x8100;

/// Puts the first `snap` octets of the frame as it was on the wire into `whole`; returns the frame's length.
pub fn restore(octets: &[u8], arrival: Arrival, snap: u32, whole: &mut Vec<u8>) -> u32 {
    whole.clear();
    let mut original = arrival.original;
    match (arrival.tag, octets.split_at_checked(ADDRESSES)) {
        (Some(tag), Some((addresses, rest))) => {
            let protocol = if arrival.tag_protocol == 0 { C_TAG } else { arrival.tag_protocol };
            whole.extend_from_slice(addresses);
            whole.extend_from_slice(&protocol.to_be_bytes());
            whole.extend_from_slice(&tag.to_be_bytes());
            whole.extend_from_slice(rest);
            original += TAG;
        }
        _ => whole.extend_from_slice(octets),
    }
    whole.truncate(snap as usize);
    original
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_put_back_and_the_rest_is_cut() {
        let octets: Vec<u8> = (0..20).collect();
        let plain = Arrival { original: 60, ..Arrival::default() };
        let tagged = Arrival { tag: Some(0xa007), ..plain };
        let service = Arrival { tag_protocol: 0x88a8, ..tagged };
        let of = |arrival, octets: &[u8], snap| {
            let mut whole = vec![9; 3];
            let original = restore(octets, arrival, snap, &mut whole);
            (original, whole)
        };
        let with = |tag: [u8; 4]| [&octets[..12], &tag, &octets[12..]].concat();
        assert_eq!(of(plain, &octets, 96), (60, octets.clone()));
        assert_eq!(of(plain, &octets, 16), (60, octets[..16].to_vec()));
        assert_eq!(of(tagged, &octets, 96), (64, with([0x81, 0, 0xa0, 7])));
        assert_eq!(of(tagged, &octets, 14), (64, with([0x81, 0, 0xa0, 7])[..14].to_vec()));
        assert_eq!(of(service, &octets, 96), (64, with([0x88, 0xa8, 0xa0, 7])));
        // These octets are too few for a tag.
        assert_eq!(of(tagged, &octets[..11], 96), (60, octets[..11].to_vec()));
    }
}
