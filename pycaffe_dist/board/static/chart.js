// One chart: lines over iterations, by uPlot; drag to zoom, wheel to zoom, shift and drag to move.

import { COLOURS, el, number } from "./ui.js";

export const FEW = 8; // runs that are shown unless some are chosen, and whose rates are drawn

const MOST_IN_LEGEND = 14;

export class Chart {
  /** @param asked called with [begin, end], or null for all, when the reader zooms */
  constructor(title, asked) {
    this.title = title;
    this.asked = asked;
    this.place = el("div", { class: "chart" });
    this.text = el("p", { class: "dim" });
    this.card = el("section", { class: "card", "aria-label": title, "data-chart": title },
      el("h2", {}, title), this.place, this.text);
    this.plot = null;
    this.shape = "";
  }

  destroy() { if (this.plot) this.plot.destroy(); this.plot = null; }

  resize() { if (this.plot) this.plot.setSize(this.size()); }

  size() {
    const width = Math.max(260, this.place.clientWidth || 600);
    return { width, height: Math.round(Math.min(380, Math.max(240, width * 0.55))) };
  }

  setSpan(span) {
    if (!this.plot) return;
    const x = this.plot.data[0];
    const [min, max] = span || [x[0], x[x.length - 1]];
    this.plot.setScale("x", { min, max });
  }

  show(curves, x, { log, span }) {
    const lines = curves.flatMap((curve) => this.lines(curve, x));
    const data = x ? [x, ...lines.map((line) => line.y)]
      : uPlot.join(lines.map((line) => [line.x, line.y]), lines.map(() => lines.map(() => 2)));
    const shape = JSON.stringify([log, lines.map((line) => [line.label, line.scale, line.width, line.colour])]);
    this.bests = curves.filter((curve) => curve.test && curve.best);
    this.holes = curves.filter((curve) => curve.not_finite);
    if (this.plot && shape === this.shape) {
      const { min, max } = this.plot.scales.x;
      this.plot.setData(x ? data : fillGaps(data), !span);
      if (span) this.plot.setScale("x", { min, max });
    } else {
      this.destroy();
      this.shape = shape;
      this.plot = new uPlot(this.settings(lines, log), x ? data : fillGaps(data), this.place);
      if (span) this.setSpan(span);
    }
    this.text.textContent = [...this.bests.slice(0, 4).map((curve) =>
      `${curve.label}: best ${number(curve.best[1], 5)} at ${number(curve.best[0])}`),
    ...this.holes.slice(0, 3).map((curve) =>
      `${curve.label}: NaN or infinite ${curve.not_finite[1]} times, first at ${number(curve.not_finite[0])}`)].join(" · ");
  }

  /** A curve as one line, or as a pale one and its smoothed one. */
  lines(curve, x) {
    const scale = curve.rate ? "lr" : "y";
    const smooth = curve.smooth && curve.mean && !x;
    // Of many runs lines are as thin as can be: wider ones take several times as long to draw.
    const raw = { x: curve.x, y: curve.y, label: curve.label, scale, test: curve.test, few: !x && curve.x.length < 80,
      colour: smooth ? `${curve.colour}55` : curve.colour, width: smooth || curve.rate || x ? 1 : 1.6,
      dash: curve.rate ? [2, 3] : curve.test ? [7, 4] : null };
    if (!smooth) return [raw];
    raw.pale = true;
    return [raw, { ...raw, pale: false, smoothed: true, x: curve.mean_x, y: curve.mean, label: `${curve.label}, smoothed`,
      colour: curve.colour, width: 2 }];
  }

