// Find and replace in the text. The browser's own search finds only the lines that are drawn.
import { at, say } from "./dom.js";

export class Search {
  constructor(editor) {
    this.editor = editor;
    this.exact = false;
    const actions = {
      "search-next": () => this.go(true), "search-previous": () => this.go(false), "search-close": () => this.close(),
      "search-one": () => this.replace(), "search-all": () => this.replaceAll(),
      "search-exact": (button) => {
        this.exact = !this.exact;
        button.setAttribute("aria-pressed", String(this.exact));
        this.typed();
      },
    };
    for (const [id, action] of Object.entries(actions)) at(id).addEventListener("click", () => action(at(id)));
    at("search-for").addEventListener("input", () => this.typed());
    at("search").addEventListener("keydown", (event) => this.key(event));
    editor.field.addEventListener("keydown", (event) => this.inText(event));
  }

  get open() { return !at("search").hidden; }

  show() {
    const [start, end] = this.editor.selection;
    const selected = this.editor.text.slice(start, end);
    at("search").hidden = false;
    if (selected && !selected.includes("\n")) at("search-for").value = selected;
    for (const id of ["search-with", "search-one", "search-all"]) at(id).disabled = this.editor.field.readOnly;
    this.update();
    this.typed();
    at("search-for").focus();
    at("search-for").select();
  }

  close() {
    at("search").hidden = true;
    this.editor.setFound([]);
    this.editor.field.focus({ preventScroll: true });
  }

  // The places of what is sought, in the present text; equal letters count as equal in either case, unless `exact`.
  update() {
    if (!this.open) return;
    const words = at("search-for").value.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
    const found = [];
    if (words) {
      for (const one of this.editor.text.matchAll(new RegExp(words, this.exact ? "gu" : "giu"))) {
        found.push([one.index, one.index + one[0].length]);
      }
    }
    this.editor.setFound(found);
    this.tell("");
  }

  // While one types, the first place at or after the selection is shown; the text does not take the focus.
  typed() {
    this.update();
    const { found, selection: [begin] } = this.editor;
    if (!found.length) return;
    const next = found.findIndex(([start]) => start >= begin);
    this.reveal(Math.max(0, next), next < 0 ? ", from the top" : "");
  }

  go(forward) {
    if (!this.open) return this.show();
    const { found, selection: [begin, until] } = this.editor;
    if (!found.length) return this.tell("");
    const next = forward
      ? found.findIndex(([start, end]) => start >= until || (start >= begin && end > until))
      : found.findLastIndex(([start]) => start < begin);
    if (next >= 0) return this.reveal(next, "");
    return forward ? this.reveal(0, ", from the top") : this.reveal(found.length - 1, ", from the end");
  }

  reveal(number, where) {
    const [start, end] = this.editor.found[number];
    this.editor.reveal(start, end, document.activeElement === this.editor.field);
    this.tell(where);
  }

  tell(where) {
    const { found } = this.editor;
    const number = this.current();
    const count = found.length === 0 ? (at("search-for").value ? "not found" : "") : number < 0 ? `${found.length} found` : `${number + 1} of ${found.length}${where}`;
    at("search-count").textContent = count;
  }

  // Which of the found places is selected; -1 for none.
  current() {
    const { found, selection: [begin, until] } = this.editor;
    return found.findIndex(([start, end]) => start === begin && end === until);
  }

  replace() {
    const number = this.current();
    if (number < 0) return this.go(true);
    const [start, end] = this.editor.found[number];
    const focused = /** @type {HTMLElement} */ (document.activeElement);
    this.editor.replace(start, end, at("search-with").value);
    focused.focus({ preventScroll: true });
    this.update();
    return this.editor.found.length ? this.go(true) : undefined;
  }

  // All places in one edit: one Ctrl-Z reverts all of them.
  replaceAll() {
    const { found, text } = this.editor;
    if (!found.length) return this.tell("");
    const words = at("search-with").value;
    const parts = [];
    let from = found[0][0];
    for (const [start, end] of found) {
      parts.push(text.slice(from, start), words);
      from = end;
    }
    this.editor.replace(found[0][0], from, parts.join(""));
    this.update();
    at("search-count").textContent = `${found.length} replaced`;
    return say(`Replaced ${found.length}. Ctrl-Z in the text reverts all of them.`, "good");
  }

  key(event) {
    const find = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "f";
    const inField = event.target.matches("input");
    if (event.key === "Escape") this.close();
    else if (find) at("search-for").select();
    else if (event.key === "F3") this.go(!event.shiftKey);
    else if (event.key === "Enter" && inField && !event.ctrlKey && !event.isComposing) {
      if (event.target.id === "search-with") this.replace();
      else this.go(!event.shiftKey);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  inText(event) {
    if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "f") this.show();
    else if (event.key === "F3") this.go(!event.shiftKey);
    else if (event.key === "Escape" && this.open && !event.defaultPrevented) this.close();
    else return;
    event.preventDefault();
  }
}
