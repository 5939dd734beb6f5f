// Blocks of a text that are shown as their first line alone.
//
// In the field, one letter stands for the lines of a folded block: so the browser's own undo also reverts folding, and
// the text, which has the lines, never changes. A letter stands for the same lines as long as the text is open.
const FIRST = 0xe000; // letters of private use
const LAST = 0xf8ff;
const LETTERS = /[\ue000-\uf8ff]/g;

// The first and the last line of the block whose head is a line: the lines below it that stand deeper. Null: no block.
export function block(lines, head) {
  const depth = (words) => /^ */.exec(words)[0].length;
  const own = lines[head] ?? "";
  if (!own.trim() || own.trimStart().startsWith("#")) return null;
  let last = head;
  for (let line = head + 1; line < lines.length; line += 1) {
    if (!lines[line].trim()) continue;
    if (depth(lines[line]) <= depth(own)) break;
    last = line;
  }
  return last > head ? [head + 1, last] : null;
}

// The head of the smallest block that a line is the head of, or is in; -1: there is none.
export function headOf(lines, line) {
  for (let head = line; head >= 0; head -= 1) {
    const found = block(lines, head);
    if (found && (head === line || line <= found[1])) return head;
  }
  return -1;
}

export class Folds {
  constructor() { this.clear(); }

  clear(text = "") {
    this.lines = new Map(); // by letter, the words that it stands for: they may have letters themselves
    this.letters = new Map(); // the reverse
    this.used = new Set(text.match(LETTERS)); // letters of the text, which stand for themselves
    this.stand = new Map(); // letters that stand for one that the text has, too
    this.view = null; // what was shown last, and its text
    this.known = "";
    this.places = [];
  }

  // The letter that stands for these words. Empty: all letters are in use.
  letter(words) {
    const own = this.letters.get(words) ?? this.unused();
    if (own) {
      this.lines.set(own, words);
      this.letters.set(words, own);
    }
    return own;
  }

  unused() {
    let code = FIRST;
    while ([this.used, this.lines, this.stand].some((one) => one.has(String.fromCharCode(code)))) code += 1;
    return code > LAST ? "" : String.fromCharCode(code);
  }

  // Words from elsewhere, in which letters that stand for lines here are written as other ones.
  foreign(words) {
    return words.replace(LETTERS, (letter) => {
      if (!this.lines.has(letter) && !this.stand.has(letter)) {
        this.used.add(letter);
        return letter;
      }
      let [own] = [...this.stand].find(([, meant]) => meant === letter) ?? [];
      own ??= this.unused();
      this.stand.set(own, letter);
      return own;
    });
  }

  // What a view shows, with the lines of its folded blocks.
  text(view) {
    if (view === this.view) return this.known;
    const known = this.lines.size ? this.expand(view) : view;
    this.places = this.lines.size ? this.placesIn(view) : [];
    [this.view, this.known] = [view, known];
    return known;
  }

  expand(words) {
    return this.opened(words).replace(LETTERS, (letter) => this.stand.get(letter) ?? letter);
  }

  // A view without folded blocks.
  opened(words) {
    return words.replace(LETTERS, (letter) => (this.lines.has(letter) ? this.opened(this.lines.get(letter)) : letter));
  }

  // The folded blocks of a view in order: where their letter is, and where in the text their lines begin and end.
  placesIn(view) {
    const found = [];
    let more = 0;
    for (const { 0: letter, index } of view.matchAll(LETTERS)) {
      if (!this.lines.has(letter)) continue;
      const { length } = this.expand(letter);
      found.push({ at: index, start: index + more, end: index + more + length });
      more += length - 1;
    }
    return found;
  }

  // Where in a view a place of its text is; within a folded block, where that begins.
  toView(view, offset) {
    this.text(view);
    let less = 0;
    for (const { at, start, end } of this.places) {
      if (offset <= start) break;
      if (offset < end) return at;
      less += end - start - 1;
    }
    return offset - less;
  }

  toText(view, offset) {
    this.text(view);
    const hidden = this.places.filter(({ at }) => at < offset).map(({ start, end }) => end - start - 1);
    return hidden.reduce((place, more) => place + more, offset);
  }

  // The first folded block that has something of a part of the text, or at whose end the part begins.
  over(view, start, end) {
    this.text(view);
    return this.places.find((one) => (one.start < end && one.end > start) || (one.start < start && start <= one.end));
  }
}
