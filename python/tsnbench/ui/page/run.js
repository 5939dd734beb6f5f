// The view of one run: requirements on one line each, delays over time, their distribution, ports over time, and
// why a frame waited. All charts show the same window; the server computes it, so a long run is as fast as a short one.
import { at, colour, distance, get, make, measured, quoted, requirementBar, theme, time, url } from "./dom.js";
import { Boxes, toggles } from "./boxes.js";
import { empty, toRuns } from "./lists.js";
import { ofRun } from "./merge.js";
import { files, hover, paper } from "./paper.js";

const LANE = 22;
const LEFT = 170;
const RIGHT = 12;
let run = null; // the facts of the run that is shown
let state = null; // what the address says: stream, listener, window, instant, frame
let loading = 0;
let soon = 0; // a timer: the window is read when it stays
let shown = {}; // the data of the charts
let canvases = {};
let boxes = null; // the chart of all streams
const hidden = new Set(); // streams that the chart of the ports leaves out

const host = () => at("view-run");
const address = () => {
  /** @type {Record<string, string | number>} */
  const parts = { run: run.folder, ...(state.stream ? { stream: state.stream, to: state.listener } : {}) };
  if (state.from !== null) Object.assign(parts, { from: state.from, until: state.until });
  if (state.t !== null) parts.t = state.t;
  if (state.frame) parts.frame = state.frame;
  return `#${query(parts)}`;
};
const query = (parts) => new URLSearchParams(Object.entries(parts).map(([name, value]) => [name, String(value)]));
const remember = () => history.replaceState(null, "", address());
const whole = (text) => (text !== null && /^-?\d{1,16}$/.test(text) ? Number(text) : null);

export async function show(parts) {
  const folder = parts.get("run");
  if (!folder) {
    const button = toRuns(1, "Open the newest run", ([newest]) => `#${new URLSearchParams({ run: newest })}`);
    empty(host(), "Choose a run", "Its charts: each requirement, delays over time, frames at each port, and why a frame waited.", ...button);
    run = null;
    return;
  }
  if (run?.folder !== folder) {
    // Answers for the run before come too late: its charts are not there any more.
    const number = ++loading;
    run = null;
    host().replaceChildren(make("p", { text: `Reading ${folder} …` }));
    let found;
    try {
      found = await get(url("facts", folder));
    } catch (error) {
      if (number === loading) host().replaceChildren(make("h2", { text: folder }), make("p", { class: "bad", text: error.message }));
      return;
    }
    if (number !== loading) return;
    run = found;
    shown = {};
    build();
  }
  const first = run.streams[0];
  state = {
    stream: parts.get("stream") ?? first?.stream ?? "", listener: parts.get("to") ?? first?.listener ?? "",
    from: whole(parts.get("from")), until: whole(parts.get("until")), t: whole(parts.get("t")), frame: parts.get("frame") ?? "",
  };
  at("stream").value = `${state.stream}\t${state.listener}`;
  await load();
}

