// One clock over all views: the network, the ports over time, and the parts of one frame's way.
// All times are integers of nanoseconds from the beginning of the window; `frames` holds columns.

const data = JSON.parse(document.getElementById("content").textContent);
const frames = data.frames;
const count = frames.port.length;
const PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a6d3b", "#7a5fb5"];
/** @type {(id: string) => HTMLElement & HTMLInputElement & HTMLCanvasElement} */
const find = (id) => /** @type {any} */ (document.getElementById(id));
const colour = (stream) => PALETTE[stream % PALETTE.length];
const theme = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const state = { now: 0, playing: false, speed: 1e-5, view: [0, data.length_ns], frame: -1, journey: -1, last: 0 };

document.body.dataset.scripts = "yes";

// Every instant at which something happens, for stepping.
const events = [...new Set([...frames.queued, ...frames.start, ...frames.end, ...frames.arrived]
  .filter((at) => at !== null && at >= 0 && at <= data.length_ns))].sort((a, b) => a - b);
// One row of the chart for each port and class that has a frame.
const lanes = [...new Set(frames.port.map((port, i) => port * 8 + frames.class[i]))].sort((a, b) => a - b);
const laneOf = new Map(lanes.map((lane, row) => [lane, row]));

function grouped(ns) {
  const digits = String(Math.round(Math.abs(ns))).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  return `${ns < 0 ? "\u2212" : ""}${digits} ns`;
}

// An instant of the run: the window may begin beyond the exact integers of a browser's numbers.
function instant(ns) {
  return `${String(BigInt(data.begin_ns) + BigInt(Math.round(ns))).replace(/\B(?=(\d{3})+$)/g, "\u202f")} ns`;
}

// A list is in the time of its node's clock, which leads true time by `ahead` at `from`, and by `rate` more per second.
const shown = (list, run) => run + (list.ahead ?? 0) + (run - (list.from ?? 0)) * (list.rate ?? 0);
const when = (list, clock) => (list.from ?? 0) + (clock - (list.ahead ?? 0) - (list.from ?? 0)) / (1 + (list.rate ?? 0));

// The lists of a port are in force one after the other; null: without a begin, without an end, or not known.
function gateIsOpen(port, trafficClass, at) {
  const run = data.begin_ns + at;
  const list = (data.ports[port].gates ?? []).find((one) => (one.from ?? -Infinity) <= run && run < (one.until ?? Infinity));
  if (!list?.spans) return true;
  const phase = shown(list, run) % list.cycle;
  return list.spans[trafficClass].some(([begin, end]) => begin <= phase && phase < end);
}

function canvasContext(canvas, height) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = "12px system-ui, sans-serif";
  return [context, width];
}

// The network: nodes at their places, frames between them, what waits beside its port.
function positions(width, height) {
  const xs = data.nodes.map((node) => node.x);
  const ys = data.nodes.map((node) => node.y);
  const spread = (values, size, margin) => {
    const least = Math.min(...values);
    const range = Math.max(...values) - least;
    return (value) => (range === 0 ? size / 2 : margin + ((value - least) / range) * (size - 2 * margin));
  };
  const x = spread(xs, width, 90);
  const y = spread(ys, height, 46);
  return data.nodes.map((node) => [x(node.x), y(node.y)]);
}

