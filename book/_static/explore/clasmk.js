// CLASMK: forty points, the weights of three kernels for each of two classes, Dinkelbach's steps to the learned ones, and what
// these do to the distances of points that the subspaces have not seen.
import { Bars } from "./bars.js";
import { dinkelbach, fitSubspaces, leads, partsOf, ratio } from "./clasmk_model.js";
import { choice, rounded, slider } from "./controls.js";
import { colours, explorable, paper } from "./explorable.js";
import { overGrid } from "./kernels.js";
import { dot } from "./linalg.js";
import { Plane } from "./plane.js";
import { draw, set } from "./svg.js";

// those of the still figure: the first twenty are of the first class; of each class every other one, from left to right, spans the
// subspaces
export const POINTS = [
  [-1.19, 0.103], [-0.938, 0.261], [-0.904, 0.513], [-0.824, 0.686], [-0.814, 0.219], [-0.613, 0.703], [-0.432, 0.806],
  [-0.248, 0.941], [-0.239, 1.02], [0.013, 0.969], [0.061, 1.056], [0.168, 0.864], [0.446, 0.931], [0.477, 0.453],
  [0.604, 0.895], [0.752, -0.025], [0.886, 0.413], [0.924, 0.436], [0.925, 0.55], [1.318, 0.041], [-0.087, 0.266],
  [-0.06, 0.009], [-0.028, 0.347], [0.082, -0.165], [0.116, 0.276], [0.143, -0.286], [0.66, -0.388], [0.684, -0.713],
  [0.749, -0.216], [0.952, -0.462], [1.077, -0.607], [1.394, -0.3], [1.41, -0.281], [1.566, -0.347], [1.679, -0.182],
  [1.842, 0.464], [1.919, -0.03], [1.92, 0.591], [2.036, -0.14], [2.049, 0.385],
];
const Y = POINTS.map((_, place) => (place < 20 ? 0 : 1));
const BASIS = POINTS.map((_, place) => place % 2 === 0);
const SIGMAS = [2, 0.7]; // of the wide and of the middle kernel; that of the narrow one is a control
const EQUAL = [1 / 3, 1 / 3, 1 / 3];
const NAMES = ["circle", "square"];
const CORNERS = ["wide", "middle", "narrow"];
const HEIGHT = Math.sqrt(3); // of a triangle with sides of 2
const LEFTS = [0, 2.75]; // where the triangles begin
const SHADES = 6;
const LEVELS = 9;

const toPlane = ([, middle, narrow], side) => [LEFTS[side] + 2 * middle + narrow, HEIGHT * narrow];
function toWeights([x, y], side) {
  const narrow = y / HEIGHT;
  const middle = (x - LEFTS[side] - narrow) / 2;
  return [1 - middle - narrow, middle, narrow];
}

// the nearest weights: none below 0, and their sum is 1
function ontoTriangle(weights) {
  let [sum, shift] = [0, 0];
  [...weights].sort((a, b) => b - a).forEach((one, k) => {
    sum += one;
    if (one > (sum - 1) / (k + 1)) shift = (sum - 1) / (k + 1);
  });
  return weights.map((one) => Math.max(0, one - shift));
}