function build() {
  const links = [];
  if (run.now && run.kept) links.push(make("a", { href: ofRun(run), text: "compare with today's text" }));
  else links.push(make("span", { class: "soft", text: run.kept ? "its scenario is not in this folder" : "this run folder keeps no text of its scenario, or an edited one" }));
  if (run.report) links.push(make("a", { href: url("report", run.folder), text: "report" }));
  if (!run.no_replay) links.push(make("a", { href: url("replay", run.folder), text: "replay" }));
  for (const name of run.no_replay ? [] : run.lessons) {
    const lesson = `${url("replay", run.folder)}?lesson=${encodeURIComponent(name)}`;
    links.push(make("a", { href: lesson, text: `replay with ${name}`, title: `tsnbench replay ${quoted(run.folder)} --output page.html --lesson ${quoted(name)}` }));
  }
  const choice = make("select", { id: "stream" }, ...run.streams.map((one) => make("option", {
    value: `${one.stream}\t${one.listener}`, text: `${one.stream} to ${one.listener}`,
  })));
  choice.addEventListener("change", () => {
    [state.stream, state.listener] = choice.value.split("\t");
    state.frame = "";
    load();
  });
  const worst = make("button", { type: "button", text: "Slowest frame of the run" });
  worst.addEventListener("click", slowest);
  const all = make("button", { type: "button", text: "Whole run" });
  all.addEventListener("click", () => { Object.assign(state, { from: null, until: null, worst: false }); load(); });
  const tools = make("div", { class: "bar tools" }, make("span", {}, make("label", { text: "Stream " }, choice), all, worst),
    make("span", { id: "window", class: "soft" }));
  const good = run.verdict.startsWith("ALL MET (PROVED)") && !run.verdict.includes(" lost");
  canvases = {};
  hidden.clear();
  boxes = new Boxes(() => run.folder.split("/").at(-1));
  const own = run;
  get(url("boxes", run.folder)).then((found) => { if (run === own) boxes.show(found, own.streams); }).catch(() => {});
  host().replaceChildren(
    make("div", { class: "bar" }, make("h2", { text: `${run.name}: ${run.folder}` }), make("span", {}, ...links)),
    make("p", { class: good ? "good" : run.met === false ? "bad" : "", text: `${run.verdict} (${run.backend}, ${run.state})` }),
    ...requirements(), tools,
    pane("delay", "Delay over time", "Filled: least to greatest delay of each column. Dotted: worst case. Red: limit. Click: choose a frame. Drag: zoom."),
    pane("gantt", "Ports over time", "Filled: a frame leaves. Thin line: it waits. Grey: the gate is closed. Grey line: another gate list. Outline: planned frame."),
    make("section", { "aria-label": "Why this frame waited" }, make("h3", { text: "Why this frame waited" }), make("div", { id: "why", "aria-live": "polite" })),
    boxes.host,
    pane("ccdf", "Share of frames with a greater delay", "Logarithmic. Dotted: worst case. Red: limit."),
    make("p", {}, "Equivalent commands: ", make("code", { id: "run-command" })),
    make("p", { class: "soft", text: "Keys on a chart: arrows move the window, + and - zoom, Home shows the whole run. The address of the page leads to this window and frame." }),
  );
}

function slowest() {
  Object.assign(state, { from: null, until: null, frame: "", t: null, worst: true });
  load();
}

function pane(name, title, hint) {
  const canvas = make("canvas", { id: `chart-${name}`, role: "img", tabindex: "0", "aria-label": title });
  canvases[name] = canvas;
  if (name !== "ccdf") handle(canvas);
  const { redraw, table, words } = CHARTS[name];
  const tools = files(canvas, { name: () => `${run.folder.split("/").at(-1)}-${name}`, redraw, table });
  return make("section", { "aria-label": title }, make("div", { class: "bar" }, make("h3", { text: title }), tools), make("p", { class: "soft hint", text: hint }),
    name === "gantt" ? make("div", { id: "lanes-of", class: "toggles", role: "group", "aria-label": "Streams of the ports" }) : null, canvas, hover(canvas, words));
}

function requirements() {
  if (!run.requirements.length) return [];
  const rows = run.requirements.slice(0, 60).map((one) => {
    return make("tr", {}, make("td", { text: `${one.stream} to ${one.listener}` }), make("td", { text: one.requirement }),
      make("td", { class: "wide-cell" }, requirementBar(one)), make("td", { class: "n", text: measured(one.found, one.unit) }),
      make("td", { class: "n", text: measured(one.worst_case, one.unit) }), make("td", { class: "n", text: measured(one.limit, one.unit) }),
      make("td", { text: one.words }));
  });
  const head = ["stream", "requirement", "found | worst case ¦ limit", "found", "worst case", "limit", "met"];
  const table = make("table", { class: "requirements" }, make("thead", {}, make("tr", {}, ...head.map((text) => make("th", { text, scope: "col" })))),
    make("tbody", {}, ...rows));
  return [make("div", { class: "scrolled", tabindex: "0", role: "group", "aria-label": "Requirements" }, table)];
}

const facts = () => run.streams.find((one) => one.stream === state.stream && one.listener === state.listener);

