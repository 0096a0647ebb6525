// What all pages use.  Text from files becomes text nodes only: nothing in it is ever markup.

export const COLOURS = ["#3b82d6", "#e07b39", "#2f9e6e", "#c05299", "#c99a1a", "#7a6ff0", "#5aa9c9", "#8a8f98"];

export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  fill(node, attributes, children);
  return node;
}

export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(node, attributes, children);
  return node;
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(node.style, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  for (const child of children.flat()) if (child != null) node.append(child);
}

// -- asking the server ---------------------------------------------------------------------------

async function answer(response) {
  const said = response.headers.get("Content-Type")?.includes("json")
    ? await response.json() : { error: await response.text() };
  if (!response.ok) throw new Error(said.error || response.statusText);
  return said;
}

export async function get(path, parameters = {}) {
  const query = new URLSearchParams(parameters);
  return answer(await fetch(`/api/${path}?${query}`));
}

export async function post(path, body, parameters = {}) {
  const json = !(body instanceof Blob);
  const headers = json ? { "Content-Type": "application/json" } : {};
  const query = new URLSearchParams(parameters);
  return answer(await fetch(`/api/${path}?${query}`, {
    method: "POST", headers, body: json ? JSON.stringify(body) : body,
  }));
}

const listeners = new Set();

/** Call back with the names of runs that have changed, until the returned function is called. */
export function onChange(callback) {
  listeners.add(callback);
  return () => listeners.delete(callback);
}

export function connect() {
  const mark = document.getElementById("live");
  const source = new EventSource("/api/events");
  source.onopen = () => { mark.textContent = "live"; mark.classList.add("on"); };
  source.onerror = () => { mark.textContent = "not connected"; mark.classList.remove("on"); };
  source.onmessage = (event) => {
    const changed = JSON.parse(event.data);
    if (changed.length) for (const callback of [...listeners]) callback(changed);
  };
}

// -- numbers for people --------------------------------------------------------------------------

export function number(value, digits = 4) {
  if (value == null) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return String(Number(value.toPrecision(digits)));
}

export function amount(value, unit = "") {
  for (const [size, letter] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (Math.abs(value) >= size) return `${Number((value / size).toPrecision(3))} ${letter}${unit}`;
  }
  return `${number(value, 3)} ${unit}`.trim();
}

export function duration(seconds) {
  if (seconds == null) return "";
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

// -- pieces of pages -----------------------------------------------------------------------------

export function fail(error) {
  return el("div", { class: "card error", role: "alert" }, error.message || String(error));
}

export function empty(text) {
  return el("div", { class: "card dim" }, text);
}

export function choice(label, options, chosen, onchange) {
  const select = el("select", { onchange: () => onchange(select.value), "aria-label": label },
    options.map((name) => el("option", { value: name, selected: name === chosen }, name)));
  return el("label", {}, label, select);
}

/** Rows of (name, share between 0 and 1, text) as bars. */
export function meters(rows) {
  return rows.map(([name, share, text]) => el("div", { class: "meter" },
    el("span", {}, name),
    el("div", { class: "track" }, el("div", { style: { width: `${100 * share}%` } })),
    el("span", { class: "dim" }, text)));
}

/** An area that takes an image: dropped, chosen or pasted. */
export function dropZone(text, take) {
  const input = el("input", { type: "file", accept: "image/*", hidden: true,
    onchange: () => input.files[0] && take(input.files[0]) });
  const zone = el("div", { class: "drop", role: "button", tabindex: 0,
    onclick: () => input.click(),
    onkeydown: (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); input.click(); } },
    ondragover: (e) => { e.preventDefault(); zone.classList.add("over"); },
    ondragleave: () => zone.classList.remove("over"),
    ondrop: (e) => {
      e.preventDefault();
      zone.classList.remove("over");
      if (e.dataTransfer.files[0]) take(e.dataTransfer.files[0]);
    } }, text);
  return el("div", {}, zone, input);
}
