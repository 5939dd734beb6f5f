//! Numbers of one column in Parquet's encoding DELTA_BINARY_PACKED: each block has its least delta, and what the others
//! have beyond it in as few bits as needed.
//!
//! The encoder of the crate `parquet` takes 90 instructions for a number, and a sighting has eight. This one takes a
//! few, and writes the same octets.

/// Deltas per block. Long blocks cost less time than the usual 128, and the files are not longer.
pub(super) const BLOCK: usize = 1024;
/// Parts of a block, each with a width of its own.
const PARTS: usize = 8;
/// Deltas per part.
const PART: usize = BLOCK / PARTS;

/// A number that Parquet stores.
pub(super) trait Number: Copy + Default + Ord {
    /// The difference, modulo the numbers that there are.
    fn minus(self, other: Self) -> Self;
    /// The number without its sign.
    fn unsigned(self) -> u64;
    /// The number with its sign.
    fn signed(self) -> i64;
}

impl Number for i32 {
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }

    #[inline(always)]
    fn unsigned(self) -> u64 {
        u64::from(self.cast_unsigned())
    }

    #[inline(always)]
    fn signed(self) -> i64 {
        i64::from(self)
    }
}

impl Number for i64 {
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }

    #[inline(always)]
    fn unsigned(self) -> u64 {
        self.cast_unsigned()
    }

    #[inline(always)]
    fn signed(self) -> i64 {
        self
    }
}

/// The encoder of one column of one row group.
#[derive(Default)]
pub(super) struct Deltas<T> {
    count: usize,
    first: T,
    /// The last number of the last full block, and the numbers after it.
    open: Vec<T>,
    /// The full blocks.
    blocks: Vec<u8>,
}

impl<T: Number> Deltas<T> {
    /// Appends numbers.
    pub fn extend(&mut self, numbers: impl Iterator<Item = T>) {
        let before = self.open.len();
        self.open.extend(numbers);
        if self.count == 0 {
            self.first = self.open.first().copied().unwrap_or_default();
        }
        self.count += self.open.len() - before;
        let mut begin = 0;
        while let Some(numbers) = self.open.get(begin..=begin + BLOCK) {
            write_block(numbers, &mut self.blocks);
            begin += BLOCK;
        }
        self.open.drain(..begin);
    }

    /// Takes the values of a page out, and begins anew.
    pub fn take(&mut self) -> Vec<u8> {
        let mut page = Vec::with_capacity(self.blocks.len() + self.open.len() * size_of::<T>() + 64);
        put_number(BLOCK as u64, &mut page);
        put_number(PARTS as u64, &mut page);
        put_number(self.count as u64, &mut page);
        put_signed(self.first.signed(), &mut page);
        page.extend_from_slice(&self.blocks);
        write_block(&self.open, &mut page);
        self.open.clear();
        self.blocks.clear();
        self.first = T::default();
        self.count = 0;
        page
    }
}

/// Writes the deltas of these numbers, at most [`BLOCK`] of them; nothing if there are none.
fn write_block<T: Number>(numbers: &[T], into: &mut Vec<u8>) {
    let mut deltas = [T::default(); BLOCK];
    let pairs = numbers.iter().zip(numbers.get(1..).unwrap_or_default());
    let count = pairs.len();
    deltas.iter_mut().zip(pairs).for_each(|(delta, (before, number))| *delta = number.minus(*before));
    let Some(deltas) = deltas.get(..count) else { return };
    let Some(least) = deltas.iter().copied().min() else { return };
    put_signed(least.signed(), into);
    let widths = into.len();
    into.resize(widths + PARTS, 0);
    if count == BLOCK && deltas.iter().all(|delta| *delta == least) {
        // A column of one value, as most columns of most blocks: all widths are zero.
        return;
    }
    for (part, deltas) in deltas.chunks(PART).enumerate() {
        // What a short part lacks is zero.
        let mut above = [0; PART];
        above.iter_mut().zip(deltas).for_each(|(above, delta)| *above = delta.minus(least).unsigned());
        let width = u64::BITS - above.iter().fold(0, |all, number| all | number).leading_zeros();
        into[widths + part] = width as u8;
        if width > 0 {
            pack(&above, width, into);
        }
    }
}

/// Appends `width` bits of each number, the least significant bit first.
fn pack(numbers: &[u64; PART], width: u32, into: &mut Vec<u8>) {
    let begin = into.len();
    into.resize(begin + PART / 8 * width as usize, 0);
    // PART is a multiple of 64, so the last word is full, too.
    let mut words = into[begin..].as_chunks_mut().0.iter_mut();
    let (mut word, mut filled) = (0_u64, 0);
    for number in numbers {
        word |= number << filled;
        filled += width;
        if filled >= u64::BITS {
            if let Some(place) = words.next() {
                *place = word.to_le_bytes();
            }
            filled -= u64::BITS;
            word = number.unbounded_shr(width - filled);
        }
    }
}

/// Appends a number in groups of seven bits, the least significant first.
pub(super) fn put_number(mut number: u64, into: &mut Vec<u8>) {
    while number >= 128 {
        into.push(number as u8 | 128);
        number >>= 7;
    }
    into.push(number as u8);
}

/// Appends a number whose sign is its last bit, so that small numbers stay short.
fn put_signed(number: i64, into: &mut Vec<u8>) {
    put_number((number << 1 ^ number >> 63).cast_unsigned(), into);
}