async function load() {
  // Another run is being read: its charts are loaded when they are there.
  if (!run) return;
  const number = ++loading;
  const { stream, listener } = state;
  remember();
  host().dataset.loading = "yes";
  const columns = Math.max(100, Math.round(canvases.delay.clientWidth - LEFT - RIGHT));
  const wanted = (own) => query({ ...own, columns, ...(state.from === null ? {} : { from: Math.round(state.from), until: Math.round(state.until) }) });
  const mine = () => number === loading;
  const failed = (name) => (error) => { if (mine()) shown[name] = { problem: error.message }; };
  const jobs = [];
  if (stream) {
    jobs.push(get(`${url("delays", run.folder)}?${wanted({ stream, listener })}`).then((found) => { if (mine()) shown.delay = found; }).catch(failed("delay")));
    if (shown.of !== `${stream}\t${listener}`) {
      jobs.push(get(`${url("distribution", run.folder)}?${new URLSearchParams({ stream, listener })}`)
        .then((found) => { if (mine()) { shown.ccdf = found; shown.of = `${stream}\t${listener}`; } }).catch(failed("ccdf")));
    }
  }
  await Promise.all(jobs);
  if (!mine()) return;
  // The whole run is the window in which the charts begin, unless the slowest frame is wanted.
  if (state.from === null && !state.worst && shown.delay && !shown.delay.problem) {
    Object.assign(shown, { whole: [shown.delay.from_ns, shown.delay.until_ns] });
  }
  drawAll();
  if (run.no_replay) shown.gantt = { problem: run.no_replay };
  else {
    if (!shown.gantt) shown.gantt = { problem: "The run is simulated again, with all ports observed …" };
    drawGantt();
    const own = state.from === null && !state.worst && shown.whole
      ? query({ columns, from: shown.whole[0], until: shown.whole[1] }) : wanted({});
    if (state.frame) own.set("frame", state.frame);
    await get(`${url("gantt", run.folder)}?${own}`).then((found) => { if (mine()) shown.gantt = found; }).catch(failed("gantt"));
    if (!mine()) return;
    if (state.worst && !shown.gantt.problem) {
      state.worst = false;
      Object.assign(state, { from: shown.gantt.begin_ns, until: shown.gantt.begin_ns + shown.gantt.length_ns, frame: shown.gantt.frame });
      const path = shown.gantt.path[0];
      Object.assign(state, { stream: path.stream, listener: path.listener });
      at("stream").value = `${path.stream}\t${path.listener}`;
      await load();
      return;
    }
  }
  drawAll();
  lanes();
  why();
  host().dataset.loading = "no";
}

// The streams whose frames the chart of the ports shows: each can be hidden.
function lanes() {
  const { frames, streams } = shown.gantt ?? {};
  const numbers = [...new Set(frames?.stream ?? [])].sort((a, b) => a - b).slice(0, 40);
  at("lanes-of").replaceChildren(...toggles(numbers.map((one) => streams[one]), (name) => streams.indexOf(name), hidden, drawGantt));
}

const view = () => (state.from !== null ? [state.from, state.until] : shown.whole ?? [0, run.duration_ns]);

function look(from, until) {
  const least = 20;
  const middle = (from + until) / 2;
  if (until - from < least) [from, until] = [middle - least / 2, middle + least / 2];
  const limit = Math.max(run.duration_ns * 1.5, shown.delay?.last_ns ?? 0);
  Object.assign(state, { from: Math.max(shown.delay?.first_ns > 1e15 ? shown.delay.first_ns : 0, Math.round(from)), until: Math.min(limit, Math.round(until)) });
  drawAll();
  clearTimeout(soon);
  soon = setTimeout(load, 60);
}

function zoom(factor, around) {
  const [from, until] = view();
  const middle = around ?? (state.t !== null && state.t >= from && state.t <= until ? state.t : (from + until) / 2);
  look(middle - (middle - from) * factor, middle + (until - middle) * factor);
}

function handle(canvas) {
  let held = null;
  const instant = (event) => {
    const box = canvas.getBoundingClientRect();
    const [from, until] = view();
    return from + ((event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT)) * (until - from);
  };
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoom(event.deltaY > 0 ? 1.3 : 1 / 1.3, instant(event)); }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => { held = { x: event.clientX, at: instant(event), view: view() }; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    if (!held || Math.abs(event.clientX - held.x) < 4) return;
    shown.band = [held.at, instant(event)];
    drawAll();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (!held) return;
    const [a, b] = [held.at, instant(event)];
    const clicked = Math.abs(event.clientX - held.x) < 4;
    held = null;
    shown.band = null;
    if (clicked) pick(canvas, event, b);
    else look(Math.min(a, b), Math.max(a, b));
  });
  canvas.addEventListener("dblclick", () => { Object.assign(state, { from: null, until: null }); load(); });
  canvas.addEventListener("keydown", (event) => {
    const [from, until] = view();
    const step = (until - from) / 5;
    const actions = {
      ArrowLeft: () => look(from - step, until - step), ArrowRight: () => look(from + step, until + step),
      "+": () => zoom(0.5), "-": () => zoom(2), Home: () => { Object.assign(state, { from: null, until: null }); load(); },
    };
    if (event.key in actions) { event.preventDefault(); actions[event.key](); }
  });
}

