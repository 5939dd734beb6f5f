// The worst case over the values of a number: one request for each value, until the next edit.
import { draw, make, measured, time } from "./dom.js";

const EACH_SIDE = 8; // values below the number, and above it
const MOST_HALVINGS = 9; // for the value at which a limit breaks
const [WIDE, HIGH, LEFT, BOTTOM] = [380, 160, 78, 22];

export class Sweep {
  constructor({ judge, write, drawn }) {
    this.judge = judge; // (text, signal) => what is known of that text
    this.write = write;
    this.drawn = drawn;
    this.stopped = null;
    this.host = make("section", { id: "sweep", hidden: true, "aria-label": "Worst case over the values of the number" });
  }

  close() {
    this.stopped?.abort();
    this.stopped = null;
    this.host.hidden = true;
  }

  // `value(share)`: the words of a value, a share of -1 to 1 of the way to the ends; `text(words)`: the text with it.
  async begin({ name, value, text }) {
    this.close();
    const stop = this.stopped = new AbortController();
    this.name = name;
    this.found = new Map();
    this.host.hidden = false;
    this.show();
    const ask = async (share) => {
      const words = value(share);
      const same = [...this.found.values()].find((one) => one.words === words);
      this.found.set(share, same ?? { words, ...(await this.judge(text(words), stop.signal)) });
      if (!stop.signal.aborted) this.show();
    };
    try {
      for (const share of order()) await ask(share);
      for (const [kept, broken] of this.edges()) await this.halve(ask, kept, broken);
      this.done = stop;
      this.show();
    } catch (error) {
      if (error.name !== "AbortError") this.host.replaceChildren(make("p", { class: "bad", role: "status", text: error.message }));
    }
  }

  sorted() {
    return [...this.found].sort(([a], [b]) => a - b);
  }

  // Neighbours of which one keeps all limits and the other breaks one.
  edges() {
    const all = this.sorted();
    return all.slice(1).flatMap(([share, one], n) => {
      const [before, other] = all[n];
      return one.met === other.met || one.met === null || other.met === null ? [] : [one.met ? [share, before] : [before, share]];
    });
  }

  async halve(ask, kept, broken) {
    for (let n = 0; n < MOST_HALVINGS; n += 1) {
      const middle = (kept + broken) / 2;
      await ask(middle);
      if (this.found.get(middle).met) kept = middle;
      else broken = middle;
    }
  }

  show() {
    const points = this.sorted();
    const asked = this.done === this.stopped;
    const breaks = this.edges().map(([kept, broken]) => [this.found.get(kept), this.found.get(broken), (kept + broken) / 2]);
    const row = points.find(([, one]) => one.row)?.[1].row;
    const parts = [make("strong", { text: `${this.name}${row ? `: ${row.requirement} at ${row.listener}, limit ${measured(row.limit, row.limit_unit)}` : ""}` }), this.chart(points, breaks, row)];
    const told = breaks.map(([kept, broken]) => `${kept.words} keeps every limit, ${broken.words} does not: ${broken.reason}`);
    const unknown = points.find(([, one]) => one.met === null);
    parts.push(make("p", { role: "status", text: !asked ? `${points.length} values …` : told.join(". ")
      || (unknown ? unknown[1].reason : points.every(([, one]) => one.met) ? "Each of these values keeps every limit." : `None of these values keeps every limit: ${points.at(-1)[1].reason}`) }));
    const buttons = [...new Set(breaks.map(([kept]) => kept.words))].map((words) => make("button", { type: "button", text: `Write ${words}`, onclick: () => this.write(words) }));
    parts.push(make("p", { class: "row-of-buttons" }, ...(asked ? buttons : []), make("button", { type: "button", text: asked ? "Close" : "Cancel", onclick: () => this.close() })));
    const focused = this.host.contains(document.activeElement);
    this.host.replaceChildren(...parts);
    if (focused) this.host.querySelector("button:last-child")?.focus();
    this.drawn();
  }

  chart(points, breaks, row) {
    const of = ({ row, upper_ns: upper }) => (row ? row.worst_case : upper);
    const [unit, limit] = [row?.limit_unit ?? "ns", row?.limit ?? null];
    const values = points.map(([, one]) => of(one)).filter((one) => one !== null);
    const most = 1.15 * Math.max(1e-9, ...(limit && limit < 8 * Math.max(...values) ? [limit] : []), ...values);
    const x = (share) => LEFT + ((share + 1) / 2) * (WIDE - LEFT - 16);
    const y = (value) => HIGH - BOTTOM - (Math.min(most, value) / most) * (HIGH - BOTTOM - 8);
    const label = (px, py, text, side = "") => draw("text", { x: px, y: py, text, class: side });
    const lines = [draw("path", { class: "axis", d: `M${LEFT} 6V${HIGH - BOTTOM}H${WIDE - 10}` })];
    if (limit !== null && limit <= most) lines.push(draw("path", { class: "limit", d: `M${LEFT} ${y(limit)}H${WIDE - 10}` }), label(LEFT - 5, y(limit) + 4, measured(limit, unit), "right-of"));
    const known = points.filter(([, one]) => of(one) !== null);
    lines.push(draw("path", { class: "line", d: known.map(([share, one], n) => `${n ? "L" : "M"}${x(share)} ${y(of(one))}`).join("") }));
    for (const [kept, broken, share] of breaks) lines.push(draw("path", { class: "breaks", d: `M${x(share)} 4V${HIGH - BOTTOM}` }), label(x(share), 13, kept.words, share > 0 ? "right-of" : "left-of"), draw("title", { text: broken.reason }));
    for (const [share, one] of points) lines.push(this.point(x(share), of(one) === null ? 12 : y(of(one)), one, unit, of(one)));
    const ends = [points[0], points.at(-1)].filter(Boolean);
    const axis = ends.map(([share, one], n) => label(x(share), HIGH - 6, one.words, n ? "right-of" : "left-of"));
    const top = values.length ? Math.max(...values) : null;
    if (top !== null && (limit === null || Math.abs(y(top) - y(limit)) > 12)) axis.push(label(LEFT - 5, y(top) + 4, measured(top, unit), "right-of"));
    const words = points.map(([, one]) => `${one.words}: ${of(one) === null ? "no bound" : unit === "ns" ? time(of(one)) : of(one)}${one.met === false ? " (breaks a limit)" : ""}`);
    return draw("svg", { role: "img", viewBox: `0 0 ${WIDE} ${HIGH}`, "aria-label": words.join(", ") }, ...lines, ...axis);
  }

  // A value that keeps every limit is a dot, one that breaks a limit a cross.
  point(x, y, one, unit, worst) {
    const own = one.met === false ? draw("path", { class: "cross", d: `M${x - 3.5} ${y - 3.5}l7 7m0 -7l-7 7` }) : draw("circle", { class: "dot", cx: x, cy: y, r: 3 });
    own.append(draw("title", { text: `${one.words}: ${worst === null ? "no bound" : measured(worst, unit)}. ${one.reason}` }));
    return own;
  }
}

// From the number outwards: the nearest values first.
function order() {
  const sides = [...Array(EACH_SIDE).keys()].flatMap((n) => [(n + 1) / EACH_SIDE, -(n + 1) / EACH_SIDE]);
  return [0, ...sides];
}
