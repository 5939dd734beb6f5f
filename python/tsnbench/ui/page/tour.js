// The first start: a sample car, and three things to try on it. What was done has a sign; the tour can be put away.
import { all, at, get, make, say, url } from "./dom.js";
import { recall, remember } from "./remember.js";

const FILE = "sample-car.yaml";
const TEMPLATE = "zonal";
const SAMPLE = /video-left: \{[^}]*?payload: (\d+ B)/;
const KNOWN = "tour"; // what is remembered: it was put away

/** @type {(pattern: RegExp, sweep: boolean) => void} */
let attempt = () => {}; // the slider, or the sweep, of a number in the text
let done = new Set();

const STEPS = [
  ["drag", "Drag a number", "The cursor is in a camera's payload: drag the slider, and each worst case follows.", () => attempt(SAMPLE, false)],
  ["sweep", "Sweep it from there", "The worst case over the payload, and the value from which it is not possible.", () => attempt(SAMPLE, true)],
  ["run", "Run it, and ask why", "A run measures every frame. Its charts show where the slowest one waited, and for what.", () => at("run").click()],
];

// `opened` is called with the name of the sample.
export function start(trial, opened) {
  attempt = trial;
  at("try-sample").hidden = recall(KNOWN) !== "";
  at("try-sample").addEventListener("click", () => begin(opened));
  at("tour-close").addEventListener("click", () => {
    remember(KNOWN, "seen");
    at("tour").hidden = true;
    at("try-sample").hidden = true;
  });
  at("slide").addEventListener("input", () => did("drag"));
  at("sweep").addEventListener("click", () => did("sweep"));
  new MutationObserver(() => at("sweep").hidden || did("sweep")).observe(at("sweep"), { attributeFilter: ["hidden"] });
  new MutationObserver(() => at("view-run").dataset.loading === "no" && did("run")).observe(at("view-run"), { attributeFilter: ["data-loading"] });
}

// The tour belongs to the sample alone.
export const show = (name) => { at("tour").hidden = name !== FILE || recall(KNOWN) !== ""; };

async function begin(opened) {
  done = new Set();
  list();
  // It may be there from an earlier start.
  if (all("[data-scenario]").some((one) => one.dataset.scenario === FILE)) return opened(FILE);
  const template = (await get("/api/templates")).find((one) => one.name === TEMPLATE);
  const answer = await fetch(url("scenario", FILE), { method: "PUT", headers: { "if-none-match": "*" }, body: template.text });
  if (!answer.ok) return say(`Not created: ${(await answer.text()).trim()}`, "bad");
  return opened(FILE);
}

function list() {
  at("tour-steps").replaceChildren(...STEPS.map(([key, title, words, action]) => {
    const sign = done.has(key) ? ["ok", "✓", "done"] : ["q", "·", "not done yet"];
    return make("li", { "data-step": key }, make("span", { class: `sign ${sign[0]}`, role: "img", "aria-label": sign[2], text: sign[1] }),
      make("button", { type: "button", text: title, onclick: action }), make("span", { class: "soft", text: words }));
  }));
}

function did(key) {
  if (at("tour").hidden || done.has(key)) return;
  done.add(key);
  list();
}
