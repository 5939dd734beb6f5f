//! Recorded answers of linuxptp 3.1.1's ptp4l, which followed another one over a veth link with software timestamps.

/// Number of the data set, octets of its data, and the whole message.
pub const SAMPLES: &[(u16, usize, &str)] = &[
    (
        0xc000,
        50,
        "0d020068000000000000000000000000000000004ec0d7fffe201b2200000007047f00000000000000006c4b00000200 \
         00010034c000 000000000000024a 18ea6cb383b22875 00000000 00000000 0000 000000000000000000000000 00000001 \
         3eb904fffefcd59d",
    ),
    (
        0x2004,
        26,
        "0d020050000000000000000000000000000000004ec0d7fffe201b2200010007047f00000000000000006c4b00000200 \
         0001001c2004 4ec0d7fffe201b220001 08 00 0000000005f70000 fe 03 fd 02 fe 02",
    ),
    (
        0x2002,
        32,
        "0d020056000000000000000000000000000000004ec0d7fffe201b2200000007047f00000000000000006c4b00000200 \
         000100222002 3eb904fffefcd59d0001 00 00 ffff 7fffffff 64 f8feffff 80 3eb904fffefcd59d",
    ),
    (
        0x2001,
        18,
        "0d020048000000000000000000000000000000004ec0d7fffe201b2200000007047f00000000000000006c4b00000200 \
         000100142001 0001 00000000024a0000 0000000000000000",
    ),
    (
        0x2003,
        4,
        "0d02003a000000000000000000000000000000004ec0d7fffe201b2200000007047f00000000000000006c4b00000200 \
         000100062003 0025 00 a0",
    ),
    (
        0x2000,
        20,
        "0d02004a000000000000000000000000000000004ec0d7fffe201b2200000007047f00000000000000006c4b00000200 \
         000100162000 01 00 0001 c8 f8feffff 80 4ec0d7fffe201b22 00 00",
    ),
    (
        0xc004,
        16,
        "0d020046000000000000000000000000000000004ec0d7fffe201b2200010007047f00000000000000006c4b00000200 \
         00010012c004 4ec0d7fffe201b220001 08 00 02 7631 00",
    ),
];

/// Hexadecimal digits as octets; spaces are for people.
pub fn octets(text: &str) -> Vec<u8> {
    let digits: Vec<char> = text.chars().filter(char::is_ascii_hexdigit).collect();
    let octet = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap_or_default();
    digits.chunks(2).map(octet).collect()
}