function pick(canvas, event, instant) {
  state.t = Math.round(instant);
  if (canvas === canvases.delay) {
    const { t, seq } = shown.delay ?? {};
    if (!t?.length) return;
    const best = t.reduce((nearest, one, n) => (Math.abs(one - instant) < Math.abs(t[nearest] - instant) ? n : nearest), 0);
    state.frame = `${state.stream}/${seq[best]}`;
    state.t = t[best];
  } else {
    const found = frameAt(event, instant);
    if (!found) { remember(); return drawAll(); }
    state.frame = found;
  }
  return load();
}

function frameAt(event, instant) {
  const { frames, streams } = shown.gantt ?? {};
  const found = frameIn(Math.floor((event.clientY - canvases.gantt.getBoundingClientRect().top) / LANE), instant);
  return found < 0 ? "" : `${streams[frames.stream[found]]}/${frames.seq[found]}`;
}

// The number of the frame that is in a row at an instant; -1: none.
function frameIn(row, instant) {
  const gantt = shown.gantt;
  if (!gantt?.frames?.port.length) return -1;
  const lane = lanesOf(gantt)[row];
  const { port, start, end, queued } = gantt.frames;
  const relative = instant - gantt.begin_ns;
  const [from, until] = view();
  const slack = ((until - from) / canvases.gantt.clientWidth) * 3;
  let found = -1;
  port.forEach((one, i) => {
    if (one * 8 + gantt.frames.class[i] !== lane || hidden.has(gantt.streams[gantt.frames.stream[i]])) return;
    if (start[i] - slack <= relative && relative <= end[i] + slack) found = i;
    else if (found < 0 && queued[i] <= relative && relative < start[i]) found = i;
  });
  return found;
}

const pen = (name, height) => paper(canvases[name], height);

function drawAll() {
  if (!run || at("view-run").hidden) return;
  drawDelay();
  drawGantt();
  drawCcdf();
  boxes.draw();
  const [from, until] = view();
  at("window").textContent = `${instant(from)} to ${instant(until)}: ${time(until - from)}`;
  const folder = quoted(run.folder);
  const frame = state.frame ? ` --frame ${quoted(state.frame)}` : "";
  const html = state.from === null ? "" : `; tsnbench replay ${folder} --output page.html --from ${Math.round(from)}ns --to ${Math.round(until)}ns`;
  at("run-command").textContent = run.no_replay ? `tsnbench report ${folder}` : `tsnbench report ${folder}; tsnbench replay ${folder}${frame}${html}`;
}

