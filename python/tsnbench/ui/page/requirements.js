// The form for the requirements of a selected stream: each change is one small edit of the text.
import { get, make } from "./dom.js";

let offered = []; // every requirement: {key, about, example}

export async function start() {
  offered = await get("/api/requirements");
}

// `edit(wanted, focus)` edits the text, and gives the focus to the element of the new form that has this selector.
export function form(stream, edit) {
  if (stream.requires === null) {
    return make("p", { class: "soft", text: "A table, a list of streams or a sweep sets its requirements: change them in the text." });
  }
  const about = new Map(offered.map((one) => [one.key, one.about]));
  const rows = stream.requires.map((one) => row(stream.name, one, about.get(one.key) ?? "", edit));
  const box = make("fieldset", { class: "requires" }, make("legend", { text: "Requirements" }), ...rows);
  if (!rows.length) box.append(make("p", { class: "soft", text: "The stream has no requirements." }));
  const left = offered.filter((one) => !stream.requires.some(({ key }) => key === one.key));
  // Without a limit, there is nothing that the worst case could keep.
  const first = rows.length ? left : left.filter((one) => one.key !== "worst-case");
  if (first.length) box.append(...adding(stream.name, first, edit));
  return box;
}

function row(stream, { key, value, swept }, about, edit) {
  const field = make("input", { size: 10, value, "data-requires": key, readonly: swept, "aria-label": `${key} of ${stream}`, autocomplete: "off" });
  const change = () => field.value.trim() !== value && edit({ edit: "require", stream, key, value: field.value.trim() }, selector(key));
  onEnter(field, change);
  const buttons = [
    swept ? make("span", { class: "soft", text: "Set by a sweep: change it in the text." })
      : make("button", { type: "button", text: "Change", "aria-label": `Change ${key}`, onclick: change }),
    make("button", {
      type: "button", text: "Remove", "aria-label": `Remove ${key}`,
      onclick: () => edit({ edit: "no-longer-require", stream, key }, "#require-key"),
    }),
  ];
  return make("p", { title: about }, make("span", { class: "key", text: key }), field, ...buttons);
}

function adding(stream, left, edit) {
  const choice = make("select", { id: "require-key", "aria-label": "A further requirement", "aria-describedby": "require-about" },
    ...left.map(({ key }) => make("option", { value: key, text: key })));
  const field = make("input", { size: 10, id: "require-value", "aria-label": "Its value", autocomplete: "off" });
  const about = make("p", { class: "soft", id: "require-about" });
  const tell = () => {
    const one = left.find(({ key }) => key === choice.value);
    field.placeholder = one.example;
    about.textContent = `${one.key}: ${one.about}. For example ${one.example}.`;
  };
  // An empty field is the example that stands in it.
  const add = () => edit({ edit: "require", stream, key: choice.value, value: field.value.trim() || field.placeholder }, selector(choice.value));
  choice.addEventListener("change", tell);
  onEnter(field, add);
  tell();
  return [make("p", {}, choice, field, make("button", { type: "button", text: "Add", "aria-label": "Add the requirement", onclick: add })), about];
}

const selector = (key) => `[data-requires="${CSS.escape(key)}"]`;

function onEnter(field, action) {
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.ctrlKey && !event.isComposing) action();
  });
}
