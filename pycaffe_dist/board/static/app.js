// Which page is shown: #/curves?run=a&run=b.  A page is a module with show(main, state).

import { connect, el, fail } from "./ui.js";

const PAGES = ["runs", "curves", "net", "cluster", "predictions", "data", "start"];
let leave = null;
let turn = 0;

export function address(page, runs = []) {
  const query = new URLSearchParams(runs.map((name) => ["run", name]));
  return runs.length ? `#/${page}?${query}` : `#/${page}`;
}

function read() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  return { page: PAGES.includes(path) ? path : "runs", runs: new URLSearchParams(query).getAll("run") };
}

async function route() {
  const state = read();
  const mine = ++turn;
  document.querySelector("nav").replaceChildren(...PAGES.map((page) => el("a", {
    href: address(page, state.runs),
    "aria-current": page === state.page ? "page" : null,
  }, page[0].toUpperCase() + page.slice(1))));
  document.title = `${state.page} – pcd board`;
  if (leave) leave();
  leave = null;
  const main = document.getElementById("main");
  try {
    const module = await import(`./${state.page}.js`);
    if (mine !== turn) return;
    main.replaceChildren();
    const left = await module.show(main, state);
    if (mine === turn) leave = left;
    else if (left) left();
  } catch (error) {
    main.replaceChildren(fail(error));
  }
  document.body.dataset.page = state.page;
}

window.addEventListener("hashchange", route);
connect();
route();
