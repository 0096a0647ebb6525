// What a database holds: its first images and how many records each label has.

import { choice, el, empty, fail, get, meters, number } from "./ui.js";

export async function show(main) {
  main.append(el("h1", {}, "Data"));
  const names = await get("databases");
  if (!names.length) {
    main.append(empty("No LMDB or LevelDB in the folders of this board. `pcd board RUNS --data DIR` adds folders."));
    return;
  }
  const place = el("div");
  const load = async (name) => {
    place.replaceChildren(el("p", { class: "dim" }, "reading …"));
    try { place.replaceChildren(...draw(await get("database", { name }))); } catch (error) { place.replaceChildren(fail(error)); }
  };
  main.append(el("div", { class: "bar" }, choice("database", names, names[0], load)), place);
  await load(names[0]);
}

function draw(said) {
  const most = Math.max(1, ...said.labels.map((each) => each.count));
  const part = said.read < said.count ? ` (labels of the first ${number(said.read)})` : "";
  return [
    el("p", {}, el("strong", { "data-count": said.count }, number(said.count)), ` records, ${said.kind}, ${said.shapes.join(", ")}${part}`,
      said.bad ? `, ${number(said.bad)} damaged` : ""),
    el("div", { class: "grid" },
      el("section", { class: "card", "aria-label": "First images" }, el("h2", {}, "First images"),
        said.sheet ? el("img", { src: said.sheet, alt: "the first images with their labels", style: { maxWidth: "100%", borderRadius: "8px" } }) : el("p", { class: "dim" }, "None can be shown.")),
      el("section", { class: "card", "aria-label": "Labels" }, el("h2", {}, `${number(said.labels.length)} labels${said.boxed ? " of boxes" : ""}`),
        ...meters(said.labels.slice(0, 200).map((each) => [each.name ? `${each.label} ${each.name}` : String(each.label), each.count / most, number(each.count)]))))];
}
