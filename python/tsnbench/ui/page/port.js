// One cycle of the chosen port: its gates, and the planned frames in them.
import { at, colour, distance, draw, make, time } from "./dom.js";

const ROW = 20; // px
const LEAST = 46; // px: a narrower frame has no name
const CLOSEST = 256; // times the width of the pane
const MARK = 90; // px between two times
const TOLD = 4; // windows that are read aloud

let ports = []; // of the last Plan
let wanted = ""; // the port that is asked for; empty: the first one with gates
let shown = null; // the strip
let streams = new Map(); // the number of each stream: its colour
let zoomed = 1;

export const name = () => wanted;

export function reset() {
  [wanted, shown, ports, zoomed] = ["", null, [], 1];
  at("port").hidden = true;
}

// `ask` is called when another port is wanted.
export function start(ask) {
  at("port-name").addEventListener("change", () => { wanted = at("port-name").value; ask(); });
  at("port-closer").addEventListener("click", () => zoom(2));
  at("port-farther").addEventListener("click", () => zoom(0.5));
}

// The ports of a link, of a node, or on the paths of a stream; true if another one is wanted now.
export function choose(chosen, drawing) {
  const pairs = pairsOf(chosen, drawing);
  if (!pairs) return false;
  const found = ports.filter(pairs);
  // The ports of the text before an edit have other names; its own come with the answer to it.
  if (found.some((one) => !one.name.includes(drawing.nodes[one.node]?.name))) return false;
  offer(found.length ? found : ports);
  const best = found.find((one) => one.name === wanted) ?? found.find((one) => one.gates) ?? found[0];
  if (!best || best.name === (shown?.port ?? wanted)) return false;
  wanted = best.name;
  // At once, so that the drawing does not move later under the pointer.
  if (at("port").hidden) {
    at("port").hidden = false;
    at("port-strip").hidden = true;
    at("port-said").textContent = "";
    at("port-name").value = wanted;
  }
  return true;
}

function pairsOf(chosen, drawing) {
  if (!chosen) return null;
  if (chosen.kind === "node") return (one) => one.node === chosen.number;
  if (chosen.kind === "link") {
    const { a, b } = drawing.links[chosen.number];
    return ({ node, peer }) => (node === a && peer === b) || (node === b && peer === a);
  }
  const hops = new Set(drawing.streams[chosen.number].paths.flatMap((path) => path.slice(1).map((node, n) => `${path[n]} ${node}`)));
  return ({ node, peer }) => hops.has(`${node} ${peer}`);
}

function offer(found) {
  const names = found.map((one) => one.name);
  if (shown && !names.includes(shown.port)) names.unshift(shown.port);
  const list = names.slice(0, 200);
  if ([...at("port-name").options].map((one) => one.value).join("\n") === list.join("\n")) return;
  at("port-name").replaceChildren(...list.map((one) => make("option", { value: one, text: one })));
}

// What an answer with a Plan says.
export function show(answer, names) {
  ports = answer.ports;
  streams = new Map(names.map((one, number) => [one, number]));
  shown = answer.strip;
  at("port").hidden = !shown;
  if (!shown) {
    wanted = "";
    return;
  }
  if (![...at("port-name").options].some((one) => one.value === shown.port)) offer(ports.filter((one) => one.gates || one.name === shown.port));
  at("port-name").value = shown.port;
  render();
}

function zoom(factor) {
  zoomed = Math.min(CLOSEST, Math.max(1, zoomed * factor));
  const pane = at("port-scroll");
  const middle = (pane.scrollLeft + pane.clientWidth / 2) / pane.scrollWidth;
  render();
  pane.scrollLeft = middle * pane.scrollWidth - pane.clientWidth / 2;
}

const called = (row) => `class ${row.classes.length > 3 ? `${row.classes[0]} to ${row.classes.at(-1)}` : row.classes.join(", ")}`;

function render() {
  const { cycle_ns: cycle, rows, frames, lists, left_out: hidden } = shown;
  at("port-said").textContent = cycle === null ? "No gates and no scheduled frames: each class may always send."
    : [lists ? `cycle ${time(cycle)}` : `no gates, frames repeat after ${time(cycle)}`, lists > 1 ? `list 1 of ${lists}` : "",
      frames.length ? `${frames.length} planned frames` : "no planned frames", hidden ? `${hidden} more not drawn` : ""].filter(Boolean).join(", ");
  at("port-strip").hidden = cycle === null;
  if (cycle === null) return;
  at("port-rows").replaceChildren(...rows.map((row) => make("li", { title: row.scheduled ? "scheduled" : "" }, called(row))));
  const pane = at("port-scroll");
  const width = Math.max(100, pane.clientWidth) * zoomed;
  const x = (ns) => (ns / cycle) * width;
  const height = rows.length * ROW;
  const open = rows.flatMap((row, n) => (row.open ?? [[0, cycle]]).map(([begin, length]) => box("open", x(begin), n, x(length), `open ${time(begin)} to ${time(begin + length)}`)));
  // A frame across the end of the cycle is seen at both ends.
  const sent = frames.flatMap((one) => [frame(one, x), ...(one.begin + one.length > cycle ? [frame({ ...one, begin: one.begin - cycle }, x)] : [])]);
  const step = distance(cycle, width / MARK);
  const ticks = [...Array(Math.floor(cycle / step) + 1).keys()].map((n) => tick(n * step, x, width, height));
  const svg = draw("svg", { role: "img", width, height: height + 18, "aria-label": words() }, ...rows.map((_, n) => box("shut", 0, n, width, "closed")), ...open, ...sent, ...ticks);
  pane.replaceChildren(svg);
}

function box(kind, left, row, width, title) {
  const own = draw("rect", { class: kind, x: left, y: row * ROW + 2, width: Math.max(0.5, width), height: ROW - 4 });
  own.append(draw("title", { text: title }));
  return own;
}

function frame({ stream, begin, length, margin, row }, x) {
  const own = box("frame", x(begin), row, Math.max(1, x(length)), `${stream}: ${time(begin)} to ${time(begin + length)}${margin ? ` ± ${time(margin)}` : ""}`);
  own.setAttribute("fill", colour(streams.get(stream) ?? 0));
  if (x(length) < LEAST) return own;
  return draw("g", {}, own, draw("text", { class: "left-of", x: x(begin) + 4, y: row * ROW + 14, text: stream }));
}

function tick(ns, x, width, y) {
  const anchor = ns === 0 ? "left-of" : x(ns) > width - 30 ? "right-of" : "";
  return draw("g", { class: "tick" }, draw("path", { d: `M${x(ns)} ${y}v4` }), draw("text", { class: anchor, x: x(ns), y: y + 15, text: time(ns) }));
}

function words() {
  const { port, cycle_ns: cycle, rows, frames } = shown;
  const told = rows.map((row) => {
    const spans = (row.open ?? [[0, cycle]]).slice(0, TOLD).map(([begin, length]) => `${time(begin)} to ${time(begin + length)}`);
    return `${called(row)} open ${spans.join(", ")}${(row.open?.length ?? 0) > TOLD ? " and more" : ""}`;
  });
  return `Gates of ${port}, cycle ${time(cycle)}: ${told.join("; ")}; ${frames.length} planned frames`;
}

new ResizeObserver(() => { if (shown && !at("port").hidden) render(); }).observe(at("port"));
