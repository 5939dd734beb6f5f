// Runs side by side: the numbers of `tsnbench compare --json`. And studies and sweeps as they grow.
import { all as every, at, colour, get, make, measured, quoted, requirementBar, theme, time, url } from "./dom.js";
import { toggles } from "./boxes.js";
import { empty, toRuns } from "./lists.js";
import { sideBySide } from "./merge.js";
import { files, hover, paper } from "./paper.js";

const LEFT = 74;
const RIGHT = 12;
const MOST_ROWS = 60; // requirements with bars

export const chosen = new Set(); // runs that are ticked in the list

export async function compare(parts) {
  const host = at("view-compare");
  const names = (parts.get("compare") ?? "").split("|").filter(Boolean);
  if (names.length < 2) {
    const button = toRuns(2, "Compare the two newest runs", (newest) => `#${new URLSearchParams({ compare: newest.join("|") })}`);
    empty(host, "Compare runs", "Tick two to four runs in the list, then choose Compare again: their requirements, delays and texts side by side.", ...button);
    return;
  }
  host.replaceChildren(make("p", { text: "Comparing …" }));
  let found;
  try {
    found = await get(`/api/compare?${new URLSearchParams(names.map((name) => ["run", name]))}`);
  } catch (error) {
    host.replaceChildren(make("h2", { text: "Compare runs" }), make("p", { class: "bad", text: error.message }));
    return;
  }
  const labels = found.runs.map((one) => one.label);
  // The charts are drawn as soon as they stand in the page, so nothing is waited for after they are made.
  const [ofRequirements, ofTexts] = await Promise.all([bars(names, labels), texts(names)]);
  const agreed = found.agreements.filter((one) => one.agrees).length;
  const parts2 = [
    make("h2", { text: `${labels.length} runs side by side` }),
    found.agreements.length ? make("p", { class: found.agrees ? "good" : "", text: `${agreed} of ${found.agreements.length} quantities agree with ${labels[0]} within their tolerances.` })
      : make("p", { text: "The runs have no quantity in common that could agree." }),
    ...found.plans_differ.map((one) => make("p", { text: `${labels[one.run]} ran another Plan than ${labels[0]}: ${one.differences.join("; ")}` })),
    ofRequirements, delays(found, labels), curves(found, names, labels), agreements(found, labels), ofTexts,
    make("p", {}, "Equivalent command: ", make("code", { text: `tsnbench compare ${names.map(quoted).join(" ")}` })),
  ];
  host.replaceChildren(...parts2.filter(Boolean));
}

function table(label, head, rows) {
  const own = make("table", {}, make("thead", {}, make("tr", {}, ...head.map((text) => make("th", { text, scope: "col" })))), make("tbody", {}, ...rows));
  return make("div", { class: "scrolled", tabindex: "0", role: "group", "aria-label": label }, make("h3", { text: label }), own);
}

const cell = (value) => make("td", { class: typeof value === "number" ? "n" : "", text: value === null || value === undefined ? "–" : String(value) });

function delays(found, labels) {
  const bounds = new Map(found.bounds.map((one) => [`${one.stream}\t${one.listener}`, one.upper_ns]));
  const rows = found.streams.map((row) => {
    const delay = row.delay ?? {};
    const own = (key) => make("td", { class: "n", text: time(delay[key] ?? null) });
    return make("tr", {}, cell(row.stream), cell(row.listener), cell(labels[row.side]), own("min"), own("median"), own("p99"), own("max"),
      // The worst case is that of the first run's Plan.
      make("td", { class: "n", text: row.side === 0 ? time(bounds.get(`${row.stream}\t${row.listener}`) ?? null) : "" }));
  });
  return table("Delays", ["stream", "listener", "run", "least", "median", "p99", "greatest", "worst case"], rows);
}

