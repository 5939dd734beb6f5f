// Gate lists of the text: each edge between two entries can be moved. Those of the catalogue are only named.
import { make } from "./dom.js";

export function gates(host, lists, moved, writeOut) {
  host.replaceChildren(...lists.map((list) => {
    if (list.pattern) {
      return make("div", { class: "gate-list" }, make("h3", { text: list.where }),
        make("span", { class: "soft", text: `${list.pattern} of the catalogue. ` }),
        writeOut("Expand the list", { edit: "write-out-gates", port: list.port }));
    }
    const cycle = list.entries.reduce((sum, one) => sum + one.ns, 0);
    const bar = make("div", { class: "gates", role: "group", "aria-label": `Gates of ${list.where}` });
    let begin = 0;
    list.entries.forEach((entry, number) => {
      const part = make("div", { class: "entry", title: `open: ${entry.open || "none"} for ${entry.ns} ns` },
        make("span", { text: entry.open || "closed" }), make("small", { text: words(entry.ns) }));
      part.style.width = `${(100 * entry.ns) / cycle}%`;
      part.dataset.first = String(entry.open.split(",")[0].trim());
      if (!entry.open) part.classList.add("shut");
      bar.append(part);
      begin += entry.ns;
      if (number + 1 < list.entries.length) bar.append(edge(list, number, begin, cycle, bar, moved));
    });
    return make("div", { class: "gate-list" }, make("h3", { text: list.where || "gates" }), bar);
  }));
}

const words = (ns) => (ns % 1000 === 0 ? `${ns / 1000} us` : `${ns} ns`);

function edge(list, number, at, cycle, bar, moved) {
  const own = make("button", {
    type: "button", class: "edge", role: "slider", "aria-orientation": "horizontal", "aria-valuemin": 0,
    "aria-valuemax": cycle, "aria-valuenow": at, "aria-valuetext": `${words(at)} after the cycle begins`,
    "aria-label": `Edge ${number + 1} of ${list.where}`, "data-edge": `${list.where}/${number}`,
  });
  own.style.left = `${(100 * at) / cycle}%`;
  const [before, after] = [list.entries[number].ns, list.entries[number + 1].ns];
  const fine = cycle >= 20000 ? 1000 : 1;
  const limited = (by) => Math.max(-before + fine, Math.min(after - fine, by));
  let start = null;
  let by = 0;
  own.addEventListener("pointerdown", (event) => { start = event.clientX; own.setPointerCapture(event.pointerId); });
  own.addEventListener("pointermove", (event) => {
    if (start === null) return;
    by = limited(Math.round(((event.clientX - start) / bar.clientWidth) * cycle / fine) * fine);
    own.style.left = `${(100 * (at + by)) / cycle}%`;
    own.setAttribute("aria-valuetext", words(at + by));
  });
  own.addEventListener("pointerup", () => {
    if (start !== null && by) moved(list.entries[number].at[0], by, own.dataset.edge);
    start = null;
  });
  own.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const shift = limited(step * (event.shiftKey ? Math.max(1, fine / 10) : fine));
    if (shift) moved(list.entries[number].at[0], shift, own.dataset.edge);
  });
  return own;
}