  settings(lines, log) {
    const style = getComputedStyle(document.documentElement);
    const [dim, line] = ["--dim", "--line"].map((name) => style.getPropertyValue(name).trim());
    const axis = { stroke: dim, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
    const axes = [
      { ...axis, values: (_, values) => values.map((v) => number(v)) },
      { ...axis, scale: "y", size: 62, values: (_, values) => values.map((v) => (v == null ? "" : number(v, 3))) },
    ];
    if (lines.some((each) => each.scale === "lr")) {
      axes.push({ ...axis, scale: "lr", side: 1, grid: { show: false }, size: 66, label: "learning rate", labelSize: 18,
        values: (_, values) => values.map((v) => number(v, 2)) });
    }
    return {
      ...this.size(),
      scales: { x: { time: false }, y: log ? { distr: 3 } : {}, lr: {} },
      axes,
      series: [{ label: "iteration", value: (_, v) => number(v) }, ...lines.map((each) => ({
        label: each.label, scale: each.scale, stroke: each.colour, width: each.width, dash: each.dash || undefined,
        spanGaps: true, points: { show: each.test && each.few, size: 6 },
        value: (plot, v, i, at) => (each.smoothed && at != null ? `${number(v, 5)} (raw ${number(near(plot, i - 1), 5)})` : number(v, 5)),
      }))],
      legend: { show: lines.length <= MOST_IN_LEGEND },
      // Lines of different x are joined with holes: what is told is the nearest value of each.
      cursor: { drag: { x: true, y: false, setScale: false }, focus: { prox: 24 }, hover: { skip: [null, undefined] } },
      focus: { alpha: lines.length > 3 ? 0.35 : 1 },
      hooks: { setSelect: [(plot) => this.selected(plot)], draw: [(plot) => this.mark(plot)], ready: [(plot) => this.moves(plot), (plot) => pair(plot, lines)],
        setSeries: [(plot, i, { show }) => { if (show != null && lines[i - 1]?.smoothed) plot.setSeries(i - 1, { show }); }] },
    };
  }

  selected(plot) {
    if (plot.select.width < 4) return;
    const span = [plot.posToVal(plot.select.left, "x"), plot.posToVal(plot.select.left + plot.select.width, "x")];
    plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.asked(span);
  }

  /** The best value of each test curve has a ring. */
  mark(plot) {
    if (this.bests.length > MOST_IN_LEGEND) return;
    const context = plot.ctx;
    for (const curve of this.bests) {
      const [x, y] = [plot.valToPos(curve.best[0], "x", true), plot.valToPos(curve.best[1], "y", true)];
      const { left, top, width, height } = plot.bbox;
      if (!(x >= left && x <= left + width && y >= top && y <= top + height)) continue;
      context.save();
      context.strokeStyle = curve.colour;
      context.lineWidth = 2 * devicePixelRatio;
      context.beginPath();
      context.arc(x, y, 6 * devicePixelRatio, 0, 2 * Math.PI);
      context.stroke();
      context.restore();
    }
  }

  /** The wheel zooms around the pointer, dragging with shift moves, a double click shows all. */
  moves(plot) {
    const over = plot.over;
    over.addEventListener("wheel", (event) => {
      event.preventDefault();
      const { min, max } = plot.scales.x;
      const at = plot.posToVal(event.offsetX, "x");
      const factor = event.deltaY > 0 ? 1.25 : 0.8;
      this.asked([at - (at - min) * factor, at + (max - at) * factor]);
    }, { passive: false });
    over.addEventListener("mousedown", (event) => {
      if (!event.shiftKey) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      const { min, max } = plot.scales.x;
      const perPixel = (max - min) / over.clientWidth;
      const move = (e) => {
        const by = (event.clientX - e.clientX) * perPixel;
        this.asked([min + by, max + by]);
      };
      const up = () => { removeEventListener("mousemove", move); removeEventListener("mouseup", up); };
      addEventListener("mousemove", move);
      addEventListener("mouseup", up);
    }, true);
    over.addEventListener("dblclick", () => this.asked(null));
  }
}

/** A smoothed line and its pale one are one thing to the reader: one row of the legend. */
function pair(plot, lines) {
  const rows = plot.root.querySelectorAll(".u-legend .u-series");
  lines.forEach((line, i) => { if (line.pale && rows[i + 1]) rows[i + 1].style.display = "none"; });
}

/** The value of a line at the cursor, or the one closest to it. */
function near(plot, series) {
  const at = plot.cursor.idxs?.[series];
  return at == null ? null : plot.data[series][at];
}

/** Where joining has left holes there is nothing to draw, and lines go on over them. */
function fillGaps(data) {
  return data.map((row, i) => (i ? Array.from(row, (v) => (v === undefined ? null : v)) : row));
}

export function colourOf(names, name) { return COLOURS[names.indexOf(name) % COLOURS.length]; }

/** The curves by chart: losses with the learning rate, then each output that is a score. */
export function grouped(runs, names, smooth) {
  const found = new Map([["loss", []]]);
  const several = names.length > 1;
  for (const [name, run] of Object.entries(runs)) {
    for (const [label, curve] of Object.entries(run.curves)) {
      const rate = label === "lr";
      if (rate && names.length > FEW) continue;
      const title = rate || curve.loss ? "loss" : label.replace(/^(train|test\d*) /, "");
      if (!found.has(title)) found.set(title, []);
      const colour = several || rate ? colourOf(names, name) : COLOURS[found.get(title).length % COLOURS.length];
      found.get(title).push({ ...curve, label: several ? `${name}: ${label}` : label,
        test: label.startsWith("test"), rate, smooth, colour });
    }
  }
  if (!found.get("loss").length) found.delete("loss");
  return found;
}
