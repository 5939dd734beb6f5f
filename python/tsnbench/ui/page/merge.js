// Two texts side by side: equal lines stand beside each other, and each difference can be taken over into the text of the
// editor. The editor is below this view: it makes the edits, so its undo reverts them.
import { all, at, make, post, say, url } from "./dom.js";

let editor = null;
let scenario = null; // the name of the open scenario, as a function
let other = ""; // the file of the other text; empty: the view is not shown
let text = null; // the text that is shown

export function start(own, name) {
  [editor, scenario] = [own, name];
  at("merge").addEventListener("keydown", key);
  at("merge-with").addEventListener("change", () => {
    location.hash = `#${new URLSearchParams({ scenario: name(), with: at("merge-with").value })}`;
    at("merge-with").value = "";
  });
}

// What the open scenario can be merged with: other files, and its text as runs have kept it.
export function offer(names, runs) {
  const options = names.map((name) => make("option", { value: name, text: name }));
  const kept = runs.filter((run) => run.kept && run.now)
    .map((run) => make("option", { value: run.kept, text: `as it was run: ${run.folder}`, "data-of": run.now }));
  at("merge-with").replaceChildren(make("option", { value: "", text: "Merge with …" }), ...options, ...kept);
  withoutOwn();
}

function withoutOwn() {
  const own = scenario?.();
  for (const one of at("merge-with").options) one.hidden = one.value === own || (one.dataset.of ?? own) !== own;
}

// The address where today's text of a run's scenario stands beside the text that was run.
export const ofRun = ({ now, kept }) => `#${new URLSearchParams({ scenario: now, with: kept })}`;

export async function show(wanted) {
  other = wanted;
  at("view-scenario").classList.toggle("merging", other !== "");
  at("merge").hidden = other === "";
  at("text").tabIndex = other ? -1 : 0;
  text = null;
  withoutOwn();
  if (other) {
    say("");
    await draw(0);
  }
}

const close = () => { location.hash = `#${new URLSearchParams({ scenario: scenario() })}`; };

// The differences as they are now; the button of one of them gets the focus.
async function draw(number) {
  const own = editor.text;
  const found = await post(url("merge", scenario()), { text: own, other }).catch((error) => ({ parts: [], edits: [], error }));
  if (own !== editor.text || !other) return;
  text = own;
  const count = found.edits.length;
  const words = found.error?.message ?? (count ? `${count} difference${count > 1 ? "s" : ""}` : "The texts are equal.");
  const take = (one) => {
    if (editor.text !== text) return draw(one);
    const { start, end, insert } = found.edits[one];
    editor.replace(start, end, insert);
    say(`Taken over from ${other}, not saved. Ctrl-Z reverts this.`, "good");
    return draw(one);
  };
  at("merge").replaceChildren(
    make("div", { class: "bar" }, make("strong", { role: "status", text: words }), make("span", {},
      make("button", { type: "button", text: "Undo (Ctrl-Z)", onclick: () => undo(number) }),
      make("button", { type: "button", text: "Close (Escape)", onclick: close }))),
    sideBySide(found.parts, [`${scenario()}, in the editor`, other], at("text").readOnly ? null : take, scenario()));
  const buttons = all("td button", at("merge"));
  (buttons[Math.min(number, buttons.length - 1)] ?? all(".bar button", at("merge"))[1]).focus();
}

function undo(number) {
  at("text").focus({ preventScroll: true });
  document.execCommand("undo");
  return draw(number);
}

function key(event) {
  const buttons = all("td button", at("merge"));
  const here = buttons.findIndex((one) => one === document.activeElement);
  if (event.key === "Escape") close();
  else if (event.key === "F8") buttons.at((here + (event.shiftKey ? -1 : 1)) % buttons.length)?.focus();
  else if ((event.ctrlKey || event.metaKey) && event.key === "z") undo(Math.max(0, here));
  else return;
  event.preventDefault();
}

// The parts of a comparison (see `editing/differences.py`) as a table; `take` takes a difference over into `into`.
export function sideBySide(parts, names, take, into) {
  const count = parts.filter((part) => part.number !== null).length;
  const bodies = parts.filter((part) => part.lines.length).map((part) => {
    const of = (sign) => part.lines.filter(([own]) => own === sign || own === " ").map(([, words]) => words);
    const [mine, others] = [of("-"), of("+")];
    const length = Math.max(mine.length, others.length);
    const rows = Array.from({ length }, (_, n) => make("tr", {},
      ...line(mine, part.first, n, part.number === null ? "" : "-"), n ? null : middle(part, length, take, into),
      ...line(others, part.second, n, part.number === null ? "" : "+")));
    const label = part.number === null ? null : `Difference ${part.number + 1} of ${count}`;
    return make("tbody", { class: label ? "differs" : "", "aria-label": label }, ...rows);
  });
  const [first, second] = names.map((name) => make("th", { colspan: 3, scope: "col", text: name }));
  return make("div", { class: "side-by-side", tabindex: "0", role: "group", "aria-label": "Differences" },
    make("table", {}, make("colgroup", {}, ...["n", "sign", "", "take", "n", "sign", ""].map((kind) => make("col", { class: kind }))), make("thead", {}, make("tr", {}, first, make("td"), second)), ...bodies));
}

function middle({ number }, rowspan, take, into) {
  const button = take && number !== null && make("button", {
    type: "button", text: "←", "aria-label": `Take difference ${number + 1} over into ${into}`, title: `Take over into ${into} (Enter)`, onclick: () => take(number),
  });
  return make("td", { class: "take", rowspan }, button || null);
}

// The number, the sign and the words of a line; the other text may have more lines here.
function line(lines, first, n, sign) {
  const there = n < lines.length;
  return [make("td", { class: "n soft", text: there ? first + n + 1 : "" }), make("td", { class: "sign", text: there ? sign : "" }),
    make("td", { class: there ? (sign === "-" ? "removed" : sign ? "added" : "") : "gap", text: there ? lines[n] : "" })];
}
