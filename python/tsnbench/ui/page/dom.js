// Small helpers that all modules of the page use.

/**
 * An element of the page: what fields, buttons, lists of choices and dialogs have is known of each.
 * @typedef {HTMLElement & {value: string, disabled: boolean, readOnly: boolean, checked: boolean, open: boolean, type: string,
 *   options: HTMLOptionsCollection, select: () => void, close: () => void, showModal: () => void, checkValidity: () => boolean}} Part
 */

/** @type {(id: string) => Part} */
export const at = (id) => /** @type {any} */ (document.getElementById(id));

/** @type {(selector: string, within?: ParentNode) => Part[]} */
export const all = (selector, within = document) => /** @type {any} */ ([...within.querySelectorAll(selector)]);

const SVG = "http://www.w3.org/2000/svg";

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "text") node.textContent = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter((one) => one !== null && one !== undefined));
  return node;
}

export const make = (kind, attributes = {}, ...children) => filled(document.createElement(kind), attributes, children);
export const draw = (kind, attributes = {}, ...children) =>
  filled(document.createElementNS(SVG, kind), attributes, children);

export const url = (kind, name) => `/api/${kind}/${name.split("/").map(encodeURIComponent).join("/")}`;

// As a POSIX shell needs it.
export const quoted = (name) => {
  const path = name.startsWith("-") ? `./${name}` : name;
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'"'"'`)}'`;
};

// Okabe and Ito's colours, darkened where white text stands on them.
export const PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a6d3b", "#7a5fb5"];
export const colour = (number) => PALETTE[number % PALETTE.length];
export const theme = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function say(words, kind = "") {
  at("status").textContent = words;
  at("status").className = kind;
}

// A duration in its usual unit, with so many digits.
export function time(ns, digits = 3) {
  if (ns === null || ns === undefined) return "–";
  const size = Math.abs(ns);
  const [worth, unit] = size >= 1e9 ? [1e9, "s"] : size >= 1e6 ? [1e6, "ms"] : size >= 1e3 ? [1e3, "us"] : [1, "ns"];
  const value = ns / worth;
  return `${Number.isInteger(value) ? value : value.toFixed(digits).replace(/\.?0+$/, "")} ${unit}`;
}

// The distance of the marks on an axis of times: 1, 2 or 5 times a power of ten, so that there are at most so many.
export function distance(length, most) {
  const raw = length / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(Math.max(1, raw)));
  return Math.max(1, [1, 2, 5, 10].find((factor) => factor * power >= raw) * power);
}

// A value of a requirement in its unit.
export const measured = (value, unit) => (value === null ? "–" : unit === "ns" ? time(value) : `${value} ${unit ?? ""}`.trim());

// A requirement on one line; the server says where its found value, worst case and limit are.
export function requirementBar(one) {
  const [found, worst, limit] = [one.found, one.worst_case, one.limit].map((value) => measured(value, one.unit));
  const bar = make("div", { class: "requirement", role: "img", "aria-label": `${one.words}: found ${found}, worst case ${worst}, limit ${limit}` });
  const share = (place) => `${100 * place}%`;
  if (one.bar.found !== null) {
    const length = make("span", { class: `found ${one.bar.over ? "over" : ""}` });
    length.style.width = share(one.bar.found);
    bar.append(length);
  }
  for (const [kind, place] of [["worst", one.bar.worst_case], ["limit", one.bar.limit]]) {
    if (place === null) continue;
    const mark = make("span", { class: kind });
    mark.style.left = share(place);
    bar.append(mark);
  }
  return bar;
}

export async function get(path) {
  return told(await fetch(path));
}

export async function post(path, content, method = "POST") {
  const answer = await fetch(path, { method, body: typeof content === "string" ? content : JSON.stringify(content) });
  return told(answer);
}

// What an answer says. What is impossible has a reason, which is no error of the program: its status is 200, because
// the browser's console would show any other one in red.
async function told(answer) {
  if (!answer.ok) throw new Error((await answer.text()).trim());
  const found = answer.status === 204 ? null : await answer.json();
  if (found?.refused) throw new Error(found.refused);
  return found;
}
