// The network of a text: what is chosen, moved and linked in its drawing.
import { draw } from "./dom.js";
import { Picture } from "./picture.js";

const LINK = 150; // px for one link
const CLOSEST = 40; // units of the drawing across the pane
const FOUND = 60; // nodes around one that was sought
const SMALLEST = 2.4; // units for one px, from which on names become smaller

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
    this.linkLength = LINK;
    this.svg = draw("svg", { role: "group", "aria-label": "Network", tabindex: "-1" });
    this.svg.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.svg.addEventListener("pointerdown", (event) => this.press(event));
    this.svg.addEventListener("pointermove", (event) => this.drag(event));
    this.svg.addEventListener("pointerup", (event) => this.release(event));
    this.svg.addEventListener("pointercancel", () => { this.held = null; });
    this.svg.addEventListener("pointerover", (event) => this.over(event));
    this.svg.addEventListener("pointerleave", () => this.held || this.pointAt(-1));
    this.svg.addEventListener("keydown", (event) => {
      const node = event.target.closest("[data-node]");
      if (node) this.key(event, Number(node.dataset.node));
    });
    this.picture = new Picture(this.svg, this);
    host.append(this.svg);
    new ResizeObserver(() => this.frame()).observe(host);
  }

  show(drawing, problems) {
    const before = new Map(this.data?.nodes.map((node, n) => [node.name, this.places[n]]));
    const kept = drawing.nodes.filter((node) => before.has(node.name)).length;
    if (this.data && this.chosen) this.chosen = same(this.chosen, this.data, drawing);
    if (this.data && this.from !== null) this.from = same({ kind: "node", number: this.from }, this.data, drawing)?.number ?? null;
    // A node that is being dragged stays under the pointer, whatever its number is now.
    const [dragged, place] = this.held?.node >= 0 ? [this.data.nodes[this.held.node].name, this.places[this.held.node]] : ["", null];
    this.data = drawing;
    this.problems = problems;
    this.places = drawing.nodes.map((node) => {
      const [x, y] = this.own[node.name] ?? [node.x, -node.y];
      return [x * LINK, y * LINK * 0.8];
    });
    // What one knows stays where it is; a new node is put beside the node that it is linked with.
    if (kept * 2 > drawing.nodes.length) this.settle(before);
    if (place) {
      const number = drawing.nodes.findIndex((node) => node.name === dragged);
      if (number < 0) this.held = null;
      else if (this.held.moved) this.places[number] = place;
      if (this.held) this.held.node = number;
    }
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
    if (this.data) this.picture.loaded();
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
      /** @type {[number, number][]} */
      const spots = [...Array(12).keys()].map((turn) => [x + LINK * 0.9 * Math.cos(turn * 0.5236 + 0.3), y + LINK * 0.9 * Math.sin(turn * 0.5236 + 0.3)]);
      const room = ([sx, sy]) => Math.min(...[...known].map((one) => Math.hypot(sx - this.places[one][0], sy - this.places[one][1])));
      this.places[n] = spots.reduce((best, spot) => (room(spot) > room(best) ? spot : best));
      known.add(n);
    });
  }

  fit() {
    const xs = this.places.map(([x]) => x);
    const ys = this.places.map(([, y]) => y);
    const margin = this.picture.many ? 40 : 75;
    const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
    const most = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);
    this.box = [least(xs) - margin, least(ys) - margin, most(xs) - least(xs) + 2 * margin, most(ys) - least(ys) + 2 * margin];
    this.frame();
  }

  frame() {
    if (!this.box || !this.data) return;
    this.svg.setAttribute("viewBox", this.box.join(" "));
    // Names keep their size on the screen, as long as there is room for them.
    const scale = Math.max(this.box[2] / (this.svg.clientWidth || 1), this.box[3] / (this.svg.clientHeight || 1));
    // The pane shows more than the box where it has another shape.
    const [wide, high] = [scale * (this.svg.clientWidth || 1), scale * (this.svg.clientHeight || 1)];
    this.view = { x: this.box[0] - (wide - this.box[2]) / 2, y: this.box[1] - (high - this.box[3]) / 2, width: wide, height: high };
    this.scale = this.picture.many ? scale : Math.min(SMALLEST, scale);
    this.svg.style.setProperty("--scale", String(this.scale));
    if (this.picture.nodes?.length === this.places.length) this.picture.zoomed();
  }

  zoom(factor, x = this.box[0] + this.box[2] / 2, y = this.box[1] + this.box[3] / 2) {
    const [left, top, width, height] = this.box;
    const size = Math.min(1e6, Math.max(CLOSEST, width * factor)) / width;
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
      this.picture.move(this.held.node);
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
      this.picture.drawWords();
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
    if (this.data) this.picture.drawStreams();
  }

  over(event) {
    if (this.held) return;
    const stream = event.target.closest("[data-stream]");
    this.pointAt(stream ? Number(stream.dataset.stream) : -1);
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
    if (this.data) this.picture.draw();
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
      let size = Math.min(this.box[2], 8 * LINK);
      const near = (one) => Math.abs(one[0] - x) < size / 2 && Math.abs(one[1] - y) < size / 2;
      while (size > CLOSEST && this.places.filter(near).length > FOUND) size /= 1.5;
      this.box = [x - size / 2, y - (size * this.box[3]) / this.box[2] / 2, size, (size * this.box[3]) / this.box[2]];
      this.frame();
    }
    this.choose(chosen);
    return true;
  }
}