function drawNetwork() {
  const canvas = find("network");
  const flat = new Set(data.nodes.map((node) => Math.round(node.y * 4))).size === 1;
  const height = flat ? 170 : Math.min(440, Math.max(240, canvas.clientWidth * 0.38));
  const [context, width] = canvasContext(canvas, height);
  const places = positions(width, height);
  context.strokeStyle = theme("--line");
  context.lineWidth = 2;
  for (const [a, b] of data.links) {
    context.beginPath();
    context.moveTo(...places[a]);
    context.lineTo(...places[b]);
    context.stroke();
  }
  const waiting = new Map();
  for (let i = 0; i < count; i += 1) {
    if (frames.queued[i] <= state.now && state.now < frames.start[i]) {
      const lane = frames.port[i] * 8 + frames.class[i];
      if (!waiting.has(lane)) waiting.set(lane, []);
      waiting.get(lane).push(i);
    } else if (frames.start[i] <= state.now && state.now < (frames.arrived[i] ?? frames.end[i])) {
      drawMoving(context, places, i);
    }
  }
  drawQueues(context, places, waiting);
  for (const [number, node] of data.nodes.entries()) {
    const [x, y] = places[number];
    context.fillStyle = theme("--paper");
    context.strokeStyle = theme("--ink");
    context.lineWidth = 1.5;
    context.beginPath();
    if (node.kind === "bridge") context.rect(x - 13, y - 13, 26, 26);
    else context.arc(x, y, 13, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
    context.fillStyle = theme("--ink");
    const [, right, down, anchor] = nameSide(number, places);
    context.textAlign = anchor;
    context.fillText(node.name, x + right, y + down);
  }
}

// Where the name of a node stands: where none of its links is, and below it if possible.
/** @type {[number, number, number, CanvasTextAlign][]} */
const SIDES = [[Math.PI / 2, 0, 30, "center"], [-Math.PI / 2, 0, -20, "center"], [0, 19, 4, "left"], [Math.PI, -19, 4, "right"]];

function nameSide(number, places) {
  const [x, y] = places[number];
  const ways = data.links.filter((ends) => ends.includes(number)).map(([a, b]) => {
    const [u, v] = places[a === number ? b : a];
    return Math.atan2(v - y, u - x);
  });
  const room = (side) => Math.min(...ways.map((way) => Math.abs(Math.atan2(Math.sin(way - side), Math.cos(way - side)))));
  return SIDES.find(([side]) => room(side) > 0.7) ?? SIDES[0];
}

// A dash of the link's length of time: its head is where the first bit is, its tail where the last bit is.
function drawMoving(context, places, i) {
  const port = data.ports[frames.port[i]];
  const [x0, y0] = places[port.node];
  const [x1, y1] = places[port.next];
  const end = frames.arrived[i] ?? frames.end[i];
  const share = (state.now - frames.start[i]) / Math.max(1, end - frames.start[i]);
  const distance = Math.hypot(x1 - x0, y1 - y0) || 1;
  const [ux, uy] = [(x1 - x0) / distance, (y1 - y0) / distance];
  // Both directions of a link beside each other: to the right of where one goes.
  const [nx, ny] = [-uy * 6, ux * 6];
  const at = 15 + share * (distance - 30);
  const half = Math.min(13, 4 + frames.octets[i] / 120);
  context.strokeStyle = colour(frames.stream[i]);
  context.lineWidth = i === state.frame ? 11 : 7;
  context.beginPath();
  context.moveTo(x0 + ux * (at - half) + nx, y0 + uy * (at - half) + ny);
  context.lineTo(x0 + ux * (at + half) + nx, y0 + uy * (at + half) + ny);
  context.stroke();
}

function drawQueues(context, places, waiting) {
  const rows = new Map();
  for (const lane of lanes) {
    const port = data.ports[Math.floor(lane / 8)];
    const queue = waiting.get(lane) ?? [];
    const open = gateIsOpen(Math.floor(lane / 8), lane % 8, state.now);
    if (queue.length === 0 && (port.gates === null || open)) continue;
    const [x0, y0] = places[port.node];
    const [x1, y1] = places[port.next];
    const distance = Math.hypot(x1 - x0, y1 - y0) || 1;
    const row = rows.get(Math.floor(lane / 8)) ?? 0;
    rows.set(Math.floor(lane / 8), row + 1);
    const x = x0 + ((x1 - x0) / distance) * 24;
    const y = y0 + ((y1 - y0) / distance) * 24 - 20 - row * 14;
    context.textAlign = "left";
    queue.slice(0, 6).forEach((i, place) => {
      context.fillStyle = colour(frames.stream[i]);
      context.fillRect(x + place * 8, y - 9, 6, 9);
    });
    context.fillStyle = open ? theme("--soft") : theme("--cursor");
    const text = `class ${lane % 8}: ${queue.length}${open ? "" : ", closed"}`;
    context.fillText(text, x + Math.min(queue.length, 6) * 8 + 3, y);
  }
}

// Ports over time.
const LANE = 24;
const LEFT = 190;

function drawChart() {
  const height = lanes.length * LANE + 26;
  const [context, width] = canvasContext(find("chart"), height);
  const [from, until] = state.view;
  const scale = (width - LEFT - 8) / (until - from);
  const x = (at) => LEFT + (at - from) * scale;
  context.textAlign = "left";
  for (const [row, lane] of lanes.entries()) {
    const y = row * LANE;
    const port = data.ports[Math.floor(lane / 8)];
    drawShut(context, port.gates, lane % 8, x, y, from, until);
    context.fillStyle = theme("--ink");
    const name = `${port.name} ${port.name.length > 22 ? "" : "class "}${lane % 8}`;
    context.fillText(name, 4, y + 16, LEFT - 10);
    context.strokeStyle = theme("--line");
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(0, y + LANE);
    context.lineTo(width, y + LANE);
    context.stroke();
  }
  context.save();
  context.beginPath();
  context.rect(LEFT, 0, width - LEFT, height);
  context.clip();
  const seen = [];
  for (let i = 0; i < count; i += 1) {
    if (frames.end[i] >= from && frames.queued[i] <= until) seen.push(i);
  }
  const top = (i) => laneOf.get(frames.port[i] * 8 + frames.class[i]) * LANE;
  // What waits is drawn first: frames that leave cover it.
  for (const i of seen) {
    if (frames.start[i] <= frames.queued[i]) continue;
    const left = x(frames.queued[i]);
    const chosen = i === state.frame;
    context.fillStyle = colour(frames.stream[i]);
    context.fillRect(left, top(i) + (chosen ? 10 : 11), x(frames.start[i]) - left, chosen ? 4 : 2);
  }
  for (const i of seen) {
    const y = top(i);
    const left = x(frames.start[i]);
    const long = Math.max(1, x(frames.end[i]) - left);
    context.fillStyle = colour(frames.stream[i]);
    context.fillRect(left, y + 5, long, LANE - 9);
    if (i === state.frame) {
      context.strokeStyle = theme("--ink");
      context.lineWidth = 2;
      context.strokeRect(left, y + 4, long, LANE - 7);
    }
    const label = `${data.streams[frames.stream[i]]}/${frames.seq[i]}`;
    if (long > context.measureText(label).width + 6) {
      context.fillStyle = "#fff";
      context.fillText(label, left + 3, y + 17);
    }
  }
  context.strokeStyle = theme("--cursor");
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(x(state.now), 0);
  context.lineTo(x(state.now), lanes.length * LANE);
  context.stroke();
  context.restore();
  drawAxis(context, x, from, until, lanes.length * LANE, width);
}

function drawShut(context, gates, trafficClass, x, y, from, until) {
  for (const list of gates ?? []) {
    const low = Math.max(from, (list.from ?? -Infinity) - data.begin_ns);
    const high = Math.min(until, (list.until ?? Infinity) - data.begin_ns);
    if (low >= high) continue;
    if (list.from !== null && low > from) {
      context.fillStyle = theme("--soft");
      context.fillRect(x(low), y, 1, LANE);
    }
    const { cycle, spans } = list;
    if (!spans || ((high - low) / cycle) * spans[trafficClass].length > 4000) continue;
    if (spans[trafficClass].length === 1 && spans[trafficClass][0][1] - spans[trafficClass][0][0] === cycle) continue;
    context.fillStyle = theme("--shut");
    const place = (clock) => when(list, clock) - data.begin_ns;
    const first = Math.floor(shown(list, data.begin_ns + low) / cycle) * cycle;
    for (let turn = first; place(turn) < high; turn += cycle) {
      let at = 0;
      for (const [begin, end] of [...spans[trafficClass], [cycle, cycle]]) {
        const left = Math.max(LEFT, x(Math.max(low, place(turn + at))));
        const right = x(Math.min(high, place(turn + begin)));
        if (right > left) context.fillRect(left, y, right - left, LANE);
        at = end;
      }
    }
  }
}

function drawAxis(context, x, from, until, y, width) {
  const room = (width - LEFT) / 110;
  const raw = (until - from) / Math.max(1, room);
  const power = 10 ** Math.floor(Math.log10(Math.max(1, raw)));
  const step = Math.max(1, [1, 2, 5, 10].find((factor) => factor * power >= raw) * power);
  context.fillStyle = theme("--soft");
  context.textAlign = "center";
  for (let at = Math.ceil(from / step) * step; at <= until; at += step) {
    if (x(at) > width - 30) break;
    context.fillText(grouped(at), x(at), y + 18);
    context.fillRect(x(at), y, 1, 4);
  }
}

// Why the chosen frame waited.
function showWhy() {
  const place = find("why");
  place.replaceChildren();
  const journey = data.journeys[state.journey];
  const hops = journey ? journey.hops : [];
  if (!journey) {
    place.textContent = state.frame < 0 ? "Choose a frame." : describe(state.frame);
    return;
  }
  const title = document.createElement("p");
  title.textContent = `${data.streams[journey.stream]}/${journey.seq} to ${journey.listener}: `
    + `${grouped(journey.total)} from hand-over to arrival, the sum of these parts:`;
  const clocks = hops.some((hop) => hop.clock);
  if (clocks) title.textContent += ` ${data.clocks} The delay that is measured is the difference of two clocks: ${grouped(journey.delay)}.`;
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  for (const [text, kind] of [["port", ""], ["from", "n"], ...(clocks ? [["its clock", "n"]] : []), ["for", "n"], ["because", ""]]) {
    const cell = document.createElement("th");
    cell.textContent = text;
    cell.className = kind;
    head.append(cell);
  }
  const body = table.createTBody();
  for (const hop of hops) {
    for (let k = 0; k < hop.parts.length; k += 4) {
      const [reason, begin, end, stream] = hop.parts.slice(k, k + 4);
      const row = body.insertRow();
      row.insertCell().textContent = k === 0 ? data.ports[frames.port[hop.frame]].name : "";
      const clock = hop.clock ? [grouped(hop.clock[k / 4])] : [];
      for (const text of [instant(begin), ...clock, grouped(end - begin)]) {
        const cell = row.insertCell();
        cell.className = "n";
        cell.textContent = text;
      }
      row.insertCell().textContent = data.reasons[reason] + (stream < 0 ? "" : `: ${data.streams[stream]}`);
    }
  }
  place.append(title, table);
}

function describe(i) {
  const waited = frames.start[i] - frames.queued[i];
  return `${data.streams[frames.stream[i]]}/${frames.seq[i]} at ${data.ports[frames.port[i]].name}, `
    + `${frames.octets[i]} octets: waited ${grouped(waited)}, began to leave at ${instant(frames.start[i])}.`;
}

// The clock, and what moves it.
function draw() {
  find("now").textContent = instant(state.now);
  find("time").value = String(Math.round(state.now));
  document.body.dataset.now = String(Math.round(state.now));
  drawNetwork();
  drawChart();
}

// A link to the instant that is shown; while it plays, the address stays.
function remember() {
  if (!state.playing) history.replaceState(null, "", `#t=${BigInt(data.begin_ns) + BigInt(Math.round(state.now))}ns`);
}

const UNITS = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };

