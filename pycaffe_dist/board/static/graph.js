// A net as a picture: boxes of layers, and edges with the shapes of blobs.

import { amount, number, svg } from "./ui.js";

const HUES = { Convolution: "#3b82d6", InnerProduct: "#7a6ff0", Pooling: "#e07b39", ReLU: "#2f9e6e",
  BatchNorm: "#5aa9c9", Scale: "#5aa9c9", Dropout: "#8a8f98", Concat: "#c99a1a", Eltwise: "#c99a1a", LRN: "#5aa9c9" };

function hue(type) {
  if (type.includes("Loss") || type === "Accuracy") return "#d9534f";
  if (type.endsWith("Data") || type === "Input") return "#8a8f98";
  return HUES[type] || "#c05299";
}

/** @param choose called with a layer when the reader picks it */
export function drawNet(net, choose) {
  const [width, height] = net.box;
  const picture = svg("svg", { viewBox: `-30 -30 ${net.width + 60} ${net.height + 60}`, width: net.width + 60, height: net.height + 60, role: "group" });
  const labelled = new Set();
  for (const line of net.lines) {
    picture.append(svg("path", { class: "edge", d: line.path }, svg("title", {}, `${line.blob} ${line.shape}`)));
    const end = line.path.match(/([\d.-]+),([\d.-]+)$/);
    const key = `${end[1]},${end[2]}`;
    if (line.shape && !labelled.has(key)) {
      labelled.add(key);
      picture.append(svg("text", { class: "edgelabel", x: Number(end[1]) + 5, y: Number(end[2]) - 5 }, line.shape));
    }
  }
  for (const layer of net.layers) {
    const left = layer.x - width / 2;
    const cost = [layer.params ? `${amount(layer.params)} params` : "", layer.forward_ms != null
      ? `${number(layer.forward_ms, 3)} + ${number(layer.backward_ms ?? 0, 3)} ms` : layer.flops ? `${amount(layer.flops)}FLOP` : ""].filter(Boolean).join(", ");
    const press = () => {
      for (const other of picture.querySelectorAll("[aria-pressed]")) other.setAttribute("aria-pressed", "false");
      group.setAttribute("aria-pressed", "true");
      choose(layer);
    };
    const group = svg("g", { class: "layer", tabindex: 0, role: "button", "aria-pressed": "false", "data-layer": layer.name,
      "aria-label": `${layer.name}, ${layer.type}`, onclick: press,
      onkeydown: (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); press(); } } },
    layer.forward_by ? svg("title", {}, `computed by ${layer.forward_by}; backward: ${layer.backward_by || "–"}`) : null,
    svg("rect", { class: "box", x: left, y: layer.y, width, height, rx: 6 }),
    svg("rect", { class: "stripe", x: left, y: layer.y, width: 5, height, rx: 2, style: { fill: hue(layer.type) } }),
    svg("text", { x: left + 12, y: layer.y + 15, style: { fontWeight: 600 } }, cut(layer.name, 25)),
    svg("text", { class: "small", x: left + 12, y: layer.y + 28 }, cut([layer.type, layer.scheme, layer.note].filter(Boolean).join(", "), 29)),
    svg("text", { class: "small", x: left + 12, y: layer.y + 40 }, cut(cost, 29)));
    picture.append(group);
  }
  return picture;
}

function cut(text, most) { return text.length > most ? `${text.slice(0, most - 1)}…` : text; }
