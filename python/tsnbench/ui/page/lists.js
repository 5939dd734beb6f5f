// Entries of the lists beside the views: a run is its sign, name, place and age.
import { all, at, make, url } from "./dom.js";

const SIGNS = { running: ["q", "…"], interrupted: ["q", "–"], failed: ["no", "✕"], unreadable: ["no", "✕"] };

// What a run has shown, as a sign with words: never by colour alone.
function sign(run) {
  const words = run.verdict.split(":")[0];
  const [kind, mark] = run.state !== "complete" ? SIGNS[run.state] ?? ["q", "?"]
    : run.met === null ? ["q", "·"] : !run.met ? ["no", "✕"] : words === "ALL MET (PROVED)" ? ["ok", "✓"] : ["q", "✓"];
  return make("span", { class: `sign ${kind}`, "aria-hidden": "true", text: mark });
}

export function runEntry(run, tick, links) {
  const said = [run.state === "complete" && run.verdict ? "" : run.state, run.verdict, run.problem].filter(Boolean).join(", ");
  const where = run.backend && run.backend !== "simulation" ? make("small", { text: `on ${run.backend}` }) : null;
  const [, within, own] = /^(?:runs\/)?(.*\/)?([^/]*)$/.exec(run.folder);
  return make("li", { "data-run": run.folder, title: `${run.folder}: ${said}` }, tick, sign(run),
    make("span", { class: "run-name" }, make("span", { class: "soft", text: within }), make("span", { text: own })), where,
    make("small", { class: "age", "data-started": run.started }),
    make("span", { class: "run-said" }, make("span", { text: said.split(":")[0] }), ...links));
}

// An entry that reads as before stays where it is: a press that has begun on it is not lost. Ages are no part of it.
export function renew(host, entries) {
  for (const one of entries) one.words = one.outerHTML;
  const before = new Map([...host.children].map((one) => [one.words, one]));
  const wanted = entries.map((one) => before.get(one.words) ?? one);
  const kept = new Set(wanted);
  for (const one of [...host.children]) if (!kept.has(one)) one.remove();
  wanted.forEach((one, n) => { if (host.children[n] !== one) host.insertBefore(one, host.children[n] ?? null); });
  for (const one of host.querySelectorAll("[data-started]")) one.textContent = age(one.dataset.started);
}

function age(started) {
  const minutes = Math.floor((Date.now() - Date.parse(started)) / 60000);
  if (Number.isNaN(minutes)) return "";
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} d`;
}

export function anchor(kind, folder) {
  return make("a", { href: url(kind, folder), text: kind, "aria-label": `${kind} of ${folder}` });
}

// What belongs into an empty view, and the button that leads there.
export function empty(host, title, words, label, action) {
  const button = make("button", { type: "button", class: "primary", text: label });
  button.addEventListener("click", action);
  host.replaceChildren(make("div", { class: "empty" }, make("h2", { text: title }), make("p", { text: words }), button));
}

// The button of a view of runs: the newest runs of the list, or a way to the first one.
export function toRuns(count, label, address) {
  const found = all("#runs a[data-charts]").slice(0, count).map((one) => one.dataset.charts);
  if (found.length === count) return [label, () => { location.hash = address(found); }];
  const run = at("run");
  if (!run.disabled) return ["Run the open scenario", () => run.click()];
  return ["Begin with a template …", () => at("new").click()];
}