// The instant of the address, counted from the begin of the window; null without one that is in it.
function addressed() {
  const found = /^#t=([0-9.]+) ?(ns|us|ms|s)$/.exec(decodeURIComponent(location.hash));
  if (!found) return null;
  const whole = found[2] === "ns" && /^\d+$/.test(found[1]);
  const at = whole ? Number(BigInt(found[1]) - BigInt(data.begin_ns)) : Number(found[1]) * UNITS[found[2]] - data.begin_ns;
  return at >= 0 && at <= data.length_ns ? at : null;
}

function go(at) {
  state.now = Math.min(data.length_ns, Math.max(0, at));
  const [from, until] = state.view;
  if (state.now < from || state.now > until) {
    const span = until - from;
    look(state.now - span * 0.1, span);
  }
  draw();
  remember();
}

function look(from, span) {
  const length = Math.min(data.length_ns, Math.max(50, span));
  const begin = Math.min(data.length_ns - length, Math.max(0, from));
  state.view = [begin, begin + length];
}

function zoom(factor, around) {
  const [from, until] = state.view;
  const span = Math.min(data.length_ns, Math.max(50, (until - from) * factor));
  look(around - ((around - from) / (until - from)) * span, span);
  draw();
}

function step(forward) {
  const at = Math.round(state.now);
  go(forward ? events.find((event) => event > at) ?? data.length_ns
    : events.findLast((event) => event < at) ?? 0);
}

