// Places of words in the drawing of a network: beside their node or link, on no line, on no node and on no other words.
const LETTERS = 12.5; // px, as in style.css
const LINE = 1.15; // of the height of letters
const SMALL = 10.5;

// What a place costs: words on words or on a node cannot be read, words on a line can.
const COST = { words: 60, node: 60, line: 12, outside: 8 };
const FARTHER = [0, 4, 9, 14, 19]; // px
const HIDDEN = 50; // from here on a name is left out, where there are many

const pen = document.createElement("canvas").getContext("2d");
const widths = new Map();

// The width of words in px.
function width(words, size) {
  const key = `${size} ${words}`;
  if (!widths.has(key)) {
    if (widths.size > 5000) widths.clear();
    pen.font = `${size}px system-ui, sans-serif`;
    widths.set(key, pen.measureText(words).width + 4);
  }
  return widths.get(key);
}

const apart = (a, b) => a.x >= b.x + b.width || b.x >= a.x + a.width || a.y >= b.y + b.height || b.y >= a.y + a.height;

// The share of a line that is within a box that is wider by `aside` on each side (Liang and Barsky).
function within([x0, y0, x1, y1, aside], box) {
  if (Math.max(x0, x1) + aside < box.x || Math.min(x0, x1) - aside > box.x + box.width) return 0;
  const [dx, dy] = [x1 - x0, y1 - y0];
  let [from, until] = [0, 1];
  for (const [step, room] of [[-dx, x0 - box.x + aside], [dx, box.x + box.width + aside - x0], [-dy, y0 - box.y + aside], [dy, box.y + box.height + aside - y0]]) {
    if (step === 0 && room < 0) return 0;
    if (step < 0) from = Math.max(from, room / step);
    else if (step > 0) until = Math.min(until, room / step);
    if (from > until) return 0;
  }
  return (until - from) * Math.hypot(dx, dy);
}

// The words of one drawing; `scale` is in units of the drawing for one px, and `view` what is seen of it.
export class Labels {
  constructor(scale, view, nodes, lines) {
    this.scale = scale;
    this.view = view;
    this.nodes = nodes; // boxes
    this.lines = lines; // [x0, y0, x1, y1, half of its width]
    this.placed = [];
  }

  // What a box costs; no more is added up as soon as this is too much.
  cost(box, worth, most) {
    const inside = box.x >= this.view.x && box.y >= this.view.y && box.x + box.width <= this.view.x + this.view.width && box.y + box.height <= this.view.y + this.view.height;
    let sum = worth + (inside ? 0 : COST.outside);
    for (const one of this.placed) if (!apart(one, box)) sum += COST.words;
    for (const one of this.nodes) if (!apart(one, box)) sum += COST.node;
    for (const one of this.lines) {
      if (sum >= most) return sum;
      const length = within(one, box);
      if (length > 0) sum += COST.line * (0.4 + Math.min(1, length / box.height));
    }
    return sum;
  }

  best(boxes) {
    let [found, least] = [null, Infinity];
    boxes.forEach(([box, worth]) => {
      if (worth >= least) return;
      const cost = this.cost(box, worth, least);
      if (cost < least) [found, least] = [box, cost];
    });
    return [found, least];
  }

  // Where the name of a node is: below, above, beside it or at a corner; null if others are there and it may be left out.
  name(words, x, y, half, spare) {
    const [wide, high, gap] = [width(words, LETTERS) * this.scale, LETTERS * LINE * this.scale, 3 * this.scale];
    const out = half + gap;
    const corner = half * 0.75 + gap;
    const at = (left, top) => ({ x: left, y: top, width: wide, height: high });
    const [found, cost] = this.best([
      [at(x - wide / 2, y + out), 0], [at(x - wide / 2, y - out - high), 0.5], [at(x + out, y - high / 2), 1], [at(x - out - wide, y - high / 2), 1.2],
      [at(x + corner, y + corner - high * 0.4), 2], [at(x + corner, y - corner - high * 0.6), 2], [at(x - corner - wide, y + corner - high * 0.4), 2.2], [at(x - corner - wide, y - corner - high * 0.6), 2.2],
      [at(x - wide / 2, y + out + high), 4], [at(x - wide / 2, y - out - 2 * high), 4],
    ]);
    if (spare && cost >= HIDDEN) return null;
    this.placed.push(found);
    return found;
  }

  // Where lines of small words are beside a link, at a share of its way; null if there is no free place.
  beside(lines, [x0, y0], [x1, y1], shares) {
    const size = SMALL * this.scale;
    const wide = Math.max(...lines.map((words) => width(words, SMALL))) * this.scale;
    const high = lines.length * size * LINE;
    const length = Math.hypot(x1 - x0, y1 - y0) || 1;
    const [nx, ny] = [(y1 - y0) / length, -(x1 - x0) / length];
    const least = 4 * this.scale + (Math.abs(nx) * wide + Math.abs(ny) * high) / 2;
    // Near the link first; farther where streams are beside it.
    const boxes = shares.flatMap((share, n) => FARTHER.flatMap((more) => [1, -1].map((side) => {
      const out = (least + more * this.scale) * side;
      const [cx, cy] = [x0 + (x1 - x0) * share + nx * out, y0 + (y1 - y0) * share + ny * out];
      return [{ x: cx - wide / 2, y: cy - high / 2, width: wide, height: high }, 0.1 * n + 0.1 * more];
    })));
    const [found, cost] = this.best(boxes);
    if (cost >= COST.line * 0.4) return null;
    this.placed.push(found);
    return found;
  }
}
