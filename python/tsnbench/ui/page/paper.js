// The paper of a chart: a canvas, or an SVG of what would be drawn on it; files of a chart, and what one points at.
import { make, theme } from "./dom.js";

const FONT = "12px system-ui, sans-serif";
let recorded = null; // the canvas whose chart is written as SVG

// The context of a chart with its width; the height is that of the whole chart.
export function paper(canvas, height) {
  if (recorded?.canvas === canvas) {
    recorded.height = height;
    return [recorded.pen, canvas.clientWidth];
  }
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = FONT;
  return [context, width];
}

const escaped = (words) => String(words).replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);
const ANCHORS = { left: "start", center: "middle", right: "end" };

// The part of a canvas's context that charts use; it writes elements of SVG.
class SvgPen {
  constructor(measure) {
    this.measure = measure;
    this.parts = [];
    this.way = "";
    this.dash = [];
    this.clips = 0;
    this.depth = [];
    this.fillStyle = "#000";
    this.strokeStyle = "#000";
    this.lineWidth = 1;
    this.textAlign = "left";
  }

  save() { this.depth.push([0, this.fillStyle, this.strokeStyle, this.lineWidth]); }

  restore() {
    const [groups, ...styles] = this.depth.pop();
    this.parts.push("</g>".repeat(groups));
    [this.fillStyle, this.strokeStyle, this.lineWidth] = styles;
  }

  clip() {
    this.clips += 1;
    this.parts.push(`<clipPath id="c${this.clips}"><path d="${this.way}"/></clipPath><g clip-path="url(#c${this.clips})">`);
    this.depth.at(-1)[0] += 1;
  }

  setLineDash(dash) { this.dash = dash; }

  beginPath() { this.way = ""; }

  moveTo(x, y) { this.way += `M${x} ${y}`; }

  lineTo(x, y) { this.way += `L${x} ${y}`; }

  rect(x, y, width, height) { this.way += `M${x} ${y}h${width}v${height}h${-width}z`; }

  pen() { return `fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}"${this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : ""}`; }

  stroke() { this.parts.push(`<path d="${this.way}" ${this.pen()}/>`); }

  box(x, y, width, height, style) { this.parts.push(`<rect x="${x}" y="${y}" width="${Math.max(0, width)}" height="${Math.max(0, height)}" ${style}/>`); }

  fillRect(x, y, width, height) { this.box(x, y, width, height, `fill="${this.fillStyle}"`); }

  strokeRect(x, y, width, height) { this.box(x, y, width, height, this.pen()); }

  measureText(words) { return this.measure.measureText(words); }

  fillText(words, x, y) { this.parts.push(`<text x="${x}" y="${y}" fill="${this.fillStyle}" text-anchor="${ANCHORS[this.textAlign] ?? "start"}">${escaped(words)}</text>`); }

  text(width, height, title) {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12">`
      + `<title>${escaped(title)}</title><rect width="100%" height="100%" fill="${theme("--paper")}"/>${this.parts.join("")}</svg>\n`;
  }
}

function svgOf(canvas, redraw) {
  recorded = { canvas, pen: new SvgPen(canvas.getContext("2d")), height: 0 };
  try {
    redraw();
    return recorded.pen.text(canvas.clientWidth, recorded.height, canvas.getAttribute("aria-label"));
  } finally {
    recorded = null;
  }
}

const quoted = (value) => (/[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value ?? ""));

function offer(name, content) {
  const link = make("a", { href: URL.createObjectURL(content), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// On paper of the page's colour: a canvas has none.
function picture(canvas, done) {
  const whole = make("canvas", { width: canvas.width, height: canvas.height });
  const context = whole.getContext("2d");
  context.fillStyle = theme("--paper");
  context.fillRect(0, 0, whole.width, whole.height);
  context.drawImage(canvas, 0, 0);
  whole.toBlob(done);
}

// Buttons that save a chart: `name()` begins its files, `redraw` draws it, `table()` has its numbers as rows.
export function files(canvas, { name, redraw, table }) {
  const button = (kind, about, save) => make("button", { type: "button", text: kind, "aria-label": `${about} of: ${canvas.getAttribute("aria-label").split(" of ")[0]}`, onclick: save });
  return make("span", { class: "files" }, make("span", { class: "soft", text: "Save" }),
    button("SVG", "SVG", () => offer(`${name()}.svg`, new Blob([svgOf(canvas, redraw)], { type: "image/svg+xml" }))),
    button("PNG", "PNG", () => picture(canvas, (content) => offer(`${name()}.png`, content))),
    button("CSV", "Numbers", () => offer(`${name()}.csv`, new Blob([table().map((row) => `${row.map(quoted).join(",")}\n`).join("")], { type: "text/csv" }))));
}

// Words at the pointer: `words(x, y)` in px of the canvas; null where there is nothing.
export function hover(canvas, words) {
  const tip = make("div", { class: "tip", hidden: true });
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const found = words(event.clientX - box.left, event.clientY - box.top);
    tip.hidden = !found;
    if (!found) return;
    tip.textContent = found;
    const room = canvas.offsetWidth - tip.offsetWidth - 4;
    tip.style.left = `${canvas.offsetLeft + Math.max(0, Math.min(room, event.clientX - box.left + 12))}px`;
    tip.style.top = `${canvas.offsetTop + event.clientY - box.top + 16}px`;
  });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  return tip;
}
