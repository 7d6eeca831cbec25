// How the methods are related: five boundaries of one kernel, and a way from kernel ridge to the SVM on which all are LDMs.
import { apart, fitBridge, way } from "./bridge_model.js";
import { choice, rounded, slider } from "./controls.js";
import { even } from "./even.js";
import { colours, explorable } from "./explorable.js";
import { Plane } from "./plane.js";
import { Shares, told } from "./shares.js";

// those of the still figure, to three digits: the first 24 have the label -1, the others 1
export const POINTS = [
  [-2.925, -0.219], [-1.859, 1.514], [-1.846, -0.732], [-1.61, -0.209], [-1.343, -0.922], [-1.304, -1.265],
  [-1.265, 0.352], [-1.254, -0.13], [-1.223, 0.041], [-1.144, -0.316], [-1.136, 0.362], [-1.058, 0.22], [-0.759, 0.541],
  [-0.729, 1.366], [-0.474, -0.132], [-0.385, 0.355], [-0.336, -0.314], [-0.188, 1.043], [0.04, 0.105], [0.184, 1.493],
  [0.303, 0.094], [0.704, 0.947], [0.746, 0.781], [0.858, 1.96], [-0.088, 0.795], [0.016, -0.262], [0.764, -0.77],
  [1.196, 1.056], [1.252, 1.084], [1.529, 0.141], [1.557, -0.808], [1.63, 1.096], [1.833, -1.804], [2.783, 1.72],
  [2.939, -0.096], [3.002, 1.715],
];
const NEGATIVE = 24;
const LABELS = POINTS.map((_, place) => (place < NEGATIVE ? -1 : 1));
// from the lowest line to the highest
const LINES = { ridge: "broad ridge", svm: "broad svm", kfda: "kfda", drm: "drm", ldm: "ours" };
const ENDS = { 0: "kernel ridge", 1: "SVM" };
const START = { place: 0.5, beta: 0.3, C: 100, gamma: 0.3 };

function start(changed) {
  const plane = new Plane({
    x: [-3.5, 3.5], y: [-2.6, 2.6], changed,
    label: "Thirty-six points of two classes, and the boundaries of five classifiers",
    points: POINTS.map((at, place) => ({
      at, mark: LABELS[place] > 0 ? 0 : 1,
      name: LABELS[place] > 0 ? `circle ${place - NEGATIVE + 1}` : `square ${place + 1}`,
    })),
  });
  const shares = new Shares({
    rows: [
      { name: "kernel ridge", style: "broad ridge" }, { name: "SVM", style: "broad svm" },
      { name: "DRM, \u03b1 = 0", style: "drm" }, { name: "kFDA, q = 2", style: "kfda" },
    ],
    first: { name: "LDM, with its regions", style: "ours" },
    title: "share that differs from the LDM",
    label: "The lines of the five classifiers, and the share of the plane on which each differs from the LDM",
  });

  function update(settings, moving) {
    const X = plane.points.list.map((point) => point.at);
    const model = fitBridge(X, LABELS, settings);
    const cells = plane.cells(moving ? 8 * moving : 5);
    const values = model.grid(cells.xs, cells.ys);
    plane.regions(cells, values.ldm.map((value) => (value > 0 ? 0 : 1)), colours(plane.element, 2));
    for (const [name, style] of Object.entries(LINES)) plane.zeros(name, cells, values[name], style);
    const found = Object.fromEntries(Object.keys(LINES).map((name) => [name, apart(cells, values.ldm, values[name])]));
    const listed = [found.ridge, found.svm, found.drm, found.kfda];
    shares.show(listed, Math.max(0.1, ...listed));
    return theory(settings, Math.max(...model.margins), found);
  }
  return { panels: [plane, shares], update, reset: () => plane.points.reset() };
}

// what is proved of the place, beside the difference that was found
function theory({ place, beta, C }, largest, { ridge, svm }) {
  if (place === 0) {
    return "No hinge (C = 0). In theory the LDM is now kernel ridge; here they decide differently on "
      + `${told(ridge)} of the plane.`;
  }
  if (place === 1) {
    return "Neither mean nor variance (\u03bb\u2081 = \u03bb\u2082 = 0). In theory the LDM is now the SVM without intercept; here they "
      + `decide differently on ${told(svm)} of the plane.`;
  }
  const now = way(place, POINTS.length, beta, C);
  const still = place <= 0.5 && largest <= 1;
  const why = still ? `The largest margin is ${rounded(largest)}: below 1 the hinge is a straight line, and in theory the LDM is still kernel ridge.`
    : place <= 0.5 ? "Some margins are above 1: they have no loss any more, and the LDM leaves kernel ridge."
      : "Mean and variance lose their weight, and the LDM comes to the SVM.";
  return `C = ${rounded(now.C)}, \u03bb\u2081 = ${rounded(now.lambda1)}, \u03bb\u2082 = ${rounded(now.lambda2)}. ${why} Here the LDM differs `
    + `from kernel ridge on ${told(ridge)} of the plane, from the SVM on ${told(svm)}.`;
}

explorable("bridge", {
  label: "Five classifiers on points that can be moved, and a way from kernel ridge to the SVM",
  tryThis: "slide the LDM from the left end to the right. Its green line begins inside the broad grey line of kernel ridge, "
    + "leaves it once a margin exceeds 1, and ends inside the broad yellow line of the SVM.",
  how: "Move a point by mouse, finger, or arrow keys; N and P go to the next point and back. In the first half of the way λ₁ = n/(4β) "
    + "and λ₂ = 1 are fixed, and C rises from 0 to that of the SVM; in the second, C is fixed, and λ₁ and λ₂ fall to 0. Only kFDA "
    + "has an intercept. The DRM has the weights of kernel ridge and another rule; kFDA with q = 2 is the least-squares SVM on "
    + "kernel columns.",
  controls: {
    place: even({
      label: "LDM: ridge \u2192 SVM", low: 0, high: 1, step: 0.01, value: START.place,
      told: (place) => ENDS[place] ?? `${Math.round(100 * place)}\u00a0%`,
    }),
    beta: slider({ label: "β (ridge)", low: 0.01, high: 100, value: START.beta }),
    C: slider({ label: "C of the SVM", low: 0.1, high: 1000, value: START.C }),
    gamma: slider({ label: "γ (rbf)", low: 0.05, high: 20, value: START.gamma }),
    kernel: choice({ label: "Kernel", choices: { rbf: "rbf (Gaussian)", linear: "linear" } }),
  },
  shown: { gamma: ({ kernel }) => kernel === "rbf" },
  start,
});