// The next frame that begins to leave a port, or the one before, is chosen.
function stepFrame(forward) {
  const order = [...frames.start.keys()].filter((i) => frames.start[i] >= 0).sort((a, b) => frames.start[a] - frames.start[b] || a - b);
  const here = order.indexOf(state.frame);
  const at = Math.round(state.now);
  const same = here >= 0 && frames.start[state.frame] === at;
  const number = same ? here + (forward ? 1 : -1) : forward ? order.findIndex((i) => frames.start[i] > at) : order.findLastIndex((i) => frames.start[i] < at);
  const i = order[number];
  if (i === undefined) return;
  choose(i);
  go(frames.start[i]);
}

const PICTURES = 60;
const HUNDREDTHS = 8; // of a second for each picture
const SAMPLES = 6; // pictures whose colours are the table of colours

// The shown part of the run as a GIF: network and ports, picture by picture, however fast this machine is.
async function saveGif() {
  play(false);
  const before = state.now;
  const [from, until] = state.view;
  const parts = [find("network"), find("chart")];
  const scale = Math.min(1, 900 / parts[0].width);
  const [width, heights] = [Math.round(parts[0].width * scale), parts.map((one) => Math.round(one.height * scale))];
  const canvas = new OffscreenCanvas(width, heights[0] + heights[1]);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const pictureAt = (share) => {
    state.now = from + (until - from) * share;
    drawNetwork();
    drawChart();
    context.fillStyle = theme("--paper");
    context.fillRect(0, 0, canvas.width, canvas.height);
    parts.forEach((one, n) => context.drawImage(one, 0, n * heights[0], width, heights[n]));
    return context.getImageData(0, 0, canvas.width, canvas.height).data;
  };
  const gif = new Gif(canvas.width, canvas.height, HUNDREDTHS, [...Array(SAMPLES).keys()].map((n) => pictureAt(n / (SAMPLES - 1))));
  for (let n = 0; n < PICTURES; n += 1) {
    gif.add(pictureAt(n / (PICTURES - 1)));
    find("gif-said").textContent = `${n + 1} of ${PICTURES}`;
    await new Promise((done) => { setTimeout(done); });
  }
  state.now = before;
  draw();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(gif.file());
  link.download = `${document.title.replace(/[^\w-]+/g, "-")}.gif`;
  link.click();
  find("gif-said").textContent = "saved";
}

