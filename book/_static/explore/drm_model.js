// The DRM (Peng and Cheng, equations 10 to 13) by its closed form, as in marginbook.drm.model.
import { gram, overGrid, vector } from "./kernels.js";
import { cholesky, identity, solveFactored, solveSymmetric } from "./linalg.js";

// X: points [x, y]; y: classes 0, 1, ...; settings: alpha, beta, kernel ("linear", "rbf"), gamma, intercept.
export function fitDrm(X, y, { alpha, beta, kernel = "linear", gamma = 1, intercept = false }) {
  const n = X.length;
  const classes = Math.max(...y) + 1;
  // a constant feature changes no distance, and so nothing for rbf
  const of = { name: kernel, gamma, constant: intercept && kernel === "linear" ? 1 : 0 };
  const K = gram(of, X);
  const sizes = new Array(classes).fill(0);
  for (const label of y) sizes[label] += 1;
  const system = Float64Array.from(K);
  for (let i = 0; i < n; i++) {
    if (sizes[y[i]] > 1) {
      for (let j = 0; j < n; j++) if (y[i] === y[j]) system[i * n + j] -= (alpha * K[i * n + j]) / sizes[y[i]];
      system[i * n + i] += alpha * K[i * n + i];
    }
    system[i * n + i] += beta;
  }
  const factor = cholesky(system, n);
  const weightsOf = (kx) => solveFactored(factor, n, kx);

  // delta_i of a kernel vector and its weights: w'Kw is common to all classes
  function dissimilarity(kx, w) {
    const delta = new Float64Array(classes);
    let whole = 0;
    for (let i = 0; i < n; i++) {
      let [own, all] = [0, 0];
      for (let j = 0; j < n; j++) {
        const term = K[i * n + j] * w[j];
        all += term;
        if (y[i] === y[j]) own += term;
      }
      delta[y[i]] += 2 * w[i] * (own - all - kx[i]);
      whole += w[i] * all;
    }
    return delta.map((value) => value + whole);
  }

  // the part of each class in the sum of weighted points
  const partsOf = (w) => sizes.map((_, label) => [0, 1].map((axis) => (
    X.reduce((sum, one, j) => (y[j] === label ? sum + w[j] * one[axis] : sum), 0))));

  const features = (x) => (of.constant ? [x[0], x[1], 1] : [x[0], x[1]]);
  // linear kernel: part i of x is T_i x with a small matrix T_i, and delta_i is the quadratic form of
  // R_i = T_i'T_i + (S - T_i)'(S - T_i) - 2 T_i, where S is the sum of all T_i
  const forms = kernel === "linear" ? quadraticForms() : null;
  function quadraticForms() {
    const rows = X.map(features);
    const d = rows[0].length;
    const solved = rows[0].map((_, axis) => weightsOf(rows.map((row) => row[axis])));
    const maps = sizes.map(() => new Float64Array(d * d));
    const sum = new Float64Array(d * d);
    rows.forEach((row, j) => {
      for (let a = 0; a < d; a++) {
        for (let b = 0; b < d; b++) {
          maps[y[j]][a * d + b] += row[a] * solved[b][j];
          sum[a * d + b] += row[a] * solved[b][j];
        }
      }
    });
    return maps.map((T) => T.map((value, at) => {
      const [a, b] = [Math.floor(at / d), at % d];
      let form = -2 * value;
      for (let k = 0; k < d; k++) {
        form += T[k * d + a] * T[k * d + b] + (sum[k * d + a] - T[k * d + a]) * (sum[k * d + b] - T[k * d + b]);
      }
      return form;
    }));
  }

  function quadratic(R, x0, x1) {
    if (R.length === 4) return R[0] * x0 * x0 + (R[1] + R[2]) * x0 * x1 + R[3] * x1 * x1;
    return R[0] * x0 * x0 + (R[1] + R[3]) * x0 * x1 + R[4] * x1 * x1 + (R[2] + R[6]) * x0 + (R[5] + R[7]) * x1 + R[8];
  }

  return {
    explain(x) {
      const kx = vector(of, X, x);
      const weights = weightsOf(kx);
      const delta = dissimilarity(kx, weights);
      return { weights, dissimilarity: delta, label: least(delta), parts: forms ? partsOf(weights) : null };
    },
    grid(xs, ys) {
      const labels = new Uint8Array(xs.length * ys.length);
      const delta = new Float64Array(classes);
      if (forms) {
        for (let at = 0; at < labels.length; at++) {
          const [x0, x1] = [xs[at % xs.length], ys[Math.floor(at / xs.length)]];
          for (let label = 0; label < classes; label++) delta[label] = quadratic(forms[label], x0, x1);
          labels[at] = least(delta);
        }
        return labels;
      }
      const inverse = solveSymmetric(factor, n, identity(n));
      const w = new Float64Array(n);
      const other = K.map((value, at) => (y[Math.floor(at / n)] === y[at % n] ? 0 : value));
      overGrid(of, X, xs, ys, (kx, place) => {
        for (let i = 0; i < n; i++) {
          let sum = 0;
          for (let j = 0; j < n; j++) sum += inverse[i * n + j] * kx[j];
          w[i] = sum;
        }
        between(other, kx, w, delta);
        labels[place] = least(delta);
      });
      return labels;
    },
  };

  // half of the dissimilarity, less what is common: only the kernel values of different classes are needed
  function between(other, kx, w, delta) {
    delta.fill(0);
    for (let i = 0; i < n; i++) {
      let sum = 0;
      for (let j = 0; j < n; j++) sum += other[i * n + j] * w[j];
      delta[y[i]] -= w[i] * (sum + kx[i]);
    }
  }
}

// the place of the smallest value; the first of equal ones, as in the library
export function least(values) {
  let place = 0;
  for (let i = 1; i < values.length; i++) if (values[i] < values[place]) place = i;
  return place;
}
