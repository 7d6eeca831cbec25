// kFDA_q: which of forty points a sparse classifier keeps, and the objective if only the points A and B may be kept.
import { rounded, slider } from "./controls.js";
import { colours, explorable, paper } from "./explorable.js";
import { basins, fitKfda, limit, minimaOfTwo, path, problemOf, targets } from "./kfda_model.js";
import { gram } from "./kernels.js";
import { Plane } from "./plane.js";
import { set } from "./svg.js";

// those of the still figure: the first twenty are the positive class
export const POINTS = [
  [-1.103, -0.127], [-0.913, 0.153], [-0.845, 0.59], [-0.764, 0.761], [-0.761, 0.676], [-0.697, 0.436], [-0.632, 0.683],
  [-0.458, 0.82], [-0.346, 1.026], [-0.254, 0.944], [0.101, 1.166], [0.425, 0.997], [0.426, 1.047], [0.707, 0.754],
  [0.714, 0.648], [0.807, 0.707], [0.875, 0.628], [0.92, 0.193], [0.94, 0.289], [0.967, -0.03], [0.014, 0.255],
  [0.077, 0.455], [0.149, 0.411], [0.246, 0.164], [0.254, 0.019], [0.352, -0.339], [0.492, -0.008], [0.733, -0.518],
  [0.783, -0.154], [0.899, -0.637], [1.054, -0.63], [1.234, -0.381], [1.252, -0.382], [1.555, -0.433], [1.564, -0.048],
  [1.758, -0.026], [1.767, 0.278], [1.896, 0.44], [2.009, 0.187], [2.034, 0.032],
];
const POSITIVE = POINTS.map((_, place) => place < 20);
const PAIR = [5, 9]; // the points A and B
export const START = [0.5, 1.5];
const GAMMA = 2;
const LEVELS = [0.02, 0.08, 0.2, 0.4, 0.7, 1, 1.4, 2, 3, 5, 8]; // of J above its minimum, in units of its fall from zero
const DOTS = 40; // steps that are drawn

const keeps = ([a, b]) => (a && b ? "both" : a ? "A alone" : b ? "B alone" : "neither");
const WRITTEN = { both: "A and B", "A alone": "A", "B alone": "B", neither: "neither" };

function label(plane, name, at, text, [right, down], anchor = "start", size = 12) {
  const element = plane.layer(name, "text", "label", true);
  const [x, y] = plane.toPixels(at);
  const bold = size > 12 ? 700 : 400;
  set(element, {
    x: x + right, y: y + down, "text-anchor": anchor, "font-size": size, "font-weight": bold, "pointer-events": "none",
  });
  element.textContent = text;
}

