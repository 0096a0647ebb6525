// The table of runs: state, progress, best score, what differs.

import { address } from "./app.js";
import { duration, el, empty, get, number, onChange } from "./ui.js";

let sorting = { column: "updated", down: true };

export async function show(main, state) {
  const chosen = new Set(state.runs);
  const place = el("div");
  const compare = el("button", { class: "main", disabled: true, onclick: () => {
    location.hash = address("curves", [...chosen]);
  } }, "Compare");
  const filter = el("input", { type: "search", placeholder: "filter by name", "aria-label": "Filter by name",
    oninput: () => draw() });
  main.append(el("h1", {}, "Runs"), el("div", { class: "bar" }, filter, compare), place);
  let table = null;

  function draw() {
    const rows = table.runs.filter((run) => run.name.includes(filter.value));
    compare.disabled = chosen.size === 0;
    compare.textContent = chosen.size > 1 ? `Compare ${chosen.size} runs` : "Show curves";
    place.replaceChildren(rows.length ? body(sorted(rows), table.differ, chosen, draw)
      : empty("No runs here yet. `pcd train --run-dir runs/NAME` makes one."));
  }

  async function load() {
    table = await get("runs");
    draw();
  }
  await load();
  const stop = onChange(load);
  const clock = setInterval(load, 5000); // progress of those that only write now and then
  return () => { stop(); clearInterval(clock); };
}

function sorted(rows) {
  const key = sorting.column === "best" ? (r) => r.best?.value ?? -Infinity : (r) => r[sorting.column];
  const way = sorting.down ? -1 : 1;
  return [...rows].sort((a, b) => (key(a) > key(b) ? way : key(a) < key(b) ? -way : 0));
}

function body(rows, differ, chosen, draw) {
  const head = (name, column) => el("th", column ? { "aria-sort": sorting.column === column
    ? (sorting.down ? "descending" : "ascending") : "none" } : {}, column ? el("button", { onclick: () => {
    sorting = { column, down: sorting.column === column ? !sorting.down : true };
    draw();
  } }, name, sorting.column === column ? (sorting.down ? " ↓" : " ↑") : "") : name);
  return el("div", { class: "card scroll" }, el("table", { class: "stack" },
    el("thead", {}, el("tr", {}, el("th", {}, el("span", { class: "skip" }, "chosen")), head("run", "name"),
      head("state", "state"), head("progress", "iteration"), head("best", "best"),
      el("th", {}, "settings that differ"), head("time", "seconds"))),
    el("tbody", {}, rows.map((run) => row(run, differ, chosen, draw)))));
}

function row(run, differ, chosen, draw) {
  const box = el("input", { type: "checkbox", checked: chosen.has(run.name), "aria-label": `choose ${run.name}`,
    onchange: () => { if (box.checked) chosen.add(run.name); else chosen.delete(run.name); draw(); } });
  const share = run.max_iter ? Math.min(1, run.iteration / run.max_iter) : null;
  const cell = (label, ...children) => el("td", { "data-label": label }, el("div", {}, ...children));
  return el("tr", { "data-run": run.name },
    cell("", box),
    cell("run", el("a", { href: address("curves", [run.name]) }, run.name),
      run.parent ? el("div", { class: "dim" }, "from ", el("a", { href: address("curves", [run.parent]) }, run.parent)) : null),
    cell("state", el("span", { class: `state ${run.state}` }, run.state),
      run.why ? el("div", { class: "dim" }, run.why) : null),
    cell("progress", `${number(run.iteration)}${run.max_iter ? ` of ${number(run.max_iter)}` : ""}`,
      share == null ? null : el("div", { class: "progress", role: "progressbar", "aria-valuemin": 0, "aria-valuemax": 100,
        "aria-valuenow": Math.round(100 * share), "aria-label": `progress of ${run.name}` },
      el("div", { style: { width: `${100 * share}%` } })),
      run.eta == null ? null : el("div", { class: "dim" }, `${duration(run.eta)} left`)),
    cell("best", ...(run.best ? [el("strong", {}, number(run.best.value, 5)),
      el("div", { class: "dim" }, `${run.best.name} at ${number(run.best.iteration)}${run.preview ? ", so far" : ""}`)] : ["–"])),
    cell("settings", differ.filter((name) => name in run.settings)
      .map((name) => el("span", { class: "chip" }, `${name} ${run.settings[name]}`))),
    cell("time", duration(run.seconds)));
}
