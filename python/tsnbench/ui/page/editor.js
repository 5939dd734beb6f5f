// A text field with colours, underlined problems and completion.
//
// The field itself is transparent; what is seen lies below it and has the same metrics. Only visible lines are
// drawn. Every change goes through the browser's own editing, so its undo reverts everything.
import { make } from "./dom.js";

const LINE = 20; // px, as in style.css
const MANY = 30; // lines that are not inserted one by one
const TOKENS = new RegExp(
  [
    String.raw`(?<comment>(?<=^|\s)#.*$)`,
    String.raw`(?<parameter>\$\{[^}]*\})`,
    String.raw`(?<text>"[^"]*"|'[^']*')`,
    String.raw`(?<key>[^\s,{}\[\]#:"'-][^,{}\[\]#:]*(?=:(?:\s|$)))`,
    String.raw`(?<number>(?<![\w.])\d[\d.]*(?:\s?(?:[num]?s|[kKMG]?i?[bB](?:it)?(?:\/s)?|[kmc]?m|pp[mb]|%))?(?![\w.]))`,
  ].join("|"),
  "g",
);

export class Editor {
  constructor(field, { changed, complete, fixed, moved }) {
    this.field = field;
    this.changed = changed;
    this.complete = complete;
    this.fixed = fixed;
    this.marks = [];
    this.chosen = null;
    this.found = []; // the places of what is sought, in order
    this.writing = false;
    this.candidates = [];
    this.picked = 0;
    this.asked = 0;
    this.below = make("div", { class: "below", "aria-hidden": "true" });
    this.list = make("ul", { id: "candidates", role: "listbox", "aria-label": "Completions", hidden: true });
    this.hint = make("div", { id: "hint", role: "note", hidden: true });
    field.before(this.below);
    field.after(this.list, this.hint);
    field.setAttribute("aria-controls", "candidates");
    field.setAttribute("aria-autocomplete", "list");
    field.addEventListener("scroll", () => { this.close(); this.show(); });
    field.addEventListener("input", (event) => this.typed(event));
    field.addEventListener("keydown", (event) => this.key(event));
    field.addEventListener("blur", () => setTimeout(() => this.close(), 150));
    document.addEventListener("selectionchange", () => {
      if (document.activeElement !== field) return;
      this.showHint();
      moved(field.selectionStart);
    });
    new ResizeObserver(() => this.show()).observe(field);
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = getComputedStyle(field).font;
    this.letter = pen.measureText("0").width;
  }

  get text() { return this.field.value; }

  set(text) {
    this.field.value = text;
    this.marks = [];
    this.field.setSelectionRange(0, 0);
    this.field.scrollTop = 0;
    this.lines = null;
    this.show();
  }

  // One change, that one undo reverts.
  replace(start, end, text) {
    const top = this.field.scrollTop;
    this.field.focus({ preventScroll: true });
    this.field.setSelectionRange(start, end);
    // Nothing is completed: nobody types.
    this.writing = true;
    if (text === "") {
      if (end > start) document.execCommand("delete");
    } else if (text.split("\n", MANY).length < MANY || !this.insertMany(start, end, text)) {
      document.execCommand("insertText", false, text);
    }
    this.writing = false;
    this.field.scrollTop = top;
  }

  // Chromium inserts text line by line, each in the time of all lines before it; HTML it inserts at once.
  insertMany(start, end, text) {
    const before = this.text;
    const words = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    document.execCommand("insertHTML", false, words);
    if (this.text === before.slice(0, start) + text + before.slice(end)) return true;
    if (this.text !== before) document.execCommand("undo");
    this.field.setSelectionRange(start, end);
    return false;
  }

  reveal(start, end = start, focus = true) {
    if (focus) this.field.focus({ preventScroll: true });
    this.field.setSelectionRange(start, end);
    const [line] = this.place(start);
    if (line * LINE < this.field.scrollTop || (line + 2) * LINE > this.field.scrollTop + this.field.clientHeight) {
      this.field.scrollTop = Math.max(0, line * LINE - this.field.clientHeight / 3);
    }
    const [left, right] = [start, end].map((offset) => this.place(offset)[1] * this.letter);
    const width = this.field.clientWidth - 72;
    if (left < this.field.scrollLeft || right > this.field.scrollLeft + width) {
      this.field.scrollLeft = right <= width ? 0 : Math.max(0, left - width / 3);
    }
    this.show();
  }

  // Parts of the text that belong to what is chosen in the drawing.
  choose(span) {
    this.chosen = span;
    this.show();
  }

  setFound(found) {
    this.found = found;
    this.show();
  }