function start(changed) {
  let moved = 0; // counts what makes a new fit necessary
  const plane = new Plane({
    x: [-1.6, 2.5], y: [-1.15, 1.65], changed: () => { moved += 1; changed(); },
    label: "Forty points in the plane; those that the classifier keeps have rings, and a line is its boundary",
    points: POINTS.map((at, place) => {
      const name = place === PAIR[0] ? "A, a circle" : place === PAIR[1] ? "B, a circle" : null;
      return { at, mark: POSITIVE[place] ? 0 : 1, name: name ?? `${POSITIVE[place] ? "circle" : "square"} ${(place % 20) + 1}` };
    }),
  });
  const land = new Plane({
    x: [-0.35, 2.85], y: [-0.35, 2.85], changed,
    label: "Level lines of the objective over the coefficients of A and B, its minima, and the steps from a start",
    points: [{ at: START, mark: "probe", name: "start of the steps" }],
  });
  const [begin] = land.points.list;
  for (const place of PAIR) plane.points.list[place].element.classList.add("named");

  let [model, two, minima, fitted, drawn] = [null, null, null, "", ""];
  function update(settings, moving) {
    const X = plane.points.list.map((point) => point.at);
    const state = JSON.stringify([settings, moved]);
    const fresh = state !== fitted;
    if (fresh) {
      model = fitKfda(X, POSITIVE, { ...settings, gamma: GAMMA });
      const K = gram({ name: "rbf", gamma: GAMMA }, X);
      two = problemOf(PAIR.map((place) => K.subarray(place * X.length, (place + 1) * X.length)), targets(POSITIVE));
      minima = minimaOfTwo(two, settings);
      fitted = state;
    }
    const picture = JSON.stringify([state, plane.width, land.width, document.documentElement.dataset.theme]);
    if (!drawn.startsWith(picture) || (!moving && !drawn.endsWith("fine"))) {
      const grain = fresh ? moving : 0;
      drawClassifier(X, grain ? 8 * grain : 5);
      drawLand(settings, grain ? 8 * grain : 4);
      drawn = `${picture} ${grain ? "" : "fine"}`;
    }
    const wrong = `${model.errors} ${model.errors === 1 ? "is" : "are"} on the wrong side`;
    return `${model.retained.length} of ${X.length} points are kept (rings), and ${wrong}. ${told(settings)}`;
  }

  function drawClassifier(X, size) {
    const cells = plane.cells(size);
    const values = model.grid(cells.xs, cells.ys);
    plane.regions(cells, values.map((value) => (value > 0 ? 0 : 1)), colours(plane.element, 2));
    plane.zeros("boundary", cells, values, "ours");
    X.forEach((at, i) => plane.circle(`kept-${i}`, at, model.omega[i + 1] ? 9 : 0, "weight mark-probe"));
    PAIR.forEach((place, i) => label(plane, `name-${i}`, X[place], "AB"[i], [8, 16], "start", 15));
  }

  function drawLand(settings, size) {
    const cells = land.cells(size);
    const { xs, ys } = cells;
    // tints: A alone, B alone, neither; the rest of the plane has that of the paper
    const [, , first, second] = colours(land.element, 4);
    const tints = { both: paper(land.element), "A alone": first, "B alone": second, neither: [128, 128, 128] };
    const ends = minima.map(({ omega }) => tints[keeps(omega)]);
    land.regions(cells, basins(two, minima, settings, xs, ys), ends);
    const J = new Float64Array(xs.length * ys.length);
    const { A, c, energy, n } = two;
    const [across, up] = [xs, ys].map((axis) => axis.map((one) => settings.rho * n * Math.abs(one) ** settings.q));
    for (let at = 0; at < J.length; at++) {
      const [i, j] = [at % xs.length, Math.floor(at / xs.length)];
      const [u, v] = [xs[i], ys[j]];
      J[at] = energy / 2 - c[0] * u - c[1] * v + 0.5 * (A[0] * u * u + 2 * A[1] * u * v + A[3] * v * v) + across[i] + up[j];
    }
    const lowest = minima[0].objective;
    const fall = Math.max(energy / 2 - lowest, 0.02 * energy);
    LEVELS.forEach((level, i) => {
      set(land.layer(`level-${i}`, "path", "axis"), { fill: "none" });
      land.zeros(`level-${i}`, cells, J.map((value) => value - lowest - level * fall), "axis");
    });
    land.clear("minimum");
    minima.forEach(({ omega }, i) => {
      land.circle(`minimum-${i}`, omega, 5, "weight mark-probe");
      label(land, `minimum-name-${i}`, omega, WRITTEN[keeps(omega)], [9, -8]);
    });
    label(land, "across", [2.85, 0], "coefficient of A", [-6, 15], "end");
    label(land, "up", [0, 2.85], "coefficient of B", [6, 15]);
  }

  function told(settings) {
    const from = Float64Array.from(begin.at);
    const steps = path(two, from, settings);
    const end = limit(two, from, settings);
    const written = steps.slice(0, DOTS).map((at) => land.toPixels(at).map((one) => one.toFixed(1)).join(" "));
    set(land.layer("way", "path", "ours"), { d: `M${written.join("L")}L${land.toPixels(end).join(" ")}` });
    land.clear("step");
    steps.slice(1, DOTS).forEach((at, k) => land.circle(`step-${k}`, at, 0.8, "arrow mark-probe"));
    land.star("end", end, "star");
    const value = end.every((one) => one === 0) ? two.energy / 2 : valueAt(end, settings);
    const best = minima[0];
    const count = minima.length === 1 ? "there is one minimum" : `there are ${minima.length} local minima`;
    const lowest = value <= best.objective * (1 + 1e-9)
      ? "it is the lowest" : `the lowest, ${rounded(best.objective)}, keeps ${keeps(best.omega)}`;
    return `With A and B only, ${count}. ${steps.length - 1} steps from the start lead to the one that keeps ${keeps(end)}: `
      + `J = ${rounded(value)}${minima.length > 1 ? `; ${lowest}` : ""}.`;
  }

  const valueAt = (end, settings) => minima.reduce((best, one) => (
    apart(one.omega, end) < apart(best.omega, end) ? one : best)).objective;
  const apart = (one, other) => Math.hypot(one[0] - other[0], one[1] - other[1]);

  return {
    panels: [plane, land], update,
    reset() { moved += 1; plane.points.reset(); land.points.reset(); },
  };
}

explorable("kfda", {
  label: "Points that a sparse classifier keeps, and the steps of its algorithm, for points that can be moved",
  tryThis: "drag the start, the large dot of the second picture. It decides whether A, B or both are kept. Then slide q to 1: one "
    + "minimum is left, and every start leads there.",
  how: "In the first picture all points may be kept, and the algorithm starts from the ridge solution. In the second only A and B may "
    + "be: level lines of the objective J, its local minima (small circles), and the steps. The tint of a place shows where the "
    + "steps from there end: no tint keeps both, purple B alone, green A alone, grey neither. Move a point by mouse, finger, or "
    + "arrow keys; N and P go to the next point and back.",
  controls: {
    q: slider({ label: "q (power)", low: 0.2, high: 1, value: 0.5, steps: 32 }),
    rho: slider({ label: "ρ (penalty)", low: 0.003, high: 0.5, value: 0.1 }),
  },
  start,
});
