// DRM: three classes of points, the regions of their labels, and how one point x is put together from all others.
import { choice, rounded, slider, tick } from "./controls.js";
import { fitDrm } from "./drm_model.js";
import { colours, explorable } from "./explorable.js";
import { Plane } from "./plane.js";

// those of the still figure, to three digits, fourteen of each class, and the point x
export const POINTS = [
  [2.91, 0.061], [2.505, 0.558], [2.287, 0.646], [1.895, 0.642], [2.184, 1.531], [2.456, 0.612], [2.33, 0.533],
  [2.136, 0.602], [2.52, 0.64], [2.639, 0.65], [2.406, 1.086], [2.536, 0.574], [2.354, 0.835], [2.884, 0.633],
  [0.439, 2.251], [0.278, 1.927], [0.721, 2.145], [0.523, 2.168], [-0.207, 2.255], [0.26, 1.583], [0.569, 2.175],
  [0.389, 1.731], [0.507, 1.987], [0.851, 2.187], [0.548, 2.278], [0.449, 1.769], [0.646, 2.146], [0.446, 1.804],
  [-1.543, 0.477], [-1.427, 1.223], [-2.01, 1.115], [-1.841, 1.289], [-2.109, 0.871], [-1.423, 1.389],
  [-2.14, 0.975], [-1.518, 0.948], [-1.202, 0.802], [-1.511, 0.838], [-1.249, 1.095], [-1.693, 0.67], [-1.18, 1.288],
  [-1.412, 1.384],
];
export const PROBE = [2, 1.15];
const EACH = 14;
const NAMES = ["circle", "square", "triangle"]; // of the marks of the classes
const LABELS = POINTS.map((_, place) => Math.floor(place / EACH));
const LARGEST = 20; // pixels of the circle of the largest weight

function start(changed) {
  let moved = 0; // counts what makes a new fit necessary
  const plane = new Plane({
    x: [-3.4, 3.4], y: [-2.4, 3.2],
    label: "Three classes of points, the regions of their labels, and a point x",
    points: [
      { at: PROBE, mark: "probe", name: "x" },
      ...POINTS.map((at, place) => ({ at, mark: LABELS[place], name: `${NAMES[LABELS[place]]} ${(place % EACH) + 1}` })),
    ],
    changed(point) {
      if (point.mark !== "probe") moved += 1;
      changed();
    },
  });
  const [probe, ...rows] = plane.points.list;
  // a mouse need not press anything: x follows it
  plane.svg.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "mouse" || event.buttons !== 0) return;
    probe.at = plane.keep(plane.fromEvent(event));
    plane.points.place(probe);
    changed();
  });

  let [model, fitted, painted] = [null, "", ""];
  function update(settings, moving) {
    const state = JSON.stringify([settings, moved]);
    if (state !== fitted) model = fitDrm(rows.map((point) => point.at), LABELS, settings);
    // each cell of a Gaussian kernel costs n² multiplications: large cells while something moves
    const size = settings.kernel === "linear" ? 4 : moving && state !== fitted ? 10 * moving : 5;
    fitted = state;
    const picture = JSON.stringify([state, plane.width, document.documentElement.dataset.theme]);
    if (!painted.startsWith(picture) || (!moving && painted !== `${picture} ${size}`)) {
      const cells = plane.cells(size);
      plane.regions(cells, model.grid(cells.xs, cells.ys), colours(plane.element, 3));
      painted = `${picture} ${size}`;
    }
    const found = model.explain(probe.at);
    const largest = Math.max(...found.weights.map(Math.abs));
    rows.forEach((point, place) => {
      const weight = found.weights[place];
      plane.circle(`weight-${place}`, point.at, largest > 0 ? LARGEST * Math.sqrt(Math.abs(weight) / largest) : 0,
        `weight mark-${point.mark}${weight < 0 ? " negative" : ""}`);
    });
    if (found.parts) showParts(found); else plane.clear("part");
    const negative = found.weights.filter((weight) => weight < 0).length;
    return `The label of x is ${NAMES[found.label]}. Its largest weight is ${rounded(largest)}; `
      + `${negative} of ${rows.length} weights are negative (dashed circles).`;
  }

  function showParts({ parts, label }) {
    const sum = [0, 1].map((axis) => parts.reduce((total, part) => total + part[axis], 0));
    const star = sum.map((value, axis) => (value + probe.at[axis]) / 2);
    plane.segment("part-nearest", parts[label], star, "rule");
    parts.forEach((part, at) => plane.arrow(`part-${at}`, part, `arrow mark-${at}`));
    plane.star("part-star", star, "star");
  }

  return { panels: [plane], update, reset() { moved += 1; plane.points.reset(); } };
}

explorable("drm", {
  label: "Regions, weights and class parts of the DRM for points that can be moved",
  tryThis: "move x, the largest point (by the star), through the origin to the other side. Its label stays the same: with the linear kernel "
    + "the machine cannot tell x from −x. Tick the constant feature and do it again; now it can.",
  how: "x, the largest point, follows the mouse; on a phone, drag it. Every point moves by mouse, finger, or arrow keys; "
    + "N and P go to the next point and back. The area of a circle tells the size of a weight. With the linear kernel an "
    + "arrow is the part of a class in the sum; without the constant feature, the part nearest to the star, half-way between "
    + "x and the sum, gives the label.",
  controls: {
    alpha: slider({ label: "α (scatter)", low: 1e-3, high: 1e3, value: 1, zero: true }),
    beta: slider({ label: "β (ridge)", low: 1e-2, high: 1e3, value: 10 }),
    gamma: slider({ label: "γ (rbf)", low: 0.05, high: 20, value: 1 }),
    kernel: choice({ label: "Kernel", choices: { linear: "linear", rbf: "rbf (Gaussian)" } }),
    intercept: tick({ label: "Constant feature" }),
  },
  shown: { gamma: ({ kernel }) => kernel === "rbf", intercept: ({ kernel }) => kernel === "linear" },
  start,
});
