// Start a run from a form, and stop or snapshot those that run.

import { el, empty, fail, get, number, onChange, post } from "./ui.js";

export async function show(main) {
  main.append(el("h1", {}, "Start"));
  const table = await get("runs");
  if (!table.control) {
    main.append(empty("This board only shows. `pcd board --control` lets it start, stop and snapshot runs."));
    return null;
  }
  const solvers = await get("solvers");
  const running = el("div");
  main.append(form(solvers), el("h2", {}, "Running"), running);
  const load = async () => {
    const now = (await get("runs")).runs.filter((run) => run.state === "running");
    running.replaceChildren(...(now.length ? now.map(controls) : [empty("No run is running on this machine.")]));
  };
  await load();
  const stop = onChange(load);
  const clock = setInterval(load, 2000);
  return () => { stop(); clearInterval(clock); };
}

function form(solvers) {
  const solver = el("select", { id: "solver" }, solvers.map((path) => el("option", { value: path }, path)));
  const name = el("input", { id: "name", value: "new", required: true });
  const settings = el("textarea", { id: "settings", rows: 2, placeholder: "base_lr=0.02, one on each line" });
  const ranks = el("input", { id: "ranks", type: "number", min: 1, placeholder: "1" });
  const most = el("input", { id: "most", type: "number", min: 1, placeholder: "as the solver says" });
  const line = el("pre", { id: "command", "aria-live": "polite" });
  const place = el("div");
  const asked = () => ({ solver: solver.value, name: name.value, ranks: Number(ranks.value) || null, max_iter: Number(most.value) || null,
    settings: settings.value.split("\n").map((row) => row.trim()).filter(Boolean) });
  const preview = async () => {
    try { line.textContent = (await post("command", asked())).command; place.replaceChildren(); } catch (error) { line.textContent = ""; place.replaceChildren(fail(error)); }
  };
  const go = el("button", { class: "main", type: "submit" }, "Start");
  const row = (id, text, field) => [el("label", { for: id }, text), field];
  const fields = el("form", { class: "fields", onsubmit: async (event) => {
    event.preventDefault();
    try {
      const said = await post("start", asked());
      place.replaceChildren(el("p", { role: "status" }, `Started ${said.run}, process ${said.process}.`));
    } catch (error) { place.replaceChildren(fail(error)); }
  } }, row("solver", "solver", solver), row("name", "name of the run", name), row("settings", "settings", settings),
  row("ranks", "ranks", ranks), row("most", "iterations", most), el("span", { class: "dim" }, "command"), line,
  el("span"), el("span", {}, go, " ", el("button", { type: "button", onclick: () => navigator.clipboard?.writeText(line.textContent) }, "Copy")));
  for (const field of [solver, name, settings, ranks, most]) field.addEventListener("input", preview);
  if (solvers.length) preview();
  return el("section", { class: "card", "aria-label": "New run" }, solvers.length ? fields
    : el("p", { class: "dim" }, "No *solver*.prototxt in the folders of this board; `--data DIR` adds folders."), place);
}

function controls(run) {
  const said = el("span", { class: "dim", role: "status" });
  const tell = (what) => async () => {
    try { await post("tell", { run: run.name, what }); said.textContent = `told to ${what}`; } catch (error) { said.textContent = error.message; }
  };
  return el("div", { class: "card bar", "data-run": run.name }, el("strong", {}, run.name),
    `${number(run.iteration)} of ${number(run.max_iter)}`,
    el("button", { onclick: tell("stop") }, "Stop"), el("button", { onclick: tell("snapshot") }, "Snapshot"), said);
}
