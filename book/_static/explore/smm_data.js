// Sixty matrices to learn from, 120 new ones, and the truth, by the formulas of marginbook.smm.claims.idea_problem: too many
// numbers to write them down.
export const SHAPE = [6, 5];
const SIZE = 30;
const [TRAINED, NEW, SCALE] = [60, 120, 4];
const [FACTOR, MODULUS] = [16807, 2 ** 31 - 1]; // Park and Miller's generator

const ROWS = [2, 1, 0, 0, -1, -2];
const COLUMNS = [1, 2, 0, -2, -1];
const pattern = Float64Array.from(ROWS.flatMap((a) => COLUMNS.map((b) => a * b)));
const long = Math.hypot(...pattern);
export const TRUTH = pattern.map((value) => value / long);

export const odds = (probability) => Math.log(probability / (1 - probability)) / SCALE; // the score at which p is this
export const chance = (score) => 1 / (1 + Math.exp(-SCALE * score));

// sample: 1, 2, ...; returns { X, y, fresh, scores }, scores those of the new matrices by the truth
export function drawn(sample) {
  let state = 1000 * sample;
  const uniform = () => {
    state = FACTOR * state % MODULUS;
    return state / MODULUS;
  };
  for (let k = 0; k < 3; k++) uniform(); // small seeds begin with small numbers
  const thrown = Array.from({ length: TRAINED }, uniform);
  const all = Array.from({ length: TRAINED + NEW }, () => {
    const one = new Float64Array(SIZE);
    for (let k = 0; k < SIZE; k += 2) { // Box and Muller
      const [length, turn] = [Math.sqrt(-2 * Math.log(uniform())), 2 * Math.PI * uniform()];
      one[k] = length * Math.cos(turn);
      one[k + 1] = length * Math.sin(turn);
    }
    return one;
  });
  const score = (one) => one.reduce((sum, value, k) => sum + value * TRUTH[k], 0);
  const [X, fresh] = [all.slice(0, TRAINED), all.slice(TRAINED)];
  return { X, y: X.map((one, i) => (thrown[i] < chance(score(one)) ? 1 : -1)), fresh, scores: fresh.map(score) };
}
