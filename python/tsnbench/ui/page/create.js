// The dialog that makes a scenario: the name of a file, and the template that it begins with.
import { at, get, make, quoted, url } from "./dom.js";

let templates = [];

// `created` is called with the name of the new file.
export function start(created) {
  at("begin").addEventListener("click", () => at("new").click());
  at("new").addEventListener("click", open);
  at("new-cancel").addEventListener("click", () => at("new-scenario").close());
  at("new-make").addEventListener("click", () => write(created));
  at("new-from").addEventListener("change", tell);
  at("new-file").addEventListener("input", tell);
  at("new-file").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.isComposing) write(created);
  });
}

async function open() {
  at("new-refused").textContent = "";
  try {
    templates = await get("/api/templates");
  } catch {
    templates = [];
    at("new-refused").textContent = "The server does not answer any more.";
  }
  at("new-from").replaceChildren(...templates.map((one) => make("option", { value: one.name, text: `${one.name}: ${one.about}` })));
  tell();
  at("new-scenario").showModal();
  at("new-file").focus();
  at("new-file").select();
}

function file() {
  const written = at("new-file").value.trim();
  return /\.ya?ml$/.test(written) || written === "" ? written : `${written}.yaml`;
}

function tell() {
  at("new-command").textContent = `tsnbench init ${at("new-from").value} ${file() ? quoted(file()) : "FILE.yaml"}`;
}

async function write(created) {
  const template = templates.find((one) => one.name === at("new-from").value);
  if (!template) return;
  if (!file()) return refused("Write the name of a file.");
  // A browser resolves these parts of an address itself.
  if (file().split("/").some((part) => part === "." || part === "..")) return refused("Not created: the file is below the opened folder.");
  let answer;
  try {
    answer = await fetch(url("scenario", file()), { method: "PUT", headers: { "if-none-match": "*" }, body: template.text });
  } catch {
    return refused("The server does not answer any more.");
  }
  if (!answer.ok) return refused(`Not created: ${(await answer.text()).trim()}`);
  const { name } = await answer.json();
  at("new-scenario").close();
  at("new-file").value = "";
  return created(name);
}

function refused(words) {
  at("new-refused").textContent = words;
  at("new-file").focus();
}
