// On a page of many formulas each is set when a reader comes near, so that the page opens at once. This script runs
// before MathJax and tells it with which formulas to start.
const MANY = 150;
const NEAR = 2500; // pixels above and below what is in sight
const waiting = new Map(); // from a row or paragraph to its formulas
const formulas = [...document.querySelectorAll(".math")];
if (formulas.length > MANY && window.MathJax) {
  const first = [];
  for (const formula of formulas) {
    const place = formula.closest("tr") ?? formula.parentElement;
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
