// The view of a scenario: its text, its network, its gates and its problems. The text is the model.
import { all, at, make, post, quoted, say, url } from "./dom.js";
import { Editor } from "./editor.js";
import { gates } from "./gatelists.js";
import * as live from "./live.js";
import * as merge from "./merge.js";
import { LISTS, Network } from "./network.js";
import * as place from "./place.js";
import * as port from "./port.js";
import * as requirements from "./requirements.js";
import { Search } from "./search.js";
import { Slide } from "./slide.js";
import * as tour from "./tour.js";

let open = null; // the scenario in the editor: {name, tag, saved}
let asked = 0; // the number of the last check: answers to earlier ones are of an older text
let timer = 0;
let editor = null;
let network = null;
let search = null;
let slide = null;
let refocus = ""; // the selector of what has the focus after all is drawn anew

// The slider is beside the number at the end of what is found; `sweep`: its values are swept.
export function trial(pattern, sweep) {
  const found = pattern.exec(editor.text);
  if (!found) return;
  const place = found.index + found[0].length - 1;
  editor.reveal(place);
  slide.show(place);
  if (sweep) slide.sweepFrom();
}
export const name = () => open?.name ?? null;
export const changed = () => open !== null && editor.text !== open.saved;

export function start() {
  requirements.start().catch((error) => say(error.message, "bad"));
  editor = new Editor(at("text"), {
    changed: () => { slide.sweep.close(); refresh(); later(50); search.update(); },
    complete: async (text, line, column) => open && post(url("complete", open.name), { text, line, column }),
    fixed: () => later(0),
    moved: (offset) => {
      slide.show(offset);
      if (network.data && network.fresh === editor.text) network.chooseAt(offset, end);
    },
  });
  search = new Search(editor);
  merge.start(editor, name);
  slide = new Slide(editor, {
    began: live.mark,
    preview: (text) => live.drag(open.name, text, () => slide.told()),
    cancelled: () => live.ask(open.name, editor.text),
    words: () => live.words(chosenStream()),
    judge: (text, signal) => live.judge(open.name, text, chosenStream() || live.tightest(), signal),
    subject: () => `Worst case of ${chosenStream() || live.tightest() || "the streams"}`,
  });
  network = new Network(at("network"), {
    chose: (chosen) => choose(chosen),
    linked: (mode, a, b) => (mode === "link" ? edit({ edit: "add-link", a, b })
      : edit({ edit: "add-stream", name: unused("stream"), from: a, to: b })),
    moved: (places) => post(url("layout", open.name), places, "PUT").catch((error) => say(error.message, "bad")),
    edited: (words) => say(words),
  });
  live.start((ports) => network.setLoads(ports));
  port.start(() => live.ask(open.name, editor.text));
  place.start(() => open && { name: open.name, text: editor.text }, commands);
  at("save").addEventListener("click", save);
  at("closer").addEventListener("click", () => network.zoom(1 / 1.3));
  at("farther").addEventListener("click", () => network.zoom(1.3));
  at("fit").addEventListener("click", () => network.fit());
  at("find").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && at("find").value && !network.find(at("find").value)) {
      say(`There is no node or stream with ${at("find").value} in its name.`);
    }
  });
  for (const button of all("[data-add]")) {
    button.addEventListener("click", () => edit({ edit: "add-node", kind: button.dataset.add, name: unused(button.dataset.add) }));
  }
  for (const button of all("button[data-mode]")) {
    button.addEventListener("click", () => {
      network.setMode(network.mode === button.dataset.mode ? "" : button.dataset.mode);
      pressed();
      if (network.mode) say(`Choose the node where the ${network.mode} begins, then the other one. Escape cancels.`);
    });
  }
  at("first-problem").addEventListener("click", () => at("problems").querySelector("button")?.click());
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && network.mode) {
      network.setMode("");
      pressed();
      say("");
    }
  });
}