// Of each chart: how it is drawn, its numbers as rows, and words for a place.
const CHARTS = {
  delay: {
    redraw: () => drawDelay(),
    table: () => [["sent_ns", "least_ns", "greatest_ns", "seq"], ...(shown.delay?.t ?? []).map((t, n) => [t, shown.delay.low[n], shown.delay.high[n], shown.delay.seq[n]])],
    words: (x) => {
      const { t, low, high, seq, single } = shown.delay ?? {};
      if (!t?.length || x < LEFT) return null;
      const at = placeOf(x);
      const n = t.reduce((best, one, place) => (Math.abs(one - at) < Math.abs(t[best] - at) ? place : best), 0);
      return `${instant(t[n])}, frame ${seq[n]}: ${single ? time(high[n]) : `${time(low[n])} to ${time(high[n])}`}`;
    },
  },
  gantt: {
    redraw: () => drawGantt(),
    table: () => {
      const { frames, ports, streams, begin_ns: begin, length_ns: length, lanes: occupied } = shown.gantt ?? {};
      if (occupied) {
        return [["port", "class", "from_ns", "share_busy", "most_waiting"], ...occupied.flatMap((lane) => lane.busy.map((busy, n) =>
          [ports[lane.port].name, lane.class, Math.round(begin + (n * length) / lane.busy.length), busy, lane.waiting[n]]))];
      }
      const rows = frames?.port.map((port, i) => [ports[port].name, frames.class[i], streams[frames.stream[i]], frames.seq[i], begin + frames.queued[i], begin + frames.start[i], begin + frames.end[i]]);
      return [["port", "class", "stream", "seq", "queued_ns", "start_ns", "end_ns"], ...(rows ?? [])];
    },
    words: (x, y) => {
      const found = x < LEFT ? -1 : frameIn(Math.floor(y / LANE), placeOf(x));
      if (found < 0) return null;
      const { frames, streams } = shown.gantt;
      return `${streams[frames.stream[found]]}/${frames.seq[found]}: waited ${time(frames.start[found] - frames.queued[found])}, ${time(frames.end[found] - frames.start[found])} on the wire`;
    },
  },
  ccdf: {
    redraw: () => drawCcdf(),
    table: () => [["delay_us", "share_greater"], ...(shown.ccdf?.x ?? []).map((x, n) => [x, shown.ccdf.y[n]])],
    words: (x) => {
      const { x: values, y: shares, scale } = shown.ccdf ?? {};
      if (!values?.length || !scale || x < LEFT) return null;
      const delay = scale(x) / 1000;
      const n = values.findLastIndex((one) => one <= delay);
      return `${time(1000 * delay, 1)}: ${n < 0 ? "all" : `${Number((100 * shares[n]).toPrecision(3))} %`} of the frames take longer`;
    },
  },
};

// The instant at a place of a chart over time.
const placeOf = (x) => {
  const [from, until] = view();
  return from + ((x - LEFT) / (canvases.delay.clientWidth - LEFT - RIGHT)) * (until - from);
};

const instant = (ns) => `${String(Math.round(ns)).replace(/\B(?=(\d{3})+$)/g, "\u202f")} ns`;

function axis(context, x, from, until, y, width) {
  const step = distance(until - from, (width - LEFT) / 130);
  context.fillStyle = theme("--soft");
  context.textAlign = "center";
  for (let tick = Math.ceil(from / step) * step; tick <= until; tick += step) {
    if (x(tick) > width - 26) break;
    context.fillText(time(tick), x(tick), y + 16);
    context.fillRect(x(tick), y, 1, 4);
  }
}

function message(context, width, text) {
  context.fillStyle = theme("--soft");
  context.textAlign = "left";
  context.fillText(text, LEFT, 24, width - LEFT);
}

function levels(context, width, y, most) {
  const one = facts();
  for (const [value, dash, ink, label] of [[one?.bound, [2, 4], theme("--ink"), "worst case"], [one?.limit, [], theme("--cursor"), "limit"]]) {
    if (value === null || value === undefined || value > most) continue;
    context.strokeStyle = ink;
    context.fillStyle = ink;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(LEFT, y(value));
    context.lineTo(width - RIGHT, y(value));
    context.stroke();
    context.setLineDash([]);
    context.textAlign = "right";
    context.fillText(`${label} ${time(value)}`, LEFT - 6, y(value) + 4);
  }
}

