// The page of `tsnbench ui`: lists, a text with its problems at their places, and runs under way.
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
  at("scenarios").replaceChildren(...found.scenarios.map(scenarioEntry), ...more(found.more_scenarios));
  at("runs").replaceChildren(...found.runs.map(runEntry), ...more(found.more_runs));
  document.body.dataset.ready = "yes";
}

function scenarioEntry(name) {
  const item = entry(name, (button) => load(name, button));
  if (open?.name === name) item.firstChild.setAttribute("aria-current", "true");
  return item;
}

function more(count) {
  if (!count) return [];
  const item = document.createElement("li");
  item.textContent = `and ${count} more`;
  return [item];
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

// As a POSIX shell needs it.
const quoted = (name) => {
  const path = name.startsWith("-") ? `./${name}` : name;
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'"'"'`)}'`;
};

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
  at("command").textContent = `tsnbench check ${quoted(name)}; tsnbench run --keep-runs ${quoted(name)}`;
  for (const one of document.querySelectorAll("[aria-current]")) one.removeAttribute("aria-current");
  button.setAttribute("aria-current", "true");
  say(whole ? "" : "This file has line ends other than line feeds: it can be read here, not edited.");
  refresh();
  check();
}

const refresh = () => {
  at("save").disabled = !changed();
  at("run").disabled = open === null;
  at("run").textContent = changed() ? "Save and run (Ctrl-Enter)" : "Run (Ctrl-Enter)";
};

async function run() {
  if (open === null || (changed() && !(await save()))) return;
  const answer = await fetch(url("run", open.name), { method: "POST" });
  if (!answer.ok) return say(`Not started: ${await answer.text()}`, "bad");
  const job = await answer.json();
  say(`Started: ${job.command}`, "good");
  due += 1;
  watch();
}

let watching = false;
let due = 0; // a run that starts while the last answer is read is asked for, too
let known = ""; // the jobs that had ended when the list of runs was made

// Asks for the jobs as long as one of them runs.
async function watch() {
  if (watching) return;
  watching = true;
  try {
    for (;;) {
      const seen = due;
      const answer = await fetch("/api/jobs");
      if (!answer.ok) return say(await answer.text(), "bad");
      const jobs = await answer.json();
      at("started").hidden = jobs.length === 0;
      show(jobs);
      const ended = jobs.filter((job) => job.state === "ended").map((job) => job.job).join();
      if (ended !== known) {
        known = ended;
        await list();
      }
      if (seen === due && jobs.every((job) => job.state === "ended")) return;
      await new Promise((done) => setTimeout(done, 300));
    }
  } catch {
    say("The server does not answer any more. Runs that it had started have ended with it.", "bad");
  } finally {
    watching = false;
  }
}

// Items stay where they are, so that a button keeps the focus while the numbers beside it change.
function show(jobs) {
  const items = new Map([...at("jobs").children].map((item) => [item.dataset.job, item]));
  const wanted = jobs.map((job) => {
    const item = items.get(String(job.job)) ?? jobItem(job);
    update(item, job);
    return item;
  });
  if (wanted.some((item, place) => at("jobs").children[place] !== item)) at("jobs").replaceChildren(...wanted);
}

function jobItem(job) {
  const item = document.createElement("li");
  item.dataset.job = String(job.job);
  const [name, bar, words, stop] = ["p", "progress", "p", "button"].map((kind) => document.createElement(kind));
  name.textContent = job.command;
  bar.setAttribute("aria-label", `Progress of ${job.command}`);
  stop.type = "button";
  stop.textContent = "Stop";
  stop.setAttribute("aria-label", `Stop ${job.command}`);
  stop.addEventListener("click", () => fetch(`/api/stop/${job.job}`, { method: "POST" }));
  item.append(name, bar, words, stop);
  return item;
}

// What ended with a mistake (2) or an error of the machine (3) says so itself.
const ENDS = { 0: "", 1: "", 2: "", 3: "", 130: "Stopped. " };

function update(item, job) {
  const [, bar, words, stop] = item.children;
  const { run, number = 1, count = 1, done, ns, of_ns: all, step } = job.progress;
  item.dataset.state = job.state;
  const ended = job.state === "ended";
  bar.hidden = ended;
  stop.hidden = ended;
  stop.disabled = job.state !== "running";
  // Runs that are made at the same time: only how many have ended is a measure of progress.
  if (done !== undefined) bar.value = done / count;
  else if (step === undefined && all) bar.value = (number - 1 + ns / all) / count;
  else if (count > 1) bar.value = number / count;
  else bar.removeAttribute("value");
  const which = count > 1 ? `${run} (${number} of ${count}): ` : "";
  const together = done === undefined ? "" : `${done} of ${count} runs`;
  const far = step ?? (all ? `${Math.floor((100 * ns) / all)} % simulated` : "starting");
  const end = ENDS[job.code] ?? `Ended with ${job.code}. `;
  words.textContent = ended ? `${end}${job.verdict}\n${job.words}`.trim() : together || `${which}${far}`;
  // Green is what is proved; a run in which nothing failed is no proof.
  const proved = job.verdict.startsWith("ALL MET (PROVED)") && !job.verdict.includes(" lost");
  const failed = job.code !== 0 && job.code !== 130;
  words.className = !ended ? "" : failed ? "bad" : job.code === 0 && proved ? "good" : "";
}

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
  if (!changed()) return true;
  const sent = text.value;
  const mine = open;
  const headers = { "if-match": mine.tag };
  const answer = await fetch(url("scenario", mine.name), { method: "PUT", headers, body: sent });
  if (!answer.ok) {
    say(`Not saved: ${await answer.text()}`, "bad");
    return false;
  }
  mine.tag = answer.headers.get("etag");
  mine.saved = sent;
  say("Saved", "good");
  refresh();
  return true;
}

text.addEventListener("input", () => {
  refresh();
  clearTimeout(timer);
  timer = setTimeout(check, 150);
});
at("save").addEventListener("click", save);
at("run").addEventListener("click", run);
addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "s") {
    event.preventDefault();
    save();
  } else if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
    event.preventDefault();
    run();
  }
});
addEventListener("beforeunload", (event) => {
  if (changed()) event.preventDefault();
});
list();
watch();
