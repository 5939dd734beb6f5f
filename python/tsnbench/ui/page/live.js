// What is known of a text while it is typed: worst cases against limits beside the streams, and the load of links.
import { all, at, colour, make, measured, time, url } from "./dom.js";
import * as port from "./port.js";
import * as why from "./why.js";

const MOST_ROWS = 200; // streams in the list; the others are counted
const TOGETHER_MS = 2000; // edits with shorter pauses are one: the ghost is what was before them
const SLOW_MS = 1000;

let shown = null; // the last answer with a Plan
let before = new Map(); // by stream, what it was before the last edits
let edited = 0; // when the text was last sent
let pause = 0; // ms before a text whose Plan takes long is sent
let asked = 0;
let waiting = null; // aborts the last request
let timer = 0;
/** @type {(ports: any[]) => void} */
let loads = () => {}; // draws the loads of the ports

let seen = new Map(); // by stream, listener and requirement, what the last simulation measured
let sent = null; // the name and the text that the bars are of

export function start(drawLoads) {
  loads = drawLoads;
  at("simulates").addEventListener("change", () => (at("simulates").checked ? simulate().catch(failed) : forget()));
}

function forget(words = "", kind = "soft") {
  seen = new Map();
  at("simulated").textContent = words;
  at("simulated").className = kind;
  bars();
}

// What a simulation of the text says; the one of an older text is dropped.
async function simulate() {
  if (!at("simulates").checked || !sent) return;
  const own = sent;
  const answer = await fetch(url("simulate", own.name), { method: "POST", body: own.text, signal: waiting.signal });
  if (answer.status !== 200 || own !== sent || !at("simulates").checked) return;
  const found = await answer.json();
  if (own !== sent) return;
  if (found.reason) return forget(found.reason);
  seen = new Map(found.rows.map((one) => [key(one.stream, one), one]));
  at("simulated").textContent = found.line;
  at("simulated").className = found.line.startsWith("ALL MET (PROVED)") ? "good" : found.rows.some((one) => one.met !== "yes") ? "bad" : "";
  bars();
}

const key = (stream, { listener, requirement }) => [stream, listener, requirement].join("\n");

export function reset() {
  asked += 1;
  clearTimeout(timer);
  waiting?.abort();
  [shown, before, edited, pause] = [null, new Map(), 0, 0];
  sent = null;
  forget();
  port.reset();
  why.choose("");
  tell(null);
}

export function ask(name, text) {
  const number = ++asked;
  clearTimeout(timer);
  if (pause) timer = setTimeout(() => send(name, text, number), pause);
  else send(name, text, number);
}

let next = null; // the latest text of a slider, and what is called when its bars are drawn

// While a slider is dragged, texts are planned one after the other: each shows bars, and the latest is never left out.
export async function drag(name, text, drawn) {
  if (next !== null) {
    next = { text, drawn };
    return;
  }
  next = { text, drawn };
  while (next?.text) {
    const one = next;
    next = {};
    await send(name, one.text, ++asked);
    one.drawn();
  }
  next = null;
}

// The stream whose worst case is nearest to its limit.
export function tightest() {
  const share = ({ requirements: [row] }) => (row?.worst_case === null || !row?.limit ? -1 : row.worst_case / row.limit);
  return (shown?.streams ?? []).reduce((best, one) => (best && share(best) >= share(one) ? best : one), null)?.name ?? "";
}

// What is known of a text with another value: see `ui/live/swept.py`.
export async function judge(name, text, stream, signal) {
  const answer = await fetch(`${url("sweep", name)}?${new URLSearchParams({ stream })}`, { method: "POST", body: text, signal });
  if (answer.status === 204) throw new DOMException("a newer text came", "AbortError");
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer.json();
}

// The worst case of a stream, or without one that is closest to its limit.
export function words(stream) {
  const row = shown?.streams.find((one) => one.name === stream)?.requirements[0];
  if (!row) return shown?.line.split(", ").slice(1).join(", ") ?? "";
  const [worst, limit] = [row.worst_case === null ? "no bound" : measured(row.worst_case, row.limit_unit), measured(row.limit, row.limit_unit)];
  return `${worst} of ${limit} ${PROOFS[row.proof][1]}`;
}

async function send(name, text, number) {
  waiting?.abort();
  waiting = new AbortController();
  const began = performance.now();
  try {
    const about = new URLSearchParams({ port: port.name() });
    const answer = await fetch(`${url("live", name)}?${about}`, { method: "POST", body: text, signal: waiting.signal });
    if (number !== asked || answer.status !== 200) return;
    const found = await answer.json();
    // An answer to an older text is of no use.
    if (number !== asked) return;
    const took = performance.now() - began;
    pause = took > SLOW_MS ? SLOW_MS : 0;
    sent = { name, text };
    show(found, took);
    if (!found.reason) why.ask(name, text);
    if (!found.reason) await simulate();
    else forget();
  } catch (error) {
    failed(error);
  }
}

// A request that a newer one has ended is no failure.
function failed(error) {
  if (error.name !== "AbortError") tell({ reason: error.message, line: "" });
}

function show(found, took) {
  if (!found.reason) {
    if (shown && performance.now() - edited > TOGETHER_MS) mark();
    if (shown) edited = performance.now();
    shown = found;
    bars();
    loads(found.ports);
    port.show(found, listed.names);
  }
  tell(found, took);
  at("legend").dataset.live = String(asked);
}

// What follows is compared with what is shown now.
export function mark() {
  before = new Map((shown?.streams ?? []).map((one) => [one.name, one]));
  edited = performance.now();
}