function drawDelay() {
  const [context, width] = pen("delay", 210);
  const data = shown.delay;
  if (!data || data.problem) return message(context, width, data?.problem ?? "No frame was measured.");
  const [from, until] = view();
  const bottom = 180;
  const one = facts();
  const greatest = data.high.reduce((a, b) => Math.max(a, b), 1);
  const near = [one?.bound, one?.limit].filter((value) => value && value < greatest * 6);
  const most = Math.max(greatest, ...near) * 1.08;
  const least = Math.min(0, data.low.reduce((a, b) => Math.min(a, b), 0));
  const y = (value) => bottom - ((value - least) / (most - least)) * (bottom - 8);
  const scale = (width - LEFT - RIGHT) / (until - from);
  const x = (t) => LEFT + (t - from) * scale;
  levels(context, width, y, most);
  context.save();
  context.beginPath();
  context.rect(LEFT, 0, width - LEFT - RIGHT, bottom + 2);
  context.clip();
  const ink = colour(one?.number ?? 0);
  data.t.forEach((t, n) => {
    const [low, high] = [y(data.low[n]), y(data.high[n])];
    context.fillStyle = ink;
    if (data.single) context.fillRect(x(t) - 1.5, high - 1.5, 3.5, 3.5);
    else context.fillRect(x(t), high, 1.2, Math.max(1.5, low - high));
    if (data.error?.[n]) {
      context.fillStyle = theme("--soft");
      const error = Math.abs(y(0) - y(data.error[n]));
      context.fillRect(x(t), high - error, 1, 2 * error);
    }
    if (`${state.stream}/${data.seq[n]}` === state.frame) {
      context.strokeStyle = theme("--cursor");
      context.strokeRect(x(t) - 4, high - 4, 8, 8);
    }
  });
  cursor(context, x, bottom);
  context.restore();
  context.fillStyle = theme("--soft");
  context.textAlign = "right";
  context.fillText("0", LEFT - 6, y(0) + 4);
  if (near.every((value) => Math.abs(y(value) - y(greatest)) > 13)) context.fillText(time(greatest), LEFT - 6, y(greatest) + 4);
  axis(context, x, from, until, bottom, width);
  canvases.delay.setAttribute("aria-label", `Delay over time of ${state.stream} to ${state.listener}: ${data.frames} frames, greatest ${time(greatest)}, ${data.lost} lost`);
  return undefined;
}

function cursor(context, x, bottom) {
  if (shown.band) {
    context.fillStyle = "#0072b233";
    context.fillRect(x(shown.band[0]), 0, x(shown.band[1]) - x(shown.band[0]), bottom);
  }
  if (state.t === null) return;
  context.strokeStyle = theme("--cursor");
  context.beginPath();
  context.moveTo(x(state.t), 0);
  context.lineTo(x(state.t), bottom);
  context.stroke();
}

const lanesOf = (gantt) => (gantt.lanes
  ? gantt.lanes.map((lane) => lane.port * 8 + lane.class)
  : [...new Set(gantt.frames.port.map((port, i) => port * 8 + gantt.frames.class[i]))].sort((a, b) => a - b));

function drawGantt() {
  const data = shown.gantt;
  if (!data || data.problem || !data.frames) {
    const [context, width] = pen("gantt", 40);
    return message(context, width, data?.problem ?? "");
  }
  const lanes = lanesOf(data);
  const rows = new Map(lanes.map((lane, row) => [lane, row]));
  const bottom = lanes.length * LANE;
  const [context, width] = pen("gantt", bottom + 24);
  const [from, until] = view();
  const scale = (width - LEFT - RIGHT) / (until - from);
  const x = (t) => LEFT + (t - from) * scale;
  const begin = data.begin_ns;
  context.textAlign = "left";
  lanes.forEach((lane, row) => {
    const port = data.ports[Math.floor(lane / 8)];
    shut(context, port.gates, lane % 8, x, row * LANE, from, until);
    context.fillStyle = theme("--ink");
    context.fillText(`${port.name} ${lane % 8}`, 2, row * LANE + 15, LEFT - 8);
    context.fillStyle = theme("--line");
    context.fillRect(0, (row + 1) * LANE - 1, width, 1);
  });
  context.save();
  context.beginPath();
  context.rect(LEFT, 0, width - LEFT - RIGHT, bottom);
  context.clip();
  if (data.lanes) drawOccupied(context, data, x);
  else single(context, data, x, rows, begin);
  const classes = new Map();
  lanes.forEach((lane, row) => classes.set(Math.floor(lane / 8), [...(classes.get(Math.floor(lane / 8)) ?? []), row]));
  context.strokeStyle = theme("--ink");
  for (const one of data.planned) {
    // The plan says the port; the highest class of it is that of scheduled streams.
    const row = classes.get(one.port)?.at(-1);
    if (row !== undefined) context.strokeRect(x(begin + one.begin), row * LANE + 2, Math.max(1, one.length * scale), LANE - 5);
  }
  cursor(context, x, bottom);
  context.restore();
  axis(context, x, from, until, bottom, width);
  canvases.gantt.setAttribute("aria-label", `Ports over time: ${lanes.length} ports and classes, ${data.lanes ? "occupancy" : `${data.frames.port.length} frames`}`);
  return undefined;
}

