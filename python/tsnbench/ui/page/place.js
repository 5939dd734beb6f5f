// Where the next run takes place: what this machine and a lab can do for the open scenario, with the reasons.
import { all, at, make, post, quoted, url } from "./dom.js";

const BEGIN = { on: "simulation", dilate: 1, lab: "" };
let place = { ...BEGIN };
let source = () => null; // the name and the text of the open scenario
let changed = () => {};
let asked = 0;
let timer = 0;

export const chosen = () => place;
export const options = () => [
  place.on === "simulation" ? "" : ` --on ${place.on}`, place.on !== "simulation" && place.dilate !== 1 ? ` --dilate ${place.dilate}` : "",
  place.on === "hosts" ? ` --hosts ${quoted(place.lab)}` : "",
].join("");

export function start(scenario, told) {
  source = scenario;
  changed = told;
  at("where").addEventListener("toggle", ask);
  at("lab").addEventListener("change", () => {
    place.lab = at("lab").value;
    if (place.on === "hosts") choose(place.lab ? "hosts" : "simulation");
    ask();
  });
  at("dilate").addEventListener("change", () => {
    if (!at("dilate").checkValidity() || !at("dilate").value) at("dilate").value = String(place.dilate);
    place.dilate = Number(at("dilate").value);
    choose(place.on);
    ask();
  });
}

// A run on a kernel or on hosts is chosen for one scenario, not for the next one that is opened.
export function reset() {
  place = { ...BEGIN };
  at("lab").value = "";
  at("dilate").value = "1";
  choose(place.on);
  ask();
}

export function later() {
  clearTimeout(timer);
  timer = setTimeout(ask, 600);
}

function choose(on) {
  place.on = on;
  for (const one of all("input[name=place]")) one.checked = one.value === on;
  at("where-name").textContent = document.querySelector(`[data-place="${on}"] label`)?.textContent ?? "Simulation";
  changed();
}

async function ask() {
  const open = source();
  if (!at("where").open || !open) return;
  const number = ++asked;
  at("where-said").textContent = "Checking what is possible here …";
  try {
    const found = await post(url("places", open.name), { text: open.text, dilate: place.dilate, lab: at("lab").value });
    if (number !== asked) return;
    if (found.places.length) show(found);
    at("where-said").textContent = found.places.length ? "" : "The scenario has problems: correct them first.";
  } catch (error) {
    if (number === asked) at("where-said").textContent = error.message;
  }
}

function show(found) {
  if (!at("places").children.length) at("places").replaceChildren(...found.places.map(row));
  const labs = [...at("lab").options].slice(1).map((one) => one.value);
  if (labs.join("\n") !== found.labs.join("\n")) {
    const chosenLab = at("lab").value;
    at("lab").replaceChildren(at("lab").options[0], ...found.labs.map((name) => make("option", { value: name, text: name })));
    at("lab").value = found.labs.includes(chosenLab) ? chosenLab : "";
    place.lab = at("lab").value;
  }
  for (const one of found.places) {
    const item = document.querySelector(`[data-place="${one.on}"]`);
    item.querySelector("input").disabled = !one.can;
    item.querySelector("p").replaceChildren(...why(one));
    if (!one.can && place.on === one.on) choose("simulation");
  }
}

function row(one) {
  const radio = make("input", { type: "radio", name: "place", value: one.on, id: `place-${one.on}`, "aria-describedby": `why-${one.on}` });
  radio.checked = one.on === place.on;
  radio.addEventListener("change", () => choose(one.on));
  return make("li", { "data-place": one.on }, radio, make("label", { for: `place-${one.on}`, text: one.name }), make("p", { id: `why-${one.on}`, class: "soft" }));
}

function why(one) {
  const hint = one.remedy ? ` Hint: ${one.remedy}.` : "";
  if (!one.can) return [`Not possible: ${one.reasons.join("; ")}.${hint}`];
  return one.reasons.length ? [`Note: ${one.reasons.join("; ")}.`] : [];
}
