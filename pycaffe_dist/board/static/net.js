// The net as a graph; a layer's prototxt, weights, filters and activations beside it.

import { address } from "./app.js";
import { drawNet } from "./graph.js";
import { amount, choice, dropZone, el, empty, fail, get, number, post } from "./ui.js";

export async function show(main, state) {
  const table = await get("runs");
  const names = table.runs.filter((run) => !run.log).map((run) => run.name);
  const name = names.includes(state.runs[0]) ? state.runs[0] : names[0];
  main.append(el("h1", {}, "Net"));
  if (!name) { main.append(empty("No run has a net yet.")); return; }
  const bar = el("div", { class: "bar" }, choice("run", names, name, (chosen) => { location.hash = address("net", [chosen]); }));
  main.append(bar);
  let net;
  try { net = await get("net", { run: name }); } catch (error) { main.append(fail(error)); return; }
  const side = el("aside", { class: "card", "aria-label": "Layer" }, el("p", { class: "dim" }, "Choose a layer: its prototxt, weights and filters are shown here."));
  const picture = drawNet(net, (layer) => detail(side, name, layer));
  const box = el("div", { class: "netbox", tabindex: 0, "aria-label": "Graph of the net" }, picture);
  let scale = 1;
  const zoom = (factor) => {
    scale = Math.min(3, Math.max(0.1, scale * factor));
    picture.setAttribute("width", (net.width + 60) * scale);
    picture.setAttribute("height", (net.height + 60) * scale);
  };
  bar.append(el("button", { onclick: () => zoom(1.25), "aria-label": "Larger" }, "+"),
    el("button", { onclick: () => zoom(0.8), "aria-label": "Smaller" }, "−"),
    el("span", { class: "dim" }, net.problem ? "" : `${net.name || "net"}: ${number(net.params)} parameters, ${amount(net.flops)}FLOP forward, ${amount(net.memory, "B")} to train`));
  if (net.problem) main.append(el("div", { class: "card notice" }, net.problem));
  main.append(el("div", { class: "split" }, box, side));
  box.scrollLeft = (net.layers[0]?.x ?? 0) + 30 - box.clientWidth / 2; // a wide net begins where one can see it
  drag(box);
}

function drag(box) {
  box.addEventListener("mousedown", (event) => {
    if (event.target.closest(".layer")) return;
    const [x, y, left, top] = [event.clientX, event.clientY, box.scrollLeft, box.scrollTop];
    const move = (e) => { box.scrollLeft = left + x - e.clientX; box.scrollTop = top + y - e.clientY; };
    const up = () => { removeEventListener("mousemove", move); removeEventListener("mouseup", up); };
    addEventListener("mousemove", move);
    addEventListener("mouseup", up);
  });
}

async function detail(side, run, layer) {
  side.replaceChildren(el("h2", {}, layer.name), el("p", { class: "dim" }, "reading …"));
  let said;
  try { said = await get("layer", { run, layer: layer.name }); } catch (error) { side.append(fail(error)); return; }
  const facts = [["type", layer.type], ["output", (layer.shapes || []).join(", ")], ["parameters", layer.params ? number(layer.params) : ""],
    ["work", layer.flops ? `${amount(layer.flops)}FLOP` : ""], ["memory", layer.bytes ? amount(layer.bytes, "B") : ""],
    ["forward", pass(layer.forward_ms, layer.forward_by)], ["backward", pass(layer.backward_ms, layer.backward_by)],
    ["scheme", layer.scheme || ""], ["weights", said.weights || ""]];
  side.replaceChildren(el("h2", {}, said.name), ...[
    el("table", {}, facts.filter(([, value]) => value).map(([key, value]) => el("tr", {}, el("th", {}, key), el("td", {}, value)))),
    el("pre", { "data-prototxt": true }, said.prototxt), said.why ? el("p", { class: "dim" }, said.why) : null,
    ...said.blobs.flatMap((values, index) => blob(values, index, layer.schemes?.[index])), activations(run, layer.name)].filter(Boolean));
}

/** How long a pass took, where a trace says so, and what computed it. */
function pass(ms, by) { return [ms != null ? `${number(ms, 3)} ms` : "", by || ""].filter(Boolean).join(", "); }

function blob(values, index, scheme) {
  const most = Math.max(...(values.counts || [1]));
  return [el("h2", { style: { marginTop: "14px" } }, `Parameter ${index}: ${values.shape}${scheme ? `, by ${scheme}` : ""}`),
    values.counts ? el("div", { class: "histogram", role: "img", "aria-label": `histogram of ${values.count} values` },
      values.counts.map((count, i) => el("div", { title: `${values.edges[i]} to ${values.edges[i + 1]}: ${count}`, style: { height: `${100 * count / most}%` } }))) : null,
    values.counts ? el("p", { class: "dim" }, `${number(values.low)} to ${number(values.high)}, mean ${number(values.mean)}, deviation ${number(values.std)}`) : null,
    values.not_finite ? el("p", {}, `${number(values.not_finite)} values are NaN or infinite`) : null,
    values.filters ? el("img", { class: "pixels", src: values.filters, alt: "filters" }) : null];
}

function activations(run, layer) {
  const place = el("div");
  const take = async (file) => {
    try {
      const said = await post("activations", file, { run, layer });
      place.replaceChildren(el("img", { class: "pixels", src: said.image, alt: `activations of ${layer}` }));
    } catch (error) { place.replaceChildren(fail(error)); }
  };
  return el("div", { style: { marginTop: "14px" } }, el("h2", {}, "Activations"), dropZone("Drop an image here, or choose one", take), place);
}
