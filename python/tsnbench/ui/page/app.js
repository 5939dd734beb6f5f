// The page of `tsnbench ui`: lists, runs under way, and which view is shown. Each view has a module of its own.
import { all, at, make, say, url } from "./dom.js";
import { anchor, renew, runEntry } from "./lists.js";
import * as comparison from "./compare.js";
import * as creation from "./create.js";
import * as place from "./place.js";
import * as merge from "./merge.js";
import * as charts from "./run.js";
import * as scenario from "./scenario.js";
import * as splits from "./splits.js";
import * as tour from "./tour.js";

function entry(label, action) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = label;
  button.addEventListener("click", () => action(button));
  item.append(button);
  return item;
}

async function list() {
  const answer = await fetch("/api/folder");
  if (!answer.ok) return say(await answer.text(), "bad");
  const found = await answer.json();
  // Whenever a run ends, entries are made anew where they changed: what has the focus keeps it.
  const focused = document.activeElement?.closest("#lists") ? identity(document.activeElement) : "";
  at("folder").textContent = found.folder;
  renew(at("scenarios"), [...found.scenarios.map(scenarioEntry), ...more(found.more_scenarios)]);
  renew(at("runs"), [...found.runs.map((one) => entryOf(one, found.runs)), ...more(found.more_runs)]);
  merge.offer(found.scenarios, found.runs);
  at("no-scenarios").hidden = found.scenarios.length > 0;
  at("no-runs").hidden = found.runs.length > 0;
  if (focused) all("button, a, input", at("lists")).find((one) => identity(one) === focused)?.focus({ preventScroll: true });
  document.body.dataset.ready = "yes";
}

const identity = (one) => `${one.localName} ${one.dataset.scenario ?? ""} ${one.getAttribute("href") ?? ""} ${one.getAttribute("aria-label") ?? ""}`;

function scenarioEntry(name) {
  const item = entry(name, () => { location.hash = hash({ scenario: name }); });
  const [button] = all("button", item);
  button.dataset.scenario = name;
  if (scenario.name() === name) button.setAttribute("aria-current", "true");
  return item;
}

function more(count) {
  if (!count) return [];
  const item = document.createElement("li");
  item.textContent = `and ${count} more`;
  return [item];
}

const simulated = (run) => run.backend === "simulation" && run.state === "complete";

function entryOf(run, all) {
  const tick = make("input", { type: "checkbox", "aria-label": `Compare ${run.folder}`, title: "Compare" });
  tick.checked = comparison.chosen.has(run.folder);
  tick.addEventListener("change", () => comparison.chosen[tick.checked ? "add" : "delete"](run.folder));
  const links = [];
  if (run.state === "complete") {
    links.push(make("a", { href: hash({ run: run.folder }), text: "charts", "data-charts": run.folder, "aria-label": `charts of ${run.folder}` }));
  }
  if (run.report) links.push(anchor("report", run.folder));
  if (run.replay) links.push(anchor("replay", run.folder));
  // The same Plan in the simulator: the twin of a run on a kernel or on hosts.
  const elsewhere = run.backend && run.backend !== "simulation" && run.state === "complete";
  const twin = elsewhere ? all.find((one) => simulated(one) && one.plan === run.plan) : null;
  if (twin) {
    const both = hash({ compare: `${twin.folder}|${run.folder}` });
    links.push(make("a", { href: both, text: "compare with its simulation", "aria-label": `${run.folder}: compare with its simulation ${twin.folder}` }));
  }
  return runEntry(run, tick, links);
}

async function run() {
  const name = await scenario.saved();
  if (name !== null) begin(name, place.chosen());
}

async function begin(name, where) {
  const answer = await fetch(url("run", name), { method: "POST", body: JSON.stringify(where) });
  if (!answer.ok) return say(`Not started: ${await answer.text()}`, "bad");
  const job = await answer.json();
  say(`Started: ${job.command}`, "good");
  due += 1;
  watch();
}

let watching = false;
let due = 0; // a run that starts while the last answer is read is asked for, too
let known = ""; // the jobs that had ended when the list of runs was made

// Asks for the jobs as long as one of them runs.
async function watch() {
  if (watching) return;
  watching = true;
  try {
    for (;;) {
      const seen = due;
      const answer = await fetch("/api/jobs");
      if (!answer.ok) return say(await answer.text(), "bad");
      const jobs = await answer.json();
      at("started").hidden = jobs.length === 0;
      showJobs(jobs);
      const ended = jobs.filter((job) => job.state === "ended").map((job) => job.job).join();
      if (ended !== known) {
        known = ended;
        await list();
      }
      if (seen === due && jobs.every((job) => job.state === "ended")) return;
      await new Promise((done) => setTimeout(done, 300));
    }
  } catch {
    say("The server does not answer any more. Runs that it had started have ended with it.", "bad");
  } finally {
    watching = false;
  }
}

// Items stay where they are, so that a button keeps the focus while the numbers beside it change.
function showJobs(jobs) {
  const items = new Map(all("li", at("jobs")).map((item) => [item.dataset.job, item]));
  const wanted = jobs.map((job) => {
    const item = items.get(String(job.job)) ?? jobItem(job);
    update(item, job);
    return item;
  });
  if (wanted.some((item, place) => at("jobs").children[place] !== item)) at("jobs").replaceChildren(...wanted);
}

