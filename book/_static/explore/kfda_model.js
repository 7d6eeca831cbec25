// kFDA_q (Harrison and Pasupa, equations 5 and 8), as in marginbook.kfda. A problem is given by its Gram matrix A = D'D, its
// correlations c = D'ŷ, the energy ŷ'ŷ and the number n of rows; settings are { q, rho }, with q in (0, 1].
import { gram, overGrid } from "./kernels.js";
import { cholesky, dot, multiply, solveFactored } from "./linalg.js";
import { lasso } from "./lasso.js";

const MOST = 3000; // steps of (8) before the limit must be known

// positive: a list of booleans, one for each row
export function targets(positive) {
  const n = positive.length;
  const first = positive.filter(Boolean).length;
  return Float64Array.from(positive, (one) => (one ? n / first : -n / (n - first)));
}

// columns: those of the design D
export function problemOf(columns, yhat) {
  const d = columns.length;
  const A = new Float64Array(d * d);
  for (let i = 0; i < d; i++) for (let j = 0; j <= i; j++) A[i * d + j] = A[j * d + i] = dot(columns[i], columns[j]);
  return { A, d, c: Float64Array.from(columns, (column) => dot(column, yhat)), energy: dot(yhat, yhat), n: yhat.length };
}

// the problem in which only the coefficients at `places` may differ from zero
const within = ({ A, c, d, energy, n }, places) => ({
  A: Float64Array.from(places.flatMap((i) => places.map((j) => A[i * d + j]))), d: places.length,
  c: Float64Array.from(places, (i) => c[i]), energy, n,
});

export function objective({ A, c, d, energy, n }, omega, { q, rho }) {
  const fit = 0.5 * (energy + dot(omega, multiply(A, d, omega))) - dot(c, omega);
  return fit + rho * n * omega.reduce((sum, one) => sum + Math.abs(one) ** q, 0);
}

// the next iterate of (8); of omega only the sizes count
export function step({ A, c, d, n }, omega, { q, rho }) {
  const psi = Float64Array.from(omega, (one) => Math.abs(one) ** (1 - q / 2));
  const factor = cholesky(scaled(A, d, psi, rho * n * q), d);
  return solveFactored(factor, d, psi.map((one, i) => one * c[i])).map((one, i) => one * psi[i]);
}

function scaled(A, d, psi, added) {
  const matrix = new Float64Array(d * d);
  for (let i = 0; i < d; i++) {
    for (let j = 0; j < d; j++) matrix[i * d + j] = psi[i] * A[i * d + j] * psi[j];
    matrix[i * d + i] += added;
  }
  return matrix;
}

// the minimiser for q = 2, the usual start
export const ridge = (problem, { rho }) => step(problem, new Float64Array(problem.d).fill(1), { q: 2, rho });

// all iterates of (8) until J changes by less than 1e-5 of itself, as in the paper
export function path(problem, start, settings, most = 1000) {
  const found = [start];
  let value = objective(problem, start, settings);
  while (found.length <= most) {
    const next = step(problem, found[found.length - 1], settings);
    const fallen = objective(problem, next, settings);
    found.push(next);
    if (Math.abs(value - fallen) < 1e-5 * fallen) break;
    value = fallen;
  }
  return found;
}

// The limit of (8), with exact zeros; the last of MOST steps where these do not settle it. For q < 1 a coefficient is dropped
// once no step can bring it back, and Newton's method ends the rest. For q = 1 the limit is the minimiser with the zeros of
// the start.
export function limit(problem, start, settings) {
  const { q, rho } = settings;
  const { n, energy } = problem;
  const all = new Float64Array(problem.d);
  let places = [...start.keys()].filter((i) => start[i] !== 0);
  let part = within(problem, places);
  const spread = (omega) => {
    places.forEach((i, at) => { all[i] = omega[at]; });
    return all;
  };
  if (q === 1) return spread(lasso(part, rho * n));
  let omega = Float64Array.from(places, (i) => start[i]);
  for (let done = 0, stride = 20; done < MOST; done += stride, stride = Math.min(2 * stride, 500)) {
    for (let k = 0; k < stride; k++) omega = step(part, omega, settings);
    const most = Math.min(2 * objective(part, omega, settings), energy);
    const largest = omega.reduce((size, one) => Math.max(size, Math.abs(one)), 0);
    const keep = [...omega.keys()].filter((i) => {
      const size = Math.abs(omega[i]);
      return size > 1e-14 * largest && size >= (rho * n * q / Math.sqrt(part.A[i * part.d + i] * most)) ** (1 / (1 - q));
    });
    if (keep.length < part.d) {
      places = keep.map((i) => places[i]);
      omega = Float64Array.from(keep, (i) => omega[i]);
      part = within(problem, places);
    }
    const found = newton(part, omega, settings);
    if (!found) continue;
    const least = found.reduce((size, one) => Math.min(size, Math.abs(one)), Infinity);
    if (found.every((one, i) => Math.abs(one - omega[i]) <= 1e-2 * least)) return spread(found);
  }
  return spread(omega);
}