function start(changed) {
  let moved = 0; // counts what makes new subspaces necessary
  const plane = new Plane({
    x: [-1.7, 2.7], y: [-1.2, 1.7], changed() { moved += 1; changed(); },
    label: "Forty points of two classes; those with rings span the subspaces of their class",
    points: POINTS.map((at, place) => ({ at, mark: Y[place], name: `${NAMES[Y[place]]} ${(place % 20) + 1}` })),
  });
  const bars = new Bars({
    rows: [{ name: "equal weights", style: "theirs" }, { name: "learned weights", style: "ours" }], axis: "mean distance to the other class minus that to its own",
    label: "Histograms over the new points: mean distance to the other class minus that to the own, for equal and for learned weights",
  });
  const land = new Plane({
    x: [-0.32, 5.15], y: [-0.34, 2],
    label: "Two triangles of weights, one for each class, with level lines of the ratio, the steps and the minimum",
    points: [0, 1].map((side) => ({ at: toPlane(EQUAL, side), mark: side, name: `start of the ${NAMES[side]}s` })),
    changed(point) {
      point.at = toPlane(ontoTriangle(toWeights(point.at, point.place)), point.place);
      land.points.place(point);
      changed();
    },
  });
  for (const axis of land.axes) axis.remove();
  const clips = [0, 1].map((side) => {
    const path = draw("path");
    land.under.append(draw("clipPath", { id: `clasmk-triangle-${side}` }, path));
    return path;
  });

  let [model, fitted, drawn] = [null, "", ""];
  function update({ sigma, combine, shading }, moving) {
    const X = plane.points.list.map((point) => point.at);
    const state = JSON.stringify([sigma, combine, moved]);
    const fresh = state !== fitted;
    if (fresh) model = fitSubspaces(X, Y, BASIS, { sigmas: [...SIGMAS, sigma], combine });
    fitted = state;
    const from = land.points.list.map((point, side) => ontoTriangle(toWeights(point.at, side)));
    const steps = dinkelbach(model.forms, from);
    const learned = steps[steps.length - 1].weights;
    const equal = [EQUAL, EQUAL];
    const seen = model.seen.map((i) => X[i]);
    const found = [equal, learned].map((weights) => leads(model, weights, seen, model.seen.map((i) => Y[i])));
    bars.show(found, [-0.2, 0.8]);
    const picture = JSON.stringify([state, shading, plane.width, land.width, document.documentElement.dataset.theme]);
    if (!drawn.startsWith(picture) || (!moving && !drawn.endsWith("fine"))) {
      const grain = fresh ? moving : 0;
      shade(shading === "equal" ? equal : learned, grain ? 9 * grain : 5);
      drawLevels(learned, grain ? Math.round(30 / grain) : 70);
      drawn = `${picture} ${grain ? "" : "fine"}`;
    }
    X.forEach((at, i) => plane.circle(`basis-${i}`, at, BASIS[i] ? 9 : 0, `weight mark-${Y[i]}`));
    drawSteps(steps);
    return told(steps, equal, learned, found);
  }

  // the share of a point that the subspaces of the nearer class capture
  function shade(weights, size) {
    const cells = plane.cells(size);
    const { xs, ys } = cells;
    const shares = weights.map((of, c) => {
      const sums = new Float64Array(xs.length * ys.length);
      of.forEach((weight, i) => {
        if (weight < 1e-6) return;
        const one = model.subspaces[c][i];
        overGrid(one.of, one.rows, xs, ys, (values, place) => {
          for (const column of one.A) sums[place] += weight * dot(column, values) ** 2;
        });
      });
      return sums;
    });
    const own = colours(plane.element, 2);
    const ground = paper(plane.element);
    const inks = own.flatMap((colour) => Array.from({ length: SHADES + 1 }, (_, k) => (
      colour.map((part, at) => ground[at] + (k / SHADES) * (part - ground[at])))));
    plane.regions(cells, shares[0].map((share, at) => {
      const side = share >= shares[1][at] ? 0 : 1;
      return side * (SHADES + 1) + Math.round(SHADES * Math.min(1, shares[side][at]));
    }), inks);
  }

  // level lines of the ratio over the weights of one class, those of the other being the learned ones
  function drawLevels(learned, count) {
    for (const side of [0, 1]) {
      const corners = CORNERS.map((_, k) => toPlane(CORNERS.map((_, i) => (i === k ? 1 : 0)), side));
      const outline = `M${corners.map((at) => land.toPixels(at).join(" ")).join("L")}Z`;
      set(clips[side], { d: outline });
      set(land.layer(`side-${side}`, "path", "rule"), { d: outline, style: "stroke-dasharray: none" });
      const [top, bottom] = partsOf(model.forms[1 - side], learned[1 - side]);
      const xs = Float64Array.from({ length: count }, (_, i) => LEFTS[side] + 2 * i / (count - 1));
      const ys = Float64Array.from({ length: count }, (_, i) => HEIGHT * (1 - i / (count - 1)));
      const values = new Float64Array(count * count);
      let [low, high] = [Infinity, -Infinity];
      for (let at = 0; at < values.length; at++) {
        const weights = toWeights([xs[at % count], ys[Math.floor(at / count)]], side);
        const inside = weights.every((one) => one >= 0);
        const [own, energy] = partsOf(model.forms[side], inside ? weights : weights.map((one) => Math.max(0, one)));
        values[at] = (own + top) / (energy + bottom);
        if (inside) [low, high] = [Math.min(low, values[at]), Math.max(high, values[at])];
      }
      for (let k = 1; k <= LEVELS; k++) {
        const name = `level-${side}-${k}`;
        set(land.layer(name, "path", "axis"), { fill: "none", "clip-path": `url(#clasmk-triangle-${side})` });
        const level = low + (high - low) * (k / (LEVELS + 1)) ** 2; // closer around the minimum
        land.zeros(name, { xs, ys }, values.map((value) => value - level), "axis");
      }
      land.circle(`equal-${side}`, toPlane(EQUAL, side), 4, "weight mark-probe");
      corners.forEach((at, k) => {
        if (k === 2) label(`corner-${side}`, at, CORNERS[k], [13, 4], "start");
        else label(`corner-${side}-${k}`, at, CORNERS[k], [0, 17], "middle");
      });
      label(`title-${side}`, [LEFTS[side] - 0.25, 2], `${NAMES[side]}s`, [0, 15], "start");
    }
  }

  function label(name, at, text, [right, down], anchor) {
    const element = land.layer(name, "text", "label", true);
    const [x, y] = land.toPixels(at);
    set(element, { x: x + right, y: y + down, "text-anchor": anchor, "pointer-events": "none" });
    element.textContent = text;
  }

  function drawSteps(steps) {
    land.clear("step");
    for (const side of [0, 1]) {
      const at = steps.map(({ weights }) => toPlane(weights[side], side));
      const written = at.map((one) => land.toPixels(one).map((value) => value.toFixed(1)).join(" "));
      set(land.layer(`way-${side}`, "path", "ours"), { d: `M${written.join("L")}` });
      at.slice(1, -1).forEach((one, k) => land.circle(`step-${side}-${k}`, one, 1.5, "arrow mark-probe"));
      land.star(`star-${side}`, at[at.length - 1], "star");
    }
  }

  function told(steps, equal, learned, found) {
    const captured = (weights) => {
      const shares = weights.flatMap((of, c) => of.map((weight, i) => weight * model.forms[c].D[4 * i]));
      return `${Math.round(100 * shares.reduce((sum, one) => sum + one, 0) / weights.length)} %`;
    };
    const [theirs, ours] = found.map((row) => rounded(row.reduce((sum, one) => sum + one, 0) / row.length));
    const count = steps.length - 1;
    return `Ratio: ${rounded(ratio(model.forms, equal))} with equal weights, ${rounded(steps[0].value)} at the starts, and after `
      + `${count} ${count === 1 ? "step" : "steps"} ${rounded(steps[count].value)} with the learned ones. Equal weights capture ${captured(equal)} of a new point, learned ones ${captured(learned)}. `
      + `On average its own class is nearer by ${theirs} with equal weights, by ${ours} with learned ones.`;
  }

  return {
    panels: [plane, bars, land], update,
    reset() { moved += 1; plane.points.reset(); land.points.reset(); },
  };
}

explorable("clasmk", {
  label: "Weights of three kernels for two classes, and distances under equal and learned weights, for points that can be moved",
  tryThis: "slide σ, the width of the narrow kernel, to the left. The stars, the weights with the least ratio, move into the corner of "
    + "the narrow kernel, and the ratio falls to zero. But with these weights the subspaces capture little of a new point, and "
    + "neither class is nearer.",
  how: "Points with rings span the subspaces of their class; the others are new, and the weights are learned from them. The shading "
    + "shows how much of a point the subspaces capture. Each triangle has the weights of one class: level lines of the ratio, a small ring for equal "
    + "weights, and the steps from a start. Drag a start: all ways end at the star. Points move by mouse, finger, or arrow keys; "
    + "N and P go to the next point and back.",
  controls: {
    sigma: slider({ label: "σ (narrow kernel)", low: 0.1, high: 0.7, value: 0.6 }),
    combine: choice({ label: "Coordinates", choices: { sum: "added", concat: "side by side" } }),
    shading: choice({ label: "Shading", choices: { learned: "learned", equal: "equal" } }),
  },
  start,
});
