// A traced step by rank: what was computed, exchanged and waited for, and who was late.

import { amount, choice, el, empty, fail, get, number, svg } from "./ui.js";

const ROW = 20;

export async function show(main) {
  main.append(el("h1", {}, "Cluster"));
  const traces = await get("traces");
  if (!traces.length) {
    main.append(empty("No run has a trace: `pcd train --ranks 4 --run-dir runs/NAME --trace runs/NAME/trace.json` writes one, and `pcd simulate --timeline FILE` of a cluster that is not there."));
    return;
  }
  const names = traces.map((each) => (each.run ? `${each.run}: ${each.trace}` : each.trace));
  const place = el("div");
  const load = async (index, span = {}) => {
    const { run, trace } = traces[index];
    try {
      place.replaceChildren(...draw(await get("timeline", { run, trace, ...span }), (from, to) => load(index, { from, to })));
    } catch (error) { place.replaceChildren(fail(error)); }
  };
  main.append(el("div", { class: "bar" }, choice("trace", names, names[0], (name) => load(names.indexOf(name))),
    el("span", {}, ["compute", "exchange", "wait"].map((kind) => el("span", { class: "key" }, el("i", { class: kind }), kind)))), place);
  await load(0);
}

function draw(said, zoom) {
  const rows = [...new Map(said.spans.map((s) => [`${s.rank}/${s.row}`, s])).values()]
    .sort((a, b) => a.rank - b.rank || a.row - b.row).map((s) => `${s.rank}/${s.row}`);
  const width = Math.max(320, (document.getElementById("main").clientWidth || 900) - 80);
  const left = 96;
  const scale = (width - left) / (said.end - said.begin);
  const at = (ms) => left + (ms - said.begin) * scale;
  const picture = svg("svg", { width, height: rows.length * ROW + 26, role: "img", "aria-label": "timeline of a step" });
  rows.forEach((key, i) => {
    const [rank, row] = key.split("/");
    picture.append(svg("text", { class: "edgelabel", x: 2, y: i * ROW + 14 }, row === "0" ? `rank ${rank}` : "  exchanges"));
  });
  for (const span of said.spans) {
    const begin = Math.max(at(span.begin), left);
    const length = Math.max(1, Math.min(at(span.begin + span.ms), width) - begin);
    const words = `${span.name}: ${number(span.ms, 3)} ms${span.scheme ? `, ${span.scheme}, ${amount(span.bytes, "B")} sent` : ""}`;
    picture.append(svg("rect", { class: `span ${span.kind}`, x: begin, y: rows.indexOf(`${span.rank}/${span.row}`) * ROW + 3,
      width: length, height: ROW - 6, rx: 2, "data-name": span.name }, svg("title", {}, words)));
  }
  const marks = width < 600 ? 2 : 4; // their words need room
  for (let i = 0; i <= marks; i++) {
    const ms = said.begin + (said.end - said.begin) * i / marks;
    picture.append(svg("text", { class: "edgelabel", x: Math.min(at(ms), width - 54), y: rows.length * ROW + 18 }, `${number(ms, 4)} ms`));
  }
  const length = said.end - said.begin;
  const move = (begin, end) => zoom(Math.max(0, begin), Math.min(said.whole, end));
  return [
    el("div", { class: "card" }, el("div", { class: "bar" },
      el("button", { onclick: () => move(said.begin - length, said.end - length) }, "Earlier"),
      el("button", { onclick: () => move(said.begin + length, said.end + length) }, "Later"),
      el("button", { onclick: () => move(said.begin + length / 4, said.end - length / 4) }, "Closer"),
      el("button", { onclick: () => move(said.begin - length / 2, said.end + length / 2) }, "Wider"),
      el("span", { class: "dim" }, `${number(said.begin, 4)} to ${number(said.end, 4)} of ${number(said.whole, 5)} ms${said.cut ? `, ${said.cut} spans left out` : ""}`)),
    el("div", { class: "scroll" }, picture)),
    el("div", { class: "card scroll" }, el("h2", {}, "Ranks, over the whole trace"), el("table", {},
      el("thead", {}, el("tr", {}, ["rank", "compute", "exchanges", "waited", "overlap", "sent", ""].map((name) => el("th", {}, name)))),
      el("tbody", {}, said.ranks.map((rank) => el("tr", { "data-rank": rank.rank },
        el("td", {}, rank.rank), el("td", { class: "whole" }, `${number(rank.compute, 4)} ms`), el("td", { class: "whole" }, `${number(rank.exchange, 4)} ms`),
        el("td", { class: "whole" }, `${number(rank.wait, 4)} ms`), el("td", {}, `${Math.round(100 * rank.overlap)} %`), el("td", { class: "whole" }, amount(rank.bytes, "B")),
        el("td", {}, rank.late ? el("span", { class: "state stopped" }, "waited least: the others waited for it") : ""))))))];
}
