// The drawing of a network as SVG: layers of links, streams, nodes and words. What moves is drawn anew, not all.
import { colour, draw } from "./dom.js";
import { Labels } from "./labels.js";

const PLAIN = 120; // with more nodes in view there are no names; with more nodes in all, links are one line
const NEAR = 80; // px: a shorter link has no room for its load
const ROOMY = 120; // px: from here also for its reservation
const LABELLED = 60; // with more links in view their loads are told only where one points
const DRAWN = 8; // with more streams only the chosen one has its path drawn
const CLOSE = 230; // px for the length of a link: from here on ports are drawn, too
const ASIDE = 4.5; // between two streams on one link
const LONGEST = 18; // letters of a name

const share = (part) => `${Number((100 * part).toPrecision(3))} %`;
const rated = (bps) => (bps >= 1e9 ? `${bps / 1e9} Gbit/s` : `${bps / 1e6} Mbit/s`);
const line = ([x0, y0], [x1, y1]) => `M${x0} ${y0}L${x1} ${y1}`;
const counted = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

export class Picture {
  // `network`: its data, places of nodes, loads of ports, what is chosen, and the part that is seen.
  constructor(svg, network) {
    this.svg = svg;
    this.network = network;
    this.layers = Object.fromEntries(["links", "streams", "ports", "loads", "nodes", "names"].map((name) => [name, draw("g", { class: `layer-${name}` })]));
    svg.append(...Object.values(this.layers));
    this.named = null; // what the names were placed around, and their places
  }

  get many() { return this.network.data.nodes.length > PLAIN; }

  // Where one is closer than the whole, nodes and lines keep their size on the screen.
  get closeness() { return Math.min(1, this.network.scale); }

  get half() { return (this.many ? 9 : 15) * this.closeness; }

  get few() { return this.network.data.streams.length <= DRAWN; }

  draw() {
    const focused = document.activeElement?.closest?.("svg") === this.svg ? document.activeElement.id : "";
    this.drawLinks();
    this.drawNodes();
    this.zoomed();
    if (focused) this.svg.querySelector(`#${CSS.escape(focused)}`)?.focus({ preventScroll: true });
  }

  // The loads are known: nodes stay as they are.
  loaded() {
    this.drawLinks();
    this.drawWords();
  }

  // What depends on how close one is, and on what is seen.
  zoomed() {
    this.svg.style.setProperty("--close", String(this.closeness));
    this.drawStreams();
    this.drawWords();
  }

  // A node is dragged: what is at it follows; words are placed anew when it is released.
  move(number) {
    const { places, data } = this.network;
    const [x, y] = places[number];
    this.nodes[number].setAttribute("transform", `translate(${x} ${y})`);
    if (this.many) this.links[0].setAttribute("d", this.allLinks());
    else for (const link of this.at[number]) for (const one of this.links[link]) one.setAttribute("d", line(places[data.links[link].a], places[data.links[link].b]));
    for (const { parts, d } of this.paths) for (const one of parts) one.setAttribute("d", d());
    for (const name of ["names", "loads", "ports"]) this.layers[name].setAttribute("visibility", "hidden");
  }

  allLinks() {
    const { places, data } = this.network;
    return data.links.map(({ a, b }) => line(places[a], places[b])).join("");
  }

  drawLinks() {
    const { data, chosen } = this.network;
    this.at = data.nodes.map(() => []);
    data.links.forEach(({ a, b }, number) => {
      this.at[a].push(number);
      this.at[b].push(number);
    });
    if (this.many) this.links = [draw("path", { class: "links", d: this.allLinks() })];
    else {
      this.links = data.links.map((link, number) => {
        const d = line(this.network.places[link.a], this.network.places[link.b]);
        const current = chosen?.kind === "link" && chosen.number === number ? " chosen" : "";
        const wide = draw("path", { class: "wide", d, "data-link": number });
        wide.append(draw("title", { text: this.told(number) }));
        return [draw("path", { class: `link ${link.made}${current}`, d }), wide];
      });
    }
    this.layers.links.replaceChildren(...this.links.flat());
  }

  // The two directions of a link, as far as they are known; links beside each other have their own.
  both(number) {
    const { data, loads } = this.network;
    const { a, b } = data.links[number];
    const nth = this.at[a].filter((one) => one < number && (data.links[one].a === b || data.links[one].b === b)).length;
    return [`${a} ${b}`, `${b} ${a}`].map((key) => loads?.get(key)?.[nth]).filter(Boolean);
  }

