// The ledger by paper, verdict and words. Counts of the home page lead here with ?paper=drm&verdict=fails.
const anchors = [...document.querySelectorAll('main article [id^="ledger-"]')];
if (anchors.length) {
  const VERDICTS = ["holds", "corrected", "fails", "reproduced", "partly", "not-reproduced", "undecided", "not-testable"];
  const KINDS = ["paper", "proof", "statement", "arithmetic", "experiment", "ours"];
  const parts = anchors.map((anchor) => {
    const section = anchor.closest("section") ?? anchor.nextElementSibling;
    const heading = section.querySelector("h2").cloneNode(true);
    heading.querySelector(".headerlink")?.remove();
    return { paper: anchor.id.slice("ledger-".length), title: heading.textContent.trim(), section };
  });
  const items = parts.flatMap(({ paper, section }) => [
    ...[...section.querySelectorAll("table.sortable tbody tr")].map((element) => ({
      element, paper, row: true, verdict: element.querySelector(".verdict")?.textContent.trim(),
      kind: element.querySelector(".kind")?.textContent.trim(),
    })),
    ...[...section.querySelectorAll("details")].map((element) => ({
      element, paper, row: false, verdict: element.querySelector("summary").textContent.trim().split(": ").pop(),
      kind: element.querySelector(".kind")?.textContent.trim(),
    })),
  ]);
  for (const item of items) item.text = item.element.textContent.toLowerCase().replace(/\s+/g, " ");

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
  const words = make("input", { type: "search", name: "words", id: "filter-words", placeholder: "Theorem VI.3" });
  const count = make("output", { htmlFor: "filter-paper filter-kind filter-verdict filter-words" });
  const form = make(
    "form", { className: "ledger-filter" },
    choice("paper", "Paper", parts.map((part) => [part.paper, part.title])),
    choice("kind", "Kind", KINDS.map((word) => [word, word === "paper" ? "of the paper" : word])),
    choice("verdict", "Verdict", VERDICTS.filter((word) => present.has(word)).map((word) => [word, word])),
    make("label", { htmlFor: words.id }, "Words", words),
    make("button", { type: "reset", textContent: "Show all" }),
    count,
  );
  form.setAttribute("role", "search");
  form.setAttribute("aria-label", "Filter the ledger");
  const place = document.querySelector(".ledger-place");
  if (place) place.replaceChildren(form);
  else parts[0].section.before(form);

  const show = () => {
    const { paper, kind, verdict, words } = Object.fromEntries(new FormData(form));
    const wanted = words.toLowerCase().trim().replace(/\s+/g, " ");
    const fits = (item) => (!paper || item.paper === paper)
      && (!kind || item.kind === kind || (kind === "paper" && item.kind !== "ours")) && (!verdict || item.verdict === verdict)
      && item.text.includes(wanted);
    for (const item of items) item.element.hidden = !fits(item);
    for (const part of parts) {
      part.section.hidden = !items.some((item) => item.paper === part.paper && !item.element.hidden);
    }
    const rows = items.filter((item) => item.row);
    count.value = `${rows.filter((item) => !item.element.hidden).length} of ${rows.length} claims`;
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
