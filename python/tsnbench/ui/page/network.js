// The network of a text: an SVG with nodes, links, paths of streams and problems at their nodes.
import { colour, draw, make } from "./dom.js";

const LINK = 150; // px for one link
const PLAIN = 120; // with more nodes there are no names, and links are one line
const NEAR = 80; // px: a shorter link has no room for its load
const ROOMY = 120; // px: from here also for its reservation
const LABELLED = 60; // with more links their loads are told only where one points
const DRAWN = 8; // with more streams only the chosen one has its path drawn

const share = (part) => `${Number((100 * part).toPrecision(3))} %`;

// Where a name can be beside its node: below, above, right and left. Names are wide, so the sides need more room.
const SIDES = [
  { angle: Math.PI / 2, worth: 1, at: { y: 19, dy: ".8em" } }, { angle: -Math.PI / 2, worth: 1, at: { y: -22 } },
  { angle: 0, worth: 0.8, at: { x: 22, dy: ".35em", class: "right" } }, { angle: Math.PI, worth: 0.8, at: { x: -22, dy: ".35em", class: "left" } },
];

export const LISTS = { node: "nodes", link: "links", stream: "streams" };

// What was chosen, in a new drawing: an edit may number all parts anew. With another name it is the part in its place.
function same({ kind, number }, old, drawing) {
  const all = drawing[LISTS[kind]];
  const called = ({ nodes }, one) => (kind === "link" ? `${nodes[one.a].name}\t${nodes[one.b].name}` : one.name);
  const name = called(old, old[LISTS[kind]][number]);
  if (all[number] && called(drawing, all[number]) === name) return { kind, number };
  const found = all.findIndex((one) => called(drawing, one) === name);
  if (found >= 0) return { kind, number: found };
  return all.length === old[LISTS[kind]].length ? { kind, number } : null;
}

export class Network {
  constructor(host, { chose, linked, moved, edited }) {
    this.host = host;
    this.chose = chose;
    this.linked = linked;
    this.moved = moved;
    this.edited = edited;
    this.own = {};
    this.loads = null; // of each direction of each link, by the numbers of its nodes
    this.chosen = null;
    this.pointed = -1;
    this.mode = "";
    this.from = null;
    this.box = null;
    this.scale = 1; // of names: units of the drawing for one px
    this.svg = draw("svg", { role: "group", "aria-label": "Network", tabindex: "-1" });
    this.svg.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.svg.addEventListener("pointerdown", (event) => this.press(event));
    this.svg.addEventListener("pointermove", (event) => this.drag(event));
    this.svg.addEventListener("pointerup", (event) => this.release(event));
    this.svg.addEventListener("pointercancel", () => { this.held = null; });
    host.append(this.svg);
    new ResizeObserver(() => this.fitted || this.frame()).observe(host);
  }

  show(drawing, problems) {
    const before = new Map(this.data?.nodes.map((node, n) => [node.name, this.places[n]]));
    const kept = drawing.nodes.filter((node) => before.has(node.name)).length;
    if (this.data && this.chosen) this.chosen = same(this.chosen, this.data, drawing);
    if (this.data && this.from !== null) this.from = same({ kind: "node", number: this.from }, this.data, drawing)?.number ?? null;
    this.data = drawing;
    this.problems = problems;
    this.places = drawing.nodes.map((node) => {
      const [x, y] = this.own[node.name] ?? [node.x, -node.y];
      return [x * LINK, y * LINK * 0.8];
    });
    // What one knows stays where it is; a new node is put beside the node that it is linked with.
    if (kept * 2 > drawing.nodes.length) this.settle(before);
    if (kept < drawing.nodes.length || !this.box) this.fit();
    this.render();
  }

  setLoads(ports) {
    const known = JSON.stringify(ports);
    if (known === this.known && this.loads) return;
    this.known = known;
    this.loads = new Map();
    for (const one of ports) {
      const key = `${one.node} ${one.peer}`;
      this.loads.set(key, [...(this.loads.get(key) ?? []), one]);
    }
    this.render();
  }

