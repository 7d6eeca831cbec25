// CLASMK (Yu and McKelvey, equations 32 and 33) with Gaussian kernels exp(-|x - z|^2 / sigma^2), as in marginbook.clasmk.
import { eigen } from "./eigen.js";
import { kernel } from "./kernels.js";
import { dot } from "./linalg.js";

// The subspace of the points X in the feature space of a kernel: { rows, A }, where A' k(rows, x) are the coordinates of x. Points
// are taken, the farthest one first, until all are within the squared distance tol of their span.
export function subspace(X, of, tol) {
  const n = X.length;
  const left = new Float64Array(n).fill(1);
  const [places, factor] = [[], []]; // factor: for each chosen point the coordinates of all points
  for (;;) {
    let next = 0;
    for (let i = 1; i < n; i++) if (left[i] > left[next]) next = i;
    if (places.length && left[next] <= tol) break;
    const root = Math.sqrt(left[next]);
    const row = Float64Array.from(X, (one, i) => (places.includes(i) ? 0 : (
      kernel(of, X[next], one) - factor.reduce((sum, known) => sum + known[next] * known[i], 0)) / root));
    for (let i = 0; i < n; i++) left[i] -= row[i] ** 2;
    places.push(next);
    factor.push(row);
    left[next] = 0;
    if (places.length === n) break;
  }
  const m = places.length;
  const second = new Float64Array(m * m);
  for (let i = 0; i < m; i++) for (let j = 0; j < m; j++) second[i * m + j] = dot(factor[i], factor[j]) / n;
  const means = factor.map((row) => row.reduce((sum, one) => sum + one, 0) / n);
  const A = eigen(second, m).map(({ value, vector }) => {
    const column = Float64Array.from(vector); // R A = V, where R is the upper factor: R_ij = factor[i][places[j]]
    for (let i = m - 1; i >= 0; i--) {
      for (let j = i + 1; j < m; j++) column[i] -= factor[i][places[j]] * column[j];
      column[i] /= factor[i][places[i]];
    }
    let sign = dot(vector, means);
    // the mean decides the sign; where it is zero, the largest entry
    if (Math.abs(sign) <= 1e-10 * Math.sqrt(Math.max(value, 0))) {
      sign = column.reduce((best, one) => (Math.abs(one) > Math.abs(best) ? one : best), 0);
    }
    return sign < 0 ? column.map((one) => -one) : column;
  });
  return { of, rows: places.map((i) => X[i]), A };
}

export function coordinates({ of, rows, A }, x) {
  const values = rows.map((row) => kernel(of, row, x));
  return A.map((column) => dot(column, values));
}

// X, y: points and classes 0, 1, ...; inBasis: which of them span the subspaces; the others are measured.
// Returns the subspaces, and for each class the 3 x 3 matrices N and D of the ratio, those of "sum" or of "concat".
export function fitSubspaces(X, y, inBasis, { sigmas, combine = "sum", tol = 0.01 }) {
  const classes = [...Array(Math.max(...y) + 1).keys()];
  const K = sigmas.length;
  const subspaces = classes.map((c) => sigmas.map((sigma) => (
    subspace(X.filter((_, i) => y[i] === c && inBasis[i]), { name: "rbf", gamma: 1 / sigma ** 2 }, tol))));
  const seen = X.map((_, i) => i).filter((i) => !inBasis[i]);
  const counts = classes.map((c) => seen.filter((i) => y[i] === c).length);
  const forms = subspaces.map((of, c) => {
    const [N, D] = [new Float64Array(K * K), new Float64Array(K * K)];
    for (const i of seen) {
      const z = of.map((one) => coordinates(one, X[i]));
      const weight = 1 / counts[y[i]] / (y[i] === c ? 1 : classes.length - 1);
      const into = y[i] === c ? D : N;
      for (let a = 0; a < K; a++) {
        for (let b = 0; b < K; b++) if (a === b || combine === "sum") into[a * K + b] += weight * inner(z[a], z[b]);
      }
    }
    return { N, D };
  });
  return { subspaces, forms, seen, combine };
}

// coordinates of different length: the shorter one is filled up with zeros
function inner(one, other) {
  let sum = 0;
  for (let i = 0; i < Math.min(one.length, other.length); i++) sum += one[i] * other[i];
  return sum;
}

const form = (A, s) => {
  let sum = 0;
  for (let i = 0; i < s.length; i++) for (let j = 0; j < s.length; j++) sum += s[i] * A[i * s.length + j] * s[j];
  return sum;
};

// The ratio of weights, one list for each class.
export function ratio(forms, weights) {
  const parts = forms.map((one, c) => partsOf(one, weights[c]));
  return parts.reduce((sum, [top]) => sum + top, 0) / parts.reduce((sum, [, bottom]) => sum + bottom, 0);
}

// numerator and denominator of one class
export function partsOf({ N, D }, weights) {
  const roots = weights.map(Math.sqrt);
  return [Math.max(form(N, roots), 0), form(D, roots)];
}

// Dinkelbach's steps from weights to the global minimum: [{ weights, value }, ...].
export function dinkelbach(forms, start) {
  const steps = [{ weights: start, value: ratio(forms, start) }];
  for (let k = 0; k < 50; k++) {
    const { value } = steps[k];
    const weights = forms.map(({ N, D }) => lowest(N.map((one, at) => one - value * D[at])).map((one) => one * one));
    const next = ratio(forms, weights);
    if (!(next < value * (1 - 1e-12))) break;
    steps.push({ weights, value: next });
  }
  return steps;
}

// The nonnegative unit vector s with the least s'Qs: an eigenvector of the rows and columns where it is not zero, so that it is
// found by trying every set of them.
export function lowest(Q) {
  const n = Math.round(Math.sqrt(Q.length));
  let [best, least] = [null, Infinity];
  for (let set = 1; set < 2 ** n; set++) {
    const places = [...Array(n).keys()].filter((i) => set & (1 << i));
    const block = places.flatMap((i) => places.map((j) => Q[i * n + j]));
    for (const { value, vector } of eigen(block, places.length)) {
      const side = Math.sign(vector.reduce((sum, one) => sum + one, 0));
      if (value < least && vector.every((one) => side * one > 0)) {
        [best, least] = [new Float64Array(n), value];
        places.forEach((i, at) => { best[i] = side * vector[at]; });
      }
    }
  }
  return Array.from(best);
}

// The features of x: for each class one list.
export function features({ subspaces, combine }, weights, x) {
  return subspaces.map((of, c) => {
    const found = [];
    of.forEach((one, i) => {
      if (!(weights[c][i] > 0)) return;
      const root = Math.sqrt(weights[c][i]);
      const from = combine === "sum" ? 0 : found.length;
      coordinates(one, x).forEach((value, at) => { found[from + at] = (found[from + at] ?? 0) + root * value; });
    });
    return found;
  });
}

// For each of the points: how much farther the others of other classes are on average than those of its own class.
export function leads(model, weights, X, y) {
  const all = X.map((x) => features(model, weights, x).flat());
  return all.map((one, i) => {
    const [sums, counts] = [[0, 0], [0, 0]];
    all.forEach((other, j) => {
      if (i === j) return;
      const side = y[i] === y[j] ? 0 : 1;
      sums[side] += Math.sqrt(one.reduce((sum, value, at) => sum + (value - other[at]) ** 2, 0));
      counts[side] += 1;
    });
    return sums[1] / counts[1] - sums[0] / counts[0];
  });
}
