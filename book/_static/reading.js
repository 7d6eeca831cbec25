// A link to something behind a button opens it; paper gets everything, in the light colours.
const reveal = () => {
  const name = decodeURIComponent(location.hash.slice(1));
  const target = name && document.getElementById(name);
  if (!target) return;
  const next = target.matches("span.target, span[id]:empty") ? target.nextElementSibling : null;
  const closed = [target.closest("details"), target.querySelector(":scope > details"),
    next?.matches("details") ? next : null];
  for (const details of closed) if (details) details.open = true;
  if (closed.some(Boolean)) target.scrollIntoView();
};
addEventListener("hashchange", reveal);
reveal();

// the theme's arrows beside the chapters have no name
for (const arrow of document.querySelectorAll(".bd-sidebar-primary li > details > summary:not([aria-label])")) {
  const chapter = arrow.closest("li").querySelector("a")?.textContent.trim();
  arrow.setAttribute("aria-label", chapter ? `Pages of ${chapter}` : "Pages");
}

// Lines of prose that a cell printed break where the column ends; rows of a table and of a matrix stay, and scroll.
const ROW = /\S {2,}\S|\[ *[-\d]/;
for (const block of document.querySelectorAll(".cell_output .output.stream pre")) {
  const lines = [];
  for (const text of block.textContent.replace(/\n$/, "").split("\n")) {
    const last = lines.at(-1);
    const prose = text.trim() !== "" && !ROW.test(text);
    // a print that was broken at 90 letters goes on after four spaces
    if (/^ {4}\S/.test(text) && last?.prose && last.width > 60) {
      last.text += ` ${text.trim()}`;
      last.width = text.length;
    } else lines.push({ text, prose, width: text.length });
  }
  block.replaceChildren(...lines.map(({ text, prose }) => Object.assign(
    document.createElement("span"), { className: prose ? "told" : "kept", textContent: text || "\u200b" },
  )));
}

// hits on claims all bear the title of the ledger: say which claim
const hits = document.querySelector("#search-results");
if (hits) {
  new MutationObserver(() => {
    for (const link of hits.querySelectorAll('a[href*="#evidence-"]:not(.named)')) {
      link.classList.add("named");
      link.append(` › ${link.hash.slice("#evidence-".length)}`);
    }
  }).observe(hits, { childList: true, subtree: true });
}

const page = document.documentElement;
let before = null;
addEventListener("beforeprint", () => {
  if (before) return;
  before = { theme: page.dataset.theme, closed: [...document.querySelectorAll("details:not([open])")] };
  page.dataset.theme = "light";
  for (const details of before.closed) details.open = true;
});
addEventListener("afterprint", () => {
  if (!before) return;
  page.dataset.theme = before.theme;
  for (const details of before.closed) details.open = false;
  before = null;
});