  // The found places that are within a part of the text.
  foundIn(start, end) {
    let low = 0;
    let high = this.found.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.found[middle][1] <= start) low = middle + 1;
      else high = middle;
    }
    const within = [];
    for (let n = low; n < this.found.length && this.found[n][0] < end; n += 1) within.push(this.found[n]);
    return within;
  }

  setMarks(marks) {
    this.marks = marks;
    this.show();
    this.showHint();
  }

  starts() {
    if (this.lines && this.linesOf === this.text) return this.lines;
    const found = [0];
    for (let n = this.text.indexOf("\n"); n >= 0; n = this.text.indexOf("\n", n + 1)) found.push(n + 1);
    this.lines = found;
    this.linesOf = this.text;
    return found;
  }

  // Line and column, from 0, of an offset.
  place(offset) {
    const starts = this.starts();
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle] <= offset) low = middle;
      else high = middle;
    }
    return [low, offset - starts[low]];
  }

  // The offset of a place whose column counts characters.
  offset(line, column) {
    const starts = this.starts();
    const start = starts[Math.min(line, starts.length - 1)];
    const end = starts[line + 1] ?? this.text.length + 1;
    return start + [...this.text.slice(start, end - 1)].slice(0, column).join("").length;
  }

  show() {
    const { scrollTop, scrollLeft, clientHeight } = this.field;
    const starts = this.starts();
    const first = Math.max(0, Math.floor(scrollTop / LINE) - 2);
    const last = Math.min(starts.length, first + Math.ceil(clientHeight / LINE) + 5);
    const rows = [];
    for (let line = first; line < last; line += 1) {
      const start = starts[line];
      const own = this.text.slice(start, (starts[line + 1] ?? this.text.length + 1) - 1);
      const row = make("div", { class: "row" });
      const inner = make("span", { class: "words" }, ...this.coloured(own, start));
      inner.style.transform = `translateX(${-scrollLeft}px)`;
      row.append(make("span", { class: "number", text: String(line + 1) }), make("span", { class: "clip" }, inner));
      rows.push(row);
    }
    this.below.replaceChildren(...rows);
    this.below.style.transform = `translateY(${first * LINE - scrollTop}px)`;
  }

  coloured(own, start) {
    const edges = new Set([0, own.length]);
    const spans = [];
    for (const found of own.matchAll(TOKENS)) {
      const kind = Object.entries(found.groups).find(([, text]) => text !== undefined)[0];
      spans.push([found.index, found.index + found[0].length, `t-${kind}`]);
    }
    for (const mark of this.marks) {
      if (mark.start < start + own.length + 1 && mark.end >= start) {
        spans.push([mark.start - start, Math.max(mark.end, mark.start + 1) - start, `mark ${mark.kind}`]);
      }
    }
    if (this.chosen && this.chosen[0] <= start + own.length && this.chosen[1] > start) {
      spans.push([this.chosen[0] - start, this.chosen[1] - start, "chosen"]);
    }
    for (const [from, until] of this.foundIn(start, start + own.length)) {
      const current = from === this.field.selectionStart && until === this.field.selectionEnd;
      spans.push([from - start, until - start, current ? "found current" : "found"]);
    }
    for (const span of spans) {
      for (const edge of span.slice(0, 2)) edges.add(Math.min(own.length, Math.max(0, edge)));
    }
    const sorted = [...edges].sort((a, b) => a - b);
    const found = [];
    for (let n = 0; n + 1 < sorted.length; n += 1) {
      const [from, until] = [sorted[n], sorted[n + 1]];
      const kinds = spans.filter(([a, b]) => a <= from && until <= b).map(([, , kind]) => kind);
      const words = own.slice(from, until);
      found.push(kinds.length ? make("span", { class: kinds.join(" "), text: words }) : words);
    }
    return found;
  }

  // Where something beside an offset is drawn.
  beside(offset, element) {
    const [line, column] = this.place(offset);
    element.style.left = `${Math.max(0, Math.min(this.field.clientWidth - 240, 56 + column * this.letter - this.field.scrollLeft))}px`;
    const top = (line + 1) * LINE - this.field.scrollTop + 8;
    const fits = top + element.offsetHeight <= this.field.clientHeight;
    element.style.top = `${fits ? top : Math.max(0, top - LINE - 4 - element.offsetHeight)}px`;
  }

  // The number at an offset, with its unit.
  numberAt(offset) {
    const [line, column] = this.place(offset);
    const start = offset - column;
    const own = this.text.slice(start, (this.starts()[line + 1] ?? this.text.length + 1) - 1);
    for (const found of own.matchAll(TOKENS)) {
      const [from, until] = [found.index, found.index + found[0].length];
      if (found.groups.number && from <= column && column <= until) return { start: start + from, end: start + until, text: found[0] };
    }
    return null;
  }

  // Where an offset, its line and the line's end are, in px within the field.
  around(offset) {
    const [line, column] = this.place(offset);
    const length = (this.starts()[line + 1] ?? this.text.length + 1) - 1 - this.starts()[line];
    const { clientWidth: width, clientHeight: height, scrollLeft, scrollTop } = this.field;
    const [own, left] = [column, length].map((letters) => 56 + letters * this.letter - scrollLeft);
    const top = 6 + line * LINE - scrollTop;
    return { own, left, line: { top, bottom: top + LINE }, width, height };
  }

  markAt(offset) {
    return this.marks.find((mark) => mark.start <= offset && offset <= mark.end);
  }

  showHint() {
    const mark = this.list.hidden ? this.markAt(this.field.selectionStart) : null;
    this.hint.hidden = !mark;
    if (!mark) return;
    const buttons = mark.fixes.map((word) => {
      const button = make("button", { type: "button", text: `Write ${word}` });
      button.addEventListener("mousedown", (event) => event.preventDefault());
      button.addEventListener("click", () => this.fix(mark, word));
      return button;
    });
    const key = buttons.length ? make("small", { text: " Alt-Enter applies the first" }) : null;
    this.hint.replaceChildren(make("span", { text: mark.message }), ...buttons, ...(key ? [key] : []));
    this.beside(mark.start, this.hint);
  }

  fix(mark, word) {
    this.replace(mark.start, mark.end, word);
    this.fixed();
  }

  nextMark(forward) {
    const sorted = [...this.marks].sort((a, b) => a.start - b.start);
    if (!sorted.length) return;
    const here = this.field.selectionStart;
    const found = forward
      ? sorted.find((mark) => mark.start > here) ?? sorted[0]
      : sorted.findLast((mark) => mark.start < here) ?? sorted.at(-1);
    this.reveal(found.start, found.start);
  }

  typed(event) {
    this.show();
    this.changed();
    const letter = event.data ?? "";
    if (!this.writing && event.inputType === "insertText" && (/^[\w.]$/.test(letter) || (letter === " " && this.before().endsWith(": ")))) {
      this.suggest(false);
    } else this.close();
  }

  before() {
    const here = this.field.selectionStart;
    return this.text.slice(this.text.lastIndexOf("\n", here - 1) + 1, here);
  }

  word() { return /[^\s,{}[\]:]*$/.exec(this.before())[0]; }

  async suggest(all) {
    const number = ++this.asked;
    await new Promise((done) => setTimeout(done, all ? 0 : 90));
    if (number !== this.asked) return;
    const here = this.field.selectionStart;
    const [line, column] = this.place(here);
    const characters = [...this.text.slice(here - column, here)].length;
    const answer = await this.complete(this.text, line, characters);
    if (number !== this.asked || !answer || this.field.selectionStart !== here) return;
    const word = this.word();
    const low = word.toLowerCase();
    const found = answer.candidates.filter((one) => one.text.toLowerCase().startsWith(low));
    const exact = found.length === 1 && found[0].text === word;
    this.candidates = exact || (!all && word === "" && found.length > 60) ? [] : found.slice(0, 60);
    this.picked = 0;
    this.showList();
  }

  showList() {
    const none = this.candidates.length === 0;
    this.list.hidden = none;
    if (none) return this.close();
    this.hint.hidden = true;
    this.list.replaceChildren(...this.candidates.map((one, number) => {
      const item = make("li", {
        id: `candidate-${number}`, role: "option", "aria-selected": String(number === this.picked),
      }, make("b", { text: one.text }), make("span", { text: one.about }));
      item.addEventListener("mousedown", (event) => { event.preventDefault(); this.picked = number; this.accept(); });
      return item;
    }));
    this.field.setAttribute("aria-activedescendant", `candidate-${this.picked}`);
    this.beside(this.field.selectionStart - this.word().length, this.list);
    this.list.children[this.picked].scrollIntoView({ block: "nearest" });
    return undefined;
  }

  accept() {
    const one = this.candidates[this.picked];
    const here = this.field.selectionStart;
    const start = here - this.word().length;
    this.close();
    const after = this.text.slice(here, here + 1) === ":" || one.kind !== "key" ? "" : ": ";
    this.replace(start, here, one.text + after);
    this.close();
  }

  close() {
    this.asked += 1;
    this.candidates = [];
    this.list.hidden = true;
    this.field.removeAttribute("aria-activedescendant");
  }

  key(event) {
    if (event.ctrlKey && event.key === " ") {
      event.preventDefault();
      this.suggest(true);
    } else if (!this.list.hidden && ["ArrowDown", "ArrowUp"].includes(event.key)) {
      event.preventDefault();
      const count = this.candidates.length;
      this.picked = (this.picked + (event.key === "ArrowDown" ? 1 : count - 1)) % count;
      this.showList();
    } else if (!this.list.hidden && (event.key === "Enter" || event.key === "Tab") && !event.ctrlKey) {
      event.preventDefault();
      this.accept();
    } else if (event.key === "Escape" && !this.list.hidden) {
      event.preventDefault();
      this.close();
    } else if (event.key === "F8") {
      event.preventDefault();
      this.nextMark(!event.shiftKey);
    } else if (event.altKey && event.key === "Enter") {
      const mark = this.markAt(this.field.selectionStart);
      if (mark?.fixes.length) {
        event.preventDefault();
        this.fix(mark, mark.fixes[0]);
      }
    } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      // The next line begins where this one does.
      const indent = /^ */.exec(this.before())[0];
      if (indent) {
        event.preventDefault();
        document.execCommand("insertText", false, `\n${indent}`);
      }
    }
  }
}