// The minimum near omega with the same signs, by Newton's method in the scaling of (8); null if there is none.
function newton(problem, omega, { q, rho }) {
  const { A, c, d, n } = problem;
  const force = rho * n * q;
  let now = omega;
  for (let k = 0; k < 30; k++) {
    const psi = now.map((one) => Math.abs(one) ** (1 - q / 2));
    const slope = multiply(A, d, now).map((one, i) => (
      psi[i] * (one - c[i] + force * Math.abs(now[i]) ** (q - 1) * Math.sign(now[i]))));
    let factor;
    try {
      factor = cholesky(scaled(A, d, psi, force * (q - 1)), d);
    } catch {
      return null; // not convex here
    }
    const move = solveFactored(factor, d, slope).map((one, i) => one * psi[i]);
    const next = now.map((one, i) => one - move[i]);
    if (next.some((one, i) => !(one * omega[i] > 0))) return null;
    const small = move.every((one, i) => Math.abs(one) <= 1e-13 * Math.abs(next[i]));
    now = next;
    if (small) return now;
  }
  return now;
}

// All local minima for two coefficients, the lowest first: [{ omega, objective }, ...].
export function minimaOfTwo(problem, settings) {
  const { q, rho } = settings;
  const found = [[0, 0]];
  if (q === 1) found[0] = [...lasso(problem, rho * problem.n)];
  else {
    const { A, c, n } = problem;
    const force = rho * n * q;
    for (const i of [0, 1]) {
      const size = upper(A[3 * i], Math.abs(c[i]), force, q);
      if (size) found.push(i ? [0, Math.sign(c[1]) * size] : [Math.sign(c[0]) * size, 0]);
    }
    for (const signs of [[1, 1], [1, -1], [-1, 1], [-1, -1]]) {
      const both = inOrthant(problem, signs, settings);
      if (both) found.push(both);
    }
  }
  return found.map((omega) => ({ omega, objective: objective(problem, Float64Array.from(omega), settings) }))
    .sort((one, other) => one.objective - other.objective);
}

// the larger root of a u + force u^(q-1) = c, which is the minimum; 0 if there is none
function upper(a, c, force, q) {
  const lowest = (force * (1 - q) / a) ** (1 / (2 - q));
  if (!(c > a * lowest + force * lowest ** (q - 1))) return 0;
  let u = c / a; // the left side is convex, and above c here: Newton's method falls to the root
  for (let k = 0; k < 60; k++) {
    const next = u - (a * u + force * u ** (q - 1) - c) / (a - force * (1 - q) * u ** (q - 2));
    if (!(next < u)) break;
    u = next;
  }
  return u;
}

// The minimum with these signs, if there is one: along the curve on which J is least in the second size, where the slope in the
// first one changes from falling to rising.
function inOrthant(problem, [s, t], settings) {
  const { q, rho } = settings;
  const { A, c, n } = problem;
  const force = rho * n * q;
  const [a, b, e, f, g] = [A[0], s * t * A[1], A[3], s * c[0], t * c[1]];
  const other = (u) => upper(e, g - b * u, force, q);
  const slope = (u, v) => a * u + b * v + force * u ** (q - 1) - f;
  // no minimum has a smaller size, by its curvature, nor a larger one, as w'Aw <= c'w there
  const low = (force * (1 - q) / a) ** (1 / (2 - q));
  const least = Math.max((a + e) / 2 - Math.hypot((a - e) / 2, b), 1e-9 * (a + e)); // eigenvalue
  const high = Math.max(2 * low, Math.hypot(f, g) / least);
  const COUNT = 240;
  let before = null;
  for (let k = 0; k <= COUNT; k++) {
    const u = low * (high / low) ** (k / COUNT);
    const v = other(u);
    const now = v ? slope(u, v) : null;
    if (before !== null && now !== null && before < 0 && now >= 0) {
      let [left, right] = [low * (high / low) ** ((k - 1) / COUNT), u];
      for (let halved = 0; halved < 40; halved++) {
        const middle = (left + right) / 2;
        if (slope(middle, other(middle)) < 0) left = middle; else right = middle;
      }
      const near = Float64Array.of(s * right, t * other(right));
      const exact = newton(problem, near, settings);
      if (exact) return [...exact];
    }
    before = now;
  }
  return null;
}

