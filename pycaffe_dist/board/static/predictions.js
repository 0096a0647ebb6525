// What a run's net says of an image, and of its whole test set.

import { address } from "./app.js";
import { choice, dropZone, el, empty, fail, get, meters, number, post } from "./ui.js";

export async function show(main, state) {
  const table = await get("runs");
  const names = table.runs.filter((run) => !run.log).map((run) => run.name);
  const name = names.includes(state.runs[0]) ? state.runs[0] : names[0];
  main.append(el("h1", {}, "Predictions"));
  if (!name) { main.append(empty("No runs here yet.")); return null; }
  const result = el("div", { "aria-live": "polite" });
  const stage = el("div", { class: "stage" });
  const take = async (file) => {
    result.replaceChildren(el("p", { class: "dim" }, "looking …"));
    const image = el("img", { src: URL.createObjectURL(file), alt: file.name || "image" });
    stage.replaceChildren(image);
    try { answer(await post("predict", file, { run: name }), stage, image, result); } catch (error) { result.replaceChildren(fail(error)); }
  };
  const evaluation = el("div");
  let left = false;
  main.append(
    el("div", { class: "bar" }, choice("run", names, name, (chosen) => { location.hash = address("predictions", [chosen]); })),
    el("div", { class: "grid" },
      el("section", { class: "card", "aria-label": "One image" }, el("h2", {}, "One image"), dropZone("Drop an image here, or choose one", take), el("p"), stage, result),
      el("section", { class: "card", "aria-label": "Test set" }, el("h2", {}, "The test set"),
        el("p", { class: "dim" }, "Run the test images of this run through its best or newest weights."),
        el("button", { class: "main", onclick: () => evaluate(name, evaluation, () => left) }, "Evaluate"), el("p"), evaluation)));
  return () => { left = true; };
}

function answer(said, stage, image, result) {
  if (said.kind === "boxes") {
    for (const box of said.boxes) {
      const [x1, y1, x2, y2] = box.at.map((v) => `${100 * Math.min(1, Math.max(0, v))}%`);
      stage.append(el("div", { class: "box", style: { left: x1, top: y1, width: `calc(${x2} - ${x1})`, height: `calc(${y2} - ${y1})` } },
        el("span", {}, `${box.label} ${number(box.score, 2)}`)));
    }
    result.replaceChildren(el("p", {}, `${said.boxes.length} found`), ...meters(said.boxes.map((box) => [box.label, box.score, box.score.toFixed(3)])));
  } else if (said.kind === "mask") {
    image.src = said.mask;
    result.replaceChildren(...said.classes.map((each) => el("span", { class: "key" },
      el("i", { style: { background: `rgb(${each.color.join(",")})` } }), each.label)));
  } else {
    result.replaceChildren(...meters(said.top.map((guess) => [guess.label, guess.score, guess.score.toFixed(3)])));
  }
}

async function evaluate(run, place, gone) {
  let again = "1";
  for (;;) {
    let said;
    try {
      said = await get("evaluation", { run, again });
      if (said.failure) throw new Error(said.failure);
    } catch (error) { place.replaceChildren(fail(error)); return; }
    again = "0";
    if (gone()) return;
    if (said.result) { place.replaceChildren(...report(said.result)); return; }
    place.replaceChildren(el("p", { class: "dim" }, `${number(said.done)} images so far …`));
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

function report(result) {
  const classes = result.classes.map((each, i) => ({ ...each, i })).sort((a, b) => (a.recall ?? 2) - (b.recall ?? 2));
  const most = Math.max(1, ...result.confusion.flat());
  const share = (v) => (v == null ? "–" : `${number(100 * v, 4)} %`);
  return [
    el("p", {}, el("strong", { "data-accuracy": result.accuracy }, share(result.accuracy)), ` of ${number(result.count)} images`),
    result.classes.length <= 40 ? el("div", { class: "scroll" }, el("table", { class: "confusion" },
      el("caption", { class: "dim" }, "rows: the truth; columns: what the net says"),
      el("thead", {}, el("tr", {}, el("th"), result.classes.map((each) => el("th", {}, each.label)))),
      el("tbody", {}, result.confusion.map((row, i) => el("tr", {}, el("th", {}, result.classes[i].label),
        row.map((count, j) => el("td", { style: count ? { background: `color-mix(in srgb, var(${i === j ? "--exchange" : "--wait"}) ${Math.round(15 + 70 * count / most)}%, transparent)` } : {} }, count || ""))))))) : null,
    el("h2", { style: { marginTop: "16px" } }, "By class, worst first"),
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ["class", "images", "recall", "precision"].map((name) => el("th", {}, name)))),
      el("tbody", {}, classes.map((each) => el("tr", {}, el("td", {}, each.label), el("td", {}, number(each.count)), el("td", {}, share(each.recall)), el("td", {}, share(each.precision))))))),
    el("h2", { style: { marginTop: "16px" } }, "Worst images"),
    result.worst.length ? el("div", { class: "worst" }, result.worst.map((each) => el("figure", {},
      el("img", { src: each.image, alt: `${each.truth}, taken for ${each.guess}` }),
      el("figcaption", {}, `${each.truth}, taken for ${each.guess} (${number(each.score, 2)})`)))) : el("p", { class: "dim" }, "None is wrong."),
  ];
}
