// The frame of an explorable: it takes the place of a figure once it has drawn itself; without this script, and on
// paper, the figure stays.
import { make } from "./svg.js";

const REST = 140; // milliseconds without a change after which finer pictures are drawn
const [LITTLE, MUCH] = [5, 7]; // milliseconds of a frame for our part: the browser needs as many, and there are sixteen
const COARSEST = 2;

// name: the figure is the one whose image has the class explore-<name>
// label, tryThis, how: the accessible name; the sentence that says what to try and what one will see; how to move things
// controls: { name: control }, in order; shown: { name: (values) => whether this control has an effect }
// start(changed, soon): returns { panels: [...], update(values, moving), reset() }; update returns the sentence to show, and
// may call soon() to be called again for the next frame, as long as it has something left to compute; `moving` is 0 at rest, else
// how many times larger than usual the cells of a picture should be, so that the next frame comes in time on this machine
export async function explorable(name, { label, tryThis, how, controls, shown = {}, start }) {
  const still = document.querySelector(`img.explore-${name}`)?.closest("figure, p") ?? null;
  if (!still) return null;
  await styled();
  const says = make("p", { class: "says" });
  const heard = make("p", { class: "heard", role: "status" });
  const values = () => Object.fromEntries(Object.entries(controls).map(([key, control]) => [key, control.value]));

  let [asked, rest, moving, touched, grain] = [0, 0, false, false, 1];
  const draw = () => {
    asked = 0;
    const now = values();
    for (const [key, control] of Object.entries(controls)) control.element.hidden = shown[key]?.(now) === false;
    const begun = performance.now();
    says.textContent = scene.update(now, moving ? grain : 0);
    const spent = performance.now() - begun;
    if (moving) grain = Math.min(COARSEST, Math.max(1, grain * (spent > MUCH ? 1.1 : spent < LITTLE ? 0.95 : 1)));
    if (touched && !moving && !asked) heard.textContent = says.textContent;
  };
  const soon = () => { asked ||= requestAnimationFrame(draw); };
  const changed = () => {
    moving = touched = true;
    soon();
    clearTimeout(rest);
    rest = setTimeout(() => { moving = false; soon(); }, REST);
  };

  const scene = start(changed, soon);
  const button = make("button", { type: "button" }, "Reset");
  const box = make(
    "div", { class: "explore-controls" }, ...Object.values(controls).map((control) => control.element),
    make("div", { class: "explore-control" }, button),
  );
  const lead = make("p", { class: "try" }, make("strong", {}, "Try this: "), tryThis);
  const caption = make("div", { class: "explore-caption" }, says, 
    make("details", { class: "how" }, make("summary", {}, "Mouse, touch, keys"), make("p", {}, how)));
  const panels = make("div", { class: "explore-panels" }, ...scene.panels.map((panel) => panel.element));
  const figure = make("div", { class: "explore", role: "group", "aria-label": label }, lead, panels, box, caption, heard);
  scene.panels[0].element.classList.add("wide");
  (scene.panels[1]?.element ?? box).classList.add("narrow");
  if (scene.panels.length === 1) panels.append(box); // the controls are the second column
  box.addEventListener("input", changed);
  button.addEventListener("click", () => {
    for (const control of Object.values(controls)) control.reset();
    scene.reset();
    changed();
  });

  still.before(figure);
  const measure = () => { for (const panel of scene.panels) panel.measure(); };
  try {
    measure();
    draw();
  } catch (error) {
    figure.remove();
    throw error;
  }
  still.classList.add("explore-still");
  let width = figure.clientWidth;
  new ResizeObserver(() => {
    if (!figure.clientWidth || figure.clientWidth === width) return;
    width = figure.clientWidth;
    measure();
    soon();
  }).observe(figure);
  new MutationObserver(soon).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return figure;
}

// The colours of the first classes, and that of the paper, as the style sheet has them now: [red, green, blue]. To ask costs a
// computation of all styles, so each is asked once for a theme.
export const colours = (element, count) => Array.from({ length: count }, (_, mark) => colour(element, `--mark-${mark}`));
export const paper = (element) => colour(element, "--paper");

const known = new Map();
function colour(element, name) {
  const key = `${document.documentElement.dataset.theme} ${name}`;
  if (!known.has(key)) {
    const hex = getComputedStyle(element).getPropertyValue(name).trim();
    known.set(key, [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  }
  return known.get(key);
}

function styled() {
  const sheet = make("link", { rel: "stylesheet", href: new URL("explore.css", import.meta.url).href });
  return new Promise((done, failed) => {
    sheet.addEventListener("load", done);
    sheet.addEventListener("error", () => failed(new Error("explore.css did not load")));
    document.head.append(sheet);
  });
}