// Which of the minima the steps reach from each point of a grid: places in `minima`, row after row.
export function basins(problem, minima, settings, xs, ys) {
  const places = new Uint8Array(xs.length * ys.length);
  if (minima.length < 2) return places;
  const { q, rho } = settings;
  const { A, c, n } = problem;
  const [force, power] = [rho * n * q, 2 - q];
  const sizes = minima.map(({ omega }) => omega.map(Math.abs));
  // boxes around the minima from which there is no way out: a coefficient that vanishes at least halves in each step
  const boxes = minima.map(({ omega: [a, b] }) => [[a, A[0] * a + A[1] * b - c[0]], [b, A[1] * a + A[3] * b - c[1]]].map(
    ([size, slope]) => (size ? 0.03 * Math.abs(size) : (0.5 * force / Math.abs(slope)) ** (1 / (1 - q)))));
  const boxed = (u, v) => {
    for (let k = 0; k < boxes.length; k++) {
      if (Math.abs(u - sizes[k][0]) < boxes[k][0] && Math.abs(v - sizes[k][1]) < boxes[k][1]) return k;
    }
    return -1;
  };
  const nearest = (u, v) => {
    const apart = sizes.map(([a, b]) => Math.abs(a - u) + Math.abs(b - v));
    return apart.indexOf(Math.min(...apart));
  };
  for (let at = 0; at < places.length; at++) {
    let [u, v] = [Math.abs(xs[at % xs.length]), Math.abs(ys[Math.floor(at / xs.length)])];
    let end = boxed(u, v);
    for (let k = 0; k < 60 && end < 0; k++) {
      const [x, y] = [u ** power, v ** power];
      const [top, low] = [x * A[0] + force, y * A[3] + force];
      const whole = top * low - x * y * A[1] * A[1];
      u = Math.abs(x * (c[0] * low - A[1] * y * c[1])) / whole;
      v = Math.abs(y * (c[1] * top - A[1] * x * c[0])) / whole;
      end = boxed(u, v);
    }
    places[at] = end < 0 ? nearest(u, v) : end;
  }
  return places;
}

// The classifier of points [x, y] with the bias penalised, as printed; settings have gamma, too.
export function fitKfda(X, positive, settings) {
  const { gamma } = settings;
  const n = X.length;
  const of = { name: "rbf", gamma };
  const K = gram(of, X);
  const columns = [new Float64Array(n).fill(1), ...X.map((_, i) => K.subarray(i * n, (i + 1) * n))];
  const yhat = targets(positive);
  const problem = problemOf(columns, yhat);
  const omega = limit(problem, ridge(problem, settings), settings);
  const [first, second] = [true, false].map((side) => positive.filter((one) => one === side).length);
  const threshold = 0.5 * n * (1 / first - 1 / second);
  const retained = X.map((_, i) => i).filter((i) => omega[i + 1] !== 0);
  const fitted = multiply(K, n, omega.subarray(1)).map((value) => value + omega[0] - threshold);
  return {
    omega, retained, threshold, fitted,
    objective: objective(problem, omega, settings),
    errors: fitted.reduce((sum, value, i) => sum + (value > 0 !== positive[i] ? 1 : 0), 0),
    // f less the threshold
    grid(xs, ys) {
      const all = new Float64Array(xs.length * ys.length).fill(omega[0] - threshold);
      const weights = retained.map((i) => omega[i + 1]);
      overGrid(of, retained.map((i) => X[i]), xs, ys, (values, place) => { all[place] += dot(weights, values); });
      return all;
    },
  };
}
