// Matrices of coefficients of low rank by alternating hinge problems (Algorithm 1 of the draft), as in marginbook.smm.solvers with
// method="alternation"; and the nine or so level sets that make a probability. A matrix is a Float64Array, row after row.
import { hinge } from "./hinge.js";
import { dot } from "./linalg.js";
import { product, svd, transposed } from "./svd.js";

const NULL = 1e-12; // a singular value below this share of the largest counts as zero

// X: list of d1 x d2 matrices; y: -1 and 1; weights: of the losses; start: an earlier fit, nothing for that of full rank
// returns { coef, intercept, objective, sweeps, basis }
export function fitMatrix(X, y, [d1, d2], { rank, lam, weights, start = null, tol = 1e-6, sweeps = 200 }) {
  const n = y.length;
  const size = d1 * d2;
  const C = Float64Array.from(weights, (weight) => weight / n);
  const risk = (coef, b) => {
    let total = lam * dot(coef, coef);
    for (let i = 0; i < n; i++) total += C[i] * Math.max(0, 1 - y[i] * (dot(coef, X[i]) + b));
    return total;
  };
  const whole = () => hinge(stacked(X, size, (one) => one), size, y, C, lam);
  if (rank >= Math.min(d1, d2)) {
    const found = whole();
    return { coef: found.w, intercept: found.b, objective: found.objective, sweeps: 1, basis: null };
  }
  let at = start ? given(start) : cut(whole());
  let count = 0;
  for (let settled = false; !settled && count < sweeps; count++) {
    const before = at.value;
    overRows();
    overColumns();
    settled = before - at.value <= tol * Math.abs(at.value);
  }
  return { coef: at.coef, intercept: at.b, objective: at.value, sweeps: count, basis: at.basis };

  function given({ coef, intercept, basis }) {
    return { coef, b: intercept, value: risk(coef, intercept), basis };
  }

  // the first r singular values, or nothing at all if that is better
  function cut({ w, b }) {
    const basis = svd(w, d1, d2).right.slice(0, rank);
    const coef = spread(project(w, basis), basis);
    const [value, trivial] = [risk(coef, b), risk(new Float64Array(size), 0)];
    return value <= trivial ? { coef, b, value, basis } : { coef: new Float64Array(size), b: 0, value: trivial, basis };
  }

  // B = W P' with the span P of the rows fixed: the features of a matrix are X P
  function overRows() {
    const { basis } = at;
    const found = hinge(stacked(X, d1 * rank, (one) => project(one, basis)), d1 * rank, y, C, lam);
    if (found.objective <= at.value) {
      at = { coef: spread(found.w, basis), b: found.b, value: found.objective, basis };
    }
    at.multipliers = found.multipliers;
  }

  // B = Q W' with the span Q of the columns fixed: the features are X'Q
  function overColumns() {
    const columns = completed(transposed(project(at.coef, at.basis), d1, rank), d1, transposed(combined(), d1, d2), d2);
    const features = (one) => product(transposed(one, d1, d2), flat(columns, d1), d2, d1, rank);
    const found = hinge(stacked(X, d2 * rank, features), d2 * rank, y, C, lam);
    if (found.objective <= at.value) {
      at = { coef: product(flat(columns, d1), transposed(found.w, d2, rank), d1, rank, d2), b: found.b,
        value: found.objective, multipliers: found.multipliers };
      at.basis = completed(transposed(found.w, d2, rank), d2, combined(), d1);
    } else at.multipliers = found.multipliers;
  }

  // sum of c_i y_i X_i
  function combined() {
    const M = new Float64Array(size);
    for (let i = 0; i < n; i++) for (let k = 0; k < size; k++) M[k] += at.multipliers[i] * y[i] * X[i][k];
    return M;
  }

  // orthonormal vectors that span `rows` (r vectors of length d); where these are too few, directions of the rows of `other`
  // and of the coordinates, so that the rank can grow again
  function completed(rows, d, other, others) {
    const { s, right } = svd(rows, rank, d);
    const found = right.slice(0, rank).filter((_, k) => s[k] > NULL * Math.max(s[0], 1e-300));
    if (found.length === rank) return found;
    const rest = Float64Array.from(other);
    for (let i = 0; i < others; i++) {
      const row = rest.subarray(i * d, (i + 1) * d);
      for (const one of found) {
        const part = dot(row, one);
        for (let k = 0; k < d; k++) row[k] -= part * one[k];
      }
    }
    const left = svd(rest, others, d);
    const unit = Array.from({ length: d }, (_, at) => Float64Array.from({ length: d }, (_, k) => (k === at ? 1 : 0)));
    const fresh = left.right.filter((_, k) => left.s[k] > NULL * Math.max(left.s[0], 1e-300));
    for (const candidate of [...fresh, ...unit]) {
      if (found.length === rank) break;
      const one = Float64Array.from(candidate);
      for (const other of found) {
        const part = dot(one, other);
        for (let k = 0; k < d; k++) one[k] -= part * other[k];
      }
      const length = Math.sqrt(dot(one, one));
      if (length > 1e-6) found.push(one.map((value) => value / length));
    }
    return found;
  }

  // X P of a d1 x d2 matrix, and W P'; P as a list of its columns
  function project(one, basis) {
    const found = new Float64Array(d1 * rank);
    for (let i = 0; i < d1; i++) {
      for (let k = 0; k < rank; k++) for (let j = 0; j < d2; j++) found[i * rank + k] += one[i * d2 + j] * basis[k][j];
    }
    return found;
  }

  function spread(W, basis) {
    const found = new Float64Array(size);
    for (let i = 0; i < d1; i++) {
      for (let k = 0; k < rank; k++) for (let j = 0; j < d2; j++) found[i * d2 + j] += W[i * rank + k] * basis[k][j];
    }
    return found;
  }

  function flat(vectors, d) {
    const found = new Float64Array(d * rank);
    vectors.forEach((one, k) => one.forEach((value, i) => { found[i * rank + k] = value; }));
    return found;
  }

  function stacked(list, p, features) {
    const Z = new Float64Array(n * p);
    list.forEach((one, i) => Z.set(features(one), i * p));
    return Z;
  }
}

export const weightsOf = (y, level) => Array.from(y, (sign) => (sign > 0 ? 1 - level : level));
export const decide = ({ coef, intercept }, one) => dot(coef, one) + intercept;

// The level sets of the levels h / H, from the middle outwards, each from its neighbour: fit(h) makes what it needs, more()
// one more and says whether there was one left.
export function levelSets(X, y, shape, { rank, lam, levels, tol = 1e-6 }) {
  const found = new Map();
  const middle = Math.floor((levels - 1) / 2) + 1;
  const fit = (h) => {
    if (found.has(h)) return found.get(h);
    const start = h === middle ? null : fit(h < middle ? h + 1 : h - 1);
    found.set(h, fitMatrix(X, y, shape, { rank, lam, weights: weightsOf(y, h / levels), start, tol }));
    return found.get(h);
  };
  const all = Array.from({ length: levels - 1 }, (_, k) => k + 1);
  const next = () => all.filter((h) => !found.has(h)).sort((g, h) => Math.abs(g - middle) - Math.abs(h - middle))[0];
  return {
    fit, has: (h) => found.has(h),
    get done() { return found.size === levels - 1; },
    more() {
      if (this.done) return false;
      fit(next());
      return true;
    },
    // the share of the sets that a matrix is in, by the count rule; of those that are there
    probability(one) {
      let count = 0.5;
      for (const set of found.values()) if (decide(set, one) > 0) count += 1;
      return count / (found.size + 1);
    },
  };
}
