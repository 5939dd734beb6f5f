//! Any octets as TRDP telegrams that come one after another: counted or refused, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tsn_trdp::{Subscription, Telegram};

fuzz_target!(|octets: &[u8]| {
    let mut subscription = Subscription::new(Some(100));
    for (number, datagram) in octets.chunks(128).enumerate() {
        if let Ok(found) = Telegram::parse(datagram) {
            let source = ([10, 0, 0, 1], found.kind_number());
            let _ = subscription.receive(number as i64 * 60, source, found.sequence());
            let _ = found.data_set();
        }
        let _ = Telegram::parse_cut(datagram, usize::MAX);
    }
});
