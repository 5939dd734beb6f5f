// What the worst case of the chosen stream adds up from: each cause at each port, the largest first, with the setting
// that would lower it.
import { at, make, quoted, time, url } from "./dom.js";

const MOST_ROWS = 4; // shares that are listed; the others are one more row
// Of similar causes the colours are similar.
const COLOURS = {
  "lower-classes": "#d55e00", "higher-classes": "#e69f00", "same-class": "#0072b2", own: "#56b4e9", gates: "#7a5fb5", windows: "#7a5fb5",
  shaper: "#cc79a7", "first-link": "#009e73", transmission: "#009e73", propagation: "#8a6d3b", processing: "#8a8a8a", besides: "#8a8a8a", once: "#bbbbbb",
};

let wanted = ""; // the stream; empty: none is chosen
let waiting = null;
let asked = null; // the text of the last question about this stream

// Whether its parts have to be asked for: those of the same stream come with each answer to the text.
export function choose(stream) {
  if (stream === wanted) return false;
  wanted = stream;
  asked = null;
  waiting?.abort();
  if (!stream) at("adds-up").hidden = true;
  return stream !== "";
}

// Asks for the parts of the chosen stream in a text, once for each text; an answer to an older text is dropped.
export async function ask(name, text) {
  if (!wanted || text === asked) return;
  asked = text;
  waiting?.abort();
  const own = waiting = new AbortController();
  try {
    const answer = await fetch(`${url("why", name)}?${new URLSearchParams({ stream: wanted })}`, { method: "POST", body: text, signal: own.signal });
    const found = answer.status === 200 ? await answer.json() : null;
    if (own !== waiting || !wanted) return;
    if (found) show(name, found);
    else asked = null;
  } catch (error) {
    if (error.name === "AbortError" || own !== waiting) return;
    asked = null;
    show(name, { parts: null, reason: error.message });
  }
}

function show(name, { parts, reason }) {
  const host = at("adds-up");
  host.hidden = false;
  if (!parts || parts.total_ps === null) {
    host.replaceChildren(make("strong", { text: `${wanted}: no bound` }), make("p", { class: "soft", text: parts?.reason ?? reason }));
    return;
  }
  const total = parts.total_ps;
  const shares = [...parts.shares].sort((one, other) => other.ps - one.ps);
  const begins = parts.start === "release" ? "its release" : "the talker's stamp";
  host.replaceChildren(
    make("strong", { text: `${parts.stream} to ${parts.listener}: at most ${time(total / 1000)} from ${begins}` }),
    make("span", { class: "soft", text: ` ${parts.source ? `from the ${parts.source}; ` : ""}tsnbench plan ${quoted(name)} --why ${quoted(wanted)}` }),
    sum(shares, total), list(shares, total),
  );
}

function sum(shares, total) {
  const parts = shares.filter(({ ps }) => ps > 0).map((share) => {
    const own = make("span", { title: `${says(share)}: ${time(share.ps / 1000)}` });
    own.style.flexGrow = String(share.ps / total);
    own.style.background = COLOURS[share.cause];
    return own;
  });
  return make("div", { class: "sum", role: "img", "aria-label": shares.slice(0, 3).map((share) => `${says(share)} ${time(share.ps / 1000)}`).join(", ") }, ...parts);
}

const says = ({ port, says: words, streams, others }) =>
  `${port ? `${port}: ` : ""}${words}${streams ? `: ${streams.join(", ")}${others ? ` and ${others} more` : ""}` : ""}`;

function list(shares, total) {
  const few = shares.length > MOST_ROWS + 1 ? shares.slice(0, MOST_ROWS) : shares;
  const rest = shares.slice(few.length);
  const rows = few.map((share) => row(COLOURS[share.cause], share.ps, total, says(share), share.lowers ? `less with ${share.lowers}` : ""));
  if (rest.length) rows.push(row("", rest.reduce((all, { ps }) => all + ps, 0), total, `${rest.length} smaller parts`, ""));
  return make("table", {}, make("tbody", {}, ...rows));
}

function row(colour, ps, total, words, lowers) {
  const swatch = make("span", { class: "swatch", "aria-hidden": "true" });
  if (colour) swatch.style.background = colour;
  return make("tr", {}, make("td", { class: "figure", text: time(ps / 1000) }), make("td", { class: "figure soft", text: `${((100 * ps) / total).toFixed(1)} %` }),
    make("td", {}, swatch, words), make("td", { class: "soft", text: lowers }));
}
