// Five classifiers of one kernel, as functions of the kernel values k(x, x_j) of a point: kernel ridge, the DRM with the same weights,
// the kernel Fisher discriminant with a ridge, the SVM and the LDM. Positive is the first class.
import { gram, overGrid } from "./kernels.js";
import { fitLdm } from "./ldm_model.js";
import { cholesky, dot, identity, multiply, solveFactored, solveSymmetric } from "./linalg.js";

// The way from kernel ridge to the SVM at a place from 0 to 1: in the first half the hinge comes, C from 0 to its end, and in the
// second the mean and the variance go.
const [LEAST, LEFT] = [1e-3, 1e-4]; // C at the beginning, and what is left of the two terms at the end
export function way(place, n, beta, C) {
  const first = place <= 0.5;
  const part = first ? 2 * place : 2 * place - 1;
  const share = first ? 1 : part >= 1 ? 0 : LEFT ** part;
  return { lambda1: share * n / (4 * beta), lambda2: share, C: !first ? C : part <= 0 ? 0 : LEAST * (C / LEAST) ** part };
}

// X: points; y: labels -1 and 1; place: on the way; beta: the ridge of all that have one; C: of the SVM
export function fitBridge(X, y, { place, beta, C, kernel = "rbf", gamma = 1 }) {
  const n = X.length;
  const of = { name: kernel, gamma };
  const K = gram(of, X);
  const ridged = (A) => Float64Array.from(A, (value, at) => value + (at % (n + 1) ? 0 : beta));
  const factor = cholesky(ridged(K), n);
  const svm = fitLdm(X, y, { lambda1: 0, lambda2: 0, C, kernel, gamma });
  const ldm = place < 1 ? fitLdm(X, y, { ...way(place, n, beta, C), kernel, gamma }) : svm;

  // the DRM: y weighted by k(x_j, x) and by its weights w = (K + beta I)^-1 k; products of two classes cancel
  const inverse = solveSymmetric(factor, n, identity(n));
  const order = [1, -1].flatMap((sign) => Array.from(y.keys()).filter((i) => y[i] === sign));
  const positive = y.filter((label) => label > 0).length;
  const weights = order.map((i, a) => order.slice(a < positive ? 0 : positive, a + 1).map(
    (j) => (i === j ? 1 : 2) * y[i] * inverse[i * n + j]));
  function drm(kx) {
    let sum = 0;
    for (let a = 0; a < n; a++) {
      const row = weights[a];
      const from = a < positive ? 0 : positive;
      let inner = 0;
      for (let b = 0; b < row.length; b++) inner += row[b] * kx[order[from + b]];
      sum += inner * kx[order[a]];
    }
    return sum;
  }

  // kFDA: ridge of the targets N/N1 and -N/N2 on kernel columns with a free intercept, less half the sum of the targets
  const targets = y.map((label) => (label > 0 ? n / positive : -n / (n - positive)));
  const means = multiply(K, n, new Array(n).fill(1 / n)); // of the columns
  const centred = K.map((value, at) => value - means[at % n]);
  const normal = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = 0;
      for (let k = 0; k < n; k++) sum += centred[k * n + i] * centred[k * n + j];
      normal[i * n + j] = normal[j * n + i] = sum;
    }
  }
  const right = new Float64Array(n);
  for (let i = 0; i < n; i++) for (let k = 0; k < n; k++) right[i] += centred[k * n + i] * targets[k];
  const fisher = solveFactored(cholesky(ridged(normal), n), n, right);
  const intercept = -dot(fisher, means) - (n / positive - n / (n - positive)) / 2; // the targets have the mean 0

  const ridge = solveFactored(factor, n, y);
  const rules = {
    ldm: (kx) => dot(ldm.alpha, kx), svm: (kx) => dot(svm.alpha, kx), ridge: (kx) => dot(ridge, kx), drm,
    kfda: (kx) => dot(fisher, kx) + intercept,
  };
  return {
    margins: ldm.margins,
    // of each rule its values on a grid
    grid(xs, ys) {
      const found = Object.fromEntries(Object.keys(rules).map((name) => [name, new Float64Array(xs.length * ys.length)]));
      overGrid(of, X, xs, ys, (kx, at) => { for (const name in rules) found[name][at] = rules[name](kx); });
      return found;
    },
  };
}

// The share of the cells in sight, all but the outermost, on which two functions have different signs.
export function apart({ xs, ys }, one, other) {
  const [columns, rows] = [xs.length, ys.length];
  let count = 0;
  for (let j = 1; j + 1 < rows; j++) {
    for (let at = j * columns + 1; at + 1 < (j + 1) * columns; at++) if (one[at] > 0 !== other[at] > 0) count += 1;
  }
  return count / ((columns - 2) * (rows - 2));
}