  told(number) {
    const { nodes, links } = this.network.data;
    const { a, b, rate_bps: rate, made } = links[number];
    const used = this.both(number).map(({ node, peer, load, reserved, saturating }) => `\n${nodes[node].name} to ${nodes[peer].name}: ${share(load)}`
      + `${saturating ? " and all that is left" : ""}${reserved === null ? "" : `, ${share(reserved)} reserved`}`);
    return `${nodes[a].name} to ${nodes[b].name}, ${rated(rate)}${made ? `, made by a ${made}` : ""}${used.join("")}`;
  }

  // Streams beside each other on a link that they share.
  drawStreams() {
    const { data, chosen, pointed } = this.network;
    const all = data.streams;
    const current = chosen?.kind === "stream" ? chosen.number : -1;
    this.paths = all.flatMap((stream, number) => {
      if (!this.few && number !== current && number !== pointed) return [];
      const aside = this.few ? (number - (all.length - 1) / 2) * ASIDE * this.closeness : 0;
      const points = () => stream.paths.map((path) => this.beside(path, aside));
      const d = () => points().map((one) => this.arrow(one)).join("");
      const way = d();
      if (!way) return [];
      const emphasised = number === current || number === pointed;
      const own = draw("path", { class: `stream${emphasised ? " chosen" : ""}`, d: way, stroke: colour(number) });
      const wide = draw("path", { class: "wide", d: way, "data-stream": number });
      wide.append(draw("title", { text: `stream ${stream.name}` }));
      return [{ parts: [own, wide], d, points }];
    });
    this.layers.streams.replaceChildren(...this.paths.flatMap(({ parts }) => parts));
    // What is not on the path of the stream that one points at is pale.
    this.svg.classList.toggle("pointing", pointed >= 0);
    const on = new Set(pointed >= 0 ? all[pointed].paths.flat() : []);
    this.nodes?.forEach((node, number) => node.classList.toggle("on", on.has(number)));
  }

  // The corners of a path beside its links.
  beside(path, aside) {
    const points = [];
    for (let n = 0; n + 1 < path.length; n += 1) {
      const [[x0, y0], [x1, y1]] = [this.network.places[path[n]], this.network.places[path[n + 1]]];
      const length = Math.hypot(x1 - x0, y1 - y0) || 1;
      // The same side of a link in both directions.
      const side = path[n] < path[n + 1] ? 1 : -1;
      const [nx, ny] = [((y1 - y0) / length) * aside * side, (-(x1 - x0) / length) * aside * side];
      points.push([x0 + nx, y0 + ny], [x1 + nx, y1 + ny]);
    }
    return points;
  }

  arrow(corners) {
    if (!corners.length) return "";
    const points = [...corners];
    const [[xa, ya], [xb, yb]] = points.slice(-2);
    const length = Math.hypot(xb - xa, yb - ya) || 1;
    const [ux, uy] = [(xb - xa) / length, (yb - ya) / length];
    const k = this.closeness;
    const tip = [xb - ux * 19 * k, yb - uy * 19 * k];
    points[points.length - 1] = tip;
    const wing = (side) => `${tip[0] - (ux * 9 - uy * 5 * side) * k} ${tip[1] - (uy * 9 + ux * 5 * side) * k}`;
    return `M${points.map((point) => point.join(" ")).join("L")}M${wing(1)}L${tip.join(" ")}L${wing(-1)}`;
  }

  drawNodes() {
    const { data, places, chosen, problems, from } = this.network;
    const size = this.many ? 9 : 15;
    this.nodes = data.nodes.map((node, number) => {
      const current = chosen?.kind === "node" && chosen.number === number;
      const count = problems.get(node.name) ?? 0;
      const kind = ["node", node.kind, node.made, current && "chosen", from === number && "from", count && "wrong"].filter(Boolean).join(" ");
      const words = `${node.kind} ${node.name}${node.made ? `, made by a ${node.made}` : ""}${count ? `, ${counted(count, "problem")}` : ""}`;
      const group = draw("g", {
        class: kind, id: `node-${number}`, "data-node": number, role: "button", "aria-label": words,
        "aria-pressed": String(Boolean(current)), tabindex: this.many && number ? "-1" : "0", transform: `translate(${places[number].join(" ")})`,
      });
      const shape = node.kind === "station" ? draw("circle", { r: size })
        : draw("rect", { x: -size, y: -size, width: 2 * size, height: 2 * size, rx: node.kind === "host" ? 7 : 1 });
      group.append(draw("g", { class: "shape" }, shape, count ? draw("text", { class: "count", y: 5, text: "!" }) : null), draw("title", { text: words }));
      return group;
    });
    this.layers.nodes.replaceChildren(...this.nodes);
  }

