// minimise  lam |w|^2 + sum_i C_i (1 - y_i (z_i'w + b))_+  over w and b, with few features.
//
// A primal-dual interior point method (Mehrotra's predictor and corrector) with a linear system in w and b only. Multipliers c
// and their distances from C, losses and margins beyond 1 are variables of their own, so that small ones keep their digits.
import { cholesky, solveFactored } from "./linalg.js";

const STEPS = 80;
const TOLERANCE = 1e-15;

// Z: n rows of p features, one after another; returns { w, b, multipliers, objective }
export function hinge(Z, p, y, C, lam) {
  const n = y.length;
  const q = p + 1;
  const A = new Float64Array(n * q); // rows y_i (z_i, 1)
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < p; k++) A[i * q + k] = y[i] * Z[i * p + k];
    A[i * q + p] = y[i];
  }
  const rows = () => new Float64Array(n);
  const v = new Float64Array(q); // w and b
  // multiplier c, C - c, margin - 1 + loss, and loss, which are positive, and how a step changes them
  const [low, high, over, loss] = [C.map((value) => value / 2), C.map((value) => value / 2), rows().fill(1), rows().fill(2)];
  const [dc, dOver, dLoss, aimOver, aimLoss, D, margins] = [rows(), rows(), rows(), rows(), rows(), rows(), rows()];
  const [matrix, stationary, right] = [new Float64Array(q * q), new Float64Array(q), new Float64Array(q)];
  for (let step = 0; step < STEPS; step++) {
    let [value, complementary] = [0, 0];
    for (let k = 0; k < p; k++) {
      value += lam * v[k] * v[k];
      stationary[k] = 2 * lam * v[k];
    }
    stationary[p] = 0;
    matrix.fill(0);
    for (let i = 0; i < n; i++) {
      const at = i * q;
      let margin = 0;
      for (let k = 0; k < q; k++) {
        margin += A[at + k] * v[k];
        stationary[k] -= low[i] * A[at + k];
      }
      margins[i] = margin;
      value += C[i] * Math.max(0, 1 - margin);
      complementary += low[i] * over[i] + high[i] * loss[i];
      D[i] = 1 / (loss[i] / high[i] + over[i] / low[i]);
      for (let k = 0; k < q; k++) {
        const part = D[i] * A[at + k];
        for (let l = 0; l <= k; l++) matrix[k * q + l] += part * A[at + l];
      }
      aimOver[i] = aimLoss[i] = 0;
    }
    if (complementary <= TOLERANCE * value) break;
    for (let k = 0; k < p; k++) matrix[k * q + k] += 2 * lam;
    let factor;
    try {
      factor = cholesky(matrix, q);
    } catch {
      break; // no digit left to gain
    }
    turn(factor);
    const reach = longest();
    let reached = 0;
    for (let i = 0; i < n; i++) {
      reached += (low[i] + reach * dc[i]) * (over[i] + reach * dOver[i])
        + (high[i] - reach * dc[i]) * (loss[i] + reach * dLoss[i]);
    }
    const aim = (complementary / (2 * n)) * (reached / complementary) ** 3;
    for (let i = 0; i < n; i++) {
      aimOver[i] = aim - dc[i] * dOver[i];
      aimLoss[i] = aim + dc[i] * dLoss[i];
    }
    const move = turn(factor);
    const length = 0.995 * longest();
    for (let k = 0; k < q; k++) v[k] += length * move[k];
    for (let i = 0; i < n; i++) {
      low[i] += length * dc[i];
      high[i] -= length * dc[i];
      over[i] += length * dOver[i];
      loss[i] += length * dLoss[i];
    }
  }
  let objective = 0;
  for (let k = 0; k < p; k++) objective += lam * v[k] * v[k];
  for (let i = 0; i < n; i++) {
    let margin = 0;
    for (let k = 0; k < q; k++) margin += A[i * q + k] * v[k];
    objective += C[i] * Math.max(0, 1 - margin);
  }
  return { w: v.slice(0, p), b: v[p], multipliers: low, objective };

  // the step after which low * over is aimOver and high * loss is aimLoss, to first order
  function turn(factor) {
    for (let k = 0; k < q; k++) right[k] = -stationary[k];
    for (let i = 0; i < n; i++) {
      dOver[i] = aimOver[i] / low[i] - over[i];
      dLoss[i] = aimLoss[i] / high[i] - loss[i];
      dc[i] = over[i] + 1 - margins[i] - loss[i] - dLoss[i] + dOver[i];
      const part = D[i] * dc[i];
      for (let k = 0; k < q; k++) right[k] += part * A[i * q + k];
    }
    const move = solveFactored(factor, q, right);
    for (let i = 0; i < n; i++) {
      for (let k = 0; k < q; k++) dc[i] -= A[i * q + k] * move[k];
      dc[i] *= D[i];
      dOver[i] -= over[i] / low[i] * dc[i];
      dLoss[i] += loss[i] / high[i] * dc[i];
    }
    return move;
  }

  // the longest step up to 1 that keeps all four groups positive
  function longest() {
    let step = 1;
    for (let i = 0; i < n; i++) {
      if (dc[i] < 0) step = Math.min(step, -low[i] / dc[i]);
      if (dc[i] > 0) step = Math.min(step, high[i] / dc[i]);
      if (dOver[i] < 0) step = Math.min(step, -over[i] / dOver[i]);
      if (dLoss[i] < 0) step = Math.min(step, -loss[i] / dLoss[i]);
    }
    return step;
  }
}
