// The ledger by paper, kind, verdict and words. Counts of the home page lead here with ?kind=paper&verdict=fails.
const overview = document.querySelector("main article table.overview");
const anchor = document.querySelector('main article [id^="ledger-"]');
if (overview || anchor) {
  const VERDICTS = ["holds", "corrected", "fails", "reproduced", "partly", "not-reproduced", "undecided", "not-testable"];
  const KINDS = ["paper", "proof", "statement", "arithmetic", "experiment", "ours"];
  // until 2026 all evidence was on one page: old links go on to the page of the paper
  const moved = overview && /^#(?:evidence|claim)-([a-z0-9]+)-/.exec(location.hash);
  if (moved) location.replace(`claims-${moved[1]}.html${location.hash}`);

  const own = anchor?.id.slice("ledger-".length);
  const rows = [...document.querySelectorAll(`main article table.${overview ? "overview" : "verdicts"} tbody tr`)];
  const boxes = overview ? [] : [...document.querySelectorAll("main article details")];
  const papers = new Map();
  // addresses have "not-reproduced", readers see "not reproduced"
  const name = (shown) => shown.trim().replaceAll(" ", "-");
  const items = [
    ...rows.map((element) => {
      const paper = own ?? /claims-([a-z0-9]+)\.html/.exec(element.querySelector('a[href*="#evidence-"]')?.href)?.[1];
      if (!own) papers.set(paper, element.cells[1].textContent.trim());
      return { element, paper, row: true, verdict: name(element.querySelector(".verdict")?.textContent ?? "") };
    }),
    ...boxes.map((element) => ({
      element, paper: own, row: false, verdict: name(element.querySelector("summary").textContent.split(": ").pop()),
    })),
  ];
  for (const item of items) {
    item.kind = item.element.querySelector(".kind")?.textContent.trim();
    item.text = item.element.textContent.toLowerCase().replace(/\s+/g, " ");
  }

  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const choice = (name, label, options) => {
    const select = make("select", { name, id: `filter-${name}` });
    select.append(make("option", { value: "", textContent: "all" }));
    for (const [value, text] of options) select.append(make("option", { value, textContent: text }));
    return make("label", { htmlFor: select.id }, label, select);
  };
  const present = new Set(items.map((item) => item.verdict));
  const words = make("input", { type: "search", name: "words", id: "filter-words", placeholder: "Theorem 3" });
  const count = make("output", { htmlFor: "filter-kind filter-verdict filter-words" });
  const form = make(
    "form", { className: "ledger-filter" },
    ...(papers.size ? [choice("paper", "Paper", [...papers])] : []),
    choice("kind", "Kind", KINDS.map((word) => [word, word === "paper" ? "of the paper" : word])),
    choice("verdict", "Verdict", VERDICTS.filter((word) => present.has(word)).map((word) => [word, word.replaceAll("-", " ")])),
    make("label", { htmlFor: words.id }, "Words", words),
    make("button", { type: "reset", textContent: "Show all" }),
    count,
  );
  form.setAttribute("role", "search");
  form.setAttribute("aria-label", "Filter the ledger");
  const place = document.querySelector(".ledger-place");
  if (place) place.replaceChildren(form);
  else rows[0].closest("table").before(form);

  const show = () => {
    const { paper = "", kind, verdict, words } = Object.fromEntries(new FormData(form));
    const wanted = words.toLowerCase().trim().replace(/\s+/g, " ");
    const fits = (item) => (!paper || item.paper === paper)
      && (!kind || item.kind === kind || (kind === "paper" && item.kind !== "ours")) && (!verdict || item.verdict === verdict)
      && item.text.includes(wanted);
    for (const item of items) item.element.hidden = !fits(item);
    count.value = `${rows.filter((row) => !row.hidden).length} of ${rows.length} claims`;
  };
  const remember = () => {
    const kept = [...new FormData(form)].filter(([, value]) => value);
    const query = kept.length ? `?${new URLSearchParams(kept)}` : location.pathname;
    history.replaceState(null, "", query);
  };
  for (const [name, value] of new URLSearchParams(location.search)) {
    if (form.elements[name] && name) form.elements[name].value = value;
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => { show(); remember(); });
  form.addEventListener("reset", () => requestAnimationFrame(() => { show(); remember(); }));
  // a link to a claim that the filter hides shows all again
  addEventListener("hashchange", () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target?.closest("[hidden]")) { form.reset(); requestAnimationFrame(() => target.scrollIntoView()); }
  });
  show();
  if (new URLSearchParams(location.search).size) form.scrollIntoView();
}
