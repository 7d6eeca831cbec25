// SMM: coefficients of low rank learned from sixty matrices, and nine level sets that add up to a probability.
import { rounded, slider } from "./controls.js";
import { even } from "./even.js";
import { explorable } from "./explorable.js";
import { Heat } from "./heat.js";
import { dot } from "./linalg.js";
import { SHAPE, TRUTH, chance, drawn, odds } from "./smm_data.js";
import { decide, fitMatrix, levelSets, weightsOf } from "./smm_model.js";
import { Stairs } from "./stairs.js";

export const LEVELS = 10;
const ROUGH = 1e-4; // relative tolerance while something moves
const BUDGET = 8; // milliseconds of a frame after which no other fit begins
const percent = (share) => `${Math.round(100 * share)}\u00a0%`;

function start(changed, soon) {
  const heat = new Heat({
    names: ["truth", "learned"], shape: SHAPE, most: Math.max(...TRUTH.map(Math.abs)),
    label: "Two images of coefficients: the truth, and what is learned",
  });
  const stairs = new Stairs({
    range: [-2.5, 2.5], curve: chance, at: odds,
    label: "Estimated probabilities of 120 new matrices over their true scores, the true curve, and the steps of exact level sets",
  });
  let [data, sample, sets, state, shown] = [null, 0, null, "", null];
  let rough = new Map(); // fits while something moved, of this sample

  // At rest the level sets are fitted as the library's estimator does, each from its neighbour, some in each frame. Until the
  // chosen one is there, a rough fit from what was shown before stands for it.
  function fitted({ rank, level, lam }, h, moving) {
    const now = JSON.stringify([rank, lam, sample]);
    if (now !== state) [sets, state] = [levelSets(data.X, data.y, SHAPE, { rank, lam, levels: LEVELS }), now];
    if (!moving) {
      const end = performance.now() + BUDGET;
      while (performance.now() < end && sets.more());
      if (!sets.done) soon();
    }
    if (sets.has(h)) return sets.fit(h);
    const key = JSON.stringify([rank, lam, h]);
    if (!rough.has(key)) {
      const near = shown?.rank === rank && shown.sample === sample ? shown : null;
      rough.set(key, fitMatrix(data.X, data.y, SHAPE, { rank, lam, weights: weightsOf(data.y, level), start: near, tol: ROUGH }));
    }
    return rough.get(key);
  }

  function update(settings, moving) {
    const { level, rank } = settings;
    if (settings.sample !== sample) {
      [data, sample, shown, rough] = [drawn(settings.sample), settings.sample, null, new Map()];
    }
    const h = Math.round(level * LEVELS);
    const found = fitted(settings, h, moving);
    const inside = data.fresh.map((one) => decide(found, one) > 0);
    const estimates = sets.done ? data.fresh.map((one) => sets.probability(one))
      : shown?.estimates ?? inside.map((yes) => (yes ? 0.75 : 0.25));
    shown = { ...found, rank, sample, estimates };
    const length = Math.sqrt(dot(found.coef, found.coef));
    const learned = found.coef.map((value) => (length > 0 ? value / length : 0));
    heat.show([TRUTH, learned], ["truth", `rank ${rank}, level ${level}`]);
    stairs.show({ scores: data.scores, estimates, inside, level, levels: LEVELS, faint: !sets.done });
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const wrong = mean(data.scores.map((score, i) => Number(inside[i] !== chance(score) > level)));
    const error = mean(estimates.map((value, i) => Math.abs(value - chance(data.scores[i]))));
    return `The set of level ${level} is wrong about ${percent(wrong)} of the new matrices. All nine sets together miss the `
      + `probability by ${sets.done ? error.toFixed(2) : "\u2026"} on average. Similarity of the two images (cosine): `
      + `${rounded(dot(learned, TRUTH))}.`;
  }
  return { panels: [heat, stairs], update, reset() {} };
}

explorable("smm", {
  label: "Learned coefficients of a rank, and the probability that level sets of a matrix add up to",
  tryThis: "raise the rank from 1 to 5. Noise covers the pattern, and the marks scatter away from the curve. Then move "
    + "the level: each of the nine levels is one classifier, and one step of the stairs.",
  how: "A mark is a new matrix; its height is the share of the nine level sets that contain it. Circles are in the set "
    + "of the chosen level, squares are not; if that set were exact, circles would fill the shaded part and nothing else. "
    + "Grey stairs: what exact sets give. The true pattern has rank 1; rank 5 is the SVM of the vector.",
  controls: {
    rank: even({ label: "Rank", low: 1, high: 5, step: 1, value: 1 }),
    level: even({ label: "Level π", low: 0.1, high: 0.9, step: 0.1, value: 0.5 }),
    lam: slider({ label: "λ (penalty)", low: 1e-3, high: 1, value: 0.01 }),
    sample: even({ label: "Sample of 60 matrices", low: 1, high: 20, step: 1, value: 1 }),
  },
  start,
});
