// minimise  w'Aw/2 - c'w + lambda sum |w_i|,  A = D'D positive semidefinite: the feature-sign search of Lee, Battle, Raina
// and Ng (2007). On a support with signs the objective is a quadratic; its minimiser is one linear system away.
import { cholesky, multiply, solveFactored } from "./linalg.js";

const ENTER = 1e-9; // relative excess of a slope over lambda from which its coefficient enters
const MOST = 1000; // linear systems

export function lasso({ A, c, d }, lambda) {
  let w = new Float64Array(d);
  const sign = new Int8Array(d);
  for (let round = 0; round < MOST; round++) {
    // the coefficient that is zero and violates its condition most enters
    const slopes = multiply(A, d, w).map((value, i) => c[i] - value);
    let [entering, excess] = [-1, ENTER * lambda];
    for (let i = 0; i < d; i++) {
      if (w[i] === 0 && Math.abs(slopes[i]) - lambda > excess) [entering, excess] = [i, Math.abs(slopes[i]) - lambda];
    }
    if (entering < 0) return w;
    sign[entering] = Math.sign(slopes[entering]);
    for (let inner = 0; inner < MOST; inner++) {
      const support = [...sign.keys()].filter((i) => sign[i] !== 0);
      const aim = onSupport(A, c, d, lambda, support, sign);
      const { length, next } = along(A, c, d, lambda, w, aim);
      w = next;
      const turned = support.some((i) => Math.sign(w[i]) !== sign[i]);
      for (const i of support) sign[i] = Math.sign(w[i]);
      if (length === 1 && !turned) break;
    }
  }
  return w;
}

// the minimiser of the quadratic with these signs; where columns nearly depend on each other, with a little ridge
function onSupport(A, c, d, lambda, support, sign) {
  const k = support.length;
  const matrix = Float64Array.from(support.flatMap((i) => support.map((j) => A[i * d + j])));
  const right = Float64Array.from(support, (i) => c[i] - lambda * sign[i]);
  let ridge = 0;
  for (let more = 1e-14 * support.reduce((sum, _, i) => sum + matrix[i * k + i], 0); ; more *= 100) {
    try {
      const factor = cholesky(matrix.map((value, at) => (at % (k + 1) === 0 ? value + ridge : value)), k);
      const aim = new Float64Array(d);
      solveFactored(factor, k, right).forEach((value, at) => { aim[support[at]] = value; });
      return aim;
    } catch {
      ridge = more;
    }
  }
}

// the lowest point on the way from w to aim among the aim and where coefficients change sign, these being zero there
function along(A, c, d, lambda, w, aim) {
  const move = aim.map((value, i) => value - w[i]);
  const [first, second] = [multiply(A, d, w), multiply(A, d, move)];
  let [linear, square] = [0, 0];
  for (let i = 0; i < d; i++) {
    linear += move[i] * (first[i] - c[i]);
    square += move[i] * second[i];
  }
  const value = (t) => {
    let sizes = 0;
    for (let i = 0; i < d; i++) sizes += Math.abs(w[i] + t * move[i]);
    return t * linear + 0.5 * t * t * square + lambda * sizes;
  };
  const turns = [...w.keys()].filter((i) => w[i] !== 0 && w[i] * aim[i] <= 0).map((i) => -w[i] / move[i]);
  let [length, least] = [1, value(1)];
  for (const t of turns) if (value(t) < least) [length, least] = [t, value(t)];
  const next = w.map((one, i) => (w[i] !== 0 && -w[i] / move[i] === length ? 0 : one + length * move[i]));
  return { length, next };
}
