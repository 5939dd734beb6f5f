// A text field with colours, underlined problems and completion.
//
// The field itself is transparent; what is seen lies below it and has the same metrics. Only visible lines are
// drawn. Every change goes through the browser's own editing, so its undo reverts everything.
//
// Places are those of the text. The field shows a view of it, in which lines of folded blocks are missing.
import { make, say } from "./dom.js";
import { block, Folds, headOf } from "./folding.js";
import { Steps } from "./typing.js";

const LINE = 20; // px, as in style.css
const MANY = 30; // lines that are not inserted one by one
const GUTTER = 54; // px, where the numbers of lines and the signs of blocks are
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
    this.folds = new Folds();
    this.steps = new Steps();
    this.last = ""; // the text after the last input
    this.length = 0; // of what the field showed then
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
    field.addEventListener("beforeinput", (event) => this.openEdited(event));
    for (const kind of ["copy", "cut", "dragstart"]) field.addEventListener(kind, (event) => this.copy(event));
    for (const kind of ["mousedown", "mousemove", "mouseleave"]) field.addEventListener(kind, (event) => this.inGutter(event));
    field.addEventListener("keydown", (event) => this.key(event));
    field.addEventListener("blur", () => setTimeout(() => this.close(), 150));
    document.addEventListener("selectionchange", () => {
      if (document.activeElement !== field) return;
      this.showHint();
      moved(this.selection[0]);
    });
    new ResizeObserver(() => this.show()).observe(field);
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = getComputedStyle(field).font;
    this.letter = pen.measureText("0").width;
  }

  get text() { return this.folds.text(this.field.value); }

  // The begin and the end of what is selected.
  get selection() {
    const { value, selectionStart, selectionEnd } = this.field;
    return [selectionStart, selectionEnd].map((offset) => this.folds.toText(value, offset));
  }

  select(start, end) {
    this.open(start, end);
    const { value } = this.field;
    this.field.setSelectionRange(this.folds.toView(value, start), this.folds.toView(value, end));
  }

  set(text) {
    this.folds.clear(text);
    this.steps.clear();
    this.field.value = text;
    this.last = this.text;
    this.length = text.length;
    this.marks = [];
    this.field.setSelectionRange(0, 0);
    this.field.scrollTop = 0;
    this.lines = null;
    this.show();
  }

  // One change, that one undo reverts.
  replace(start, end, text) {
    this.open(start, end);
    const { value } = this.field;
    this.write(this.folds.toView(value, start), this.folds.toView(value, end), this.folds.foreign(text));
  }

  // A change of the view.
  write(start, end, text) {
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
    const before = this.field.value;
    const words = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    document.execCommand("insertHTML", false, words);
    if (this.field.value === before.slice(0, start) + text + before.slice(end)) return true;
    if (this.field.value !== before) document.execCommand("undo");
    this.field.setSelectionRange(start, end);
    return false;
  }

  reveal(start, end = start, focus = true) {
    if (focus) this.field.focus({ preventScroll: true });
    this.select(start, end);
    const [line] = this.seen(start);
    if (line * LINE < this.field.scrollTop || (line + 2) * LINE > this.field.scrollTop + this.field.clientHeight) {
      this.field.scrollTop = Math.max(0, line * LINE - this.field.clientHeight / 3);
    }
    const [left, right] = [start, end].map((offset) => this.seen(offset)[1] * this.letter);
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

  starts(text = this.text) {
    const known = text === this.text ? "lines" : "rows";
    if (this[known]?.of !== text) {
      const found = [0];
      for (let n = text.indexOf("\n"); n >= 0; n = text.indexOf("\n", n + 1)) found.push(n + 1);
      this[known] = { of: text, found };
    }
    return this[known].found;
  }

  // Line and column, from 0, of an offset.
  place(offset, starts = this.starts()) {
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle] <= offset) low = middle;
      else high = middle;
    }
    return [low, offset - starts[low]];
  }

  // Line and column of an offset as they are seen.
  seen(offset) {
    const { value } = this.field;
    return this.place(this.folds.toView(value, offset), this.starts(value));
  }

  // The offset of a place whose column counts characters.
  offset(line, column) {
    const starts = this.starts();
    const start = starts[Math.min(line, starts.length - 1)];
    const end = starts[line + 1] ?? this.text.length + 1;
    return start + [...this.text.slice(start, end - 1)].slice(0, column).join("").length;
  }

  show() {
    const { scrollTop, scrollLeft, clientHeight, value } = this.field;
    const starts = this.starts(value);
    const first = Math.max(0, Math.floor(scrollTop / LINE) - 2);
    const last = Math.min(starts.length, first + Math.ceil(clientHeight / LINE) + 5);
    const lines = value.split("\n");
    const rows = [];
    for (let line = first; line < last; line += 1) {
      const start = this.folds.toText(value, starts[line]);
      const folded = this.foldedIn(line);
      const own = folded ? lines[line].slice(0, folded.at - starts[line]) : lines[line];
      const row = make("div", { class: "row" });
      const inner = make("span", { class: "words" }, ...this.coloured(own, start), folded && this.chip(folded));
      inner.style.transform = `translateX(${-scrollLeft}px)`;
      const sign = folded ? "▸" : block(lines, line) ? "▾" : "";
      row.append(make("span", { class: "number", text: String(this.place(start)[0] + 1) }), make("span", { class: "fold", text: sign }), make("span", { class: "clip" }, inner));
      rows.push(row);
    }
    this.below.replaceChildren(...rows);
    this.below.style.transform = `translateY(${first * LINE - scrollTop}px)`;
  }

  // What stands for the lines of a folded block: how many they are, and what is wrong and found in them.
  chip({ start, end }) {
    const marks = this.marks.filter((mark) => mark.start < end && mark.end > start);
    const bad = marks.filter(({ kind }) => kind === "bad").length;
    const of = (count, one) => (count ? `${count} ${one}${count > 1 ? "s" : ""}` : "");
    const words = [of(this.place(end)[0] - this.place(start)[0], "line"), of(bad, "problem"), of(marks.length - bad, "warning"),
      this.foundIn(start, end).length ? `${this.foundIn(start, end).length} found` : ""];
    const kind = bad ? "bad" : marks.length ? "doubt" : "";
    return make("span", { class: `folded ${kind}`, text: `${kind ? "✕ " : "… "}${words.filter(Boolean).join(", ")}` });
  }

  // Folded blocks that have something of a part of the text are opened.
  open(start, end = start) {
    const [from, until] = [start, end];
    for (let one = this.folds.over(this.field.value, from, until); one; one = this.folds.over(this.field.value, from, until)) this.unfold(one);
  }

  unfold({ at }) {
    this.swap(at, at + 1, this.folds.lines.get(this.field.value[at]));
  }

  // Other words of the view for the same text. What is selected stays so.
  swap(start, end, words) {
    const [{ value }, [from, until]] = [this.field, this.selection];
    if (this.field.readOnly) this.field.value = value.slice(0, start) + words + value.slice(end);
    else this.write(start, end, words);
    const [a, b] = [from, until].map((offset) => this.folds.toView(this.field.value, offset));
    this.field.setSelectionRange(a, b);
    this.show();
  }

  // The folded block whose letter is in a line of the view.
  foldedIn(line) {
    const starts = this.starts(this.field.value);
    return this.folds.places.find(({ at }) => at >= starts[line] && at < (starts[line + 1] ?? Infinity));
  }

  // Folds the block with this head, a line of the view, or opens it.
  toggle(head) {
    const { value } = this.field;
    const [starts, lines] = [this.starts(value), value.split("\n")];
    const folded = this.foldedIn(head);
    const found = block(lines, head);
    if (folded) {
      this.unfold(folded);
      return say(`Line ${this.place(folded.start)[0] + 1} is open.`);
    }
    if (!found) return undefined;
    const [start, end] = [starts[head] + lines[head].length, starts[found[1]] + lines[found[1]].length];
    const letter = this.folds.letter(value.slice(start, end));
    if (letter) this.swap(start, end, letter);
    return say(`Folded: ${found[1] - head} lines below line ${this.place(this.folds.toText(value, start))[0] + 1}. F9 opens them.`);
  }

  // All blocks that do not stand in another one are folded; if one is folded, all are opened.
  toggleAll() {
    const { value } = this.field;
    if (this.folds.places.length) return this.swap(0, value.length, this.folds.opened(value));
    const lines = value.split("\n");
    const shown = [];
    for (let line = 0; line < lines.length; line += 1) {
      const found = block(lines, line);
      const letter = found && this.folds.letter(`\n${lines.slice(found[0], found[1] + 1).join("\n")}`);
      shown.push(lines[line] + (letter || ""));
      if (letter) [, line] = found;
    }
    return this.swap(0, value.length, shown.join("\n"));
  }

  // A folded line that is edited is opened first, so that no lines vanish unseen.
  openEdited(event) {
    const { value, selectionStart: start, selectionEnd: end } = this.field;
    if (event.inputType.startsWith("history")) return;
    const [line, column] = this.place(start, this.starts(value));
    const begin = this.starts(value)[line] - (column || start < end ? 0 : 1);
    const until = start < end ? end + 1 : (this.starts(value)[line + 1] ?? value.length + 1);
    const near = this.folds.places.filter(({ at }) => at >= begin - 1 && at < until && !(at >= start && at < end));
    for (const one of near.reverse()) this.unfold(one);
    this.ownLetters(event);
  }

  // A letter that stands for lines here is written as another one, so that it stands for itself.
  ownLetters(event) {
    if (this.writing) return;
    const words = event.data ?? event.dataTransfer?.getData("text/plain") ?? "";
    const own = this.folds.foreign(words);
    if (own === words) return;
    event.preventDefault();
    this.write(this.field.selectionStart, this.field.selectionEnd, own);
  }

  // What is copied has the lines of folded blocks.
  copy(event) {
    const { value, selectionStart: start, selectionEnd: end } = this.field;
    const selected = value.slice(start, end);
    const words = this.folds.expand(selected);
    if (words === selected) return;
    event.preventDefault();
    if (event.type === "dragstart") return;
    event.clipboardData.setData("text/plain", words);
    if (event.type === "cut" && !this.field.readOnly) this.write(start, end, "");
  }

  inGutter(event) {
    const box = this.field.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top - 6 + this.field.scrollTop) / LINE);
    const over = event.clientX - box.left < GUTTER && event.clientX > box.left && event.type !== "mouseleave";
    this.field.style.cursor = over ? "pointer" : "";
    if (!over || event.type !== "mousedown" || this.field.disabled) return;
    event.preventDefault();
    this.toggle(row);
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
      const [begin, end] = this.selection;
      const current = from === begin && until === end;
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
    const [line, column] = this.seen(offset);
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
    const [line, column] = this.seen(offset);
    const { value } = this.field;
    const starts = this.starts(value);
    const length = (starts[line + 1] ?? value.length + 1) - 1 - starts[line];
    const { clientWidth: width, clientHeight: height, scrollLeft, scrollTop } = this.field;
    const [own, left] = [column, length].map((letters) => 56 + letters * this.letter - scrollLeft);
    const top = 6 + line * LINE - scrollTop;
    return { own, left, line: { top, bottom: top + LINE }, width, height };
  }

  markAt(offset) {
    return this.marks.find((mark) => mark.start <= offset && offset <= mark.end);
  }

  showHint() {
    const mark = this.list.hidden ? this.markAt(this.selection[0]) : null;
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
    const [here] = this.selection;
    const found = forward
      ? sorted.find((mark) => mark.start > here) ?? sorted[0]
      : sorted.findLast((mark) => mark.start < here) ?? sorted.at(-1);
    this.reveal(found.start, found.start);
  }

  typed(event) {
    const before = this.last;
    this.last = this.text;
    const { value, selectionEnd } = this.field;
    let step = this.steps.note(event, value.length - this.length, selectionEnd, !this.writing);
    this.length = value.length;
    this.show();
    // A step that only folds or opens is none: the next one is taken.
    if (this.last === before) step = { historyUndo: "undo", historyRedo: "redo" }[event.inputType];
    if (step) setTimeout(() => document.execCommand(step));
    if (this.last === before) return this.close();
    this.changed();
    const letter = event.data ?? "";
    if (!this.writing && event.inputType === "insertText" && (/^[\w.]$/.test(letter) || (letter === " " && this.before().endsWith(": ")))) {
      this.suggest(false);
    } else this.close();
    return undefined;
  }

  before() {
    const [here] = this.selection;
    return this.text.slice(this.text.lastIndexOf("\n", here - 1) + 1, here);
  }

  word() { return /[^\s,{}[\]:]*$/.exec(this.before())[0]; }

  async suggest(all) {
    const number = ++this.asked;
    await new Promise((done) => setTimeout(done, all ? 0 : 90));
    if (number !== this.asked) return;
    const [here] = this.selection;
    const [line, column] = this.place(here);
    const characters = [...this.text.slice(here - column, here)].length;
    const answer = await this.complete(this.text, line, characters);
    if (number !== this.asked || !answer || this.selection[0] !== here) return;
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
    this.beside(this.selection[0] - this.word().length, this.list);
    this.list.children[this.picked].scrollIntoView({ block: "nearest" });
    return undefined;
  }

  accept() {
    const one = this.candidates[this.picked];
    const [here] = this.selection;
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
    } else if (event.key === "F9") {
      event.preventDefault();
      const [line] = this.seen(this.selection[0]);
      if (event.shiftKey) this.toggleAll();
      else this.toggle(this.foldedIn(line) ? line : headOf(this.field.value.split("\n"), line));
    } else if (event.altKey && event.key === "Enter") {
      const mark = this.markAt(this.selection[0]);
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
