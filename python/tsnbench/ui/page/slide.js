// A slider beside the number at the cursor: while it is dragged, the worst cases are those of the value it shows; the
// text changes when it is released, as one edit.
import { make } from "./dom.js";
import { Sweep } from "./sweep.js";

const FACTOR = 4; // the ends of the slider: a quarter of the number, and four times it
const UNITS = /^(\d+(?:\.\d+)?)(\s?)([A-Za-zµ%][\w/%]*)$/;

export class Slide {
  constructor(editor, { began, preview, cancelled, words, judge, subject }) {
    this.editor = editor;
    this.began = began;
    this.preview = preview;
    this.cancelled = cancelled;
    this.words = words;
    this.at = null; // the number: its place and its words
    this.range = make("input", { type: "range", min: -100, max: 100, step: 1, value: 0, "aria-label": "Value of the number at the cursor" });
    this.said = make("output", {});
    this.host = make("div", { id: "slide", hidden: true, title: "Drag to try other values. Enter or releasing writes the value, Escape keeps the old one." }, this.range, this.said,
      make("button", { type: "button", text: "Sweep", title: "Sweep this number from here: the worst case over its values", onclick: () => this.sweepFrom() }));
    editor.hint.after(this.host);
    this.subject = subject; // what a sweep is about
    this.sweep = new Sweep({ judge, drawn: () => this.place(), write: (value) => this.writeValue(value) });
    this.host.after(this.sweep.host);
    this.sweep.host.addEventListener("keydown", (event) => event.key === "Escape" && this.leave());
    this.range.addEventListener("input", () => this.moved());
    this.range.addEventListener("pointerdown", () => { this.held = true; });
    this.range.addEventListener("change", () => { if (this.held) this.write(); });
    this.range.addEventListener("keydown", (event) => this.key(event));
    editor.field.addEventListener("scroll", () => this.place());
  }

  // The number at this offset gets the slider; without one it is hidden.
  show(offset) {
    const found = this.editor.field.readOnly ? null : this.editor.numberAt(offset);
    const parts = found && UNITS.exec(found.text);
    if (!parts || !Number(parts[1])) return this.hide();
    if (this.at && this.at.start === found.start && this.at.text === found.text) return this.place();
    this.at = { ...found, value: Number(parts[1]), unit: parts[2] + parts[3], whole: /^[kM]?i?B$/.test(parts[3]) };
    this.range.value = 0;
    this.tried = false;
    this.range.setAttribute("aria-valuetext", found.text);
    this.host.hidden = false;
    return this.told();
  }

  hide() {
    this.at = null;
    this.held = false;
    this.host.hidden = true;
    this.sweep.close();
  }

  // At the end of the number's line; below the number if the line is long. It never covers the number.
  place() {
    if (this.host.hidden) return;
    const { left, own, line, width, height } = this.editor.around(this.at.start);
    const [wide, tall] = [this.host.offsetWidth, this.host.offsetHeight];
    const room = left + wide + 32 < width;
    const top = room ? line.top : line.bottom + (line.bottom + tall > height ? -tall - 22 : 2);
    this.host.style.left = `${Math.max(8, Math.min(room ? left + 16 : own, width - wide - 16))}px`;
    this.host.style.top = `${top}px`;
    const visible = line.top < 0 || line.bottom > height ? "hidden" : "visible";
    this.host.style.visibility = visible;
    const [below, high] = [top + tall + 6, this.sweep.host.offsetHeight];
    Object.assign(this.sweep.host.style, { visibility: visible, top: `${below + high > height ? Math.max(4, top - high - 6) : below}px` });
  }

  // The value at a share of the way to an end of the slider: -1 to 1.
  value(share = this.range.value / 100, own = this.at) {
    const wanted = own.value * FACTOR ** share;
    const rounded = share === 0 ? own.value : Number(wanted.toPrecision(3));
    return `${own.whole ? Math.max(1, Math.round(rounded)) : rounded}${own.unit}`;
  }

  moved() {
    if (!this.tried) this.began();
    this.tried = true;
    this.sweep.close();
    const value = this.value();
    this.range.setAttribute("aria-valuetext", value);
    this.told();
    this.preview(this.textWith(value));
  }

  textWith(value, own = this.at) {
    const { text } = this.editor;
    return text.slice(0, own.start) + value + text.slice(own.end);
  }

  sweepFrom() {
    const own = this.at;
    this.sweep.begin({ name: this.subject(), value: (share) => this.value(share, own), text: (value) => this.textWith(value, own) });
    this.place();
  }

  told() {
    if (this.host.hidden) return;
    this.said.textContent = `${this.value()}: ${this.words()}`;
    // While it is dragged it stays where it is.
    if (!this.held) this.place();
  }

  write() {
    return this.writeValue(this.value());
  }

  writeValue(value) {
    const { start, end, text } = this.at;
    this.hide();
    if (value === text) return this.cancelled();
    this.editor.replace(start, end, value);
    return this.show(this.editor.selection[0]);
  }

  key(event) {
    if (event.key === "Enter" && !event.ctrlKey) {
      event.preventDefault();
      this.write();
    } else if (event.key === "Escape") this.leave();
    else this.held = false;
  }

  leave() {
    this.hide();
    this.editor.field.focus();
    this.cancelled();
  }
}