function agreements(found, labels) {
  const rows = found.agreements.map((one) => {
    const allowed = (key) => one.terms.reduce((sum, term) => sum + (term[key] ?? 0), 0);
    const value = (own) => make("td", { class: "n", text: one.unit === "ns" ? time(own) : `${own} ${one.unit}` });
    const tolerance = one.unit === "ns" ? `-${time(allowed("below_ns"))}, +${time(allowed("above_ns"))}` : "–";
    return make("tr", {}, cell(one.stream), cell(one.listener), cell(one.quantity), cell(labels[one.second]), value(one.found_first),
      value(one.found_second), value(one.difference), make("td", { class: "n", text: tolerance }), cell(one.agrees ? "yes" : "no"));
  });
  return table("Agreement with the first run", ["stream", "listener", "quantity", "run", labels[0], "this run", "difference", "tolerance", "agrees"], rows);
}

// Each requirement with a bar for every run, one below the other: found, worst case and limit at the places of the run's own view.
async function bars(names, labels) {
  const all = await Promise.all(names.map((name) => get(url("facts", name)).catch(() => null)));
  const key = (one) => `${one.stream} to ${one.listener}\t${one.requirement}`;
  const every = [...new Set(all.flatMap((one) => one?.requirements.map(key) ?? []))];
  if (!every.length) return null;
  const rows = every.slice(0, MOST_ROWS).flatMap((name) => {
    const own = all.map((one) => one?.requirements.find((row) => key(row) === name));
    return own.map((row, n) => make("tr", {}, ...(n ? [] : name.split("\t").map((text) => make("td", { rowspan: own.length, text }))),
      cell(labels[n]), ...(row ? [make("td", { class: "wide-cell" }, requirementBar(row)), value(row.found, row.unit), value(row.worst_case, row.unit), value(row.limit, row.unit), cell(row.words)]
        : [make("td", { colspan: 5, class: "soft", text: "not required in this run" })])));
  });
  const label = every.length > MOST_ROWS ? `Requirements (the first ${MOST_ROWS} of ${every.length})` : "Requirements";
  return table(label, ["stream", "requirement", "run", "found | worst case ¦ limit", "found", "worst case", "limit", "met"], rows);
}

const value = (number, unit) => make("td", { class: "n", text: measured(number, unit) });

// How the texts of two runs differ, line by line: those that were run, and of runs without a copy those of today.
async function texts(names) {
  if (names.length !== 2) return null;
  const found = await get(`/api/difference?${new URLSearchParams(names.map((name) => ["run", name]))}`).catch(() => null);
  // The runs of a sweep have one text.
  if (!found?.files.length || (!found.parts.length && found.now[0] === found.now[1])) return null;
  const [one, two] = found.files;
  const links = [[found.now[0], two], [found.now[1], one]].filter(([own, other]) => own && own !== other)
    .map(([own, other]) => make("a", { href: `#${new URLSearchParams({ scenario: own, with: other })}`, text: `Merge ${other} into ${own}` }));
  const then = found.files.every((name, n) => name !== found.now[n]);
  return make("section", { "aria-label": "Texts" }, make("h3", { text: then ? "Texts as they were run" : "Texts; of a run that keeps none, as it is now" }),
    ...(found.parts.length ? [make("p", { class: "row-of-buttons" }, ...links), sideBySide(found.parts, found.files)] : [make("p", { text: "The texts are equal." })]));
}