function pressed() {
  for (const one of all("button[data-mode]")) {
    one.setAttribute("aria-pressed", String(one.dataset.mode === network.mode));
  }
}

// The name in the field, or the kind with the next number.
function unused(kind) {
  const written = at("new-name").value.trim();
  at("new-name").value = "";
  const used = new Set([...network.data.nodes, ...network.data.streams].map((one) => one.name));
  if (written) return written;
  let number = 1;
  while (used.has(`${kind}-${number}`)) number += 1;
  return `${kind}-${number}`;
}

export async function load(wanted) {
  if (changed() && !confirm(`Discard the changes of ${open.name}?`)) return false;
  const answer = await fetch(url("scenario", wanted));
  if (!answer.ok) {
    say(await answer.text(), "bad");
    return false;
  }
  const raw = await answer.text();
  const places = await fetch(url("layout", wanted));
  network.own = places.ok ? await places.json() : {};
  network.data = null;
  network.loads = null;
  network.setMode("");
  network.chosen = null;
  pressed();
  live.reset();
  slide.hide();
  editor.set(raw);
  // A text field has line feeds alone; a file with other line ends would be changed in every line.
  const whole = editor.text === raw;
  open = { name: wanted, tag: answer.headers.get("etag"), saved: editor.text };
  at("text").disabled = false;
  at("welcome").hidden = true;
  for (const id of ["top", "where", "panes", "below"]) at(id).hidden = false;
  at("text").readOnly = !whole;
  search.update();
  at("name").textContent = wanted;
  tour.show(wanted);
  place.reset();
  say(whole ? "" : "This file has line ends other than line feeds: it can be read here, not edited.");
  refresh();
  check();
  return true;
}

function commands() {
  if (open) at("command").textContent = `tsnbench check ${quoted(open.name)}; tsnbench run --keep-runs${place.options()} ${quoted(open.name)}`;
}

const refresh = () => {
  at("save").disabled = !changed();
  at("run").disabled = open === null;
  at("run").textContent = changed() ? "Save and run (Ctrl-Enter)" : "Run (Ctrl-Enter)";
};

function later(ms) {
  clearTimeout(timer);
  timer = setTimeout(check, ms);
}

// The name of the open scenario once its text is saved; null without one.
export const saved = async () => (open === null || (changed() && !(await save())) ? null : open.name);

export async function save() {
  if (!changed()) return true;
  const sent = editor.text;
  const mine = open;
  const answer = await fetch(url("scenario", mine.name), { method: "PUT", headers: { "if-match": mine.tag }, body: sent });
  if (!answer.ok) {
    say(`Not saved: ${await answer.text()}`, "bad");
    return false;
  }
  mine.tag = answer.headers.get("etag");
  mine.saved = sent;
  say("Saved", "good");
  refresh();
  return true;
}

// One edit of the drawing: the server finds the few words that change, and the editor writes them. The focus
// goes to the text, and to what has the selector `focus` as soon as that is drawn anew.
async function edit(wanted, focus = "") {
  pressed();
  if (at("text").readOnly) return say("This file can be read here, not edited.", "bad");
  const text = editor.text;
  try {
    const found = await post(url("edit", open.name), { text, ...wanted });
    if (editor.text !== text) return say("The text has changed meanwhile: try again.", "bad");
    editor.replace(found.start, found.end, found.insert);
    refocus = focus;
    say("Edited. Ctrl-Z in the text reverts this.", "good");
    return later(0);
  } catch (error) {
    return say(`Not edited: ${error.message}`, "bad");
  }
}

async function check() {
  const number = ++asked;
  const text = editor.text;
  live.ask(open.name, text);
  const answer = await fetch(url("look", open.name), { method: "POST", body: text });
  if (number !== asked) return undefined;
  if (!answer.ok) return say(await answer.text(), "bad");
  const found = await answer.json();
  if (number !== asked) return undefined;
  show(found, number, text);
  place.later();
  return undefined;
}

