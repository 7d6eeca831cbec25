// The LDM (Zhang and Zhou, equation 5) by its dual, as in marginbook.ldm.model; lambda1 = lambda2 = 0 is the SVM.
import { boxQp } from "./box_qp.js";
import { gram, overGrid, vector } from "./kernels.js";
import { cholesky, dot, identity, multiply, solveFactored, solveSymmetric } from "./linalg.js";

// X: points [x, y]; y: labels -1 and 1; settings: lambda1, lambda2, C, kernel ("linear", "rbf"), gamma, intercept.
export function fitLdm(X, y, { lambda1, lambda2, C, kernel = "linear", gamma = 1, intercept = false }) {
  const m = X.length;
  const of = { name: kernel, gamma, constant: intercept ? 1 : 0 };
  const G = gram(of, X);
  const lower = lambda2 / m;
  const H = whitened(G, y, lambda1);
  const found = C > 0 ? boxQp(H, m, lower, C + lower) : { x: new Float64Array(m).fill(lower), gap: 0 }; // no hinge
  const spread = (4 * lambda1) / m;
  let margins = multiply(H, m, found.x);
  const mean = dot(margins, margins.map(() => 1 / m));
  const alpha = margins.map((value, i) => y[i] * (found.x[i] - spread * (value - mean)));
  const values = multiply(G, m, alpha);
  margins = values.map((value, i) => y[i] * value); // those of alpha itself, to the last digit
  const offset = intercept ? dot(alpha, alpha.map(() => 1)) : 0;
  const square = dot(alpha, values);
  const w = kernel === "linear" ? [0, 1].map((axis) => dot(alpha, X.map((one) => one[axis]))) : null;
  return {
    alpha, margins, w, intercept: offset, gap: found.gap,
    // of w without the intercept: what turns a margin into a distance
    length: w ? Math.hypot(...w) : Math.sqrt(Math.max(0, square - offset ** 2)),
    objective: objective(margins, square, lambda1, lambda2, C),
    decide: (x) => (w ? w[0] * x[0] + w[1] * x[1] + offset : dot(alpha, vector(of, X, x))),
    grid(xs, ys) {
      const all = new Float64Array(xs.length * ys.length);
      if (!w) overGrid(of, X, xs, ys, (values, place) => { all[place] = dot(alpha, values); });
      else for (let at = 0; at < all.length; at++) {
        all[at] = w[0] * xs[at % xs.length] + w[1] * ys[Math.floor(at / xs.length)] + offset;
      }
      return all;
    },
  };
}

// H = Y G (I + P G)^-1 Y with P = c (I - yy'/m), c = 4 lambda1 / m, without an inverse of G.
export function whitened(G, y, lambda1) {
  const m = y.length;
  const c = (4 * lambda1) / m;
  const factor = cholesky(identity(m).map((value, at) => value + c * G[at]), m);
  const M = solveSymmetric(factor, m, G);
  const My = multiply(M, m, y);
  const rho = c / dot(y, solveFactored(factor, m, y));
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < m; j++) M[i * m + j] = y[i] * y[j] * (M[i * m + j] + rho * My[i] * My[j]);
  }
  return M;
}

function objective(margins, square, lambda1, lambda2, C) {
  const m = margins.length;
  const mean = dot(margins, margins.map(() => 1 / m));
  const deviations = margins.map((value) => value - mean);
  const losses = margins.reduce((sum, value) => sum + Math.max(0, 1 - value), 0);
  return square / 2 + (2 * lambda1 * dot(deviations, deviations)) / m - lambda2 * mean + C * losses;
}
