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
    document.createElement("span"), { className: prose ? "told" : "kept", textContent: (prose && text.replace(/(?<=\d) %/g, "\u00a0%")) || text || "\u200b" },
  )));
}

// A hit says which chapter it is in, one on a claim which claim; a formula in its extract becomes plain letters.
const hits = document.querySelector("#search-results");
if (hits && typeof Search !== "undefined") {
  // a page that is opened as a file may not read the others for their extracts
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
  // an entry of the index stands beside the files to download, which say nothing of the page
  const extractOf = Search.makeSearchSummary;
  Search.makeSearchSummary = (html, words, anchor) => extractOf(html, words, anchor?.startsWith("#index-") ? "" : anchor);
  const METHODS = { drm: "DRM", ldm: "LDM", kfda: "kFDA", clasmk: "CLASMK", smm: "SMM", bridge: "One family", study: "One bench" };
  const SIGNS = { le: "≤", leq: "≤", ge: "≥", geq: "≥", ne: "≠", in: "∈", sum: "Σ", prod: "∏", infty: "∞", to: "→", times: "×",
    cdot: "·", top: "ᵀ", star: "*", sqrt: "√", partial: "∂", nabla: "∇", alpha: "α", beta: "β", gamma: "γ", delta: "δ",
    epsilon: "ε", varepsilon: "ε", eta: "η", kappa: "κ", lambda: "λ", mu: "μ", nu: "ν", pi: "π", rho: "ρ", sigma: "σ",
    tau: "τ", phi: "φ", varphi: "φ", psi: "ψ", omega: "ω", ell: "ℓ", dots: "…", ldots: "…", mid: "|", quad: " " };
  const spoken = (tex) => tex.replace(/\\([a-zA-Z]+)/g, (_, word) => SIGNS[word] ?? "").replace(/\\[,;:!|]|[{}$&]|\\\\/g, "");
  const chapter = (path) => {
    const room = /(?:notebooks\/|book\/(?:api\/|claims-|results-)?)([a-z]+)[/_.]/.exec(path)?.[1];
    if (path.includes("/api/")) return METHODS[room] ? `${METHODS[room]} reference` : "Reference";
    return METHODS[room];
  };
  new MutationObserver(() => {
    for (const link of hits.querySelectorAll("li > a:not(.named)")) {
      link.classList.add("named");
      link.textContent = spoken(link.textContent);
      if (link.hash.startsWith("#index-")) link.hash = "";
      const where = chapter(link.pathname);
      if (where && !link.textContent.startsWith(where)) link.prepend(`${where} › `);
      if (link.hash.startsWith("#evidence-")) link.append(` › ${link.hash.slice("#evidence-".length)}`);
    }
    for (const extract of hits.querySelectorAll("p.context:not(.spoken)")) {
      extract.classList.add("spoken");
      const walk = document.createTreeWalker(extract, NodeFilter.SHOW_TEXT);
      while (walk.nextNode()) {
        // an extract may begin or end inside a formula
        const text = walk.currentNode.data;
        if (/\\[()[\]a-zA-Z]/.test(text)) walk.currentNode.data = spoken(text.replace(/\\[()[\]]/g, ""));
      }
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
