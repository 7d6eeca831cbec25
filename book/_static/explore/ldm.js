// LDM: forty points, the line of the SVM and that of LDM, and the distances from both.
import { Bars } from "./bars.js";
import { choice, rounded, slider, tick } from "./controls.js";
import { colours, explorable } from "./explorable.js";
import { fitLdm } from "./ldm_model.js";
import { Plane } from "./plane.js";

// those of the still figure, to three digits: the first twenty have the label 1, the others -1
export const POINTS = [
  [-1, 0.1], [1.982, 1.053], [-1.566, 1.118], [1.974, 1.191], [-0.828, 1.087], [-0.337, 1.188], [1.442, 1.211],
  [-0.4, 1.204], [0.218, 1.139], [-2.079, 1.271], [1.115, 1.307], [0.168, 1.239], [-0.749, 1.102], [1.269, 1.288],
  [-0.866, 1.14], [-0.205, 1.305], [-1.61, 1.071], [-0.426, 1.31], [-1.305, 1.198], [-1.046, 1.05], [1, -0.1],
  [-0.966, -1.206], [-0.065, -1.233], [2.115, -1.082], [2.031, -1.067], [0.989, -1.224], [0.181, -1.144],
  [-0.982, -1.228], [-1.493, -1.291], [2.068, -1.002], [0.071, -1.231], [-1.69, -1.347], [0.543, -1.164],
  [1.217, -1.103], [0.497, -1.29], [1.836, -1.23], [-2.026, -1.308], [0.126, -1.159], [-0.179, -1.022],
  [-1.926, -1.187],
];
const LABELS = POINTS.map((_, place) => (place < 20 ? 1 : -1));

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const deviation = (values) => Math.sqrt(mean(values.map((value) => (value - mean(values)) ** 2)));

function start(changed) {
  const plane = new Plane({
    x: [-2.6, 2.6], y: [-2.2, 2.2], changed,
    label: "Forty points in the plane, a dashed line for the SVM and a solid line for LDM",
    points: POINTS.map((at, place) => ({
      at, mark: LABELS[place] > 0 ? 0 : 1, name: `${LABELS[place] > 0 ? "circle" : "square"} ${(place % 20) + 1}`,
    })),
  });
  const bars = new Bars({
    rows: [{ name: "SVM (dashed)", style: "theirs" }, { name: "LDM (solid)", style: "ours" }],
    axis: "distance from the line", label: "Histograms of the forty distances, above those of the SVM, below those of LDM",
  });

  function update(settings, moving) {
    const X = plane.points.list.map((point) => point.at);
    const svm = fitLdm(X, LABELS, { ...settings, lambda1: 0, lambda2: 0 });
    const ldm = fitLdm(X, LABELS, settings);
    const cells = plane.cells(settings.kernel === "linear" ? 4 : moving ? 8 * moving : 5);
    const values = ldm.grid(cells.xs, cells.ys);
    plane.regions(cells, values.map((value) => (value > 0 ? 0 : 1)), colours(plane.element, 2));
    for (const [name, model, style] of [["svm", svm, "theirs"], ["ldm", ldm, "ours"]]) {
      if (model.w) plane.line(name, [...model.w, model.intercept], style);
      else plane.zeros(name, cells, model === ldm ? values : model.grid(cells.xs, cells.ys), style);
    }
    const far = settings.counted === "distances";
    const shown = [svm, ldm].map(({ margins, length }) => (
      Array.from(margins, (value) => (far ? value / (length || 1) : value))));
    const where = settings.kernel === "linear" ? "distance from the line" : "distance in feature space";
    bars.show(shown, far && settings.kernel === "linear" ? [0, 2.2] : [0, 1], far ? where : "margin");
    const [theirs, ours] = shown.map((row) => ({ least: rounded(Math.min(...row)), wide: rounded(deviation(row)) }));
    const what = far ? "distance" : "margin";
    const turned = ldm.w ? ` The lines differ by ${angle(svm.w, ldm.w).toFixed(0)} degrees.` : "";
    return `Smallest ${what}: SVM ${theirs.least}, LDM ${ours.least}. `
      + `Standard deviation: SVM ${theirs.wide}, LDM ${ours.wide}.${turned}`;
  }
  return { panels: [plane, bars], update, reset: () => plane.points.reset() };
}

function angle(u, v) {
  const cosine = Math.abs(u[0] * v[0] + u[1] * v[1]) / (Math.hypot(...u) * Math.hypot(...v));
  return (Math.acos(Math.min(1, cosine || 0)) * 180) / Math.PI;
}

explorable("ldm", {
  label: "SVM and LDM on points that can be moved",
  tryThis: "slide λ₁ from the left end to the right. LDM begins as the SVM; then its line turns, the distances come "
    + "close together, and the smallest one shrinks.",
  how: "Move a point by mouse, finger, or arrow keys; N and P go to the next point and back. The SVM has the same C, "
    + "kernel and intercept.",
  controls: {
    lambda1: slider({ label: "λ₁ (variance)", low: 0.01, high: 1e4, value: 1000, zero: true }),
    lambda2: slider({ label: "λ₂ (mean)", low: 0.01, high: 1e4, value: 0, zero: true }),
    C: slider({ label: "C (losses)", low: 1e-3, high: 1e3, value: 100 }),
    gamma: slider({ label: "γ (rbf)", low: 0.05, high: 20, value: 0.5 }),
    kernel: choice({ label: "Kernel", choices: { linear: "linear", rbf: "rbf (Gaussian)" } }),
    counted: choice({ label: "Histogram", choices: { distances: "distances", margins: "margins" } }),
    intercept: tick({ label: "Intercept", value: true }),
  },
  shown: { gamma: ({ kernel }) => kernel === "rbf" },
  start,
});