  settle(before) {
    const { nodes, links } = this.data;
    const known = new Set();
    nodes.forEach((node, n) => {
      if (!before.has(node.name)) return;
      known.add(n);
      this.places[n] = before.get(node.name);
    });
    const top = Math.min(...[...known].map((n) => this.places[n][1]));
    const right = Math.max(...[...known].map((n) => this.places[n][0]));
    let alone = 0;
    nodes.forEach((node, n) => {
      if (known.has(n) || this.own[node.name]) return;
      const link = links.find(({ a, b }) => (a === n && known.has(b)) || (b === n && known.has(a)));
      if (!link) {
        this.places[n] = [right + LINK, top + (alone += 1) * 80];
        return;
      }
      const [x, y] = this.places[link.a === n ? link.b : link.a];
      // The direction in which the nearest other node is farthest away.
      const spots = [...Array(12).keys()].map((turn) => [x + LINK * 0.9 * Math.cos(turn * 0.5236 + 0.3), y + LINK * 0.9 * Math.sin(turn * 0.5236 + 0.3)]);
      const room = ([sx, sy]) => Math.min(...[...known].map((one) => Math.hypot(sx - this.places[one][0], sy - this.places[one][1])));
      this.places[n] = spots.reduce((best, spot) => (room(spot) > room(best) ? spot : best));
      known.add(n);
    });
  }