// Delays over time and the distributions of one stream in all runs, each on one axis.
function curves(found, names, labels) {
  const pairs = [...new Set(found.streams.map((row) => `${row.stream}\t${row.listener}`))];
  const choice = make("select", {}, ...pairs.map((pair) => make("option", { value: pair, text: pair.replace("\t", " to ") })));
  const canvas = make("canvas", { id: "chart-runs", role: "img", "aria-label": "Distributions of the delays of all runs" });
  const over = make("canvas", { id: "chart-runs-delay", role: "img", tabindex: "0", "aria-label": "Delays of all runs over time" });
  const hidden = new Set();
  const last = { over: [], ccdf: [] }; // what the charts show, run by run
  const seen = (all) => all.map((one, n) => (hidden.has(labels[n]) ? null : one));
  const redraw = { over: () => drawOverTime(over, seen(last.over), begins, view ?? whole, labels), ccdf: () => drawCurves(canvas, seen(last.ccdf)) };
  const legend = make("div", { class: "toggles", role: "group", "aria-label": "Runs of the charts" },
    ...toggles(labels, (label) => labels.indexOf(label), hidden, () => { redraw.over(); redraw.ccdf(); }));
  const tools = {
    over: files(over, { name: () => "runs-delay", redraw: redraw.over, table: () => [["run", "sent_ns", "least_ns", "greatest_ns"],
      ...seen(last.over).flatMap((one, n) => (one?.t ?? []).map((t, i) => [labels[n], t - begins[n], one.low[i], one.high[i]]))] }),
    ccdf: files(canvas, { name: () => "runs-ccdf", redraw: redraw.ccdf, table: () => [["run", "delay_us", "share_greater"],
      ...seen(last.ccdf).flatMap((one, n) => (one?.x ?? []).map((x, i) => [labels[n], x, one.y[i]]))] }),
  };
  // The runs that have the stream: the others are not asked for it.
  const chosenStream = () => {
    const [stream, listener] = choice.value.split("\t");
    return { stream, listener, has: new Set(found.streams.filter((row) => row.stream === stream && row.listener === listener).map((row) => row.side)) };
  };
  let view = null; // from and until, in ns after the begin of each run; null: all
  let whole = [0, 1];
  let begins = [];
  let asked = 0;
  const windows = async () => {
    const number = ++asked;
    const { stream, listener, has } = chosenStream();
    const columns = Math.max(100, Math.round(over.clientWidth) - LEFT - RIGHT);
    const all = await Promise.all(names.map((name, n) => {
      if (!has.has(n)) return null;
      const wanted = view && begins[n] !== undefined ? { from: String(Math.round(view[0] + begins[n])), until: String(Math.round(view[1] + begins[n])) } : {};
      return get(`${url("delays", name)}?${new URLSearchParams({ stream, listener, columns: String(columns), ...wanted })}`).catch(() => null);
    }));
    if (number !== asked) return;
    // Simulated times begin at 0; runs of clocks that count from 1970 begin at their first frame.
    begins = all.map((one) => (one ? (one.first_ns > 1e15 ? one.first_ns : 0) : undefined));
    const ends = all.map((one, n) => (one?.frames ? one.last_ns - begins[n] : 0));
    whole = [0, Math.max(1, ...ends)];
    last.over = all;
    redraw.over();
    over.dataset.ready = String(number);
  };
  const look = (from, until) => {
    const middle = (from + until) / 2;
    const half = Math.max(10, (until - from) / 2);
    view = [Math.max(0, middle - half), Math.min(whole[1] * 1.05, middle + half)];
    if (view[1] - view[0] < 20) view = [view[1] - 20, view[1]];
    windows();
  };
  const zoom = (factor, around) => {
    const [from, until] = view ?? whole;
    const middle = around ?? (from + until) / 2;
    look(middle - (middle - from) * factor, middle + (until - middle) * factor);
  };
  const instant = (event) => {
    const box = over.getBoundingClientRect();
    const [from, until] = view ?? whole;
    return from + ((event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT)) * (until - from);
  };
  let held = null;
  over.addEventListener("wheel", (event) => { event.preventDefault(); zoom(event.deltaY > 0 ? 1.3 : 1 / 1.3, instant(event)); }, { passive: false });
  over.addEventListener("pointerdown", (event) => { held = instant(event); over.setPointerCapture(event.pointerId); });
  over.addEventListener("pointerup", (event) => {
    const [a, b] = [held, instant(event)];
    held = null;
    const [from, until] = view ?? whole;
    if (a !== null && Math.abs(a - b) > (until - from) / 200) look(Math.min(a, b), Math.max(a, b));
  });
  over.addEventListener("dblclick", () => { view = null; windows(); });
  over.addEventListener("keydown", (event) => {
    const [from, until] = view ?? whole;
    const step = (until - from) / 5;
    const actions = {
      ArrowLeft: () => look(from - step, until - step), ArrowRight: () => look(from + step, until + step),
      "+": () => zoom(0.5), "-": () => zoom(2), Home: () => { view = null; windows(); },
    };
    if (event.key in actions) { event.preventDefault(); actions[event.key](); }
  });
  let shown = 0;
  const show = async (again) => {
    const number = ++shown;
    const { stream, listener, has } = chosenStream();
    const query = new URLSearchParams({ stream, listener });
    if (!again) view = null;
    const [all] = await Promise.all([Promise.all(names.map((name, n) => (has.has(n) ? get(`${url("distribution", name)}?${query}`).catch(() => null) : null))), windows()]);
    if (number !== shown) return; // another stream has been chosen meanwhile
    last.ccdf = all;
    redraw.ccdf();
    canvas.dataset.ready = "yes";
    canvas.dataset.stream = stream;
  };
  choice.addEventListener("change", () => show(false));
  let wide = 0;
  new ResizeObserver(() => {
    if (!over.clientWidth || over.clientWidth === wide) return;
    wide = over.clientWidth;
    show(true);
  }).observe(over);
  return make("section", { "aria-label": "Delays of one stream" }, make("div", { class: "bar" }, make("h3", { text: "Delays over time" }), tools.over),
    make("label", { text: "Stream " }, choice), legend,
    make("p", { class: "soft hint", text: "From the least to the greatest delay of each column. Drag, wheel, + and -, arrows: another window. Home: all." }), over,
    hover(over, (x) => {
      const [from, until] = view ?? whole;
      const instant = from + ((x - LEFT) / (over.clientWidth - LEFT - RIGHT)) * (until - from);
      return x < LEFT ? null : [time(Math.round(instant)), ...seen(last.over).map((one, n) => columnAt(one, begins[n], instant, labels[n]))].filter(Boolean).join("; ");
    }),
    make("div", { class: "bar" }, make("h3", { text: "Share of frames with a greater delay" }), tools.ccdf), canvas);
}

