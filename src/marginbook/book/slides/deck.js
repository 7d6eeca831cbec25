// Shows the slides: reveal.js where there is room for 16:9, a page to scroll on a phone, where it would scale
// 28 pixels down to 8.
const deck = document.querySelector(".deck");
const wide = matchMedia("(min-width: 701px)");
const dark = matchMedia("(prefers-color-scheme: dark)");

function paint(theme) {
  document.documentElement.dataset.theme = theme;
}

function chosen() {
  let kept = null; // the reader's choice in the book, which a file on a disk cannot read
  try {
    kept = localStorage.getItem("theme");
  } catch {}
  return ["dark", "light"].includes(kept) ? kept : dark.matches ? "dark" : "light";
}

// A slide with too much on it gets smaller letters: nothing is cut, on the wall or on paper.
function fit(slide) {
  const { fontSize, paddingBottom } = getComputedStyle(slide);
  const low = slide.clientHeight - parseFloat(paddingBottom);
  const over = (part) => part.offsetTop + part.scrollHeight > low + 1 || part.scrollWidth > part.clientWidth + 1;
  const parts = [...slide.children].filter((part) => part.tagName !== "ASIDE");
  for (let share = 0.96; parts.some(over) && share > 0.6; share -= 0.04) {
    slide.style.fontSize = `${parseFloat(fontSize) * share}px`;
  }
}

function start() {
  if (!wide.matches) return;
  document.querySelectorAll(".slides > section").forEach(fit);
  deck.classList.add("reveal");
  document.documentElement.classList.add("full");
  Reveal.initialize({
    width: 1280, height: 720, margin: 0, minScale: 0.1, maxScale: 4, center: false, display: "grid",
    hash: true, slideNumber: "c/t", transition: "none", scrollActivationWidth: null,
    plugins: [RevealNotes],
    keyboard: { 84: () => paint(document.documentElement.dataset.theme === "dark" ? "light" : "dark") },
  });
  Reveal.registerKeyboardShortcut("T", "Dark or light");
}

paint(chosen());
dark.addEventListener("change", () => paint(chosen()));
wide.addEventListener("change", () => location.reload());
const loaded = new Promise((done) => (document.readyState === "complete" ? done() : addEventListener("load", done)));
loaded.then(() => window.MathJax?.startup?.promise).then(start);