function tell(found, took = 0) {
  const host = at("live-said");
  const none = Boolean(found?.reason);
  at("drawing").classList.toggle("stale", none && shown !== null);
  host.hidden = !found;
  if (!found) return;
  const kept = found.line?.startsWith("WORST CASE KEEPS");
  host.className = none || found.line.startsWith("WORST CASE BEYOND") ? "bad" : kept ? "good" : "";
  const words = none ? `No Plan: ${found.reason}.${shown ? " Below is the last Plan." : ""}` : found.line;
  host.replaceChildren(make("span", { class: "sign", "aria-hidden": "true", text: none || host.className === "bad" ? "✕" : kept ? "✓" : "?" }),
    ` ${words} `, make("span", { class: "soft", text: none ? "" : `(${Math.round(took)} ms)` }));
}

let rows = new Map(); // by stream, the parts of its row
let listed = { key: "", names: [] }; // what the rows were made of

// The streams of a drawing, each with a row; a row that has the focus keeps it while its numbers change.
export function list(drawing, choose, point) {
  const few = drawing.streams.length <= 8;
  const some = drawing.streams.slice(0, MOST_ROWS);
  const key = JSON.stringify([few, drawing.streams.length + drawing.more_streams, some.map(({ name, count }) => [name, count])]);
  if (key === listed.key) return;
  listed = { key, names: drawing.streams.map(({ name }) => name) };
  rows = new Map();
  const items = some.map((stream, number) => {
    const label = `${stream.name}${stream.count > 1 ? ` × ${stream.count}` : ""}`;
    const button = make("button", { type: "button", "data-legend": number, title: label }, label);
    if (few) {
      const mark = make("span", { class: "mark-colour" });
      mark.style.background = colour(number);
      button.prepend(mark);
    }
    button.addEventListener("click", () => choose(number));
    const result = make("div", { class: "result", onclick: () => choose(number) });
    rows.set(stream.name, result);
    return make("li", { "data-row": number, onpointerenter: () => point(number), onpointerleave: () => point(-1) }, button, result);
  });
  const hidden = drawing.streams.length + drawing.more_streams - items.length;
  if (hidden > 0) items.push(make("li", { text: `and ${hidden} more` }));
  at("legend").replaceChildren(...items);
  bars();
}

// The row of the chosen stream is marked; -1: none is chosen.
export function choose(number) {
  for (const one of all("[data-row]", at("legend"))) one.classList.toggle("current", one.dataset.row === String(number));
  if (why.choose(listed.names[number] ?? "") && sent && shown) why.ask(sent.name, sent.text);
}

function bars() {
  for (const one of shown?.streams ?? []) {
    const host = rows.get(one.name);
    if (!host) continue;
    const made = JSON.stringify([one, before.get(one.name), one.requirements.map((row) => seen.get(key(one.name, row)))]);
    if (host.made === made) continue;
    host.made = made;
    host.replaceChildren(...result(one, before.get(one.name)).filter(Boolean));
  }
}

const PROOFS = { proved: ["ok", "✓ proved"], beyond: ["no", "✕ beyond"], none: ["q", "? no bound"] };

// The requirement that is nearest to its limit, or breaks it.
function result(one, old) {
  const row = one.requirements[0];
  if (!row) {
    const words = one.upper_ns === null ? "no bound" : `at most ${time(one.upper_ns)}`;
    const same = !old || old.upper_ns === one.upper_ns;
    return [make("span", { class: "value", text: words }), was(same ? null : `${time(old.upper_ns)}`),
      make("span", { class: "tag", text: "no limit" }), because(one.upper_ns === null ? one.reason : "")];
  }
  const former = old?.requirements.find((other) => other.requirement === row.requirement && other.listener === row.listener);
  const changed = former && (former.worst_case !== row.worst_case || former.limit !== row.limit);
  const worst = row.worst_case === null ? "no bound" : measured(row.worst_case, row.limit_unit);
  const limit = measured(row.limit, row.limit_unit);
  const [kind, words] = PROOFS[row.proof];
  const what = row.requirement === "delay" ? "" : `${row.requirement}: `;
  const reason = row.proof === "beyond" ? `${measured(-row.worst_case_margin, row.limit_unit)} too much at ${row.listener}`
    : row.worst_case_reason ?? (row.proof_condition ? `if ${row.proof_condition}` : "");
  const found = seen.get(key(one.name, row));
  return [bar(row, found, changed ? former : null, `${one.name}: ${row.requirement} at ${row.listener}, worst case ${worst}, limit ${limit}`),
    make("span", { class: "value", text: `${what}${worst} of ${limit}` }),
    was(changed ? (former.worst_case === null ? "no bound" : measured(former.worst_case, row.limit_unit)) : null),
    make("span", { class: `tag ${kind}`, text: words }), because(reason)];
}

const was = (words) => (words === null ? null : make("span", { class: "was soft", text: `was ${words}` }));
const because = (words) => (words ? make("small", { class: "why", text: words }) : null);

function bar(row, found, former, label) {
  const longest = found && found.found !== null ? `, simulated ${measured(found.found, row.limit_unit)}` : "";
  const host = make("div", { class: "worst-bar", role: "img", "aria-label": label + longest, title: label + longest });
  const part = (kind, place, along) => {
    if (place === null || place === undefined) return;
    const own = make("span", { class: kind });
    own.style[along] = `${100 * place}%`;
    host.append(own);
  };
  part("ghost", former?.bar.worst_case, "width");
  part(row.proof === "beyond" ? "length over" : "length", row.bar.worst_case, "width");
  if (found) part("seen", found.place, "left");
  part("limit", row.bar.limit, "left");
  return host;
}