  // Names, loads and ports of what is in view: more of them where one is closer.
  drawWords() {
    const { data, places, view, scale, linkLength } = this.network;
    for (const name of ["names", "loads", "ports"]) this.layers[name].removeAttribute("visibility");
    const seen = (number) => places[number][0] > view.x && places[number][0] < view.x + view.width && places[number][1] > view.y && places[number][1] < view.y + view.height;
    const nodes = places.map((_, number) => number).filter(seen);
    if (nodes.length > PLAIN) {
      for (const name of ["names", "loads", "ports"]) this.layers[name].replaceChildren();
      this.named = null;
      return;
    }
    const own = new Set(nodes);
    const links = data.links.map((_, number) => number).filter((number) => own.has(data.links[number].a) || own.has(data.links[number].b));
    const boxes = nodes.map((number) => ({ x: places[number][0] - this.half, y: places[number][1] - this.half, width: 2 * this.half, height: 2 * this.half }));
    const lines = [...links.map((number) => [...places[data.links[number].a], ...places[data.links[number].b], 2 * scale]), ...this.drawn(2 * scale)];
    // Most edits change no name and no place.
    const around = JSON.stringify([nodes, nodes.map((number) => data.nodes[number].name), scale, view, boxes, lines]);
    if (around !== this.named?.around) {
      const labels = new Labels(scale, view, boxes, lines);
      this.layers.names.replaceChildren(...nodes.map((number) => this.name(labels, number)).filter(Boolean));
      this.named = { around, labels, count: labels.placed.length };
    }
    const { labels } = this.named;
    labels.placed.length = this.named.count;
    const close = linkLength / scale >= CLOSE && links.length <= LABELLED;
    this.layers.ports.replaceChildren(...(close ? links.flatMap((number) => this.ports(labels, number)) : []));
    this.layers.loads.replaceChildren(...(links.length <= LABELLED ? links.map((number) => this.load(labels, number, close)).filter(Boolean) : []));
  }

  // The lines of streams, each with half of its width.
  drawn(half) {
    return this.paths.flatMap(({ points }) => points().flatMap((one) => one.slice(1).map((point, n) => [...one[n], ...point, half])));
  }

  name(labels, number) {
    const { name } = this.network.data.nodes[number];
    const words = name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name;
    const [x, y] = this.network.places[number];
    const box = labels.name(words, x, y, this.half, this.many);
    if (!box) return null;
    return draw("text", { text: words, "data-node": number, "aria-hidden": "true", x: box.x + box.width / 2, y: box.y + box.height * 0.78 });
  }

  // The load of the fuller direction, and what shapers reserve where there is room; the rate of a link that is close.
  load(labels, number, close) {
    const { data, places, scale } = this.network;
    const { a, b, rate_bps: rate } = data.links[number];
    const both = this.both(number);
    const length = Math.hypot(places[b][0] - places[a][0], places[b][1] - places[a][1]) / scale;
    if (!both.length || length < NEAR) return null;
    const most = both.reduce((one, other) => (other.load > one.load ? other : one));
    const over = most.load > 1;
    const lines = close ? [rated(rate)] : [`${over ? "! " : ""}${share(most.load)}`, ...(most.reserved === null || length < ROOMY ? [] : [`${share(most.reserved)} reserved`])];
    return this.words(labels, lines, places[a], places[b], [0.5, 0.42, 0.58, 0.34, 0.66], over ? "load over" : "load");
  }

  words(labels, lines, from, to, shares, kind) {
    const box = labels.beside(lines, from, to, shares);
    if (!box) return null;
    const x = box.x + box.width / 2;
    const step = box.height / lines.length;
    const text = draw("text", { class: kind, x, y: box.y + step * 0.8, text: lines[0] });
    for (const more of lines.slice(1)) text.append(draw("tspan", { x, dy: step, text: more }));
    return text;
  }

  // Both ports of a link: a square at its node, with its queues, its gates and its load.
  ports(labels, number) {
    const { data, places } = this.network;
    const { a, b } = data.links[number];
    return this.both(number).flatMap((one) => {
      const [from, to] = one.node === a ? [places[a], places[b]] : [places[b], places[a]];
      const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
      const [ux, uy] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
      const size = 7 * this.closeness;
      const [x, y] = [from[0] + ux * (this.half + size / 2), from[1] + uy * (this.half + size / 2)];
      const square = draw("rect", { class: `port${one.gates ? " gated" : ""}`, x: x - size / 2, y: y - size / 2, width: size, height: size });
      square.append(draw("title", { text: one.name }));
      const lines = [`${counted(one.queues, "queue")}${one.gates ? ", gates" : ""}`, `${share(one.load)}${one.saturating ? " and the rest" : ""}`];
      return [square, this.words(labels, lines, from, to, [0.24, 0.3, 0.2, 0.36], "load")].filter(Boolean);
    });
  }
}