function single(context, data, x, rows, begin) {
  const { port, stream, seq, queued, start, end } = data.frames;
  const row = (i) => rows.get(port[i] * 8 + data.frames.class[i]) * LANE;
  const leftOut = (i) => hidden.has(data.streams[stream[i]]);
  for (let i = 0; i < port.length; i += 1) {
    if (start[i] <= queued[i] || leftOut(i)) continue;
    context.fillStyle = colour(stream[i]);
    context.fillRect(x(begin + queued[i]), row(i) + 10, x(begin + start[i]) - x(begin + queued[i]), 2);
  }
  for (let i = 0; i < port.length; i += 1) {
    if (leftOut(i)) continue;
    const began = x(begin + start[i]);
    const long = Math.max(1, x(begin + end[i]) - began);
    context.fillStyle = colour(stream[i]);
    context.fillRect(began, row(i) + 5, long, LANE - 10);
    const label = `${data.streams[stream[i]]}/${seq[i]}`;
    if (label === state.frame) {
      context.strokeStyle = theme("--cursor");
      context.lineWidth = 2;
      context.strokeRect(began, row(i) + 4, long, LANE - 8);
      context.lineWidth = 1;
    }
    if (long > context.measureText(label).width + 6) {
      context.fillStyle = "#fff";
      context.fillText(label, began + 3, row(i) + 15);
    }
  }
}

// Above 5,000 frames: how much of each column the wire is busy, and a line where frames wait.
function drawOccupied(context, data, x) {
  const step = data.length_ns / data.lanes[0].busy.length;
  data.lanes.forEach((lane, row) => {
    lane.busy.forEach((busy, n) => {
      const left = x(data.begin_ns + n * step);
      const wide = x(data.begin_ns + (n + 1) * step) - left + 0.5;
      if (busy > 0) {
        context.fillStyle = theme("--chosen");
        const high = Math.max(1, busy * (LANE - 5));
        context.fillRect(left, (row + 1) * LANE - 2 - high, wide, high);
      }
      if (lane.waiting[n] > 0) {
        context.fillStyle = theme("--ink");
        context.fillRect(left, row * LANE + 1, wide, 1.5);
      }
    });
  });
}

// Each list of a port in its time; its spans count from multiples of its cycle, in the time of its node's clock, which
// leads true time by `ahead` at `from`, and by `rate` more per second.
function shut(context, gates, trafficClass, x, y, from, until) {
  for (const list of gates ?? []) {
    const low = Math.max(from, list.from ?? -Infinity);
    const high = Math.min(until, list.until ?? Infinity);
    if (low >= high) continue;
    if (list.from !== null && low > from) {
      context.fillStyle = theme("--soft");
      context.fillRect(x(low), y, 1, LANE - 1);
    }
    const { cycle, spans } = list;
    if (!spans || ((high - low) / cycle) * spans[trafficClass].length > 4000) continue;
    if (spans[trafficClass].length === 1 && spans[trafficClass][0][1] - spans[trafficClass][0][0] === cycle) continue;
    context.fillStyle = theme("--shut");
    const [zero, ahead, rate] = [list.from ?? 0, list.ahead ?? 0, list.rate ?? 0];
    const when = (clock) => zero + (clock - ahead - zero) / (1 + rate);
    for (let turn = Math.floor((low + ahead + (low - zero) * rate) / cycle) * cycle; when(turn) < high; turn += cycle) {
      let before = 0;
      for (const [begin, end] of [...spans[trafficClass], [cycle, cycle]]) {
        const left = Math.max(LEFT, x(Math.max(low, when(turn + before))));
        const right = x(Math.min(high, when(turn + begin)));
        if (right > left) context.fillRect(left, y, right - left, LANE - 1);
        before = end;
      }
    }
  }
}