// The delays of a run in the column nearest to an instant.
function columnAt(one, begin, instant, label) {
  if (!one?.t.length) return "";
  const n = one.t.reduce((best, t, place) => (Math.abs(t - begin - instant) < Math.abs(one.t[best] - begin - instant) ? place : best), 0);
  return `${label}: ${one.low[n] === one.high[n] ? "" : `${time(one.low[n])} to `}${time(one.high[n])}`;
}

function drawOverTime(canvas, all, begins, [from, until], labels) {
  const [context, width] = paper(canvas, 230);
  const bottom = 200;
  const there = all.filter((one) => one?.t.length);
  const words = all.map((one, n) => `${labels[n]}: ${one?.frames ?? 0} frames${one?.t.length ? `, greatest ${time(Math.max(...one.high))}` : ""}`);
  canvas.setAttribute("aria-label", `Delays over time from ${time(from)} to ${time(until)}. ${words.join("; ")}`);
  if (!there.length) return;
  const most = Math.max(1, ...there.map((one) => Math.max(...one.high))) * 1.05;
  const least = Math.min(0, ...there.map((one) => Math.min(...one.low)));
  const x = (at) => LEFT + ((at - from) / (until - from)) * (width - LEFT - RIGHT);
  const y = (delay) => bottom - ((delay - least) / (most - least)) * (bottom - 6);
  context.save();
  context.beginPath();
  context.rect(LEFT, 0, width - LEFT - RIGHT, bottom + 2);
  context.clip();
  all.forEach((one, n) => {
    if (!one) return;
    context.fillStyle = colour(n);
    // Runs lie beside each other within a column, so that none hides another.
    const aside = n - (all.length - 1) / 2;
    one.t.forEach((t, column) => {
      const [low, high] = [y(one.low[column]), y(one.high[column])];
      if (one.single) context.fillRect(x(t - begins[n]) - 1.5 + aside, high - 1.5, 3, 3);
      else context.fillRect(x(t - begins[n]) + aside, high, 1, Math.max(1.5, low - high));
    });
  });
  context.restore();
  context.fillStyle = theme("--soft");
  context.textAlign = "right";
  for (let step = 0; step <= 4; step += 1) {
    const delay = least + ((most - least) * step) / 4;
    context.fillText(time(Math.round(delay), 2), LEFT - 6, y(delay) + (step === 4 ? 10 : 4));
  }
  context.textAlign = "center";
  for (let step = 0; step <= 5; step += 1) {
    const at = from + ((until - from) * step) / 5;
    context.fillText(time(Math.round(at), 3), Math.min(x(at), width - 40), bottom + 18);
  }
}

