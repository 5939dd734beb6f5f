// Figures can be zoomed where scripts may run; the printed page shows each figure as a whole.
"use strict";
const KEYS = "Ctrl and wheel, or + and -; drag or arrows move, Home shows all";
for (const svg of /** @type {NodeListOf<SVGSVGElement>} */ (document.querySelectorAll("figure .chart"))) {
  const whole = svg.getAttribute("viewBox").split(" ").map(Number);
  const pane = svg.parentElement;
  let box = [...whole];
  let held = null;
  const show = () => {
    const zoomed = box[2] < whole[2];
    svg.setAttribute("viewBox", box.join(" "));
    svg.dataset.zoomed = zoomed ? "yes" : "no";
  };
  const limit = (value, most) => Math.min(Math.max(value, 0), most);
  const look = (left, top) => {
    box[0] = limit(left, whole[2] - box[2]);
    box[1] = limit(top, whole[3] - box[3]);
    show();
  };
  const zoom = (factor, x = box[0] + box[2] / 2, y = box[1] + box[3] / 2) => {
    const size = limit(box[2] / factor, whole[2]) / box[2];
    if (box[2] * size < whole[2] / 1000) return;
    const [left, top] = [x - (x - box[0]) * size, y - (y - box[1]) * size];
    box = [0, 0, box[2] * size, box[3] * size];
    look(left, top);
  };
  const all = () => { box = [...whole]; show(); };
  const point = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  pane.addEventListener("wheel", (event) => {
    // Without Ctrl, the wheel scrolls the page.
    if (!event.ctrlKey) return;
    event.preventDefault();
    const { x, y } = point(event);
    zoom(event.deltaY < 0 ? 1.25 : 0.8, x, y);
  }, { passive: false });
  svg.addEventListener("pointerdown", (event) => {
    if (svg.dataset.zoomed !== "yes") return;
    held = point(event);
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    if (!held) return;
    const { x, y } = point(event);
    look(box[0] + held.x - x, box[1] + held.y - y);
  });
  for (const kind of ["pointerup", "pointercancel"]) svg.addEventListener(kind, () => { held = null; });
  svg.addEventListener("dblclick", all);
  pane.addEventListener("keydown", (event) => {
    const step = box[2] / 8;
    const moves = {
      "+": () => zoom(1.5), "-": () => zoom(1 / 1.5), Home: all,
      ArrowLeft: () => look(box[0] - step, box[1]), ArrowRight: () => look(box[0] + step, box[1]),
      ArrowUp: () => look(box[0], box[1] - step), ArrowDown: () => look(box[0], box[1] + step),
    };
    const zoomed = svg.dataset.zoomed === "yes";
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in moves)) return;
    if (!zoomed && event.key.startsWith("Arrow")) return;
    event.preventDefault();
    moves[event.key]();
  });
  addEventListener("beforeprint", () => svg.setAttribute("viewBox", whole.join(" ")));
  addEventListener("afterprint", show);
  pane.title = KEYS;
  show();
}
// The page tells it once.
const hint = document.createElement("span");
hint.className = "zooms";
hint.textContent = ` Every figure can be zoomed: ${KEYS}.`;
document.querySelector("figure:has(.chart) figcaption")?.append(hint);
