// A report: the same charts from data that lie in the file itself.

import { Chart, grouped } from "./chart.js";
import { drawNet } from "./graph.js";
import { amount, duration, el, number } from "./ui.js";

function report(main, said) {
  const names = said.table.runs.map((run) => run.name);
  main.append(el("h1", {}, names.length === 1 ? `Run ${names[0]}` : `${names.length} runs`),
    el("p", { class: "dim" }, said.made));
  main.append(el("div", { class: "card scroll" }, el("table", {},
    el("thead", {}, el("tr", {}, ["run", "state", "iterations", "best", "time", "settings"].map((name) => el("th", {}, name)))),
    el("tbody", {}, said.table.runs.map((run) => el("tr", { "data-run": run.name },
      el("td", {}, run.name), el("td", {}, run.state, run.why ? `: ${run.why}` : ""),
      el("td", {}, `${number(run.iteration)}${run.max_iter ? ` of ${number(run.max_iter)}` : ""}`),
      el("td", {}, run.best ? `${number(run.best.value, 5)} (${run.best.name} at ${number(run.best.iteration)})` : "–"),
      el("td", {}, duration(run.seconds)),
      el("td", {}, Object.entries(run.settings).map(([key, value]) => el("span", { class: "chip" }, `${key} ${value}`)))))))));
  const place = el("div", { class: "grid" });
  main.append(place);
  const charts = [];
  const groups = grouped(said.curves.runs, names, true);
  for (const title of groups.keys()) {
    charts.push(new Chart(title, (span) => { for (const chart of charts) chart.setSpan(span); }));
    place.append(charts[charts.length - 1].card);
  }
  [...groups.values()].forEach((curves, i) => charts[i].show(curves, said.curves.x, { log: false, span: null }));
  addEventListener("resize", () => { for (const chart of charts) chart.resize(); });
  for (const net of said.nets) {
    main.append(el("section", { class: "card", "aria-label": "net" }, el("h2", {}, `${net.run}: ${net.name || "net"}`),
      el("p", { class: "dim" }, net.problem || `${number(net.params)} parameters, ${amount(net.flops)}FLOP forward, ${amount(net.memory, "B")} to train`),
      el("div", { class: "netbox" }, drawNet(net, () => {}))));
  }
}

report(document.getElementById("main"), JSON.parse(document.getElementById("data").textContent));
