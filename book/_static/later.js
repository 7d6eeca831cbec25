// On a page of many formulas each is set when a reader comes near, so that the page opens at once. This script runs
// before MathJax and tells it with which formulas to start.
const MANY = 150;
const NEAR = 2500; // pixels above and below what is in sight
const waiting = new Map(); // from a row or paragraph to its formulas
const formulas = [...document.querySelectorAll(".math, .evidence-card")];
if (formulas.length > MANY && window.MathJax) {
  const first = [];
  for (const formula of formulas) {
    const place = formula.closest("tr, p, li, dd") ?? formula.parentElement;
    const box = place.getBoundingClientRect();
    const seen = place.getClientRects().length > 0; // what a closed box holds is not
    if (!formula.closest("main") || (seen && box.top < innerHeight + NEAR && box.bottom > -NEAR)) first.push(formula);
    else waiting.set(place, [...waiting.get(place) ?? [], formula]);
  }
  window.MathJax.startup = { ...window.MathJax.startup, elements: first };

  let last = null;
  const take = (places) => places.flatMap((place) => {
    watch.unobserve(place);
    const found = waiting.get(place) ?? [];
    waiting.delete(place);
    return found;
  });
  const watch = new IntersectionObserver((entries) => {
    const near = take(entries.filter((entry) => entry.isIntersecting).map((entry) => entry.target));
    // one call after the other: MathJax has one list of formulas
    if (near.length) last = (last ?? window.MathJax.startup.promise).then(() => window.MathJax.typesetPromise(near));
  }, { rootMargin: `${NEAR}px 0px` });
  addEventListener("load", () => { for (const place of waiting.keys()) watch.observe(place); });
  addEventListener("beforeprint", () => {
    const rest = take([...waiting.keys()]);
    if (rest.length) window.MathJax.typeset(rest);
  });
}

// A formula that is a little wider than its column is set smaller; a displayed one that is much wider scrolls.
const LEAST = 0.5;
const FORMULAS = "main div.math mjx-container[display], main article mjx-container:not([display])";
const share = (formula) => {
  const math = formula.parentElement;
  if (formula.hasAttribute("display")) return math.clientWidth / Math.max(formula.scrollWidth, math.scrollWidth);
  const own = math.matches(".math") ? math : formula; // never wider than its column: what is too much hangs out of it
  const beside = (formula.closest("span.nowrap")?.offsetWidth ?? own.offsetWidth) - own.offsetWidth;
  let box = own.parentElement;
  while (!box.clientWidth) box = box.parentElement; // elements within a line have none
  let free = box.clientWidth - beside;
  if (free > formula.offsetWidth + 64) return 1; // the style need not be asked for
  const { paddingLeft, paddingRight } = getComputedStyle(box);
  free -= parseFloat(paddingLeft) + parseFloat(paddingRight);
  return (free + 1) / formula.offsetWidth; // both widths are rounded
};
const height = (element) => parseFloat(getComputedStyle(element).fontSize);
// in a closed box widths are guesses: what it holds is fitted again when it opens
const seen = (formula) => formula.checkVisibility?.() ?? true;
const fit = (again) => {
  const some = [...document.querySelectorAll(FORMULAS)].filter((formula) => formula.offsetWidth && (
    again || !formula.dataset.fitted || (formula.dataset.fitted !== `${innerWidth}` && seen(formula))));
  for (const formula of some) {
    formula.dataset.size ??= formula.style.fontSize;
    if (formula.dataset.fitted) formula.style.fontSize = formula.dataset.size;
  }
  // first all that is read, then all that is written: else the page is laid out once for each
  const shares = some.map(share);
  const states = some.map((formula) => seen(formula) ? innerWidth : "closed");
  const sizes = some.map((formula, place) => shares[place] < 1 && 100 * height(formula) / height(formula.parentElement));
  some.forEach((formula, place) => {
    formula.dataset.fitted = states[place];
    formula.classList.toggle("smallest", shares[place] < LEAST);
    const smaller = `${sizes[place] * Math.max(LEAST, 0.985 * shares[place])}%`;
    if (shares[place] < 1) formula.style.setProperty("font-size", smaller, "important"); // as reading.css sets some sizes
  });
};
if (formulas.length) {
  let asked = 0;
  let all = false; // a later request for new formulas must not cancel one for all of them
  const soon = (again = false) => {
    all ||= again;
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(() => { fit(all); all = false; });
  };
  addEventListener("load", () => {
    window.MathJax?.startup?.promise?.then(() => soon());
    const article = document.querySelector("main article");
    // formulas that are set later, and those in a box that opens
    if (article) new MutationObserver((list) => {
      if (list.some((one) => [...one.addedNodes].some((node) => node.nodeName === "MJX-CONTAINER"))) soon();
    }).observe(article, { childList: true, subtree: true });
  });
  addEventListener("resize", () => soon(true));
  document.fonts?.addEventListener("loadingdone", () => soon(true));  // letters of another font have another width
  document.addEventListener("toggle", () => soon(), true);
}
