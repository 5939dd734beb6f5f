//! Any octets are a telegram or an error, and written telegrams are read back.

use proptest::prelude::*;
use tsn_trdp::{Subscription, Telegram, check_sequence, message_data, process_data, tsn};

/// Octets with a correct check sequence of the header, so that a reader continues after the header.
fn fitted(mut octets: Vec<u8>, header: usize) -> Vec<u8> {
    if octets.len() >= header {
        let sequence = check_sequence::of(&octets[..header - 4]).to_le_bytes();
        octets[header - 4..header].copy_from_slice(&sequence);
    }
    octets
}

proptest! {
    #[test]
    fn any_octets_are_a_telegram_or_an_error(
        octets in proptest::collection::vec(any::<u8>(), 0..300),
        family in 0_usize..4,
        length in 0_usize..70_000,
    ) {
        let mut octets = octets;
        if let Some(version) = octets.get_mut(4..8) {
            match family {
                0 => version.copy_from_slice(b"\x01\x00Pd"),
                1 => version[..2].copy_from_slice(b"\x02\x01"),
                2 => version.copy_from_slice(b"\x01\x00Mr"),
                _ => {}
            }
        }
        let header = [process_data::HEADER, tsn::HEADER, message_data::HEADER, tsn::SHORT_HEADER][family];
        for octets in [octets.clone(), fitted(octets, header)] {
            if let Ok(found) = Telegram::parse(&octets) {
                prop_assert!(found.data_set().len() == found.data_set_octets() as usize);
            }
            if let Ok(found) = Telegram::parse_cut(&octets, length) {
                prop_assert!(found.data_set().len() <= octets.len());
            }
        }
    }

    #[test]
    fn what_is_written_is_read(
        (sequence, com_id, etb, op) in any::<(u32, u32, u32, u32)>(),
        data_set in proptest::collection::vec(any::<u8>(), 0..1432),
    ) {
        let mut octets = Vec::new();
        let data_set_octets = data_set.len() as u32;
        let header = process_data::Header {
            sequence, com_id, etb_topo_count: etb, op_trn_topo_count: op, data_set_octets, ..Default::default()
        };
        header.emit(&data_set, &mut octets).unwrap();
        prop_assert_eq!(Telegram::parse(&octets), Ok(Telegram::ProcessData(header, &data_set)));
        octets.clear();
        let header = tsn::Header { sequence, com_id, data_set_octets: data_set.len() as u16, ..Default::default() };
        header.emit(&data_set, &mut octets).unwrap();
        prop_assert_eq!(Telegram::parse(&octets), Ok(Telegram::Tsn(header, &data_set)));
        octets.clear();
        let header = message_data::Header { sequence, com_id, data_set_octets, ..Default::default() };
        header.emit(&data_set, &mut octets).unwrap();
        prop_assert_eq!(Telegram::parse(&octets), Ok(Telegram::MessageData(header, &data_set)));
    }

    #[test]
    fn a_subscription_accounts_for_every_telegram(
        arrivals in proptest::collection::vec((0_i64..1_000, any::<u8>(), 0_u32..20), 0..200),
        time_out in proptest::option::of(1_i64..2_000),
    ) {
        let mut subscription = Subscription::new(time_out);
        let mut now = 0;
        for (step, source, sequence) in &arrivals {
            now += step;
            subscription.receive(now, ([0, 0, 0, source % 3], 1), *sequence);
        }
        let counts = subscription.counts();
        prop_assert_eq!(counts.taken + counts.repeated + counts.old, arrivals.len() as u64);
        prop_assert!(counts.gaps <= counts.missed && counts.restarted <= counts.taken);
    }
}

#[test]
fn seeds_cut_at_every_length_and_with_flipped_bits() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/trdp");
    for entry in std::fs::read_dir(folder).unwrap() {
        let octets = std::fs::read(entry.unwrap().path()).unwrap();
        let whole = octets.chunks(128).filter(|telegram| Telegram::parse_cut(telegram, 200).is_ok()).count();
        assert_eq!(whole, octets.len().div_ceil(128), "every seed is a telegram");
        for telegram in octets.chunks(128) {
            for place in 0..telegram.len() {
                assert!(Telegram::parse(&telegram[..place]).is_err() || place >= 16);
                let mut flipped = telegram.to_vec();
                flipped[place] ^= 0x81;
                let _ = (Telegram::parse(&flipped), Telegram::parse_cut(&flipped, usize::MAX));
            }
        }
    }
}