function play(playing) {
  state.playing = playing;
  state.last = performance.now();
  find("play").textContent = playing ? "Pause" : "Play";
  find("play").setAttribute("aria-pressed", String(playing));
  remember();
  if (playing) {
    if (state.now >= data.length_ns) state.now = 0;
    requestAnimationFrame(tick);
  }
}

function tick(at) {
  if (!state.playing) return;
  const passed = Math.max(0, at - state.last) * 1e6 * state.speed;
  state.last = at;
  go(state.now + passed);
  if (state.now >= data.length_ns) play(false);
  else requestAnimationFrame(tick);
}

function chooseJourney(number) {
  state.journey = number;
  const journey = data.journeys[number];
  if (journey) {
    const first = journey.hops[0].frame;
    const last = journey.hops[journey.hops.length - 1].frame;
    const worst = journey.hops.reduce((a, b) =>
      (frames.start[b.frame] - frames.queued[b.frame] > frames.start[a.frame] - frames.queued[a.frame] ? b : a));
    state.frame = worst.frame;
    const span = frames.arrived[last] - frames.queued[first];
    look(frames.queued[first] - span * 0.15, span * 1.3);
    go(frames.queued[first]);
  }
  showWhy();
}

function chooseAt(event) {
  const box = find("chart").getBoundingClientRect();
  const [from, until] = state.view;
  const at = from + ((event.clientX - box.left - LEFT) / (box.width - LEFT - 8)) * (until - from);
  const lane = lanes[Math.floor((event.clientY - box.top) / LANE)];
  const slack = ((until - from) / box.width) * 3;
  let found = -1;
  for (let i = 0; i < count; i += 1) {
    if (frames.port[i] * 8 + frames.class[i] !== lane) continue;
    if (frames.start[i] - slack <= at && at <= frames.end[i] + slack) found = i;
    else if (found < 0 && frames.queued[i] <= at && at < frames.start[i]) found = i;
  }
  choose(found);
  go(at);
}

// A frame at a port is chosen, and its path if that is known.
function choose(i) {
  state.frame = i;
  state.journey = data.journeys.findIndex((journey) => i >= 0 && journey.hops.some((hop) => hop.frame === i));
  find("journeys").value = String(state.journey);
  showWhy();
}