function drawCurves(canvas, all) {
  const [context, width] = paper(canvas, 230);
  const [left, bottom] = [LEFT, 200];
  const there = all.filter((one) => one?.x.length);
  if (!there.length) return;
  const most = Math.max(...there.map((one) => one.x.at(-1))) * 1.05;
  const low = Math.log10(1 / Math.max(...there.map((one) => one.frames))) - 0.1;
  const x = (value) => left + (value / most) * (width - left - 30);
  const y = (share) => 6 + (Math.log10(Math.max(share, 10 ** low)) / low) * (bottom - 6);
  all.forEach((one, n) => {
    if (!one?.x.length) return;
    context.strokeStyle = colour(n);
    context.lineWidth = 2;
    context.setLineDash([[], [6, 3], [2, 3], [8, 3, 2, 3]][n]);
    context.beginPath();
    context.moveTo(x(0), y(1));
    let share = 1;
    one.x.forEach((value, step) => {
      context.lineTo(x(value), y(share));
      share = one.y[step];
      context.lineTo(x(value), y(share));
    });
    context.stroke();
  });
  context.setLineDash([]);
  context.fillStyle = theme("--soft");
  context.textAlign = "right";
  for (let power = 0; power >= low; power -= 1) context.fillText(power === 0 ? "1" : `10^${power}`, left - 6, y(10 ** power) + 4);
  context.textAlign = "center";
  for (let step = 0; step <= 5; step += 1) context.fillText(time((most * 1000 * step) / 5, 1), x((most * step) / 5), bottom + 18);
}

let timer = 0;

export async function studies() {
  clearTimeout(timer);
  const host = at("view-studies");
  let found;
  try {
    found = await get("/api/studies");
  } catch (error) {
    host.replaceChildren(make("p", { class: "bad", text: error.message }));
    return;
  }
  if (host.hidden) return;
  const parts = found.map((one) => {
    const left = one.runs - one.made;
    const bar = make("progress", { max: one.runs || 1, value: one.made, "aria-label": `Runs of ${one.folder}` });
    const title = make("h3", {}, `${one.kind} ${one.folder} `, one.report ? make("a", { href: url("report", one.folder), text: "report" }) : "");
    const rows = one.table.slice(1).map((row) => make("tr", {}, ...row.map(cell)));
    const command = one.kind === "study" ? `tsnbench study status ${quoted(one.folder)}` : `tsnbench report ${quoted(one.folder)}`;
    return make("section", { "aria-label": one.folder }, title,
      make("p", { text: `${one.made} of ${one.runs} runs made, ${one.under_way} under way, ${left - one.under_way} left` }), bar,
      ...one.words.map((text) => make("p", { class: "soft", text })),
      ...(rows.length ? [table(one.title, one.table[0], rows)] : []),
      ...one.captions.map((text) => make("p", { class: "soft", text })),
      make("p", {}, "Equivalent command: ", make("code", { text: command })));
  });
  if (parts.length) host.replaceChildren(make("h2", { text: "Studies and sweeps" }), ...parts);
  else {
    empty(host, "Studies and sweeps", "There is no study and no sweep in this folder. A scenario with a list, such as period: [500 us, 250 us], is a sweep; its runs are listed here.",
      "Edit a scenario", () => every("[data-view=scenario]")[0].click());
  }
  host.dataset.ready = "yes";
  if (found.some((one) => one.under_way > 0)) timer = setTimeout(() => host.hidden || studies(), 2000);
}
