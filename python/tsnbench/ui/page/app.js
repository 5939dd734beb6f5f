// The page of `tsnbench ui`: lists, a text, and its problems at their places.
const at = (id) => document.getElementById(id);
const text = at("text");
let open = null; // the scenario in the editor: {name, tag, saved}
let asked = 0; // the number of the last check: answers to earlier ones are of an older text
let timer = 0;

const url = (kind, name) => `/api/${kind}/${name.split("/").map(encodeURIComponent).join("/")}`;

function say(words, kind = "") {
  at("status").textContent = words;
  at("status").className = kind;
}

function entry(label, action) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = label;
  button.addEventListener("click", () => action(button));
  item.append(button);
  return item;
}

async function list() {
  const answer = await fetch("/api/folder");
  if (!answer.ok) return say(await answer.text(), "bad");
  const found = await answer.json();
  at("folder").textContent = found.folder;
  at("scenarios").replaceChildren(...found.scenarios.map((name) => entry(name, (button) => load(name, button))));
  at("runs").replaceChildren(...found.runs.map(runEntry));
  document.body.dataset.ready = "yes";
}

function runEntry(run) {
  const item = document.createElement("li");
  const verdict = [run.state === "complete" && run.verdict ? "" : run.state, run.verdict].filter(Boolean).join(", ");
  const words = `${run.folder}: ${verdict}${run.problem ? ` (${run.problem})` : ""}`;
  item.append(run.report ? anchor("report", run.folder, words) : words);
  if (run.replay) item.append(" ", anchor("replay", run.folder, "replay"));
  return item;
}

function anchor(kind, folder, words) {
  const link = document.createElement("a");
  link.href = url(kind, folder);
  link.textContent = words;
  return link;
}

const changed = () => open !== null && text.value !== open.saved;

async function load(name, button) {
  if (changed() && !confirm(`Discard the changes of ${open.name}?`)) return;
  const answer = await fetch(url("scenario", name));
  if (!answer.ok) return say(await answer.text(), "bad");
  const raw = await answer.text();
  text.value = raw;
  // A text field has line feeds alone; a file with other line ends would be changed in every line.
  const whole = text.value === raw;
  open = { name, tag: answer.headers.get("etag"), saved: text.value, whole };
  text.disabled = false;
  text.readOnly = !whole;
  at("name").textContent = name;
  at("command").textContent = `tsnbench check ${name}`;
  for (const one of document.querySelectorAll("[aria-current]")) one.removeAttribute("aria-current");
  button.setAttribute("aria-current", "true");
  say(whole ? "" : "This file has line ends other than line feeds: it can be read here, not edited.");
  refresh();
  check();
}

const refresh = () => {
  at("save").disabled = !changed();
};

async function check() {
  const number = ++asked;
  const { name } = open;
  const answer = await fetch(url("check", name), { method: "POST", body: text.value });
  if (number !== asked) return;
  if (!answer.ok) return say(await answer.text(), "bad");
  const found = await answer.json();
  if (number !== asked) return;
  const problems = found.problems.map((one) =>
    entry(
      `${one.line}:${one.column}: ${one.path ? `${one.path}: ` : ""}expected ${one.expected}, found ${one.found}` +
        (one.hint ? `. Hint: ${one.hint}` : ""),
      () => jump(one.line, one.column),
    ),
  );
  const warnings = found.warnings.map((one) => {
    const item = document.createElement("li");
    item.textContent = `warning: ${Object.values(one).filter(Boolean).join(": ")}`;
    return item;
  });
  at("problems").replaceChildren(...problems, ...warnings);
  at("problems").dataset.checked = String(number);
  at("heading").textContent = found.ok ? "No problems" : `Problems: ${problems.length}`;
  at("heading").className = found.ok ? "good" : "bad";
}

function jump(line, column) {
  const lines = text.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  // Columns count characters; positions in a text field count UTF-16 units.
  const place = start + [...(lines[line - 1] ?? "")].slice(0, column - 1).join("").length;
  text.focus();
  text.setSelectionRange(place, place);
}

async function save() {
  if (!changed()) return;
  const sent = text.value;
  const mine = open;
  const headers = { "if-match": mine.tag };
  const answer = await fetch(url("scenario", mine.name), { method: "PUT", headers, body: sent });
  if (!answer.ok) return say(`Not saved: ${await answer.text()}`, "bad");
  mine.tag = answer.headers.get("etag");
  mine.saved = sent;
  say("Saved", "good");
  refresh();
}

text.addEventListener("input", () => {
  refresh();
  clearTimeout(timer);
  timer = setTimeout(check, 150);
});
at("save").addEventListener("click", save);
addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "s") {
    event.preventDefault();
    save();
  }
});
addEventListener("beforeunload", (event) => {
  if (changed()) event.preventDefault();
});
list();