const told = (one) => `${one.path ? `${one.path}: ` : ""}expected ${one.expected}, found ${one.found}${one.hint ? `. Hint: ${one.hint}` : ""}`;

function show({ checked, marks, drawing }, number, text) {
  const spans = checked.problems.map((one, n) => ({
    kind: "bad", message: told(one), fixes: marks[n].fixes,
    start: editor.offset(marks[n].line, marks[n].column), end: editor.offset(marks[n].line, marks[n].end),
  }));
  const warned = checked.warnings.map((one) => {
    const place = /:(\d+):(\d+)$/.exec(one.place ?? "");
    if (!place) return null;
    const start = editor.offset(Number(place[1]) - 1, Number(place[2]) - 1);
    const words = /^[^\s,{}[\]#]*/.exec(text.slice(start))[0];
    return { kind: "doubt", message: `warning: ${one.text}. Hint: ${one.hint}`, fixes: [], start, end: start + words.length };
  });
  editor.setMarks([...spans, ...warned.filter(Boolean)]);
  const items = checked.problems.map((one, n) => problem(one, spans[n]));
  const doubts = checked.warnings.map((one, n) => {
    const words = `${(one.place ?? "").split(":").slice(-2).join(":")}: warning: ${one.where}: ${one.text}${one.hint ? `. Hint: ${one.hint}` : ""}`;
    return warned[n] ? listed(words, () => editor.reveal(warned[n].start)) : make("li", { text: words });
  });
  at("problems").replaceChildren(...items, ...doubts);
  at("heading").textContent = checked.ok ? "No problems" : `Problems: ${checked.problems.length}`;
  at("heading").className = checked.ok ? "good" : "bad";
  if (drawing) {
    at("drawing").hidden = false;
    at("no-drawing").hidden = true;
    network.fresh = text;
    const before = network.chosen;
    network.show(drawing, concerned(checked.problems, drawing));
    live.list(drawing, (number) => network.choose({ kind: "stream", number }), (number) => network.pointAt(number));
    gates(at("gates"), drawing.gates, moved, writeOut);
    at("runs-of").hidden = drawing.runs.length < 2;
    at("runs-of").textContent = `Drawn: the first of ${drawing.runs.length} runs${drawing.runs[0] ? ` (${drawing.runs[0]})` : ""}.`;
    if (network.chosen) inspector(network.chosen);
    else if (before) choose(null);
    if (refocus) all(refocus)[0]?.focus();
    refocus = "";
  } else if (network.data) {
    // The last network that could be read stays, with the problems at its nodes.
    network.problems = concerned(checked.problems, network.data);
    network.render();
  } else {
    at("drawing").hidden = true;
    at("no-drawing").hidden = false;
  }
  at("problems").dataset.checked = String(number);
}

function listed(words, action) {
  const button = make("button", { type: "button", text: words });
  button.addEventListener("click", action);
  return make("li", {}, button);
}

function problem(one, span) {
  const item = listed(`${one.line}:${one.column}: ${told(one)}`, () => editor.reveal(span.start));
  for (const word of span.fixes) {
    const button = make("button", { type: "button", class: "fix", text: `Write ${word}` });
    button.addEventListener("click", () => editor.fix(span, word));
    item.append(button);
  }
  return item;
}

// The nodes that problems are about: named in them, or the talker of a stream that they are about.
function concerned(problems, drawing) {
  const found = new Map();
  const streams = new Map(drawing.streams.map((one) => [one.name, one]));
  const nodes = new Set(drawing.nodes.map((one) => one.name));
  for (const one of problems) {
    const parts = one.path.split(/[.[\]]|\s*->\s*|\s+/);
    const named = [...parts, ...String(one.found).split(/[\s,]+/)].filter((part) => nodes.has(part));
    const stream = parts[0] === "streams" ? streams.get(parts[1]) : undefined;
    const own = named.length || !stream ? new Set(named) : new Set([drawing.nodes[stream.talker].name]);
    for (const node of own) found.set(node, (found.get(node) ?? 0) + 1);
  }
  return found;
}

const moved = (start, byNs, edge) => edit({ edit: "move-edge", at: start, by_ns: byNs }, `[data-edge="${CSS.escape(edge)}"]`);

// The end of a stream's entry: where a line begins that is not deeper than its key.
function end(start) {
  const text = editor.text;
  const line = text.lastIndexOf("\n", start - 1) + 1;
  const indent = /^ */.exec(text.slice(line))[0].length;
  let at = text.indexOf("\n", start);
  while (at >= 0 && at + 1 < text.length) {
    const next = /^ */.exec(text.slice(at + 1, at + 200))[0].length;
    if (next <= indent) return at;
    at = text.indexOf("\n", at + 1);
  }
  return text.length;
}

const GENERATED = {
  generator: "Made by a generator or a table: change it in the text.",
  parameter: "Made by a parameter of a sweep: change it in the text.",
};

function choose(chosen) {
  inspector(chosen);
  if (!chosen) return editor.choose(null);
  const one = part(chosen);
  if (network.fresh !== editor.text || !one.at) return editor.choose(null);
  editor.choose(one.at);
  editor.reveal(one.at[0], one.at[1], false);
  return undefined;
}

const chosenStream = () => (network.chosen?.kind === "stream" ? part(network.chosen).name : "");

const part = ({ kind, number }) => network.data[LISTS[kind]][number];

// A part that the text only names becomes text of its own.
function writeOut(label, wanted) {
  const button = make("button", { type: "button", text: label });
  button.addEventListener("click", () => edit(wanted));
  return button;
}

function inspector(chosen) {
  live.choose(chosen?.kind === "stream" ? chosen.number : -1);
  at("chosen").hidden = !chosen;
  if (!chosen) return;
  if (port.choose(chosen, network.data)) live.ask(open.name, editor.text);
  const one = part(chosen);
  const names = network.data.nodes;
  const title = chosen.kind === "link" ? `link ${names[one.a].name} -- ${names[one.b].name}`
    : chosen.kind === "stream" ? `stream ${one.name}: ${names[one.talker].name} to ${one.listeners.map((n) => names[n].name).join(", ")}`
      : `${one.kind} ${one.name}`;
  const parts = [make("strong", { text: title })];
  if (one.made) parts.push(make("span", { class: "soft", text: GENERATED[one.made] }));
  if (one.made === "generator" && chosen.kind !== "stream") {
    parts.push(writeOut("Expand the generator", { edit: "write-out-network" }));
  }
  if (one.pattern) {
    parts.push(make("span", { class: "soft", text: `Its pattern is ${one.pattern} of the catalogue.` }));
    parts.push(writeOut("Expand the pattern", { edit: "write-out-pattern", stream: one.name }));
  }
  if (one.at) {
    const go = make("button", { type: "button", text: "Go to the text" });
    go.addEventListener("click", () => editor.reveal(one.at[0], one.at[1]));
    parts.push(go);
  }
  if (chosen.kind === "node" && !one.made) {
    const field = make("input", { size: 12, value: one.name, "aria-label": "New name", id: "rename-to" });
    const button = make("button", { type: "button", text: "Rename" });
    const rename = () => field.value !== one.name && edit({ edit: "rename", from: one.name, to: field.value.trim() });
    button.addEventListener("click", rename);
    field.addEventListener("keydown", (event) => event.key === "Enter" && !event.ctrlKey && rename());
    parts.push(field, button);
  }
  if (one.at && !one.made) {
    const away = make("button", { type: "button", text: "Remove" });
    away.addEventListener("click", () => edit({ edit: "remove", at: one.at[0] }));
    parts.push(away);
  }
  if (chosen.kind === "stream") parts.push(requirements.form(one, edit));
  at("chosen").replaceChildren(...parts);
}
