"use strict";
// A GIF (GIF89a) of pictures with one table of colours; each picture is compressed by LZW.
class Gif {
  // `samples`: pictures whose most frequent colours are the table.
  constructor(width, height, hundredths, samples) {
    this.width = width;
    this.height = height;
    this.hundredths = hundredths;
    this.parts = [];
    this.nearest = new Map();
    const counts = new Map();
    for (const pixels of samples) for (let n = 0; n < pixels.length; n += 4) {
      const key = (pixels[n] << 16) | (pixels[n + 1] << 8) | pixels[n + 2];
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    this.colours = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 256).map(([key]) => key);
    const table = new Uint8Array(768);
    this.colours.forEach((key, n) => table.set([key >> 16, (key >> 8) & 255, key & 255], 3 * n));
    this.put([..."GIF89a"].map((letter) => letter.charCodeAt(0)), this.word(width), this.word(height), [0xf7, 0, 0], table,
      [0x21, 0xff, 11], [..."NETSCAPE2.0"].map((letter) => letter.charCodeAt(0)), [3, 1, 0, 0, 0]);
  }

  word(number) { return [number & 255, number >> 8]; }

  put(...all) { for (const one of all) this.parts.push(Uint8Array.from(one)); }

  place(key) {
    if (!this.nearest.has(key)) {
      const far = (one) => (((one >> 16) - (key >> 16)) ** 2) + ((((one >> 8) & 255) - ((key >> 8) & 255)) ** 2) + (((one & 255) - (key & 255)) ** 2);
      this.nearest.set(key, this.colours.reduce((best, one, n) => (far(one) < far(this.colours[best]) ? n : best), 0));
    }
    return this.nearest.get(key);
  }

  add(pixels) {
    this.put([0x21, 0xf9, 4, 0], this.word(this.hundredths), [0, 0], [0x2c, 0, 0, 0, 0], this.word(this.width), this.word(this.height), [0, 8]);
    const octets = this.compressed(pixels);
    for (let n = 0; n < octets.length; n += 255) this.put([Math.min(255, octets.length - n)], octets.slice(n, n + 255));
    this.put([0]);
  }

  // Codes of 9 to 12 bits; the table of codes is cleared when it is full.
  compressed(pixels) {
    const octets = [];
    let [bits, held, size, next, codes] = [0, 0, 9, 258, new Map()];
    const emit = (code) => {
      held |= code << bits;
      bits += size;
      for (; bits >= 8; bits -= 8, held >>>= 8) octets.push(held & 255);
    };
    emit(256);
    let prefix = -1;
    for (let n = 0; n < pixels.length; n += 4) {
      const colour = this.place((pixels[n] << 16) | (pixels[n + 1] << 8) | pixels[n + 2]);
      const known = prefix < 0 ? colour : codes.get((prefix << 8) | colour);
      if (known !== undefined) {
        prefix = known;
        continue;
      }
      emit(prefix);
      if (next === 4096) {
        emit(256);
        [size, next, codes] = [9, 258, new Map()];
      } else {
        if (next === 1 << size) size += 1;
        codes.set((prefix << 8) | colour, next);
        next += 1;
      }
      prefix = colour;
    }
    emit(prefix);
    if (next === 1 << size && size < 12) size += 1;
    emit(257);
    if (bits) octets.push(held & 255);
    return octets;
  }

  file() {
    return new Blob([...this.parts, Uint8Array.of(0x3b)], { type: "image/gif" });
  }
}
