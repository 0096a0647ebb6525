// Loss, learning rate and scores of one or more runs: raw and smoothed, live, zoomable.

import { address } from "./app.js";
import { Chart, FEW, colourOf, grouped } from "./chart.js";
import { el, empty, get, onChange } from "./ui.js";

const options = { smooth: true, log: false };

export async function show(main, state) {
  const table = await get("runs");
  const known = table.runs.map((run) => run.name);
  let names = state.runs.filter((name) => known.includes(name));
  if (!names.length) names = known.slice(0, FEW);
  main.append(el("h1", {}, names.length === 1 ? `Curves of ${names[0]}` : "Curves"));
  if (!names.length) {
    main.append(empty("No runs here yet."));
    return null;
  }
  const page = new Page(names, known);
  main.append(page.bar(), page.notice, page.charts);
  await page.load();
  const stop = onChange((changed) => { if (changed.some((name) => names.includes(name))) page.soon(); });
  window.board = page; // for tests and for the curious
  return () => { stop(); page.close(); };
}

class Page {
  constructor(names, known) {
    this.names = names;
    this.known = known;
    this.span = null; // of iterations, if zoomed
    this.byTitle = new Map();
    this.charts = el("div", { class: "grid" });
    this.notice = el("div");
    this.loading = null;
    this.resized = () => { for (const chart of this.byTitle.values()) chart.resize(); };
    window.addEventListener("resize", this.resized);
  }

  close() {
    window.removeEventListener("resize", this.resized);
    clearTimeout(this.timer);
    for (const chart of this.byTitle.values()) chart.destroy();
  }

  bar() {
    const check = (label, key) => {
      const box = el("input", { type: "checkbox", checked: options[key], onchange: () => {
        options[key] = box.checked;
        this.draw();
      } });
      return el("label", {}, box, label);
    };
    const chips = this.names.length > 12 ? [el("span", { class: "dim" }, `${this.names.length} runs`)]
      : this.names.map((name) => el("a", { class: "chip", href: address("curves", [name]) },
        el("span", { class: "swatch", style: { background: colourOf(this.names, name) } }), " ", name));
    const all = this.names.length < this.known.length
      ? el("a", { href: address("curves", this.known) }, `all ${this.known.length} runs`) : null;
    return el("div", { class: "bar" }, check("smoothed", "smooth"), check("logarithmic", "log"),
      el("button", { onclick: () => this.zoom(null) }, "Whole run"), el("span", {}, chips), all);
  }

  /** Several changes at once are drawn once. */
  soon(wait = 100) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load(), wait);
  }

  zoom(span) {
    this.span = span;
    for (const chart of this.byTitle.values()) chart.setSpan(span);
    this.soon();
  }

  async load() {
    const many = this.names.length > FEW;
    const query = { runs: JSON.stringify(this.names), points: many ? 180 : 600 };
    if (this.span) Object.assign(query, { from: this.span[0], to: this.span[1] });
    this.data = await get("curves", query);
    this.draw();
  }

  draw() {
    const reading = Object.values(this.data.runs).filter((run) => run.preview);
    this.notice.replaceChildren(...(reading.length ? [el("div", { class: "card notice" },
      `Preview from a sample of lines: ${reading.length} of ${this.names.length} runs are still being read`,
      ` (${Math.round(100 * Math.min(...reading.map((run) => run.read)))} % of the slowest). `,
      "Extremes may be missing until then.")] : []));
    const groups = grouped(this.data.runs, this.names, options.smooth);
    for (const [title, chart] of this.byTitle) {
      if (!groups.has(title)) { chart.destroy(); chart.card.remove(); this.byTitle.delete(title); }
    }
    // All cards first: how wide a chart is depends on how many there are.
    for (const title of groups.keys()) {
      if (this.byTitle.has(title)) continue;
      const chart = new Chart(title, (span) => this.zoom(span));
      this.byTitle.set(title, chart);
      this.charts.append(chart.card);
    }
    for (const [title, curves] of groups) {
      this.byTitle.get(title).show(curves, this.data.x, { log: options.log && title === "loss", span: this.span });
    }
  }
}
