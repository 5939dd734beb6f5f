// Runs side by side: the numbers of `tsnbench compare --json`. And studies and sweeps as they grow.
import { at, colour, get, make, quoted, theme, time, url } from "./dom.js";

export const chosen = new Set(); // runs that are ticked in the list

export async function compare(parts) {
  const host = at("view-compare");
  const names = (parts.get("compare") ?? "").split("|").filter(Boolean);
  if (names.length < 2) {
    host.replaceChildren(make("h2", { text: "Compare runs" }), make("p", { text: "Tick two to four runs in the list, then choose Compare again." }));
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
  const parts2 = [
    make("h2", { text: `${labels.length} runs side by side` }),
    make("p", { class: found.agrees ? "good" : "", text: `${found.agreements.filter((one) => one.agrees).length} of ${found.agreements.length} quantities agree with ${labels[0]} within their tolerances.` }),
    ...found.plans_differ.map((one) => make("p", { text: `${labels[one.run]} ran another Plan than ${labels[0]}: ${one.differences.join("; ")}` })),
    delays(found, labels), curves(found, names, labels), agreements(found, labels),
    make("p", {}, "The command that does the same: ", make("code", { text: `tsnbench compare ${names.map(quoted).join(" ")}` })),
  ];
  host.replaceChildren(...parts2);
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

// The distributions of one stream in all runs, on one axis.
function curves(found, names, labels) {
  const pairs = [...new Set(found.streams.map((row) => `${row.stream}\t${row.listener}`))];
  const choice = make("select", {}, ...pairs.map((pair) => make("option", { value: pair, text: pair.replace("\t", " to ") })));
  const canvas = make("canvas", { id: "chart-runs", role: "img", "aria-label": "Distributions of the delays of all runs" });
  const legend = make("ul", { class: "legend" }, ...labels.map((label, n) => {
    const mark = make("span", { class: "mark-colour" });
    mark.style.background = colour(n);
    return make("li", {}, mark, label);
  }));
  const show = async () => {
    const [stream, listener] = choice.value.split("\t");
    const query = new URLSearchParams({ stream, listener });
    const all = await Promise.all(names.map((name) => get(`${url("distribution", name)}?${query}`).catch(() => null)));
    drawCurves(canvas, all);
    canvas.dataset.ready = "yes";
  };
  choice.addEventListener("change", show);
  setTimeout(show);
  return make("section", { "aria-label": "Distributions" }, make("h3", { text: "Share of frames with a greater delay" }),
    make("label", { text: "Stream " }, choice), legend, canvas);
}

function drawCurves(canvas, all) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height, left, bottom] = [canvas.clientWidth, 230, 60, 200];
  canvas.style.height = `${height}px`;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = "12px system-ui, sans-serif";
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
      ...(rows.length ? [table(`Results of ${one.folder}`, one.table[0], rows)] : []),
      make("p", {}, "The command that does the same: ", make("code", { text: command })));
  });
  host.replaceChildren(make("h2", { text: "Studies and sweeps" }), ...(parts.length ? parts : [make("p", { text: "There is no study and no sweep in this folder." })]));
  host.dataset.ready = "yes";
  if (found.some((one) => one.under_way > 0)) timer = setTimeout(() => host.hidden || studies(), 2000);
}