  fit() {
    const xs = this.places.map(([x]) => x);
    const ys = this.places.map(([, y]) => y);
    const many = this.places.length > PLAIN;
    const margin = many ? 40 : 75;
    const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
    const most = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);
    this.box = [least(xs) - margin, least(ys) - margin, most(xs) - least(xs) + 2 * margin, most(ys) - least(ys) + 2 * margin];
    this.frame();
  }

  frame() {
    if (!this.box) return;
    this.svg.setAttribute("viewBox", this.box.join(" "));
    // Names keep their size on the screen, as long as there is room for them.
    const scale = Math.max(this.box[2] / (this.svg.clientWidth || 1), this.box[3] / (this.svg.clientHeight || 1));
    this.scale = Math.min(2.4, Math.max(0.5, scale));
    this.svg.style.setProperty("--scale", String(this.scale));
  }

  zoom(factor, x = this.box[0] + this.box[2] / 2, y = this.box[1] + this.box[3] / 2) {
    const [left, top, width, height] = this.box;
    const size = Math.min(1e6, Math.max(60, width * factor)) / width;
    this.box = [x - (x - left) * size, y - (y - top) * size, width * size, height * size];
    this.frame();
  }

  point(event) {
    return new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
  }

  wheel(event) {
    event.preventDefault();
    const { x, y } = this.point(event);
    this.zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, x, y);
  }

  press(event) {
    const target = event.target.closest("[data-node]");
    const { x, y } = this.point(event);
    this.held = { x, y, node: target ? Number(target.dataset.node) : -1, box: [...this.box], moved: false };
    if (target) this.held.from = [...this.places[this.held.node]];
    this.svg.setPointerCapture(event.pointerId);
  }

  drag(event) {
    if (!this.held) return;
    const { x, y } = this.point(event);
    const [dx, dy] = [x - this.held.x, y - this.held.y];
    const scale = this.box[2] / this.svg.clientWidth;
    if (!this.held.moved && Math.hypot(dx, dy) < 4 * scale) return;
    this.held.moved = true;
    if (this.held.node >= 0 && this.mode === "") {
      this.places[this.held.node] = [this.held.from[0] + dx, this.held.from[1] + dy];
      this.render();
    } else if (this.held.node < 0) {
      this.box[0] -= dx;
      this.box[1] -= dy;
      this.frame();
    }
  }

  release(event) {
    const held = this.held;
    this.held = null;
    if (!held) return;
    if (held.moved && held.node >= 0 && this.mode === "") {
      const name = this.data.nodes[held.node].name;
      const [x, y] = this.places[held.node];
      this.own = { ...this.own, [name]: [x / LINK, y / (LINK * 0.8)] };
      this.moved(this.own);
    } else if (!held.moved) {
      const target = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-node],[data-stream],[data-link]");
      if (!target) this.choose(null);
      else this.activate(target);
    }
  }

  activate(target) {
    if (target.dataset.node !== undefined) this.node(Number(target.dataset.node));
    else if (target.dataset.stream !== undefined) this.choose({ kind: "stream", number: Number(target.dataset.stream) });
    else this.choose({ kind: "link", number: Number(target.dataset.link) });
  }

  node(number) {
    if (this.mode === "") return this.choose({ kind: "node", number });
    if (this.from === null) {
      this.from = number;
      this.edited(`From ${this.data.nodes[number].name}: choose the other node.`);
      return this.render();
    }
    const [a, b] = [this.data.nodes[this.from].name, this.data.nodes[number].name];
    const mode = this.mode;
    this.setMode("");
    return this.linked(mode, a, b);
  }

  setMode(mode) {
    this.mode = mode;
    this.from = null;
    this.host.dataset.mode = mode;
    this.render();
  }

  choose(chosen, tell = true) {
    this.chosen = chosen;
    this.render();
    if (tell) this.chose(chosen);
  }

  // The path of the stream that one points at in the list; -1: of none.
  pointAt(number) {
    if (this.pointed === number) return;
    this.pointed = number;
    this.render();
  }

  // What stands at an offset of the text is chosen, without moving the text.
  chooseAt(offset, end) {
    const within = (one) => one.at && one.at[0] <= offset && offset <= one.at[1];
    const lists = [["node", this.data.nodes], ["link", this.data.links]];
    for (const [kind, all] of lists) {
      const number = all.findIndex(within);
      if (number >= 0) return this.choose({ kind, number }, false);
    }
    const streams = this.data.streams.map((one, n) => [one.at?.[0] ?? -1, n]).filter(([start]) => start >= 0);
    const later = streams.filter(([start]) => start <= offset).sort((a, b) => b[0] - a[0])[0];
    if (later && offset <= end(later[0])) return this.choose({ kind: "stream", number: later[1] }, false);
    return undefined;
  }

  render() {
    if (!this.data) return;
    const focused = document.activeElement?.closest?.("svg") === this.svg ? document.activeElement.id : "";
    const many = this.data.nodes.length > PLAIN;
    this.labels = []; // of links, above the streams
    this.spots = []; // where these are: none is on another one
    this.svg.replaceChildren(...this.links(many), ...this.streams(), ...this.labels.filter(Boolean), ...this.nodes(many), ...(many ? [] : this.names()));
    if (focused) this.svg.querySelector(`#${CSS.escape(focused)}`)?.focus({ preventScroll: true });
  }

  links(many) {
    const line = ({ a, b }) => {
      const [[x0, y0], [x1, y1]] = [this.places[a], this.places[b]];
      return `M${x0} ${y0}L${x1} ${y1}`;
    };
    if (many) return [draw("path", { class: "links", d: this.data.links.map(line).join("") })];
    const seen = new Map();
    const room = this.data.links.length <= LABELLED;
    return this.data.links.flatMap((link, number) => {
      const key = `${link.a} ${link.b}`;
      const nth = seen.get(key) ?? 0;
      seen.set(key, nth + 1);
      const both = [key, `${link.b} ${link.a}`].map((one) => this.loads?.get(one)?.[nth]).filter(Boolean);
      const chosen = this.chosen?.kind === "link" && this.chosen.number === number;
      const names = `${this.data.nodes[link.a].name} to ${this.data.nodes[link.b].name}`;
      const rate = link.rate_bps >= 1e9 ? `${link.rate_bps / 1e9} Gbit/s` : `${link.rate_bps / 1e6} Mbit/s`;
      const own = draw("path", { class: `link ${link.made}${chosen ? " chosen" : ""}`, d: line(link) });
      const wide = draw("path", { class: "wide", d: line(link), "data-link": number });
      wide.append(draw("title", { text: `${names}, ${rate}${link.made ? `, made by a ${link.made}` : ""}${both.map((one) => `\n${this.used(one)}`).join("")}` }));
      if (room && both.length) this.labels.push(this.load(link, both));
      return [own, wide];
    });
  }

  used({ node, peer, load, reserved, saturating }) {
    const held = reserved === null ? "" : `, ${share(reserved)} reserved`;
    return `${this.data.nodes[node].name} to ${this.data.nodes[peer].name}: ${share(load)}${saturating ? " and all that is left" : ""}${held}`;
  }

  // The load of the fuller direction, beside the link; null if there is no room for it.
  load({ a, b }, both) {
    const most = both.reduce((one, other) => (other.load > one.load ? other : one));
    const [[x0, y0], [x1, y1]] = [this.places[a], this.places[b]];
    const length = Math.hypot(x1 - x0, y1 - y0) || 1;
    if (length < NEAR * this.scale) return null;
    const aside = 4 + 8 * this.scale + (this.data.streams.length <= DRAWN ? this.data.streams.length * 2.25 : 0);
    const [right, down] = [(y1 - y0) / length, -(x1 - x0) / length];
    const spots = [x1 >= x0 ? 1 : -1, x1 >= x0 ? -1 : 1].map((up) => [(x0 + x1) / 2 + right * up * aside, (y0 + y1) / 2 + down * up * aside, right * up]);
    const free = spots.find(([px, py]) => this.spots.every(([ox, oy]) => Math.abs(px - ox) > 90 * this.scale || Math.abs(py - oy) > 26 * this.scale));
    if (!free) return null;
    this.spots.push(free);
    const [x, y, way] = free;
    // Beside a steep link the words go away from it.
    const side = way > 0.35 ? " right" : way < -0.35 ? " left" : "";
    const over = most.load > 1;
    const text = draw("text", { class: `load${over ? " over" : ""}${side}`, x, y, text: `${over ? "! " : ""}${share(most.load)}` });
    // What shapers reserve is below the load, where there is room.
    if (most.reserved === null || length < ROOMY * this.scale) return text;
    text.setAttribute("dy", side ? "0" : "-.6em");
    text.append(draw("tspan", { x, dy: "1.1em", text: `${share(most.reserved)} reserved` }));
    return text;
  }

  // Streams beside each other on a link that they share.
  streams() {
    const all = this.data.streams;
    const few = all.length <= DRAWN;
    const chosen = this.chosen?.kind === "stream" ? this.chosen.number : -1;
    return all.flatMap((stream, number) => {
      if (!few && number !== chosen && number !== this.pointed) return [];
      const aside = few ? (number - (all.length - 1) / 2) * 4.5 : 0;
      const d = stream.paths.map((path) => this.path(path, aside)).join("");
      if (!d) return [];
      const own = draw("path", {
        class: `stream${number === chosen || number === this.pointed ? " chosen" : ""}`, d, stroke: colour(number), "marker-end": "",
      });
      const wide = draw("path", { class: "wide", d, "data-stream": number });
      wide.append(draw("title", { text: `stream ${stream.name}` }));
      return [own, wide];
    });
  }

  path(path, aside) {
    const points = [];
    for (let n = 0; n + 1 < path.length; n += 1) {
      const [[x0, y0], [x1, y1]] = [this.places[path[n]], this.places[path[n + 1]]];
      const length = Math.hypot(x1 - x0, y1 - y0) || 1;
      // The same side of a link in both directions.
      const side = path[n] < path[n + 1] ? 1 : -1;
      const [nx, ny] = [((y1 - y0) / length) * aside * side, (-(x1 - x0) / length) * aside * side];
      points.push([x0 + nx, y0 + ny], [x1 + nx, y1 + ny]);
    }
    if (!points.length) return "";
    const [[xa, ya], [xb, yb]] = points.slice(-2);
    const length = Math.hypot(xb - xa, yb - ya) || 1;
    const [ux, uy] = [(xb - xa) / length, (yb - ya) / length];
    const tip = [xb - ux * 19, yb - uy * 19];
    points[points.length - 1] = tip;
    const wing = (side) => `${tip[0] - ux * 9 + uy * 5 * side} ${tip[1] - uy * 9 - ux * 5 * side}`;
    return `M${points.map((point) => point.join(" ")).join("L")}M${wing(1)}L${tip.join(" ")}L${wing(-1)}`;
  }

  nodes(many) {
    return this.data.nodes.map((node, number) => {
      const [x, y] = this.places[number];
      const chosen = this.chosen?.kind === "node" && this.chosen.number === number;
      const count = this.problems.get(node.name) ?? 0;
      const kind = ["node", node.kind, node.made, chosen && "chosen", this.from === number && "from", count && "wrong"]
        .filter(Boolean).join(" ");
      const made = node.made ? `, made by a ${node.made}` : "";
      const words = `${node.kind} ${node.name}${made}${count ? `, ${count} problem${count > 1 ? "s" : ""}` : ""}`;
      const group = draw("g", {
        class: kind, id: `node-${number}`, "data-node": number, role: "button", "aria-label": words,
        "aria-pressed": String(Boolean(chosen)), tabindex: many && number ? "-1" : "0", transform: `translate(${x} ${y})`,
      });
      group.addEventListener("keydown", (event) => this.key(event, number));
      const size = many ? 9 : 15;
      group.append(node.kind === "station" ? draw("circle", { r: size })
        : draw("rect", { x: -size, y: -size, width: 2 * size, height: 2 * size, rx: node.kind === "host" ? 7 : 1 }));
      if (count) group.append(draw("text", { class: "count", y: 5, text: "!" }));
      group.append(draw("title", { text: words }));
      return group;
    });
  }

  // Above all links and nodes.
  names() {
    const sides = this.sides();
    return this.data.nodes.map(({ name }, number) => {
      const [x, y] = this.places[number];
      const text = name.length > 18 ? `${name.slice(0, 17)}…` : name;
      return draw("text", { ...SIDES[sides[number]].at, text, "data-node": number, "aria-hidden": "true", transform: `translate(${x} ${y})` });
    });
  }

  // For each node the side on which no link leaves it, for its name.
  sides() {
    const angles = this.data.nodes.map(() => []);
    for (const { a, b } of this.data.links) {
      const [[x0, y0], [x1, y1]] = [this.places[a], this.places[b]];
      angles[a].push(Math.atan2(y1 - y0, x1 - x0));
      angles[b].push(Math.atan2(y0 - y1, x0 - x1));
    }
    const apart = (one, other) => Math.abs(Math.atan2(Math.sin(one - other), Math.cos(one - other)));
    return angles.map((own) => {
      const room = SIDES.map((side) => Math.min(Math.PI, ...own.map((angle) => apart(angle, side.angle))) * side.worth);
      return room.indexOf(Math.max(...room));
    });
  }

  key(event, number) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.node(number);
    } else if (event.key in steps && event.shiftKey) {
      event.preventDefault();
      const [dx, dy] = steps[event.key];
      const [x, y] = this.places[number];
      const name = this.data.nodes[number].name;
      this.own = { ...this.own, [name]: [x / LINK + dx * 0.1, y / (LINK * 0.8) + dy * 0.1] };
      this.places[number] = [x + dx * 0.1 * LINK, y + dy * 0.1 * LINK * 0.8];
      this.render();
      this.moved(this.own);
    } else if (event.key in steps) {
      event.preventDefault();
      const next = this.towards(number, steps[event.key]);
      if (next >= 0) {
        const one = this.svg.querySelector(`#node-${next}`);
        one.setAttribute("tabindex", "0");
        one.focus();
      }
    } else if (event.key === "Escape") this.setMode("");
    else if (event.key === "+" || event.key === "-") this.zoom(event.key === "+" ? 1 / 1.3 : 1.3, ...this.places[number]);
  }

  // The nearest node in a direction.
  towards(number, [dx, dy]) {
    const [x, y] = this.places[number];
    let best = -1;
    let least = Infinity;
    this.places.forEach(([px, py], n) => {
      const along = (px - x) * dx + (py - y) * dy;
      const across = Math.abs((px - x) * dy) + Math.abs((py - y) * dx);
      if (n !== number && along > 1 && along + 2 * across < least) [best, least] = [n, along + 2 * across];
    });
    return best;
  }

  find(word) {
    const low = word.toLowerCase();
    const node = this.data.nodes.findIndex((one) => one.name.toLowerCase().includes(low));
    const stream = this.data.streams.findIndex((one) => one.name.toLowerCase().includes(low));
    if (node < 0 && stream < 0) return false;
    const chosen = node >= 0 ? { kind: "node", number: node } : { kind: "stream", number: stream };
    if (node >= 0) {
      const [x, y] = this.places[node];
      const size = Math.min(this.box[2], 8 * LINK);
      this.box = [x - size / 2, y - (size * this.box[3]) / this.box[2] / 2, size, (size * this.box[3]) / this.box[2]];
      this.frame();
    }
    this.choose(chosen);
    return true;
  }
}

// Gate lists of the text: each edge between two entries can be moved. Those of the catalogue are only named.
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
        make("span", { text: entry.open || "shut" }), make("small", { text: words(entry.ns) }));
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
