// The page of tsnbench cnc: what the service answers, as text; nothing of a client becomes markup.
import { Network } from "./network.js";

const MOST = 200;
const PAUSE_MS = 2000;
const part = (id) => document.getElementById(id);
let token = "";
let shown = ""; // which network the streams and the drawing are of
let names = []; // the streams of the drawing
const unused = () => {};
const network = new Network(part("network"), { chose: mark, linked: unused, moved: unused, edited: unused });

async function ask(path) {
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const answer = await fetch(path, { headers });
  if (answer.ok) return answer.json();
  if (answer.status === 401) throw Object.assign(new Error("A token is needed."), { access: true });
  // Every client may read: one that may not is none, such as a certificate that names nobody.
  if (answer.status === 403) throw Object.assign(new Error((await answer.json()).detail), { access: true });
  throw new Error(`No answer: ${path}: ${answer.status}`);
}

function time(ns) {
  if (ns === null) return "–";
  const [worth, unit] = Math.abs(ns) >= 1e6 ? [1e6, "ms"] : Math.abs(ns) >= 1e3 ? [1e3, "us"] : [1, "ns"];
  return `${Number((ns / worth).toFixed(3))} ${unit}`;
}

const rate = (bps) => `${Number((bps / 1e6).toFixed(3))} Mbit/s`;

function row(cells, numbers) {
  const made = document.createElement("tr");
  for (const [place, cell] of cells.entries()) {
    const one = document.createElement("td");
    if (cell instanceof Node) one.append(cell);
    else one.textContent = cell;
    if (numbers.includes(place)) one.className = "number";
    made.append(one);
  }
  return made;
}

function share(value) {
  const made = document.createElement("progress");
  made.max = 1;
  made.value = value;
  made.setAttribute("aria-label", `${(100 * value).toFixed(1)} %`);
  return made;
}

function kept(margin) {
  const made = document.createElement("span");
  made.textContent = margin === null ? "no limit" : margin < 0 ? "may be broken" : "kept";
  made.className = margin === null ? "soft" : margin < 0 ? "bad" : "good";
  return made;
}

// The name of a stream as a button that shows its path.
function named(flow) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = flow.flow;
  made.setAttribute("aria-label", `Path of ${flow.flow}`);
  return made;
}

function streamRows(flows) {
  return flows.flatMap((flow) => flow.listeners.map((end) => {
    const made = row([
      named(flow), flow.client || "scenario", flow.talker, end.node, flow.scheduled ? "scheduled" : "bounded",
      time(flow.offset_ns), time(end.upper_ns), time(end.release_upper_ns), time(end.margin_ns), kept(end.margin_ns),
    ], [5, 6, 7, 8]);
    const number = () => names.indexOf(flow.stream);
    made.dataset.stream = flow.stream;
    made.addEventListener("click", () => network.choose(number() < 0 ? null : { kind: "stream", number: number() }));
    made.addEventListener("pointerenter", () => network.pointAt(number()));
    made.addEventListener("pointerleave", () => network.pointAt(-1));
    return made;
  }));
}

// The rows of the chosen stream.
function mark(chosen) {
  const name = chosen?.kind === "stream" ? names[chosen.number] : null;
  for (const one of part("streams").children) one.classList.toggle("chosen", name !== null && one.dataset.stream === name);
}

async function showStreams() {
  const [{ streams }, found] = await Promise.all([ask("/api/streams"), ask("/api/drawing")]);
  network.pointAt(-1); // the row that is pointed at may go
  names = found.streams.map((one) => one.name);
  network.show(found, new Map());
  network.setLoads(found.ports);
  const focused = document.activeElement?.closest("#streams tr")?.dataset.stream;
  part("streams").replaceChildren(...streamRows(streams.slice(-MOST)));
  mark(network.chosen);
  if (focused) [...part("streams").children].find((one) => one.dataset.stream === focused)?.querySelector("button").focus();
}

// An instant of TAI, in ns.
const instant = (ns) => `${new Date(ns / 1e6).toISOString().replace("Z", "")} TAI`;

function linkRows(links) {
  const used = links.map((link) => ({ ...link, share: link.load_bps / link.rate_bps })).filter((link) => link.share > 0);
  used.sort((one, other) => other.share - one.share);
  return used.map((link) => row([link.port, rate(link.rate_bps), rate(link.load_bps), share(link.share)], [1, 2]));
}

function line(text, kind = "") {
  const made = document.createElement("p");
  made.textContent = text;
  made.className = kind;
  return made;
}

function decisionItem(one) {
  const made = document.createElement("li");
  const names = [...Object.keys(one.change.add).map((name) => `+${name}`), ...one.change.remove.map((name) => `−${name}`), ...(one.change.tidy ?? []).map((name) => `~${name}`), ...(one.change.devices ? ["devices"] : [])];
  const said = document.createElement("strong");
  said.textContent = one.outcome === "accepted" ? "accepted" : `not accepted (${one.outcome})`;
  said.className = one.outcome === "accepted" ? "good" : "bad";
  made.append(`${one.number}  ${one.at}  ${one.client}  ${names.join(" ")}: `, said);
  for (const why of one.reasons) {
    made.append(line(`${why.path}: expected ${why.expected}, found ${why.found}`));
    if (why.hint) made.append(line(why.hint, "soft"));
  }
  const only = (one.together ?? []).filter((other) => other.only_together).map((other) => `${other.number} (${other.streams.join(" ")})`);
  if (only.length) made.append(line(`planned at once with others; one after the other, without room: ${only.join(", ")}`, "soft"));
  return made;
}

function deniedRows(denied) {
  return denied.map((one) => {
    const who = `${one.client || "no client"} at ${one.address}`;
    return row([one.at, who, one.asked, String(one.count), String(one.status), one.why], [3]);
  });
}

// Only who may change the streams of others may read it; requests of all others would be in it themselves.
async function showDenied(scope) {
  const may = scope === "all" || scope === "devices";
  part("of-denied").parentElement.hidden = !may;
  if (may) part("denied").replaceChildren(...deniedRows((await ask("/api/denied")).denied));
}

async function show() {
  const [now, decisions] = await Promise.all([ask("/api/network"), ask("/api/decisions")]);
  part("access").hidden = true;
  part("name").textContent = now.name;
  const since = now.in_force_ns === null ? "" : `; gate control lists in force from ${instant(now.in_force_ns)}`;
  part("status").textContent = `${now.requested} requested streams, ${now.flows} flows; Plan ${now.plan.slice(0, 12)}${since}`;
  const found = `${now.changes} ${now.plan}`;
  if (found !== shown) await showStreams();
  shown = found;
  part("links").replaceChildren(...linkRows(now.links).slice(0, MOST));
  part("decisions").replaceChildren(...decisions.decisions.map(decisionItem));
  await showDenied(now.scope);
}

async function follow() {
  try {
    await show();
  } catch (error) {
    part("access").hidden = !error.access;
    part("status").textContent = error.message;
    if (error.access) return;
  }
  setTimeout(follow, PAUSE_MS);
}

part("access").addEventListener("submit", (event) => {
  event.preventDefault();
  token = part("token").value;
  follow();
});
follow();
