// minimise  x'Hx/2 - e'x  with  lower <= x_i <= upper,  H positive semidefinite, e the vector of ones.
//
// A primal-dual interior point method (Mehrotra's predictor and corrector). The distances to the two bounds are variables of
// their own, so that a point near a bound keeps all its digits; H may be singular, as it is for 40 points in the plane.
import { cholesky, multiply, solveFactored } from "./linalg.js";

const STEPS = 80;
const TOLERANCE = 1e-15;

export function boxQp(H, n, lower, upper) {
  const width = upper - lower;
  const below = new Float64Array(n).fill(width / 2); // x - lower
  const above = new Float64Array(n).fill(width / 2); // upper - x
  const point = () => below.map((low, i) => (low < above[i] ? lower + low : upper - above[i]));
  let x = point();
  let gradient = multiply(H, n, x).map((value) => value - 1);
  const shift = Math.max(1e-3, ...gradient.map((value) => 0.1 * Math.abs(value)));
  const low = gradient.map((value) => Math.max(value, 0) + shift); // multipliers: gradient = low - high
  const high = gradient.map((value) => Math.max(-value, 0) + shift);
  let best = { x, gap: Infinity };
  for (let step = 0; step < STEPS; step++) {
    const gap = certificate(x, gradient, lower, upper);
    if (gap < best.gap) best = { x, gap, steps: step };
    let product = 0;
    let size = 1;
    for (let i = 0; i < n; i++) {
      product += below[i] * low[i] + above[i] * high[i];
      size += Math.abs(x[i] * gradient[i]);
    }
    if (Math.min(gap, product) <= TOLERANCE * size) break;
    const matrix = Float64Array.from(H);
    for (let i = 0; i < n; i++) matrix[i * n + i] += low[i] / below[i] + high[i] / above[i];
    let factor;
    try {
      factor = cholesky(matrix, n);
    } catch {
      break; // no digit left to gain
    }
    const residual = gradient.map((value, i) => value - low[i] + high[i]);
    const direction = (lowAim, highAim) => {
      const x = solveFactored(factor, n, residual.map((value, i) => (
        -value + (lowAim(i) / below[i] - low[i]) - (highAim(i) / above[i] - high[i]))));
      return {
        x,
        low: x.map((value, i) => (lowAim(i) - low[i] * value) / below[i] - low[i]),
        high: x.map((value, i) => (highAim(i) + high[i] * value) / above[i] - high[i]),
      };
    };
    const zero = () => 0;
    const affine = direction(zero, zero);
    const reach = longest(affine);
    let reached = 0;
    for (let i = 0; i < n; i++) {
      reached += (below[i] + reach * affine.x[i]) * (low[i] + reach * affine.low[i])
        + (above[i] - reach * affine.x[i]) * (high[i] + reach * affine.high[i]);
    }
    const aim = (product / (2 * n)) * (reached / product) ** 3;
    const move = direction(
      (i) => aim - affine.x[i] * affine.low[i], (i) => aim + affine.x[i] * affine.high[i]);
    const length = 0.995 * longest(move);
    for (let i = 0; i < n; i++) {
      below[i] += length * move.x[i];
      above[i] -= length * move.x[i];
      low[i] += length * move.low[i];
      high[i] += length * move.high[i];
    }
    x = point();
    gradient = multiply(H, n, x).map((value) => value - 1);
  }
  return best;

  // the longest step up to 1 that keeps all four groups positive
  function longest(way) {
    let step = 1;
    for (let i = 0; i < n; i++) {
      if (way.x[i] < 0) step = Math.min(step, -below[i] / way.x[i]);
      if (way.x[i] > 0) step = Math.min(step, above[i] / way.x[i]);
      if (way.low[i] < 0) step = Math.min(step, -low[i] / way.low[i]);
      if (way.high[i] < 0) step = Math.min(step, -high[i] / way.high[i]);
    }
    return step;
  }
}

// How far x can be above the optimum: the best multipliers for its gradient leave this gap.
export function certificate(x, gradient, lower, upper) {
  let gap = 0;
  for (let i = 0; i < x.length; i++) gap += gradient[i] > 0 ? (x[i] - lower) * gradient[i] : (x[i] - upper) * gradient[i];
  return gap;
}
