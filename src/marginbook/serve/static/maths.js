// Formulas of statements, set by the MathJax that the built book has.
(() => {
  "use strict";
  window.MathJax = { tex: { inlineMath: [["$", "$"]] } };
  const script = document.createElement("script");
  script.src = "/_static/mathjax/tex-book.js";
  document.head.append(script);
})();