function drawCcdf() {
  const [context, width] = pen("ccdf", 210);
  const data = shown.ccdf;
  if (!data || data.problem || !data.x.length) return message(context, width, data?.problem ?? "No frame arrived.");
  const bottom = 180;
  const one = facts();
  const greatest = data.x.at(-1) * 1000;
  const near = [one?.bound, one?.limit].filter((value) => value && value < greatest * 3);
  const from = Math.min(0, data.x[0] * 1000);
  const until = Math.max(greatest, ...near) * 1.05;
  const low = Math.log10(1 / data.frames) - 0.1;
  const y = (share) => 6 + (Math.log10(Math.max(share, 10 ** low)) / low) * (bottom - 6);
  const x = (ns) => LEFT + ((ns - from) / (until - from)) * (width - LEFT - RIGHT);
  data.scale = (px) => from + ((px - LEFT) / (width - LEFT - RIGHT)) * (until - from);
  context.strokeStyle = colour(one?.number ?? 0);
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(x(from), y(1));
  let share = 1;
  data.x.forEach((value, n) => {
    context.lineTo(x(value * 1000), y(share));
    share = data.y[n];
    context.lineTo(x(value * 1000), y(share));
  });
  context.stroke();
  context.lineWidth = 1;
  for (const [value, dash, ink] of [[one?.bound, [2, 4], theme("--ink")], [one?.limit, [], theme("--cursor")]]) {
    if (value === null || value === undefined || value > until) continue;
    context.strokeStyle = ink;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(x(value), 0);
    context.lineTo(x(value), bottom);
    context.stroke();
    context.setLineDash([]);
  }
  context.fillStyle = theme("--soft");
  context.textAlign = "right";
  for (let power = 0; power >= low; power -= 1) {
    context.fillText(power === 0 ? "1" : `10^${power}`, LEFT - 6, y(10 ** power) + 4);
    context.fillRect(LEFT - 3, y(10 ** power), 3, 1);
  }
  axis(context, x, from, until, bottom, width);
  canvases.ccdf.setAttribute("aria-label", `Distribution of the delays of ${state.stream} to ${state.listener}: ${data.frames} frames, greatest ${time(greatest)}`);
  return undefined;
}

// The parts of the frame's path; they add up to its delay.
function why() {
  const place = at("why");
  const data = shown.gantt;
  if (!data?.path?.length) return place.replaceChildren(...(data?.problem ? [make("p", { class: "soft", text: data.problem })]
    : [make("p", { class: "soft", text: "The parts of a frame's delay, hop by hop: click a frame in a chart." }), make("button", { type: "button", text: "Slowest frame of the run", onclick: slowest })]));
  const tables = data.path.map((path) => {
    const rows = path.hops.flatMap((hop) => hop.parts.slice(0, 100).map((part, n) => {
      const bar = make("span", { class: "part" });
      bar.style.width = `${(100 * part.length_ns) / path.total_ns}%`;
      bar.style.marginLeft = `${(100 * (part.begin_ns - path.handed_ns)) / path.total_ns}%`;
      return make("tr", {}, make("td", { text: n ? "" : hop.port }),
        make("td", { text: part.stream ? `${part.reason}: ${part.stream}` : part.reason }),
        make("td", { class: "n", text: time(part.length_ns) }),
        ...(path.clocks ? [make("td", { class: "n", text: `${part.begin_clock_ns.toLocaleString("en").replaceAll(",", "\u202f")} ns` })] : []),
        make("td", { class: "wide-cell" }, bar));
    }));
    const sum = path.hops.reduce((all, hop) => all + hop.parts.reduce((own, part) => own + part.length_ns, 0), 0);
    const caption = `${path.stream}/${path.seq} to ${path.listener}: ${time(path.total_ns)} from hand-over to arrival; the parts add up to ${time(sum)}`
      + (path.clocks ? `. ${path.clocks} The measured delay is the difference of two clocks: ${time(path.delay_ns)}.` : "");
    return make("table", { class: "why" }, make("caption", { text: caption }),
      make("thead", {}, make("tr", {}, ...["port", "because", "for", ...(path.clocks ? ["begins on its clock"] : []), "when"].map((text) => make("th", { text, scope: "col" })))), make("tbody", {}, ...rows));
  });
  const offered = make("select", { "aria-label": "Slowest frames" }, make("option", { value: "", text: "Slowest frames …" }),
    ...data.offered.map((one) => make("option", { value: one.frame, text: `${one.frame} to ${one.listener}: ${time(one.total_ns)}` })));
  offered.addEventListener("change", () => {
    if (!offered.value) return;
    Object.assign(state, { frame: offered.value, from: null, until: null, worst: true });
    load();
  });
  place.replaceChildren(offered, ...tables);
  return undefined;
}

addEventListener("resize", () => drawAll());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawAll());