function prepare() {
  find("window").textContent = `${grouped(data.length_ns)} of the run, from ${instant(0)}`
    + `${data.cut ? " (shortened)" : ""}: ${count} frames at ports`;
  find("time").max = String(data.length_ns);
  const choice = find("journeys");
  choice.append(new Option("(none)", "-1"));
  for (const [number, journey] of data.journeys.entries()) {
    choice.append(new Option(`${data.streams[journey.stream]} to ${journey.listener}: ${grouped(journey.total)}`, number));
  }
  const shown = [...new Set(frames.stream)].sort((a, b) => a - b);
  for (const stream of shown) {
    const entry = document.createElement("li");
    const mark = document.createElement("span");
    mark.style.background = colour(stream);
    entry.append(mark, data.streams[stream]);
    find("legend").append(entry);
  }
  choice.addEventListener("change", () => chooseJourney(Number(choice.value)));
  find("play").addEventListener("click", () => play(!state.playing));
  find("back").addEventListener("click", () => step(false));
  find("next").addEventListener("click", () => step(true));
  find("frame-back").addEventListener("click", () => stepFrame(false));
  find("frame-next").addEventListener("click", () => stepFrame(true));
  find("gif").addEventListener("click", saveGif);
  find("time").addEventListener("input", () => go(Number(find("time").value)));
  const speed = find("speed");
  const setSpeed = () => {
    state.speed = 10 ** Number(speed.value);
    find("speed-value").textContent = `1 : ${Math.round(1 / state.speed).toLocaleString("en")}, 1 s shows ${grouped(state.speed * 1e9)}`;
  };
  speed.addEventListener("input", setSpeed);
  // The whole window takes about ten seconds.
  speed.value = String(Math.log10(data.length_ns / 1e10));
  setSpeed();
  const chart = find("chart");
  let dragged = null;
  chart.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = chart.getBoundingClientRect();
    const [from, until] = state.view;
    zoom(event.deltaY > 0 ? 1.25 : 0.8, from + ((event.clientX - box.left - LEFT) / (box.width - LEFT)) * (until - from));
  }, { passive: false });
  chart.addEventListener("pointerdown", (event) => {
    dragged = { x: event.clientX, from: state.view[0], moved: false };
    chart.setPointerCapture(event.pointerId);
  });
  chart.addEventListener("pointermove", (event) => {
    if (dragged === null) return;
    const span = state.view[1] - state.view[0];
    const moved = event.clientX - dragged.x;
    if (Math.abs(moved) > 3) dragged.moved = true;
    if (dragged.moved) {
      look(dragged.from - (moved / (chart.clientWidth - LEFT)) * span, span);
      draw();
    }
  });
  chart.addEventListener("pointerup", (event) => {
    if (dragged !== null && !dragged.moved) chooseAt(event);
    dragged = null;
  });
  document.addEventListener("keydown", (event) => {
    if (/** @type {Element} */ (event.target).matches("input, select, button") && event.key !== "Escape") return;
    const actions = {
      " ": () => play(!state.playing), ArrowLeft: () => step(false), ArrowRight: () => step(true), ",": () => stepFrame(false), ".": () => stepFrame(true),
      "+": () => zoom(0.6, state.now), "-": () => zoom(1 / 0.6, state.now),
      Home: () => { look(0, data.length_ns); draw(); },
    };
    if (event.key in actions) {
      event.preventDefault();
      actions[event.key]();
    }
  });
  // A lesson's links to instants: the view follows if the instant is in the window.
  for (const link of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("#lesson a[data-ns]"))) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      play(false);
      const at = Number(BigInt(link.dataset.ns) - BigInt(data.begin_ns));
      const span = Math.min(data.length_ns, Math.max(2000, (state.view[1] - state.view[0]) / 2));
      look(at - span / 2, span);
      go(at);
    });
  }
  window.addEventListener("resize", draw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  choice.value = data.journeys.length > 0 ? "0" : "-1";
  const linked = addressed();
  chooseJourney(Number(choice.value));
  if (linked !== null) go(linked);
  addEventListener("hashchange", () => { if (addressed() !== null) go(addressed()); });
  draw();
  document.body.dataset.ready = "yes";
}

prepare();