function jobItem(job) {
  const item = document.createElement("li");
  item.dataset.job = String(job.job);
  const [name, bar, words, stop] = ["p", "progress", "p", "button"].map((kind) => make(kind));
  name.textContent = job.command;
  bar.setAttribute("aria-label", `Progress of ${job.command}`);
  stop.type = "button";
  stop.textContent = "Stop";
  stop.setAttribute("aria-label", `Stop ${job.command}`);
  stop.addEventListener("click", () => fetch(`/api/stop/${job.job}`, { method: "POST" }));
  const also = make("button", { type: "button", text: "Simulate", "aria-label": `Simulate ${job.scenario}` });
  also.addEventListener("click", () => begin(job.scenario, { on: "simulation" }));
  item.append(name, bar, words, stop, also);
  return item;
}

// What ended with a mistake (2) or an error of the machine (3) says so itself.
const ENDS = { 0: "", 1: "", 2: "", 3: "", 130: "Stopped. " };

function update(item, job) {
  const [, bar, words, stop, also] = item.children;
  const elsewhere = job.on !== "simulation";
  const { run, number = 1, count = 1, done, ns, of_ns: all, step } = job.progress;
  item.dataset.state = job.state;
  const ended = job.state === "ended";
  bar.hidden = ended;
  stop.hidden = ended;
  also.hidden = !(ended && elsewhere && [0, 1].includes(job.code));
  stop.disabled = job.state !== "running";
  // Runs that are made at the same time: only how many have ended is a measure of progress.
  if (done !== undefined) bar.value = done / count;
  else if (step === undefined && all && !elsewhere) bar.value = (number - 1 + ns / all) / count;
  else if (count > 1) bar.value = number / count;
  else bar.removeAttribute("value");
  const which = count > 1 ? `${run} (${number} of ${count}): ` : "";
  const together = done === undefined ? "" : `${done} of ${count} runs`;
  const far = step ?? (elsewhere ? `on ${job.on}, ${job.seconds} s` : all ? `${Math.floor((100 * ns) / all)} % simulated` : "starting");
  const end = ENDS[job.code] ?? `Ended with ${job.code}. `;
  words.textContent = ended ? `${end}${job.verdict}\n${job.words}`.trim() : together || `${which}${far}`;
  // Green is what is proved; a run in which nothing failed is no proof.
  const proved = job.verdict.startsWith("ALL MET (PROVED)") && !job.verdict.includes(" lost");
  const failed = job.code !== 0 && job.code !== 130;
  words.className = !ended ? "" : failed ? "bad" : job.code === 0 && proved ? "good" : "";
}

// The address: what is shown, so that a link leads to the same instant.
export const hash = (parts) => `#${new URLSearchParams(parts)}`;

async function show() {
  const parts = new URLSearchParams(location.hash.slice(1));
  if (parts.has("scenario")) {
    const name = parts.get("scenario");
    if (name !== scenario.name() && !(await scenario.load(name))) {
      // The user keeps the changes, or there is no such file.
      history.replaceState(null, "", scenario.name() ? hash({ scenario: scenario.name() }) : "#");
    }
    for (const one of all("[data-scenario]")) {
      if (one.dataset.scenario === scenario.name()) one.setAttribute("aria-current", "true");
      else one.removeAttribute("aria-current");
    }
  }
  const view = ["run", "compare", "studies"].find((one) => parts.has(one)) ?? "scenario";
  for (const one of all("[id^=view-]")) one.hidden = one.id !== `view-${view}`;
  for (const one of all("[data-view]")) {
    if (one.dataset.view === view) one.setAttribute("aria-current", "page");
    else one.removeAttribute("aria-current");
  }
  await merge.show(parts.has("scenario") && scenario.name() ? parts.get("with") ?? "" : "");
  if (view === "run") await charts.show(parts);
  else if (view === "compare") await comparison.compare(parts);
  else if (view === "studies") await comparison.studies();
}

async function open(name) {
  history.pushState(null, "", hash({ scenario: name }));
  await show();
  return scenario.name() === name;
}

async function created(name) {
  await list();
  if (!(await open(name))) return say(`Created ${name}.`, "good");
  at("text").focus();
  return say(`Created ${name}. Edit it as text, or in the drawing.`, "good");
}

let lastRun = "";
function go(view) {
  const parts = new URLSearchParams(location.hash.slice(1));
  if (parts.has("run")) lastRun = location.hash;
  const names = [...comparison.chosen].join("|");
  const addresses = {
    scenario: scenario.name() ? hash({ scenario: scenario.name() }) : "#", run: lastRun || "#run=",
    compare: names ? hash({ compare: names }) : "#compare=", studies: "#studies=",
  };
  location.hash = addresses[view];
}

// The browser has one list of undo steps for all fields. A text field whose kind changes loses its steps: so Ctrl-Z in
// the text reverts what was edited there, and not what was typed elsewhere afterwards.
addEventListener("focusout", ({ target }) => {
  const field = /** @type {any} */ (target);
  if (!field.matches?.("input[type=search], input:not([type])")) return;
  const kind = field.getAttribute("type");
  field.type = "tel";
  if (kind) field.type = kind;
  else field.removeAttribute("type");
});

splits.start();
scenario.start();
creation.start(created);
tour.start(scenario.trial, created);
for (const button of all("[data-view]")) button.addEventListener("click", () => go(button.dataset.view));
at("run").addEventListener("click", run);
at("first-run").addEventListener("click", () => (at("run").disabled ? at("new") : at("run")).click());
addEventListener("hashchange", show);
addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]")) return;
  if ((event.ctrlKey || event.metaKey) && event.key === "s") {
    event.preventDefault();
    scenario.save();
  } else if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
    event.preventDefault();
    run();
  }
});
addEventListener("beforeunload", (event) => {
  if (scenario.changed()) event.preventDefault();
});
list().then(show);
watch();
