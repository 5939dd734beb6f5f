// The delays of every stream of a run as a box on one axis: least and greatest, quartiles, worst case and limit.
import { colour, distance, make, theme, time } from "./dom.js";
import { files, hover, paper } from "./paper.js";

const ROW = 22; // px
const [LEFT, RIGHT] = [170, 12];
const MOST = 40; // streams that are drawn

export class Boxes {
  constructor(name) {
    this.rows = [];
    this.hidden = new Set();
    this.canvas = make("canvas", { id: "chart-boxes", role: "img", tabindex: "0", "aria-label": "Delays of all streams" });
    this.legend = make("div", { class: "toggles", role: "group", "aria-label": "Streams of the boxes" });
    const tools = files(this.canvas, { name: () => `${name()}-streams`, redraw: () => this.draw(), table: () => this.table() });
    this.host = make("section", { "aria-label": "Delays of all streams" }, make("div", { class: "bar" }, make("h3", { text: "Delays of all streams" }), tools),
      make("p", { class: "soft hint", text: "Line: least to greatest delay. Box: the middle half of the frames, with the median. Dotted: worst case. Red: limit. Logarithmic." }),
      this.legend, this.canvas, hover(this.canvas, (_, y) => this.words(Math.floor(y / ROW))));
  }

  // `numbers` of the streams decide their colours; `facts` have worst cases and limits.
  show(rows, facts) {
    const known = new Map(facts.map((one) => [`${one.stream}\t${one.listener}`, one]));
    this.all = rows.map((row) => ({ ...row, ...known.get(`${row.stream}\t${row.listener}`), least: row.least, greatest: row.greatest }));
    const names = [...new Set(this.all.map((one) => one.stream))].slice(0, MOST);
    this.legend.replaceChildren(...toggles(names, (name) => this.all.find((one) => one.stream === name).number, this.hidden, () => this.draw()));
    this.draw();
  }

  draw() {
    this.rows = (this.all ?? []).filter((one) => !this.hidden.has(one.stream)).slice(0, MOST);
    const bottom = Math.max(1, this.rows.length) * ROW;
    const [context, width] = paper(this.canvas, bottom + 22);
    const every = this.rows.flatMap((one) => [one.least, one.greatest, one.bound, one.limit]).filter((one) => one > 0);
    if (!every.length) return;
    const [from, until] = [Math.log10(Math.min(...every)) - 0.05, Math.log10(Math.max(...every)) + 0.05];
    const x = (ns) => LEFT + ((Math.log10(Math.max(ns, 10 ** from)) - from) / (until - from)) * (width - LEFT - RIGHT);
    this.rows.forEach((one, row) => this.box(context, one, row * ROW, x));
    context.fillStyle = theme("--soft");
    context.textAlign = "center";
    for (const value of marks(10 ** from, 10 ** until)) {
      if (x(value) > width - 24) continue;
      context.fillRect(x(value), bottom, 1, 4);
      context.fillText(time(value), x(value), bottom + 16);
    }
    this.canvas.setAttribute("aria-label", `Delays of all streams: ${this.rows.slice(0, 12).map((one) => `${one.stream} to ${one.listener}, median ${time(one.median)}, greatest ${time(one.greatest)}`).join("; ")}`);
  }

  box(context, one, y, x) {
    context.fillStyle = theme("--ink");
    context.textAlign = "right";
    const name = `${one.stream} to ${one.listener}`;
    context.fillText(name.length > 26 ? `${name.slice(0, 25)}…` : name, LEFT - 8, y + 15);
    context.fillStyle = colour(one.number ?? 0);
    context.fillRect(x(one.least), y + ROW / 2 - 1, Math.max(1, x(one.greatest) - x(one.least)), 2);
    context.fillRect(x(one.first_quarter), y + 5, Math.max(2, x(one.third_quarter) - x(one.first_quarter)), ROW - 10);
    context.fillStyle = theme("--ink");
    context.fillRect(x(one.median) - 1, y + 3, 2, ROW - 6);
    for (const [value, dash, ink] of [[one.bound, [2, 3], theme("--ink")], [one.limit, [], theme("--cursor")]]) {
      if (!(value > 0)) continue;
      context.strokeStyle = ink;
      context.setLineDash(dash);
      context.beginPath();
      context.moveTo(x(value), y + 2);
      context.lineTo(x(value), y + ROW - 2);
      context.stroke();
    }
    context.setLineDash([]);
  }

  words(row) {
    const one = this.rows[row];
    return one ? `${one.stream} to ${one.listener}: ${time(one.least)} | ${time(one.first_quarter)} | ${time(one.median)} | ${time(one.third_quarter)} | ${time(one.greatest)}` : null;
  }

  table() {
    return [["stream", "listener", "least_ns", "first_quarter_ns", "median_ns", "third_quarter_ns", "greatest_ns", "worst_case_ns", "limit_ns"],
      ...this.rows.map((one) => [one.stream, one.listener, one.least, one.first_quarter, one.median, one.third_quarter, one.greatest, one.bound, one.limit])];
  }
}

// Values on a logarithmic axis: powers of ten, with 2 and 5 times them; evenly spaced ones where these are few.
function marks(from, until) {
  const powers = [...Array(20).keys()].map((power) => 10 ** power);
  const found = (until / from < 100 ? powers.flatMap((one) => [one, 2 * one, 5 * one]) : powers).filter((one) => from <= one && one <= until);
  if (found.length > 2) return found;
  const step = distance(until - from, 6);
  return [...Array(8).keys()].map((n) => (Math.ceil(from / step) + n) * step).filter((one) => one <= until);
}

// Buttons that hide what they name; `hidden` has the names.
export function toggles(names, number, hidden, changed) {
  return names.map((name) => {
    const mark = make("span", { class: "mark-colour" });
    mark.style.background = colour(number(name));
    const button = make("button", { type: "button", class: "toggle", "aria-pressed": String(!hidden.has(name)), title: "Hide or show" }, mark, name);
    button.addEventListener("click", () => {
      hidden[hidden.has(name) ? "delete" : "add"](name);
      button.setAttribute("aria-pressed", String(!hidden.has(name)));
      changed();
    });
    return button;
  });
}
